"""Shares of one variable's levels, row by row: the model as bars, the data as dots with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fullspan.arrays import Array

Z = 1.959964
"""Standard errors on each side of a 95 % interval."""


@dataclass(frozen=True, eq=False)
class Shares:
    """What is drawn: one row per event, one column per level.

    Attributes
    ----------
    title : what the shares are of.
    heading : what the rows are.
    rows, columns : labels.
    model : (rows, columns) conditional probabilities.
    counts, totals : (rows, columns) and (rows,), how often each was seen, and out of how many; None without data.
    left_out : what is left out because it would be too much, in words; empty if nothing is.
    """

    title: str
    heading: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    model: Array
    counts: Array | None = None
    totals: Array | None = None
    left_out: str = ""

    def data(self, row: int, column: int) -> float:
        """The share in the data; NaN where there are none."""
        if self.counts is None or self.totals is None or self.totals[row] <= 0:
            return math.nan
        return float(self.counts[row, column] / self.totals[row])

    def interval(self, row: int, column: int) -> tuple[float, float]:
        """The 95 % interval of that share (Wilson 1927); NaN where there are no data."""
        if math.isnan(self.data(row, column)) or self.totals is None:
            return math.nan, math.nan
        return wilson(self.data(row, column), float(self.totals[row]))


def wilson(share: float, n: float, z: float = Z) -> tuple[float, float]:
    """Interval of a probability from its share of ``n`` rows (Wilson 1927): ``|share - p| = z sqrt(p (1 - p) / n)``.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(0.5, 100)]
    [0.4038, 0.5962]
    >>> [round(end, 4) for end in wilson(0.0, 10)]
    [0.0, 0.2775]
    """
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(middle - half, 0.0), min(middle + half, 1.0)
