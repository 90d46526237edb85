"""One network by tabu search with bounded elimination, against enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from fullspan.data import Empirical, Space
from fullspan.engine.elimination.ordering import elimination_order
from fullspan.errors import FullspanError
from fullspan.learn.base import Interrupted, Progress
from fullspan.learn.networks import Evidence, MoralGraph, Network, family_score, fitted_tables, learn_network
from fullspan.model import FactorGraph

CARDS = (2, 3, 2, 2)


def rows_of(n: int, seed: int = 0) -> Empirical:
    """Four variables: the third depends on the first two, the last on the third."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(2, size=n), rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    c = np.where(rng.random(n) < 0.85, (a + b) % 2, rng.integers(2, size=n))
    d = np.where(rng.random(n) < 0.8, c, 1 - c)
    return Empirical.from_codes(np.column_stack([a, b, c, d]), space=Space.of_cards(CARDS))


def sampled(parents: list[tuple[int, ...]], n: int, seed: int = 0) -> Empirical:
    """Rows of a network of two-level variables in which every parent matters."""
    rng = np.random.default_rng(seed)
    columns: list[np.ndarray] = []
    for own in parents:
        p = rng.permutation(np.linspace(0.08, 0.92, 2 ** len(own))) if own else np.array([0.4])
        state = sum((columns[u] << k for k, u in enumerate(own)), np.zeros(n, dtype=np.int64))
        columns.append((rng.random(n) < p[state]).astype(np.int64))
    return Empirical.from_codes(np.column_stack(columns), space=Space.of_cards([2] * len(parents)))


def all_networks(n: int) -> list[tuple[tuple[int, ...], ...]]:
    """All networks of n variables."""
    choices = [
        [s for k in range(n) for s in itertools.combinations([u for u in range(n) if u != v], k)] for v in range(n)
    ]
    return [parents for parents in itertools.product(*choices) if not has_circle(parents)]


def has_circle(parents: tuple[tuple[int, ...], ...]) -> bool:
    left = set(range(len(parents)))
    while free := [v for v in left if not left & set(parents[v])]:
        left -= set(free)
    return bool(left)


def cells_of(order: list[int], families: list[tuple[int, ...]], cards: tuple[int, ...]) -> int:
    """Entries of all tables that an order of elimination meets, set by set."""
    scopes, total = [set(f) for f in families], 0
    for v in order:
        here = [s for s in scopes if v in s]
        joined = set().union({v}, *here)
        total += math.prod(cards[i] for i in joined)
        scopes = [s for s in scopes if v not in s] + [joined - {v}]
    return total


@pytest.mark.parametrize(("seed", "penalty"), [(0, "bic"), (1, "mdl"), (2, 0.5)])
def test_the_network_found_is_the_best_of_all(seed: int, penalty: str | float) -> None:
    """Of the 543 networks of four variables none has more evidence under the prior found."""
    data = rows_of(400, seed)
    found = learn_network(data, penalty=penalty)
    name = {"bic": 0.0, "mdl": math.log(4), 0.5: 0.5 * math.log(4)}[penalty]
    columns, cards = np.ascontiguousarray(data.states.T.astype(np.int64)), np.array(CARDS)
    scores = {
        (v, s): family_score(columns, data.counts, cards, v, sum(1 << u for u in s), found.strength, False, 4096)
        - name * len(s)
        for v in range(4)
        for k in range(4)
        for s in itertools.combinations([u for u in range(4) if u != v], k)
    }
    networks = all_networks(4)
    assert len(networks) == 543
    best = max(sum(scores[v, s] for v, s in enumerate(parents)) for parents in networks)
    assert found.evidence == pytest.approx(best, abs=1e-6)
    assert sum(scores[v, s] for v, s in enumerate(found.parents)) == pytest.approx(best, abs=1e-6)


def test_further_parents_are_scored_at_once() -> None:
    """Each is the evidence of the larger family; no variable is its own parent, and tables may be too large."""
    data = rows_of(300)
    columns, cards = np.ascontiguousarray(data.states.T.astype(np.int64)), np.array(CARDS)
    evidence = Evidence(data, 3.0, 0.7, 12)
    joined = evidence.joined(2, (1,))
    for u, mask in ((0, 0b0011), (3, 0b1010)):
        expected = family_score(columns, data.counts, cards, 2, mask, 3.0, False, 4096) - 1.4
        assert joined[u] == pytest.approx(expected, rel=1e-12)
    assert joined[1] == joined[2] == -np.inf
    assert evidence.of(2, (0, 1, 3)) == -np.inf


