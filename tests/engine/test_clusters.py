"""Exact elimination on every topology against enumeration, its laws, and its behaviour on large graphs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.graphs import SHAPES, Enumerated, cards_of, grid, weighted
from fullspan.data import Space
from fullspan.engine.elimination import ClusterTree
from fullspan.engine.elimination.sweeps import Boxes
from fullspan.errors import FullspanError, QueryError, TooLargeError
from fullspan.model import FactorGraph

CASES = [
    (shape, kind, forbidden, scale)
    for shape in SHAPES
    for kind, forbidden, scale in [
        ("binary", 0.0, 0.8),
        ("mixed", 0.0, 0.8),
        ("mixed", 0.25, 0.8),
        ("binary", 0.2, 300.0),
    ]
]


def built(shape: str, kind: str, forbidden: float, scale: float) -> FactorGraph:
    n, edges = SHAPES[shape]
    return weighted(edges, cards_of(kind, n), seed=len(shape), scale=scale, forbidden=forbidden)


def check(graph: FactorGraph, listed: Enumerated, tree: ClusterTree, evidence: dict | None = None) -> None:
    beliefs = tree.beliefs(evidence)
    assert beliefs.log_z == pytest.approx(listed.log_z, rel=1e-12, abs=1e-11)
    assert tree.log_z(evidence) == beliefs.log_z
    for v in range(len(graph.space)):
        np.testing.assert_allclose(beliefs.variable(v), listed.marginal((v,)), atol=1e-11)
    for f, scope in enumerate(graph.scopes):
        np.testing.assert_allclose(beliefs.factor(f), listed.marginal(scope), atol=1e-11)


@pytest.mark.parametrize(("shape", "kind", "forbidden", "scale"), CASES)
def test_sums_and_marginals(shape: str, kind: str, forbidden: float, scale: float) -> None:
    """log Z and the marginals of all variables and factors, also with forbidden states and huge log values."""
    graph = built(shape, kind, forbidden, scale)
    check(graph, Enumerated(graph), ClusterTree(graph))


@pytest.mark.parametrize(("shape", "kind", "forbidden", "scale"), CASES)
def test_evidence(shape: str, kind: str, forbidden: float, scale: float) -> None:
    """Clamped variables, other known variables and allowed levels restrict the states that are summed."""
    graph = built(shape, kind, forbidden, scale)
    n = len(graph.space)
    clamped = [v for v in (n - 1, 1) if v < n][: max(1, n - 1)]
    evidence: dict = dict.fromkeys(clamped, 0)
    if n > 3:
        evidence |= {2: 0, 0: list(range(graph.space.cards[0] - 1))}
    listed = Enumerated(graph, lambda x: np.all([np.isin(x[:, v], codes) for v, codes in evidence.items()], axis=0))
    check(graph, listed, ClusterTree(graph, clamped), evidence)
    check(graph, listed, ClusterTree(graph), evidence)


@pytest.mark.parametrize(("shape", "kind", "forbidden", "scale"), CASES)
def test_boxes_are_the_single_sums(shape: str, kind: str, forbidden: float, scale: float) -> None:
    """One call gives log Z of each box, by numbers or by logarithms; messages kept do not survive other tables."""
    graph = built(shape, kind, forbidden, scale)
    rng, cards = np.random.default_rng(5), graph.space.cards
    each: list[dict[int, tuple[int, ...]]] = [{}]
    for _ in range(12):
        named = rng.choice(len(cards), rng.integers(1, len(cards) + 1), replace=False).tolist()
        each.append(
            {
                v: tuple(sorted(rng.choice(cards[v], rng.integers(1, cards[v] + 1), replace=False).tolist()))
                for v in named
            }
        )
    tree, boxes = ClusterTree(graph), Boxes.of(each, graph.space)
    for one in (tree, tree.reweighted(tree.values * 0.5)):
        expected = [one.log_z(box) for box in each]
        np.testing.assert_allclose(one.log_z_boxes(boxes), expected, rtol=1e-12, atol=1e-11)


def test_boxes_are_checked() -> None:
    space = Space.of_cards((2, 3))
    for box, message in [({2: (0,)}, "no variable 2"), ({1: (0, 3)}, "codes 0 to 2"), ({0: ()}, "codes 0 to 1")]:
        with pytest.raises(QueryError, match=message):
            Boxes.of([box], space)
    graph = FactorGraph(space, ((0, 1),), (np.zeros((2, 3)),))
    with pytest.raises(QueryError, match="without clamped"):
        ClusterTree(graph, [0]).log_z_boxes(Boxes.of([{}], space))


@pytest.mark.parametrize(("shape", "kind", "forbidden", "scale"), CASES)
def test_mode(shape: str, kind: str, forbidden: float, scale: float) -> None:
    """The mode has the largest weight of all states, with and without evidence."""
    graph = built(shape, kind, forbidden, scale)
    listed = Enumerated(graph)
    assert graph.log_weight([ClusterTree(graph).mode()])[0] == pytest.approx(listed.weights.max(), rel=1e-12)
    last = len(graph.space) - 1
    known = Enumerated(graph, lambda x: x[:, last] == 0)
    for tree_ in (ClusterTree(graph), ClusterTree(graph, [last])):
        state = tree_.mode({last: 0})
        assert state[last] == 0
        assert graph.log_weight([state])[0] == pytest.approx(known.weights.max(), rel=1e-12)


@pytest.mark.parametrize("shape", ["tree", "grid", "higher order", "star"])
@pytest.mark.parametrize("scale", [0.8, 300.0])
def test_samples_have_the_frequencies_of_the_model(shape: str, scale: float) -> None:
    """The counts of 40,000 exact samples fit all states by a chi-square test; forbidden states never occur."""
    n, edges = SHAPES[shape]
    graph = weighted(edges, [2] * n, seed=2, scale=scale, forbidden=0.1)
    listed, size = Enumerated(graph), 40_000
    states = ClusterTree(graph).sample(size, np.random.default_rng(5))
    counts = np.bincount(states @ (1 << np.arange(n)), minlength=1 << n)[listed.states @ (1 << np.arange(n))]
    often = size * listed.p > 5
    rest = counts[~often].sum() - size * listed.p[~often].sum()
    chi2 = ((counts[often] - size * listed.p[often]) ** 2 / (size * listed.p[often])).sum()
    assert chi2 < often.sum() + 5 * np.sqrt(2 * often.sum()) + 5
    assert abs(rest) < 5 * np.sqrt(size * listed.p[~often].sum() + 1)
    assert counts[listed.p == 0].sum() == 0


def test_samples_obey_the_evidence() -> None:
    """Clamped and restricted variables keep their codes; the same seed gives the same states."""
    graph = weighted(grid(3, 3), [3] * 9, seed=4)
    tree_ = ClusterTree(graph, [4])
    states = tree_.sample(500, np.random.default_rng(1), {4: 2, 0: [0, 2]})
    assert set(states[:, 4]) == {2}
    assert set(states[:, 0]) == {0, 2}
    assert (states == tree_.sample(500, np.random.default_rng(1), {4: 2, 0: [0, 2]})).all()


# -- laws -----------------------------------------------------------------------------------------------------


def test_gradient_is_the_finite_difference() -> None:
    """d log Z / d g_f(x_f) = p(x_f), for every entry of every table."""
    graph = weighted(SHAPES["higher order"][1], [2, 3, 2, 2, 3, 2, 2], seed=6)
    tree_ = ClusterTree(graph)
    gradient, h = tree_.beliefs().factors, 1e-5
    for e in range(len(graph.values)):
        step = np.zeros(len(graph.values))
        step[e] = h
        up, down = (tree_.reweighted(graph.values + s).log_z() for s in (step, -step))
        assert (up - down) / (2 * h) == pytest.approx(gradient[e], abs=1e-8)


def test_wide_tables_agree_with_another_order() -> None:
    """A 10 by 10 lattice: tables of many blocks give what any other order gives, and factors agree on variables."""
    graph = weighted(grid(10, 10), [2] * 100, seed=8)
    found, rows = ClusterTree(graph).beliefs(), ClusterTree(graph, order=range(100)).beliefs()
    assert found.log_z == pytest.approx(rows.log_z, rel=1e-13)
    np.testing.assert_allclose(found.factors, rows.factors, atol=1e-12)
    for f, scope in enumerate(graph.scopes):
        for axis, v in enumerate(scope):
            others = tuple(a for a in range(len(scope)) if a != axis)
            np.testing.assert_allclose(found.factor(f).sum(axis=others), found.variable(v), atol=1e-12)


@pytest.mark.parametrize("scale", [0.5, 200.0])
def test_wide_tables_with_many_levels_and_large_factors(scale: float) -> None:
    """Mixed levels, a factor as large as the table and axes that do not fill blocks: as by enumeration in two parts."""
    cards = [3, 5, 4, 3, 5, 2, 7, 3]
    edges: list[tuple[int, ...]] = [(6, 1, 3, 0, 2), (0, 1, 2, 3, 4, 5), (2, 7), (7, 4), (5, 6), (3, 6, 7)]
    graph = weighted(edges, cards, seed=9, scale=scale, forbidden=0.05)
    check(graph, Enumerated(graph), ClusterTree(graph))


def test_relabelling_changes_nothing() -> None:
    """Renaming variables and permuting levels and axes permutes the marginals and keeps log Z."""
    rng = np.random.default_rng(10)
    graph = weighted(SHAPES["3-regular"][1], cards_of("mixed", 8), seed=10)
    new = rng.permutation(8)
    levels = [rng.permutation(c) for c in graph.space.cards]
    cards = np.empty(8, dtype=int)
    cards[new] = graph.space.cards
    scopes, tables = [], []
    for scope, table in zip(graph.scopes, graph.tables, strict=True):
        turn = rng.permutation(len(scope))
        moved = table[np.ix_(*(np.argsort(levels[v]) for v in scope))]
        scopes.append(tuple(int(new[scope[a]]) for a in turn))
        tables.append(moved.transpose(turn))
    other = ClusterTree(FactorGraph(Space.of_cards(cards), tuple(scopes), tuple(tables))).beliefs()
    plain = ClusterTree(graph).beliefs()
    assert other.log_z == pytest.approx(plain.log_z, rel=1e-13)
    for v in range(8):
        np.testing.assert_allclose(other.variable(int(new[v]))[levels[v]], plain.variable(v), atol=1e-13)


def test_clamped_sums_add_up() -> None:
    """Z = sum over the values of clamped variables of Z(values)."""
    graph = weighted(grid(4, 4), [2, 3] * 8, seed=11)
    clamped = [5, 10, 3]
    patterns = np.array(list(np.ndindex(*(graph.space.cards[v] for v in clamped))))
    parts = ClusterTree(graph, clamped).log_z_batch(patterns)
    assert np.logaddexp.reduce(parts) == pytest.approx(ClusterTree(graph).log_z(), rel=1e-13)


def test_second_cumulants() -> None:
    """Covariances of factor entries are second differences of log Z, and positive semidefinite."""
    graph = weighted(SHAPES["2-tree"][1], [2, 3, 2, 2, 2, 3, 2], seed=13)
    tree_ = ClusterTree(graph)
    entries = [0, 3, 7, 11, 20, 33, len(graph.values) - 1]
    found = tree_.covariances(entries)
    h = 1e-5
    for a, e in enumerate(entries):
        step = np.zeros(len(graph.values))
        step[e] = h
        up, down = (tree_.reweighted(graph.values + s).beliefs().factors for s in (step, -step))
        np.testing.assert_allclose(found[a], (up - down)[entries] / (2 * h), atol=1e-8)
    assert np.linalg.eigvalsh(found).min() > -1e-12
    with pytest.raises(QueryError, match="entries are numbers"):
        tree_.covariances([-1])


def test_partial_states() -> None:
    """log p of known cells sums over the others, whether rows share their pattern or not."""
    graph = weighted(SHAPES["grid"][1], cards_of("mixed", 9), seed=14)
    listed, rng = Enumerated(graph), np.random.default_rng(0)
    states = listed.states[rng.integers(len(listed.states), size=40)].copy()
    states[:20, [1, 5, 6]] = -1
    states[20:][rng.random((20, 9)) < 0.5] = -1
    states[39] = -1
    found = ClusterTree(graph).log_prob(states)
    for row, value in zip(states, found, strict=True):
        agree = np.all((row < 0) | (listed.states == row), axis=1)
        assert value == pytest.approx(np.log(listed.p[agree].sum()), abs=1e-11)


# -- many patterns --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.8, 6.0, 300.0])
@pytest.mark.parametrize("shape", ["tree", "grid", "higher order", "complete", "disconnected", "duplicates"])
def test_batches_are_the_single_answers(shape: str, scale: float) -> None:
    """Every pattern of a batch gets the log Z that it gets alone."""
    n, edges = SHAPES[shape]
    cards = cards_of("mixed", n)
    graph = weighted(edges, cards, seed=15, scale=scale)
    clamped, rng = [n - 1, 0, 3], np.random.default_rng(16)
    tree_ = ClusterTree(graph, clamped)
    values = np.stack([rng.integers(cards[v], size=300) for v in clamped], axis=1)
    alone = [tree_.log_z(dict(zip(clamped, row.tolist(), strict=True))) for row in values]
    np.testing.assert_allclose(tree_.log_z_batch(values), alone, rtol=1e-12, atol=1e-11)


def test_batches_with_impossible_patterns() -> None:
    """A pattern of probability zero has log Z = -inf."""
    graph = FactorGraph(Space.of_cards((2, 2)), ((0, 1),), (np.array([[0.3, -np.inf], [-np.inf, -np.inf]]),))
    tree_ = ClusterTree(graph, [0])
    assert tree_.log_z_batch([[0], [1]]).tolist() == [pytest.approx(0.3), -np.inf]
    assert ClusterTree(graph, [1, 0]).log_z_batch(np.array([[0, 0], [1, 0]])).tolist() == [0.3, -np.inf]


def test_batches_of_long_chains() -> None:
    """Scales are taken out on the way: 3,000 nodes of strong factors, patterns at both ends."""
    n = 3_000
    graph = weighted([(i, i + 1) for i in range(n - 1)], [3] * n, seed=17, scale=4.0)
    tree_ = ClusterTree(graph, [0, n - 1])
    values = np.array(list(np.ndindex(3, 3)))
    alone = [tree_.log_z({0: int(a), n - 1: int(b)}) for a, b in values]
    np.testing.assert_allclose(tree_.log_z_batch(values), alone, rtol=1e-13)


# -- large ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strength", [0.7, 50.0])
def test_long_chain_against_the_transfer_matrix(strength: float) -> None:
    """100,000 spins: log Z by products of 2 by 2 matrices; the end's marginal by the last product."""
    n = 100_000
    rng = np.random.default_rng(18)
    coupling = rng.choice([-1.0, 1.0], size=n - 1) * strength * rng.uniform(0.5, 1.0, size=n - 1)
    field = rng.normal(scale=strength, size=n)
    tables = [
        *(coupling[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])),
        *(field[:, None] * np.array([1.0, -1.0])),
    ]
    scopes = [*((i, i + 1) for i in range(n - 1)), *((i,) for i in range(n))]
    beliefs = ClusterTree(FactorGraph(Space.of_cards([2] * n), tuple(scopes), tuple(tables))).beliefs()
    log = field[0] * np.array([1.0, -1.0])
    for i in range(n - 1):
        up, down = log[0] + coupling[i], log[1] - coupling[i]
        other = log[0] - coupling[i], log[1] + coupling[i]
        log = np.logaddexp([up, other[0]], [down, other[1]]) + field[i + 1] * np.array([1.0, -1.0])
    log_z = np.logaddexp(*log)
    assert beliefs.log_z == pytest.approx(log_z, rel=1e-12)
    np.testing.assert_allclose(beliefs.variable(n - 1), np.exp(log - log_z), atol=1e-9)
    assert np.isfinite(beliefs.factors).all()
    np.testing.assert_allclose(beliefs.variables.reshape(n, 2).sum(axis=1), 1.0, atol=1e-9)


