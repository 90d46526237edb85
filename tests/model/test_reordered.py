"""A model of the variables in another order is the same distribution."""

from __future__ import annotations

import numpy as np
import pytest

from fullspan.data import Space
from fullspan.model import LayeredMachine
from fullspan.model.latent_trees import LatentTrees
from fullspan.model.tree_layout import TreeLayout
from fullspan.model.units import Units

CARDS, ORDER = (2, 3, 2, 4), [2, 0, 3, 1]


def states() -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.stack([rng.integers(0, card, 20) for card in CARDS], axis=1)


def test_trees_of_one_shape() -> None:
    rng, parents = np.random.default_rng(0), np.array([1, -1, 1, 0])
    logits = rng.normal(size=(2, TreeLayout(CARDS, parents).n_logits))
    trees = LatentTrees(Space.of_cards(CARDS), parents, np.array([0.3, 0.7]), logits)
    again = trees.reordered(ORDER).log_weight(states()[:, ORDER])
    assert again == pytest.approx(trees.log_weight(states()), abs=1e-12)


def test_layered_machines() -> None:
    rng, space = np.random.default_rng(0), Space.of_cards(CARDS)
    n = Units(space).count
    machine = LayeredMachine(space, (rng.normal(size=n), rng.normal(size=2)), (rng.normal(size=(n, 2)),))
    again = machine.reordered(ORDER)

    def log_weight(one: LayeredMachine, rows: np.ndarray) -> np.ndarray:
        x = one.units.encode(rows).astype(float)
        return np.asarray(x @ one.biases[0] + np.logaddexp(0, x @ one.weights[0] + one.biases[1]).sum(axis=1))

    assert log_weight(again, states()[:, ORDER]) == pytest.approx(log_weight(machine, states()), abs=1e-12)
