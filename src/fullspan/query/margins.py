"""Where a model fits badly, in cells a person can read: of the margins of up to three variables, or of the whole table.

The Pearson residual of a cell with observed count n and expected count m is r = (n - m) / sqrt(m (1 - m / N)), which
has variance 1 under a right model whose weights are given, and less in the rows that the weights were fitted to. A
margin counts the rows that show all its variables.

Whether a cell is farther than chance makes it is judged by the exact binomial tail, twice the smaller one: where
few rows are expected, a residual of +5 is far more probable than one of -5, and than a normal one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Level
from fullspan.query.distribution import Distribution

MAX_MARGINS = 1500
LEAST_COUNT = 1.0
"""Expected count below which a cell is not judged."""
RARE = 0.05
"""Probability by chance from which on a cell is farther from the model than chance makes it."""


@dataclass(frozen=True)
class Cell:
    """A cell of a margin: its levels by variable, its observed and expected count, and the residual."""

    levels: dict[str, Level]
    observed: float
    expected: float
    residual: float


def cell_words(cell: Cell) -> str:
    """The levels of a cell, ``a=x, b=y``."""
    return ", ".join(f"{name}={level}" for name, level in cell.levels.items())


@dataclass(frozen=True)
class WorstCells:
    """The cells that fit worst.

    Attributes
    ----------
    cells : worst first; at most one of each margin, and none that contains a cell before it.
    n_cells : how many were looked at.
    largest_order : of the margins.
    n_rare : cells that were left out, because fewer than :data:`LEAST_COUNT` rows are expected there.
    least : the cell that is least probable under the model, by its tail; None where there is none.
    tail : twice the smaller binomial tail of that cell, at most 1.
    """

    cells: tuple[Cell, ...]
    n_cells: int
    largest_order: int
    n_rare: int
    least: Cell | None = None
    tail: float = 1.0

    def by_chance(self) -> float:
        """Probability that some of ``n_cells`` independent cells has a tail as small: at most ``1 - (1 - tail)^m``.

        Examples
        --------
        >>> [round(WorstCells((), m, 3, 0, None, 1e-6).by_chance(), 4) for m in (1, 10_106)]
        [0.0, 0.0101]
        """
        return 1.0 if self.tail >= 1 else -math.expm1(self.n_cells * math.log1p(-self.tail))


@dataclass(frozen=True, eq=False)
class _Margin:
    """The table of some variables, one axis for each; the residuals of cells that are not judged are 0."""

    where: tuple[int, ...]
    observed: Array
    expected: Array
    residuals: Array


def worst_cells(distribution: Distribution, data: Empirical, top: int) -> WorstCells | None:
    """The ``top`` cells of largest residual among all margins of up to three variables, two if these are too many.

    A cell is passed over if one of its margin is in the list already, or one of fewer variables that contains it.

    Returns None where even the pairs are more than :data:`MAX_MARGINS`.
    """
    n = len(data.space)
    order = next((k for k in (3, 2) if sum(math.comb(n, j) for j in range(1, k + 1)) <= MAX_MARGINS), None)
    if order is None:
        return None
    found: list[_Margin] = []
    n_cells = n_rare = 0
    least, tail = None, 1.0
    for where in _margins(n, min(order, n)):
        observed = counted_margin(data, where)
        total = float(observed.sum())
        if total == 0:
            continue
        expected = total * distribution.marginal([data.space.names[i] for i in where]).values
        judged = expected >= LEAST_COUNT
        n_cells, n_rare = n_cells + int(judged.sum()), n_rare + int((~judged).sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            # The binomial deviation of a cell under the model; cells that are certain have none and are left out.
            r = (observed - expected) / np.sqrt(expected * (1 - expected / total))
        r = np.where(judged & np.isfinite(r), r, 0.0)
        found.append(_Margin(where, observed, expected, r))
        tails = np.where(r != 0, binomial_tails(observed, total, expected / total), 1.0)
        if (smallest := float(tails.min())) < tail:
            tail, least = smallest, _named(data, found[-1], _at(tails, int(tails.argmin())))
    cells = tuple(_named(data, margin, cell) for margin, cell in itertools.islice(_distinct(found), top))
    return WorstCells(cells, n_cells, min(order, n), n_rare, least, tail)


def binomial_tails(observed: Array, total: float, p: Array) -> Array:
    """Twice the smaller tail of binomial counts, at most 1; of counts that are no whole numbers, read between them.

    Examples
    --------
    >>> [round(float(t), 4) for t in binomial_tails(np.array([0.0, 5.0, 10.0]), 10.0, np.array([0.5, 0.5, 0.5]))]
    [0.002, 1.0, 0.002]
    """
    from scipy.special import betainc

    with np.errstate(invalid="ignore"):
        at_least = np.where(observed > 0, betainc(observed, total - observed + 1, p), 1.0)
        more = np.where(observed < total, betainc(observed + 1, total - observed, p), 0.0)
    return np.asarray(np.minimum(2 * np.minimum(at_least, 1 - more), 1.0))


def _at(values: Array, flat: int) -> tuple[int, ...]:
    return tuple(int(x) for x in np.unravel_index(flat, values.shape))


def _margins(n: int, order: int) -> Iterator[tuple[int, ...]]:
    for k in range(1, order + 1):
        yield from itertools.combinations(range(n), k)


def counted_margin(data: Empirical, where: tuple[int, ...]) -> Array:
    """Counts of the rows that show all these variables, one axis per variable."""
    cards = [data.space.cards[i] for i in where]
    codes = np.asarray(data.states[:, list(where)], dtype=np.int64)
    seen = (codes >= 0).all(axis=1)
    flat = np.ravel_multi_index(tuple(codes[seen].T), cards)
    counts: Array = np.bincount(flat, data.counts[seen], math.prod(cards)).astype(np.float64)
    return counts.reshape(cards)


def _distinct(found: list[_Margin]) -> Iterator[tuple[_Margin, tuple[int, ...]]]:
    """Largest residual first, without those that contain a cell before them, nor two of one margin."""
    if not found:
        return
    # Both cells of a binary column have the same residual; rounded, they tie, and the first one stands.
    sizes = np.round(np.concatenate([np.abs(margin.residuals).ravel() for margin in found]), 9)
    starts = np.cumsum([0, *(margin.residuals.size for margin in found)])
    kept: list[set[tuple[int, int]]] = []
    used: set[tuple[int, ...]] = set()
    for flat in np.argsort(-sizes, kind="stable"):  # of equal ones that of fewer variables comes first
        if sizes[flat] == 0:
            return
        k = int(np.searchsorted(starts, flat, side="right")) - 1
        margin = found[k]
        if margin.where in used:
            continue
        cell = _at(margin.residuals, int(flat - starts[k]))
        own = set(zip(margin.where, cell, strict=True))
        if not any(before < own for before in kept):
            kept.append(own)
            used.add(margin.where)
            yield margin, cell


def _named(data: Empirical, margin: _Margin, cell: tuple[int, ...]) -> Cell:
    variables = [data.space.variables[i] for i in margin.where]
    levels = {v.name: v.levels[x] for v, x in zip(variables, cell, strict=True)}
    return Cell(levels, float(margin.observed[cell]), float(margin.expected[cell]), float(margin.residuals[cell]))
