"""The damped Newton method of every learner.

    theta <- theta + t s,    s = -H^-1 g,    t = min(1, ln(1 + lambda) / lambda, longest / max |s|) / 4^j

The objective gives the step s: exact by a Cholesky factor, by conjugate gradients, or with a curvature that stands in
for the Hessian. ``lambda^2 = -g . s`` is twice the drop that the quadratic model promises; a step of ``lambda > 1`` is
shortened as for a function whose curvature grows exponentially along it. Lambda depends on the model and not on its
basis. j counts the quarterings until the objective does not rise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor

from fullspan.arrays import Array
from fullspan.learn.base.descent import Descent, Point
from fullspan.learn.base.information import Cholesky
from fullspan.model.algebra.jit import serial

_RIDGE_VARIANCE = 1e-2
"""Variance of a term relative to which a ridge is at least."""


def soft(x: Array, by: float) -> Array:
    """Every number moved towards 0 by ``by``."""
    return np.asarray(np.sign(x) * np.maximum(np.abs(x) - by, 0.0))


def l1_step(hessian: Array, gradient: Array, theta: Array, l1: float) -> Array:
    """Minimise ``g.s + s.H.s/2 + l1 |theta + s|`` by coordinate descent; a weight that gets to 0 is exactly 0."""
    point = theta.copy()
    # A ridge of rounding size: with two equal terms the quadratic has no lower end along their difference.
    _coordinate_descent(hessian + np.diag(1e-12 * np.diag(hessian)), gradient, l1, point)
    return point - theta


@serial
def _coordinate_descent(hessian: Array, gradient: Array, l1: float, point: Array) -> None:
    slope = gradient.copy()
    for _ in range(1000):
        largest = 0.0
        for y in range(point.size):
            curvature = hessian[y, y]
            if curvature <= 0.0:
                continue
            # The minimum along one weight is the soft-thresholded Newton step.
            wanted = point[y] - slope[y] / curvature
            shrunk = max(abs(wanted) - l1 / curvature, 0.0)
            new = shrunk if wanted > 0 else -shrunk
            change = new - point[y]
            if change != 0.0:
                point[y] = new
                for z in range(point.size):
                    slope[z] += change * hessian[z, y]
                largest = max(largest, abs(change) * curvature)
        # Measured as a change of the gradient, which has no unit, and not of the weight, which has that of its term.
        if largest < 1e-14:
            return


def factor(matrix: Array) -> Cholesky:
    """Factor of a covariance of terms, in which the rounding of expectations counts as noise."""
    return Cholesky.of(matrix, ridge=1e-13, noise=_RIDGE_VARIANCE)


def is_definite(matrix: Array, full: Array) -> bool:
    """Whether every direction keeps a share of its variance, or has none to begin with."""
    try:
        cho_factor(matrix + np.diag(1e-12 * _RIDGE_VARIANCE - 1e-9 * np.diag(full)), lower=True)
    except np.linalg.LinAlgError:
        return False
    return True


class Curved(Protocol):
    """An objective that knows its Newton step."""

    def gradient(self) -> Array:
        """Gradient of the smooth part (k,) at the point last moved to."""

    def newton_step(self, point: Point) -> Array:
        """``-H^-1 g`` at the point, to which the objective has moved.

        Raises
        ------
        numpy.linalg.LinAlgError : there is none in double precision; the point stands.
        """

    @property
    def polishes(self) -> bool:
        """Whether one more step, once it has converged, is cheap and squares what is left."""


@dataclass(frozen=True)
class Newton:
    """How far Newton's method goes.

    Attributes
    ----------
    longest : longest change of one weight in a step.
    tries : times a step is cut to a quarter before it is given up.
    enough : drop of the objective that a step must promise; None to go on until the violation is below ``tol``.
    damped : whether steps of ``lambda > 1`` are shortened.
    """

    longest: float = math.inf
    tries: int = 30
    enough: float | None = None
    damped: bool = False

    def run(self, descent: Descent, objective: Curved) -> None:
        """Steps until the end; ``descent.status`` says which."""
        while not descent.done():
            try:
                step = objective.newton_step(descent.point)
            except np.linalg.LinAlgError:
                descent.status = "rounding limit"
                return
            # -g.s / 2 is the drop of the quadratic model at its minimum.
            promised = -float(objective.gradient() @ step) / 2 if self.damped or self.enough is not None else math.nan
            if self.enough is not None and not promised > self.enough:
                descent.status = "converged"
                if objective.polishes:
                    self._search(descent, self._shortened(step, promised), tries=1)
                return
            if not self._search(descent, self._shortened(step, promised), self.tries):
                descent.status = "rounding limit"
                return
        # Newton's error squares: one more step brings the weights to rounding, for the price of one factorisation.
        if descent.status == "converged" and objective.polishes:
            self._search(descent, objective.newton_step(descent.point), tries=1)

    def _shortened(self, step: Array, promised: float) -> Array:
        scale, length = 1.0, math.sqrt(2 * promised) if self.damped and promised > 0 else 0.0
        if length > 1:
            # Along the step a function whose curvature grows like exp(lambda t) has its minimum at t = ln(1 + lambda) /
            # lambda.
            scale = math.log1p(length) / length
        longest = float(np.abs(step).max(initial=0.0))
        if longest * scale > self.longest:
            scale = self.longest / longest
        return step if scale == 1.0 else scale * step

    def _search(self, descent: Descent, step: Array, tries: int) -> bool:
        """Go along a step, cut until it is an improvement; False if nothing is left of it."""
        start, scale = descent.point, 1.0
        for _ in range(tries):
            point = descent.at(start.theta + scale * step)
            # Where a promised drop ends the steps, one that only rounds is as good as any; else the violation decides.
            if point.improves_on(start) if self.enough is None else point.is_as_good_as(start):
                descent.accept(point)
                return True
            # Quarters: from too far out a few tries must get back into the region where the quadratic model holds.
            scale /= 4
        # The objective holds tables of the point last tried.
        descent.objective.move(start.theta)
        return False
