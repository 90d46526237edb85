"""Graphs of machines: what the helpers join, the roles they give, and what is no graph."""

from __future__ import annotations

import pytest

from fullspan import graphs
from fullspan.engine.elimination import is_decimatable
from fullspan.errors import FullspanError
from fullspan.graphs import Graph


def test_every_helper_stays_decimatable_in_both_phases() -> None:
    """With nothing clamped, and with all that is observed clamped."""
    tree = graphs.tree({"b": "a", "c": "a", "d": "b", "e": "b", "f": "b", "g": "b"}, hidden=["a", "b"])
    for graph in (graphs.chain(7), tree, graphs.hidden_markov(6), graphs.hidden_markov(4, 3), graphs.factorial(5)):
        seen = [name for name in graph.names if name not in graph.hidden]
        assert is_decimatable(graph)
        assert is_decimatable(graph, clamped=seen)


def test_what_the_helpers_join() -> None:
    assert graphs.chain(["u", "v", "w"]).edges == (("u", "v"), ("v", "w"))
    markov = graphs.hidden_markov(2, 2)
    assert markov.hidden == ("h0", "h1")
    assert set(markov.edges) == {("h0", "h1"), ("h0", "x0_0"), ("h0", "x0_1"), ("h1", "x1_0"), ("h1", "x1_1")}
    two = graphs.factorial(2)
    assert set(two.edges) == {("a0", "a1"), ("b0", "b1"), ("a0", "x0"), ("b0", "x0"), ("a1", "x1"), ("b1", "x1")}
    assert Graph.of({"a": ["b"], "b": ["a", "c"]}).edges == (("a", "b"), ("b", "c"))
    assert Graph.of([("a", "b")], hidden=["h"]).names == ("a", "b", "h")


def test_a_cycle_is_named() -> None:
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("x", "a"), ("d", "b")]
    with pytest.raises(FullspanError, match="the tree has a cycle: b - c - d - b; leave out"):
        graphs.tree(edges)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Graph(("a", "a"), ()), "two nodes are named 'a'"),
        (lambda: Graph(("a",), (("a", "b"),)), "there is no node 'b' in the graph; its nodes are: a"),
        (lambda: Graph.of([("a", "a")]), "joins 'a' with itself"),
        (lambda: Graph.of([("a", "b"), ("b", "a")]), "between 'b' and 'a' twice"),
        (lambda: Graph.of([("a", "b")], inputs=["a"], outputs=["a"]), "among the inputs and the outputs"),
        (lambda: Graph.of([("a", "b")], names=["a", "b"], hidden=["c"]), "no node 'c'"),
        (lambda: Graph.of([("a", "b", "c")]), "is not an edge"),
        (lambda: Graph.of("ab"), "edges as pairs of names"),
        (lambda: Graph.of({"a": "bc"}), "a list of names is needed"),
        (lambda: graphs.chain(0), "nodes is 0"),
        (lambda: graphs.hidden_markov(3, 0), "per_step is 0"),
        (lambda: graphs.factorial(True), "length is True"),
    ],
)
def test_what_is_no_graph_is_refused(make: object, message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        make()  # type: ignore[operator]
