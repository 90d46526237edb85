"""Passes on trees against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from fullspan.data import Empirical, Space
from fullspan.engine.elimination import ClusterTree, TreeEngine
from fullspan.errors import TooLargeError
from fullspan.learn.trees import fit_chow_liu
from fullspan.model import HiddenTree
from fullspan.model.algebra import Kernel
from trees import CARDS, all_states, generic_tree, joint


@pytest.fixture(autouse=True, params=["NumPy", "compiled"])
def passes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes in NumPy, which serve few rows where no compiled code is kept, and their compiled twins."""
    monkeypatch.setattr(Kernel, "serves_plain", lambda *_, **__: request.param == "NumPy")


@pytest.fixture(scope="module")
def case() -> tuple[HiddenTree, np.ndarray]:
    tree = generic_tree(1)
    return tree, joint(tree)


@pytest.mark.parametrize(("dtype", "error"), [(np.float64, 1e-12), (np.float32, 2e-5)])
def test_likelihoods_are_those_of_enumeration(case: tuple[HiddenTree, np.ndarray], dtype: type, error: float) -> None:
    """log p(x) = log sum_z p(x, z) at every state, and they sum to one."""
    tree, p = case
    engine = TreeEngine(tree, dtype=dtype)
    found = engine.log_likelihood(engine.columns(all_states(CARDS)))
    assert np.abs(found - np.log(p).ravel()).max() < error
    assert abs(np.exp(found).sum() - 1) < 10 * error


def test_missing_cells_are_summed_out(case: tuple[HiddenTree, np.ndarray]) -> None:
    """p(observed cells) is the marginal, for every pattern of missing cells."""
    tree, p = case
    engine = TreeEngine(tree)
    for pattern in all_states((2,) * len(CARDS)).astype(bool):
        state = np.array([1, 2, 0, 3, 0])
        partial = np.where(pattern, -1, state)
        index = tuple(slice(None) if m else int(s) for m, s in zip(pattern, state, strict=True))
        found = engine.log_likelihood(engine.columns(partial[None, :]))[0]
        assert np.isclose(found, np.log(p[index].sum()), atol=1e-12)


def test_expected_counts_are_posteriors(case: tuple[HiddenTree, np.ndarray]) -> None:
    """Counts of edges and cells are weights times posteriors: they add up along every axis, missing cells apart."""
    tree, _ = case
    rng = np.random.default_rng(3)
    codes = np.stack([rng.integers(-1, card, size=700) for card in CARDS], axis=1)
    weights = rng.random(700)
    engine = TreeEngine(tree)
    counts, _ = engine.expected_counts(engine.columns(codes), weights)
    assert np.isclose(counts.root.sum(), weights.sum())
    for i, parent in enumerate(tree.parents):
        observed = [weights[codes[:, i] == x].sum() for x in range(CARDS[i])]
        assert np.allclose(counts.cells[i].sum(axis=0)[: CARDS[i]], observed)
        if parent >= 0:
            above = counts.root if tree.parents[parent] < 0 else counts.edges[parent].sum(axis=0)
            assert np.allclose(counts.edges[i].sum(axis=1), above)


def test_expected_counts_are_the_gradient(case: tuple[HiddenTree, np.ndarray]) -> None:
    """N_zz' = A dL/dA: scaling one row of a table by e^t and normalising changes L by N_zz' - A_zz' N_z."""
    tree, _ = case
    codes, weights = np.array([[0, 1, 0, -1, 1], [1, -1, 0, 2, 0]]), np.array([2.0, 0.5])
    engine = TreeEngine(tree)
    counts, _ = engine.expected_counts(engine.columns(codes), weights)

    def likelihood(step: float) -> float:
        transitions = tree.transitions.copy()
        transitions[3, 1, 2] *= np.exp(step)
        transitions[3, 1] /= transitions[3, 1].sum()
        moved = HiddenTree(tree.space, tree.parents, tree.prior, transitions, tree.emissions)
        e = TreeEngine(moved)
        return float(weights @ e.log_likelihood(e.columns(codes)))

    slope = (likelihood(1e-5) - likelihood(-1e-5)) / 2e-5
    expected = counts.edges[3, 1, 2] - tree.transitions[3, 1, 2] * counts.edges[3, 1].sum()
    assert np.isclose(slope, expected, rtol=1e-6)


def test_posteriors_of_cells(case: tuple[HiddenTree, np.ndarray]) -> None:
    """p(x_i | the row's cells), with a variable narrowed to some of its levels."""
    tree, p = case
    row = np.array([[-1, 2, -1, -1, 1]])
    narrowed = p[:, 2, :, :, 1].copy()
    narrowed[:, :, [0, 2]] = 0
    _, chances, log = next(TreeEngine(tree, {3: (1, 3)}).posteriors(row))
    assert np.isclose(log[0], np.log(narrowed.sum()))
    assert np.allclose(chances[0, 0, :2], narrowed.sum(axis=(1, 2)) / narrowed.sum())
    assert np.allclose(chances[0, 3], narrowed.sum(axis=(0, 1)) / narrowed.sum())
    assert chances[0, 1].tolist() == [0, 0, 1, 0]


