"""The damped Newton method of every learner: it finds the minimum, never rises, and keeps what it has reached."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from fullspan.learn.base import Cholesky, Descent, Interrupted, Newton, Point, Solution

Array = NDArray[np.float64]


@dataclass
class Plain:
    """A function with gradient and Hessian, as the method asks for it."""

    value: Callable[[Array], float]
    slope: Callable[[Array], Array]
    curvature: Callable[[Array], Array]
    polishes: bool = True

    def move(self, theta: Array) -> float:
        self.theta = theta
        return self.value(theta)

    def gradient(self) -> Array:
        return self.slope(self.theta)

    def violation(self) -> float:
        return float(np.abs(self.gradient()).max(initial=0.0))

    def newton_step(self, point: Point) -> Array:
        assert point.theta is self.theta, "the objective must have moved to the point"
        return -Cholesky.of(self.curvature(point.theta), ridge=1e-13).solve(self.gradient())


def log_sum(phi: Array, d: Array) -> Plain:
    """``log sum_x exp(theta . phi(x)) - theta . d``: a likelihood on a few states."""

    def p(theta: Array) -> Array:
        weights = np.exp(phi @ theta - (phi @ theta).max())
        return np.asarray(weights / weights.sum())

    def covariance(theta: Array) -> Array:
        mean = p(theta) @ phi
        return np.asarray((phi * p(theta)[:, None]).T @ phi - np.outer(mean, mean))

    return Plain(
        lambda theta: float(np.logaddexp.reduce(phi @ theta) - theta @ d), lambda theta: p(theta) @ phi - d, covariance
    )


MATRIX = np.array([[4.0, 1.0, 0.3], [1.0, 3.0, -0.7], [0.3, -0.7, 2.0]])
CENTRE = np.array([1.0, -20.0, 0.25])
STATES = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
ETA = np.array([0.2, 0.55, 0.9])
EDGE = np.array([0.2, 0.55, 1 - 1e-8])

PROBLEMS: dict[str, tuple[Plain, Array]] = {
    "quadratic": (
        Plain(
            lambda t: float((t - CENTRE) @ MATRIX @ (t - CENTRE)) / 2, lambda t: MATRIX @ (t - CENTRE), lambda _: MATRIX
        ),
        CENTRE,
    ),
    "separable": (log_sum(STATES, ETA), np.log(ETA / (1 - ETA))),
    "near the boundary": (log_sum(STATES, EDGE), np.log(EDGE / (1 - EDGE))),
}
METHODS = {
    "by the violation": (Newton(longest=4.0), 1e-11),
    "by the promised drop": (Newton(longest=16.0, enough=1e-18, damped=True), 0.0),
}


def run(problem: Plain, method: Newton, tol: float, start: Array, limit: int = 200) -> Solution:
    return Descent(problem, start, tol, limit).follow(lambda descent: method.run(descent, problem))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("start", [np.zeros(3), np.array([3.0, -2.0, 5.0])], ids=["zero", "far"])
def test_it_finds_the_minimum_and_never_rises(name: str, method: str, start: Array) -> None:
    problem, minimum = PROBLEMS[name]
    found = run(problem, *METHODS[method], start)
    assert found.status == "converged"
    np.testing.assert_allclose(found.theta, minimum, rtol=1e-6, atol=1e-6)
    assert (np.diff(found.trace) <= 1e-12 * (1 + np.abs(found.trace[1:]))).all()
    assert found.iterations <= 60


@pytest.mark.parametrize("method", METHODS)
def test_a_step_is_no_longer_than_allowed(method: str) -> None:
    newton, tol = METHODS[method]
    problem, _ = PROBLEMS["quadratic"]
    steps: list[Array] = [np.zeros(3)]
    descent = Descent(problem, np.zeros(3), tol, 200, lambda theta, value, violation: steps.append(theta))
    descent.follow(lambda descent: newton.run(descent, problem))
    assert max(np.abs(b - a).max() for a, b in itertools.pairwise(steps)) <= newton.longest * (1 + 1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_minimum_at_infinity_ends_with_a_status(method: str) -> None:
    """All of the data in one state: the objective falls for ever, and the method must still end."""
    found = run(log_sum(STATES, np.array([1.0, 0.0, 1.0])), *METHODS[method], np.zeros(3))
    assert found.status in ("converged", "rounding limit")
    assert found.value < 1e-8


@pytest.mark.parametrize("error", [KeyboardInterrupt, Interrupted])
@pytest.mark.parametrize("after", [1, 2])
def test_an_interruption_keeps_the_best_point(error: type[BaseException], after: int) -> None:
    problem, _ = PROBLEMS["separable"]
    seen: list[float] = []

    def watch(theta: Array, value: float, violation: float) -> None:
        seen.append(value)
        if len(seen) == after:
            raise error

    descent = Descent(problem, np.array([3.0, -2.0, 5.0]), 1e-11, 200, watch)
    found = descent.follow(lambda descent: Newton(longest=4.0).run(descent, problem))
    assert (found.status, found.iterations) == ("interrupted", after)
    assert found.value == min(seen) == problem.move(found.theta)


def test_an_interruption_passes_where_the_caller_knows_better() -> None:
    problem, _ = PROBLEMS["separable"]

    def watch(theta: Array, value: float, violation: float) -> None:
        raise Interrupted

    descent = Descent(problem, np.zeros(3), 1e-11, 200, watch)
    with pytest.raises(Interrupted):
        Newton().run(descent, problem)


def test_the_limit_of_steps_is_kept() -> None:
    found = run(PROBLEMS["near the boundary"][0], Newton(longest=0.5), 1e-11, np.zeros(3), limit=3)
    assert (found.status, found.iterations, len(found.trace)) == ("iteration limit", 3, 4)


def test_no_step_in_double_precision_leaves_the_point() -> None:
    """A curvature that cannot be factored ends the method where it is."""

    class Unsolvable(Plain):
        def newton_step(self, point: Point) -> Array:
            raise np.linalg.LinAlgError("singular")

    base = PROBLEMS["quadratic"][0]
    problem = Unsolvable(base.value, base.slope, base.curvature)
    found = run(problem, Newton(), 1e-9, np.ones(3))
    assert found.status == "rounding limit"
    np.testing.assert_array_equal(found.theta, np.ones(3))


def test_a_step_that_raises_the_objective_is_cut() -> None:
    """From far out a full step on ``log cosh`` overshoots; a quarter of it, or of that, does not."""
    problem = Plain(
        lambda t: float(np.logaddexp(t, -t).sum()), np.tanh, lambda t: np.diag(np.maximum(1 - np.tanh(t) ** 2, 1e-3))
    )
    found = run(problem, Newton(), 1e-12, np.array([2.0]))
    assert found.status == "converged"
    assert found.theta[0] == pytest.approx(0.0, abs=1e-12)
    assert found.value == pytest.approx(math.log(2), abs=1e-15)
    assert (np.diff(found.trace) <= 1e-15).all()
