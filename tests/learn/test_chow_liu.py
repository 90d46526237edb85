"""Chow–Liu trees against all labelled trees, counting by hand, and published likelihoods."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fullspan.data import Empirical, Space
from fullspan.engine.elimination import TreeEngine
from fullspan.errors import FullspanError, TooLargeError
from fullspan.learn.trees import fit_chow_liu, mutual_information, pair_counts, spanning_tree


def dependent(rows: int, cards: tuple[int, ...], seed: int) -> np.ndarray:
    """Codes in which every variable leans on an earlier one."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(cards[0], size=rows)]
    for i in range(1, len(cards)):
        copied = columns[int(rng.integers(i))] % cards[i]
        columns.append(np.where(rng.random(rows) < 0.6, copied, rng.integers(cards[i], size=rows)))
    return np.stack(columns, axis=1)


def labelled_trees(n: int) -> list[list[tuple[int, int]]]:
    """All n^(n-2) trees on n labelled nodes, by their Prüfer sequences (Cayley)."""
    trees = []
    for sequence in itertools.product(range(n), repeat=n - 2):
        degree, edges = [1 + sequence.count(i) for i in range(n)], []
        for node in sequence:
            leaf = min(i for i in range(n) if degree[i] == 1)
            edges.append((leaf, node))
            degree[leaf] -= 1
            degree[node] -= 1
        a, b = (i for i in range(n) if degree[i] == 1)
        trees.append([*edges, (a, b)])
    return trees


def tree_likelihood(table: np.ndarray, edges: list[tuple[int, int]]) -> float:
    """Mean log-likelihood of the maximum-likelihood distribution on a tree: -H(x_i) summed, plus I along edges."""
    n, p = table.ndim, table / table.sum()

    def entropy(*kept: int) -> float:
        m = p.sum(axis=tuple(i for i in range(n) if i not in kept)).ravel()
        return -float(m[m > 0] @ np.log(m[m > 0]))

    return sum(entropy(a) + entropy(b) - entropy(a, b) for a, b in edges) - sum(entropy(i) for i in range(n))


@pytest.mark.parametrize(("cards", "seed"), [((2, 2, 2, 2), 0), ((3, 2, 4, 2), 1), ((2, 3, 2, 2, 3), 2)])
def test_no_labelled_tree_is_likelier(cards: tuple[int, ...], seed: int) -> None:
    """The likelihood of the fit without pseudo-rows is the greatest over all n^(n-2) trees."""
    data = Empirical.from_codes(dependent(300, cards, seed), space=Space.of_cards(cards))
    table = np.zeros(cards)
    table[tuple(data.states.T)] = data.counts
    values = [tree_likelihood(table, edges) for edges in labelled_trees(len(cards))]
    assert len(values) == len(cards) ** (len(cards) - 2)
    assert max(values) - min(values) > 0.01
    assert np.isclose(fit_chow_liu(data, 0.0).log_likelihood, max(values), rtol=1e-12)


@pytest.mark.parametrize("weights", ["whole", "large", "fractional"])
def test_pairs_are_counted_where_both_are_seen(weights: str) -> None:
    """Counts of all pairs of levels are those of a loop over the rows, however the rows are weighted."""
    cards, rng = (2, 3, 1, 5), np.random.default_rng(4)
    states = np.stack([rng.integers(-1, card, size=200) for card in cards], axis=1).astype(np.int8)
    w = {"whole": rng.integers(1, 90, 200), "large": rng.integers(1, 2**40, 200), "fractional": rng.random(200)}[
        weights
    ]
    expected = np.zeros((sum(cards), sum(cards)))
    starts = np.cumsum(cards) - cards
    for row, weight in zip(states, w, strict=True):
        shown = [starts[i] + x for i, x in enumerate(row) if x >= 0]
        expected[np.ix_(shown, shown)] += weight
    assert np.allclose(pair_counts(states, w.astype(np.float64), cards), expected, rtol=1e-12)


def test_mutual_information_of_pairs() -> None:
    """I = sum p log p/(p p) over the rows that show both, 0 where none does."""
    states = np.array([[0, 0, -1]] * 3 + [[1, 1, -1]] * 2 + [[1, 0, -1]] + [[-1, -1, 1]])
    counts = pair_counts(states, np.ones(len(states)), (2, 2, 2))
    p = np.array([[3, 0], [1, 2]]) / 6
    expected = sum(p[x, y] * np.log(p[x, y] / p[x].sum() / p[:, y].sum()) for x, y in ((0, 0), (1, 0), (1, 1)))
    found = mutual_information(counts, (2, 2, 2))
    assert np.isclose(found[0, 1], expected)
    assert found[0, 2] == found[2, 1] == found[1, 1] == 0


