"""Questions to networks against enumeration, at generic factors, some of which forbid states."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import fullspan
from fullspan.data import Space, Variable
from fullspan.errors import DataError, FullspanError, ModelFileError, QueryError, TooLargeError
from fullspan.estimators.networks import GraphModel, read_graph
from fullspan.model import FactorGraph
from fullspan.query import Table
from fullspan.query.distributions import LogLinearDistribution

SPACE = Space(
    (
        Variable("a", ("no", "yes")),
        Variable("b", (1, 2, 3)),
        Variable("c", ("x", "y", "z", "w")),
        Variable("d", (False, True)),
        Variable("e", ("only",)),
        Variable("f", (0.5, 1.5, 2.5)),
    )
)
SCOPES = ((0, 1), (2, 1), (3, 2, 0), (4,), (), (2,), (1, 2))
STATES = np.array(list(itertools.product(*map(range, SPACE.cards))))
GIVENS = ({}, {"c": "y"}, {"c": ["y", "w"], "a": "yes"}, {"b": 2, "f": [0.5, 2.5]}, {"a": "no", "b": 1, "d": True})


def network(scale: float = 1.0, zeros: bool = True) -> GraphModel:
    rng = np.random.default_rng(8)
    tables = [rng.normal(scale=scale, size=[SPACE.cards[i] for i in scope]) for scope in SCOPES]
    if zeros:
        tables[0][1, 2] = tables[2][0, 3, 1] = -math.inf
    return GraphModel(FactorGraph(SPACE, SCOPES, tuple(tables)))


def weights(model: GraphModel, given: dict[str, object]) -> NDArray[np.float64]:
    """Log-weights of all states, -inf for those that contradict what is given."""
    out = model.graph.log_weight(STATES)
    for name, levels in given.items():
        i = SPACE.position(name)
        allowed = [SPACE.variables[i].code(x) for x in (levels if isinstance(levels, list) else [levels])]
        out[~np.isin(STATES[:, i], allowed)] = -math.inf
    return out


def cells(log_weight: NDArray[np.float64], *where: int) -> NDArray[np.float64]:
    """Probabilities of the joint states of some variables, by enumeration."""
    p = np.exp(log_weight - log_weight.max())
    out = np.zeros([SPACE.cards[i] for i in where])
    np.add.at(out, tuple(STATES[:, i] for i in where), p / p.sum())
    return out


@pytest.mark.parametrize("scale", [1.0, 50.0])
@pytest.mark.parametrize("given", GIVENS)
def test_sums_and_marginals(given: dict[str, object], scale: float) -> None:
    """log Z(e) = log of the summed weights that agree with e; marginals are their shares, a free variable's uniform."""
    model = network(scale)
    log_weight = weights(model, given)
    log_z, marginals = model.log_z_and_marginals(given)
    assert log_z == pytest.approx(float(np.logaddexp.reduce(log_weight)), rel=1e-13, abs=1e-12)
    assert model.log_z(given) == pytest.approx(log_z, rel=1e-14)
    assert list(marginals) == list(SPACE.names)
    for i, p in enumerate(model.marginals(given).values()):
        np.testing.assert_allclose(p, cells(log_weight, i), atol=1e-13)


@pytest.mark.parametrize("given", GIVENS)
@pytest.mark.parametrize("names", ["b", ("d", "a"), ("f", "c"), ("c", "b", "a")])
def test_conditional_tables(given: dict[str, object], names: str | tuple[str, ...]) -> None:
    """P(variables | e), axes in the order asked, also of variables that e fixes or restricts."""
    model = network()
    where = [SPACE.position(name) for name in ([names] if isinstance(names, str) else names)]
    table = model.conditional(names, given)
    assert table.names == tuple(SPACE.names[i] for i in where)
    np.testing.assert_allclose(table.values, cells(weights(model, given), *where), atol=1e-13)


def test_questions_in_words() -> None:
    """Numbers, tables joint with events, evidence besides the text, contradictions of probability 0."""
    model = network()
    p = cells(weights(model, {"d": True}), 0, 1)
    assert model.probability("P(a=yes, b != 3 | d=True)") == pytest.approx(p[1, :2].sum(), abs=1e-13)
    assert model.ask("a=yes, b != 3", {"d": True}) == pytest.approx(p[1, :2].sum(), abs=1e-13)
    assert model.probability({"a": "yes", "b": [1, 2]}, {"d": True}) == pytest.approx(p[1, :2].sum(), abs=1e-13)
    table = model.ask("P(b, a=yes | d=True)")
    assert isinstance(table, Table)
    np.testing.assert_allclose(table.values, p[1], atol=1e-13)
    assert model.probability("a=yes, b=3") == 0.0
    assert model.probability("P(b=1 | b in {2, 3})") == 0.0
    assert model.probability("P(b=1 | b in {1, 2})", {"a": "no"}) == pytest.approx(
        cells(weights(model, {"a": "no", "b": [1, 2]}), 1)[0], abs=1e-13
    )


@pytest.mark.parametrize("given", GIVENS)
def test_the_mode_has_the_largest_weight(given: dict[str, object]) -> None:
    model = network()
    log_weight = weights(model, given)
    mode = model.mode(given)
    assert mode == SPACE.labels(STATES[int(np.argmax(log_weight))]) | {"f": mode["f"]}  # f has no factor: ties


