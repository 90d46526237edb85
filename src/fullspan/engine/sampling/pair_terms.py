"""Terms of one or two binary variables as biases and couplings, and their expectations as matrix products.

With spins ``s = sigma (1 - 2x)`` (sigma = 1 in the Walsh basis, -1 in the indicator basis)

    theta_i s_i + theta_ij s_i s_j  =  constant - 2 sigma theta_i x_i - 2 theta_ij (x_i + x_j) + 4 theta_ij x_i x_j

and in the monomial basis the weights are the biases and couplings themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.sampling.pairwise import Pairwise
from fullspan.model.algebra.basis import Basis, Term


@dataclass(frozen=True, eq=False)
class PairTerms:
    """Places of the terms in biases and couplings.

    Attributes
    ----------
    single, unit : positions of the terms of one variable, and their variables.
    double, left, right : positions of the terms of two variables, and both variables.
    sigma : sign of the spins, or 0 for 0/1 units.
    """

    n: int
    single: Ints
    unit: Ints
    double: Ints
    left: Ints
    right: Ints
    sigma: int

    @classmethod
    def of(cls, basis: Basis, terms: Sequence[Term]) -> PairTerms | None:
        """None where a variable has other than two levels or a term more than two variables."""
        if any(card != 2 for card in basis.cards) or any(len(term) > 2 for term in terms):
            return None
        single = [(k, term[0][0]) for k, term in enumerate(terms) if len(term) == 1]
        double = [(k, term[0][0], term[1][0]) for k, term in enumerate(terms) if len(term) == 2]
        one = np.array(single, dtype=np.int64).reshape(-1, 2).T
        two = np.array(double, dtype=np.int64).reshape(-1, 3).T
        sigma = {"monomial": 0, "walsh": 1, "indicator": -1}[basis.name]
        return cls(len(basis.cards), one[0], one[1], two[0], two[1], two[2], sigma)

    @property
    def size(self) -> int:
        """Number of terms."""
        return len(self.single) + len(self.double)

    def target(self, theta: Array) -> Pairwise:
        """The machine with these weights."""
        bias, coupling, constant = np.zeros(self.n), np.zeros((self.n, self.n)), 0.0
        alone, pairs = theta[self.single], theta[self.double]
        if self.sigma:
            constant = float(self.sigma * alone.sum() + pairs.sum())
            alone, shift = -2 * self.sigma * alone, -2 * pairs
            np.add.at(bias, self.left, shift)
            np.add.at(bias, self.right, shift)
            pairs = 4 * pairs
        np.add.at(bias, self.unit, alone)
        coupling[self.left, self.right] = pairs
        coupling[self.right, self.left] = pairs
        return Pairwise(bias, coupling, constant)

    def back(self, bias: Array, coupling: Array) -> Array:
        """``d/d theta`` from derivatives by biases, and by couplings as a matrix whose halves have been added up."""
        out = np.empty(self.size)
        pairs = coupling[self.left, self.right]
        if self.sigma:
            out[self.single] = -2 * self.sigma * bias[self.unit]
            out[self.double] = 4 * pairs - 2 * (bias[self.left] + bias[self.right])
        else:
            out[self.single] = bias[self.unit]
            out[self.double] = pairs
        return out

    def moments(self, states: NDArray[Any], weights: Array | None = None) -> Array:
        """Mean of every term over states (m, n)."""
        kind = np.float32 if weights is None else np.float64
        x: NDArray[Any] = states.astype(kind)
        if self.sigma:
            x = self.sigma * (1 - 2 * x)
        share: NDArray[Any] = np.full(len(x), 1 / len(x), dtype=kind) if weights is None else weights / weights.sum()
        scaled = x * share[:, None]
        out = np.empty(self.size)
        out[self.single] = scaled.sum(axis=0)[self.unit]
        out[self.double] = (scaled.T @ x)[self.left, self.right]
        return out
