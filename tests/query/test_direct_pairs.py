"""What pairs of a mixture share directly and by the hidden variable, against enumeration."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest

from fullspan.data import Space
from fullspan.model import FactorGraph, Mixture
from fullspan.query.distributions import DirectPairs, MixtureDistribution

CARDS = (2, 3, 2, 2)
SCOPES = ([(0, 1), (1, 2, 3)], [(3, 0), (2,)])


def component(scopes: list[tuple[int, ...]], rng: np.random.Generator) -> tuple[FactorGraph, np.ndarray]:
    """A normalised graph, and its table of all states."""
    space = Space.of_cards(CARDS)
    tables = [rng.normal(size=[CARDS[i] for i in scope]) for scope in scopes]
    log = np.zeros(CARDS)
    for x in itertools.product(*map(range, CARDS)):
        log[x] = sum(table[tuple(x[i] for i in scope)] for scope, table in zip(scopes, tables, strict=True))
    log_z = np.logaddexp.reduce(log, axis=None)
    tables[0] = tables[0] - log_z
    return FactorGraph(space, scopes, tables), np.exp(log - log_z)


def test_information_and_covariance_by_enumeration() -> None:
    """I_q and Cov_q with q = sum_h pi_h p_h(x_i, x_j), or the product of the marginals where h joins them not."""
    rng = np.random.default_rng(0)
    shares = np.array([0.3, 0.7])
    graphs, p = zip(*(component(scopes, rng) for scopes in SCOPES), strict=True)
    found = DirectPairs.of(MixtureDistribution(Mixture(Space.of_cards(CARDS), shares, graphs)))
    for k, (i, j) in enumerate(itertools.combinations(range(4), 2)):
        q = np.zeros((CARDS[i], CARDS[j]))
        for h, scopes in enumerate(SCOPES):
            pair = p[h].sum(axis=tuple(v for v in range(4) if v not in (i, j)))
            joined = any({i, j} <= set(scope) for scope in scopes)
            q += shares[h] * (pair if joined else np.outer(pair.sum(axis=1), pair.sum(axis=0)))
        apart = np.outer(q.sum(axis=1), q.sum(axis=0))
        x, y = np.arange(CARDS[i]), np.arange(CARDS[j])
        assert found.information[k] == pytest.approx(float((q * np.log(q / apart)).sum()), abs=1e-12)
        assert found.covariance[k] == pytest.approx(float(x @ (q - apart) @ y), abs=1e-12)


def test_one_component_shares_nothing_beyond_its_factors() -> None:
    """With a single level of the hidden variable, pairs without a factor have no information."""
    graph, _ = component([(0, 1), (2,), (3,)], np.random.default_rng(1))
    found = DirectPairs.of(MixtureDistribution(Mixture(Space.of_cards(CARDS), np.ones(1), (graph,))))
    assert found.information[0] > 0.01
    assert found.information[1:] == pytest.approx(0, abs=1e-12)


def test_a_column_of_many_levels_costs_what_its_own_pairs_cost() -> None:
    """Memory follows the levels of two variables, not the most levels squared for all pairs."""
    cards, rng = (400, *[2] * 100), np.random.default_rng(2)
    space = Space.of_cards(cards)
    scopes = [(v,) for v in range(len(cards))]
    graphs = [FactorGraph(space, scopes, [np.log(rng.dirichlet(np.full(c, 5.0))) for c in cards]) for _ in range(2)]
    oracle = MixtureDistribution(Mixture(space, np.array([0.5, 0.5]), tuple(graphs)))
    assert [tree.log_z() for tree in oracle.parts] == pytest.approx([0.0, 0.0], abs=1e-9)
    tracemalloc.start()
    found = DirectPairs.of(oracle)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.information.shape == (101 * 100 // 2,)
    assert peak < 20 << 20


def test_a_single_variable_has_no_pairs() -> None:
    """Nothing is shared with nobody."""
    space = Space.of_cards((3,))
    graph = FactorGraph(space, [(0,)], [np.log([0.2, 0.3, 0.5])])
    assert DirectPairs.of(MixtureDistribution(Mixture(space, np.ones(1), (graph,)))).information.shape == (0,)
