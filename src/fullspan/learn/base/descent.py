"""Minimising a function step by step: where a solver is, the best point so far, and when it ends.

A solver is ``init / step / terminate``: :class:`Descent` is the state and says when to end, the solver makes the steps.
Newton's method (module ``newton``), gradient and quasi-Newton steps and iterative proportional fitting share it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fullspan.arrays import Array
from fullspan.learn.base.progress import STOPPED

_EPS = float(np.finfo(np.float64).eps)
_ROUNDING = 64 * _EPS
"""Relative rounding of an objective, below which a rise means nothing."""


class Objective(Protocol):
    """A function to be minimised, with what solvers ask of it at the point last moved to."""

    def move(self, theta: Array) -> float:
        """Go to theta; the value there."""

    def gradient(self) -> Array:
        """Gradient of the smooth part (k,)."""

    def violation(self) -> float:
        """Largest breach of the conditions of optimality: that of the gradient, where nothing is bounded."""


Watch = Callable[[Array, float, float], None]
"""Called with theta, the objective and the violation after every step; may raise to stop."""
Slack = Callable[[Array, float], float]
"""Rounding of the objective at a point, given theta and the value."""


def rounding(theta: Array, value: float) -> float:
    """Rounding of an objective that is a small difference of sums of weights, in double precision."""
    return _ROUNDING * max(1.0, abs(value)) + _EPS * float(np.abs(theta).sum())


@dataclass(frozen=True)
class Point:
    """Weights, the objective and its rounding there, and the largest breach of the conditions of optimality."""

    theta: Array
    value: float
    violation: float
    slack: float

    def improves_on(self, other: Point) -> bool:
        """Whether the objective is lower; where it is the same to rounding, the violation decides."""
        if self.value < other.value - other.slack:
            return True
        return self.is_as_good_as(other) and self.violation < other.violation

    def is_as_good_as(self, other: Point) -> bool:
        """Whether the objective is not higher, to rounding."""
        return self.value <= other.value + other.slack


@dataclass(frozen=True)
class Solution:
    """Where a solver ended.

    Attributes
    ----------
    theta : the weights.
    value : the objective, in nats per row.
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
        return Point(self.theta, self.value, self.violation, rounding(self.theta, self.value))


class Descent:
    """A solver's state: where it is, the best point so far, and when to stop.

    Parameters
    ----------
    tol : violation at which it has converged.
    limit : most steps.
    watch : called after every step.
    slack : rounding of the objective; that of double precision by default.
    """

    def __init__(
        self,
        objective: Objective,
        theta: Array,
        tol: float,
        limit: int,
        watch: Watch | None = None,
        slack: Slack = rounding,
    ) -> None:
        self.objective, self.tol, self.limit, self.watch, self.slack = objective, tol, limit, watch, slack
        self.point = self.best = self.at(theta)
        self.trace = [self.point.value]
        self.iterations, self.status = 0, "iteration limit"

    def at(self, theta: Array) -> Point:
        """Move the objective to theta."""
        value = self.objective.move(theta)
        return Point(theta, value, self.objective.violation(), self.slack(theta, value))

    def accept(self, point: Point, iterations: int = 1) -> None:
        """Take a step to a point to which the objective has moved already."""
        self.point = point
        # Methods that may rise for a few steps, such as gradient steps, still return the best point.
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

    def follow(self, run: Callable[[Descent], None]) -> Solution:
        """Let a solver run until it ends or is interrupted; the objective has then moved to the best point."""
        try:
            if not self.done():
                run(self)
        except STOPPED:
            self.status = "interrupted"
        # The objective holds the tables of the last point, which need not be the best one.
        best = self.at(self.best.theta)
        return Solution(best.theta, best.value, best.violation, self.iterations, self.status, tuple(self.trace))
