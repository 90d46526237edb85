"""Objects of other packages: the same graph, the same tables, the same distribution there and back."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fullspan as fs
from fullspan.errors import FullspanError
from fullspan.model import FactorGraph

_ITS_BINDINGS = pytest.mark.filterwarnings("ignore:builtin type:DeprecationWarning")
"""pyAgrum's bindings warn when its objects are first made, and crash where that is an error."""


@pytest.fixture(scope="module")
def model() -> fs.BoltzmannMachine:
    rng = np.random.default_rng(0)
    a, c = rng.integers(0, 2, 300), rng.integers(0, 3, 300)
    b = np.where(rng.random(300) < 0.8, a, 1 - a)
    table = {"a": np.where(a == 1, "y", "n"), "b": b, "c": c, "d": (b + c + rng.integers(0, 2, 300)) % 3}
    return fs.BoltzmannMachine(order=None, margins=[["a", "b"], ["b", "c", "d"]], l2=0.01).fit(table)


def test_a_markov_graph(model: fs.BoltzmannMachine) -> None:
    """Variables that share a factor are joined; its edges make the graph of a machine again."""
    networkx = pytest.importorskip("networkx")
    graph = fs.GraphModel.of(model).to_networkx()
    assert isinstance(graph, networkx.Graph)
    assert {frozenset(edge) for edge in graph.edges} == {frozenset(e) for e in ("ab", "bc", "bd", "cd")}
    assert graph.nodes["a"]["levels"] == ["n", "y"]
    again = fs.BoltzmannMachine(graph=list(graph.edges), order=3, l2=0.01).fit(model.sample(200, random_state=1))
    assert {frozenset(e) for e in again.to_networkx().edges} == {frozenset(e) for e in graph.edges}


def test_a_table_of_answers(model: fs.BoltzmannMachine) -> None:
    xarray = pytest.importorskip("xarray")
    found = model.conditional(["d", "a"], "b=1").to_xarray()
    assert isinstance(found, xarray.DataArray)
    assert found.dims == ("d", "a")
    assert float(found.sel(d=2, a="y")) == model.conditional(["d", "a"], "b=1")[2, "y"]
    assert float(found.sum()) == pytest.approx(1.0)


@_ITS_BINDINGS
def test_networks_of_pyagrum_there_and_back(model: fs.BoltzmannMachine) -> None:
    """Its own inference has our marginals; a network that comes back has our probabilities."""
    gum = pytest.importorskip("pyagrum")
    network = fs.GraphModel.of(model)
    field = model.to_pyagrum()
    inference = gum.ShaferShenoyMRFInference(field)
    inference.makeInference()
    for name in "abcd":
        assert inference.posterior(name).toarray() == pytest.approx(model.marginal(name).values, abs=1e-9)
    back = fs.GraphModel.from_pyagrum(field)
    for question in ("P(a=y | b=1, d=2)", "P(c=0, d=1)", "P(b=0 | c=2)"):
        assert back.probability(question) == pytest.approx(network.probability(question), rel=1e-9)


@_ITS_BINDINGS
def test_a_bayesian_network_of_pyagrum() -> None:
    gum = pytest.importorskip("pyagrum")
    network = gum.fastBN("A[2]->B[3]->C[2];A->C", 2)
    gum.initRandom(3)
    network.generateCPTs()
    inference = gum.LazyPropagation(network)
    inference.setEvidence({"C": 1})
    found = fs.GraphModel.from_pyagrum(network)
    assert found.log_z() == pytest.approx(0.0, abs=1e-9)
    assert found.conditional("B", {"C": "1"}).values == pytest.approx(inference.posterior("B").toarray(), abs=1e-9)


@dataclass
class Factor:
    """``pgmpy.factors.discrete.DiscreteFactor`` of pgmpy 1.1, as far as networks need it."""

    variables: list[str]
    cardinality: list[int]
    values: np.ndarray
    state_names: dict[str, list[Any]]

    def to_factor(self) -> Factor:
        return self


class Network:
    """``pgmpy.models.DiscreteMarkovNetwork``, the same."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self.edges: set[frozenset[str]] = set()
        self.factors: list[Factor] = []

    def nodes(self) -> list[str]:
        return list(self.names)

    def add_nodes_from(self, names: Sequence[str]) -> None:
        self.names.update(dict.fromkeys(names))

    def add_edges_from(self, edges: Iterable[tuple[str, str]]) -> None:
        self.edges.update(map(frozenset, edges))

    def add_factors(self, *factors: Factor) -> None:
        self.factors += factors

    def get_factors(self) -> list[Factor]:
        return self.factors


@pytest.fixture
def pgmpy(monkeypatch: pytest.MonkeyPatch) -> tuple[type, type]:
    """pgmpy's classes where it is installed, and doubles of them elsewhere: it brings ten packages more."""
    try:
        from pgmpy.factors.discrete import DiscreteFactor
        from pgmpy.models import DiscreteMarkovNetwork
    except ModuleNotFoundError:
        for name, held in (
            ("models", {"DiscreteMarkovNetwork": Network}),
            ("factors.discrete", {"DiscreteFactor": Factor}),
        ):
            monkeypatch.setitem(sys.modules, f"pgmpy.{name}", SimpleNamespace(**held))
        return Network, Factor
    return DiscreteMarkovNetwork, DiscreteFactor