def test_the_cost_is_that_of_the_order() -> None:
    """Entries of all tables, set by set; a move that is only tried leaves the graph as it was."""
    cards, families = (2, 3, 2, 4, 2, 3), [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    graph = MoralGraph(cards, families)
    assert graph.cells == cells_of(graph.order.tolist(), families, cards)
    other = [*families[:3], (3, 4, 0), *families[4:]]
    wanted = cells_of(graph.order.tolist(), other, cards)
    assert graph.cells_with([(3, 4)], [(3, 4, 0)], np.inf) == wanted
    assert graph.cells_with([(3, 4)], [(3, 4, 0)], wanted - 1) == np.inf
    assert graph.cells_with([], [], np.inf) == graph.cells


def test_elimination_stays_within_the_bound() -> None:
    """A dense network is cut down to what may be summed, and the closer the bound the less it explains."""
    parents = [(), (0,), (0, 1), (0, 1, 2), (0, 2, 3), (1, 3, 4), (2, 4, 5), (0, 5, 6)]
    data, evidence = sampled(parents, 3000), []
    for bound in (40, 80, 400):
        found = learn_network(data, max_cells=bound, penalty="bic")
        assert found.cells <= bound
        assert elimination_order(FactorGraph.of(found.log_linear())).total <= bound
        evidence.append(found.evidence)
    assert evidence == sorted(evidence)
    assert evidence[0] < evidence[2] - 10


def test_a_planted_network_is_recovered() -> None:
    """All dependences and no others, up to the direction that rows cannot tell."""
    parents = [(), (0,), (), (1, 2), (3,), (3,), (4, 5), (2,), (7,), ()]
    found = learn_network(sampled(parents, 4000, seed=3))
    pairs = {frozenset((v, u)) for v, own in enumerate(found.parents) for u in own}
    assert pairs == {frozenset((v, u)) for v, own in enumerate(parents) for u in own}
    assert found.parents[3] == (1, 2)  # two causes of one effect have one direction


def test_the_order_of_columns_does_not_matter() -> None:
    parents = [(), (0,), (0, 1), (1, 2), (2, 3), (3,), (4, 5)]
    data = sampled(parents, 500, seed=1)
    order = [3, 0, 6, 5, 1, 4, 2]
    found, moved = learn_network(data), learn_network(data.reordered(order))
    assert moved.evidence == found.evidence
    for v, own in enumerate(moved.parents):
        assert sorted(order[u] for u in own) == list(found.parents[order[v]])


@pytest.mark.parametrize("basis", ["walsh", "indicator", "monomial"])
def test_a_network_is_a_log_linear_model(basis: str) -> None:
    """The product of its tables, state by state; its terms lie inside its families."""
    data = rows_of(200)
    parents = ((), (0,), (0, 1), (1, 2))
    network = Network(data.space, parents, fitted_tables(data, parents, 2.0), 2.0, 0.0, 0.0)
    every = np.array(list(np.ndindex(*CARDS)))
    by_hand = np.zeros(len(every))
    for r, x in enumerate(every):
        for v, own in enumerate(parents):
            a = 2.0 / (CARDS[v] * math.prod(CARDS[i] for i in own))
            same = (data.states[:, own] == x[list(own)]).all(axis=1)
            counts = data.counts[same & (data.states[:, v] == x[v])].sum() + a
            by_hand[r] += math.log(counts / (data.counts[same].sum() + a * CARDS[v]))
    assert np.allclose(network.log_prob(every), by_hand, rtol=1e-12)
    model = network.log_linear(basis)  # type: ignore[arg-type]
    assert np.allclose(model.log_prob(every), by_hand, rtol=1e-10)
    assert all(any({i for i, _ in term} <= set(f) for f in network.families) for term in model.terms)


def test_an_interruption_keeps_the_best_so_far() -> None:
    told = []

    def watch(progress: Progress) -> None:
        told.append(progress.cost)
        if len(told) == 3:
            raise Interrupted

    found = learn_network(sampled([(), (0,), (0, 1), (1, 2), (2, 3), (3,), (4, 5)], 500), watch=watch)
    assert not found.is_finished
    assert 1 <= sum(map(len, found.parents)) <= 3
    assert told == sorted(told, reverse=True)


def test_missing_cells_are_refused() -> None:
    data = Empirical.from_codes([[0, 1], [-1, 0], [1, 1]], allow_missing=True)
    with pytest.raises(FullspanError, match="complete the rows first"):
        learn_network(data)
