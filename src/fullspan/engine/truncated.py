"""Exact sums over a truncated sample space by a sparse 0/1 model matrix, in the log domain.

    p(x) = exp( sum_b theta_b F[x, b] - log Z ),   x in S;      eta = F' p = d log Z / d theta

The states are 0, the terms B as states, and all others, in this order: the block of B is lower triangular with a unit
diagonal where terms are sorted by order, so that F has full rank.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.model.algebra.inclusion import ItemSets, inclusion, sets_of_states, sets_of_terms
from fullspan.model.algebra.jit import serial
from fullspan.model.truncated import TruncatedLogLinear


class TruncatedEngine:
    """A point theta on a list of states; a phase of a likelihood (:class:`fullspan.learn.likelihood.phases.Phase`).

    Parameters
    ----------
    start, indices : rows of F: the terms that each state contains.
    k : number of terms.

    Attributes
    ----------
    p : (|S|,) probabilities at the point last moved to, of log-probabilities ``log_p``.
    log_z : log partition function there.
    """

    is_linear = False

    def __init__(self, start: Ints, indices: NDArray[np.int32], k: int) -> None:
        self.start, self.indices, self.k = start, indices, k
        self.p, self.log_z = np.empty(len(start) - 1), 0.0
        self._at: Array | None = None

    @classmethod
    def of(cls, states: ItemSets, terms: ItemSets) -> TruncatedEngine:
        """The engine of these states and terms."""
        return cls(*inclusion(states, terms), len(terms))

    @classmethod
    def of_model(cls, model: TruncatedLogLinear) -> TruncatedEngine:
        """The engine of a model's states and terms, at its weights."""
        cards = model.space.cards
        engine = cls.of(sets_of_states(model.states, cards), sets_of_terms(model.terms, cards))
        engine.move(model.theta)
        return engine

    def __len__(self) -> int:
        return len(self.start) - 1

    def restricted(self, on: NDArray[np.bool_]) -> TruncatedEngine:
        """The same terms on some of the states."""
        sizes = np.diff(self.start)
        start = np.concatenate([[0], np.cumsum(sizes[on])]).astype(np.int64)
        return TruncatedEngine(start, self.indices[np.repeat(on, sizes)], self.k)

    def move(self, theta: Array) -> float:
        """Go to theta; log Z there. O(nnz F)."""
        if self._at is None or not np.array_equal(theta, self._at):
            self._at = np.array(theta, dtype=np.float64)
            self.log_z = float(_move(self.start, self.indices, self._at, self.p))
        return self.log_z

    @property
    def log_p(self) -> Array:
        """Log-probabilities of the states, also where the probabilities underflow."""
        assert self._at is not None
        return self.dot(self._at) - self.log_z

    def dot(self, v: Array) -> Array:
        """``F v``, (|S|,)."""
        out = np.empty(len(self))
        _dot(self.start, self.indices, v, out)
        return out

    def moments(self, p: Array) -> Array:
        """``F' p``, (k,)."""
        out = np.zeros(self.k)
        _moments(self.start, self.indices, p, out)
        return out

    def eta(self) -> Array:
        """Expectations of the terms at the point."""
        return self.moments(self.p)

    def covariance(self) -> Array:
        """Fisher information ``F' diag(p) F - eta eta'`` (eq. 11), dense (k, k). O(sum_x nnz(x)^2)."""
        out = np.zeros((self.k, self.k))
        _second_moments(self.start, self.indices, self.p, out)
        eta = self.eta()
        return np.asarray(out + np.tril(out, -1).T - np.outer(eta, eta))

    def dense(self) -> Array:
        """F as an array (|S|, k)."""
        out = np.zeros((len(self), self.k))
        out[np.repeat(np.arange(len(self)), np.diff(self.start)), self.indices] = 1.0
        return out

    def sparse(self) -> Any:
        """F as a sparse matrix of SciPy."""
        from scipy.sparse import csr_matrix

        ones = np.ones(len(self.indices))
        return csr_matrix((ones, self.indices, self.start), shape=(len(self), self.k))


@serial
def _dot(start: Any, indices: Any, v: Any, out: Any) -> None:
    for x in range(len(out)):
        total = 0.0
        for c in range(start[x], start[x + 1]):
            total += v[indices[c]]
        out[x] = total


@serial
def _move(start: Any, indices: Any, theta: Any, p: Any) -> float:
    """Probabilities of all states at theta, and log Z."""
    _dot(start, indices, theta, p)
    top = p[0]
    for x in range(len(p)):
        top = max(top, p[x])
    total = 0.0
    for x in range(len(p)):
        p[x] = np.exp(p[x] - top)
        total += p[x]
    for x in range(len(p)):
        p[x] /= total
    return float(top + np.log(total))


@serial
def _moments(start: Any, indices: Any, p: Any, out: Any) -> None:
    for x in range(len(p)):
        # Off the face probabilities underflow to 0, and most states need not be visited.
        if p[x] != 0.0:
            for c in range(start[x], start[x + 1]):
                out[indices[c]] += p[x]


@serial
def _second_moments(start: Any, indices: Any, p: Any, out: Any) -> None:
    """The lower triangle of ``F' diag(p) F``."""
    for x in range(len(p)):
        if p[x] != 0.0:
            for c in range(start[x], start[x + 1]):
                row = indices[c]
                # Indices increase within a row, so that this is the lower triangle.
                for d in range(start[x], c + 1):
                    out[row, indices[d]] += p[x]


@serial
def descend(start: Any, indices: Any, d: Any, theta: Any, p: Any, rate: float, l2: float, steps: int) -> float:
    """So many steps of Algorithm 1, ``theta <- theta - rate (eta - d)``; the largest difference before the last."""
    eta = np.empty(len(theta))
    worst = 0.0
    for _ in range(steps):
        _move(start, indices, theta, p)
        eta[:] = 0.0
        _moments(start, indices, p, eta)
        worst = 0.0
        for b in range(len(theta)):
            g = eta[b] - d[b] + l2 * theta[b]
            worst = max(worst, abs(g))
            theta[b] -= rate * g
    return worst
