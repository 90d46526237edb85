"""``log Z`` and its derivatives: the seam between learners and engines.

Let Z(c) be the partition sum over the states that agree with a clamped row c. A phase is the mean of log Z over some
rows, as a function of theta: its gradient is the mean expectation of the terms, its Hessian their mean covariance. A
likelihood is one phase minus another (:mod:`fullspan.learn.likelihood.phases`). Whatever can sum is a phase: the dual
table, rows completed on it or state by state, decimation, the states of a truncated machine, the sums of a manifold.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array

Kept = NDArray[np.int64] | Array
"""Positions (m,) of the weights that move; or a base (k, m), for ``theta = base @ z``."""


class Phase(Protocol):
    """``log Z`` averaged over clamped rows, with its derivatives at the point last moved to."""

    @property
    def is_linear(self) -> bool:
        """Whether nothing is open: log Z is linear in theta then, and its Hessian 0."""

    def move(self, theta: Array) -> float:
        """Go to theta; the mean of log Z there."""

    def eta(self) -> Array:
        """Mean expectations (k,): the gradient."""

    def covariance(self) -> Array:
        """Mean covariance (k, k): the Hessian."""


class Known:
    """Nothing is open: log Z = theta . d, with d the features of the data."""

    is_linear = True

    def __init__(self, d: Array) -> None:
        self.d = d

    def move(self, theta: Array) -> float:
        return float(theta @ self.d)

    def eta(self) -> Array:
        return self.d

    def covariance(self) -> Array:
        return np.zeros((len(self.d), len(self.d)))


class Restricted:
    """A phase as a function of some of its weights, or of coordinates z in a space of them.

    Parameters
    ----------
    theta : (k,) all weights; those that are not ``kept`` stay as they are here.
    kept : which weights move, or the base of their space.
    """

    def __init__(self, phase: Phase, theta: Array, kept: Kept) -> None:
        self.phase, self.theta, self.kept = phase, theta, kept
        self.is_linear = phase.is_linear

    def move(self, theta: Array) -> float:
        return self.phase.move(expanded(theta, self.theta, self.kept))

    def eta(self) -> Array:
        eta = self.phase.eta()
        return np.asarray(eta[self.kept] if self.kept.ndim == 1 else self.kept.T @ eta)

    def covariance(self) -> Array:
        return restricted(self.phase.covariance(), self.kept)


def expanded(z: Array, theta: Array, kept: Kept) -> Array:
    """All k weights from those that move; the others as in ``theta``."""
    if kept.ndim == 2:
        return np.asarray(kept @ z)
    theta = theta.copy()
    theta[kept] = z
    return theta


def restricted(matrix: Array, kept: Kept) -> Array:
    """A quadratic form (k, k) on some of the weights, or on a space of them."""
    return matrix[np.ix_(kept, kept)] if kept.ndim == 1 else np.asarray(kept.T @ matrix @ kept)
