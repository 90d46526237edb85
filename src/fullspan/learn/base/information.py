"""Cholesky factor of an information matrix, with the least ridge that makes it definite."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from fullspan.arrays import Array


@dataclass(frozen=True)
class Cholesky:
    """``F = L L^t``, L lower triangular."""

    lower: Array

    @classmethod
    def of(cls, fisher: Array, ridge: float = 1e-10, noise: float = 0.0) -> Cholesky:
        """Factor ``F + ridge (diag F + noise)``, with ten times the ridge as often as needed.

        Near-duplicate terms make F singular to rounding. ``noise`` is the variance of a term that its expectation's
        rounding could hide: a direction of less variance must not make the other steps shorter.
        """
        scale = np.maximum(np.diag(np.asarray_chkfinite(fisher)) + noise, 1e-300)
        while True:
            lower, failed = lapack.dpotrf((fisher + np.diag(ridge * scale)).T, lower=1, clean=1, overwrite_a=1)
            if not failed:
                return cls(lower)
            ridge *= 10

    def solve(self, b: Array) -> Array:
        """``F^-1 b``."""
        return np.asarray(lapack.dpotrs(self.lower, b, lower=1)[0])

    def inverse_diagonal(self) -> Array:
        """Diagonal of ``F^-1 = L^-t L^-1``: a sixth of the work of all of it."""
        inverse, _ = lapack.dtrtri(self.lower, lower=1)
        return np.asarray(np.einsum("ij,ij->j", inverse, inverse))


_SINGULAR_EIGENVALUE = 1e-9
"""Eigenvalue of the scaled information, relative to 1, below which a direction is not determined."""
_UNDETERMINED_SHARE = 1e-4
"""Share of a weight in undetermined directions from which it has no standard error."""


def standard_errors(information: Array, used: NDArray[np.bool_] | None = None) -> Array:
    """Square roots of the diagonal of the inverse information; NaN for weights that the data do not determine."""
    return np.sqrt(np.diag(inverse_information(information, used)))


def inverse_information(information: Array, used: NDArray[np.bool_] | None = None) -> Array:
    """Covariance of the weights (k, k); NaN in the rows and columns of those that the data do not determine.

    ``used`` restricts it to some weights, the others being fixed (NaN). The information is scaled to a unit diagonal;
    directions without information are set aside, and every weight that has a part in them has no error.
    """
    covariance = np.full(information.shape, np.nan)
    diagonal = np.diag(information)
    keep = diagonal > 1e-12 * max(float(diagonal.max(initial=0.0)), 1e-300)
    if used is not None:
        keep &= used
    if not keep.any():
        return covariance
    scale = 1 / np.sqrt(diagonal[keep])
    values, vectors = np.linalg.eigh(information[np.ix_(keep, keep)] * np.outer(scale, scale))
    flat = values < _SINGULAR_EIGENVALUE
    kept = vectors[:, ~flat]
    found = (kept / values[~flat]) @ kept.T * np.outer(scale, scale)
    touched = (vectors[:, flat] ** 2).sum(axis=1) > _UNDETERMINED_SHARE
    found[touched] = found[:, touched] = np.nan
    covariance[np.ix_(keep, keep)] = found
    return covariance


def wald_nats(theta: Array, errors: Array) -> Array:
    """``theta^2 / 2 error^2``: the nats that each weight saves, to second order."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(0.5 * (theta / errors) ** 2)