def test_samples_follow_the_distribution() -> None:
    """Frequencies of 20,000 draws are within 5 standard errors of the marginals; a seed fixes them."""
    model, given = network(), {"c": ["y", "z"], "d": True}
    table = model.sample(20_000, 5, given)
    assert table.equals(model.sample(20_000, np.random.default_rng(5), given))
    for name, p in model.marginals(given).items():
        levels = SPACE.variables[SPACE.position(name)].levels
        seen = np.array([table.column(name).to_pylist().count(level) for level in levels]) / 20_000
        assert (np.abs(seen - p) <= 5 * np.sqrt(p * (1 - p) / 20_000)).all()
    assert model.sample(0, 1).num_rows == 0


def test_log_probability_of_states() -> None:
    model = network()
    log_weight = model.graph.log_weight(STATES)
    np.testing.assert_allclose(model.log_prob(STATES), log_weight - np.logaddexp.reduce(log_weight), atol=1e-12)
    with pytest.raises(DataError):
        model.log_prob([[0, 0]])


def test_what_cannot_be_asked() -> None:
    model = network()
    impossible = {"a": "yes", "b": 3}
    for ask in (model.log_z, model.marginals, model.mode, lambda e: model.sample(2, 0, e)):
        with pytest.raises(QueryError, match=r"the evidence a=yes, b=3 has probability 0 in this network"):
            ask(impossible)
    with pytest.raises(QueryError, match="the evidence a=yes, b=3 has probability 0"):
        model.probability("P(c=x | a=yes, b=3)")
    with pytest.raises(QueryError, match="leaves no level of 'a'"):
        model.ask("P(b | a=no)", {"a": "yes"})
    with pytest.raises(QueryError, match="did you mean"):
        model.log_z({"aa": "yes"})
    with pytest.raises(QueryError, match="has no level 'maybe'"):
        model.log_z({"a": "maybe"})
    with pytest.raises(QueryError, match="asks for a table"):
        model.probability("P(a | b=1)")
    for size in (-1, 1.5, True):
        with pytest.raises(QueryError, match="whole number"):
            model.sample(size)  # type: ignore[arg-type]


def test_a_network_without_a_possible_state() -> None:
    graph = FactorGraph(Space.of_cards((2, 2)), ((0,), (0,)), (np.array([0, -np.inf]), np.array([-np.inf, 0])))
    for ask in (GraphModel(graph).log_z, GraphModel(graph).marginals, GraphModel(graph).mode):
        with pytest.raises(QueryError, match="forbid every state"):
            ask()


def test_too_wide_networks_are_refused_with_the_clique() -> None:
    """A complete graph of 40 nodes has one cluster; clamping most of it makes it small."""
    scopes = tuple(itertools.combinations(range(40), 2))
    tables = tuple(np.random.default_rng(1).normal(size=(len(scopes), 2, 2)))
    model = GraphModel(FactorGraph(Space.of_cards((2,) * 40), scopes, tables), max_memory=1 << 20)
    with pytest.raises(TooLargeError, match=r"width 39.*x\d+"):
        model.log_z()
    assert math.isfinite(model.log_z({f"x{i}": 0 for i in range(30)}))
    with pytest.raises(TooLargeError, match="a table of"):
        model.conditional([f"x{i}" for i in range(30)])


# -- files ----------------------------------------------------------------------------------------------------


def test_networks_go_through_files(tmp_path: Path) -> None:
    """.uai keeps the distribution and log Z, .fsm the distribution and the names; both are read by read_graph."""
    model = network(zeros=False)
    model.save(tmp_path / "n.uai")
    model.save(tmp_path / "n.fsm")
    uai, fsm = fullspan.read_graph(tmp_path / "n.uai"), fullspan.read_graph(tmp_path / "n.fsm")
    assert uai.space == Space.of_cards(SPACE.cards)
    assert uai.log_z() == pytest.approx(model.log_z(), abs=1e-12)
    assert fsm.space == SPACE
    for other in (uai, fsm):
        np.testing.assert_allclose(other.log_prob(STATES), model.log_prob(STATES), atol=1e-12)
    estimator = fullspan.load(tmp_path / "n.fsm")
    assert estimator.probability("a=yes | c=y") == pytest.approx(model.probability("a=yes | c=y"), abs=1e-12)


def test_a_model_file_is_answered_alike_by_table_and_clusters(tmp_path: Path) -> None:
    network(zeros=False).save(tmp_path / "n.fsm")
    oracle, model = LogLinearDistribution(fullspan.load(tmp_path / "n.fsm").model_), read_graph(tmp_path / "n.fsm")
    for question in ("P(a=yes | c=y)", "P(b=3, d=True | c in {x, w}, a=no)"):
        assert oracle.probability(question) == pytest.approx(model.probability(question), rel=1e-12)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FullspanError, match="the factor over a, b forbids a=yes, b=3"):
        network().save(tmp_path / "n.fsm")
    with pytest.raises(ModelFileError, match=r"networks are written as .*\.uai"):
        network().save(tmp_path / "n.csv")
    assert list(tmp_path.iterdir()) == []


def test_evidence_files_speak_of_positions_and_codes(tmp_path: Path) -> None:
    (tmp_path / "e").write_text("2\n2 1 2 5 0\n0\n")
    assert network().evidence(tmp_path / "e") == [{"b": 3, "f": 0.5}, {}]
