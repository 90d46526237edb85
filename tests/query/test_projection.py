"""I-projection on margins, for every kind of model: against a projection of the table of all states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fullspan as fs
from contract.kinds import KINDS
from fullspan.errors import DataError, FullspanError, TooLargeError
from fullspan.estimators.explain.shown import summary_lines
from fullspan.query.distributions import (
    AveragedDistribution,
    GraphDistribution,
    LogLinearDistribution,
    MixtureDistribution,
)
from fullspan.query.projection import factors_for

VOTES = fs.datasets.house_votes_path()
REMADE: dict[str, Callable[[Any], Any]] = {
    "table": LogLinearDistribution,
    "elimination": LogLinearDistribution,
    "hidden variables": lambda model: LogLinearDistribution(model, n_hidden=1),
    "averaged": AveragedDistribution,
    "mixture": MixtureDistribution,
    "network": GraphDistribution,
}
RNG = np.random.default_rng(4)


def projected(p: np.ndarray, margins: dict[tuple[int, ...], np.ndarray]) -> np.ndarray:
    """Iterative proportional fitting of the whole table."""
    for _ in range(4000):
        for scope, target in margins.items():
            where = sorted(scope)
            now = p.sum(axis=tuple(a for a in range(p.ndim) if a not in scope))
            wanted = np.transpose(target, np.argsort(scope))
            factor = np.divide(wanted, now, out=np.zeros_like(now), where=now > 0)
            p = p * factor.reshape([p.shape[a] if a in where else 1 for a in range(p.ndim)])
    return p


@pytest.mark.parametrize("kind", KINDS)
def test_the_projection_is_that_of_the_table_of_all_states(kind: str) -> None:
    distribution, p = KINDS[kind]()
    if kind not in REMADE and kind != "decimated":
        with pytest.raises(
            FullspanError, match=r"margins of this kind of model cannot be changed exactly|margins cannot be given"
        ):
            distribution.reweighed({(0,): np.zeros(p.shape[0])})
        return
    if kind == "decimated":
        return  # a log-linear model like the others
    one = RNG.dirichlet(np.ones(p.shape[0]))
    before = p.sum(axis=tuple(a for a in range(p.ndim) if a not in (0, 2)))
    two = before.T * RNG.uniform(0.5, 1.5, before.T.shape)
    two = two / two.sum(axis=0) * one  # agrees on the shared variable
    margins = {(0,): one, (2, 0): two}
    changed = REMADE[kind](distribution.reweighed(factors_for(distribution, margins)))
    expected = projected(p, margins)
    np.testing.assert_allclose(changed.joint(), expected, rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(changed.cells((2, 0), {}, {}), two, rtol=1e-9)
    drawn = changed.sample(4000, np.random.default_rng(0))
    assert np.abs(np.bincount(drawn[:, 0], minlength=p.shape[0]) / 4000 - one).max() < 0.05


@pytest.fixture(scope="module")
def model() -> Any:
    columns = ["party", "water", "physician", "crime", "nicaragua"]
    return fs.FullSpan(missing="drop", columns=columns, verbose=0).fit(VOTES)


def test_a_new_model_that_saves_samples_and_answers(model: Any, tmp_path: Any) -> None:
    """What is conditional on all changed variables stays; the old model is as it was."""
    joint = {("n", "n"): 0.1, ("n", "y"): 0.3, ("y", "n"): 0.4, ("y", "y"): 0.2}
    before = model.probability("physician=y")
    new = model.with_margins({"party": {"democrat": 0.3, "republican": 0.7}, ("crime", "nicaragua"): joint})
    assert type(new) is fs.FullSpan
    assert new.probability("party=republican") == pytest.approx(0.7, rel=1e-10)
    for (crime, nicaragua), share in joint.items():
        assert new.probability(f"crime={crime}, nicaragua={nicaragua}") == pytest.approx(share, rel=1e-10)
    question = "physician=y, water=n | party=democrat, crime=y, nicaragua=n"
    assert new.probability(question) == pytest.approx(model.probability(question), rel=1e-10)
    assert model.probability("physician=y") == before != pytest.approx(new.probability("physician=y"), abs=1e-3)
    new.save(tmp_path / "new.fsm")
    read = fs.load(tmp_path / "new.fsm")
    assert read.probability("physician=y") == pytest.approx(new.probability("physician=y"), rel=1e-12)
    assert set(read.sample(20, random_state=0).column("party").to_pylist()) <= {"democrat", "republican"}
    assert "projected on the margins (party), (crime, nicaragua)" in summary_lines(read.fitted_)[-1]


def test_a_share_of_0_excludes(model: Any) -> None:
    new = model.with_margins({"party": {"democrat": 1, "republican": 0}})
    assert new.probability("party=republican") == 0
    assert new.probability("crime=y") == pytest.approx(model.probability("crime=y | party=democrat"), rel=1e-10)


@pytest.mark.parametrize(
    ("margins", "message"),
    [
        ({"party": {"democrat": 1}}, "no count for party=republican"),
        ({"party": {"democrat": 1, "republican": 1, "green": 1}}, "no level 'green'"),
        ({"pary": {"democrat": 1, "republican": 1}}, r"no variable 'pary' \(did you mean 'party'\?\)"),
        ({"party": {"democrat": 1, "republican": 1}, "crime": {"y": 1, "n": 2}}, "contradictory margins"),
        ({"party": {"democrat": -1, "republican": 1}}, "count -1 for party=democrat"),
        ({"party": {"democrat": 0.3, "republican": 0.6}}, "sums to 0.9; shares sum to 1"),
        ({"party": 3}, "give the count of each level"),
        ({"crime": {"y": 1, "n": 0}, "water": {"y": 0, "n": 1}, ("crime", "water"): {
            ("y", "y"): 1, ("y", "n"): 0, ("n", "y"): 0, ("n", "n"): 0}}, "contradictory margins"),
    ],
)  # fmt: skip
def test_bad_margins_are_refused(model: Any, margins: Any, message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        model.with_margins(margins)


def test_margins_that_agree_pair_by_pair_but_have_no_distribution(model: Any) -> None:
    """Three two-level variables cannot disagree in each of their three pairs."""
    differ = {("y", "n"): 0.5, ("n", "y"): 0.5, ("y", "y"): 0, ("n", "n"): 0}
    with pytest.raises(DataError, match="contradictory margins"):
        model.with_margins({("crime", "water"): differ, ("water", "nicaragua"): differ, ("crime", "nicaragua"): differ})


def test_too_many_combinations_are_refused() -> None:
    space = fs.Space.of_cards([2] * 21)
    from fullspan.model import LogLinear
    from fullspan.model.algebra import Basis

    flat = LogLinear(space, Basis("walsh", space.cards), (), np.zeros(0), 21 * np.log(2))
    half = np.array([0.4, 0.6])
    with pytest.raises(TooLargeError, match="2,097,152 combinations"):
        factors_for(LogLinearDistribution(flat), {(i,): half for i in range(21)})
