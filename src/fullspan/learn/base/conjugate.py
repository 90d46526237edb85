"""Solutions of ``A x = b`` from products with A alone, for a curvature too large to be written down.

    minimise   x.A x / 2 - b.x      along directions that are conjugate:  q_i.A q_j = 0

After i steps x is the minimum over the first i directions. Relative to ``1 / scale``, A has fewer different
eigenvalues, and the steps needed grow with the root of their ratio.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fullspan.arrays import Array


def conjugate_gradients(
    product: Callable[[Array], Array], b: Array, steps: int, error: float, scale: Array | float = 1.0
) -> Array:
    """``x`` with ``product(x) = b``, to a relative error of the residual or as far as the steps go.

    Parameters
    ----------
    product : with a positive definite matrix; a direction in which rounding makes it negative ends the steps.
    scale : (k,) about the diagonal of the inverse.
    """
    x, r = np.zeros_like(b), b.copy()
    q = z = scale * r
    square = first = float(r @ z)
    for _ in range(steps):
        if square <= error**2 * first:
            break
        moved = product(q)
        curvature = float(q @ moved)
        # The matrix is definite; only rounding in a nearly flat direction can say otherwise.
        if curvature <= 0:
            break
        size = square / curvature
        x += size * q
        r -= size * moved
        z = scale * r
        before, square = square, float(r @ z)
        # Fletcher and Reeves' coefficient, which keeps directions conjugate as long as the residuals are orthogonal.
        q = z + (square / before) * q
    return x
