"""Orders of elimination: known widths, costs that are true, refusals that name the clique."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from engine.graphs import SHAPES, cards_of, grid, k_tree, tree, weighted
from fullspan.engine.elimination import ClusterTree, elimination_order, given_order
from fullspan.errors import FullspanError, TooLargeError

WIDTHS = {
    "chain": 1,
    "tree": 1,
    "star": 1,
    "cycle": 2,
    "2-tree": 2,
    "grid": 3,
    "complete": 5,
    "disconnected": 1,
    "isolated": 0,
    "one": 0,
    "higher order": 3,
}


def naive_sizes(edges: list[tuple[int, ...]], cards: list[int], order: list[int]) -> list[int]:
    """Table entries of each step, by eliminating on sets."""
    near = {v: {v} for v in range(len(cards))}
    for scope in edges:
        for v in scope:
            near[v] |= set(scope)
    sizes = []
    for v in order:
        clique = near.pop(v)
        sizes.append(int(np.prod([cards[u] for u in clique])))
        for u in clique - {v}:
            near[u] = (near[u] | clique) - {v}
    return sizes


@pytest.mark.parametrize("shape", WIDTHS)
def test_known_widths_are_found(shape: str) -> None:
    """The treewidth of these small graphs."""
    n, edges = SHAPES[shape]
    assert elimination_order(weighted(edges, [2] * n)).width == WIDTHS[shape]


@pytest.mark.parametrize("kind", ["binary", "mixed"])
@pytest.mark.parametrize("shape", SHAPES)
def test_predicted_sizes_are_those_of_elimination(shape: str, kind: str) -> None:
    """An order names every variable once, and its table sizes are those that elimination meets."""
    n, edges = SHAPES[shape]
    cards = cards_of(kind, n)
    order = elimination_order(weighted(edges, cards))
    assert sorted(order.variables.tolist()) == list(range(n))
    sizes = naive_sizes(edges, cards, order.variables.tolist())
    np.testing.assert_allclose(np.exp2(order.sizes), sizes, rtol=1e-9)
    assert order.total == pytest.approx(sum(sizes))
    assert order.largest == pytest.approx(max(sizes))
    assert np.prod([cards[order.graph.space.names.index(name)] for name in order.clique()]) == max(sizes)


def test_separators_come_later_and_decrease() -> None:
    """A separator holds later variables only, the last eliminated first."""
    order = elimination_order(weighted(grid(4, 5), [2] * 20))
    for k in range(20):
        part = order.separator[order.bounds[k] : order.bounds[k + 1]]
        assert (part > k).all()
        assert (np.diff(part) < 0).all()


def test_clamped_variables_take_no_part() -> None:
    """Clamping one node of a cycle leaves a chain."""
    graph = weighted(SHAPES["cycle"][1], [2] * 7)
    order = elimination_order(graph, clamped=[3])
    assert 3 not in order.variables
    assert order.width == 1


def test_weights_of_levels_count() -> None:
    """A hub of many levels is eliminated before its binary leaves make it pay twice: the tables stay smallest."""
    edges, cards = [(0, 1), (0, 2), (1, 2), (2, 3), (1, 3)], [30, 2, 2, 30]
    order = elimination_order(weighted(edges, cards))
    best = min(sum(naive_sizes(edges, cards, list(p))) for p in itertools.permutations(range(4)))
    assert order.total == pytest.approx(best)


def test_lattices_are_swept() -> None:
    """On a 12 by 12 lattice the order found beats going row by row, and is the same every time."""
    graph = weighted(grid(12, 12), [2] * 144)
    order = elimination_order(graph)
    assert order.width >= 12
    assert order.total < given_order(graph, range(144)).total / 2
    assert (order.variables == elimination_order(graph).variables).all()


def test_wide_k_trees_lose_nothing() -> None:
    """Variables whose neighbours all know each other go first: a 4-tree has width 4."""
    assert elimination_order(weighted(k_tree(300, 4), [2] * 300)).width == 4


def test_large_trees_and_stars() -> None:
    """A tree of 30,000 nodes and a star have width 1."""
    n = 30_000
    assert elimination_order(weighted(tree(n), [2] * n, unary=False)).width == 1
    star = weighted([(0, i) for i in range(1, n)], [2] * n, unary=False)
    assert elimination_order(star).width == 1


def test_two_hubs() -> None:
    """Many nodes between two hubs: width 2, in time linear in the nodes."""
    n = 5_000
    edges = [(h, i) for i in range(2, n) for h in (0, 1)]
    assert elimination_order(weighted(edges, [2] * n, unary=False)).width == 2


def test_hopeless_graphs_name_their_clique() -> None:
    """A complete graph of 80 binary variables is refused with its size and some of its variables."""
    graph = weighted(list(itertools.combinations(range(80), 2)), [2] * 80, unary=False)
    with pytest.raises(TooLargeError, match=r"table over 80 variables, 2\^80 entries \(x.* and 68 more\)"):
        elimination_order(graph)


def test_a_bad_order_of_the_caller_is_refused() -> None:
    """An order names each free variable once."""
    graph = weighted(SHAPES["chain"][1], [2] * 7)
    assert given_order(graph, [6, 5, 4, 3, 2, 1, 0]).width == 1
    assert given_order(graph, [3, 1, 0, 2, 4, 5, 6]).width == 2
    with pytest.raises(FullspanError, match="each of the 7 free variables once"):
        given_order(graph, [0, 0, 1, 2, 3, 4, 5])


def test_an_order_of_the_caller_that_is_hopeless() -> None:
    """Eliminating the hub of a large star first meets a table of all leaves."""
    star = weighted([(0, i) for i in range(1, 100)], [2] * 100)
    with pytest.raises(TooLargeError, match="table over 100 variables"):
        given_order(star, list(range(100)))


def test_inputs_are_those_of_the_program() -> None:
    """Factors and messages that enter each step, as the program has them; what is clamped enters nowhere."""
    for n, edges in SHAPES.values():
        graph = weighted(edges, cards_of("mixed", n), seed=1)
        for clamped in ([], [0]):
            tree = ClusterTree(graph, clamped)
            assert tree.order.inputs.tolist() == np.diff(tree.program.inputs).tolist()
            assert tree.order.seconds > 0 or n == len(clamped)
