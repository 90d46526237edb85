"""Averages of bootstrap fits: a search or a machine, fitted again and again, and how it was done."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fullspan.estimators.settings import noted, of_hidden
from fullspan.learn.averaging.fit import fit_average

if TYPE_CHECKING:
    import numpy as np

    from fullspan.data import Empirical
    from fullspan.learn.likelihood.machine import MachineOptions
    from fullspan.learn.search.fit import Options
    from fullspan.learn.wide.fit import WideOptions
    from fullspan.model.fitted import Fitted
    from fullspan.space import Variable

Watch = Callable[[Any], None] | None
_HELD_OUT, _TRIED = 0.2, 4
"""Rows on which the share of a shrunken model is decided, and fits that are averaged for that."""


def averaged_search(
    empirical: Empirical,
    options: Options,
    hidden: Sequence[Variable] = (),
    restarts: int = 5,
    k: int = 16,
    random_state: Any = None,
    watch: Watch = None,
) -> Fitted:
    """The average of k searches, each of a bootstrap sample."""
    from fullspan.learn.search.fit import fit
    from fullspan.learn.search.incomplete import fit_incomplete

    def one(data: Empirical, basis: str | None, seed: np.random.Generator, watch: Callable[[Any], None]) -> Fitted:
        own = options if basis is None else replace(options, basis=basis)
        if hidden:
            return fit_incomplete(data, own, hidden, restarts, seed, watch=watch)
        return fit(data, own, watch=watch)

    fitted = fit_average(empirical, k, one, random_state, watch)
    settings = {**fitted.settings, **dataclasses.asdict(options), "restarts": restarts}
    return replace(fitted, settings={**settings, **of_hidden(hidden, random_state)})


def averaged_wide(
    empirical: Empirical, options: WideOptions, k: int = 16, random_state: Any = None, watch: Watch = None
) -> Fitted:
    """The average of k searches without a table, each of a bootstrap sample."""
    from fullspan.learn.wide.fit import fit_wide

    def one(data: Empirical, basis: str | None, seed: np.random.Generator, watch: Callable[[Any], None]) -> Fitted:
        return fit_wide(data, options if basis is None else replace(options, basis=basis), watch)

    return fit_average(empirical, k, one, random_state, watch)


def averaged_machine(
    empirical: Empirical,
    options: MachineOptions,
    hidden: Sequence[Variable] = (),
    k: int = 16,
    random_state: Any = None,
    watch: Watch = None,
) -> Fitted:
    """The average of k machines, each fitted to a bootstrap sample.

    Raises
    ------
    FullspanError : the solver holds no table over the states, so that there is none to average.
    """
    from fullspan.errors import FullspanError
    from fullspan.learn.likelihood.machine import BEYOND_THE_TABLE, fit_machine

    if options.solver in BEYOND_THE_TABLE:
        raise FullspanError(
            f"average={k} needs the table of all states, which solver={options.solver!r} does without; use an exact "
            "solver, or average=1"
        )

    def one(data: Empirical, basis: str | None, seed: np.random.Generator, watch: Callable[[Any], None]) -> Fitted:
        return fit_machine(data, replace(options, seed=seed), hidden, watch)

    return noted(fit_average(empirical, k, one, random_state, watch), options, hidden, random_state)


def shrunken_search(
    empirical: Empirical, options: Options, k: int = 1, random_state: Any = None, watch: Watch = None
) -> Fitted:
    """A search, or the average of k, and beside it a model with all interactions, shrunken by evidence.

    The share of the latter makes the rows of a fifth of the data likeliest, both models having been fitted to the rest
    for that purpose: one row more speaks for each, so that few rows leave it near one half.

    Raises
    ------
    FullspanError : cells are missing, or there are too many states.
    """
    import numpy as np

    from fullspan.learn.search.fit import fit
    from fullspan.learn.search.holdout import held_out
    from fullspan.learn.shrinkage.fit import check_shrinkable, fit_shrunken
    from fullspan.model.averaged import AveragedLogLinear

    check_shrinkable(empirical, None, options.max_memory)

    def searched(data: Empirical, k: int) -> Fitted:
        return (
            fit(data, options, watch=watch) if k == 1 else averaged_search(data, options, (), 1, k, random_state, watch)
        )

    fitted = searched(empirical, k)
    basis: Any = fitted.model.basis.name
    settings = {**fitted.settings, "average": k, "shrinkage": "evidence", **of_hidden((), random_state)}
    if fitted.status == "interrupted":
        return replace(fitted, settings=settings)
    train, valid = held_out(empirical, _HELD_OUT, np.random.default_rng(0))
    background, share = fit_shrunken(empirical, basis, None, options.max_memory, watch), 0.5
    rivals: list[Fitted] = []
    if valid is not None and background.status == "converged":
        rivals = [searched(train, min(k, _TRIED)), fit_shrunken(train, basis, None, options.max_memory, watch)]
        search, shrunken = (rival.model.log_prob(valid.states) for rival in rivals)
        share = _share(search, shrunken, valid.counts)
    if any(found.status == "interrupted" for found in (background, *rivals)):
        return replace(fitted, status="interrupted", settings=settings)
    members = fitted.model.members if isinstance(fitted.model, AveragedLogLinear) else (fitted.model,)
    model = AveragedLogLinear.of(members, background.model, share)
    order = np.argsort([model.basis.index(term) for term in fitted.model.terms], kind="stable")
    surprise = -float(empirical.counts @ model.log_prob(empirical.states)) / empirical.total
    return replace(
        fitted,
        model=model,
        standard_errors=fitted.standard_errors[order],
        nats_saved=fitted.nats_saved[order],
        divergence=surprise - fitted.entropy,
        description_length=float("nan"),
        prior=None,
        settings={**settings, "share": share, **background.settings},
    )


def _share(search: Any, shrunken: Any, counts: Any) -> float:
    """The share w of the second model that maximises ``sum n log((1-w) p_1 + w p_2) + log w + log(1-w)``."""
    import numpy as np

    w = 0.5
    for _ in range(200):
        odds = shrunken - search + np.log(w) - np.log1p(-w)
        second = 1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0)))
        w = float(counts @ second + 1.0) / float(counts.sum() + 2.0)
    return w
