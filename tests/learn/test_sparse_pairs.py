"""Persistent chains on sparse machines: where they end, by enumeration."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.errors import FullspanError
from fullspan.learn.contrastive import SparsePairs


def moments(machine: SparsePairs, bias: Array, weight: Array) -> tuple[Array, Array]:
    """Expectations of all units and pairs, over all states."""
    x = np.array(list(product((0, 1), repeat=machine.n_units)), dtype=np.float64)
    both = x[:, machine.left] * x[:, machine.right]
    p = np.exp(x @ bias + both @ weight)
    p /= p.sum()
    return p @ x, p @ both


def correlated(n: int, rows: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    cause = rng.random((rows, 1)) < 0.4
    return (rng.random((rows, n)) < np.where(cause, 0.75, 0.25)).astype(np.uint8)


def test_a_visible_machine_has_the_moments_of_the_rows() -> None:
    """At the end of the ascend the expectations of units with a bias, and of all pairs, are those of the data."""
    rng = np.random.default_rng(0)
    rows = correlated(6, 300, rng)
    left, right = np.array([pair for pair in combinations(range(6), 2) if pair != (0, 5)]).T.copy()
    machine = SparsePairs(6, 6, np.array([True] * 5 + [False]), left, right)
    bias, weight = machine.ascend(rows, 0.05, 20_000, 40, rng)
    units, pairs = moments(machine, bias, weight)
    assert bias[5] == 0.0
    assert np.abs(units - rows.mean(axis=0))[:5].max() < 0.02
    assert np.abs(pairs - (rows[:, left] & rows[:, right]).mean(axis=0)).max() < 0.02


def test_a_hidden_unit_explains_what_goes_together() -> None:
    """With one hidden cause the machine has the rows' rates, and nearly the correlation of two units without a pair."""
    rng = np.random.default_rng(1)
    rows = correlated(5, 400, rng)
    machine = SparsePairs(5, 6, np.ones(6, dtype=np.bool_), np.arange(5), np.full(5, 5))
    bias, weight = machine.ascend(rows, 0.05, 40_000, 20, rng)
    assert np.abs(moments(machine, bias, weight)[0][:5] - rows.mean(axis=0)).max() < 0.03
    watched = SparsePairs(5, 6, np.ones(6, dtype=np.bool_), *np.array(list(combinations(range(6), 2))).T.copy())
    padded = np.zeros(15)
    padded[watched.right == 5] = weight
    pairs = moments(watched, bias, padded)[1]
    for i, j, eta in zip(watched.left, watched.right, pairs, strict=True):
        if j < 5:
            assert abs(eta - (rows[:, i] & rows[:, j]).mean()) < 0.05
            assert abs(eta - rows[:, i].mean() * rows[:, j].mean()) > 0.02


def test_units_without_a_weight_are_left_alone() -> None:
    machine = SparsePairs(4, 4, np.zeros(4, dtype=np.bool_), np.array([0]), np.array([2]))
    start, other, pair = machine.neighbours()
    assert start.tolist() == [0, 1, 1, 2, 2]
    assert other.tolist() == [2, 0]
    assert pair.tolist() == [0, 0]
    rows = np.array([[1, 0, 1, 0], [0, 0, 0, 1]] * 20, dtype=np.uint8)
    bias, weight = machine.ascend(rows, 0.1, 500, 10, np.random.default_rng(2))
    assert not bias.any()
    assert weight[0] > 0.5


@pytest.mark.parametrize("right", [0, 3])
def test_a_pair_needs_two_units_that_are_there(right: int) -> None:
    with pytest.raises(FullspanError, match="two different units of 0 to 2"):
        SparsePairs(3, 3, np.ones(3, dtype=np.bool_), np.array([0]), np.array([right]))
