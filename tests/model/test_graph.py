"""Factor graphs: what they hold, what they refuse, and that they weigh states as the model they came from."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fullspan.data import Space
from fullspan.errors import DataError, FullspanError
from fullspan.model import FactorGraph, LogLinear
from fullspan.model.algebra import BASES, Basis

CARDS = (2, 3, 4, 2)


def some_graph() -> FactorGraph:
    rng = np.random.default_rng(0)
    scopes = ((2,), (0, 1), (3, 1, 0), (), (0, 1))
    tables = tuple(rng.normal(size=[CARDS[i] for i in scope]) for scope in scopes)
    return FactorGraph(Space.of_cards(CARDS), scopes, tables)


def test_weight_is_the_sum_of_entries() -> None:
    """log w(x) = sum_f g_f(x_f), the constant factor and a repeated scope included."""
    graph = some_graph()
    states = np.array(list(itertools.product(*map(range, CARDS))))
    expected = [sum(t[tuple(x[list(s)])] for s, t in zip(graph.scopes, graph.tables, strict=True)) for x in states]
    np.testing.assert_allclose(graph.log_weight(states), expected, rtol=1e-13)


def test_tables_are_copied_and_read_only() -> None:
    """Changing what was given changes nothing, and the graph itself cannot be changed."""
    table = np.array([0.5, -1.0])
    graph = FactorGraph(Space.of_cards((2,)), ((0,),), (table,))
    table[:] = 9.0
    assert graph.tables[0].tolist() == [0.5, -1.0]
    with pytest.raises(ValueError, match="read-only"):
        graph.tables[0][0] = 1.0


@pytest.mark.parametrize("name", BASES)
def test_log_linear_model_keeps_its_weights(name: str) -> None:
    """theta . Phi(x) is the same, in tables over the maximal scopes only."""
    rng = np.random.default_rng(3)
    basis = Basis(name, CARDS)  # type: ignore[arg-type]
    terms = (((0, 1),), ((0, 1), (2, 3)), ((0, 1), (2, 1)), ((1, 2),), ((1, 1), (2, 2), (3, 1)), ((3, 1),))
    model = LogLinear(Space.of_cards(CARDS), basis, terms, rng.normal(size=len(terms)), 0.0)
    graph = FactorGraph.of_loglinear(model)
    assert sorted(graph.scopes) == [(0, 2), (1, 2, 3)]
    states = np.array(list(itertools.product(*map(range, CARDS))))
    np.testing.assert_allclose(graph.log_weight(states), -model.energy(states), atol=1e-13)


@pytest.mark.parametrize(
    ("scopes", "tables", "message"),
    [
        (((0, 4),), (np.zeros((2, 2)),), "factor 0 is over the variables"),
        (((0,), (-1,)), (np.zeros(2), np.zeros(2)), "factor 1 is over the variables"),
        (((1,), (3, 3)), (np.zeros(3), np.zeros((2, 2))), "factor 1 names the variable 'x3' twice"),
        (((0, 1),), (np.zeros((3, 2)),), r"has a table of shape \(3, 2\); \(2, 3\) is needed"),
        (((0, 1), (1,)), (np.zeros(2), np.zeros((3, 3))), "factor 0 over"),
        (((0,), (1,)), (np.zeros(2), np.array([0.0, np.nan, 1.0])), "factor 1 over .* holds nan"),
        (((0,),), (np.array([0.0, np.inf]),), "holds inf"),
        (((0,),), (), "1 scopes need as many tables"),
    ],
)
def test_bad_factors_are_refused(scopes: tuple, tables: tuple, message: str) -> None:
    """Every fault of a factor is named."""
    with pytest.raises(FullspanError, match=message):
        FactorGraph(Space.of_cards(CARDS), scopes, tables)


def test_states_out_of_range_are_refused() -> None:
    """A code that a variable does not have is no state."""
    with pytest.raises(DataError, match="codes 0 to 2"):
        some_graph().log_weight([[0, 3, 0, 0]])


def test_no_factor_at_all() -> None:
    """A graph without factors weighs every state as 1."""
    graph = FactorGraph(Space.of_cards((2, 3)), (), ())
    assert graph.log_weight([[1, 2], [0, 0]]).tolist() == [0.0, 0.0]


def test_flat_arrays_are_the_same_graph_as_scopes_and_tables() -> None:
    """Scopes, tables and weights of states do not depend on how a graph was given; constants are factors too."""
    rng = np.random.default_rng(3)
    space = Space.of_cards((2, 3, 4))
    scopes = ((0, 2), (1,), (), (2, 1, 0))
    tables = tuple(rng.normal(size=[space.cards[i] for i in scope]) for scope in scopes)
    one = FactorGraph(space, scopes, tables)
    other = FactorGraph.of_arrays(space, one.scope_starts, one.variables, one.values)
    assert other.scopes == scopes
    assert other.scopes[-2:] == scopes[-2:]
    for given, kept in zip(tables, other.tables, strict=True):
        np.testing.assert_array_equal(given, kept)
    np.testing.assert_array_equal(one.table_starts, other.table_starts)
    states = rng.integers(0, space.cards, size=(9, 3))
    np.testing.assert_array_equal(one.log_weight(states), other.log_weight(states))


@pytest.mark.parametrize(
    ("starts", "variables", "values", "reason"),
    [
        ([0, 2], [0, 3], np.zeros(4), "positions 0 to 1"),
        ([0, 2], [1, 1], np.zeros(4), "names the variable 'x1' twice"),
        ([0, 2], [0, 1], np.zeros(5), "have 4 entries, but 5 values"),
        ([0, 1], [0, 1], np.zeros(2), "ends with the number of variables, 2"),
        ([0, 2], [0, 1], [0.0, np.nan, 0.0, 0.0], "holds nan"),
    ],
)
def test_flat_arrays_that_are_no_graph_are_refused(starts, variables, values, reason) -> None:
    with pytest.raises(FullspanError, match=reason):
        FactorGraph.of_arrays(Space.of_cards((2, 2)), starts, variables, values)
