"""Averages of machines with their options among the settings, as files keep them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from fullspan.estimators.settings import noted

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.data.space import Variable
    from fullspan.learn.likelihood.options import MachineOptions
    from fullspan.model.fitted import Fitted


def averaged_machine(
    empirical: Empirical,
    options: MachineOptions,
    hidden: Sequence[Variable] = (),
    k: int = 16,
    random_state: Any = None,
    watch: Callable[[Any], None] | None = None,
) -> Fitted:
    """See :func:`fullspan.learn.ensemble.averages.averaged_machine`."""
    from fullspan.learn.ensemble import averages

    fitted = averages.averaged_machine(empirical, options, hidden, k, random_state, watch)
    return noted(fitted, options, hidden, random_state)
