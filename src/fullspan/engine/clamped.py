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
from scipy.linalg.blas import dsyrk

from fullspan.algebra.basis import Basis, Term
from fullspan.algebra.jit import parallel, serial
from fullspan.algebra.transform import ANALYSE, _group_tile
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


@serial
def _lattice(row: NDArray[Any], cards: NDArray[Any], kinds: NDArray[Any], steps: NDArray[Any], work: Array) -> None:
    """Replace a function of the completions of a row by its expectations; ``steps[i]`` gets the step of an open i."""
    own_cards, own_kinds = np.empty_like(cards), np.empty_like(kinds)
    size, n_open = 1, 0
    for i in range(row.size):
        if row[i] < 0:
            own_cards[n_open], own_kinds[n_open], steps[i] = cards[i], kinds[i], size
            size *= cards[i]
            n_open += 1
    _group_tile(work, size, own_cards[:n_open], own_kinds[:n_open], ANALYSE, 1)


@parallel
def _means(
    log_weights: Array,
    rows: NDArray[Any],
    places: NDArray[Any],
    fibres: NDArray[Any],
    starts: NDArray[Any],
    offsets: NDArray[Any],
    factors: NDArray[Any],
    used: NDArray[Any],
    values: Array,
    cards: NDArray[Any],
    kinds: NDArray[Any],
    out: Array,
) -> None:
    """``out[r, y] = E(Phi_y | row r)``: the observed factors of Phi_y times the expectation of the open ones.

    Row f of ``values`` is the local function ``used[f]``, a pair (variable, component), and the last row is 1;
    ``factors[:, y]`` are the rows whose product is Phi_y, padded with the last one.
    """
    for r in prange(places.size):
        fibre = offsets[starts[fibres[r]] : starts[fibres[r] + 1]]
        work, steps = np.empty(fibre.size), np.zeros(cards.size, np.int64)
        peak = -np.inf
        for offset in fibre:
            peak = max(peak, log_weights[places[r] + offset])
        for j in range(fibre.size):
            work[j] = np.exp(log_weights[places[r] + fibre[j]] - peak)
        _lattice(rows[r], cards, kinds, steps, work)
        local, shift = np.ones(len(values)), np.zeros(len(values), np.int64)
        for f in range(len(used)):
            i = used[f, 0]
            if rows[r, i] < 0:
                shift[f] = used[f, 1] * steps[i]
            else:
                local[f] = values[f, rows[r, i]]
        phi, place, mean = np.ones(out.shape[1]), np.zeros(out.shape[1], np.int64), out[r]
        for row in factors:
            for y in range(phi.size):
                phi[y] *= local[row[y]]
                place[y] += shift[row[y]]
        for y in range(phi.size):
            mean[y] = phi[y] * work[place[y]] / work[0]


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
        self._rows = np.ascontiguousarray(rows)
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
        if not terms:
            return np.zeros((0, 0))
        factors, used, values = _tables(self.basis, terms)
        cards = np.array(self.basis.cards, dtype=np.int64)
        total = np.zeros((len(terms), len(terms)), order="F")
        step = max(1, _HELD // max(len(terms), 1))
        for start in range(0, len(self.places), step):
            part = slice(start, start + step)
            mean = np.zeros((len(self.places[part]), len(terms)))
            where = (self._rows[part], self.places[part], self.fibres[part], self.starts, self.offsets)
            _means(log_weights, *where, factors, used, values, cards, self.basis.kinds, mean)
            mean *= np.sqrt(self.weights[part, None])
            total = dsyrk(1.0, mean.T, beta=1.0, c=total, overwrite_c=True)  # the upper half alone
        return np.asarray(np.triu(total) + np.triu(total, 1).T)


def _tables(basis: Basis, terms: Sequence[Term]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Factors of each term, the local functions in use, and their values, as ``_means`` takes them."""
    used = sorted({factor for term in terms for factor in term})
    row = {factor: r for r, factor in enumerate(used)}
    values = np.ones((len(used) + 1, max(basis.cards)))
    for (i, j), r in row.items():
        values[r, : basis.cards[i]] = basis.local(i)[j]
    factors = np.full((max(map(len, terms), default=0), len(terms)), len(used), dtype=np.int64)
    for y, term in enumerate(terms):
        for f, factor in enumerate(term):
            factors[f, y] = row[factor]
    return factors, np.array(used, dtype=np.int64).reshape(-1, 2), values


def fibre(basis: Basis, variables: NDArray[Any]) -> NDArray[np.int64]:
    """Offsets of all states of some variables, the first one fastest."""
    offsets = np.zeros(1, dtype=np.int64)
    for i in variables:
        steps = np.arange(basis.cards[i], dtype=np.int64) * basis.strides[i]
        offsets = (steps[:, None] + offsets[None, :]).ravel()
    return offsets
