"""Models of bounded width, against enumeration: sums, information, all pairs, candidates, refits, planted graphs."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest

from fullspan.data import Empirical, Space
from fullspan.engine.elimination import ClusterTree, all_pairs, level_starts, misfits, pair_cells
from fullspan.learn.networks import learn_network
from fullspan.learn.wide import (
    Candidate,
    CliqueTerms,
    Counts,
    Gaussian,
    Growth,
    Tariff,
    Terms,
    Weigher,
    WideOptions,
    Width,
    candidates,
    fit_wide,
    in_basis,
    longer_candidates,
    named_scopes,
    pair_candidates,
    visits,
)
from fullspan.model import FactorGraph, LogLinear
from fullspan.model.algebra import Basis, BasisName

CARDS = (2, 3, 2, 4, 2, 2, 3)
STATES = np.array(list(itertools.product(*map(range, CARDS))))
FREE = Tariff(np.zeros(8), np.zeros(7))


def some_terms(basis: Basis, seed: int) -> Terms:
    """Random pairs and triples, as many as 300 cells take, and all main effects."""
    rng, width = np.random.default_rng(seed), Width(CARDS, 300)
    pairs = list(itertools.combinations(range(len(CARDS)), 2))
    scopes = [pairs[k] for k in rng.permutation(len(pairs))[:9] if width.join(pairs[k])]
    width.reorder()
    scopes += [s for s in itertools.combinations(range(len(CARDS)), 3) if width.holds(s)][:3]
    terms = {tuple((i, int(rng.integers(1, CARDS[i]))) for i in scope) for scope in scopes}
    terms |= {((i, j),) for i, card in enumerate(CARDS) for j in range(1, card)}
    return Terms(Space.of_cards(CARDS), basis, sorted(terms), width.order, width.separators())


def enumerated(terms: Terms, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Functions of all states, their probabilities, log Z."""
    phi = terms.basis.evaluate(terms.terms, STATES).astype(float)
    log = phi @ theta
    log_z = float(np.logaddexp.reduce(log))
    return phi, np.exp(log - log_z), log_z


@pytest.fixture(scope="module")
def data() -> Empirical:
    rng = np.random.default_rng(3)
    codes = np.stack([rng.integers(0, card, 500) for card in CARDS], axis=1)
    codes[:, 4] = (codes[:, 0] + codes[:, 2] + (rng.random(500) < 0.1)) % 2
    codes[:, 3] = np.where(rng.random(500) < 0.7, codes[:, 1], codes[:, 3])
    return Empirical.from_codes(codes, space=Space.of_cards(CARDS))


@pytest.mark.parametrize(("name", "seed"), [("walsh", 0), ("indicator", 1), ("monomial", 2)])
def test_sums_expectations_information_and_all_pairs(name: BasisName, seed: int) -> None:
    """log Z, eta, the covariance of all terms and p(x_i, x_j) of all pairs are those of the table of states."""
    terms = some_terms(Basis(name, CARDS), seed)
    theta = np.random.default_rng(seed).normal(0, 0.7, len(terms.terms))
    phi, p, log_z = enumerated(terms, theta)
    found, eta = terms.expectations(theta)
    tables = terms.tables(theta)
    hot = np.concatenate([np.eye(card)[STATES[:, i]] for i, card in enumerate(CARDS)], axis=1)
    assert found == pytest.approx(log_z)
    assert eta == pytest.approx(phi.T @ p)
    assert terms.fisher(tables) == pytest.approx((phi * p[:, None]).T @ phi - np.outer(eta, eta), abs=1e-12)
    assert pair_cells(terms.cliques, tables) == pytest.approx((hot * p[:, None]).T @ hot, abs=1e-12)


def test_the_information_of_many_terms_in_a_large_clique_takes_little_memory() -> None:
    """153 pairs of 18 independent spins are uncorrelated. As doubles, their columns alone would take 321 MB, twice."""
    cards, pairs = (2,) * 18, list(itertools.combinations(range(18), 2))
    width = Width(cards, 1 << 20)
    assert all(width.join(pair) for pair in pairs)
    space, named = Space.of_cards(cards), [((i, 1), (j, 1)) for i, j in pairs]
    terms = Terms(space, Basis("walsh", cards), named, width.order, width.separators())
    tables = [np.full(terms.cliques.shape(0), 2.0**-18)]
    tracemalloc.start()
    try:
        found = terms.fisher(tables)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == pytest.approx(np.eye(len(pairs)), abs=1e-9)
    assert peak < 300e6


