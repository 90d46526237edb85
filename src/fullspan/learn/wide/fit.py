"""Learn a log-linear model of bounded width from counted rows, complete or with missing values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullspan.data import Empirical
from fullspan.data.space import Variable
from fullspan.learn.base.column_order import in_canonical_order
from fullspan.learn.base.progress import Watch
from fullspan.learn.wide.incomplete import fit_wide_incomplete
from fullspan.learn.wide.search import Search, WideOptions
from fullspan.model.algebra.blas import one_core
from fullspan.model.fitted import Fitted

__all__ = ["WideOptions", "fit_wide"]


def fit_wide(
    empirical: Empirical,
    options: WideOptions | None = None,
    watch: Watch | None = None,
    hidden: Sequence[Variable] = (),
    restarts: int = 5,
    seed: int | np.random.Generator | None = 0,
) -> Fitted:
    """Learn a log-linear model of bounded width from counted data.

    Parameters
    ----------
    watch : called as the graph grows and after sifting; ``KeyboardInterrupt`` ends the search with the best model so
        far: the variables that were not reached yet stay independent.
    hidden, restarts, seed : variables that are never observed, random starts of the latent classes that complete them
        at first, and their seed.

    Raises
    ------
    TooLargeError : the search would not fit into memory; nothing has been allocated.
    """
    options = options or WideOptions()

    def searched(data: Empirical, watch: Watch | None) -> Fitted:
        if data.is_complete and not hidden:
            return Search(data, options, watch).run()
        return fit_wide_incomplete(data, options, watch, hidden, restarts, seed)

    with one_core():
        return in_canonical_order(empirical, watch, searched)
