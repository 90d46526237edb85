"""Cholesky factor of a Fisher information, and the two things that are asked of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from fullspan.arrays import Array


@dataclass(frozen=True)
class Cholesky:
    """``F = L L^t``, L lower triangular."""

    lower: Array

    @classmethod
    def of(cls, fisher: Array) -> Cholesky:
        """Factor, with the least ridge that makes F definite.

        Near-duplicate terms make it singular to rounding; the ridge is relative to the diagonal.
        """
        scale = np.maximum(np.diag(np.asarray_chkfinite(fisher)), 1e-300)
        ridge = 1e-10
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
