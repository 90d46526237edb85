"""Null spaces of matrices of small integers, in integers where that is possible.

For rows A (m, r) of rank q, a pivoted Cholesky factorisation of ``A^t A`` picks q independent columns and writes each
other column as a combination X of them, so that ``[-X; I]`` spans ``{u : A u = 0}``. The entries of X are ratios of
determinants; a column whose entries have a small common denominator is multiplied by it, and is then exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from fullspan.arrays import Array

_DEPENDENT = 1e-10
"""Mean square distance from the span of the others, per row, below which a column of size 1 is dependent."""
_DENOMINATOR = 60
"""Largest common denominator that is tried."""
_INTEGER = 1e-7
"""How far from an integer an entry may be to be rounded."""


def null_space(rows: Array) -> tuple[NDArray[np.int64], Array]:
    """Independent columns of ``rows`` (m, r), and a basis (r, r - rank) of the null space.

    Columns should be of size 1 or so, or exactly zero up to rounding. Time O(m r^2).
    """
    m, r = rows.shape
    gram = rows.T @ rows
    factor, order, rank, _ = dpstrf(gram, tol=_DEPENDENT * m) if m and r else (gram, np.arange(1, r + 1), 0, 0)
    if r and gram.diagonal().max() <= _DEPENDENT * m:  # LAPACK takes the first pivot as it is
        rank = 0
    pivots, free = order[:rank] - 1, order[rank:] - 1
    upper = np.triu(factor)[:rank]
    x = solve_triangular(upper[:, :rank], upper[:, rank:])
    residual = rows[:, pivots].T @ (rows[:, free] - rows[:, pivots] @ x)  # one step of refinement
    x += solve_triangular(upper[:, :rank], solve_triangular(upper[:, :rank], residual, trans="T"))
    basis = np.zeros((r, r - rank))
    basis[pivots], basis[free, np.arange(r - rank)] = -x, 1.0
    return pivots.astype(np.int64), integral(basis)


def integral(columns: Array) -> Array:
    """Each column times the least number up to 60 that makes it integers, or as it is where there is none."""
    columns, todo = columns.copy(), np.arange(columns.shape[1])
    for factor in range(1, _DENOMINATOR + 1):
        multiple = factor * columns[:, todo]
        whole = np.rint(multiple)
        found = (np.abs(multiple - whole) < _INTEGER).all(axis=0)
        columns[:, todo[found]] = whole[:, found]
        todo = todo[~found]
    return columns
