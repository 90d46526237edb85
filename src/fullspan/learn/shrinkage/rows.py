"""What rows say about a function f of the states: the mean of its log sums, and the expectations it leaves them.

    L(f) = sum_o q(o) log sum_{x agrees with o} exp f(x),      dL / dw_y = d_y = sum_o q(o) <Psi_y | o>

Of complete rows L is linear in the weights and d is known once for all. With gaps, d is that of the rows completed by
exp f (Byrne 1992, eq. 16), and changes with f.

Posterior standard errors of a shrunken model's weights: the diagonal of (N F + alpha)^-1 in any basis.

To second order the contrasts' weights are normal with covariance ``C = S (1 + N S F S)^-1 S``, S the prior's standard
deviations, F the information of one row; the weights over a basis are ``theta = T w``, so that

    var theta_y = t_y . C t_y.

Few contrasts: C is built and solved. Many: theta is drawn from that normal distribution. With e and eps standard
normal, ``b = e + sqrt(N) S Psi (sqrt(p) (eps - <eps>))`` has the covariance 1 + N S F S, and ``S (1 + N S F S)^-1 b``
the covariance C: one solution by conjugate gradients per draw. 64 draws give a standard error to about 9 %.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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


Solve = Callable[[Array], Array]
"""``(1 + N S F S)^-1 b``."""
MAX_EXACT = 1 << 24
"""Most numbers of the table of contrasts by states up to which variances are exact."""
DRAWS = 64


def variances(contrasts: Contrasts, basis: Basis, p: Array, total: float, sd: Array, solve: Solve) -> Array:
    """Posterior variances of the weights over a basis (|X|,), at the probabilities p of the states."""
    own = np.flatnonzero(sd)
    if not len(own):  # constant columns only: no weight, so no variance
        return np.zeros_like(sd)
    if len(own) * len(sd) <= MAX_EXACT:
        return _exact(contrasts, basis, p, total, sd, own)
    return _drawn(contrasts, basis, p, total, sd, solve)


def _exact(contrasts: Contrasts, basis: Basis, p: Array, total: float, sd: Array, own: NDArray[np.int64]) -> Array:
    units = np.zeros((len(own), len(sd)))
    units[np.arange(len(own)), own] = 1.0
    psi = np.stack([contrasts.function(unit) for unit in units])
    psi -= (psi @ p)[:, None]
    scaled = total * (psi * p) @ psi.T * np.outer(sd[own], sd[own])
    covariance = np.linalg.inv(np.eye(len(own)) + scaled) * np.outer(sd[own], sd[own])
    natural = np.stack([contrasts.natural(unit, basis) for unit in units])
    return np.asarray(np.maximum(np.sum(natural * (covariance @ natural), axis=0), 0.0))


def _drawn(contrasts: Contrasts, basis: Basis, p: Array, total: float, sd: Array, solve: Solve) -> Array:
    rng, squares, root = np.random.default_rng(0), np.zeros(len(sd)), np.sqrt(p)
    for _ in range(DRAWS):
        noise = root * rng.normal(size=len(p))
        noise -= p * float(noise.sum())  # sqrt(p) (eps - <sqrt(p) eps> sqrt(p)): covariance diag(p) - p p'
        b = (rng.normal(size=len(sd)) + np.sqrt(total) * sd * contrasts.expectations(noise)) * (sd > 0)
        squares += contrasts.natural(sd * solve(b), basis) ** 2
    return np.asarray(squares / DRAWS)
