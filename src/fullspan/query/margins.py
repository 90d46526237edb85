"""Where a model fits badly, in cells a person can read: of the margins of up to three variables, or of the whole table.

The Pearson residual of a cell with observed count n and expected count m is r = (n - m) / sqrt(m (1 - m / N)), which
has variance 1 under a right model whose weights are given. A margin counts the rows that show all its variables.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data import Empirical
from fullspan.space import Level

Array = NDArray[np.float64]
MAX_MARGINS = 1500
LEAST = 1.0
"""Expected count below which a cell is not judged."""


@dataclass(frozen=True)
class Cell:
    """A cell of a margin: its levels by variable, its observed and expected count, and the residual."""

    levels: dict[str, Level]
    observed: float
    expected: float
    residual: float


@dataclass(frozen=True)
class WorstCells:
    """The cells that fit worst.

    Attributes
    ----------
    cells : worst first.
    n_cells : how many were looked at.
    largest_order : of the margins.
    by_chance : about how large the largest residual of so many would be under a right model, ``sqrt(2 ln n)``.
    """

    cells: tuple[Cell, ...]
    n_cells: int
    largest_order: int

    @property
    def by_chance(self) -> float:
        return math.sqrt(2 * math.log(max(self.n_cells, 2)))


def worst_cells(oracle: Any, data: Empirical, top: int) -> WorstCells | None:
    """The ``top`` cells of largest residual among all margins of up to three variables, two if these are too many.

    Returns None where even the pairs are more than :data:`MAX_MARGINS`.
    """
    n = len(data.space)
    order = next((k for k in (3, 2) if sum(math.comb(n, j) for j in range(1, k + 1)) <= MAX_MARGINS), None)
    if order is None:
        return None
    found: list[tuple[float, tuple[int, ...], tuple[int, ...], float, float]] = []
    n_cells = 0
    for where in _margins(n, min(order, n)):
        observed = _counted(data, where)
        total = float(observed.sum())
        if total == 0:
            continue
        expected = total * oracle.marginal([data.space.names[i] for i in where]).values
        judged = expected >= LEAST
        n_cells += int(judged.sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            r = (observed - expected) / np.sqrt(expected * (1 - expected / total))
        r = np.where(judged & np.isfinite(r), r, 0.0)
        for flat in np.argsort(-np.abs(r), axis=None)[:2].tolist():
            cell = tuple(int(x) for x in np.unravel_index(flat, r.shape))
            found.append((float(r[cell]), where, cell, float(observed[cell]), float(expected[cell])))
    found.sort(key=lambda entry: (-round(abs(entry[0]), 9), len(entry[1]), entry[1]))
    return WorstCells(tuple(_named(data, entry) for entry in _distinct(found, top)), n_cells, min(order, n))


def _margins(n: int, order: int) -> Iterator[tuple[int, ...]]:
    for k in range(1, order + 1):
        yield from itertools.combinations(range(n), k)


def _counted(data: Empirical, where: tuple[int, ...]) -> Array:
    """Counts of the rows that show all these variables, one axis per variable."""
    cards = [data.space.cards[i] for i in where]
    codes = np.asarray(data.states[:, list(where)], dtype=np.int64)
    seen = (codes >= 0).all(axis=1)
    flat = np.ravel_multi_index(tuple(codes[seen].T), cards)
    counts: Array = np.bincount(flat, data.counts[seen], math.prod(cards)).astype(np.float64)
    return counts.reshape(cards)


def _distinct(found: list[Any], top: int) -> list[Any]:
    """The first ``top`` without those that a smaller set of the same cells has told already, nor two of one margin."""
    kept: list[Any] = []
    for entry in found:
        own = set(zip(entry[1], entry[2], strict=True))
        told = any(set(zip(k[1], k[2], strict=True)) < own or k[1] == entry[1] for k in kept)
        if not told and entry[0] != 0.0:
            kept.append(entry)
        if len(kept) == top:
            break
    return kept


def _named(data: Empirical, entry: Any) -> Cell:
    residual, where, cell, observed, expected = entry
    variables = [data.space.variables[i] for i in where]
    levels = {v.name: v.levels[x] for v, x in zip(variables, cell, strict=True)}
    return Cell(levels, observed, expected, residual)
