"""Joint refits of the terms of a model of bounded width, with an information matrix that may be out of date.

Minimises ``log Z - theta . d + sum_y w_y (theta_y - m_y)^2 / 2`` by steps ``-H g``. H begins as the inverse of the
information of an earlier model, which is exact second moments of all terms, and is corrected by what the steps since
have shown (limited memory BFGS). So a step costs one sweep over the cliques, and few are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array
from fullspan.learn.base.descent import Descent, Point
from fullspan.learn.base.newton import Newton
from fullspan.learn.wide.terms import Terms

_LONGEST_STEP = 16.0
_STEP_CUTS = 12
_KEPT_PAIRS = 12
Solve = Callable[[Array], Array]


@dataclass(frozen=True)
class Gaussian:
    """A normal prior on every weight: mean, and precision per row."""

    mean: Array
    precision: Array

    def penalty(self, theta: Array) -> float:
        """``sum w (theta - m)^2 / 2``."""
        return float(self.precision @ (theta - self.mean) ** 2) / 2


class _Joint:
    polishes = False

    def __init__(self, terms: Terms, d: Array, prior: Gaussian, solve: Solve) -> None:
        self.terms, self.d, self.prior, self.solve = terms, d, prior, solve
        self.pairs: list[tuple[Array, Array]] = []
        self.last: tuple[Array, Array] | None = None

    def move(self, theta: Array) -> float:
        self.log_z, self.eta = self.terms.expectations(theta)
        self.theta = theta
        return self.log_z - float(theta @ self.d) + self.prior.penalty(theta)

    def gradient(self) -> Array:
        return np.asarray(self.eta - self.d + self.prior.precision * (self.theta - self.prior.mean))

    def violation(self) -> float:
        return float(np.abs(self.gradient()).max(initial=0.0))

    def newton_step(self, point: Point) -> Array:
        g = self.gradient()
        if self.last is not None:
            s, y = point.theta - self.last[0], g - self.last[1]
            if float(s @ y) > 1e-12 * float(np.linalg.norm(s) * np.linalg.norm(y)):
                self.pairs = [*self.pairs[1 - _KEPT_PAIRS :], (s, y)]
        self.last = point.theta, g
        q, taken = g.copy(), []
        for s, y in reversed(self.pairs):
            a = float(s @ q) / float(s @ y)
            q -= a * y
            taken.append(a)
        r = self.solve(q)
        for (s, y), a in zip(self.pairs, reversed(taken), strict=True):
            r = r + (a - float(y @ r) / float(s @ y)) * s
        return -r


def refit(
    terms: Terms, theta: Array, d: Array, prior: Gaussian, solve: Solve, tolerance: float, max_iterations: int = 100
) -> tuple[Array, float, Array]:
    """Weights at the optimum, log Z and the expectations there.

    It ends when a step promises less than ``tolerance`` per row, and never rises. An interruption is not caught here.
    """
    joint = _Joint(terms, d, prior, solve)
    descent = Descent(joint, theta, 0.0, max_iterations)
    Newton(_LONGEST_STEP, _STEP_CUTS, tolerance, damped=True).run(descent, joint)
    best = descent.point.theta
    if joint.theta is not best:
        joint.move(best)
    return best, joint.log_z, joint.eta