def test_completions_have_the_conditional_distribution(case: tuple[HiddenTree, np.ndarray]) -> None:
    """Frequencies of drawn completions are within five standard errors of p(missing | observed)."""
    tree, p = case
    size = 40_000
    rows = np.tile([-1, 2, -1, -1, 1], (size, 1))
    drawn, _ = TreeEngine(tree, {3: (1, 3)}).completed(rows, np.random.default_rng(0))
    assert (drawn[:, [1, 4]] == [2, 1]).all()
    cells = p[:, 2, 0, :, 1].copy()
    cells[:, [0, 2]] = 0
    cells /= cells.sum()
    share = np.bincount(drawn[:, 0] * 4 + drawn[:, 3], minlength=8).reshape(2, 4) / size
    assert (np.abs(share - cells) <= 5 * np.sqrt(cells * (1 - cells) / size)).all()


def test_a_chain_is_a_hidden_markov_model() -> None:
    """Scores of sequences are those of hmmlearn 0.3.3 (CategoricalHMM.score with these tables)."""
    rng = np.random.default_rng(7)
    pi, a, e = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), size=3), rng.dirichlet(np.ones(4), size=3)
    sequences = rng.integers(4, size=(5, 60))
    transitions = np.repeat(a[None], 60, axis=0)
    transitions[0] = 0
    chain = HiddenTree(Space.of_cards([4] * 60), np.arange(60) - 1, pi, transitions, np.repeat(e[None], 60, axis=0))
    engine = TreeEngine(chain)
    assert np.allclose(engine.log_likelihood(engine.columns(sequences)), HMMLEARN, atol=1e-9)


HMMLEARN = [-87.26737643354731, -88.09642733485508, -91.51033612951952, -86.48173717763262, -89.5703033359494]


def test_nothing_underflows_on_long_chains_and_wide_stars() -> None:
    """A thousand nodes in a row, or around one: log p is the sum of a forward algorithm in the log domain."""
    n, rng = 1000, np.random.default_rng(5)
    e = np.array([[1e-12, 1 - 1e-12], [0.3, 0.7]])
    a, pi = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0.4, 0.6])
    codes = rng.integers(2, size=(1, n))
    for parents in (np.arange(n) - 1, np.r_[-1, np.zeros(n - 1, dtype=int)]):
        transitions = np.repeat(a[None], n, axis=0)
        transitions[0] = 0
        engine = TreeEngine(
            HiddenTree(Space.of_cards([2] * n), parents, pi, transitions, np.repeat(e[None], n, axis=0))
        )
        below = np.log(e)[:, codes[0]].T.copy()
        for i in range(n - 1, 0, -1):
            below[parents[i]] += np.logaddexp.reduce(np.log(a) + below[i], axis=1)
        expected = np.logaddexp.reduce(np.log(pi) + below[0])
        assert np.isclose(engine.log_likelihood(engine.columns(codes))[0], expected, rtol=1e-12)


def test_an_impossible_row_has_no_likelihood_and_counts_for_nothing() -> None:
    """log 0 = -inf, and expected counts stay finite."""
    tree = HiddenTree.of_tables(
        Space.of_cards([2, 2]), [-1, 0], np.array([0.5, 0.5]), np.array([np.zeros((2, 2)), np.eye(2)])
    )
    engine = TreeEngine(tree)
    columns = engine.columns(np.array([[0, 1], [1, 1]]))
    assert engine.log_likelihood(columns).tolist() == [-np.inf, np.log(0.5)]
    counts, _ = engine.expected_counts(columns, np.ones(2))
    assert counts.edges[1].tolist() == [[0, 0], [0, 1]]


def test_too_many_states_are_refused() -> None:
    with pytest.raises(TooLargeError, match="use fewer states"):
        TreeEngine(generic_tree(), max_memory=1000)


@pytest.mark.parametrize("hidden", [True, False])
def test_the_factor_graph_of_a_tree_is_the_tree(hidden: bool) -> None:
    """Elimination on its factors gives log Z = 0, and the same likelihoods of partial rows."""
    tree = generic_tree(6)
    if not hidden:
        p = joint(tree).sum(axis=2)
        tree = fit_chow_liu(Empirical.from_table(p / p.min())).model
    clusters, engine = ClusterTree(tree.graph()), TreeEngine(tree)
    assert abs(clusters.log_z()) < 1e-10
    state = np.array([1, 2, 0, 3, 0]) if hidden else np.array([1, 2, 3, 0])
    for missing in ([], [1], [0, 3]):
        partial = state.copy()
        partial[missing] = -1
        evidence = {i: int(x) for i, x in enumerate(partial) if x >= 0}
        found = engine.log_likelihood(engine.columns(partial[None, :]))[0]
        assert np.isclose(found, clusters.log_z(evidence), atol=1e-10)
