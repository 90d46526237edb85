"""Objects of other packages: the same graph, the same tables, the same distribution there and back."""

from __future__ import annotations

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
    assert {frozenset(e) for e in fs.GraphModel.of(again).to_networkx().edges} == {frozenset(e) for e in graph.edges}


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
    field = network.to_pyagrum()
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


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(FullspanError, match="got dict"):
        fs.GraphModel.from_pyagrum({})
    table = {"a": [0, 1, 1, 0] * 20, "b": [0, 1, 0, 0] * 20}
    with pytest.raises(FullspanError, match="'mixture' is no single product"):
        fs.GraphModel.of(fs.FullSpanMixture(runs=[(2, 1)], restarts=1, random_state=0).fit(table))
    classifier = fs.BoltzmannClassifier(outputs="b", l2=0.1).fit(table)
    with pytest.raises(FullspanError, match="predicts some columns from others"):
        fs.GraphModel.of(classifier)


def test_a_tree_is_a_network() -> None:
    table = {"a": [0, 1, 1, 0] * 20, "b": [0, 1, 0, 0] * 20}
    tree = fs.ChowLiuTree(pseudo_count=1.0).fit(table)
    network = fs.GraphModel.of(tree)
    assert isinstance(network.graph, FactorGraph)
    assert network.probability("P(a=1 | b=0)") == pytest.approx(tree.probability("a=1 | b=0"))
