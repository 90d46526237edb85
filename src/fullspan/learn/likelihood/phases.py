"""The two phases of a Boltzmann machine: learning is the difference of two clamped expectations.

Let Z(c) be the partition sum over the states that agree with a clamped row c. Every likelihood of this package is

    f(theta) = sum_r q_r [ log Z(i_r) - log Z(o_r) ]                                    (to be minimised)
    df       = sum_r q_r [ E(Phi | i_r) - E(Phi | o_r) ]
    d2f      = sum_r q_r [ Cov(Phi | i_r) - Cov(Phi | o_r) ]

with o_r all that a row says and i_r what is only given, not learned:

    maximum likelihood          i_r nothing: the free phase       o_r the whole state: E(Phi | o_r) = Phi(o_r)
    hidden units, missing cells i_r nothing                       o_r the observed cells        (Byrne 1992, eq. 8)
    conditional learning        i_r the inputs                    o_r inputs and outputs        (Rueger 1997, eq. 2)

So a phase is a function of theta with a value, a gradient and a Hessian, and a likelihood is one phase minus another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data.merging import grouped
from fullspan.engine.dual.clamped import Clamped
from fullspan.engine.dual.within import Within
from fullspan.engine.protocol import Engine
from fullspan.learn.base.phase import Phase
from fullspan.model.algebra.basis import Basis, Term, softmax

_HELD_FEATURES = 1 << 22
"""Features held at a time."""


class Free:
    """Nothing is clamped: the model itself, in its dual table, which is rebuilt when theta has changed.

    ``theta`` are the weights of ``terms`` at which the table stands already, if it does.
    """

    is_linear = False

    def __init__(self, table: Engine, terms: Ints, theta: Array | None = None) -> None:
        self.table, self.terms = table, terms
        self._at = theta

    def move(self, theta: Array) -> float:
        if self._at is None or not np.array_equal(theta, self._at):
            self._at = theta.copy()
            self.table.set_theta(dict(zip(self.terms.tolist(), theta.tolist(), strict=True)))
        return self.table.log_z

    def eta(self) -> Array:
        return self.table.eta_at(self.terms)

    def covariance(self) -> Array:
        return self.table.fisher(self.terms)


class Observed:
    """Rows with open cells, completed on tables over all states: two tables besides the model's own."""

    is_linear = False

    def __init__(self, basis: Basis, terms: Ints, rows: NDArray[Any], weights: Array) -> None:
        self.basis, self.terms = basis, terms
        self.weights = weights / weights.sum()
        self.clamped = Clamped(basis, rows, self.weights)
        self._log_weights = np.empty(basis.n_states)
        self._moments = np.empty(basis.n_states)
        self._at: Array | None = None

    def move(self, theta: Array) -> float:
        if self._at is None or not np.array_equal(theta, self._at):
            self._at = theta.copy()
            self._complete(theta)
        return float(self.weights @ self._log_z)

    def _complete(self, theta: Array) -> None:
        self._log_weights[:] = 0
        self._log_weights[self.terms] = theta
        self.basis.synthesise(self._log_weights)
        self._moments[:] = 0
        self._log_z = self.clamped.complete(self._log_weights, self._moments)
        self.basis.analyse(self._moments)

    def log_z(self) -> Array:
        """log Z of every row."""
        return self._log_z

    def eta(self) -> Array:
        return self._moments[self.terms]

    def moments(self) -> Array:
        """Expectations of all basis functions under the completed data; the next move overwrites them."""
        return self._moments

    def covariance(self) -> Array:
        return self._within.covariance(self._log_weights, self._moments)

    @cached_property
    def _within(self) -> Within:
        return Within(self.clamped, [self.basis.term(int(y)) for y in self.terms])


class Smoothed:
    """Rows, and a pseudo-count spread evenly over all states: no weight diverges where there are no rows.

    ``log Z = (N log Z(rows) + a theta . u) / (N + a)``, u the expectations of the terms if all states are as likely.
    """

    def __init__(self, rows: Phase, basis: Basis, terms: Sequence[Term], total: float, pseudo: float) -> None:
        self.rows, self.share, self.is_linear = rows, pseudo / (total + pseudo), rows.is_linear
        means = [basis.local(i).mean(axis=1) for i in range(len(basis.cards))]
        self.u = np.array([np.prod([means[i][j] for i, j in term]) for term in terms], dtype=np.float64)

    def move(self, theta: Array) -> float:
        return (1.0 - self.share) * self.rows.move(theta) + self.share * float(theta @ self.u)

    def eta(self) -> Array:
        return (1.0 - self.share) * self.rows.eta() + self.share * self.u

    def covariance(self) -> Array:
        # The part of the pseudo-count is linear in theta and has no curvature.
        return (1.0 - self.share) * self.rows.covariance()


