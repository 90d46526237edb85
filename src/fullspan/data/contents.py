"""What the data hold inside one bin: how its rows are spread, and the numbers that stand for it.

The values of a bin, in increasing order, are kept as runs of neighbours: the least and the greatest value of a run, and
the weight of its rows. Up to :data:`MOST_VALUES` different values each are a run of their own, and all shares are
exact. More become about :data:`RUNS` runs of equal weight, the first and the last of them halved again and again, to
1 row in 2^:data:`TAIL`, for questions about tails. A bound inside a run splits it in proportion:

    P(X < x | bin) = sum_r w_r s_r(x) / sum_r w_r,      s_r(x) = 1, 0 or (x - low_r) / (high_r - low_r)

which is wrong by at most the share of the one run that is split, 1 in :data:`RUNS`. A value that fills a run is never
split.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array
from fullspan.errors import DataError

MOST_VALUES = 64
"""Different values of a bin up to which each is kept with its rows."""
RUNS = 32
"""Runs of equal weight that a bin of more values is cut into."""
TAIL = 12
"""The shortest run at either end begins where 1 in 2^12 of the rows is left."""

Run = tuple[float, float, float]
"""Least value, greatest value, weight of the rows."""


@dataclass(frozen=True)
class Contents:
    """The data inside one bin.

    Attributes
    ----------
    low, high : the least and the greatest value of each run, increasing.
    weights : the weight of its rows. Empty where that is not known: models of earlier versions have values at evenly
        spaced quantiles alone, and private models values that are not of the data.
    """

    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.low)
        if len(self.high) != n or len(self.weights) not in (0, n):
            raise DataError(f"runs of {n} least values, {len(self.high)} greatest ones, {len(self.weights)} weights")
        if any(a > b for a, b in zip(self.low, self.high, strict=True)):
            raise DataError("a run of values ends below its start")
        if not all(0 < w < math.inf for w in self.weights):
            raise DataError("the weight of a run of values is not a positive number")

    @classmethod
    def uncounted(cls, values: Iterable[float]) -> Contents:
        """Values that stand for a bin, without saying how its rows are spread."""
        known = tuple(values)
        return cls(known, known)

    @classmethod
    def of_runs(cls, runs: Iterable[Run]) -> Contents:
        """Runs in any order; neighbours are joined where there are more than a bin keeps."""
        ordered = _joined(sorted(runs))
        low, high, weights = zip(*ordered, strict=True) if ordered else ((), (), ())
        return cls(low, high, weights)

    @property
    def is_counted(self) -> bool:
        """Whether it is known how the rows are spread."""
        return bool(self.weights)

    def __add__(self, other: Contents) -> Contents:
        """The contents of two parts of the data; only what is counted can be added."""
        if not (self.is_counted and other.is_counted):
            return self if self.low and (self.is_counted or not other.is_counted) else other
        return Contents.of_runs([*self._runs(), *other._runs()])

    def _runs(self) -> Iterable[Run]:
        return zip(self.low, self.high, self.weights, strict=True)

    def share_below(self, bound: float) -> float:
        """``P(X < bound | bin)``."""
        low, high, weights = self._arrays()
        span = np.where(high > low, high - low, 1.0)
        below = np.where(high < bound, 1.0, np.where(low >= bound, 0.0, (bound - low) / span))
        return float(weights @ np.clip(below, 0.0, 1.0) / weights.sum())

    def error_below(self, bound: float) -> float:
        """The most that :meth:`share_below` may be wrong by: the share of the runs that the bound splits."""
        low, high, weights = self._arrays()
        split = (low < bound) & (bound <= high) & (low < high)
        parts = np.where(split, (bound - low) / np.where(high > low, high - low, 1.0), 0.0)
        return float(weights @ np.where(split, np.maximum(parts, 1.0 - parts), 0.0) / weights.sum())

    @property
    def median(self) -> float:
        """The median of the data: runs of equal weight are cut there."""
        if not self.is_counted:
            return self.low[len(self.low) // 2]
        sums = np.cumsum(self.weights)
        return self.high[int(np.searchsorted(sums, sums[-1] / 2 * (1 - 1e-12)))]

    def drawable(self) -> tuple[Array, Array]:
        """Values of the data to draw from, and their shares; the two ends of a run share its weight."""
        low, high, weights = self._arrays()
        split = low < high
        values = np.concatenate([low, high[split]])
        shares = np.concatenate([np.where(split, weights / 2, weights), weights[split] / 2])
        return values, shares / shares.sum()

    def _arrays(self) -> tuple[Array, Array, Array]:
        weights = self.weights or (1.0,) * len(self.low)
        return np.array(self.low), np.array(self.high), np.array(weights, dtype=np.float64)


def _joined(runs: Sequence[Run]) -> list[Run]:
    """Sorted runs: equal values as one, and, of too many, neighbours that make up one share of :data:`RUNS`."""
    merged: list[Run] = []
    for low, high, weight in runs:
        if merged and low == high == merged[-1][0] == merged[-1][1]:
            merged[-1] = (low, high, merged[-1][2] + weight)
        else:
            merged.append((low, high, weight))
    if len(merged) <= MOST_VALUES:
        return merged
    total = math.fsum(weight for *_, weight in merged)
    found: list[Run] = []
    place, before = -1, 0.0
    for low, high, weight in merged:
        own = _place(before / total)
        is_alone = weight * RUNS >= total
        if own == place and not is_alone:
            found[-1] = (found[-1][0], max(found[-1][1], high), found[-1][2] + weight)
        else:
            found.append((low, high, weight))
        place, before = -1 if is_alone else own, before + weight
    return found


def _place(share: float) -> int:
    """The run that a value belongs to, by the share of rows below it."""
    left = 1.0 - share
    if share * RUNS < 1:
        return -int(-math.log2(max(share, 2.0**-TAIL)))
    if left * RUNS <= 1:
        return RUNS + int(-math.log2(max(left, 2.0**-TAIL)))
    return int(share * RUNS)
