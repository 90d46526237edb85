"""Hidden Chow–Liu trees: em never lowers its objective, and what is chosen is what it says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fullspan.data import Empirical, Space
from fullspan.data.tables import held_out
from fullspan.engine.elimination import TreeEngine
from fullspan.errors import FullspanError
from fullspan.learn.trees import TreeOptions, fit_chow_liu, fit_hidden_tree, hidden_tree, starts
from fullspan.model import HiddenTree
from trees import CARDS, all_states, generic_tree, joint

SPACE = Space.of_cards(CARDS)


def drawn(rows: int, seed: int, missing: float = 0.0) -> Empirical:
    """Rows of a generic tree, some cells missing."""
    rng = np.random.default_rng(seed)
    codes, _ = TreeEngine(generic_tree(9)).completed(np.full((rows, len(CARDS)), -1), rng)
    return Empirical.from_codes(np.where(rng.random(codes.shape) < missing, -1, codes), space=SPACE, allow_missing=True)


@pytest.mark.parametrize("smoothing", [0.0, 0.7])
@pytest.mark.parametrize("from_rows", [True, False])
def test_em_never_lowers_the_objective(smoothing: float, from_rows: bool) -> None:
    """Likelihood plus log prior rises at every step, with missing cells and weights, from either start."""
    data = drawn(400, 1, missing=0.2)
    learner = hidden_tree.Learner(data, None, TreeOptions(dtype=np.float64, tol=0.0, patience=50, max_iter=39), None)
    rng = np.random.default_rng(0)
    tree = starts.start(data, fit_chow_liu(data).model, 4, rng, from_rows=from_rows)
    values = [-step.cost for step in learner.run(tree, smoothing).history]
    assert len(values) == 40
    assert np.diff(values).min() > -1e-12
    assert values[-1] > values[0] + 0.02


def test_one_state_gives_the_product_of_the_margins() -> None:
    """With K = 1 the variables are independent, and one step of em is the maximum."""
    data = drawn(300, 2)
    fitted = fit_hidden_tree(data, TreeOptions(n_states=1, smoothing=0.0, restarts=1, seed=0))
    shares = [np.bincount(data.states[:, i], data.counts, card) / data.total for i, card in enumerate(CARDS)]
    expected = sum(float(s[s > 0] @ np.log(s[s > 0])) for s in shares)
    assert np.isclose(fitted.log_likelihood, expected)


def test_enough_states_reach_the_chow_liu_tree() -> None:
    """A hidden tree whose states are the levels is the Chow–Liu tree, and em does not leave it downwards."""
    data = drawn(500, 3)
    plain = fit_chow_liu(data, 0.0)
    fitted = fit_hidden_tree(data, TreeOptions(n_states=8, smoothing=0.0, restarts=3, seed=0, tol=1e-6))
    assert fitted.log_likelihood > plain.log_likelihood - 1e-3


def test_missing_cells_are_marginalised_in_learning() -> None:
    """A column that is never seen changes neither the likelihood of the others nor a step of em on them."""
    data = drawn(200, 4)
    hidden = data.states.astype(np.int64)
    hidden[:, 4] = -1
    some = Empirical.from_codes(hidden, data.counts, space=SPACE, allow_missing=True)
    tree = generic_tree(5)
    engine = TreeEngine(tree)
    p = joint(tree).sum(axis=4)
    found = engine.log_likelihood(hidden_tree.Rows(some).columns)
    assert np.allclose(found, np.log(p[tuple(some.states[:, :4].T)]), atol=1e-12)
    counts, _ = engine.expected_counts(hidden_tree.Rows(some).columns, some.counts)
    assert not counts.cells[4].any()
    kept = hidden_tree.maximised(tree, counts, 0.0, starts.level_shares(data))
    assert np.array_equal(kept.emissions[4], tree.emissions[4])


def test_a_mixture_of_trees_is_a_tree() -> None:
    """p of the joined tree is the mean of the parts', at every state."""
    parts = [generic_tree(seed, k=k) for seed, k in ((1, 2), (2, 3))]
    whole = hidden_tree.mixture(parts)
    assert whole.n_states == 5
    engine = TreeEngine(whole)
    found = np.exp(engine.log_likelihood(engine.columns(all_states(CARDS))))
    assert np.allclose(found, sum(joint(p) for p in parts).ravel() / 2, atol=1e-14)


