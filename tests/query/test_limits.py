"""Oracles of models with hidden variables, and of limits in which some states have probability 0."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fullspan.data import Space
from fullspan.errors import DataError, QueryError
from fullspan.model import LogLinear
from fullspan.model.algebra import Basis
from fullspan.query.distributions import LogLinearDistribution
from fullspan.query.language import events
from query.enumeration import ALL_BASES, CARDS, Enumerated, normalised, random_model

LIMIT = (((0, 1),), ((1, 1),), ((0, 1), (1, 1)), ((1, 1), (2, 2)))
WEIGHTS = np.array([-1024.3, 0.4, 1024.0, -0.7])
"""x0=1 never comes without x1=1."""


def limit() -> LogLinearDistribution:
    return LogLinearDistribution(normalised(Space.of_cards((2, 2, 3)), "monomial", LIMIT, WEIGHTS))


@pytest.mark.parametrize("basis", ALL_BASES)
def test_the_joint_table_is_that_of_the_visible_variables(basis):
    model = random_model(CARDS, basis, 4)
    p = Enumerated.of(model).p
    np.testing.assert_allclose(LogLinearDistribution(model).joint(), p, rtol=1e-12)
    np.testing.assert_allclose(LogLinearDistribution(model, n_hidden=2).joint(), p.sum(axis=(2, 3)), rtol=1e-12)


@pytest.mark.parametrize("basis", ALL_BASES)
def test_rows_are_of_the_visible_variables(basis):
    """Hidden variables are summed out of log-probabilities, modes and completions, and are in no sample."""
    model = random_model(CARDS, basis, 7, scale=1.5)
    oracle = LogLinearDistribution(model, n_hidden=1)
    p = Enumerated.of(model).p.sum(axis=3)
    assert oracle.visible.cards == CARDS[:3]
    codes = np.array([[0, 1, 3], [1, -1, 2], [-1, -1, 0], [-1, -1, -1]])
    cells = [p[0, 1, 3], p[1, :, 2].sum(), p[:, :, 0].sum(), 1.0]
    np.testing.assert_allclose(np.exp(oracle.log_prob(codes)), cells, rtol=1e-9)
    filled = oracle.impute(codes)
    assert filled.shape == (4, 3)
    for row, best in zip(filled, [p[0, 1, 3], p[1, :, 2].max(), p[:, :, 0].max(), p.max()], strict=True):
        assert math.isclose(p[tuple(row)], best, rel_tol=1e-9)
    assert oracle.sample(5, np.random.default_rng(0), {"x3": 1}).shape == (5, 3)
    mean = oracle.impute(codes, "mean")
    assert list(mean) == ["x0", "x1", "x2"]
    np.testing.assert_allclose(mean["x1"][2], p[:, :, 0].sum(axis=0) / p[:, :, 0].sum(), rtol=1e-9)
    state, log_prob = oracle.mode({"x1": 2})
    assert math.isclose(p[tuple(state)], p[:, 2].max(), rel_tol=1e-9)
    assert math.isclose(math.exp(log_prob), p[:, 2].max() / p[:, 2].sum(), rel_tol=1e-9)
    with pytest.raises(DataError, match=r"\(m, 3\) is needed"):
        oracle.log_prob(np.zeros((1, 4), dtype=int))


def test_a_limit_answers_like_the_distribution_it_stands_for():
    oracle = limit()
    assert oracle.probability("x0=1, x1=0") == 0
    assert oracle.probability("x1=0 | x0=1") == 0
    assert math.isclose(oracle.probability("x1=1 | x0=1"), 1)
    p = np.exp(np.array([[0.0, 0.0, 0.0], [0.4, 0.4, -0.3]]))
    p = np.stack([p, np.exp(np.array([[-np.inf] * 3, [0.1, 0.1, -0.6]]))])
    np.testing.assert_allclose(oracle.joint(), p / p.sum(), rtol=1e-10)


@pytest.mark.parametrize(
    "ask",
    [
        lambda o: o.probability("x2=1 | x0=1, x1=0"),
        lambda o: o.probability({"x2": 1}, {"x0": 1, "x1": [0]}),
        lambda o: o.ask("P(x2 | x0=1, x1=0)"),
        lambda o: o.conditional("x2", {"x0": 1, "x1": 0}),
        lambda o: o.entropy("x2", {"x0": 1, "x1": 0}),
        lambda o: o.mutual_information("x2", "x1", {"x0": 1, "x1": 0}),
        lambda o: o.mode({"x0": 1, "x1": 0}),
        lambda o: o.sample(3, np.random.default_rng(0), {"x0": 1, "x1": 0}),
        lambda o: o.conditionals([[-1, -1, 0]], [[1, 0, -1]]),
        lambda o: o.impute([[0, 0, -1], [1, 0, -1]]),
        lambda o: o.impute([[1, 0, -1]], "mean"),
        lambda o: o.impute([[1, 0, -1]], "draw", np.random.default_rng(0)),
    ],
)
def test_nothing_follows_from_the_impossible(ask):
    with pytest.raises(QueryError, match=r"has probability 0 under this model \(log-probability -102\d\)"):
        ask(limit())


def test_the_condition_is_named():
    with pytest.raises(QueryError, match=r"the condition x0=1, x1=0 has"):
        limit().conditional("x2", {"x0": 1, "x1": 0})
    with pytest.raises(QueryError, match="what row 2 says has"):
        limit().impute([[0, 0, -1], [1, 0, -1]])


def test_a_condition_that_is_only_improbable_is_answered():
    """Down to the limit, and right to rounding."""
    model = normalised(Space.of_cards((2, 2)), "monomial", (((0, 1),), ((0, 1), (1, 1))), np.array([-590.0, 1.5]))
    expected = math.exp(1.5) / (1 + math.exp(1.5))
    assert events.IMPOSSIBLE < model.log_prob([[1, 0]])[0] < -589
    assert math.isclose(LogLinearDistribution(model).probability("x1=1 | x0=1"), expected, rel_tol=1e-12)
    assert LogLinearDistribution(model).mode({"x0": 1}).state.tolist() == [1, 1]


def test_a_row_of_a_thousand_columns_is_improbable_and_not_impossible():
    """Each of its states has about 2^-1000; what follows from one is answered all the same."""
    n, weight = 1000, 0.3
    theta = np.where(np.arange(n) % 2, 0.7, weight)
    log_z = float(np.log(2 * np.cosh(theta)).sum())
    oracle = LogLinearDistribution(
        LogLinear(Space.of_cards((2,) * n), Basis("walsh", (2,) * n), tuple(((i, 1),) for i in range(n)), theta, log_z)
    )
    row = np.arange(n)[None, :] // 2 % 2
    row[0, 5] = -1
    assert oracle.may_exclude
    assert oracle.log_prob(row)[0] < events.IMPOSSIBLE
    assert oracle.impute(row).tolist()[0][5] == 0
    given = {f"x{i}": int(x) for i, x in enumerate(row[0]) if i != 5}
    assert math.isclose(oracle.conditional("x5", given).values[0], 1 / (1 + math.exp(-1.4)), rel_tol=1e-9)


def test_small_weights_exclude_nothing():
    model = random_model((2, 2, 2), "walsh", 1)
    assert model.basis == Basis("walsh", (2, 2, 2))
    assert not LogLinearDistribution(model).may_exclude
    assert limit().may_exclude
