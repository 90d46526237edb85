"""Structures: which terms a machine has, however they are given, and what is refused."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fullspan.data import Space, Variable
from fullspan.errors import FullspanError
from fullspan.learn.likelihood.structure import structure
from fullspan.model.algebra import Basis

SPACE = Space(tuple(Variable(name, tuple(range(card))) for name, card in zip("abcd", (2, 3, 2, 4), strict=True)))
BASIS = Basis("monomial", SPACE.cards)


def up_to(n: int, order: int) -> set[tuple[int, ...]]:
    return {c for size in range(1, order + 1) for c in itertools.combinations(range(n), size)}


@pytest.mark.parametrize("order", [1, 2, 3, 4, 9, None])
def test_an_order_has_all_sets_up_to_it(order: int | None) -> None:
    found = structure(SPACE, order)
    top = min(order or 4, 4)
    assert set(found.scopes) == up_to(4, top)
    assert found.margins == tuple(itertools.combinations(range(4), top))
    terms = found.terms(BASIS)
    wanted = {BASIS.term(y) for y in range(1, BASIS.n_states) if len(BASIS.term(y)) <= top}
    assert len(terms) == len(set(terms)) == len(wanted)
    assert set(terms) == wanted


EDGES = [("a", "b"), ("b", "d"), ("d", "a"), ("c", "d")]
MATRIX = np.array([[0, 1, 0, 1], [1, 0, 0, 1], [0, 0, 0, 1], [1, 1, 1, 0]])


@pytest.mark.parametrize(
    "graph",
    [
        EDGES,
        [{"a", "b"}, ("d", "b"), ["a", "d"], ("d", "c"), ("c", "d")],
        [(0, 1), (1, 3), (3, 0), (2, 3)],
        {"a": ["b", "d"], "b": ["d"], "c": ["d"], "d": []},
        {"d": {"a", "b", "c"}, "a": ("b",)},
        MATRIX,
        MATRIX * 0.5 + np.eye(4),
        np.array([[0, 1], [1, 3], [3, 0], [2, 3]]),
        np.array([["a", "b"], ["b", "d"], ["d", "a"], ["c", "d"]]),
        SimpleNamespace(edges=EDGES),
        SimpleNamespace(edges=lambda: iter(EDGES)),
    ],
)
def test_a_graph_may_be_given_in_many_ways(graph: Any) -> None:
    """Pairs of names or numbers, neighbours, a matrix, an object with edges: one structure."""
    found = structure(SPACE, 2, graph=graph)
    assert set(found.scopes) == {(0,), (1,), (2,), (3,), (0, 1), (1, 3), (0, 3), (2, 3)}
    assert set(found.margins or ()) == {(0, 1), (1, 3), (0, 3), (2, 3)}


@pytest.mark.parametrize("name", ["graph", "terms", "margins"])
def test_what_one_fit_uses_up_is_refused(name: str) -> None:
    """A second fit would find an exhausted generator, and learn a machine without these terms."""
    with pytest.raises(FullspanError, match=f"{name} is .*which can be read only once; give a list"):
        structure(SPACE, 2, **{name: (edge for edge in EDGES)})


@pytest.mark.parametrize("name", ["terms", "margins"])
def test_sets_say_themselves_what_interacts(name: str) -> None:
    with pytest.raises(FullspanError, match=f"order is 1 and {name} are given"):
        structure(SPACE, 1, **{name: EDGES})


def test_cliques_up_to_the_order_interact() -> None:
    assert set(structure(SPACE, 3, graph=EDGES).margins or ()) == {(0, 1, 3), (2, 3)}
    assert structure(SPACE, None, graph=EDGES) == structure(SPACE, 3, graph=EDGES)
    assert set(structure(SPACE, 1, graph=EDGES).scopes) == up_to(4, 1)
    complete = list(itertools.combinations("abcd", 2))
    assert structure(SPACE, None, graph=complete) == structure(SPACE, None)


def test_a_graph_without_edges_is_independence() -> None:
    for graph in ([], {}, np.zeros((4, 4)), np.zeros((0, 2), dtype=int)):
        assert set(structure(SPACE, 2, graph=graph).scopes) == up_to(4, 1)


def test_a_square_array_of_two_variables_is_a_matrix() -> None:
    two = Space.of_cards((2, 3))
    assert structure(two, 2, graph=np.array([[0, 1], [1, 0]])).margins == ((0, 1),)
    assert structure(two, 2, graph=np.zeros((2, 2))).margins == ((0,), (1,))


def test_margins_bring_their_subsets() -> None:
    found = structure(SPACE, margins=[["a", "b"], ["d", "b", "c"], ["b"]])
    assert set(found.scopes) == {(0,), (1,), (2,), (3,), (0, 1), (1, 2), (1, 3), (2, 3), (1, 2, 3)}
    assert found.margins == ((0, 1), (1, 2, 3))
    assert structure(SPACE, margins=["a", "c"]).scopes == ((0,), (2,))


def test_terms_are_taken_literally() -> None:
    """Nothing is added; a list that happens to be closed under subsets is known to be hierarchical."""
    found = structure(SPACE, terms=[["b", "a"], ["a", "b"], "d"])
    assert found.scopes == ((3,), (0, 1))
    assert found.margins is None
    assert len(found.terms(BASIS)) == 3 + 1 * 2
    closed = structure(SPACE, terms=[["a"], ["b"], ["a", "b"], ["d"]])
    assert closed.margins == ((3,), (0, 1))
    lacking = structure(SPACE, terms=[["a"], ["b"], ["c"], ["a", "b"], ["b", "c"], ["a", "b", "c"]])
    assert lacking.margins is None


def test_names_that_are_numbers_win_over_positions() -> None:
    odd = Space(tuple(Variable(name, (0, 1)) for name in ("1", "0", "x")))
    assert structure(odd, terms=[[1, 2]]).scopes == ((0, 2),)
    assert structure(odd, terms=[["1", "x"]]).scopes == ((0, 2),)
    assert structure(SPACE, terms=[[np.int64(3), 0]]).scopes == ((0, 3),)


def test_variables_of_one_level_have_no_terms() -> None:
    space = Space.of_cards((1, 2, 1))
    assert structure(space, 2).terms(Basis("walsh", space.cards)) == (((1, 1),),)
    assert structure(space, terms=[["x0", "x1"]]).terms(Basis("walsh", space.cards)) == ()


BAD: list[tuple[dict[str, Any], str]] = [
    ({"graph": [], "terms": [["a"]]}, "graph and terms are given; choose one of them"),
    ({"terms": [["a"]], "margins": [["a"]]}, "terms and margins are given"),
    ({"order": 0}, "order is 0; a whole number of at least 1 is needed"),
    ({"order": -1}, "order is -1"),
    ({"order": 2.0}, r"order is 2\.0; a whole number"),
    ({"order": True}, "order is True"),
    ({"order": "2"}, "order is '2'"),
    ({"margins": "ab"}, "margins is 'ab'; a list of lists of variable names is needed"),
    ({"terms": 3}, "terms is 3; a list of lists"),
    ({"terms": {"a": ["b"]}}, "terms is .*; a list of lists"),
    ({"margins": []}, "margins is empty; give at least one set"),
    ({"terms": [["a"], []]}, "terms has an empty set of variables; leave it out"),
    ({"terms": [3]}, "3 in terms is not a list of variable names"),
    ({"terms": [["a", "b", "a"]]}, r"terms names 'a' twice in one set: \['a', 'b', 'a'\]"),
    ({"terms": [["a", 0]]}, r"terms names 'a' twice in one set"),
    ({"terms": [iter(["a", "a"])]}, r"twice in one set: \['a', 'a'\]"),
    ({"margins": [["a", "e"]]}, "margins names 'e': there is no variable 'e'"),
    ({"margins": [["a", None]]}, "margins names None: there is no variable 'None'"),
    ({"margins": [["a", ["b"]]]}, r"margins names \['b'\]: there is no variable"),
    ({"terms": [[4]]}, "terms names variable 4, but there are 4, counted from 0"),
    ({"terms": [[-1]]}, "terms names variable -1"),
    ({"graph": [("a", "z")]}, "graph names 'z': there is no variable 'z'.* the variables are: a, b, c, d"),
    ({"graph": {"z": []}}, "graph names 'z'"),
    ({"graph": {"a": "bc"}}, "gives 'a' the neighbours 'bc'; a list of names is needed"),
    ({"graph": {"a": 1}}, "gives 'a' the neighbours 1"),
    ({"graph": [("a", "a")]}, "the graph joins 'a' with itself"),
    ({"graph": [("a", 0)]}, "the graph joins 'a' with itself"),
    ({"graph": [("a", "b", "c")]}, r"\('a', 'b', 'c'\) is not an edge; a graph is a list of pairs"),
    ({"graph": ["ab"]}, "'ab' is not an edge"),
    ({"graph": [0, 1]}, "0 is not an edge"),
    ({"graph": "ab"}, "graph is 'ab'; edges as pairs of names"),
    ({"graph": 5}, "graph is 5; edges as pairs of names"),
    ({"graph": np.zeros((3, 3))}, r"a matrix of shape \(3, 3\); \(4, 4\) is needed"),
    ({"graph": np.triu(np.ones((4, 4)))}, r"not symmetric: entries \(0, 1\) and \(1, 0\) differ"),
]


@pytest.mark.parametrize(("choices", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_structures_are_refused(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        structure(SPACE, **choices)


@pytest.mark.parametrize(
    ("n", "choices", "message"),
    [
        (300, {"order": 2}, "order 2 of 300 variables has 45,150 sets of variables; at most 20,000 weights"),
        (30, {"order": None}, "order 30 of 30 variables has 1,073,741,823 sets"),
        (30, {"margins": [list(range(30))]}, "a margin of 30 variables has 1,073,741,823 sets"),
        (30, {"order": None, "graph": 1 - np.eye(30)}, "the graph has at least 31,900 sets"),
    ],
)
def test_too_many_sets_are_refused_before_they_are_listed(n: int, choices: dict[str, Any], message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        structure(Space.of_cards((2,) * n), **choices)


def test_too_many_weights_are_refused_before_they_are_listed() -> None:
    found = structure(Space.of_cards((1000, 1000)), 2)
    with pytest.raises(FullspanError, match="would have 999,999 weights; at most 20,000 are fitted jointly"):
        found.terms(Basis("monomial", (1000, 1000)))
