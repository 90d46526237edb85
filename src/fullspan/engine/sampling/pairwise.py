"""Machines of 0/1 units and pairs: ``log f(x) = constant + b.x + x.W.x / 2``, W symmetric with an empty diagonal.

The field ``h_i = b_i + sum_j W_ij x_j`` is all that unit i needs to know: P(x_i = 1 | rest) = 1 / (1 + exp(-h_i)). It
is kept for all units and changes by a row of W when a unit flips, so a unit that stays costs a random number, and one
that flips n additions. A few chains share each row while it is in the cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from fullspan.algebra.jit import inlined, parallel
from fullspan.engine.sampling.streams import Streams, advanced, uniform
from fullspan.engine.sampling.target import Array, Base, Ints
from fullspan.errors import FullspanError
from fullspan.model.graph import FactorGraph

CHAINS = 8
"""Chains that walk side by side on one core."""
_LINE = 16
"""Numbers of single precision in a line of the cache."""
_REFRESH = 64
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
        if not (np.isfinite(bias).all() and np.isfinite(coupling).all()):
            raise FullspanError("a weight is infinite or not a number; a machine to sample from has finite weights")
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
        """W in single precision, (n, n and some zeros): every row begins with a line of the cache."""
        rows = _aligned(len(self.bias), -(-len(self.bias) // _LINE) * _LINE)
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
        pull = np.zeros(len(self.bias)) if base is None else base.log_levels[1::2] - base.log_levels[::2]
        for start in range(0, sweeps, _REFRESH):
            fields = self.fields(states)
            sweep_fields(states, fields, self.rows, pull, beta, streams, min(_REFRESH, sweeps - start), free)

    def anneal(self, states: NDArray[Any], streams: Streams, ladder: Array, base: Base) -> Array:
        """``sum_k (beta_{k+1} - beta_k) (log f - log f_0)(x_k)`` of each chain, with a sweep at every beta between."""
        pull = base.log_levels[1::2] - base.log_levels[::2]
        constant = self.constant - float(base.log_levels[::2].sum())
        free = np.arange(len(self.bias), dtype=np.int64)
        total = np.zeros(len(states))
        for start in range(0, len(ladder) - 1, _REFRESH):
            part = ladder[start : start + _REFRESH + 1]
            fields = self.fields(states)
            anneal_fields(states, fields, self.rows, self.bias, pull, constant, part, streams, free, total)
        return total


def _aligned(m: int, n: int) -> NDArray[np.float32]:
    """A matrix of zeros that begins with a line of the cache: rows are added a third slower elsewhere."""
    room = np.zeros(4 * (m * n + _LINE), dtype=np.uint8)
    start = -room.ctypes.data % (4 * _LINE)
    return room[start : start + 4 * m * n].view(np.float32).reshape(m, n)


@inlined
def _visit(
    i: int,
    first: int,
    last: int,
    states: NDArray[np.uint8],
    fields: NDArray[np.float32],
    rows: NDArray[np.float32],
    pull: Array,
    beta: Array,
    streams: Streams,
    flipped: Ints,
) -> None:
    """Draw unit i of the chains ``first`` to ``last``; the log odds at beta are ``(1 - beta) pull_i + beta h_i``."""
    n_flipped = 0
    for c in range(first, last):  # no branch: whether a unit flips is not predictable
        odds = (1.0 - beta[c]) * pull[i] + beta[c] * fields[c, i]
        streams[c] = advanced(streams[c])
        new = np.uint8(uniform(streams[c]) * (1.0 + np.exp(-odds)) < 1.0)
        flipped[n_flipped] = c
        n_flipped += int(new != states[c, i])
        states[c, i] = new
    for q in range(n_flipped):
        c = flipped[q]
        change = np.float32(2 * np.int64(states[c, i]) - 1)
        for j in range(rows.shape[1]):
            fields[c, j] += change * rows[i, j]


@parallel
def sweep_fields(
    states: NDArray[np.uint8],
    fields: NDArray[np.float32],
    rows: NDArray[np.float32],
    pull: Array,
    beta: Array,
    streams: Streams,
    sweeps: int,
    free: Ints,
) -> None:
    """Gibbs sweeps over the free units of all chains, ``CHAINS`` of them side by side."""
    n_chains = len(states)
    for block in numba.prange((n_chains + CHAINS - 1) // CHAINS):
        first = block * CHAINS
        last = min(first + CHAINS, n_chains)
        flipped = np.zeros(CHAINS, np.int64)
        for _ in range(sweeps):
            for k in range(free.size):
                _visit(free[k], first, last, states, fields, rows, pull, beta, streams, flipped)


@parallel
def anneal_fields(
    states: NDArray[np.uint8],
    fields: NDArray[np.float32],
    rows: NDArray[np.float32],
    bias: Array,
    pull: Array,
    constant: float,
    ladder: Array,
    streams: Streams,
    free: Ints,
    total: Array,
) -> None:
    """Add ``(beta' - beta) u(x)`` to the log weights, then sweep at beta', all along the ladder; none at beta = 1.

    ``u = constant + (b - pull).x + x.(h - b) / 2``, from the fields as they are kept.
    """
    n_chains, n = states.shape
    beta = np.empty(n_chains)
    for block in numba.prange((n_chains + CHAINS - 1) // CHAINS):
        first = block * CHAINS
        last = min(first + CHAINS, n_chains)
        flipped = np.zeros(CHAINS, np.int64)
        for step in range(ladder.size - 1):
            for c in range(first, last):
                u = constant
                for i in range(n):
                    u += states[c, i] * (0.5 * (bias[i] + fields[c, i]) - pull[i])
                total[c] += (ladder[step + 1] - ladder[step]) * u
                beta[c] = ladder[step + 1]
            if ladder[step + 1] < 1.0:
                for k in range(free.size):
                    _visit(free[k], first, last, states, fields, rows, pull, beta, streams, flipped)
