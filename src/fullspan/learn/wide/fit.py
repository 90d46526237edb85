"""Learn a log-linear model of bounded width from counted rows, complete or with missing values."""

from __future__ import annotations

from fullspan.data import Empirical
from fullspan.learn.base.column_order import in_canonical_order
from fullspan.learn.base.progress import Watch
from fullspan.learn.wide.incomplete import fit_wide_incomplete
from fullspan.learn.wide.search import Search, WideOptions
from fullspan.model.algebra.blas import one_core
from fullspan.model.fitted import Fitted

__all__ = ["WideOptions", "fit_wide"]


def fit_wide(empirical: Empirical, options: WideOptions | None = None, watch: Watch | None = None) -> Fitted:
    """Learn a log-linear model of bounded width from counted data.

    ``watch`` is called as the graph grows and after sifting; ``KeyboardInterrupt`` ends the search with the best model
    so far: the variables that were not reached yet stay independent.

    Raises
    ------
    TooLargeError : the search would not fit into memory; nothing has been allocated.
    """
    options = options or WideOptions()
    with one_core():
        return in_canonical_order(empirical, watch, lambda data, watch: _searched(data, options, watch))


def _searched(data: Empirical, options: WideOptions, watch: Watch | None) -> Fitted:
    if data.is_complete:
        return Search(data, options, watch).run()
    return fit_wide_incomplete(data, options, watch)