def test_star_of_strong_leaves() -> None:
    """A hub whose 3,000 leaves pull it both ways with +-50: closed form, no underflow."""
    n = 3_000
    rng = np.random.default_rng(19)
    coupling = rng.choice([-50.0, 50.0], size=n)
    leaf = rng.normal(scale=50.0, size=n)
    spin = np.array([1.0, -1.0])
    scopes = [*((0, i + 1) for i in range(n)), *((i + 1,) for i in range(n))]
    tables = [*(coupling[:, None, None] * np.outer(spin, spin)), *(leaf[:, None] * spin)]
    beliefs = ClusterTree(FactorGraph(Space.of_cards([2] * (n + 1)), tuple(scopes), tuple(tables))).beliefs()
    hub = np.array([np.logaddexp(s * coupling + leaf, -s * coupling - leaf).sum() for s in spin])
    assert beliefs.log_z == pytest.approx(np.logaddexp(*hub), rel=1e-13)
    np.testing.assert_allclose(beliefs.variable(0), np.exp(hub - np.logaddexp(*hub)), rtol=1e-6, atol=1e-300)


def test_strong_lattice() -> None:
    """Couplings of +-50 on an 8 by 8 lattice: finite, consistent, and log Z is at least the mode's weight."""
    rng = np.random.default_rng(20)
    edges = grid(8, 8)
    spin = np.outer([1.0, -1.0], [1.0, -1.0])
    tables = [rng.choice([-50.0, 50.0]) * spin for _ in edges]
    graph = FactorGraph(Space.of_cards([2] * 64), tuple(edges), tuple(tables))
    tree_ = ClusterTree(graph)
    beliefs = tree_.beliefs()
    top = graph.log_weight([tree_.mode()])[0]
    assert top <= beliefs.log_z <= top + 64 * np.log(2)
    np.testing.assert_allclose(beliefs.variables, 0.5, atol=1e-9)


