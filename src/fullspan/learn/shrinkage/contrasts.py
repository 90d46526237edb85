"""Orthonormal contrasts: functions of all states by the sets of variables they truly depend on.

Every variable has the constant and c - 1 functions of mean 0, orthogonal under the uniform distribution and of mean
square 1; their products Psi_y span all functions, and those of one set of variables span its pure interaction. A normal
prior of one variance for all of them depends on neither the names nor the order of the levels.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.model.algebra.basis import Basis
from fullspan.model.algebra.local_bases import contrasts
from fullspan.model.algebra.modes import grouped, modewise


class Contrasts:
    """Transforms between tables over all states, flat with the first variable fastest, and their contrasts."""

    def __init__(self, cards: tuple[int, ...]) -> None:
        self.cards = cards
        # Mean square 1 under the uniform distribution, where an orthonormal row has 1 / card.
        modes = [math.sqrt(card) * contrasts(card) for card in cards]
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