def test_relabelling_levels_changes_nothing() -> None:
    """A step of em from a relabelled tree on relabelled rows gives the relabelled tree."""
    data, tree = drawn(300, 6), generic_tree(7)
    flipped = Empirical.from_codes(np.array(CARDS) - 1 - data.states.astype(np.int64), data.counts, space=SPACE)
    emissions = np.zeros_like(tree.emissions)
    for i, card in enumerate(CARDS):
        emissions[i, :, :card] = tree.emissions[i, :, :card][:, ::-1]
    turned = HiddenTree(tree.space, tree.parents, tree.prior, tree.transitions, emissions)
    options = TreeOptions(dtype=np.float64, max_iter=3)
    a, b = (hidden_tree.Learner(d, None, options, None).run(t, 0.5) for d, t in ((data, tree), (flipped, turned)))
    assert np.isclose(a.score, b.score, rtol=1e-12)
    assert np.allclose(a.tree.transitions, b.tree.transitions, atol=1e-12)
    assert np.allclose(a.tree.emissions[3], b.tree.emissions[3, :, ::-1], atol=1e-12)


def test_weights_are_repeated_rows() -> None:
    """The same seed gives the same tree, whether rows are weighted or repeated."""
    rng = np.random.default_rng(8)
    codes, weights = rng.integers(2, size=(40, 4)), rng.integers(1, 5, size=40)
    options = TreeOptions(n_states=3, restarts=1, seed=0)
    a, b = (
        fit_hidden_tree(data, options)
        for data in (Empirical.from_codes(codes, weights), Empirical.from_codes(np.repeat(codes, weights, axis=0)))
    )
    assert np.array_equal(a.model.transitions, b.model.transitions)
    assert a.log_likelihood == b.log_likelihood


def test_rows_held_out_choose() -> None:
    """The score is the mean over the rows held out of the tree that is kept, the best of all that were tried."""
    train, valid = drawn(300, 10), drawn(200, 11)
    options = TreeOptions(n_states=(1, 4), smoothing=(0.1, 3.0), restarts=2, seed=0, mixture=False)
    fitted = fit_hidden_tree(train, options, valid)
    assert np.isclose(fitted.validation, hidden_tree.Rows(valid).mean(fitted.model), atol=1e-12)
    assert fitted.settings["chosen"]["n_states"] == 4
    alone = [
        fit_hidden_tree(train, TreeOptions(n_states=k, restarts=2, seed=0, mixture=False), valid).validation
        for k in (1, 4)
    ]
    assert alone[1] > alone[0]
    mixed = fit_hidden_tree(train, TreeOptions(n_states=(1, 4), smoothing=(0.1, 3.0), restarts=2, seed=0), valid)
    assert mixed.validation >= fitted.validation - 1e-9


def test_an_interruption_keeps_the_best_tree() -> None:
    calls = []

    def watch(step: Any) -> None:
        calls.append(step)
        if len(calls) == 5:
            raise KeyboardInterrupt

    data = drawn(300, 12)
    fitted = fit_hidden_tree(data, TreeOptions(n_states=4, seed=0, tol=0.0), data, watch)
    assert fitted.status == "interrupted"
    assert len(calls) == 5
    assert math.isfinite(fitted.validation)


def test_rows_are_held_out_at_random() -> None:
    """Counts add up, whole ones are split row by row, and a share of 0 holds out nothing."""
    data = drawn(2000, 13)
    train, valid = held_out(data, 0.25, np.random.default_rng(0))
    assert valid is not None
    assert train.total + valid.total == data.total
    assert abs(valid.total - 500) < 5 * np.sqrt(2000 * 0.25 * 0.75)
    assert held_out(data, 0.0, np.random.default_rng(0))[1] is None
    weighted = Empirical.from_codes(data.states, data.counts + 0.5, space=SPACE)
    train, valid = held_out(weighted, 0.25, np.random.default_rng(0))
    assert valid is not None
    assert len(train.counts) + len(valid.counts) == len(weighted.counts)
    with pytest.raises(FullspanError, match="held out is 1"):
        held_out(data, 1, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_states": 0}, "n_states has 0"),
        ({"n_states": (4, 2.5)}, "n_states has 2.5"),
        ({"smoothing": -1.0}, "smoothing has -1.0"),
        ({"smoothing": ()}, "at least one value"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        fit_hidden_tree(drawn(20, 14), TreeOptions(**options))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parents": [1, 0, 1, 1, 3]}, "one root"),
        ({"parents": [-1, 2, 1, 0, 3]}, "form a cycle"),
        ({"parents": [-1, 0, 1, 1]}, "has the shape"),
        ({"prior": np.array([0.5, 0.5, 0.5])}, "sum to 1"),
        ({"prior": np.zeros(3)}, "sums to 0"),
        ({"emissions": -np.ones((5, 3, 4))}, "sum to 1"),
        ({"is_observed": True}, "identities"),
    ],
)
def test_what_is_no_tree_is_refused(change: dict[str, Any], message: str) -> None:
    tree = generic_tree(1)
    names = ("space", "parents", "prior", "transitions", "emissions")
    with pytest.raises(FullspanError, match=message):
        HiddenTree(**({name: getattr(tree, name) for name in names} | change))
