"""Covariances of terms within rows that leave cells open: what these cells keep the data from telling.

    sum_o w(o) Cov(Phi | o) = sum_o w(o) E(Phi Phi^t | o) - sum_o w(o) E(Phi | o) E(Phi | o)^t

The first sum is a look-up in the moments of all completed rows, the second one matrix product. A term that no open
variable takes part in is constant within the row, and is evaluated once. Time O(k^2) for each row, and O(t) for each of
its completions, with t the terms that vary.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import prange
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from fullspan.arrays import Array, Ints
from fullspan.engine.dual.clamped import Clamped
from fullspan.engine.dual.lookup import products
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.algebra.jit import parallel

_HELD = 1 << 18
"""Expectations of rows held at a time."""


class Within:
    """Covariances of some terms within the rows of ``clamped``."""

    def __init__(self, clamped: Clamped, terms: Sequence[Term]) -> None:
        self.clamped, self.k = clamped, len(terms)
        basis = clamped.basis
        self._terms = np.array([basis.index(term) for term in terms], dtype=np.int64)
        self._factors, self._variables, self._values = _tables(basis, terms)
        self._strides, self._cards = np.array(basis.strides, dtype=np.int64), np.array(basis.cards, dtype=np.int64)
        takes_part = np.zeros((self.k, len(basis.cards)), dtype=np.float32)
        for y, term in enumerate(terms):
            takes_part[y, [i for i, _ in term]] = 1
        varies = clamped.open_cells.astype(np.float32) @ takes_part.T > 0
        self._order = np.argsort(~varies, axis=1, kind="stable")
        self._n_varying = varies.sum(axis=1)

    def covariance(self, log_weights: Array, moments: Array) -> Array:
        """The sum (k, k), given the log weights of all states and the moments of the completed rows."""
        second = products(self.clamped.basis, moments, self._terms, self._terms)
        return second - self.mean_square(log_weights)

    def mean_square(self, log_weights: Array) -> Array:
        """``sum_o w(o) E(Phi | o) E(Phi | o)^t`` over all rows, (k, k)."""
        clamped, total = self.clamped, np.zeros((self.k, self.k), order="F")
        if not self.k:
            return total
        step = max(1, _HELD // self.k)
        held = np.empty((min(step, len(clamped.places)), self.k))
        for start in range(0, len(clamped.places), step):
            part = slice(start, start + step)
            mean = held[: len(clamped.places[part])]
            where = (clamped.places[part], clamped.fibres[part], clamped.open_cells, clamped.starts, clamped.offsets)
            terms = (self._factors, self._variables, self._values, self._order, self._n_varying)
            _means(log_weights, *where, *terms, self._strides, self._cards, mean)
            mean *= np.sqrt(clamped.weights[part, None])
            dsyrk(1.0, mean.T, beta=1.0, c=total, overwrite_c=True, lower=True)
        return np.asarray(total + np.tril(total, -1).T)


@parallel
def _means(
    log_weights: Array,
    places: Ints,
    fibres: Ints,
    open_cells: NDArray[np.bool_],
    starts: Ints,
    offsets: Ints,
    factors: Ints,
    variables: Ints,
    values: Array,
    order: Ints,
    n_varying: Ints,
    strides: Ints,
    cards: Ints,
    out: Array,
) -> None:
    """``out[r, y] = E(Phi_y | row r)``.

    ``factors[y]`` are places among the local functions in use, padded with that of the constant; ``order`` has, for
    each pattern, the terms that vary within a row first.
    """
    for r in prange(places.size):
        j, place = fibres[r], places[r]
        fibre = offsets[starts[j] : starts[j + 1]]
        local, peak, total = np.empty(variables.size), -np.inf, 0.0
        for g in range(variables.size):
            local[g] = values[g, place // strides[variables[g]] % cards[variables[g]]]
        for offset in fibre:
            peak = max(peak, log_weights[place + offset])
        for a in range(n_varying[j]):
            out[r, order[j, a]] = 0.0
        for offset in fibre:
            x = place + offset
            p = np.exp(log_weights[x] - peak)
            total += p
            for g in range(variables.size):
                if open_cells[j, variables[g]]:
                    local[g] = values[g, x // strides[variables[g]] % cards[variables[g]]]
            for a in range(n_varying[j]):
                y = order[j, a]
                phi = p
                for f in range(factors.shape[1]):
                    phi *= local[factors[y, f]]
                out[r, y] += phi
        for a in range(n_varying[j]):
            out[r, order[j, a]] /= total
        for a in range(n_varying[j], order.shape[1]):
            y = order[j, a]
            phi = 1.0
            for f in range(factors.shape[1]):
                phi *= local[factors[y, f]]
            out[r, y] = phi


def _tables(basis: Basis, terms: Sequence[Term]) -> tuple[Ints, Ints, Array]:
    """For each term the places of its factors among the local functions in use; their variables; their values.

    The last local function is the constant 1.
    """
    used = sorted({factor for term in terms for factor in term})
    place = {factor: g for g, factor in enumerate(used)}
    values = np.ones((len(used) + 1, max(basis.cards)))
    for (i, j), g in place.items():
        values[g, : basis.cards[i]] = basis.local(i)[j]
    factors = np.full((len(terms), max(map(len, terms), default=0)), len(used), dtype=np.int64)
    for y, term in enumerate(terms):
        factors[y, : len(term)] = [place[factor] for factor in term]
    return factors, np.array([*(i for i, _ in used), 0], dtype=np.int64), values
