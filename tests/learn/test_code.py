"""The code of the weights: it finds what was put in, and calls noise noise."""

from __future__ import annotations

import numpy as np
import pytest

from fullspan.learn.search import code as codes
from fullspan.learn.search import fit_code


def simulated(
    share: float, size: float, spread: float, k: int = 600, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimates, variances of their noise, and which weights are real."""
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0.5, 2.0, size=k) * 1e-3
    real = rng.random(k) < share
    sign = rng.choice([-1, 1], size=k)
    weights = np.where(real, sign * (size + spread * rng.normal(size=k)), 0.0)
    return weights + np.sqrt(noise) * rng.normal(size=k), noise, real


@pytest.mark.parametrize("seed", range(4))
def test_share_and_variance_are_recovered(seed: int) -> None:
    """theta ~ (1-w) delta_0 + w N(0, tau^2)."""
    theta, noise, _ = simulated(0.3, 0.0, 0.5, seed=seed)
    code = fit_code(theta, noise)
    assert code is not None
    assert code.size == 0
    assert code.share == pytest.approx(0.3, abs=0.08)
    assert code.variance == pytest.approx(0.25, rel=0.3)


@pytest.mark.parametrize("seed", range(4))
def test_a_common_size_is_recovered(seed: int) -> None:
    """A lattice of equal couplings: weights at -mu and +mu."""
    theta, noise, real = simulated(0.2, 0.5, 0.01, k=200, seed=seed)
    code = fit_code(theta, noise)
    assert code is not None
    assert code.size == pytest.approx(0.5, abs=0.02)
    assert code.variance < 0.01
    assert code.share == pytest.approx(real.mean(), abs=0.03)
    np.testing.assert_array_equal(code.reality(theta, noise) > 0.5, real)


@pytest.mark.parametrize("seed", range(8))
def test_noise_alone_is_called_noise(seed: int) -> None:
    theta, noise, _ = simulated(0.0, 0.0, 0.0, seed=seed)
    code = fit_code(theta, noise)
    assert code is not None
    assert code.share == 0
    assert code.worth(theta, noise).max() < 1e-300


def test_the_code_does_not_see_signs() -> None:
    """So exchanging the two levels of a variable changes nothing."""
    for size, spread in ((0.0, 0.5), (0.5, 0.02)):
        theta, noise, _ = simulated(0.3, size, spread, k=80)
        flips = np.random.default_rng(1).choice([-1.0, 1.0], size=theta.size)
        a, b = fit_code(theta, noise), fit_code(flips * theta, noise)
        assert a is not None
        assert b is not None
        assert (a.share, a.size, a.variance) == pytest.approx((b.share, b.size, b.variance), rel=1e-9)
        np.testing.assert_allclose(a.worth(theta, noise), b.worth(flips * theta, noise), rtol=1e-8)
        for (mean, precision), other in zip([a.prior(theta, noise)], [b.prior(flips * theta, noise)], strict=True):
            np.testing.assert_allclose(flips * mean, other[0], rtol=1e-8)
            np.testing.assert_allclose(precision, other[1], rtol=1e-8)


def test_worth_grows_with_the_estimate_and_stays_below_one() -> None:
    theta, noise, _ = simulated(0.3, 0.0, 0.5)
    code = fit_code(theta, noise)
    assert code is not None
    grid = np.linspace(0, 2, 50)
    worth = code.worth(grid, np.full(50, 1e-3))
    assert (np.diff(worth) >= 0).all()
    assert worth[0] < 0.1 < 0.9 < worth[-1] < 1


def test_the_likelihood_is_that_of_the_mixture() -> None:
    theta, noise, _ = simulated(0.3, 0.0, 0.5, k=30)
    code = fit_code(theta, noise)
    assert code is not None

    def normal(x: np.ndarray, variance: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(-0.5 * x**2 / variance) / np.sqrt(variance))

    mixture = (1 - code.share) * normal(theta, noise) + code.share * normal(theta, code.variance + noise)
    assert code.likelihood(theta, noise) == pytest.approx(np.log(mixture).sum())


def test_codes_are_maximised_together_as_alone_and_never_get_less_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Expectation maximisation, up to the pull of an even share on few weights; a size of 0 stays 0."""
    theta, noise, _ = simulated(0.3, 0.4, 0.1, k=300)
    starts = [codes.Code(0.5, 0.0, 0.2), codes.Code(0.15, 0.6, 0.01), codes.Code(0.6, 0.2, 0.1)]
    together = codes.maximised(theta, noise, starts)
    assert together == [codes.maximised(theta, noise, [start])[0] for start in starts]
    assert [one.size > 0 for one in together] == [False, True, True]
    monkeypatch.setattr(codes, "_STEPS", 1)
    for start in starts:
        for _ in range(20):
            following = codes.maximised(theta, noise, [start])[0]
            assert following.likelihood(theta, noise) > start.likelihood(theta, noise) - 1e-3
            start = following


def test_too_few_estimates_have_no_code() -> None:
    assert fit_code(np.array([0.1, 0.2]), np.array([0.01, 0.01])) is None
