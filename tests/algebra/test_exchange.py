"""The same function in another basis, against the explicit matrices."""

from __future__ import annotations

import numpy as np
import pytest

from fullspan.model.algebra import Basis, BasisName, exchanged
from generic import ALL_BASES, CARDS, matrix, weights


def energies(basis: Basis, theta: dict[int, float]) -> np.ndarray:
    return sum((w * matrix(basis)[y] for y, w in theta.items()), np.zeros(basis.n_states))


@pytest.mark.parametrize("cards", CARDS, ids=str)
@pytest.mark.parametrize("old", ALL_BASES)
@pytest.mark.parametrize("new", ALL_BASES)
def test_energies_stay_up_to_a_constant(cards: tuple[int, ...], old: BasisName, new: BasisName) -> None:
    """sum theta_y Phi_y(x) - sum theta'_z Phi'_z(x) is the same for all x, and no term gets other variables."""
    a, b = Basis(old, cards), Basis(new, cards)
    theta = weights(a, 5, k=6)
    found = exchanged(theta, a, b, 5000)
    assert found is not None
    difference = energies(a, theta) - energies(b, found)
    np.testing.assert_allclose(difference, difference[0], rtol=0, atol=1e-12)
    supports = [{i for i, _ in a.term(y)} for y in theta]
    assert all(any({i for i, _ in b.term(z)} <= support for support in supports) for z in found)
    if old == new:
        assert found == pytest.approx(theta)


def test_a_whole_margin_becomes_the_same_margin() -> None:
    walsh, monomial = (Basis(name, (2, 4, 3)) for name in ("walsh", "monomial"))
    inside = [y for y in range(1, 24) if len(walsh.term(y)) and all(i < 2 for i, _ in walsh.term(y))]
    theta = dict(zip(inside, np.random.default_rng(0).normal(size=len(inside)), strict=True))
    found = exchanged(theta, walsh, monomial, 100)
    assert found is not None
    assert sorted(found) == inside


def test_too_many_terms_are_refused() -> None:
    """One Walsh term of five variables is 31 monomials."""
    walsh, monomial = (Basis(name, (2,) * 5) for name in ("walsh", "monomial"))
    assert len(exchanged({31: 0.5}, walsh, monomial, 31) or {}) == 31
    assert exchanged({31: 0.5}, walsh, monomial, 30) is None
    assert exchanged({7: 0.5, 28: 0.5}, walsh, monomial, 11) is None
