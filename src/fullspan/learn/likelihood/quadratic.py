"""The quadratic model of a Newton step: its factor, and its minimum with or without an L1 penalty."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor

from fullspan.arrays import Array
from fullspan.learn.base.cholesky import Cholesky
from fullspan.model.algebra.jit import serial

_NOISE = 1e-2
"""Variance of a term relative to which a ridge is at least."""


def soft(x: Array, by: float) -> Array:
    """Every number moved towards 0 by ``by``."""
    return np.asarray(np.sign(x) * np.maximum(np.abs(x) - by, 0.0))


def l1_step(hessian: Array, gradient: Array, theta: Array, l1: float) -> Array:
    """Minimise ``g.s + s.H.s/2 + l1 |theta + s|`` by coordinate descent; a weight that gets to 0 is exactly 0."""
    point = theta.copy()
    _coordinate_descent(hessian + np.diag(1e-12 * np.diag(hessian)), gradient, l1, point)
    return point - theta


@serial
def _coordinate_descent(hessian: Array, gradient: Array, l1: float, point: Array) -> None:
    slope = gradient.copy()
    for _ in range(1000):
        largest = 0.0
        for y in range(point.size):
            curvature = hessian[y, y]
            if curvature <= 0.0:
                continue
            wanted = point[y] - slope[y] / curvature
            shrunk = max(abs(wanted) - l1 / curvature, 0.0)
            new = shrunk if wanted > 0 else -shrunk
            change = new - point[y]
            if change != 0.0:
                point[y] = new
                for z in range(point.size):
                    slope[z] += change * hessian[z, y]
                largest = max(largest, abs(change) * curvature)
        if largest < 1e-14:
            return


def factor(matrix: Array) -> Cholesky:
    """Factor of a covariance of terms, in which the rounding of expectations counts as noise."""
    return Cholesky.of(matrix, ridge=1e-13, noise=_NOISE)


def is_definite(matrix: Array, full: Array) -> bool:
    """Whether every direction keeps a share of its variance, or has none to begin with."""
    try:
        cho_factor(matrix + np.diag(1e-12 * _NOISE - 1e-9 * np.diag(full)), lower=True)
    except np.linalg.LinAlgError:
        return False
    return True
