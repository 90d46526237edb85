"""Orthonormal contrasts: functions of all states by the sets of variables they truly depend on.

Every variable has the constant and c - 1 functions of mean 0, orthogonal under the uniform distribution and of mean
square 1; their products Psi_y span all functions, and those of one set of variables span its pure interaction. A normal
prior of one variance for all of them depends on neither the names nor the order of the levels.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.model.algebra.basis import Basis

_GROUP_LEVELS = 32
"""Joint levels of variables that are transformed together."""


class Contrasts:
    """Transforms between tables over all states, flat with the first variable fastest, and their contrasts."""

    def __init__(self, cards: tuple[int, ...]) -> None:
        self.cards = cards
        modes = [_helmert(card) for card in cards]
        self._forth, self._back = grouped(modes), grouped([m.T for m in modes])

    @cached_property
    def orders(self) -> NDArray[np.int8]:
        """(|X|,) variables that each contrast depends on."""
        orders = np.zeros(1, dtype=np.int8)
        for card in self.cards:
            orders = ((np.arange(card) > 0)[:, None] + orders).astype(np.int8).ravel()
        return orders

    def expectations(self, p: Array) -> Array:
        """``sum_x p(x) Psi_y(x)`` for every y."""
        return modewise(p, self._forth)

    def function(self, weights: Array) -> Array:
        """``f(x) = sum_y w_y Psi_y(x)``."""
        return modewise(weights, self._back)

    def natural(self, weights: Array, basis: Basis) -> Array:
        """theta over ``basis`` with ``theta . Phi = f`` up to a constant."""
        inverse = [np.linalg.inv(basis.local(i).T.astype(np.float64)) for i in range(len(self.cards))]
        theta = modewise(self.function(weights), grouped(inverse))
        theta[0] = 0.0
        return theta


def grouped(matrices: list[Array]) -> list[Array]:
    """Matrices of neighbouring variables as one, their Kronecker product, as long as it is small."""
    groups: list[Array] = []
    for matrix in matrices:
        if groups and len(groups[-1]) * len(matrix) <= _GROUP_LEVELS:
            groups[-1] = np.asarray(np.kron(matrix, groups[-1]), dtype=np.float64)
        else:
            groups.append(matrix)
    return groups


def modewise(table: Array, matrices: list[Array]) -> Array:
    """A table with one small matrix applied along each variable. O(|X| sum of levels)."""
    for matrix in matrices:  # the fastest variable is multiplied and becomes the slowest; a full turn is the old order
        table = (table.reshape(-1, len(matrix)) @ matrix.T).T
    return np.ascontiguousarray(table).ravel()


def _helmert(card: int) -> Array:
    """Rows: the constant, and each level against the mean of those before it."""
    rows = np.ones((card, card))
    for k in range(1, card):
        rows[k, k] = -k
        rows[k, k + 1 :] = 0.0
        # Mean square 1 under the uniform distribution: k entries of 1 and one of -k, over card levels.
        rows[k] *= np.sqrt(card / (k * (k + 1)))
    return rows