# -- refusals -------------------------------------------------------------------------------------------------


def test_tables_that_do_not_fit_are_refused() -> None:
    """The refusal comes before any table and names width and clique."""
    graph = weighted(grid(6, 30), [4] * 180, unary=False)
    with pytest.raises(TooLargeError, match=r"width \d+, the widest table being over x.*clamp some"):
        ClusterTree(graph, max_memory=1 << 16)


def test_batches_that_do_not_fit_are_refused() -> None:
    """A batch needs more than one answer does; it is refused by itself, before anything is laid out."""
    graph = weighted(grid(8, 8), [2] * 64)
    found = ClusterTree(graph, [0])
    tree_ = ClusterTree(graph, [0], max_memory=found.order.n_bytes + 1)
    assert tree_.log_z({0: 1}) == pytest.approx(found.log_z({0: 1}), rel=1e-13)
    with pytest.raises(TooLargeError, match=r"a batch of width .* pattern by pattern"):
        tree_.log_z_batch([[0], [1]])


def test_impossible_evidence_is_a_clear_error() -> None:
    """Evidence of probability zero: log Z is -inf; marginals, modes and samples are refused."""
    graph = FactorGraph(Space.of_cards((2, 3)), ((0, 1),), (np.array([[0.0, -np.inf, 1.0], [0.5, -np.inf, 0.0]]),))
    tree_ = ClusterTree(graph)
    assert tree_.log_z({1: 1}) == -np.inf
    for ask in (tree_.beliefs, tree_.mode, lambda e: tree_.sample(1, np.random.default_rng(0), e)):
        with pytest.raises(QueryError, match="probability zero"):
            ask({1: 1})
    nothing = FactorGraph(Space.of_cards((2,)), ((0,),), (np.full(2, -np.inf),))
    with pytest.raises(QueryError, match="contradict each other"):
        ClusterTree(nothing).marginals()


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({0: 0}, "none was given for x1"),
        ({1: 5}, "codes 0 to 1, but 5"),
        ({1: 0, 0: 3}, "codes 0 to 1, but 3"),
        ({1: 0, 9: 0}, "no variable 9"),
        ({1: [0, 1]}, "one code is needed, not 2"),
        ({1: 0, 2: []}, "was given"),
        ({1: 0.5}, "was given"),
    ],
)
def test_wrong_evidence_is_refused(evidence: dict, message: str) -> None:
    """Missing, unknown and out-of-range evidence says what is allowed."""
    tree_ = ClusterTree(weighted(SHAPES["chain"][1], [2] * 7), [1])
    with pytest.raises(QueryError, match=message):
        tree_.log_z(evidence)


