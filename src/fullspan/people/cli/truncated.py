"""The options of ``fullspan fit --model truncated``: which patterns have a weight, as people write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fullspan.errors import FullspanError
from fullspan.people.cli.arguments import names

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.model.fitted import Fitted
    from fullspan.model.record import StepLike


@dataclass(frozen=True)
class Domain:
    """What the command line says about the patterns of a truncated machine and how it is fitted."""

    max_order: int | None
    min_support: str
    patterns: Sequence[str]
    pairs: int | None
    unseen: float
    solver: str
    l2: float
    seed: int | None
    max_memory: int | None


def learned_truncated(empirical: Empirical, domain: Domain, watch: Callable[[StepLike], None]) -> Fitted:
    """Fit the machine.

    Raises
    ------
    FullspanError : an option is wrong, or names unknown variables.
    """
    from fullspan.estimators.truncated import OPTIONS, noted
    from fullspan.learn.base.reporter import MINING, announce
    from fullspan.learn.truncated.fit import TruncatedOptions, fit_truncated

    options = TruncatedOptions(
        max_order=domain.max_order or 2,
        min_support=support(domain.min_support),
        patterns=[names(text) for text in domain.patterns] or None,
        n_pairs=domain.pairs,
        solver=domain.solver,
        l2=domain.l2,
        unseen=domain.unseen,
        seed=domain.seed,
        max_memory=domain.max_memory,
    )
    announce(watch, MINING)
    parameters: dict[str, Any] = {name: getattr(options, name) for name in OPTIONS}
    return noted(fit_truncated(empirical, options, watch), {**parameters, "states": None, "random_state": domain.seed})


def support(text: str) -> float | int:
    """A share of the rows such as 0.1, or a whole number of rows.

    Raises
    ------
    FullspanError : it is neither.
    """
    try:
        return int(text) if text.strip().isdigit() else float(text)
    except ValueError as error:
        raise FullspanError(f"--min-support {text!r} is no number; write a share, 0.1, or rows, 20") from error
