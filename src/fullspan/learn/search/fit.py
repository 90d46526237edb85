"""From counts to a fitted model: the search for terms and weights.

Learn in an order of the columns that the data decide, so that the order of the table's columns does not.

A greedy search compares candidates again and again, and equal ones are common in small tables: rounding, or the place
of a column, would decide between them. Here the columns are sorted by their counts (module ``data.canonical``) before
the search, and its model is written in the order of the table after it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

from fullspan.data import Empirical
from fullspan.data.canonical import canonical_columns
from fullspan.learn.base.progress import Progress, Watch
from fullspan.learn.search.complete import fit_complete
from fullspan.learn.search.incomplete import fit_incomplete
from fullspan.learn.search.options import MAX_TERMS, Limits
from fullspan.learn.search.options import Options as Options
from fullspan.model.algebra.basis import Basis
from fullspan.model.fitted import Fitted
from fullspan.model.loglinear import LogLinear

Learn = Callable[[Empirical, Watch | None, LogLinear | None], Fitted]
"""Learns from counted data, a watcher of its progress, and the model to start from."""


def in_canonical_order(data: Empirical, watch: Watch | None, start: LogLinear | None, learn: Learn) -> Fitted:
    """What ``learn`` makes of the data with sorted columns, as a model of the columns in their own order.

    The models that the watcher is given are in that order, too, and so is ``start``.
    """
    order = canonical_columns(data)
    if order == list(range(len(order))):
        return learn(data, watch, start)
    fingerprint, back = data.fingerprint(), [order.index(i) for i in range(len(order))]

    def restored(fitted: Fitted) -> Fitted:
        return dataclasses.replace(_reordered(fitted, back), fingerprint=fingerprint)

    def watch_restored(progress: Progress) -> None:
        snapshot = progress.snapshot
        assert watch is not None
        watch(dataclasses.replace(progress, snapshot=None if snapshot is None else lambda: restored(snapshot())))

    begin = None if start is None else _reordered(Fitted.given(start), order).model
    return restored(learn(data.reordered(order), None if watch is None else watch_restored, begin))


def _reordered(fitted: Fitted, order: Sequence[int]) -> Fitted:
    """A fit of the variables in another order, its terms sorted by their place in the new basis."""
    model, place = fitted.model, {old: new for new, old in enumerate(order)}
    space = model.space.reordered(order)
    basis = Basis(model.basis.name, space.cards)
    terms = [tuple(sorted((place[i], j) for i, j in term)) for term in model.terms]
    by_index = sorted(range(len(terms)), key=lambda k: basis.index(terms[k]))
    sorted_terms = tuple(terms[k] for k in by_index)
    prior = fitted.prior
    return dataclasses.replace(
        fitted,
        model=LogLinear(space, basis, sorted_terms, model.theta[by_index], model.log_z),
        standard_errors=fitted.standard_errors[by_index],
        nats_saved=fitted.nats_saved[by_index],
        prior=None if prior is None else (prior[0][by_index], prior[1][by_index]),
    )


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
