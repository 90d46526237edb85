"""Joint refit: Newton's method on all terms in use, the Fisher information by look-up in the dual table.

Minimises ``f(theta) = log Z(theta) - theta . d``, whose gradient is ``eta - d`` and whose Hessian is the Fisher
information. One iteration costs k^2 look-ups, a Cholesky factorisation and one rebuild of the table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from fullspan.learn.problem import Problem, as_arrays, as_theta

_LONGEST = 4.0
"""Longest change of one weight in a single Newton step."""


def refit(problem: Problem, tolerance: float, max_iterations: int = 50) -> bool:
    """Move all weights in use to their joint optimum; whether the promised drop fell below ``tolerance``.

    The cost never rises: a step that would raise it is halved until it does not.
    """
    table = problem.table
    if not table.theta:
        return True
    y, theta = as_arrays(table.theta)
    d = problem.d_at(y)
    objective = table.log_z - float(theta @ d)
    for _ in range(max_iterations):
        step, promise = newton_step(problem, y, d)
        if promise <= tolerance:
            return True
        step *= min(1.0, _LONGEST / float(np.abs(step).max()))
        for _ in range(30):
            table.set_theta(as_theta(y, theta + step))
            value = table.log_z - float((theta + step) @ d)
            if value <= objective:
                break
            step /= 4
        else:
            table.set_theta(as_theta(y, theta))
            return False
        theta, objective = theta + step, value
    return False


def newton_step(problem: Problem, y: NDArray[np.int64], d: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Newton direction and the drop it promises, ``g F^-1 g / 2``."""
    gradient = d - problem.eta_at(y)
    step = cho_solve(factor(problem.table.fisher(y)), gradient)
    return step, float(gradient @ step) / 2


def factor(fisher: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]:
    """Cholesky factor of the Fisher information, with the least ridge that makes it definite.

    Near-duplicate terms make it singular to rounding; the ridge is relative to the diagonal.
    """
    scale = np.maximum(np.diag(fisher), 1e-300)
    ridge = 1e-10
    while True:
        try:
            factored: tuple[NDArray[np.float64], bool] = cho_factor(fisher + np.diag(ridge * scale), lower=True)
            return factored
        except np.linalg.LinAlgError:
            ridge *= 10
