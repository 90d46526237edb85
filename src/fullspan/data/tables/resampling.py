"""Counts drawn from counts: bootstrap replicates, and the training parts of a cross-validation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullspan.data.empirical import Empirical
from fullspan.data.tables.grouped import Grouped
from fullspan.errors import DataError


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
        raise DataError("rows are resampled where no cell is missing; use missing='drop' or missing='level'")
    if (counts != empirical.counts).any():
        raise DataError("rows are resampled where counts are whole numbers; the weights of this table are not")
    return counts
