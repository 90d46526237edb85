"""I-projection on margins, for every kind of model: against a projection of the table of all states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fullspan as fs
from contract.kinds import KINDS
from fullspan.engine.elimination import narrowed
from fullspan.errors import DataError, FullspanError, QueryError, TooLargeError
from fullspan.estimators.explain import summary_lines
from fullspan.query.distributions import LogLinearDistribution
from fullspan.query.projection import factors_for, marginals_with
from trees import generic_tree

VOTES = fs.datasets.house_votes_path()
COLUMNS = ["party", "water", "physician", "crime", "nicaragua"]
REFUSED = {
    ("truncated", True): "needs a weight of x2=2, and it does not list that state",
    ("truncated, unseen", False): "fit it with unseen=0",
    ("truncated, unseen", True): "fit it with unseen=0",
    ("restricted", True): "no weight between two visible variables",
}
"""What a kind of model has no factor for: with a margin of one variable, or with one of a pair as well."""
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


@pytest.mark.parametrize("several", [False, True], ids=["one variable", "a pair"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_projection_is_that_of_the_table_of_all_states(kind: str, several: bool) -> None:
    """The marginals of every kind, and its new model where its kind is closed under the factors."""
    distribution, p = KINDS[kind]()
    one = RNG.dirichlet(np.ones(p.shape[0]))
    before = p.sum(axis=tuple(a for a in range(p.ndim) if a not in (0, 2)))
    two = before.T * RNG.uniform(0.5, 1.5, before.T.shape)
    two = two / two.sum(axis=0) * one  # agrees on the shared variable
    margins = {(0,): one, (2, 0): two} if several else {(0,): one}
    expected = projected(p, margins)
    found = marginals_with(distribution, margins)
    for i, name in enumerate(distribution.visible.names):
        own = expected.sum(axis=tuple(a for a in range(p.ndim) if a != i))
        np.testing.assert_allclose(found.shares[name], own, rtol=1e-9, atol=1e-14)
    factors = factors_for(distribution, margins)
    if (refused := REFUSED.get((kind, several))) is not None:
        with pytest.raises(FullspanError, match=refused):
            distribution.reweighed(factors)
        return
    changed = distribution.renewed(factors)
    np.testing.assert_allclose(changed.joint(), expected, rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(changed.cells((0,), {}, {}), one, rtol=1e-9)
    if changed.exact:  # chains of a machine in layers are long
        drawn = changed.sample(4000, np.random.default_rng(0))
        assert np.abs(np.bincount(drawn[:, 0], minlength=p.shape[0]) / 4000 - one).max() < 0.05


def test_one_margin_and_marginals_of_many_states_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mixing the marginals given each state, and those of the new model."""
    from fullspan.query import projection

    distribution, p = KINDS["stacked"]()
    margins = {(1,): RNG.dirichlet(np.ones(p.shape[1]))}
    mixed = marginals_with(distribution, margins).shares
    monkeypatch.setattr(projection, "FEW", 0)
    for name, shares in marginals_with(distribution, margins).shares.items():
        np.testing.assert_allclose(shares, mixed[name], rtol=1e-12)


def test_a_wide_margin_cuts_a_hidden_tree_into_few_parts_only() -> None:
    tree = generic_tree(1, (40, 40, 3))
    with pytest.raises(TooLargeError, match="into 64,000 parts, the limit is 4,096"):
        list(narrowed(generic_tree(1, (40, 40, 40, 2)), {(0, 1, 2, 3): np.zeros((40, 40, 40, 2))}))
    assert len(list(narrowed(tree, {(0, 1): np.zeros((40, 40)), (1, 2): np.zeros((40, 3))}))) == 40


@pytest.fixture(scope="module")
def model() -> Any:
    return fs.FullSpan(missing="drop", columns=COLUMNS, verbose=0).fit(VOTES)


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


