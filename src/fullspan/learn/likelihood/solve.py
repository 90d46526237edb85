"""Maximum likelihood of a fixed set of terms: Newton, L-BFGS, gradient ascent; ridge and L1 penalties.

All minimise ``f(theta) + l2 |theta|^2 / 2 + l1 |theta|_1`` where f is one phase minus another (module ``phases``),
until no expectation differs from the data's by more than ``tol`` (for L1: no condition of optimality is off by more).
f is convex unless cells are open; then the steps still never raise it, and lead to a local minimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.linalg import cho_solve

from fullspan.arrays import Array
from fullspan.learn.likelihood.phases import Known, Phase
from fullspan.learn.likelihood.quadratic import factor, is_definite, l1_step, soft
from fullspan.learn.search.problem import Interrupted

SolverName = Literal["newton", "lbfgs", "gradient"]

_LONGEST = 4.0
"""Longest change of one weight in a Newton step."""
_FIRST, _NEAR = 10, 1e-3
"""Steps, and the violation, before which nothing is concluded from how fast em's steps are."""
_TRIES = 30
"""Times a step is cut to a quarter before it is given up."""
_RECENT = 10
"""Values of the objective above which a gradient step must not rise."""
_EPS = float(np.finfo(np.float64).eps)
_ROUNDING = 64 * _EPS
"""Relative rounding of f, below which a rise means nothing."""


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
        at_zero = np.maximum(np.abs(g) - self.l1, 0.0)
        return float(np.where(self.theta == 0, at_zero, np.abs(g + self.l1 * np.sign(self.theta))).max(initial=0.0))

    def hessian(self, whole: bool = True) -> Array:
        """Hessian of the smooth part, or of the free phase alone, which is what an em step minimises to second order.

        Where open cells make the former indefinite, the latter stands in.
        """
        free = self.free.covariance() + np.diag(np.broadcast_to(self.l2, self.theta.shape))
        if not whole or isinstance(self.data, Known):
            return free
        difference = free - self.data.covariance()
        return difference if is_definite(difference, free) else free


@dataclass(frozen=True)
class Solution:
    """Where a solver ended.

    Attributes
    ----------
    theta : the weights.
    value : the penalised objective, in nats per row.
    violation : largest difference left between expectations of model and data.
    iterations : steps taken.
    status : ``"converged"``, ``"iteration limit"``, ``"rounding limit"`` or ``"interrupted"``.
    trace : the objective after every step.
    """

    theta: Array
    value: float
    violation: float
    iterations: int
    status: str
    trace: tuple[float, ...] = ()

    @property
    def point(self) -> Point:
        """Where it ended."""
        return Point(self.theta, self.value, self.violation)


Watch = Callable[[Array, float, float], None]
"""Called with theta, the objective and the violation after every step; may raise to stop."""


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
    run = {"newton": _newton, "lbfgs": _lbfgs, "gradient": _gradient}[solver]
    limit = max_iter if max_iter is not None else 500 if solver == "newton" else 200_000
    return Track(likelihood, theta, tol, limit, watch).follow(run)


@dataclass(frozen=True)
class Point:
    """Weights, the objective there, and the largest breach of the conditions of optimality."""

    theta: Array
    value: float
    violation: float

    @property
    def slack(self) -> float:
        """Rounding of the objective, a small difference of sums of weights."""
        return _ROUNDING * max(1.0, abs(self.value)) + _EPS * float(np.abs(self.theta).sum())

    def improves_on(self, other: Point) -> bool:
        """Whether the objective is lower; where it is the same to rounding, the violation decides."""
        if self.value < other.value - other.slack:
            return True
        return self.is_as_good_as(other) and self.violation < other.violation

    def is_as_good_as(self, other: Point) -> bool:
        """Whether the objective is not higher, to rounding."""
        return self.value <= other.value + other.slack


