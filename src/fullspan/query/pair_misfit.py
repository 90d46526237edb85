"""The largest difference between a model and its data over all pairs of columns.

    max over i < j, x, y of  | P(x_i = x, x_j = y) - share of the rows that show both cells and have x and y |

All pairs of the model come from :meth:`fullspan.query.distribution.Distribution.pairs`. Where that would take too long,
pairs are counted in draws: the cell is chosen on one half of them and its probability taken from the other half, so
that the choice of the largest does not add to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.query.distribution import PAIR_WORK, Distribution

Draw = Callable[[int], NDArray[Any]]
"""Given a number of rows, draws that many rows of codes of the visible variables."""
Misfit = Callable[[], "PairMisfit | None"]
N_DRAWS = 20_000
_TIED_DIFFERENCE = 1e-9


@dataclass(frozen=True)
class PairMisfit:
    """The cell of two columns in which model and data differ most.

    Attributes
    ----------
    cell : two columns and their levels, as text.
    model, data : its probability in the model, and its share of the rows that show both columns.
    draws : rows drawn from the model to estimate ``model``; 0 where it is exact.
    """

    cell: dict[str, str]
    model: float
    data: float
    draws: int = 0

    @property
    def error(self) -> float:
        """Standard error of ``model``, 0 where it is exact."""
        return math.sqrt(self.model * (1 - self.model) / self.draws) if self.draws else 0.0


def pair_misfit(
    distribution: Distribution, data: Empirical, sampled: Misfit, work: float = PAIR_WORK
) -> PairMisfit | None:
    """The largest misfit of a model; None if there are no two columns.

    Parameters
    ----------
    sampled : estimates it where exact sums would read more than ``work`` entries; see :func:`sampled_misfit`.

    Raises
    ------
    TooLargeError : neither exact sums nor draws are possible.
    """
    if len(data.space) < 2:
        return None
    found = distribution.pairs(work)
    return sampled() if found is None else _largest(found, data_pairs(data), data.space)


def sampled_misfit(draw: Draw, data: Empirical, n_draws: int = N_DRAWS) -> PairMisfit | None:
    """The same from draws; half of them choose the cell."""
    if len(data.space) < 2:
        return None
    rows, half, shares = np.asarray(draw(n_draws)), n_draws // 2, data_pairs(data)
    first, second = (_drawn_pairs(part, data.space) for part in (rows[:half], rows[half:]))
    found = _largest(first, shares, data.space)
    a, b = _entries(found.cell, data.space)
    return PairMisfit(found.cell, float(second[a, b]), found.data, n_draws - half)


def _drawn_pairs(rows: NDArray[Any], space: Space) -> Array:
    return data_pairs(Empirical.from_codes(rows.astype(np.int64), space=space))


def _entries(cell: dict[str, str], space: Space) -> tuple[int, int]:
    starts = np.cumsum([0, *space.cards])
    i, j = (space.position(name) for name in cell)
    x, y = (list(map(str, space.variables[k].levels)).index(v) for k, v in zip((i, j), cell.values(), strict=True))
    return int(starts[i]) + x, int(starts[j]) + y


def data_pairs(data: Empirical) -> Array:
    """(S, S) shares of all pairs of levels in the rows that show both columns, S = sum |X_i|; NaN if none does."""
    from fullspan.learn.trees.pairs import pair_counts

    counts = pair_counts(data.states, data.counts, data.space.cards)
    starts = np.cumsum([0, *data.space.cards[:-1]])
    totals = np.add.reduceat(np.add.reduceat(counts, starts, axis=0), starts, axis=1)
    wide = np.repeat(np.repeat(totals, data.space.cards, axis=0), data.space.cards, axis=1)
    return np.asarray(np.divide(counts, wide, out=np.full_like(counts, np.nan), where=wide > 0))


def _largest(model: Array, data: Array, space: Space) -> PairMisfit:
    """Of equal differences, as in the four cells of two binary columns, that of the highest levels of a pair."""
    owner = np.repeat(np.arange(len(space)), space.cards)
    # Each pair once, and never a variable with itself; pairs that no row shows have no share to differ from.
    difference = np.where(owner[:, None] < owner, np.nan_to_num(np.abs(model - data)), -1.0)
    rows, columns = np.nonzero(difference >= difference.max() - _TIED_DIFFERENCE)
    first = (owner[rows] == owner[rows[0]]) & (owner[columns] == owner[columns[0]])
    a, b = int(rows[first][-1]), int(columns[first][-1])
    starts = np.cumsum([0, *space.cards])
    cell = {}
    for entry in (a, b):
        variable = space.variables[owner[entry]]
        cell[variable.name] = str(variable.levels[entry - int(starts[owner[entry]])])
    return PairMisfit(cell, float(model[a, b]), float(data[a, b]))
