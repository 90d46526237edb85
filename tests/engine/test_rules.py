"""The rules of decimation against sums over the spin that is taken out, at generic, weak and strong couplings."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from fullspan.engine.elimination.decimation import head, leaf, reversed_series, reversed_star, series, star
from fullspan.model.algebra import decay, log_1p, tanh

GENERIC = [(0.3, -1.1, 0.7), (-0.4, 2.5, -0.01), (1.3, 1.3, 1.3), (-6.0, 0.2, 5.0), (40.0, -50.0, 50.0)]
BEYOND = [(500.0, -400.0, 3.0), (5e4, 600.0, -600.0), (1e5, 1e-9, 2.0), (350.0, 350.0, -699.0), (1.0, -900.0, 900.5)]


def log_sum(v: tuple[float, ...], spins: tuple[int, ...]) -> float:
    """``log sum_s exp(s v . spins)`` in long double."""
    a = np.longdouble(0)
    for x, s in zip(v, spins, strict=True):
        a += np.longdouble(x) * s
    return abs(a) + np.log1p(np.exp(-2 * abs(a)))


def rounding(*v: float) -> float:
    """What rounding may do to sums of these couplings."""
    return 1e-15 * (4 + sum(map(abs, v)))


def test_decay_log_1p_and_tanh_are_right_to_rounding_relative_to_themselves() -> None:
    for x in np.logspace(-15, 2.5, 400):
        exact = np.longdouble(x)
        q, rest = decay(x)
        assert q == pytest.approx(float(np.exp(-2 * exact)), rel=5e-16)
        assert rest == pytest.approx(float(-np.expm1(-2 * exact)), rel=5e-16)
        assert tanh(-x) == pytest.approx(-float(np.tanh(exact)), rel=1e-15)
    for y in np.logspace(-20, 290, 400):
        assert log_1p(y) == pytest.approx(float(np.log1p(np.longdouble(y))), rel=5e-16)
    assert decay(0.0) == (1.0, 0.0)


@pytest.mark.parametrize("v", [0.7, -1e-12, 50.0, -900.0])
def test_a_leaf_leaves_the_factor_2_cosh_v(v: float) -> None:
    assert leaf(v) == pytest.approx(float(log_sum((v,), (1,))), rel=1e-15)


@pytest.mark.parametrize("v", GENERIC + BEYOND)
def test_series_replaces_a_node_with_two_neighbours(v: tuple[float, float, float]) -> None:
    for a, b in itertools.permutations(v, 2):
        v12, rest = series(a, b)
        factor = rest + math.log(head(abs(a) + abs(b)))
        for s in ((1, 1), (1, -1)):
            assert factor + v12 * s[0] * s[1] == pytest.approx(float(log_sum((a, b), s)), abs=rounding(a, b))


@pytest.mark.parametrize("v", GENERIC + BEYOND)
def test_star_triangle_replaces_a_node_with_three_neighbours(v: tuple[float, float, float]) -> None:
    """Equations 8 to 11."""
    for a in itertools.permutations(v):
        v12, v13, v23, rest = star(*a)
        factor = rest + math.log(head(sum(map(abs, a))))
        for s in itertools.product((1, -1), repeat=3):
            found = factor + v12 * s[0] * s[1] + v13 * s[0] * s[2] + v23 * s[1] * s[2]
            assert found == pytest.approx(float(log_sum(a, s)), abs=rounding(*a))


def test_weak_couplings_are_right_relative_to_themselves() -> None:
    """tanh v' = tanh v1 tanh v2; a star of weak couplings leaves their products."""
    assert series(1e-12, -3e-12)[0] == pytest.approx(-3e-24, rel=1e-12)
    assert series(1e-12, 50.0)[0] == pytest.approx(1e-12, rel=1e-12)
    assert series(1e-12, 0.5)[0] == pytest.approx(1e-12 * math.tanh(0.5), rel=1e-12)
    v12, v13, v23, _ = star(1e-12, 2e-12, -3e-12)
    assert (v12, v13, v23) == pytest.approx((2e-24, -3e-24, -6e-24), rel=1e-12)


@pytest.mark.parametrize("v", GENERIC)
def test_the_triangle_of_equal_cosh_products_is_the_papers(v: tuple[float, float, float]) -> None:
    """Equation 8 as printed, where it does not lose digits."""
    a, b, c = (np.longdouble(x) for x in v)
    top = np.log(np.cosh(a + b - c)) + np.log(np.cosh(a + b + c))
    printed = (top - np.log(np.cosh(a - b + c)) - np.log(np.cosh(a - b - c))) / 4
    assert star(*v)[0] == pytest.approx(float(printed), rel=1e-12, abs=1e-16)


@pytest.mark.parametrize("v", GENERIC)
def test_reversed_rules_are_the_derivatives(v: tuple[float, float, float]) -> None:
    """d log F / d v_i + sum g_jk d v_jk / d v_i, by central differences."""
    g12, g13, g23, h = 0.3, -0.2, 0.1, 1e-6

    def through_series(a: float, b: float) -> float:
        v12, rest = series(a, b)
        return rest + math.log(head(abs(a) + abs(b))) + g12 * v12

    def through_star(a: float, b: float, c: float) -> float:
        v12, v13, v23, rest = star(a, b, c)
        return rest + math.log(head(abs(a) + abs(b) + abs(c))) + g12 * v12 + g13 * v13 + g23 * v23

    a, b, c = v
    two, three = reversed_series(a, b, g12), reversed_star(a, b, c, g12, g13, g23)
    assert two[0] == pytest.approx((through_series(a + h, b) - through_series(a - h, b)) / (2 * h), abs=2e-8)
    assert two[1] == pytest.approx((through_series(a, b + h) - through_series(a, b - h)) / (2 * h), abs=2e-8)
    assert three[0] == pytest.approx((through_star(a + h, b, c) - through_star(a - h, b, c)) / (2 * h), abs=2e-8)
    assert three[1] == pytest.approx((through_star(a, b + h, c) - through_star(a, b - h, c)) / (2 * h), abs=2e-8)
    assert three[2] == pytest.approx((through_star(a, b, c + h) - through_star(a, b, c - h)) / (2 * h), abs=2e-8)