class Track:
    """The way of a solver: where it is, the best point so far, and when to stop."""

    def __init__(self, likelihood: Likelihood, theta: Array, tol: float, limit: int, watch: Watch | None) -> None:
        self.likelihood, self.tol, self.limit, self.watch = likelihood, tol, limit, watch
        self.point = self.best = self.at(theta)
        self.trace = [self.point.value]
        self.iterations, self.status = 0, "iteration limit"

    def at(self, theta: Array) -> Point:
        """Move the likelihood to theta."""
        value = self.likelihood.move(theta)
        return Point(theta, value, self.likelihood.violation())

    def accept(self, point: Point, iterations: int = 1) -> None:
        """Take a step to a point to which the likelihood has moved already."""
        self.point = point
        if point.improves_on(self.best):
            self.best = point
        self.iterations += iterations
        self.trace.append(point.value)
        if self.watch is not None:
            self.watch(point.theta, point.value, point.violation)

    def done(self) -> bool:
        """Whether the best point is good enough, or the steps are used up."""
        if self.best.violation <= self.tol:
            self.status = "converged"
        return self.best.violation <= self.tol or self.iterations >= self.limit

    def follow(self, run: Callable[[Track], None]) -> Solution:
        """Let a solver run, until it ends or is interrupted."""
        try:
            if not self.done():
                run(self)
        except (KeyboardInterrupt, Interrupted):
            self.status = "interrupted"
        best = self.at(self.best.theta)
        return Solution(best.theta, best.value, best.violation, self.iterations, self.status, tuple(self.trace))


def _newton(track: Track) -> None:
    """Newton's method.

    With open cells the first steps are em's, and so are the later ones while they halve the violation: the curvature
    of the open cells costs far more than such a step.
    """
    likelihood = track.likelihood
    whole, before = isinstance(likelihood.data, Known), np.inf
    while not track.done():
        near = track.iterations >= _FIRST or track.point.violation < _NEAR
        whole = whole or (near and track.point.violation > 0.5 * before)
        before = track.point.violation
        step = _step(likelihood, whole)
        length = float(np.abs(step).max())
        if length > _LONGEST:
            step *= _LONGEST / length
        if not _search(track, step):
            track.status = "rounding limit"
            return
    if whole and track.status == "converged":  # one step more: it costs little, and squares what is left
        _search(track, _step(likelihood, True), tries=1)


def _step(likelihood: Likelihood, whole: bool) -> Array:
    gradient, hessian = likelihood.gradient(), likelihood.hessian(whole)
    if likelihood.l1:
        return l1_step(hessian, gradient, likelihood.theta, likelihood.l1)
    return np.asarray(-cho_solve(factor(hessian), gradient))


def _search(track: Track, step: Array, tries: int = _TRIES) -> bool:
    """Go along a step, shortened until it is an improvement; False if nothing is left of it."""
    start, scale = track.point, 1.0
    for _ in range(tries):
        point = track.at(start.theta + scale * step)
        if point.improves_on(start):
            track.accept(point)
            return True
        scale /= 4
    track.likelihood.move(start.theta)
    return False


def _gradient(track: Track) -> None:
    """``theta <- theta + eps (eta_data - eta)``, the learning rule of Boltzmann machines; L1 then pulls towards 0.

    The rate eps follows from the last two points (Barzilai and Borwein's choice), and is cut where f would rise above
    the largest of its last ten values.
    """
    likelihood, rate = track.likelihood, 1.0
    gradient = likelihood.gradient()
    while not track.done():
        start, ceiling = track.point, max(track.trace[-_RECENT:]) + track.point.slack
        for _ in range(_TRIES):
            point = track.at(soft(start.theta - rate * gradient, rate * likelihood.l1))
            if point.value <= ceiling:
                break
            rate /= 4
        else:
            track.status = "rounding limit"
            return
        track.accept(point)
        change, old, gradient = point.theta - start.theta, gradient, likelihood.gradient()
        curvature = float(change @ (gradient - old))
        rate = float(change @ change) / curvature if curvature > 0 else 4 * rate


def _lbfgs(track: Track) -> None:
    """SciPy's L-BFGS-B; gradient steps finish what its line search leaves."""
    from scipy.optimize import minimize

    likelihood = track.likelihood
    if likelihood.l1:
        raise ValueError("L-BFGS needs a smooth objective")

    def value_and_gradient(theta: Array) -> tuple[float, Array]:
        value = likelihood.move(np.array(theta))
        return value, likelihood.gradient()

    def note(theta: Array) -> None:
        track.accept(track.at(np.array(theta)))

    options = {"maxiter": track.limit, "maxfun": 2 * track.limit, "maxcor": 30, "ftol": 0.0, "gtol": track.tol}
    minimize(value_and_gradient, track.point.theta, jac=True, method="L-BFGS-B", callback=note, options=options)
    if not track.done():
        track.point = track.at(track.best.theta)
        _gradient(track)
