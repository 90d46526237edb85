"""Covariances of terms within rows that leave cells open: what these cells keep the data from telling.

    sum_o w(o) Cov(Phi | o) = sum_o w(o) E(Phi Phi^t | o) - sum_o w(o) E(Phi | o) E(Phi | o)^t

The first sum is a look-up in the moments of all completed rows, the second one matrix product. Time O(k^2) for each
row, and O(c log c) for its c completions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg.blas import dsyrk

from fullspan.arrays import Array, Ints
from fullspan.engine.dual.clamped import Clamped
from fullspan.engine.dual.lookup import products
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.algebra.transform import ANALYSE, transform_plain

_HELD_EXPECTATIONS = 1 << 18
"""Expectations of rows held at a time."""


class Within:
    """Covariances of some terms within the rows of ``clamped``.

    A term is a product of a function of the observed cells, constant within the row, and one of the open cells, which
    is a term on the sub-lattice of these: its expectation is an entry of the transform of p(x | o). At most ``held``
    expectations of rows are kept at a time.
    """

    def __init__(self, clamped: Clamped, terms: Sequence[Term], held: int = _HELD_EXPECTATIONS) -> None:
        self.clamped, self.k, self.held = clamped, len(terms), held
        basis = clamped.basis
        self._terms = np.array([basis.index(term) for term in terms], dtype=np.int64)
        self._factors, self._variables, self._values = _tables(basis, terms)
        self._strides, self._cards = np.array(basis.strides, dtype=np.int64), np.array(basis.cards, dtype=np.int64)
        self._digits = self._terms[:, None] // self._strides % self._cards

    def covariance(self, log_weights: Array, moments: Array) -> Array:
        """The sum (k, k), given the log weights of all states and the moments of the completed rows."""
        second = products(self.clamped.basis, moments, self._terms, self._terms)
        return second - self.mean_square(log_weights)

    def mean_square(self, log_weights: Array) -> Array:
        """``sum_o w(o) E(Phi | o) E(Phi | o)^t`` over all rows, (k, k)."""
        clamped, total = self.clamped, np.zeros((self.k, self.k), order="F")
        if not self.k:
            return total
        held, count = np.empty((min(max(1, self.held // self.k), len(clamped.places)), self.k)), 0
        for j, rows in enumerate(clamped.patterns):
            step = max(1, self.held // max(self.k, int(clamped.sizes[j])))
            for start in range(0, len(rows), step):
                some = rows[start : start + step]
                # The root of the weight, once on each side of the product.
                mean = self._means(log_weights, j, some) * np.sqrt(clamped.weights[some, None])
                while len(mean):
                    part = mean[: len(held) - count]
                    held[count : count + len(part)] = part
                    mean, count = mean[len(part) :], count + len(part)
                    if count == len(held):
                        # The symmetric product: half the multiplications of a general one, added to what is there.
                        dsyrk(1.0, held.T, beta=1.0, c=total, overwrite_c=True, lower=True)
                        count = 0
        if count:
            dsyrk(1.0, held[:count].T, beta=1.0, c=total, overwrite_c=True, lower=True)
        return np.asarray(total + np.tril(total, -1).T)

    def _means(self, log_weights: Array, j: int, rows: Ints) -> Array:
        """``E(Phi_y | row r)`` of rows that all have pattern ``j`` (rows, k)."""
        clamped = self.clamped
        places, is_open = clamped.places[rows], clamped.open_cells[j]
        v = self._variables
        local = self._values[np.arange(len(v)), places[:, None] // self._strides[v] % self._cards[v]]
        local[:, is_open[v]] = 1.0
        mean = np.ones((len(rows), self.k))
        for factor in self._factors.T:
            mean *= local[:, factor]
        # Nothing open: the functions of the observed cells are all there is.
        if clamped.sizes[j] == 1:
            return mean
        found = log_weights[places[:, None] + clamped.offsets[clamped.starts[j] : clamped.starts[j + 1]]]
        p = np.exp(found - found.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        cards = self._cards[is_open]
        transform_plain(p.reshape(-1), cards, clamped.basis.kinds[is_open], ANALYSE)
        inside = self._digits[:, is_open] @ np.cumprod([1, *cards[:-1]], dtype=np.int64)
        mean *= p[:, inside]
        return mean


def _tables(basis: Basis, terms: Sequence[Term]) -> tuple[Ints, Ints, Array]:
    """For each term the places of its factors among the local functions in use; their variables; their values.

    The last local function is the constant 1, of the first variable.
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
