"""R-hat, effective sample sizes and errors: against series whose truth is known, and against plain formulas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from fullspan.arrays import Array
from fullspan.engine.sampling import diagnose, diagnostics, effective_size, r_hat
from fullspan.errors import FullspanError
from fullspan.model.estimate import Estimate, log_mean


def autoregressive(rho: float, draws: int, chains: int, seed: int) -> Array:
    """x_t = rho x_{t-1} + noise, from its stationary distribution N(0, 1); its ESS per draw is (1-rho)/(1+rho)."""
    rng = np.random.default_rng(seed)
    x = np.empty((draws, chains, 1))
    x[0] = rng.normal(size=(chains, 1))
    for t in range(1, draws):
        x[t] = rho * x[t - 1] + np.sqrt(1 - rho**2) * rng.normal(size=(chains, 1))
    return x


@pytest.mark.parametrize("rho", [-0.4, 0.0, 0.5, 0.9])
def test_effective_size_of_a_known_series(rho: float) -> None:
    """m n (1 - rho) / (1 + rho), within a few percent."""
    draws = autoregressive(rho, 4_000, 8, 1)
    expected = 32_000 * (1 - rho) / (1 + rho)
    assert diagnose(draws).bulk_ess[0] == pytest.approx(expected, rel=0.12)
    assert diagnose(draws).error[0] == pytest.approx(1 / np.sqrt(expected), rel=0.12)
    assert abs(diagnose(draws).r_hat[0] - 1) < 0.01


def test_errors_are_those_of_repeated_runs() -> None:
    """Means of 200 runs scatter with the standard error that each run states."""
    runs = [diagnose(autoregressive(0.8, 400, 4, seed)) for seed in range(200)]
    scatter = np.std([run.mean[0] for run in runs])
    assert np.mean([run.error[0] for run in runs]) == pytest.approx(scatter, rel=0.15)


def test_r_hat_is_the_ratio_of_variances() -> None:
    draws = np.random.default_rng(2).normal(size=(50, 3, 2)) + np.array([0.0, 0.5, 1.0])[None, :, None]
    within = draws.var(axis=0, ddof=1).mean(axis=0)
    between = 50 * draws.mean(axis=0).var(axis=0, ddof=1)
    np.testing.assert_allclose(r_hat(draws) ** 2, 49 / 50 + between / 50 / within)
    scores = norm.ppf((rankdata(draws[:, :, 0]) - 3 / 8) / (150 + 1 / 4)).reshape(50, 3)
    np.testing.assert_allclose(diagnostics.rank_normalised(draws)[:, :, 0], scores)


def test_chains_that_have_not_met_are_found() -> None:
    """Different means, different scales, a trend: R-hat is well above 1.01 for each."""
    rng = np.random.default_rng(0)
    same = rng.normal(size=(500, 4, 1))
    assert diagnose(same).converged
    moved = same + np.array([0.0, 0.0, 0.0, 1.0])[None, :, None]
    scaled = same * np.array([1.0, 1.0, 1.0, 4.0])[None, :, None]
    drifting = same + np.linspace(0, 2, 500)[:, None, None]
    for draws in (moved, scaled, drifting):
        assert diagnose(draws).worst_r_hat > 1.05
        assert not diagnose(draws).converged


def test_split_chains_leave_the_middle_out() -> None:
    draws = np.arange(5.0).reshape(5, 1, 1)
    np.testing.assert_array_equal(diagnostics.split(draws)[:, :, 0], [[0.0, 3.0], [1.0, 4.0]])


def test_an_event_never_seen_has_an_error() -> None:
    """No hit in 1,000 draws: the error is about 0.7 / 1,000, R-hat is unknown, and not a reason to worry."""
    draws = np.zeros((100, 10, 1))
    found = diagnose(draws)
    assert found.error[0] == pytest.approx(np.sqrt(0.5) / 1_000, rel=0.01)
    assert np.isnan(found.r_hat[0])
    assert found.worst_r_hat == 1.0
    stuck = draws + np.arange(10)[None, :, None]
    assert diagnose(stuck).worst_r_hat == np.inf
    few = diagnose(np.random.default_rng(0).normal(size=(2, 3, 1)))
    assert few.error[0] == np.inf


def test_effective_size_of_nothing_that_varies_is_unknown() -> None:
    assert np.isnan(effective_size(np.ones((10, 2, 1)))[0])


def test_estimates_print_two_digits_of_their_error() -> None:
    assert str(Estimate(153.2457, 0.0871)) == "153.246 ± 0.087"
    assert str(Estimate(12_345.6, 321.0)) == "12346 ± 321"
    assert str(Estimate.known(1 / 3)) == "0.333333"
    assert Estimate.known(2.0).interval() == (2.0, 2.0)
    low, high = Estimate(1.0, 0.1).interval()
    assert (low, high) == pytest.approx((1 - 0.196, 1 + 0.196), abs=1e-4)
    wide = Estimate(1.0, 0.1, freedom=3).interval()
    assert wide[1] == pytest.approx(1 + 0.1 * 3.1824, abs=1e-4)
    assert float(Estimate(1.5, 0.1)) == 1.5


@pytest.mark.parametrize("skewness", [0.05, 0.4, 1.0])
def test_intervals_of_skewed_averages_reach_further_up(skewness: float) -> None:
    """Hall's transformation g(x) = x + a x²/3 + a² x³/27 + a/6 takes the upper end back to Student's t."""
    low, high = Estimate(2.0, 0.1, "ais", freedom=30, skewness=skewness).interval(0.9)
    t, x, a = (2.0 - low) / 0.1, (2.0 - high) / 0.1, skewness
    assert t == pytest.approx(1.6973, abs=1e-4)
    assert x + a * x**2 / 3 + a**2 * x**3 / 27 + a / 6 == pytest.approx(-t)
    assert high - 2.0 > 2.0 - low
    down = Estimate(2.0, 0.1, "ais", freedom=30, skewness=-skewness).interval(0.9)
    assert down == pytest.approx((low, 4.0 - low))


def test_the_log_of_a_mean_weight_has_the_moments_of_the_weights() -> None:
    """Value, error, effective number, freedom and skewness of log mean(w) as they are defined, whatever the scale."""
    w = np.array([0.5, 1.0, 4.0, 0.2, 1.3, 0.9])
    found = log_mean(np.log(w) + 900.0, offset=3.0)
    centred = (w - w.mean()) / w.std()
    assert found.value == pytest.approx(903 + np.log(w.mean()))
    assert found.standard_error == pytest.approx(w.std(ddof=1) / w.mean() / np.sqrt(6))
    assert found.effective == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert (found.freedom, found.skewness) == pytest.approx((5, (centred**3).mean() / np.sqrt(6)))
    assert log_mean(np.full(3, -2.0)) == Estimate(-2.0, 0.0, "ais", 3.0, 2.0, 0.0)


def test_draws_that_are_not_numbers_have_no_error() -> None:
    """NaN is not presented as a value with error 0; draws of another shape are refused."""
    assert np.isnan(diagnose(np.full((10, 3, 2), np.nan)).error).all()
    with pytest.raises(FullspanError, match=r"draws of shape \(10, 3\) were given"):
        diagnose(np.ones((10, 3)))
