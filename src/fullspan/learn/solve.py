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
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from fullspan.algebra.jit import serial
from fullspan.learn.phases import Known, Phase

Array = NDArray[np.float64]
SolverName = Literal["newton", "lbfgs", "gradient"]

_LONGEST = 4.0
"""Longest change of one weight in a Newton step."""
_HALVINGS = 30
_ROUNDING = 64 * float(np.finfo(np.float64).eps)
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
        if not whole:
            return free
        difference = free - self.data.covariance()
        return difference if _is_definite(difference, free) else free


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
    """Minimise from ``theta``.

    The objective never rises by more than its rounding. Cost of a step: one rebuild of the table (``newton``: also k^2
    look-ups and a Cholesky factorisation). ``max_iter`` is 500 for Newton's method by default,
    and 200,000 for the others.
    """
    run = {"newton": _newton, "lbfgs": _lbfgs, "gradient": _gradient}[solver]
    limit = max_iter if max_iter is not None else 500 if solver == "newton" else 200_000
    value = likelihood.move(theta)
    track = _Track(likelihood, theta, value, tol, limit, watch)
    if not theta.size or track.done():
        return track.solution()
    try:
        run(track)
    except KeyboardInterrupt:
        track.status = "interrupted"
    likelihood.move(track.theta)
    return track.solution()


@dataclass
class _Track:
    """The best point so far, and when to stop."""

    likelihood: Likelihood
    theta: Array
    value: float
    tol: float
    limit: int
    watch: Watch | None
    iterations: int = 0
    status: str = "iteration limit"
    trace: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.trace.append(self.value)
        self.violation = self.likelihood.violation()

    def accept(self, theta: Array, value: float) -> None:
        """Take a step to which the likelihood has moved already."""
        self.theta, self.value = theta, value
        self.violation = self.likelihood.violation()
        self.iterations += 1
        self.trace.append(value)
        if self.watch is not None:
            self.watch(theta, value, self.violation)

    def done(self) -> bool:
        if self.violation <= self.tol:
            self.status = "converged"
        return self.violation <= self.tol or self.iterations >= self.limit

    def slack(self) -> float:
        return _ROUNDING * max(1.0, abs(self.value))

    def solution(self) -> Solution:
        return Solution(self.theta, self.value, self.violation, self.iterations, self.status, tuple(self.trace))


def _newton(track: _Track) -> None:
    """Newton's method. While em steps halve the violation, the curvature of the open cells is not asked for."""
    likelihood = track.likelihood
    whole, before = isinstance(likelihood.data, Known), np.inf
    while not track.done():
        whole = whole or track.violation > 0.5 * before
        before = track.violation
        step = _step(likelihood, whole)
        length = float(np.abs(step).max())
        if length == 0.0:
            track.status = "rounding limit"
            return
        step *= min(1.0, _LONGEST / length)
        if not _search(track, step, 1.0):
            track.status = "rounding limit"
            return
    if whole and track.status == "converged":  # one step more: it costs little, and squares what is left
        _search(track, _step(likelihood, True), 1.0, tries=1)


def _step(likelihood: Likelihood, whole: bool) -> Array:
    gradient, hessian = likelihood.gradient(), likelihood.hessian(whole)
    if likelihood.l1:
        return _l1_step(hessian, gradient, likelihood.theta, likelihood.l1)
    return np.asarray(-cho_solve(factor(hessian), gradient))


def _search(track: _Track, step: Array, scale: float, tries: int = _HALVINGS) -> bool:
    """Go along a step, shortened until the objective does not rise; False if nothing is left of it.

    Where the objective is flat to rounding, the expectations decide.
    """
    for _ in range(tries):
        theta = track.theta + scale * step
        value = track.likelihood.move(theta)
        if value < track.value - track.slack() or (
            value <= track.value + track.slack() and track.likelihood.violation() < track.violation
        ):
            track.accept(theta, value)
            return True
        scale /= 4
    track.likelihood.move(track.theta)
    return False


