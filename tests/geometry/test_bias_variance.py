"""Bias and variance: the theorem on every draw, and |B|/2N where N is large."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fullspan as fs
from fullspan import geometry as g
from fullspan.data import Space
from fullspan.errors import FullspanError
from fullspan.model.algebra import Basis


def manifold(order: int = 1) -> g.Manifold:
    basis = Basis("monomial", (2,) * 5)
    terms = tuple(t for t in map(basis.term, range(1, 32)) if len(t) <= order)
    return g.Manifold(Space.of_cards((2,) * 5), basis, terms)


def truth(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(32, 3.0))


def test_the_variance_is_half_a_weight_per_row() -> None:
    """E KL(P*_B || P_B) -> |B| / 2N (to four standard errors), and the bias is KL(P* || P*_B)."""
    m, p = manifold(), truth()
    found = g.bias_variance(m, p, n_rows=20_000, repeats=200, random_state=0)
    error = found.spread / np.sqrt(200)
    assert abs(found.variance - found.bound) < 4 * error + 0.2 * found.bound
    assert found.bound == 5 / 40_000
    best = np.exp(g.m_projection(p, m).log_p)
    assert np.isclose(found.bias, p @ np.log(p / best), atol=1e-10)
    assert found.n_infinite == 0
    assert "bias" in repr(found)


def test_off_the_model_the_variance_is_a_trace() -> None:
    """E KL(P*_B || P_B) -> tr(g^-1 C) / 2N, C the covariance of the terms under the truth; it differs from |B|/2N."""
    m, p = manifold(2), np.random.default_rng(0).dirichlet(np.full(32, 0.1))
    p = (p + 0.002) / (p + 0.002).sum()
    features = m.sums.features()
    truth_covariance = features.T @ (features * p[:, None]) - np.outer(p @ features, p @ features)
    trace = np.trace(g.m_projection(p, m).natural_gradient(truth_covariance))
    found = g.bias_variance(m, p, 100_000, 200, 0)
    error = found.spread / np.sqrt(200)
    assert abs(found.variance - trace / 200_000) < 4 * error
    assert abs(found.variance - found.bound) > 4 * error


def test_more_terms_have_less_bias_and_more_variance() -> None:
    found = [g.bias_variance(manifold(order), truth(), 2000, 40, 1) for order in (1, 2, 3)]
    assert found[0].bias > found[1].bias > found[2].bias
    assert found[0].variance < found[1].variance < found[2].variance


def test_the_total_is_the_divergence_from_the_truth() -> None:
    """The triangle P*, P*_B, P_B is right-angled: the sum of the parts is E KL(P* || P_B) on the same draws."""
    m, p = manifold(2), truth(1)
    found = g.bias_variance(m, p, 500, 20, 3)
    rng, direct = np.random.default_rng(3), []
    for _ in range(20):
        share = rng.multinomial(500, p) / 500
        fit = np.exp(g.m_projection(share, m).log_p)
        direct.append(p @ np.log(p / fit))
    assert np.isclose(found.total, np.mean(direct), rtol=1e-6)


def test_the_bootstrap_takes_the_rows_for_the_truth() -> None:
    rows = (np.random.default_rng(4).random((400, 4)) < 0.5).astype(int)
    for machine in (fs.BoltzmannMachine(order=1), fs.TruncatedBoltzmannMachine(max_order=1)):
        machine.fit(rows)
        found = g.bias_variance(machine, repeats=30, random_state=0)
        assert found.n_rows == 400
        assert np.isclose(found.bias, machine.divergence_, atol=1e-8)
        assert 0.3 * found.bound < found.variance < 3 * found.bound


def test_fits_at_infinity_are_counted_and_left_out() -> None:
    p = np.full(32, 1e-6)
    p[0] = 1 - p[1:].sum()
    found = g.bias_variance(manifold(), p, 10, 5, 0)
    assert found.n_infinite == 5
    assert np.isnan(found.variance)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"truth": [0.5, 0.5], "n_rows": 10}, "probabilities of the 32 states"),
        ({}, "needs an estimator"),
        ({"truth": np.full(32, 1 / 32)}, "n_rows is None"),
        ({"truth": np.full(32, 1 / 32), "n_rows": 0}, "n_rows is 0"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        g.bias_variance(manifold(), **arguments)  # type: ignore[arg-type]


def test_a_learning_curve_tells_rows_from_terms() -> None:
    """Pairs matter and rows abound: the richer model helps. Few rows: rows help."""
    rng = np.random.default_rng(5)
    a = rng.integers(2, size=(2000, 1))
    rows = np.where(rng.random((2000, 4)) < 0.8, a, 1 - a)
    levels = {f"x{i}": [0, 1] for i in range(4)}
    poor, rich = (fs.BoltzmannMachine(order=order, levels=levels, l2=1e-4) for order in (1, 2))
    curve = g.learning_curve(poor, rows, repeats=3, richer=rich, random_state=0)
    assert curve.from_terms > 0.2
    assert "more terms" in curve.advice
    assert np.allclose(curve.bounds, 4 / (2 * np.array(curve.sizes)))
    assert curve.train[0] > curve.train[-1]
    full = fs.BoltzmannMachine(order=4, levels=levels, l2=1e-4)
    few = g.learning_curve(full, rows[:80], sizes=[20, 50], repeats=4, random_state=0)
    assert few.advice.startswith("more rows")
    assert "held out" in repr(few)
    with pytest.raises(FullspanError, match="sizes are"):
        g.learning_curve(poor, rows, sizes=[5000])


def test_a_learning_curve_of_a_frame_is_that_of_its_rows() -> None:
    """Names of columns reach the estimator, and the scores are those of the array."""
    rng = np.random.default_rng(5)
    rows = (rng.random((120, 3)) < [0.3, 0.5, 0.6]).astype(int)
    by_name, by_place = (
        g.learning_curve(
            fs.BoltzmannMachine(l2=0.01, levels={name: [0, 1] for name in names}),
            X,
            sizes=[40],
            repeats=2,
            random_state=0,
        )
        for names, X in (("abc", pd.DataFrame(rows, columns=list("abc"))), (("x0", "x1", "x2"), rows))
    )
    assert np.allclose(by_name.test, by_place.test)
    with pytest.raises(FullspanError, match="read it first"):
        g.learning_curve(fs.BoltzmannMachine(), "rows.csv")


def test_a_learning_curve_says_when_rows_held_out_are_impossible() -> None:
    rows = np.eye(12, dtype=int)[np.arange(60) % 12]
    levels = {f"x{i}": [0, 1] for i in range(12)}
    machine = fs.TruncatedBoltzmannMachine(min_support=1, l2=0.1, levels=levels, max_order=1)
    curve = g.learning_curve(machine, rows, sizes=[4], repeats=2, random_state=0)
    assert curve.test[0] == -np.inf
    assert "unseen= above 0" in curve.advice
