"""Estimated answers: near the exact ones, with errors that say how near."""

from __future__ import annotations

import numpy as np
import pytest

from fullspan.data import Space
from fullspan.errors import QueryError
from fullspan.model import FactorGraph, LogLinear
from fullspan.model.algebra import Basis
from fullspan.model.estimate import Estimate
from fullspan.query import Table
from fullspan.query.distributions import LogLinearDistribution, SampledDistribution
from generic import weights

CARDS = (2, 3, 2, 4)


@pytest.fixture
def model() -> LogLinear:
    basis = Basis("indicator", CARDS)
    theta = weights(basis, 2, k=20)
    terms = tuple(map(basis.term, theta))
    return LogLinear(Space.of_cards(CARDS), basis, terms, np.array(list(theta.values())), _log_z(basis, theta))


def _log_z(basis: Basis, theta: dict[int, float]) -> float:
    table = np.zeros(basis.n_states)
    for y, weight in theta.items():
        table[y] = weight
    basis.synthesise(table)
    return float(np.logaddexp.reduce(table))


QUESTIONS = [
    "P(x0=1)",
    "P(x0=1, x2=0 | x1=2)",
    "P(x3=1 | x1 != 0)",
    "P(x1 | x3 in {0, 2}, x0=1)",
    "P(x1, x0)",
    "P(x0, x2=1 | x1=1)",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_agree_with_exact_ones_within_their_errors(model: LogLinear, question: str) -> None:
    exact = LogLinearDistribution(model).ask(question)
    found = SampledDistribution(model, np.random.default_rng(0)).ask(question)
    if isinstance(exact, float):
        assert isinstance(found, Estimate)
        assert not found.exact
        assert abs(found.value - exact) < 4 * found.error
        assert 0 < found.error < 0.02
        return
    assert isinstance(found, Table)
    assert found.errors is not None
    assert found.names == exact.names
    assert (np.abs(found.values - exact.values) < 4 * found.errors).all()
    assert ((found.errors > 0) & (found.errors < 0.02)).all()
    assert "±" in str(found)
    assert "±" not in str(exact)


def test_errors_are_those_of_repeated_answers(model: LogLinear) -> None:
    """Answers to a ratio with selected draws scatter by about the errors they state."""
    runs = [
        SampledDistribution(model, np.random.default_rng(seed), chains=20, draws=100).ask("P(x0=1 | x1 != 0)")
        for seed in range(60)
    ]
    values = [run.value for run in runs if isinstance(run, Estimate)]
    errors = [run.error for run in runs if isinstance(run, Estimate)]
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.3)


def test_all_marginals_come_from_one_walk(model: LogLinear) -> None:
    oracle, exact = SampledDistribution(model, np.random.default_rng(1)), LogLinearDistribution(model)
    _, shares, errors = oracle.marginals({"x1": 2})
    assert errors is not None
    assert shares["x1"].tolist() == [0.0, 0.0, 1.0]
    assert (errors["x1"] == 0).all()
    for name in ("x0", "x2", "x3"):
        assert (np.abs(shares[name] - exact.conditional(name, {"x1": 2}).values) < 4 * errors[name]).all()
    assert 0.9 < oracle.r_hat < 1.05
    assert oracle.log_z.exact
    assert oracle.log_z.value == pytest.approx(model.log_z)


def test_samples_have_the_frequencies_of_the_model(model: LogLinear) -> None:
    """2,000 rows of 500 chains given x1=2, with diagnostics of the energy."""
    walks, rng = SampledDistribution(model, np.random.default_rng(0)), np.random.default_rng(0)
    states = walks.sample(2_000, rng, {"x1": 2})
    assert states.shape == (2_000, 4)
    assert (states[:, 1] == 2).all()
    exact = LogLinearDistribution(model).conditional("x3", {"x1": 2}).values
    found = np.bincount(states[:, 3], minlength=4) / 2_000
    assert (np.abs(found - exact) < 4.5 * np.sqrt(exact / 2_000)).all()
    assert walks.drawn is not None
    assert walks.drawn.worst_r_hat < 1.03
    assert len(walks.sample(0, rng)) == 0


def test_bad_questions_are_refused(model: LogLinear) -> None:
    oracle = SampledDistribution(model, np.random.default_rng(0), chains=4, draws=10)
    with pytest.raises(QueryError, match="a sample of -1 states"):
        oracle.sample(-1, oracle.rng)
    with pytest.raises(QueryError, match="give one level for each variable"):
        oracle.sample(5, oracle.rng, {"x1": [0, 1]})
    strong = np.array([[0.0, -30.0, -30.0], [0.0, -30.0, -30.0]])
    rare = FactorGraph(Space.of_cards((2, 3)), ((0, 1),), (strong,))
    with pytest.raises(QueryError, match="hardly any draw agrees"):
        SampledDistribution(rare, np.random.default_rng(0), chains=4, draws=50).ask("P(x0=1 | x1 != 0)")
    wide = FactorGraph(Space.of_cards((2,) * 13), ((0,),), (np.zeros(2),))
    with pytest.raises(QueryError, match="8,192 cells"):
        SampledDistribution(wide, np.random.default_rng(0)).conditional([f"x{i}" for i in range(13)])