def test_a_spanning_tree_reaches_all_and_is_heaviest() -> None:
    """Its weight is the greatest over all labelled trees, equal and zero weights included."""
    rng = np.random.default_rng(8)
    for weight in (rng.random((5, 5)), rng.integers(0, 3, (5, 5)).astype(float), np.zeros((5, 5))):
        symmetric = weight + weight.T
        parents = spanning_tree(symmetric)
        assert sorted(np.flatnonzero(parents < 0)) == sorted(set(range(5)) - set(np.flatnonzero(parents >= 0)))
        own = sum(symmetric[i, p] for i, p in enumerate(parents) if p >= 0)
        assert np.isclose(own, max(sum(symmetric[a, b] for a, b in edges) for edges in labelled_trees(5)))


def test_weights_are_repeated_rows() -> None:
    rows = dependent(50, (2, 3, 2), 5)
    weights = np.random.default_rng(1).integers(1, 5, size=50)
    a = fit_chow_liu(Empirical.from_codes(rows, weights)).model
    b = fit_chow_liu(Empirical.from_codes(np.repeat(rows, weights, axis=0))).model
    assert np.array_equal(a.parents, b.parents)
    assert np.array_equal(a.transitions, b.transitions)


def test_relabelling_levels_and_columns_changes_nothing() -> None:
    """p is the same function of what a row says, whatever the names of its levels and the order of its columns."""
    cards = (2, 3, 2, 4)
    rows = dependent(400, cards, 6)
    turned = (np.array(cards) - 1 - rows)[:, [2, 0, 3, 1]]
    engines = [TreeEngine(fit_chow_liu(Empirical.from_codes(r)).model) for r in (rows, turned)]
    a, b = (e.log_likelihood(e.columns(r)) for e, r in zip(engines, (rows, turned), strict=True))
    assert np.allclose(a, b, rtol=1e-12)


def test_pseudo_rows_make_everything_possible() -> None:
    """Without any, what was never seen has probability 0; with some, a level never seen beside a parent's too."""
    space = Space.of_cards((3, 2))
    data = Empirical.from_codes([[0, 0], [1, 1]], space=space)
    exact, smooth = (TreeEngine(fit_chow_liu(data, a).model) for a in (0.0, 1.0))
    unseen = np.array([[0, 1], [2, 0]])
    assert exact.log_likelihood(exact.columns(unseen)).tolist() == [-np.inf, -np.inf]
    pair = (np.eye(3, 2) + 1 / 6) / 3
    assert np.allclose(np.exp(smooth.log_likelihood(smooth.columns(unseen))), [pair[0, 1], pair[2, 0]])


@pytest.mark.parametrize("value", [-1.0, np.inf, np.nan])
def test_a_pseudo_count_is_a_number_of_rows(value: float) -> None:
    with pytest.raises(FullspanError, match="pseudo_count is"):
        fit_chow_liu(Empirical.from_codes([[0, 1]]), value)


def test_too_many_levels_are_refused() -> None:
    with pytest.raises(TooLargeError, match="leave out variables"):
        pair_counts(np.zeros((1, 2), dtype=np.int64), np.ones(1), (500, 500), max_memory=1000)


@pytest.mark.parametrize("name", ["nltcs", "plants", "kdd", "accidents", "dna", "msweb"])
def test_published_likelihoods(shared_data: Callable[[str], Path], name: str) -> None:
    """Laplace's rule, one pseudo-row per cell of a pair, on a density-estimation benchmark, to 1e-4 nats per row."""
    file = np.load(shared_data(f"debd/{name}.npz"))
    reference = json.loads(shared_data("debd/chow_liu_baselines.json").read_text())[name]["chow_liu"]
    split = {s: np.unpackbits(file[s], axis=1)[:, : int(file["nvars"])] for s in ("train", "test")}
    data = Empirical.from_codes(split["train"], space=Space.of_cards([2] * int(file["nvars"])))
    for pseudo, key in ((4.0, "alpha_1"), (0.0, "alpha_0")):
        engine = TreeEngine(fit_chow_liu(data, pseudo).model)
        for part, rows in split.items():
            mean = float(engine.log_likelihood(engine.columns(rows)).mean())
            published = reference[key][part]
            assert mean == -np.inf if published is None else abs(mean - published) < 1e-4
