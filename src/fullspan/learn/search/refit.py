"""Joint refit: Newton's method on all terms in use, the Fisher information by look-up in the dual table.

Minimises ``f(theta) = log Z(theta) - theta . d + sum_y w_y (theta_y - m_y)^2 / 2``, whose gradient is ``eta - d``
and whose Hessian is the Fisher information, plus the parts of a normal prior (mean m, precision N w) if there is one.
One iteration costs k^2 look-ups, a Cholesky factorisation and one rebuild of the table.

Far from the optimum a full Newton step overshoots. With ``lambda^2 = g . H^-1 g``, twice the drop that the quadratic
model promises, a step of ``lambda > 1`` is shortened by ``ln(1 + lambda) / lambda``, as for a function whose curvature
grows exponentially along the way. Lambda depends on the model alone and not on the basis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array
from fullspan.learn.likelihood.cholesky import Cholesky
from fullspan.learn.search.problem import Problem, as_arrays, as_theta

_LONGEST = 16.0
"""Longest change of one weight in a single Newton step: a guard for weights of which the data say nothing."""


@dataclass(frozen=True)
class Prior:
    """Normal prior on the weights in use, sorted by index: mean, and precision per row of data."""

    mean: Array
    precision: Array

    @classmethod
    def flat(cls, k: int) -> Prior:
        return cls(np.zeros(k), np.zeros(k))


def refit(problem: Problem, tolerance: float, max_iterations: int = 50, prior: Prior | None = None) -> bool:
    """Move all weights in use to their joint optimum; whether the promised drop fell below ``tolerance``.

    The objective never rises by more than the rounding of the table: a step that would raise it is shortened.
    """
    table = problem.table
    if not table.theta:
        return True
    y, theta = as_arrays(table.theta)
    d = problem.d_at(y)
    prior = prior or Prior.flat(len(y))
    rounding = 32 * float(np.finfo(table.dtype).eps)
    tolerance = max(tolerance, rounding)
    objective = _objective(problem, theta, d, prior)
    for _ in range(max_iterations):
        gradient = d - problem.eta_at(y) - prior.precision * (theta - prior.mean)
        step = Cholesky.of(table.fisher(y) + np.diag(prior.precision)).solve(gradient)
        promised = float(gradient @ step) / 2
        if promised <= tolerance:
            return True
        step *= min(_damping(promised), _LONGEST / float(np.abs(step).max()))
        for _ in range(12):
            table.set_theta(as_theta(y, theta + step))
            value = _objective(problem, theta + step, d, prior)
            if value <= objective + rounding:
                break
            step /= 4
        else:
            table.set_theta(as_theta(y, theta))
            return False
        theta, objective = theta + step, value
    return False


def _damping(promised: float) -> float:
    length = math.sqrt(2 * promised)
    return math.log1p(length) / length if length > 1 else 1.0


def _objective(problem: Problem, theta: Array, d: Array, prior: Prior) -> float:
    pull = 0.5 * float(np.sum(prior.precision * (theta - prior.mean) ** 2))
    return problem.table.log_z - float(theta @ d) + pull


def variances(problem: Problem, precision: Array | None = None) -> Array:
    """Variances of the weights in use, the diagonal of ``(N (F + precision))^-1``."""
    y, _ = as_arrays(problem.table.theta)
    fisher = problem.table.fisher(y)
    if precision is not None:
        fisher = fisher + np.diag(precision)
    return Cholesky.of(fisher).inverse_diagonal() / problem.total
