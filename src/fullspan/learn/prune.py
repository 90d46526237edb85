"""Pruning: drop the terms whose removal costs less than it saves.

To second order, removing term y and refitting the others raises the divergence by ``theta_y^2 / (2 [F^-1]_yy)`` and
moves the other weights by ``-theta_y [F^-1]_zy / [F^-1]_yy``. Terms are dropped one after another on this
quadratic model, and the outcome is refitted and checked against the true cost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from fullspan.learn.problem import Problem, as_arrays, as_theta
from fullspan.learn.refit import factor, refit


def prune(problem: Problem, tolerance: float) -> int:
    """Drop terms until none is overpriced; the number dropped. The cost never rises."""
    dropped = 0
    boldness = 1.0
    while problem.table.theta and boldness > 0.05:
        before, kept = problem.cost(), dict(problem.table.theta)
        y, theta = as_arrays(kept)
        prices = np.array([problem.price(int(i)) for i in y])
        inverse = cho_solve(factor(problem.table.fisher(y)), np.eye(len(y)))
        stay, weights = _drop_greedily(theta, inverse, boldness * prices)
        if stay.all():
            break
        problem.table.set_theta(as_theta(y[stay], weights[stay]))
        refit(problem, tolerance)
        cost = problem.cost()
        if cost > before:  # the quadratic model was too optimistic: undo, and demand a clearer case
            problem.table.set_theta(kept)
            boldness /= 4
            continue
        dropped += int((~stay).sum())
        problem.record("prune", cost)
    return dropped


def _drop_greedily(
    theta: NDArray[np.float64], inverse: NDArray[np.float64], prices: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which terms stay, and their weights, when the most overpriced one is dropped again and again."""
    theta, inverse = theta.copy(), inverse.copy()
    stay = np.ones(len(theta), dtype=bool)
    while stay.any():
        loss = np.where(stay, theta**2 / (2 * np.maximum(np.diag(inverse), 1e-300)) - prices, np.inf)
        worst = int(np.argmin(loss))
        if loss[worst] >= 0:
            break
        column = inverse[:, worst] / inverse[worst, worst]
        theta = theta - theta[worst] * column
        inverse = inverse - np.outer(column, inverse[worst])
        stay[worst] = False
        theta[worst] = 0.0
    return stay, theta
