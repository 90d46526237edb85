"""From counts to a fitted model: the search for terms and weights."""

from __future__ import annotations

import math

from fullspan.data import Empirical
from fullspan.learn.base.progress import Watch
from fullspan.learn.search.column_order import in_canonical_order
from fullspan.learn.search.complete import fit_complete
from fullspan.learn.search.incomplete import fit_incomplete
from fullspan.learn.search.options import MAX_TERMS, Limits
from fullspan.learn.search.options import Options as Options
from fullspan.model import Fitted, LogLinear


def fit_search(
    empirical: Empirical,
    options: Options | None = None,
    watch: Watch | None = None,
    start: LogLinear | None = None,
    rounds: float = math.inf,
    terms: int = MAX_TERMS,
) -> Fitted:
    """Learn a log-linear model of counted data; missing cells are summed over (see ``incomplete``).

    Parameters
    ----------
    watch : called after every move; may raise ``KeyboardInterrupt`` or
        :class:`fullspan.learn.base.progress.Interrupted` to stop, and the best model so far is returned with the
        status ``"interrupted"``.
    start : continue from this model's terms and weights, in its basis.
    rounds, terms : most rounds of growing of the full search, and terms that it grows to, for each basis.

    Raises
    ------
    TooLargeError : the tables would not fit into memory; nothing has been allocated.
    """
    options, limits = options or Options(), Limits(rounds, terms)

    def learn(data: Empirical, watch: Watch | None, start: LogLinear | None) -> Fitted:
        if data.is_complete:
            return fit_complete(data, options, watch, start, limits)
        return fit_incomplete(data, options, watch=watch, start=start, limits=limits)

    # One term at a time meets ties all the time: terms with the same counts gain the same.
    return in_canonical_order(empirical, watch, start, learn) if options.by_terms else learn(empirical, watch, start)