def test_networks_of_pgmpy_there_and_back(model: fs.BoltzmannMachine, pgmpy: tuple[type, type]) -> None:
    field = model.to_pgmpy()
    assert isinstance(field, pgmpy[0])
    assert set(field.nodes()) == set("abcd")
    product = np.ones((2, 2, 3, 3))
    for factor in field.get_factors():
        shape = [product.shape["abcd".index(name)] if name in factor.variables else 1 for name in "abcd"]
        assert list(factor.variables) == sorted(factor.variables)
        product = product * factor.values.reshape(shape)
    assert product.sum(axis=(2, 3)) / product.sum() == pytest.approx(model.marginal(["a", "b"]).values, abs=1e-12)
    back = fs.GraphModel.from_pgmpy(field)
    assert back.space.variables[1].levels == (0, 1)
    for question in ("P(a=y | b=1, d=2)", "P(c=0, d=1)", "P(b=0 | c=2)"):
        assert back.probability(question) == pytest.approx(fs.GraphModel.of(model).probability(question), rel=1e-9)


def test_pgmpy_itself_answers_as_the_model_does(model: fs.BoltzmannMachine) -> None:
    inference = pytest.importorskip("pgmpy.inference").VariableElimination(model.to_pgmpy())
    for given in ({}, {"b": 1}, {"b": 0, "d": 2}):
        asked = [name for name in "abcd" if name not in given]
        answer = inference.query(asked, given, show_progress=False).normalize(inplace=False)
        own = model.conditional(asked, given) if given else model.marginal(asked)
        order = [answer.variables.index(name) for name in asked]
        assert np.transpose(answer.values, order) == pytest.approx(own.values, abs=1e-12)


def test_factors_of_pgmpy_may_name_states_in_any_order(pgmpy: tuple[type, type]) -> None:
    """Each factor has an order of its own; a variable in no factor of the model has one of ones."""
    network_class, factor_class = pgmpy
    network = network_class()
    network.add_nodes_from(["a", "b"])
    network.add_edges_from([("a", "b")])
    network.add_factors(
        factor_class(["b"], [2], np.array([1.0, 3.0]), {"b": ["n", "y"]}),
        factor_class(["a", "b"], [2, 2], np.array([[5.0, 1.0], [1.0, 1.0]]), {"a": [0, 1], "b": ["y", "n"]}),
    )
    found = fs.GraphModel.from_pgmpy(network)
    assert found.probability("a=0 | b=y") == pytest.approx(5 / 6)
    assert found.probability("b=y") == pytest.approx(18 / 20)
    network.add_nodes_from(["c"])
    with pytest.raises(FullspanError, match="'c' has no distribution and no factor"):
        fs.GraphModel.from_pgmpy(network)
    alone = fs.GraphModel(FactorGraph(found.space, ((0,),), (np.log([0.2, 0.8]),))).to_pgmpy()
    assert fs.GraphModel.from_pgmpy(alone).probability("b=y") == pytest.approx(0.5)


def test_a_package_that_is_not_installed_is_named(model: fs.BoltzmannMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pgmpy", None)
    monkeypatch.setitem(sys.modules, "pgmpy.models", None)
    with pytest.raises(FullspanError, match="this needs pgmpy, which is not installed: pip install pgmpy"):
        model.to_pgmpy()


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(FullspanError, match="got dict"):
        fs.GraphModel.from_pyagrum({})
    with pytest.raises(FullspanError, match="got dict"):
        fs.GraphModel.from_pgmpy({})
    table = {"a": [0, 1, 1, 0] * 20, "b": [0, 1, 0, 0] * 20}
    with pytest.raises(FullspanError, match="'mixture' is not a single product"):
        fs.GraphModel.of(fs.FullSpanMixture(runs=[(2, 1)], restarts=1, random_state=0).fit(table))
    classifier = fs.BoltzmannClassifier(outputs="b", l2=0.1).fit(table)
    with pytest.raises(FullspanError, match="predicts some columns from others"):
        fs.GraphModel.of(classifier)


def test_a_network_predicts_as_the_model_does(model: fs.BoltzmannMachine) -> None:
    network, rows = fs.GraphModel.of(model), {"a": ["y", "n"], "b": [1, 0], "d": [2, 0]}
    assert network.predict_proba(rows, "c") == pytest.approx(model.predict_proba(rows, "c"), rel=1e-9)
    assert network.predict(rows, "c").tolist() == model.predict(rows, "c").tolist()
    assert network.levels_of("a").tolist() == ["n", "y"]
    row = {"a": "y", "b": 0, "d": 2}
    own, found = model.explain_row(row), network.explain_row(row)
    assert [c.probability for c in found.cells] == pytest.approx([c.probability for c in own.cells], nan_ok=True)
    with pytest.raises(FullspanError, match="no variable 'z'"):
        network.predict(rows, "z")


def test_a_tree_is_a_network() -> None:
    table = {"a": [0, 1, 1, 0] * 20, "b": [0, 1, 0, 0] * 20}
    tree = fs.ChowLiuTree(pseudo_count=1.0).fit(table)
    network = fs.GraphModel.of(tree)
    assert isinstance(network.graph, FactorGraph)
    assert network.probability("P(a=1 | b=0)") == pytest.approx(tree.probability("a=1 | b=0"))
