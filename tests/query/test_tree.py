"""Questions about trees against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from fullspan.data import Empirical, Space
from fullspan.errors import QueryError, TooLargeError
from fullspan.learn.trees import fit_chow_liu
from fullspan.model import HiddenTree
from fullspan.query.distributions import GraphDistribution, TreeDistribution
from trees import CARDS, generic_tree, joint


def plain_tree() -> HiddenTree:
    rng = np.random.default_rng(2)
    rows = np.stack([rng.integers(card, size=60) for card in CARDS], axis=1)
    rows[:, 4] = (rows[:, 0] + (rng.random(60) < 0.2)) % 2
    return fit_chow_liu(Empirical.from_codes(rows, space=Space.of_cards(CARDS))).model


@pytest.fixture(params=["hidden", "plain"])
def case(request: pytest.FixtureRequest) -> tuple[TreeDistribution, np.ndarray]:
    tree = generic_tree(3) if request.param == "hidden" else plain_tree()
    if tree.is_observed:
        k = tree.n_states
        same = HiddenTree(tree.space, tree.parents, tree.prior, tree.transitions, tree.emissions)
        assert k == 4
        return TreeDistribution(tree), joint(same)
    return TreeDistribution(tree), joint(tree)


def test_the_mode_of_a_plain_tree_is_that_of_enumeration() -> None:
    """Max-sum finds the largest cell of the table, given evidence too; hidden nodes are refused."""
    tree = plain_tree()
    distribution = TreeDistribution(tree)
    p = joint(HiddenTree(tree.space, tree.parents, tree.prior, tree.transitions, tree.emissions))
    found = distribution.mode()
    assert np.isclose(np.exp(found.log_prob), p.max())
    assert np.isclose(p[tuple(found.state)], p.max())
    given = distribution.mode({"x3": [0, 1], "x0": 0})
    rest = p[0, :, :, :2]
    assert np.isclose(np.exp(given.log_prob), rest.max() / rest.sum())
    with pytest.raises(QueryError, match="hidden nodes"):
        TreeDistribution(generic_tree(1)).mode()


def test_cells_are_filled_by_their_likeliest_level(case: tuple[TreeDistribution, np.ndarray]) -> None:
    distribution, p = case
    rows = np.array([[-1, 2, 0, -1, 1], [1, 0, 0, 3, 0]])
    cells = p[:, 2, 0, :, 1] / p[:, 2, 0, :, 1].sum()
    means = distribution.impute(rows, "mean")
    assert np.allclose(means["x0"][0], cells.sum(axis=1))
    assert np.allclose(means["x3"][0], cells.sum(axis=0))
    assert means["x3"][1].tolist() == [0, 0, 0, 1]
    filled = distribution.impute(rows)
    assert filled[0].tolist() == [int(cells.sum(axis=1).argmax()), 2, 0, int(cells.sum(axis=0).argmax()), 1]
    assert filled[1].tolist() == rows[1].tolist()


def test_hidden_nodes_can_be_named() -> None:
    """Conditions, tables, marginals and samples with hidden nodes agree with the enumeration of all nodes."""
    tree = generic_tree(3)
    distribution, nodes = TreeDistribution(tree), GraphDistribution(tree.graph())
    assert distribution.visible == tree.space
    assert distribution.space.names[-1] == "hidden x4"
    given = {"hidden x0": 1, "x3": [0, 2]}
    shares = distribution.conditional("hidden x1").values  # of the root
    assert np.allclose(shares, tree.prior)
    by_bayes = sum(shares[k] * distribution.probability({"x4": 1}, {"hidden x1": k}) for k in range(tree.n_states))
    assert by_bayes == pytest.approx(distribution.probability({"x4": 1}))
    assert distribution.log_z_given(given) == pytest.approx(np.log(distribution.probability(given)))
    found = distribution.marginals(given)
    assert list(found.shares) == list(tree.space.names)
    assert np.allclose(found.shares["x1"], distribution.conditional("x1", given).values)
    assert np.allclose(found.shares["x1"], nodes.conditional("x1", given).values)
    drawn = distribution.sample(4000, np.random.default_rng(0), given)
    assert drawn.shape == (4000, len(tree.space))
    assert np.allclose(np.bincount(drawn[:, 1], minlength=3) / 4000, found.shares["x1"], atol=0.04)


def test_what_cannot_be_answered_is_refused() -> None:
    exact = fit_chow_liu(Empirical.from_codes([[0, 0], [1, 1], [1, 1]]), 0.0).model
    distribution = TreeDistribution(exact)
    impossible = {"x0": 0, "x1": 1}
    for ask in (
        lambda: distribution.probability({"x0": 1}, impossible),
        lambda: distribution.sample(3, np.random.default_rng(0), impossible),
        lambda: distribution.marginals(impossible),
    ):
        with pytest.raises(QueryError, match="probability 0"):
            ask()
    with pytest.raises(QueryError, match="whole number"):
        distribution.sample(-1, np.random.default_rng(0))
    with pytest.raises(QueryError, match="random generator"):
        distribution.impute(np.array([[0, -1]]), "draw")
    with pytest.raises(QueryError, match="is unknown"):
        distribution.impute(np.array([[0, -1]]), "median")
    with pytest.raises(QueryError, match="asks for a table"):
        distribution.probability("x0 | x1=0")
    wide = fit_chow_liu(Empirical.from_codes(np.eye(21, dtype=np.int64)), 1.0).model
    with pytest.raises(TooLargeError, match="fewer variables"):
        TreeDistribution(wide).entropy()


def test_a_row_that_cannot_be_is_not_filled() -> None:
    """Three copies of one bit: two that differ leave nothing for the third."""
    distribution = TreeDistribution(fit_chow_liu(Empirical.from_codes([[0, 0, 0], [1, 1, 1]]), 0.0).model)
    for how in ("mode", "mean", "draw"):
        with pytest.raises(QueryError, match="row 2"):
            distribution.impute(np.array([[0, 0, -1], [0, 1, -1]]), how, np.random.default_rng(0))
    assert distribution.log_prob(np.array([[0, 1, -1], [1, -1, -1]])).tolist() == [-np.inf, np.log(0.5)]
