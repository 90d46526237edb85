"""Estimated answers: near the exact ones, with errors that say how near."""

from __future__ import annotations

import numpy as np
import pytest

from fullspan.data.space import Space
from fullspan.errors import QueryError
from fullspan.model.algebra.basis import Basis
from fullspan.model.estimate import Estimate
from fullspan.model.graph import FactorGraph
from fullspan.model.loglinear import LogLinear
from fullspan.query.answer import Oracle
from fullspan.query.language.result import Table
from fullspan.query.sampled import SampledOracle
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
    exact = Oracle(model).ask(question)
    found = SampledOracle(model, np.random.default_rng(0)).ask(question)
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
        SampledOracle(model, np.random.default_rng(seed), chains=20, draws=100).ask("P(x0=1 | x1 != 0)")
        for seed in range(60)
    ]
    values = [run.value for run in runs if isinstance(run, Estimate)]
    errors = [run.error for run in runs if isinstance(run, Estimate)]
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.3)


def test_all_marginals_come_from_one_walk(model: LogLinear) -> None:
    oracle, exact = SampledOracle(model, np.random.default_rng(1)), Oracle(model)
    found = oracle.marginals({"x1": 2})
    assert found["x1"].values.tolist() == [0.0, 0.0, 1.0]
    assert found["x1"].errors is not None
    assert (found["x1"].errors == 0).all()
    for name in ("x0", "x2", "x3"):
        errors = found[name].errors
        assert errors is not None
        assert (np.abs(found[name].values - exact.conditional(name, {"x1": 2}).values) < 4 * errors).all()
    assert 0.9 < oracle.r_hat < 1.05
    assert oracle.log_z().exact
    assert oracle.log_z().value == pytest.approx(model.log_z)


def test_samples_have_the_frequencies_of_the_model(model: LogLinear) -> None:
    """2,000 rows of 500 chains given x1=2, with diagnostics of the energy."""
    drawn = SampledOracle(model, np.random.default_rng(0)).sample(2_000, {"x1": 2})
    assert drawn.states.shape == (2_000, 4)
    assert (drawn.states[:, 1] == 2).all()
    exact = Oracle(model).conditional("x3", {"x1": 2}).values
    found = np.bincount(drawn.states[:, 3], minlength=4) / 2_000
    assert (np.abs(found - exact) < 4.5 * np.sqrt(exact / 2_000)).all()
    assert drawn.diagnostics.worst_r_hat < 1.03
    assert len(SampledOracle(model, np.random.default_rng(0)).sample(0).states) == 0


def test_bad_questions_are_refused(model: LogLinear) -> None:
    oracle = SampledOracle(model, np.random.default_rng(0), chains=4, draws=10)
    with pytest.raises(QueryError, match="a sample of -1 states"):
        oracle.sample(-1)
    with pytest.raises(QueryError, match="one level each"):
        oracle.sample(5, {"x1": [0, 1]})
    strong = np.array([[0.0, -30.0, -30.0], [0.0, -30.0, -30.0]])
    rare = FactorGraph(Space.of_cards((2, 3)), ((0, 1),), (strong,))
    with pytest.raises(QueryError, match="hardly any draw agrees"):
        SampledOracle(rare, np.random.default_rng(0), chains=4, draws=50).ask("P(x0=1 | x1 != 0)")
    wide = FactorGraph(Space.of_cards((2,) * 13), ((0,),), (np.zeros(2),))
    with pytest.raises(QueryError, match="8,192 cells"):
        SampledOracle(wide, np.random.default_rng(0)).conditional([f"x{i}" for i in range(13)])
