"""Sums over all states that agree with incomplete rows: the clamped phase of a Boltzmann machine on a table.

A row o that leaves some variables open is a fibre of the table: its observed digits fix a place, its open digits run
over offsets. With log weights l(x) = theta . Phi(x) on the table, a row has the partition sum and the completion

    Z(o) = sum_{x agrees with o} exp l(x),         p(x | o) = exp l(x) / Z(o),

and all rows together the I-projection of the model on the data (Byrne 1992, eq. 16), ``sum_o q(o) p(x | o)``. A hidden
unit is a variable that every row leaves open. Rows that leave the same variables open have disjoint fibres, so one
pattern never costs more than one visit of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from fullspan.algebra.basis import Basis, Term
from fullspan.algebra.jit import parallel, serial
from fullspan.data.patterns import same_pattern

_HELD = 1 << 22
"""Expectations of rows held at a time."""
_MANY = 1 << 14
"""States of a pattern from which its rows are shared among the cores."""

Array = NDArray[np.float64]


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


@parallel
def _means(
    log_weights: Array,
    places: NDArray[Any],
    fibres: NDArray[Any],
    starts: NDArray[Any],
    offsets: NDArray[Any],
    factors: NDArray[Any],
    values: NDArray[Any],
    strides: NDArray[Any],
    cards: NDArray[Any],
    out: Array,
) -> None:
    """``out[r, y] = E(Phi_y | row r)``; ``factors[y]`` are pairs (variable, row of ``values``), padded with -1."""
    for r in prange(places.size):
        fibre = offsets[starts[fibres[r]] : starts[fibres[r] + 1]]
        peak = -np.inf
        for offset in fibre:
            peak = max(peak, log_weights[places[r] + offset])
        total = 0.0
        digits = np.empty(cards.size, np.int64)
        for offset in fibre:
            x = places[r] + offset
            p = np.exp(log_weights[x] - peak)
            total += p
            for i in range(cards.size):
                digits[i] = x // strides[i] % cards[i]
            for y in range(factors.shape[0]):
                phi = 1
                for f in range(factors.shape[1]):
                    if factors[y, f, 0] < 0:
                        break
                    phi *= values[factors[y, f, 1], digits[factors[y, f, 0]]]
                out[r, y] += p * phi
        for y in range(factors.shape[0]):
            out[r, y] /= total


class Clamped:
    """Rows with open cells (code -1) over the states of a basis.

    Parameters
    ----------
    basis : the states.
    rows : (m, n) codes, -1 for an open cell; rows of one pattern are distinct.
    weights : (m,) positive weight of each row.
    """

    def __init__(self, basis: Basis, rows: NDArray[Any], weights: Array) -> None:
        self.basis, self.weights = basis, np.asarray(weights, dtype=np.float64)
        open_cells = rows < 0
        self.places = np.where(open_cells, 0, rows).astype(np.int64) @ np.array(basis.strides, dtype=np.int64)
        patterns = same_pattern(rows)
        self.fibres = np.empty(len(rows), dtype=np.int64)
        for j, members in enumerate(patterns):
            self.fibres[members] = j
        offsets = [fibre(basis, np.flatnonzero(open_cells[members[0]])) for members in patterns]
        self.starts = np.cumsum([0, *map(len, offsets)], dtype=np.int64)
        self.offsets = np.concatenate(offsets)
        self.sizes = np.diff(self.starts)
        visits = np.bincount(self.fibres) * self.sizes
        large = (visits >= _MANY) & (self.sizes > 1)
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
        np.add.at(out, known, self.weights[self._single])
        z[self._single] = log_weights[known]
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

    def mean_square(self, log_weights: Array, terms: Sequence[Term]) -> Array:
        """``sum_o w(o) E(Phi | o) E(Phi | o)^t`` over all rows, (k, k)."""
        factors, values = _tables(self.basis, terms)
        strides, cards = np.array(self.basis.strides, dtype=np.int64), np.array(self.basis.cards, dtype=np.int64)
        total = np.zeros((len(terms), len(terms)))
        step = max(1, _HELD // max(len(terms), 1))
        for start in range(0, len(self.places), step):
            part = slice(start, start + step)
            mean = np.zeros((len(self.places[part]), len(terms)))
            where = (self.places[part], self.fibres[part], self.starts, self.offsets)
            _means(log_weights, *where, factors, values, strides, cards, mean)
            total += mean.T @ (mean * self.weights[part, None])
        return total


def _tables(basis: Basis, terms: Sequence[Term]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The local functions in use, one row of values each, and for each term the (variable, row) of its factors."""
    used = sorted({factor for term in terms for factor in term})
    row = {factor: r for r, factor in enumerate(used)}
    values = np.zeros((len(used), max(basis.cards)), dtype=np.int64)
    for (i, j), r in row.items():
        values[r, : basis.cards[i]] = basis.local(i)[j]
    factors = np.full((len(terms), max(map(len, terms), default=0), 2), -1, dtype=np.int64)
    for y, term in enumerate(terms):
        for f, (i, j) in enumerate(term):
            factors[y, f] = i, row[i, j]
    return factors, values


def fibre(basis: Basis, variables: NDArray[Any]) -> NDArray[np.int64]:
    """Offsets of all states of some variables, the first one fastest."""
    offsets = np.zeros(1, dtype=np.int64)
    for i in variables:
        steps = np.arange(basis.cards[i], dtype=np.int64) * basis.strides[i]
        offsets = (steps[:, None] + offsets[None, :]).ravel()
    return offsets
