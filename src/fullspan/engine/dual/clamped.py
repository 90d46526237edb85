"""Sums over all states that agree with incomplete rows: the clamped phase of a Boltzmann machine on a table.

A row o that leaves some variables open is a fibre of the table: its observed digits fix a place, its open digits run
over offsets. With log weights l(x) = theta . Phi(x) on the table, a row has the partition sum and the completion

    Z(o) = sum_{x agrees with o} exp l(x),         p(x | o) = exp l(x) / Z(o),

and all rows together the I-projection of the model on the data (Byrne 1992, eq. 16), ``sum_o q(o) p(x | o)``. A hidden
unit is a variable that every row leaves open. Rows that leave the same variables open have disjoint fibres, so one
pattern never costs more than one visit of the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data.merging import same_pattern
from fullspan.model.algebra.basis import Basis
from fullspan.model.algebra.bits import is_small
from fullspan.model.algebra.jit import parallel, prange, serial

_PLAIN_STATES = 1 << 18
"""States that NumPy visits at a time."""
_SHARED_STATES = 1 << 14
"""States of a pattern from which its rows are shared among the cores."""


@serial
def _one(log_weights: Array, place: int, offsets: NDArray[Any], weight: float, out: Array) -> float:
    """Add one row's completion, times its weight, to ``out``; returns log Z of the row."""
    peak = -np.inf
    for offset in offsets:
        peak = max(peak, log_weights[place + offset])
    total = 0.0
    for offset in offsets:
        total += np.exp(log_weights[place + offset] - peak)
    for offset in offsets:
        # exp a second time instead of room for the completions of a row, of which there may be as many as states.
        out[place + offset] += weight * np.exp(log_weights[place + offset] - peak) / total
    return float(peak + np.log(total))


@serial
def _complete(
    log_weights: Array,
    places: NDArray[Any],
    fibres: NDArray[Any],
    starts: NDArray[Any],
    offsets: NDArray[Any],
    weights: Array,
    out: Array,
    z: Array,
) -> None:
    for r in range(places.size):
        z[r] = _one(log_weights, places[r], offsets[starts[fibres[r]] : starts[fibres[r] + 1]], weights[r], out)


@parallel
def _complete_disjoint(
    log_weights: Array, places: NDArray[Any], offsets: NDArray[Any], weights: Array, out: Array, z: Array
) -> None:
    for r in prange(places.size):
        z[r] = _one(log_weights, places[r], offsets, weights[r], out)


def _complete_plain(log_weights: Array, places: Ints, offsets: Ints, weights: Array, out: Array) -> Array:
    """Twin of ``_complete_disjoint`` in NumPy; returns log Z of the rows."""
    z = np.empty(len(places))
    for part in np.array_split(np.arange(len(places)), -(-len(places) * len(offsets) // _PLAIN_STATES)):
        where = places[part, None] + offsets
        found = log_weights[where]
        peak = found.max(axis=1, keepdims=True)
        p = np.exp(found - peak)
        total = p.sum(axis=1, keepdims=True)
        out[where] += p * (weights[part, None] / total)  # no state twice: the fibres are disjoint
        z[part] = (peak + np.log(total))[:, 0]
    return z


class Clamped:
    """Rows with open cells (code -1) over the states of a basis.

    Parameters
    ----------
    basis : the states.
    rows : (m, n) codes, -1 for an open cell; rows of one pattern are distinct.
    weights : (m,) positive weight of each row.
    many : states that the rows of a pattern visit from which on its rows are shared among the cores.

    Attributes
    ----------
    places : (m,) index of each row with its open digits at 0.
    fibres : (m,) pattern of each row.
    patterns : the rows of each pattern.
    open_cells : (patterns, n) whether a cell is open.
    sizes : (patterns,) states that agree with a row; their offsets are ``offsets[starts[j]:starts[j + 1]]``.
    """

    def __init__(self, basis: Basis, rows: NDArray[Any], weights: Array, many: int = _SHARED_STATES) -> None:
        self.basis, self.weights = basis, np.asarray(weights, dtype=np.float64)
        open_cells = rows < 0
        self.places = np.where(open_cells, 0, rows).astype(np.int64) @ np.array(basis.strides, dtype=np.int64)
        self.patterns = patterns = same_pattern(rows)
        self.fibres = np.empty(len(rows), dtype=np.int64)
        for j, members in enumerate(patterns):
            self.fibres[members] = j
        self.open_cells = open_cells[[members[0] for members in patterns]]
        offsets = [fibre(basis, np.flatnonzero(pattern)) for pattern in self.open_cells]
        self.starts = np.cumsum([0, *map(len, offsets)], dtype=np.int64)
        self.offsets = np.concatenate(offsets)
        self.sizes = np.diff(self.starts)
        # Only rows of one pattern have disjoint fibres: these can be shared among the cores without locks.
        visits = np.bincount(self.fibres) * self.sizes
        large = (visits >= many) & (self.sizes > 1)
        self._large = [patterns[j] for j in np.flatnonzero(large)]
        self._small = np.flatnonzero((self.sizes[self.fibres] > 1) & ~large[self.fibres])
        self._single = np.flatnonzero(self.sizes[self.fibres] == 1)

    @property
    def n_visits(self) -> int:
        """States visited by one completion."""
        return int(self.sizes[self.fibres].sum())

    def states(self) -> NDArray[np.int64]:
        """Indices of all states that agree with some row, increasing."""
        agrees = np.zeros(self.basis.n_states)
        self.complete(np.zeros(self.basis.n_states), agrees)
        return np.flatnonzero(agrees)

    def complete(self, log_weights: Array, out: Array) -> Array:
        """Add ``sum_o w(o) p(x | o)`` to the table ``out``; returns log Z(o) of every row."""
        z = np.empty(len(self.weights))
        known = self.places[self._single]
        # A complete row is its own completion.
        np.add.at(out, known, self.weights[self._single])
        z[self._single] = log_weights[known]
        if is_small(self.basis.n_states):
            for j, rows in enumerate(self.patterns):
                if self.sizes[j] > 1:
                    offsets = self.offsets[self.starts[j] : self.starts[j + 1]]
                    z[rows] = _complete_plain(log_weights, self.places[rows], offsets, self.weights[rows], out)
            return z
        for rows in self._large:
            part = np.empty(len(rows))
            j = self.fibres[rows[0]]
            offsets = self.offsets[self.starts[j] : self.starts[j + 1]]
            _complete_disjoint(log_weights, self.places[rows], offsets, self.weights[rows], out, part)
            z[rows] = part
        rows, part = self._small, np.empty(len(self._small))
        where = (self.places[rows], self.fibres[rows], self.starts, self.offsets)
        _complete(log_weights, *where, self.weights[rows], out, part)
        z[rows] = part
        return z


def fibre(basis: Basis, variables: NDArray[Any]) -> NDArray[np.int64]:
    """Offsets of all states of some variables, the first one fastest."""
    offsets = np.zeros(1, dtype=np.int64)
    for i in variables:
        steps = np.arange(basis.cards[i], dtype=np.int64) * basis.strides[i]
        offsets = (steps[:, None] + offsets[None, :]).ravel()
    return offsets
