"""Counted rows as the wide search reads them: whole, and as lists of the cells that are not at their usual level.

Wide tables are mostly zeros. With every variable's levels renamed so that the commonest is 0, a row is the short list
of its other cells, and counts of "a clique's state and any one cell" cost one addition for each of these:

    T[c, (u, l)] = sum_r w_r [x_C = c] [x_u = l],    l > 0;     T[c, (u, 0)] follows from the total of c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data import Empirical
from fullspan.data.merging import code_dtype
from fullspan.model.algebra.jit import serial


class Listed(NamedTuple):
    """Rows as kernels read them; see :class:`WideRows`."""

    columns: NDArray[np.integer[Any]]
    cards: Ints
    features: Ints
    starts: Ints
    cells: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class WideRows:
    """Rows without missing cells, by columns and by unusual cells.

    Attributes
    ----------
    columns : (n, m) codes, variable by variable.
    weights : (m,) counts.
    cards : (n,) levels.
    usual : (n,) the commonest level of each variable.
    features : (n + 1,) where the features of each variable begin: one for every level but the usual one.
    starts, cells : the features of row r are ``cells[starts[r] : starts[r + 1]]``.
    """

    columns: NDArray[np.integer[Any]]
    weights: Array
    cards: Ints
    usual: Ints
    features: Ints
    starts: Ints
    cells: NDArray[np.int32]

    @classmethod
    def of(cls, data: Empirical) -> WideRows:
        """The rows of complete data."""
        states, cards = data.states, np.array(data.space.cards, dtype=np.int64)
        usual = np.array([counts.argmax() for counts in data.level_counts()])
        features = np.concatenate([[0], np.cumsum(cards - 1)])
        unusual = states != usual
        row, variable = np.nonzero(unusual)
        level = states[row, variable].astype(np.int64)
        cells = features[variable] + level - (level > usual[variable])
        starts = np.concatenate([[0], np.cumsum(unusual.sum(axis=1))])
        columns = np.ascontiguousarray(states.T, dtype=code_dtype(data.space.cards))
        return cls(columns, data.counts, cards, usual, features, starts, cells.astype(np.int32))

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def listed(self) -> Listed:
        """The rows without their weights, for kernels."""
        return Listed(self.columns, self.cards, self.features, self.starts, self.cells)

    @property
    def n_features(self) -> int:
        """Levels of all variables, but for one each."""
        return int(self.features[-1])


@serial
def count_cells(rows: Listed, clique: Any, strides: Any, weights: Any, out: Any) -> None:
    """Add ``T[c, feature]``, and the total of c in the last column, to ``out``; rows of weight 0 cost nothing."""
    n_columns, flat, where = out.shape[1], out.reshape(-1), np.zeros(weights.size, np.int32)
    # Where a row's counts begin, column by column: one pass over contiguous codes each, which vectorises.
    for j in range(clique.size):
        column, stride = rows.columns[clique[j]], np.int32(strides[j] * n_columns)
        for r in range(where.size):
            where[r] += stride * column[r]
    for r in range(where.size):
        if weights[r] > 0.0:
            flat[where[r] + n_columns - 1] += weights[r]
            for t in range(rows.starts[r], rows.starts[r + 1]):
                flat[where[r] + rows.cells[t]] += weights[r]
