"""What rows say about a function f of the states: the mean of its log sums, and the expectations it leaves them.

    L(f) = sum_o q(o) log sum_{x agrees with o} exp f(x),      dL / dw_y = d_y = sum_o q(o) <Psi_y | o>

Of complete rows L is linear in the weights and d is known once for all. With gaps, d is that of the rows completed by
exp f (Byrne 1992, eq. 16), and changes with f.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.engine.dual.clamped import Clamped
from fullspan.learn.shrinkage.contrasts import Contrasts
from fullspan.model.algebra.basis import Basis


class Rows(Protocol):
    """Counted rows, asked about a function."""

    def look(self, weights: Array, f: Array) -> tuple[float, Array]:
        """L and d at the weights of a function f (|X|,), which is given as well."""


class Complete:
    """Rows without gaps."""

    def __init__(self, contrasts: Contrasts, data: Empirical) -> None:
        share = np.zeros(len(contrasts.orders))
        np.add.at(share, data.space.index(data.states), data.counts / data.total)
        self.d = contrasts.expectations(share)

    def look(self, weights: Array, f: Array) -> tuple[float, Array]:
        return float(weights @ self.d), self.d


class Gappy:
    """Rows with gaps; two tables over all states, one of them for a moment."""

    def __init__(self, contrasts: Contrasts, data: Empirical) -> None:
        self.contrasts, self.share = contrasts, data.counts / data.total
        self.clamped = Clamped(Basis("indicator", contrasts.cards), data.states, self.share)

    def look(self, weights: Array, f: Array) -> tuple[float, Array]:
        completed = np.zeros(len(f))
        log_sums = self.clamped.complete(f, completed)
        return float(self.share @ log_sums), self.contrasts.expectations(completed)


def rows_of(contrasts: Contrasts, data: Empirical) -> Rows:
    """The rows of counted data."""
    return Complete(contrasts, data) if data.is_complete else Gappy(contrasts, data)