class Features:
    """Rows with open cells, completed state by state: no table, for spaces of any size.

    Time and memory follow the states that agree with some row, times the number of terms; ``block`` values of features
    are worked out at a time.
    """

    is_linear = False

    def __init__(
        self, basis: Basis, terms: Sequence[Term], rows: NDArray[Any], weights: Array, block: int = _HELD_FEATURES
    ) -> None:
        self.basis, self.terms, self.block = basis, tuple(terms), block
        self.rows, self.weights = rows, weights / weights.sum()
        self._theta = np.zeros(len(self.terms))
        self._eta = np.zeros(len(self.terms))
        self._kept: list[tuple[Array, NDArray[np.int8]]] | None = None

    def move(self, theta: Array) -> float:
        self._theta, self._eta = theta, np.zeros(len(theta))
        total = 0.0
        for weights, phi in self._blocks():
            p, log_z = softmax(phi @ theta)
            total += float(weights @ log_z)
            self._eta += (p * weights[:, None]).ravel() @ phi.reshape(-1, len(theta))
        return total

    def eta(self) -> Array:
        return self._eta

    def covariance(self) -> Array:
        k = len(self._theta)
        total = np.zeros((k, k))
        for weights, phi in self._blocks():
            p, _ = softmax(phi @ self._theta)
            flat = phi.reshape(-1, k)
            total += flat.T @ (flat * (p * weights[:, None]).reshape(-1, 1))
            mean = np.matmul(p[:, None, :], phi)[:, 0, :]
            total -= mean.T @ (mean * weights[:, None])
        return total

    def _blocks(self) -> Iterator[tuple[Array, Array]]:
        """Rows of one pattern with the features (rows, completions, k) of their completions."""
        if self._kept is None:
            self._kept = list(self._evaluated())
        # Features are small integers: kept as bytes, in an eighth of the room, and widened block by block.
        for weights, phi in self._kept:
            yield weights, phi.astype(np.float64)

    def _evaluated(self) -> Iterator[tuple[Array, NDArray[np.int8]]]:
        n = len(self.basis.cards)
        for pattern in grouped(self.rows, self.weights):
            completions = _completions(self.basis, pattern.missing)
            size = max(1, self.block // (len(completions) * max(len(self.terms), 1)))
            for start in range(0, len(pattern.states), size):
                part = pattern.states[start : start + size].astype(np.int64)
                states = np.where(part[:1] < 0, completions[None], part[:, None, :]).reshape(-1, n)
                phi = self.basis.evaluate(self.terms, states)
                yield pattern.counts[start : start + size], phi.reshape(len(part), len(completions), len(self.terms))


def _completions(basis: Basis, variables: Sequence[int]) -> NDArray[np.int64]:
    """Codes (c, n) of all states of some variables, 0 elsewhere."""
    small = Basis(basis.name, tuple(basis.cards[i] for i in variables))
    out = np.zeros((small.n_states, len(basis.cards)), dtype=np.int64)
    index = np.arange(small.n_states)
    for i, card, stride in zip(variables, small.cards, small.strides, strict=True):
        out[:, i] = index // stride % card
    return out


def data_moments(basis: Basis, terms: Ints, rows: NDArray[Any], weights: Array) -> Array:
    """Features ``sum_r q_r Phi(x_r)`` of complete rows, through one table over all states."""
    table = np.zeros(basis.n_states)
    np.add.at(table, rows.astype(np.int64) @ np.array(basis.strides, dtype=np.int64), weights / weights.sum())
    basis.analyse(table)
    return np.asarray(table[terms])


def distribution(basis: Basis, terms: Ints, theta: Array) -> Array:
    """p(x) over all states; exactly 0 where it is less than the smallest double."""
    p = basis.energies(terms, theta)
    # The largest becomes 1 before it is normalised: no overflow.
    p -= p.max()
    np.exp(p, out=p)
    p /= p.sum()
    return p
