"""Joint refit: Newton's method on all terms in use, the Fisher information by look-up in the dual table.

Minimises ``f(theta) = log Z(theta) - theta . d + sum_y w_y (theta_y - m_y)^2 / 2``, whose gradient is ``eta - d``
and whose Hessian is the Fisher information, plus the parts of a normal prior (mean m, precision N w) if there is one.
One iteration costs k^2 look-ups, a Cholesky factorisation and one rebuild of the table.
"""

from __future__ import annotations

import numpy as np

from fullspan.arrays import Array
from fullspan.learn.base.descent import Descent, Point
from fullspan.learn.base.information import Cholesky
from fullspan.learn.base.newton import Newton
from fullspan.learn.base.phase import Known
from fullspan.learn.likelihood.phases import Free
from fullspan.learn.likelihood.solve import Likelihood
from fullspan.learn.search.problem import Prior, Problem, as_arrays

_LONGEST = 16.0
"""Longest change of one weight in a single Newton step: a guard for weights of which the data say nothing."""
_TRIES = 12
"""Times a Newton step is cut to a quarter before it is given up."""


class _Joint(Likelihood):
    """The likelihood of the terms in use, under their prior."""

    polishes = False

    def newton_step(self, point: Point) -> Array:
        return -Cholesky.of(self.hessian()).solve(self.gradient())


def refit(problem: Problem, tolerance: float, max_iterations: int = 50, prior: Prior | None = None) -> bool:
    """Move all weights in use to their joint optimum; whether the promised drop fell below ``tolerance``.

    The objective never rises by more than the rounding of the table: a step that would raise it is shortened.
    """
    table = problem.table
    if not table.theta:
        return True
    y, theta = as_arrays(table.theta)
    prior = prior or Prior.flat(len(y))
    rounding = 32 * float(np.finfo(table.dtype).eps)
    joint = _Joint(Free(table, y, theta), Known(problem.d_at(y)), prior.precision, centre=prior.mean)
    descent = Descent(joint, theta, 0.0, max_iterations, slack=lambda *_: rounding)
    # An interruption must reach the search, which knows the best point: it is not caught here.
    Newton(_LONGEST, _TRIES, max(tolerance, rounding), damped=True).run(descent, joint)
    return descent.status == "converged"


def variances(problem: Problem, precision: Array | None = None) -> Array:
    """Variances of the weights in use, the diagonal of ``(N (F + precision))^-1``."""
    y, _ = as_arrays(problem.table.theta)
    fisher = problem.table.fisher(y)
    if precision is not None:
        fisher = fisher + np.diag(precision)
    return Cholesky.of(fisher).inverse_diagonal() / problem.total
