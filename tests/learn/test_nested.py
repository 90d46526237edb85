"""What each order explains: the same in every basis, and order one is that of the marginals."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fullspan as fs
from fullspan.data import Space
from fullspan.learn.likelihood import information_by_order
from fullspan.model import LogLinear
from fullspan.model.algebra import BASES, Basis


def negentropy(p: np.ndarray) -> float:
    """``log k - H``."""
    p = p[p > 0]
    return math.log(len(p)) + float(p @ np.log(p))


def test_the_parts_are_the_same_in_every_basis() -> None:
    """A full model of order three of a random table; the first part is that of its own marginals."""
    rng = np.random.default_rng(0)
    codes = rng.choice(24 * 2, 900, p=rng.dirichlet(np.full(48, 2.0)))
    rows = np.array(np.unravel_index(codes, (3, 4, 2, 2))).T
    found = []
    for basis in BASES:
        machine = fs.BoltzmannMachine(order=3, basis=basis).fit(rows)
        parts = information_by_order(machine.model_)
        assert parts is not None
        alone = [np.array(list(machine.marginal([name]).values)) for name in machine.space_.names]
        assert parts[1] == pytest.approx(sum(map(negentropy, alone)), abs=1e-9)
        assert sum(parts.values()) == pytest.approx(math.log(48) - machine.entropy(), abs=1e-9)
        found.append(parts)
    for parts in found[1:]:
        assert list(parts) == [1, 2, 3]
        assert parts == pytest.approx(found[0], abs=1e-5)


def test_a_pair_term_of_zeros_and_ones_carries_main_effects() -> None:
    """Counts 300, 300, 300, 900 need one term in the 0/1 basis, and two orders in the world."""
    rows = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [300, 300, 300, 900], axis=0)
    model = fs.FullSpan(basis="monomial").fit(rows)
    parts = information_by_order(model.model_)
    assert parts is not None
    assert {len(term) for term in model.model_.terms} == {2}
    assert parts == pytest.approx({1: 0.113, 2: 0.031}, abs=1e-3)


def test_a_triple_alone_has_all_lower_orders_in_the_basis_of_zeros_and_ones() -> None:
    """The same distribution by all its Walsh terms gives the same parts."""
    p = np.ones((2, 2, 2))
    p[1, 1, 1] = math.exp(1.5)
    log_z = math.log(p.sum())
    space = Space.of_cards((2, 2, 2))
    one = LogLinear(space, Basis("monomial", (2, 2, 2)), (((0, 1), (1, 1), (2, 1)),), np.array([1.5]), log_z)
    walsh = Basis("walsh", (2, 2, 2))
    terms = tuple(walsh.term(y) for y in range(1, 8))
    theta = np.array([1.5 / 8 * (-1) ** len(term) for term in terms])
    many = LogLinear(space, walsh, terms, theta, log_z - 1.5 / 8)
    assert many.log_prob(np.array([[1, 1, 1]])) == pytest.approx(one.log_prob(np.array([[1, 1, 1]])))
    first, second = information_by_order(one), information_by_order(many)
    assert first is not None
    assert second is not None
    assert first == pytest.approx(second, abs=1e-7)
    assert min(first.values()) > 1e-3


def test_variables_without_terms_add_nothing() -> None:
    space = Space.of_cards((2, 3, 2))
    basis = Basis("indicator", (2, 3, 2))
    empty = LogLinear(space, basis, (), np.zeros(0), math.log(12))
    assert information_by_order(empty) == {}
