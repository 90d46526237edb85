"""Closed forms along one line, against numbers."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from fullspan.learn.search import line

both = pytest.mark.parametrize("zero_one", [False, True])


def coin(eta: float, zero_one: bool) -> tuple[np.ndarray, np.ndarray]:
    """Values of a two-valued term and their probabilities when its expectation is eta."""
    return (
        (np.array([0.0, 1.0]), np.array([1 - eta, eta]))
        if zero_one
        else (
            np.array([-1.0, 1.0]),
            np.array([(1 - eta) / 2, (1 + eta) / 2]),
        )
    )


def points(zero_one: bool) -> list[tuple[float, float]]:
    rng = np.random.default_rng(11)
    low = 0.02 if zero_one else -0.98
    return [tuple(pair) for pair in rng.uniform(low, 0.98, size=(20, 2))]


def fallen(eta: float, d: float, zero_one: bool, delta: float) -> float:
    """KL(p_d || p) after a step, less that before."""
    return -float(line.drop(np.array(eta), np.array(d), np.array(delta), zero_one))


@both
def test_growth_is_that_of_log_z(zero_one: bool) -> None:
    """log Z grows by ln <exp(delta Phi)>."""
    for eta, delta in points(zero_one):
        values, p = coin(eta, zero_one)
        exact = np.log(np.sum(p * np.exp(delta * values)))
        assert line.growth(np.array(eta), np.array(delta), zero_one) == pytest.approx(exact, abs=1e-13)


@both
def test_the_step_is_the_optimum(zero_one: bool) -> None:
    """delta = step_to(eta, d) maximises the drop, and carries the expectation from eta to d."""
    for eta, d in points(zero_one):
        delta = float(line.step_to(np.array(eta), np.array(d), zero_one))
        fall = partial(fallen, eta, d, zero_one)
        best = minimize_scalar(fall, bounds=(-20, 20), method="bounded", options={"xatol": 1e-9})
        assert delta == pytest.approx(best.x, abs=1e-5)
        assert fall(delta) <= best.fun + 1e-12
        values, p = coin(eta, zero_one)
        tilted = p * np.exp(delta * values)
        assert np.sum(tilted * values) / tilted.sum() == pytest.approx(d, abs=1e-12)


@both
def test_the_boundary_is_a_finite_step_off(zero_one: bool) -> None:
    never = 0.0 if zero_one else -1.0
    for d in (never, 1.0):
        delta = line.step_to(np.array([0.3]), np.array([d]), zero_one)
        assert np.isfinite(delta).all()
        assert abs(delta[0]) > 10


@both
def test_other_terms_follow_the_product_rule(zero_one: bool) -> None:
    """eta_z after a step along y, from <Phi_y Phi_z> before it."""
    rng = np.random.default_rng(12)
    values = np.array([0.0, 1.0]) if zero_one else np.array([-1.0, 1.0])
    y, z = (a.ravel() for a in np.meshgrid(values, values))
    p = rng.dirichlet(np.ones(4))
    delta = 0.83
    tilted = p * np.exp(delta * y)
    tilted /= tilted.sum()
    after = line.after(np.array([p @ z]), np.array([p @ (y * z)]), float(p @ y), delta, zero_one)
    assert after[0] == pytest.approx(tilted @ z, abs=1e-14)


def test_an_l1_penalty_stops_short_by_its_weight() -> None:
    eta, d = np.array([0.1, 0.1, 0.1, 0.1]), np.array([0.5, 0.15, -0.4, 0.06])
    np.testing.assert_allclose(line.shrunk(eta, d, 0.1), [0.4, 0.1, -0.3, 0.1])
