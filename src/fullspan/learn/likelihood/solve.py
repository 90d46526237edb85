"""Maximum likelihood of a fixed set of terms: Newton, L-BFGS, gradient ascent; ridge and L1 penalties.

All minimise ``f(theta) + l2 |theta|^2 / 2 + l1 |theta|_1`` where f is one phase minus another (module ``phases``),
until no expectation differs from the data's by more than ``tol`` (for L1: no condition of optimality is off by more).
f is convex unless cells are open; then the steps still never raise it, and lead to a local minimum.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from fullspan.arrays import Array
from fullspan.learn.base.descent import Descent, Point, Solution, Watch
from fullspan.learn.base.newton import Newton, factor, is_definite, l1_step, soft
from fullspan.learn.base.phase import Phase

SolverName = Literal["newton", "lbfgs", "gradient"]

_NEWTON = Newton(longest=4.0)
_FIRST, _NEAR = 10, 1e-3
"""Steps, and the violation, before which nothing is concluded from how fast em's steps are."""
_STEP_CUTS = 30
"""Times a gradient step is cut to a quarter before it is given up."""
_RECENT = 10
"""Values of the objective above which a gradient step must not rise."""


@dataclass
class Likelihood:
    """``f = free.log Z - data.log Z``, penalised; remembers the point it was last asked about.

    ``l2`` may differ from weight to weight and pull towards a ``centre`` other than 0: a normal prior.
    """

    free: Phase
    data: Phase
    l2: float | Array = 0.0
    l1: float = 0.0
    centre: float | Array = 0.0
    theta: Array = field(default_factory=lambda: np.zeros(0))

    def move(self, theta: Array) -> float:
        """Go to theta; the penalised objective there."""
        self.theta = theta
        return self.free.move(theta) - self.data.move(theta) + self.penalty(theta)

    def penalty(self, theta: Array) -> float:
        return 0.5 * float(np.sum(self.l2 * (theta - self.centre) ** 2)) + self.l1 * float(np.abs(theta).sum())

    def gradient(self) -> Array:
        """Gradient of the smooth part: expectations of the model minus those of the data, plus the ridge's pull."""
        return np.asarray(self.free.eta() - self.data.eta() + self.l2 * (self.theta - self.centre))

    def violation(self) -> float:
        """Largest breach of the conditions of optimality."""
        g = self.gradient()
        if not self.l1:
            return float(np.abs(g).max(initial=0.0))
        # At zero an L1 penalty has every slope from -l1 to l1; only a gradient beyond that is a breach.
        at_zero = np.maximum(np.abs(g) - self.l1, 0.0)
        return float(np.where(self.theta == 0, at_zero, np.abs(g + self.l1 * np.sign(self.theta))).max(initial=0.0))

    def hessian(self, whole: bool = True) -> Array:
        """Hessian of the smooth part, or of the free phase alone, which is what an em step minimises to second order.

        Where open cells make the former indefinite, the latter stands in.
        """
        free = self.free.covariance() + np.diag(np.broadcast_to(self.l2, self.theta.shape))
        if not whole or self.data.is_linear:
            return free
        # Of two covariances: negative where the open cells leave more open than the model does.
        difference = free - self.data.covariance()
        return difference if is_definite(difference, free) else free


def solve(
    likelihood: Likelihood,
    theta: Array,
    solver: SolverName = "newton",
    tol: float = 1e-9,
    max_iter: int | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Minimise from ``theta``; the best point met is returned, and the likelihood has moved there.

    Newton's method never raises the objective by more than its rounding; the others may, for a few steps. Cost of a
    step: one rebuild of the table (``newton``: also k^2 look-ups and a Cholesky factorisation). ``max_iter`` is 500 for
    Newton's method by default, and 200,000 for the others.
    """
    limit = max_iter if max_iter is not None else 500 if solver == "newton" else 200_000
    descent = Descent(likelihood, theta, tol, limit, watch)
    if solver == "newton":
        steps = _NewtonSteps(likelihood)
        return descent.follow(lambda descent: _NEWTON.run(descent, steps))
    gradient_steps = _GradientSteps(likelihood)
    return descent.follow(gradient_steps.run if solver == "gradient" else gradient_steps.quasi_newton)


class _NewtonSteps:
    """Newton's steps on a likelihood.

    With open cells the first steps are em's, and so are the later ones while they halve the violation: the curvature
    of the open cells costs far more than such a step.
    """

    def __init__(self, likelihood: Likelihood) -> None:
        self.likelihood = likelihood
        self.polishes = likelihood.data.is_linear
        self._before, self._taken = np.inf, 0

    def gradient(self) -> Array:
        return self.likelihood.gradient()

    def newton_step(self, point: Point) -> Array:
        near = self._taken >= _FIRST or point.violation < _NEAR
        # Once em's steps no longer halve the violation, the whole Hessian is worth its cost, and stays so.
        self.polishes = self.polishes or (near and point.violation > 0.5 * self._before)
        self._before, self._taken = point.violation, self._taken + 1
        likelihood = self.likelihood
        gradient, hessian = likelihood.gradient(), likelihood.hessian(whole=self.polishes)
        if likelihood.l1:
            return l1_step(hessian, gradient, point.theta, likelihood.l1)
        return -factor(hessian).solve(gradient)


class _GradientSteps:
    """Steps along the gradient of a likelihood."""

    def __init__(self, likelihood: Likelihood) -> None:
        self.likelihood = likelihood

    def run(self, descent: Descent) -> None:
        """``theta <- theta + eps (eta_data - eta)``, the learning rule of Boltzmann machines; L1 then pulls towards 0.

        The rate eps follows from the last two points (Barzilai and Borwein's choice), and is cut where f would rise
        above the largest of its last ten values.
        """
        likelihood, rate = self.likelihood, 1.0
        gradient = likelihood.gradient()
        while not descent.done():
            start, ceiling = descent.point, max(descent.trace[-_RECENT:]) + descent.point.slack
            for _ in range(_STEP_CUTS):
                # The proximal step: soft-thresholding minimises the L1 part along with the linear model.
                point = descent.at(soft(start.theta - rate * gradient, rate * likelihood.l1))
                if point.value <= ceiling:
                    break
                rate /= 4
            else:
                descent.status = "rounding limit"
                return
            descent.accept(point)
            change, old, gradient = point.theta - start.theta, gradient, likelihood.gradient()
            curvature = float(change @ (gradient - old))
            # The step of a quadratic with the curvature just met; with open cells it may be negative, and the rate then
            # grows.
            rate = float(change @ change) / curvature if curvature > 0 else 4 * rate

    def quasi_newton(self, descent: Descent) -> None:
        """SciPy's L-BFGS-B; gradient steps finish what its line search leaves."""
        from scipy.optimize import minimize

        likelihood = self.likelihood
        if likelihood.l1:
            raise ValueError("L-BFGS needs a smooth objective")

        def value_and_gradient(theta: Array) -> tuple[float, Array]:
            value = likelihood.move(np.array(theta))
            return value, likelihood.gradient()

        def accept(theta: Array) -> None:
            descent.accept(descent.at(np.array(theta)))

        options = {
            "maxiter": descent.limit,
            "maxfun": 2 * descent.limit,
            "maxcor": 30,
            "ftol": 0.0,
            "gtol": descent.tol,
        }
        minimize(value_and_gradient, descent.point.theta, jac=True, method="L-BFGS-B", callback=accept, options=options)
        if not descent.done():
            descent.point = descent.at(descent.best.theta)
            self.run(descent)