def _gradient(track: _Track) -> None:
    """``theta <- theta + eps (eta_data - eta)``, the learning rule of Boltzmann machines.

    The rate eps follows from the last two points (Barzilai and Borwein's choice), and is cut where f would rise above
    the largest of its last ten values.
    """
    likelihood = track.likelihood
    gradient, rate = likelihood.gradient(), 1.0
    if likelihood.l1:
        _proximal(track)
        return
    while not track.done():
        recent = max(track.trace[-10:]) + track.slack()
        for _ in range(_HALVINGS):
            theta = track.theta - rate * gradient
            value = likelihood.move(theta)
            if value <= recent:
                break
            rate /= 4
        else:
            likelihood.move(track.theta)
            track.status = "rounding limit"
            return
        change, old = theta - track.theta, gradient
        track.accept(theta, value)
        gradient = likelihood.gradient()
        curvature = float(change @ (gradient - old))
        rate = float(change @ change) / curvature if curvature > 0 else 4 * rate


def _proximal(track: _Track) -> None:
    """The same with L1: a gradient step, then every weight is pulled towards 0."""
    likelihood, rate = track.likelihood, 1.0
    gradient = likelihood.gradient()
    while not track.done():
        recent = max(track.trace[-10:]) + track.slack()
        for _ in range(_HALVINGS):
            theta = soft(track.theta - rate * gradient, rate * likelihood.l1)
            value = likelihood.move(theta)
            if value <= recent:
                break
            rate /= 4
        else:
            likelihood.move(track.theta)
            track.status = "rounding limit"
            return
        change, old = theta - track.theta, gradient
        track.accept(theta, value)
        gradient = likelihood.gradient()
        curvature = float(change @ (gradient - old))
        rate = float(change @ change) / curvature if curvature > 0 else 4 * rate


def _lbfgs(track: _Track) -> None:
    """SciPy's L-BFGS; where f is flat to rounding and its line search stalls, gradient steps finish."""
    from scipy.optimize import minimize

    likelihood = track.likelihood
    if likelihood.l1:
        raise ValueError("L-BFGS needs a smooth objective")

    def value_and_gradient(theta: Array) -> tuple[float, Array]:
        value = likelihood.move(np.array(theta))
        return value, likelihood.gradient()

    def note(theta: Array) -> None:
        value = likelihood.move(np.array(theta))
        track.accept(np.array(theta), value)

    options = {"maxiter": track.limit, "maxfun": 2 * track.limit, "maxcor": 30, "ftol": 0.0, "gtol": track.tol}
    minimize(value_and_gradient, track.theta, jac=True, method="L-BFGS-B", callback=note, options=options)
    likelihood.move(track.theta)
    if not track.done():
        _gradient(track)


def soft(x: Array, by: float) -> Array:
    """Every number moved towards 0 by so much."""
    return np.asarray(np.sign(x) * np.maximum(np.abs(x) - by, 0.0))


def _l1_step(hessian: Array, gradient: Array, theta: Array, l1: float) -> Array:
    """Minimise ``g.s + s.H.s/2 + l1 |theta + s|`` by coordinate descent."""
    step = np.zeros(len(theta))
    _coordinate_descent(hessian + np.diag(1e-12 * np.diag(hessian)), gradient, theta, l1, step)
    return step


@serial
def _coordinate_descent(hessian: Array, gradient: Array, theta: Array, l1: float, step: Array) -> None:
    slope = gradient.copy()
    for _ in range(1000):
        largest = 0.0
        for y in range(step.size):
            curvature = hessian[y, y]
            if curvature <= 0.0:
                continue
            wanted = theta[y] + step[y] - slope[y] / curvature
            shrunk = max(abs(wanted) - l1 / curvature, 0.0)
            change = (shrunk if wanted > 0 else -shrunk) - theta[y] - step[y]
            if change != 0.0:
                step[y] += change
                for z in range(step.size):
                    slope[z] += change * hessian[z, y]
                largest = max(largest, abs(change) * curvature)
        if largest < 1e-14:
            return


def factor(matrix: Array) -> tuple[Array, bool]:
    """Cholesky factor, with the least ridge, relative to the diagonal, that makes the matrix definite."""
    scale = np.maximum(np.diag(matrix), 1e-300)
    ridge = 1e-13
    while True:
        try:
            factored: tuple[Array, bool] = cho_factor(matrix + np.diag(ridge * scale), lower=True)
            return factored
        except np.linalg.LinAlgError:
            ridge *= 10


def _is_definite(matrix: Array, beside: Array) -> bool:
    try:
        cho_factor(matrix - 1e-9 * np.diag(np.diag(beside)), lower=True)
    except np.linalg.LinAlgError:
        return False
    return True