ESTIMATORS: dict[str, tuple[Any, str]] = {
    "tree": (lambda: fs.ChowLiuTree(missing="drop", columns=COLUMNS), "ChowLiuTree"),
    "hidden tree": (lambda: fs.HiddenChowLiuTree(2, missing="drop", columns=COLUMNS, tol=0.1), "HiddenChowLiuTree"),
    "mixture": (
        lambda: fs.FullSpanMixture([(2, 1)], missing="drop", columns=COLUMNS, restarts=1, max_iter=3),
        "FullSpanMixture",
    ),
    "truncated": (
        lambda: fs.TruncatedBoltzmannMachine(missing="drop", columns=COLUMNS, min_support=1e-9, unseen=0.0),
        "TruncatedBoltzmannMachine",
    ),
    "restricted": (
        lambda: fs.RestrictedBoltzmannMachine(2, missing="drop", columns=COLUMNS, max_iter=2, log_z="exact"),
        "RestrictedBoltzmannMachine",
    ),
    "average": (lambda: fs.FullSpan(average=2, missing="drop", columns=COLUMNS, random_state=0), "FullSpan"),
}


@pytest.mark.parametrize("pair", [False, True], ids=["one variable", "a pair"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_kind_saves_what_it_became(name: str, pair: bool, tmp_path: Any) -> None:
    make, kept = ESTIMATORS[name]
    margins: dict[Any, Any] = {"party": {"democrat": 0.3, "republican": 0.7}}
    if pair:
        joint = {("n", "n"): 0.1, ("n", "y"): 0.3, ("y", "n"): 0.4, ("y", "y"): 0.2}
        margins[("crime", "water")] = joint
    old = make().fit(VOTES)
    if pair and name == "restricted":
        with pytest.raises(FullspanError, match=r"\(crime, water\) would need some"):
            old.with_margins(margins)
        return
    new = old.with_margins(margins)
    assert type(new).__name__ == ("FullSpanMixture" if pair and name in ("tree", "hidden tree") else kept)
    new.save(tmp_path / "new.fsm")
    read = fs.load(tmp_path / "new.fsm")
    assert type(read) is type(new)
    for model in (new, read):
        assert model.distribution_.probability("party=republican") == pytest.approx(0.7, rel=1e-9)
        if pair:
            assert model.distribution_.probability("crime=y, water=n") == pytest.approx(0.4, rel=1e-9)
        said = str(model._shown(5, whole=False).blocks[0])
        assert "projected on the margins (party)" in said
        assert "nan" not in said
    question = "physician=y | party=republican" + (", crime=y, water=n" if pair else "")
    before = old.distribution_.probability(question)
    assert read.distribution_.probability(question) == pytest.approx(before, rel=1e-9)


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


@pytest.mark.parametrize("kind", ["network", "mixture", "table"])
def test_nothing_is_answered_given_what_a_margin_excludes(kind: str) -> None:
    """A margin of 0 leaves a probability of e^-1000 in a network, which is as good as none."""
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=60)
    rows = {"a": a, "b": a ^ (rng.random(60) < 0.3), "c": rng.integers(3, size=60)}
    estimator = fs.FullSpanMixture(runs=[(2, 1)], restarts=1, random_state=0) if kind == "mixture" else fs.FullSpan()
    model: Any = estimator.fit(rows)
    changed = (fs.GraphModel.of(model) if kind == "network" else model).with_margins({"a": {0: 1, 1: 0}})
    for ask in (
        lambda: changed.conditional("b", {"a": 1}),
        lambda: changed.probability("b=1 | a=1"),
        lambda: changed.sample(2, 0, {"a": 1}),
        lambda: changed.predict({"a": [1], "c": [0]}, "b"),
    ):
        with pytest.raises(QueryError, match="has probability 0"):
            ask()
    assert changed.probability("b=1 | a=0") == pytest.approx(model.probability("b=1 | a=0"), abs=1e-6)
