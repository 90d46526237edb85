"""Posterior standard errors of a shrunken model's weights: the diagonal of (N F + alpha)^-1 in any basis.

To second order the contrasts' weights are normal with covariance ``C = S (1 + N S F S)^-1 S``, S the prior's standard
deviations, F the information of one row; the weights over a basis are ``theta = T w``, so that

    var theta_y = t_y . C t_y.

Few contrasts: C is built and solved. Many: theta is drawn from that normal distribution. With e and eps standard
normal, ``b = e + sqrt(N) S Psi (sqrt(p) (eps - <eps>))`` has the covariance 1 + N S F S, and ``S (1 + N S F S)^-1 b``
the covariance C: one solution by conjugate gradients per draw. 64 draws give a standard error to about 9 %.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.learn.shrinkage.contrasts import Contrasts
from fullspan.model.algebra.basis import Basis

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
