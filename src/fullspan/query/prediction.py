"""One cell given the rest of its row, of any distribution: log Z cancels, and so does every other constant.

    p(x_i = l | rest) = p(rest, x_i = l) / sum_k p(rest, x_i = k)

Cells of the rest that are not observed are summed over by ``log_prob``. Equal rows are asked once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.errors import FullspanError, QueryError
from fullspan.model.algebra.basis import softmax
from fullspan.model.loglinear import checked_codes
from fullspan.query.language.events import IMPOSSIBLE, in_words, log_uniform_rows

if TYPE_CHECKING:
    from fullspan.query.distribution import Distribution

LogProb = Callable[[NDArray[Any]], Array]
"""Log-probabilities (m,) of rows of codes (m, n), -1 where a cell is not observed."""
_HELD_CELLS = 1 << 22
"""Cells of rows that are held at once."""


def log_weights(log_prob: LogProb, rows: Ints, columns: NDArray[np.intp], card: int) -> Array:
    """(m, card) ``log p(rest of row r, x_c = l)``, where c is the column of row r; these have ``card`` levels."""
    tried = np.repeat(rows, card, axis=0)
    tried[np.arange(len(tried)), np.repeat(columns, card)] = np.tile(np.arange(card), len(rows))
    return log_prob(tried).reshape(len(rows), card)


def normalised(log: Array) -> Array:
    """Probabilities from logarithms of weights, row by row; NaN where every weight is 0."""
    with np.errstate(invalid="ignore"):
        return softmax(log)[0]


def level_log_probabilities(distribution: Distribution, rows: Any, i: int) -> Array:
    """(m, levels) ``log p(x_i = l | the other observed cells)`` of each row of codes; what column i says is ignored.

    Time: one log-probability per level of each distinct row.

    Raises
    ------
    QueryError : what a row says has probability 0.
    FullspanError : the model has bounds instead of probabilities.
    """
    refuse_bounds(distribution)
    known = checked_codes(rows, distribution.visible, missing=True).astype(np.int64)
    known[:, i] = -1
    distinct, which = np.unique(known, axis=0, return_inverse=True)
    card = distribution.visible.cards[i]
    found = np.empty((len(distinct), card))
    step = max(1, _HELD_CELLS // (card * known.shape[1]))
    for start in range(0, len(distinct), step):
        part = distinct[start : start + step]
        found[start : start + step] = log_weights(distribution.log_weight, part, np.full(len(part), i), card)
    norm = np.logaddexp.reduce(found, axis=1)
    _refuse_impossible(distribution, distinct, norm)
    return np.asarray((found - norm[:, None])[which.ravel()])


def cell_log_probabilities(distribution: Distribution, row: Ints) -> list[Array]:
    """``log p(x_i = l | the other observed cells)`` of every column i of one row (n,), as arrays over the levels.

    Observed cells are tried out in one array, so that a graph is eliminated once for all of them; of an exact
    distribution, cells that are not observed are its marginals given the row.

    Raises
    ------
    QueryError : what the row says has probability 0.
    FullspanError : the model has bounds instead of probabilities.
    """
    refuse_bounds(distribution)
    cards, seen = distribution.visible.cards, [int(i) for i in np.flatnonzero(row >= 0)]
    found = _of_observed(distribution, row, seen)
    rest = [i for i in range(len(cards)) if i not in found]
    if rest and distribution.exact and not distribution.complete_rows_only:
        shares = distribution.marginals(distribution.event_of({i: (int(row[i]),) for i in seen})).shares
        with np.errstate(divide="ignore"):
            return [
                found[i] if i in found else np.log(shares[name]) for i, name in enumerate(distribution.visible.names)
            ]
    found |= {i: level_log_probabilities(distribution, row[None], i)[0] for i in rest}
    return [found[i] for i in range(len(cards))]


def _of_observed(distribution: Distribution, row: Ints, seen: list[int]) -> dict[int, Array]:
    """The same of the observed columns alone."""
    cards = distribution.visible.cards
    found: dict[int, Array] = {}
    step = max(1, _HELD_CELLS // (max(cards) * len(row)))
    for start in range(0, len(seen), step):
        part = seen[start : start + step]
        ends = np.cumsum([cards[i] for i in part])
        tried = np.repeat(row[None], ends[-1], axis=0)
        tried[np.arange(ends[-1]), np.repeat(part, [cards[i] for i in part])] = np.concatenate(
            [np.arange(cards[i]) for i in part]
        )
        logs = np.split(distribution.log_weight(tried), ends[:-1])
        norms = np.array([np.logaddexp.reduce(log) for log in logs])
        without = np.repeat(row[None], len(part), axis=0)
        without[np.arange(len(part)), part] = -1
        _refuse_impossible(distribution, without, norms)
        found |= {i: log - norm for i, log, norm in zip(part, logs, norms, strict=True)}
    return found


def level_probabilities(distribution: Distribution, rows: Any, i: int) -> Array:
    """(m, levels) ``p(x_i = l | the other observed cells)``; see :func:`level_log_probabilities`."""
    p = np.exp(level_log_probabilities(distribution, rows, i))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def refuse_bounds(distribution: Distribution) -> None:
    """Refuse a model whose log-probabilities are lower bounds: differences of bounds bound nothing.

    Raises
    ------
    FullspanError : with what to use instead.
    """
    if distribution.bound:
        raise FullspanError(
            "a deep machine has lower bounds of log-probabilities, whose differences are no probabilities; "
            "impute(how='mean') estimates those of missing cells by Gibbs chains"
        )


def _refuse_impossible(distribution: Distribution, rows: Ints, log_weight: Array) -> None:
    """Refuse rows that the model excludes: 600 nats less likely than a state at random, or of probability 0."""
    least = IMPOSSIBLE + log_uniform_rows(rows, distribution.visible.cards)
    excluded = ~(log_weight > least)
    if excluded.any():  # a weight may be small because log Z is: then the probability decides
        excluded[excluded] = ~(distribution.log_prob(rows[excluded]) > least[excluded])
    if excluded.any():
        row = rows[int(np.argmax(excluded))]
        said = in_words({int(i): (int(row[i]),) for i in np.flatnonzero(row >= 0)}, distribution.visible)
        raise QueryError(
            f"{said} has probability 0 under this model, so nothing can be predicted from it; a model fitted with a "
            "penalty, l2=, excludes nothing"
        )