def test_all_pairs_of_a_graph_without_clamping() -> None:
    """One sweep over the cliques gives what clamping every level gives, also where states have probability 0."""
    terms = some_terms(Basis("monomial", CARDS), 5)
    theta = np.random.default_rng(5).normal(0, 0.7, len(terms.terms))
    graph = FactorGraph.of_loglinear(LogLinear(Space.of_cards(CARDS), terms.basis, terms.terms, theta, 0.0))
    values = graph.values.copy()
    values[3] = -np.inf
    tree = ClusterTree(graph).reweighted(values)
    found = all_pairs(ClusterTree(FactorGraph.of_arrays(graph.space, graph.scope_starts, graph.variables, values)), 1e6)
    assert found is not None
    starts = level_starts(CARDS)
    alone = np.concatenate(tree.marginals())
    for i, a in ((0, 1), (3, 2), (6, 0)):
        own = np.concatenate(tree.marginals({i: (a,)})) * alone[starts[i] + a]
        assert found[starts[i] + a] == pytest.approx(own, rel=1e-12, abs=1e-15)
    assert all_pairs(tree, 10) is None


def test_cells_and_separators_are_those_of_the_order() -> None:
    """Cells by adding edges one by one are those of elimination by hand, and a refused edge changes nothing."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        width, edges = Width(CARDS, 200, max_width=3), set()
        for k in rng.permutation(21):
            pair = list(itertools.combinations(range(7), 2))[k]
            before = width.cells
            added = width.added(*pair)
            if width.join(pair):
                edges.add(pair)
                assert width.cells == pytest.approx(before + added)
            else:
                assert width.cells == before
        near = {i: {j for pair in edges for j in pair if i in pair and j != i} for i in range(7)}
        cells = 0
        for v, separator in zip(width.order, width.separators(), strict=True):
            assert set(separator) == near[v]
            cells += int(np.prod([CARDS[i] for i in (v, *separator)]))
            for u in near.pop(v):
                near[u] = (near[u] | set(separator)) - {u, v}
        assert cells == pytest.approx(width.cells)
        assert width.cells <= 200
        assert width.width <= 3
        width.reorder()
        assert width.cells <= cells


def test_counts_of_pairs_cliques_and_terms(data: Empirical) -> None:
    """All hold one pseudo-row spread evenly over the states."""
    counts, share = Counts(data), np.full(len(STATES), 1 / len(STATES))
    share += data.counts @ (data.states[:, None] == STATES[None]).all(axis=2)
    share /= 501
    hot = np.concatenate([np.eye(card)[STATES[:, i]] for i, card in enumerate(CARDS)], axis=1)
    basis = Basis("indicator", CARDS)
    terms = [((0, 1),), ((1, 2), (3, 1)), ((0, 1), (2, 1), (6, 2))]
    phi = basis.evaluate(terms, STATES).astype(float)
    assert counts.pairs == pytest.approx((hot * share[:, None]).T @ hot)
    assert counts.table((1, 4)).sum(axis=1) == pytest.approx(np.bincount(STATES[:, 1], share))
    assert counts.expectations(basis, terms) == pytest.approx(phi.T @ share)
    assert counts.products(basis, terms[1:2], [((5, 1),)])[0, 0] == pytest.approx(
        share @ (phi[:, 1] * basis.evaluate([((5, 1),)], STATES)[:, 0]), rel=1e-6
    )


def test_candidates_gain_what_they_say(data: Empirical) -> None:
    """Pairs: N KL of their margins; single terms, inside cliques and longer ones: N gain(q, m); by enumeration."""
    counts, basis = Counts(data), Basis("indicator", CARDS)
    terms = some_terms(basis, 4)
    theta = np.random.default_rng(1).normal(0, 0.3, len(terms.terms))
    phi, p, _ = enumerated(terms, theta)
    tables, eta = terms.tables(theta), phi.T @ p
    cells = pair_cells(terms.cliques, tables)
    starts = level_starts(CARDS)
    q, m = (x[starts[1] : starts[2], starts[3] : starts[4]] for x in (counts.pairs, cells))
    assert misfits(counts.pairs, cells, CARDS)[1, 3] == pytest.approx(float((q * np.log(q / m)).sum()))
    pair = next(c for c in pair_candidates(counts, cells, basis, terms.terms, FREE) if c.variables == (1, 3))
    n_missing = 6 - sum(1 for term in terms.terms if tuple(i for i, _ in term) == (1, 3))
    assert pair.net >= 500 * float((q * np.log(q / m)).sum()) - n_missing - 1e-9
    moments = terms.fisher(tables) + np.outer(eta, eta)
    single = CliqueTerms(counts, terms.cliques, basis).candidates(tables, terms.terms, FREE)[:5]
    longer = longer_candidates(counts, basis, terms.terms, moments, FREE)[:5]
    assert single
    assert longer
    for candidate in (*single, *longer):
        model = p @ basis.evaluate(candidate.terms, STATES)
        gain = 500 * candidates.two_valued_gain(counts.expectations(basis, candidate.terms), model, basis.zero_one)[0]
        assert candidate.net == pytest.approx(gain - 1.0, rel=1e-6)
        assert len(candidate.variables) > 2


@pytest.mark.parametrize("name", ["walsh", "monomial"])
def test_weights_are_the_penalised_maximum_and_change_their_basis(data: Empirical, name: BasisName) -> None:
    """d - eta = w (theta - m) at the optimum; in another basis the distribution is the same."""
    terms = some_terms(Basis(name, CARDS), 5)
    weigher, k = Weigher(Counts(data), data.space, terms.basis), len(terms.terms)
    prior = Gaussian(np.full(k, 0.1), np.full(k, 0.01))
    reached = weigher.weighed(terms, {}, prior, tolerance=1e-10)
    phi, p, _ = enumerated(terms, reached.theta)
    assert reached.d - phi.T @ p == pytest.approx(0.01 * (reached.theta - 0.1), abs=1e-6)
    other = Basis("indicator", CARDS)
    weights = in_basis(reached, other)
    log = other.evaluate(list(weights), STATES) @ np.array(list(weights.values()))
    assert np.exp(log - np.logaddexp.reduce(log)) == pytest.approx(p)


def planted(n: int, width: int, rows: int, seed: int) -> tuple[set[frozenset[int]], np.ndarray]:
    """A random graph of some width with one triple, drawn variable by variable given its earlier neighbours."""
    rng, edges = np.random.default_rng(seed), set[frozenset[int]]()
    codes = np.zeros((rows, n), dtype=np.int64)
    for v in range(n):
        near = rng.choice(range(max(0, v - width), v), min(v, 2), replace=False) if v else []
        signal = sum(rng.choice([-0.9, 0.9]) * (2 * codes[:, u] - 1) for u in near)
        edges |= {frozenset((int(u), v)) for u in near}
        codes[:, v] = rng.random(rows) < 1 / (1 + np.exp(-2 * np.asarray(signal)))
    return edges, codes


def test_scopes_are_named_as_a_set() -> None:
    """ln m! less than one after the other: what the next one costs is the difference; what others hold is not named."""
    tariff = Tariff(np.arange(8.0), np.linspace(0.1, 0.7, 7), 0.5)
    pairs = [((0, 1), (1, 1)), ((0, 1), (1, 2)), ((1, 1), (2, 1)), ((3, 2), (4, 1))]
    terms = [*pairs, ((0, 1), (1, 1), (6, 2)), ((5, 1),)]
    assert sorted(named_scopes(terms)) == [(0, 1, 6), (1, 2), (3, 4), (5,)]
    alone = 3 + 0.1 + 0.2 + 0.7 + (2 + 0.2 + 0.3) + (2 + 0.4 + 0.5) + (1 + 0.6)
    assert tariff.of(terms) == pytest.approx(alone - 0.5 * np.log(2))
    more = ((2, 1), (5, 1))
    assert tariff.of([*terms, more]) - tariff.of(terms) == pytest.approx(tariff.next_to(terms).name((2, 5)))
    assert tariff.next_to(terms).name((2, 5)) == pytest.approx(2 + 0.3 + 0.6 - 0.5 * np.log(3))


def test_a_planted_graph_is_found() -> None:
    """30 columns, 25,000 rows, neighbours up to 8 places apart: all edges, and little else beside common children."""
    edges, codes = planted(30, 8, 25_000, 0)
    fitted = fit_wide(Empirical.from_codes(codes, space=Space.of_cards((2,) * 30)), WideOptions(cells=1 << 14))
    pairs = {frozenset(i for i, _ in term) for term in fitted.model.terms if len(term) == 2}
    moral = {frozenset(pair) for pair in itertools.combinations(range(30), 2)} - edges
    children = {v: [u for u in range(v) if frozenset((u, v)) in edges] for v in range(30)}
    moral = {frozenset(pair) for near in children.values() for pair in itertools.combinations(near, 2)}
    assert edges <= pairs
    assert len(pairs - edges - moral) <= 3


@pytest.mark.parametrize("n", [60, pytest.param(200, marks=pytest.mark.slow)])
def test_planted_majorities_are_found(n: int) -> None:
    """A column follows another one, or the majority of three, which is three pairs and a term of all four."""
    rng, rows = np.random.default_rng(8), 4000
    codes = rng.integers(0, 2, (rows, n))
    pairs, quadruples = set(), set()
    for v in range(3, n):
        parents = [v - 3, v - 2, v - 1] if v % 4 == 0 else [v - 1]
        pairs |= {frozenset((v, p)) for p in parents}
        quadruples |= {frozenset((v, *parents))} if len(parents) == 3 else set()
        most = codes[:, parents].mean(axis=1) > 0.5
        codes[:, v] = np.where(rng.random(rows) < 0.7, most, codes[:, v])
    fitted = fit_wide(Empirical.from_codes(codes, space=Space.of_cards((2,) * n)), WideOptions(cells=40 * n))
    found = {frozenset(i for i, _ in term) for term in fitted.model.terms if len(term) > 1}
    planted = pairs | quadruples
    assert len(planted - found) <= (0 if n == 60 else 0.02 * len(planted))
    assert len(found - planted) <= (4 if n == 60 else 0.15 * len(planted))


def test_chance_finds_next_to_nothing() -> None:
    """40 independent columns: the first pair has its full price, so that hardly one of the 780 is taken."""
    codes = (np.random.default_rng(4).random((3, 2000, 40)) < 0.4).astype(int)
    for rows in codes:
        fitted = fit_wide(Empirical.from_codes(rows, space=Space.of_cards((2,) * 40)))
        assert sum(len(term) > 1 for term in fitted.model.terms) <= 2


def test_columns_in_any_order_give_the_same_model() -> None:
    """The terms, and log-probabilities to rounding, do not depend on the order of the columns."""
    _, codes = planted(14, 4, 1500, 1)
    order = np.random.default_rng(0).permutation(14)
    first = fit_wide(Empirical.from_codes(codes, space=Space.of_cards((2,) * 14)), WideOptions(cells=256))
    second = fit_wide(Empirical.from_codes(codes[:, order], space=Space.of_cards((2,) * 14)), WideOptions(cells=256))
    assert first.model.log_prob(codes[:50]) == pytest.approx(second.model.log_prob(codes[:50][:, order]))
    assert first.description_length == pytest.approx(second.description_length)


def test_a_network_of_tables_is_not_lost_to_the_network() -> None:
    """Saturated families of three levels, whose terms pay only together: the model is as good as its network."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 3, (4000, 8))
    for v in range(2, 8):
        table = rng.dirichlet(np.full(3, 0.5), size=(3, 3))
        cumulated = table[codes[:, v - 1], codes[:, v - 2]].cumsum(axis=1)
        codes[:, v] = (rng.random((4000, 1)) > cumulated[:, :2]).sum(axis=1)
    space = Space.of_cards((3,) * 8)
    train, held = Empirical.from_codes(codes[:3000], space=space), codes[3000:]
    network = learn_network(train)
    found = fit_wide(train, WideOptions(cells=2048)).model.log_prob(held).mean()
    assert found > network.log_prob(held).mean() - 0.02