def test_wrong_patterns_and_tables_are_refused() -> None:
    """Patterns of the wrong shape or code, weights and log tables that do not fit, clamped variables named twice."""
    graph = weighted(SHAPES["chain"][1], [2] * 7)
    tree_ = ClusterTree(graph, [1, 2])
    with pytest.raises(QueryError, match=r"shape \(N, 2\)"):
        tree_.log_z_batch([[0]])
    with pytest.raises(QueryError, match="pattern 1 has the code 2 for 'x2'"):
        tree_.log_z_batch([[0, 0], [0, 2]])
    with pytest.raises(FullspanError, match="log values are needed"):
        tree_.reweighted(np.zeros(3))
    with pytest.raises(FullspanError, match="NaN"):
        tree_.reweighted(np.full(len(graph.values), np.nan))
    with pytest.raises(FullspanError, match="different positions"):
        ClusterTree(graph, [1, 1])
    with pytest.raises(QueryError, match="without clamped"):
        tree_.log_prob(np.zeros((1, 7), dtype=int))


# -- published references -------------------------------------------------------------------------------------


def uai(path: Path) -> FactorGraph:
    """A model in the UAI format: cards, scopes, tables of numbers, the last variable fastest."""
    words = iter(path.read_text(encoding="utf-8").split())
    next(words)
    cards = [int(next(words)) for _ in range(int(next(words)))]
    scopes = [tuple(int(next(words)) for _ in range(int(next(words)))) for _ in range(int(next(words)))]
    tables = []
    for scope in scopes:
        values = np.array([float(next(words)) for _ in range(int(next(words)))])
        with np.errstate(divide="ignore"):
            tables.append(np.log(values).reshape([cards[i] for i in scope]))
    return FactorGraph(Space.of_cards(cards), tuple(scopes), tuple(tables))


@pytest.mark.parametrize(
    "name", ["Segmentation_13", "Pedigree_13", "Promedus_11", "Promedus_21", "Promedus_29", "Alchemy_11", "Grids_13"]
)
def test_published_models(name: str, shared_data: Callable[[str], Path]) -> None:
    """log10 Z within 1e-9 of the double-precision value and the official one as printed; marginals within 1e-9."""
    reference = json.loads(shared_data("uai/reference.json").read_text(encoding="utf-8"))[name]
    path = shared_data(f"uai/models/{name}.uai")
    known = [int(word) for word in Path(f"{path}.evid").read_text(encoding="utf-8").split()]
    evidence = dict(zip(known[1::2], known[2::2], strict=True)) if known and known[0] else {}
    graph = uai(path)
    beliefs = ClusterTree(graph, sorted(evidence)).beliefs(evidence)
    log10_z = beliefs.log_z / np.log(10)
    assert log10_z == pytest.approx(reference["log10Z_double"], abs=1e-9)
    assert log10_z == pytest.approx(reference["official_log10_PR"], rel=5e-6, abs=1e-4)
    for v, expected in enumerate(reference.get("marginals_double") or []):
        np.testing.assert_allclose(beliefs.variable(v), expected, atol=1e-9)
