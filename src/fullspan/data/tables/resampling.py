"""Counts drawn from counts: bootstrap replicates, and the training parts of a cross-validation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fullspan.data.canonical import canonical_states
from fullspan.data.empirical import Empirical
from fullspan.data.tables.grouped import Grouped
from fullspan.errors import DataError, FullspanError


def bootstrap(empirical: Empirical, n: int, rng: np.random.Generator) -> Grouped:
    """``n`` tables of N rows each, drawn with replacement: groups 0 to n - 1.

    Raises
    ------
    DataError : ``n`` is below 1, the counts are no whole numbers, or cells are missing.
    """
    if n < 1:
        raise DataError(f"bootstrap is {n}; at least 1 replicate is needed")
    counts = _whole(empirical)
    total = int(counts.sum())
    weights = rng.multinomial(total, counts / total, size=n).astype(np.float64)
    return Grouped.of_weights(empirical, weights, tuple(range(n)))


def folds(empirical: Empirical, k: int, rng: np.random.Generator) -> tuple[Grouped, NDArray[np.float64]]:
    """The rows dealt at random into ``k`` folds: group g has all but fold g. Also the counts (k, states) of the folds.

    Raises
    ------
    DataError : ``k`` is not from 2 to N, the counts are no whole numbers, or cells are missing.
    """
    rest = _whole(empirical)
    total = int(rest.sum())
    if not 2 <= k <= total:
        raise DataError(f"folds is {k}; the {total} rows can be dealt into 2 to {total} folds")
    left_out = np.empty((k, len(rest)), dtype=np.int64)
    for g in range(k):
        size = total * (g + 1) // k - total * g // k
        left_out[g] = rng.multivariate_hypergeometric(rest, size, method="marginals")
        rest = rest - left_out[g]
    held = left_out.astype(np.float64)
    return Grouped.of_weights(empirical, empirical.counts - held, tuple(range(k))), held


def _whole(empirical: Empirical) -> NDArray[np.int64]:
    counts = np.rint(empirical.counts).astype(np.int64)
    if not empirical.is_complete:
        raise DataError("resampling needs complete rows; use missing='drop' or missing='level'")
    if (counts != empirical.counts).any():
        raise DataError("resampling needs counts that are whole numbers; the weights of this table are not")
    return counts


def held_out(empirical: Empirical, share: float, rng: np.random.Generator) -> tuple[Empirical, Empirical | None]:
    """Split counted rows at random: those to learn from, and about a ``share`` of them held out, None if that is none.

    Whole counts are split row by row; a state of fractional weight goes to one side as a whole. Which rows are held out
    depends on neither the order of the columns nor the labels of the levels (module ``data.canonical``).

    Raises
    ------
    FullspanError : the share is not at least 0 and less than 1.

    Examples
    --------
    >>> data = Empirical.from_codes([[0], [1]] * 50)
    >>> train, valid = held_out(data, 0.2, np.random.default_rng(0))
    >>> train.total + valid.total, valid.total
    (100.0, 19.0)
    """
    if not 0 <= share < 1:
        raise FullspanError(f"the share of rows held out is {share!r}; a number from 0 to below 1 is needed")
    counts, order = empirical.counts, canonical_states(empirical)
    whole = counts == np.floor(counts)
    rows, chance = np.empty_like(counts), np.empty_like(counts)
    rows[order] = rng.binomial(np.where(whole, counts, 0).astype(np.int64)[order], share)
    chance[order] = rng.random(len(counts))
    apart = np.where(whole, rows, counts * (chance < share))
    if not apart.any() or not (apart < counts).any():
        return empirical, None
    return _of(empirical, counts - apart), _of(empirical, apart)


def _of(empirical: Empirical, counts: NDArray[np.float64]) -> Empirical:
    seen = counts > 0
    return replace(empirical, states=empirical.states[seen], counts=counts[seen])
