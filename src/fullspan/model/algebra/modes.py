"""A table over joint states with a small matrix of its own applied along each variable, in NumPy."""

from __future__ import annotations

import numpy as np

from fullspan.arrays import Array

_GROUP_LEVELS = 32
"""Joint levels of variables that are transformed together."""


def grouped(matrices: list[Array]) -> list[Array]:
    """Matrices of neighbouring variables as one, their Kronecker product, as long as it is small."""
    groups: list[Array] = []
    for matrix in matrices:
        if groups and len(groups[-1]) * len(matrix) <= _GROUP_LEVELS:
            groups[-1] = np.asarray(np.kron(matrix, groups[-1]), dtype=np.float64)
        else:
            groups.append(matrix)
    return groups


def modewise(table: Array, matrices: list[Array]) -> Array:
    """A table with one small matrix applied along each variable. O(|X| sum of levels)."""
    for matrix in matrices:  # the fastest variable is multiplied and becomes the slowest; a full turn is the old order
        table = (table.reshape(-1, len(matrix)) @ matrix.T).T
    return np.ascontiguousarray(table).ravel()