def test_a_round_that_adds_nothing_leaves_the_graph_of_the_model(data: Empirical) -> None:
    """What was tried on the graph is taken back: the model's tables stay those of its order."""
    space, options = data.space, WideOptions()
    weigher = Weigher(Counts(data), space, Basis("walsh", space.cards))
    width = Width(space.cards, 1e6)
    tariff = options.tariff(space.cards, data.total)
    growth = Growth(weigher, width, tariff, weigher.independent(width), lambda move, reached: None)
    before = growth.width.separators()
    offered = [Candidate(1.0, (0, 1), (((0, 1), (1, 1)),))]
    assert not growth._accepted("margin", offered, lambda found: [c for c in found if not growth.width.join((0, 1))])
    assert growth.width.separators() == before


@pytest.mark.parametrize(("missing", "cells"), [(1, 1 << 17), (20, 1 << 13)])
def test_rows_that_leave_much_open_get_a_smaller_budget(missing: int, cells: int) -> None:
    """A row visits at most 2^13 cells on average: all of a large table if it leaves little open."""
    rows = np.random.default_rng(0).integers(0, 2, (50, 40))
    rows[:, :missing] = -1
    data = Empirical.from_codes(rows, space=Space.of_cards((2,) * 40), allow_missing=True)
    assert visits(data, 1 << 17) == cells
