"""Machines of 0/1 units and pairs: ``log f(x) = constant + b.x + x.W.x / 2``, W symmetric with an empty diagonal.

The field ``h_i = b_i + sum_j W_ij x_j`` is all that unit i needs to know: P(x_i = 1 | rest) = 1 / (1 + exp(-h_i)). How
chains walk side by side is in :mod:`fullspan.engine.sampling.lanes`.

Terms of one or two binary variables as biases and couplings, and their expectations as matrix products.

With spins ``s = sigma (1 - 2x)`` (sigma = 1 in the Walsh basis, -1 in the indicator basis)

    theta_i s_i + theta_ij s_i s_j  =  constant - 2 sigma theta_i x_i - 2 theta_ij (x_i + x_j) + 4 theta_ij x_i x_j

and in the monomial basis the weights are the biases and couplings themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.sampling.lanes import shares, walk
from fullspan.engine.sampling.row_additions import VECTOR
from fullspan.engine.sampling.streams import Streams
from fullspan.engine.sampling.target import Base
from fullspan.errors import FullspanError
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.algebra.jit import on_cores
from fullspan.model.graph import FactorGraph


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
        # Chains have noise of 1 / sqrt(m), far above single precision; weighted rows are data and are summed exactly.
        kind = np.float32 if weights is None else np.float64
        x: NDArray[Any] = states.astype(kind)
        if self.sigma:
            x = self.sigma * (1 - 2 * x)
        share: NDArray[Any] = np.full(len(x), 1 / len(x), dtype=kind) if weights is None else weights / weights.sum()
        # One product of matrices gives all pairs; those that are not terms cost less than a gather of those that are.
        scaled = x * share[:, None]
        out = np.empty(self.size)
        out[self.single] = scaled.sum(axis=0)[self.unit]
        out[self.double] = (scaled.T @ x)[self.left, self.right]
        return out


_LARGEST_WEIGHT = 1e30
"""Size from which weights would not fit into single precision, with their sums."""
_REFRESH_SWEEPS = 64
"""Sweeps after which the fields are summed afresh, in single precision."""


@dataclass(frozen=True, eq=False)
class Pairwise:
    """A machine of binary units with all its weights in one matrix.

    Parameters
    ----------
    bias : (n,).
    coupling : (n, n), symmetric, zero on the diagonal.
    constant : added to every log weight.

    Raises
    ------
    FullspanError : shapes disagree, a weight is not finite, or the matrix is not symmetric.
    """

    bias: Array
    coupling: Array
    constant: float = 0.0

    def __post_init__(self) -> None:
        bias = np.asarray(self.bias, dtype=np.float64)
        coupling = np.ascontiguousarray(self.coupling, dtype=np.float64)
        n = len(bias)
        if bias.shape != (n,) or coupling.shape != (n, n):
            raise FullspanError(f"biases of shape {bias.shape} and couplings of shape {coupling.shape} do not fit")
        if not all((np.abs(part) < _LARGEST_WEIGHT).all() for part in (bias, coupling)):
            raise FullspanError(
                f"a weight is infinite or not a number, or beyond {_LARGEST_WEIGHT:g}; chains need finite weights"
            )
        if not np.array_equal(coupling, coupling.T) or np.diag(coupling).any():
            raise FullspanError("the couplings must be a symmetric matrix with an empty diagonal")
        object.__setattr__(self, "bias", bias)
        object.__setattr__(self, "coupling", coupling)

    @classmethod
    def of_graph(cls, graph: FactorGraph) -> Pairwise | None:
        """The same distribution, where all variables are binary and no factor joins more than two; else None."""
        binary = all(card == 2 for card in graph.space.cards)
        if not binary or max(map(len, graph.scopes), default=0) > 2 or not np.isfinite(graph.values).all():
            return None
        n, constant = len(graph.space), 0.0
        bias, coupling = np.zeros(n), np.zeros((n, n))
        for scope, g in zip(graph.scopes, graph.tables, strict=True):
            if len(scope) == 2:
                i, j = scope
                constant += g[0, 0]
                bias[i] += g[1, 0] - g[0, 0]
                bias[j] += g[0, 1] - g[0, 0]
                coupling[i, j] += g[1, 1] - g[1, 0] - g[0, 1] + g[0, 0]
                coupling[j, i] = coupling[i, j]
            elif len(scope) == 1:
                constant += g[0]
                bias[scope[0]] += g[1] - g[0]
            else:
                constant += float(g)
        return cls(bias, coupling, float(constant))

    @cached_property
    def cards(self) -> Ints:
        return np.full(len(self.bias), 2, dtype=np.int64)

    @cached_property
    def rows(self) -> NDArray[np.float32]:
        """W in single precision, (n, n and some zeros): every row begins with a line of the cache.

        A row has an odd number of lines, so that the same columns of many rows find room in a cache whose places repeat
        after a power of two.
        """
        rows = _aligned(len(self.bias), (-(-len(self.bias) // VECTOR) | 1) * VECTOR)
        rows[:, : len(self.bias)] = self.coupling
        return rows

    def fields(self, states: NDArray[Any]) -> NDArray[np.float32]:
        """``h`` of states (m, n), in single precision, laid out as :attr:`rows`."""
        out = _aligned(len(states), self.rows.shape[1])
        np.matmul(states.astype(np.float32), self.rows, out=out)
        out[:, : len(self.bias)] += self.bias.astype(np.float32)
        return out

    def log_weight(self, states: NDArray[Any]) -> Array:
        x = states.astype(np.float64)
        return np.asarray(self.constant + x @ self.bias + 0.5 * ((x @ self.coupling) * x).sum(axis=1))

    def sweep(
        self, states: NDArray[Any], streams: Streams, sweeps: int, free: Ints, beta: Array, base: Base | None = None
    ) -> None:
        self._walk(states, streams, free, beta, np.ones(sweeps), np.zeros(sweeps), base)

    def annealed_log_weights(self, states: NDArray[Any], streams: Streams, betas: Array, base: Base) -> Array:
        """``sum_k (beta_{k+1} - beta_k) (log f - log f_0)(x_k)`` of each chain, along increasing betas.

        The compiled twin of :func:`fullspan.engine.sampling.annealing.log_weights`. A sweep follows at every beta after
        the first, but none at 1, which would add nothing.
        """
        rises, free = np.diff(betas), np.arange(len(self.bias), dtype=np.int64)
        first = rises[0] * (self.log_weight(states) - base.log_prob(states))
        swept = betas[1:][betas[1:] < 1]
        later = np.append(rises[1:], 0.0)[: len(swept)]
        return np.asarray(first + self._walk(states, streams, free, np.ones(len(states)), swept, later, base))

    def _walk(
        self, states: NDArray[Any], streams: Streams, free: Ints, beta: Array, betas: Array, rises: Array, base: Any
    ) -> Array:
        """Sweep at ``betas_k beta`` for each k; the sum of ``rises_k (log f - log f_0)`` after each sweep."""
        pull = np.zeros(len(self.bias)) if base is None else base.log_levels[1::2] - base.log_levels[::2]
        total, bounds = np.zeros(len(states)), shares(len(states))
        for start in range(0, len(betas), _REFRESH_SWEEPS):
            part = slice(start, start + _REFRESH_SWEEPS)
            excess = self.log_weight(states) - base.log_prob(states) if rises[part].any() else np.zeros(len(states))
            fields, single = self.fields(states), pull.astype(np.float32)
            on_cores(
                walk,
                len(bounds) - 1,
                states,
                fields,
                self.rows,
                single,
                free,
                streams,
                beta,
                betas[part],
                rises[part],
                excess,
                total,
                bounds,
            )
        return total


def _aligned(m: int, n: int) -> NDArray[np.float32]:
    """A matrix of zeros that begins with a line of the cache: rows are added a third slower elsewhere."""
    room = np.zeros(4 * (m * n + VECTOR), dtype=np.uint8)
    start = -room.ctypes.data % (4 * VECTOR)
    return room[start : start + 4 * m * n].view(np.float32).reshape(m, n)
