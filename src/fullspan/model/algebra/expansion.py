"""Functions of a few variables as combinations of basis functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.model.algebra.basis import Basis


def expand(basis: Basis, variables: Sequence[int], values: NDArray[Any]) -> NDArray[np.float64]:
    """Coefficients ``theta_y`` of a function of a few variables, one axis each: the inverse of

        l(x_A) = sum_y theta_y Phi_y(x_A)

    Entry ``(y_1, y_2, ...)`` belongs to the product of the components y_i of the variables; all zero is the constant.
    """
    cube: NDArray[Any] = np.asarray(values, dtype=np.float64)
    for axis, i in enumerate(variables):
        inverse = np.linalg.inv(basis.local(i).T.astype(np.float64))
        cube = np.moveaxis(np.tensordot(inverse, cube, axes=(1, axis)), 0, axis)
    return cube
