"""Dropping an interaction: its sum-to-zero component goes, and nothing else changes before the others are refitted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fullspan.model.algebra import Basis
from fullspan.model.effects.sum_to_zero import Components

CARDS = (3, 4, 2)
TERMS = (
    ((0, 1),),
    ((0, 1), (1, 2)),
    ((0, 2), (1, 1)),
    ((0, 1), (1, 1), (2, 1)),
    ((0, 2), (1, 3), (2, 1)),
)


def component(basis: Basis, terms: tuple, theta: np.ndarray, own: tuple[int, ...]) -> np.ndarray:
    """u_A over its cells, the other variables averaged evenly, by enumeration."""
    states = np.array(list(itertools.product(*map(range, CARDS))))
    u = (basis.evaluate(list(terms), states) @ theta).reshape(CARDS)
    u = u.mean(axis=tuple(i for i in range(len(CARDS)) if i not in own))
    for axis in range(u.ndim):
        u = u - u.mean(axis=axis, keepdims=True)
    return u


@pytest.mark.parametrize("name", ["indicator", "monomial"])
@pytest.mark.parametrize("own", [(0, 1), (0, 1, 2)])
def test_only_the_component_of_the_set_goes_where_what_is_left_inherits(name: str, own: tuple[int, ...]) -> None:
    """With every weight as it was, terms without their own part stand for all other components of two and more."""
    basis = Basis(name, CARDS)
    components = Components(basis, TERMS)
    theta = np.random.default_rng(3).normal(size=len(TERMS))
    base, heirs = components.without(own, inherit=True)
    assert base.ndim == 2
    assert heirs == (tuple(components.exactly(own)) if own == (0, 1, 2) else ())
    kept = np.setdiff1d(np.arange(len(TERMS)), components.exactly(own))
    z = np.zeros(base.shape[1])
    z[: len(kept)], z[len(z) - len(heirs) :] = theta[kept], theta[list(heirs)]
    everything = (*TERMS, *components.extra)
    before = np.append(theta, np.zeros(len(components.extra)))
    after = base @ z
    assert np.abs(component(basis, everything, after, own)).max() < 1e-12
    assert np.abs(component(basis, everything, before, own)).max() > 0.01
    for other in itertools.chain(itertools.combinations(range(3), 2), [(0, 1, 2)]):
        if other != own:
            expected = component(basis, everything, before, other)
            assert np.allclose(component(basis, everything, after, other), expected, atol=1e-12)


def test_without_inheritance_the_lower_orders_are_free() -> None:
    """Every lower-order function that only the dropped terms stood for has a weight of its own.

    The function of the last variable, which has two levels, sums to zero: only what contains it is part of the terms.
    """
    components = Components(Basis("indicator", CARDS), TERMS)
    base, heirs = components.without((0, 1, 2))
    known = len(TERMS) - len(components.exactly((0, 1, 2)))
    assert heirs == ()
    freed = [term for term in components.extra if (2, 1) in term]
    assert len(freed) == 5
    assert base.shape == (len(TERMS) + len(components.extra), known + len(freed))
