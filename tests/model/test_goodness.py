"""Measures of fit against their definitions on whole tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2

from fullspan.model.goodness import goodness, residuals


def table(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Counts with empty cells, and a positive distribution."""
    rng = np.random.default_rng(seed)
    return rng.poisson(3.0, 12).astype(float), rng.dirichlet(np.full(12, 5.0))


def test_measures_are_those_of_the_whole_table() -> None:
    """G2, X2 and the criteria, from the seen cells alone, equal the sums over all cells."""
    n, p = table()
    assert (n == 0).any()
    m, seen = n.sum() * p, n > 0
    found = goodness(n[seen], np.log(p[seen]), n_parameters=4, n_cells=12, nominal_df=6)
    likelihood = float(n @ np.log(p))
    g2 = 2 * sum(a * math.log(a / b) for a, b in zip(n, m, strict=True) if a)
    x2 = float(np.sum((n - m) ** 2 / m))
    assert found.log_likelihood == pytest.approx(likelihood, rel=1e-13)
    assert found.g2 == pytest.approx(g2, rel=1e-12)
    assert found.pearson == pytest.approx(x2, rel=1e-12)
    assert (found.df, found.nominal_df, found.n_cells, found.n_parameters) == (7, 6, 12, 4)
    assert found.aic == pytest.approx(-2 * likelihood + 8)
    assert found.bic == pytest.approx(-2 * likelihood + 4 * math.log(n.sum()))
    assert found.p_value == pytest.approx(chi2.sf(g2, 7))
    assert found.pearson_p_value == pytest.approx(chi2.sf(x2, 7))


def test_a_perfect_fit_has_no_deviance() -> None:
    """Rounding does not make it negative; without degrees of freedom there is no p-value."""
    n = np.array([3.0, 1.0, 7.0, 0.3])
    found = goodness(n, np.log(n / n.sum()), n_parameters=3, n_cells=4, nominal_df=0)
    assert found.g2 == pytest.approx(0.0, abs=1e-12)
    assert found.g2 >= 0.0
    assert 0.0 <= found.pearson < 1e-12
    assert found.df == 0
    assert math.isnan(found.p_value)
    assert math.isnan(found.pearson_p_value)


def test_open_cells_have_a_likelihood_but_no_deviance() -> None:
    n, p = table(1)
    found = goodness(n[n > 0], np.log(p[n > 0]), 2, 12, 9, complete=False)
    assert found.log_likelihood == pytest.approx(float(n @ np.log(p)))
    assert math.isnan(found.g2)
    assert math.isnan(found.pearson)
    assert math.isnan(found.p_value)


@pytest.mark.parametrize("scale", [1e-8, 1e12])
def test_weights_may_be_tiny_or_huge(scale: float) -> None:
    """Measures that are sums over rows scale with the weights."""
    n, p = table(2)
    seen = n > 0
    one, many = (goodness(f * n[seen], np.log(p[seen]), 3, 12, 8) for f in (1.0, scale))
    for name in ("log_likelihood", "g2", "pearson"):
        assert getattr(many, name) == pytest.approx(scale * getattr(one, name), rel=1e-9)


def test_residuals_add_up_to_their_statistics() -> None:
    """Squares of Pearson's sum to X2, of deviance residuals to G2; raw ones to 0; signs are those of n - m."""
    n, p = table(3)
    m = n.sum() * p
    found = goodness(n[n > 0], np.log(p[n > 0]), 3, 12, 8)
    raw, pearson, deviance = (residuals(n, m, kind) for kind in ("raw", "pearson", "deviance"))
    assert raw.sum() == pytest.approx(0.0, abs=1e-12)
    assert np.sum(pearson**2) == pytest.approx(found.pearson)
    assert np.sum(deviance**2) == pytest.approx(found.g2)
    assert (np.sign(pearson) == np.sign(raw)).all()
    assert (np.sign(deviance) == np.sign(raw)).all()
    np.testing.assert_allclose(residuals(n, m), pearson)


def test_cells_off_the_support_have_no_residual() -> None:
    n, m = np.array([2.0, 0.0, 3.0]), np.array([2.5, 0.0, 2.5])
    for kind in ("raw", "pearson", "deviance"):
        assert residuals(n, m, kind)[1] == 0.0


def test_an_unknown_kind_of_residual_is_refused() -> None:
    with pytest.raises(ValueError, match="kind is 'anscombe'; choose 'raw', 'pearson' or 'deviance'"):
        residuals(np.ones(2), np.ones(2), "anscombe")
