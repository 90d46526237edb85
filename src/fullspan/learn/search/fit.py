"""From counts to a fitted model: the search for terms and weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullspan.data import Empirical
from fullspan.data.space import Variable
from fullspan.learn.base.column_order import ColumnOrder
from fullspan.learn.base.progress import Watch
from fullspan.learn.search.complete import fit_complete
from fullspan.learn.search.incomplete import fit_incomplete
from fullspan.learn.search.options import Limits
from fullspan.learn.search.options import Options as Options
from fullspan.model.fitted import Fitted
from fullspan.model.loglinear import LogLinear


def fit_search(
    empirical: Empirical,
    options: Options | None = None,
    watch: Watch | None = None,
    start: LogLinear | None = None,
    limits: Limits | None = None,
    hidden: Sequence[Variable] = (),
    restarts: int = 5,
    seed: int | np.random.Generator | None = None,
) -> Fitted:
    """Learn a log-linear model of counted data; missing cells are summed over (see ``incomplete``).

    Parameters
    ----------
    watch : called after every move; may raise ``KeyboardInterrupt`` or
        :class:`fullspan.learn.base.progress.Interrupted` to stop, and the best model so far is returned with the
        status ``"interrupted"``.
    start : continue from this model's terms and weights, in its basis.
    hidden, restarts, seed : variables that are never observed, random first completions, and their seed.

    Raises
    ------
    TooLargeError : the tables would not fit into memory; nothing has been allocated.
    """
    options, order = options or Options(), ColumnOrder(empirical)
    data, watched, begin = order.data(empirical), order.watch(watch), order.start(start)
    if data.is_complete and not hidden:
        return order.restored(fit_complete(data, options, watched, begin, limits or Limits()))
    return order.restored(fit_incomplete(data, options, hidden, restarts, seed, watched, begin, limits))
