"""The algebra of basis functions: values, products, indices."""

from __future__ import annotations

import numpy as np
import pytest

from fullspan.data import Space
from fullspan.errors import FullspanError
from fullspan.model.algebra import Basis, BasisName, Term
from generic import ALL_BASES, CARDS, matrix

every_space = pytest.mark.parametrize("cards", CARDS, ids=str)
every_basis = pytest.mark.parametrize("name", ALL_BASES)


def some_terms(basis: Basis, count: int = 24) -> list[Term]:
    rng = np.random.default_rng(7)
    return [basis.term(int(y)) for y in rng.integers(basis.n_states, size=count)]


@every_space
@every_basis
def test_values_are_those_of_the_kronecker_matrix(name: BasisName, cards: tuple[int, ...]) -> None:
    basis, space = Basis(name, cards), Space.of_cards(cards)
    states = space.states(np.arange(basis.n_states))
    terms = [basis.term(y) for y in range(basis.n_states)]
    np.testing.assert_array_equal(basis.evaluate(terms, states).T, matrix(basis))


@every_space
@every_basis
def test_functions_take_two_values_and_are_independent(name: BasisName, cards: tuple[int, ...]) -> None:
    """Theorem 1 of the paper, and eqs. 2.2 and 2.3."""
    basis = Basis(name, cards)
    t = matrix(basis)
    assert set(np.unique(t[1:])) <= ({0, 1} if basis.zero_one else {-1, 1})
    assert np.linalg.matrix_rank(t) == basis.n_states


@every_space
@every_basis
def test_product_rule_is_pointwise_multiplication(name: BasisName, cards: tuple[int, ...]) -> None:
    """Phi_y Phi_z as a combination of basis functions equals the product of values, state by state."""
    basis, t = Basis(name, cards), matrix(Basis(name, cards))
    for y in some_terms(basis):
        for z in some_terms(basis, 40)[20:]:
            combined = np.zeros(basis.n_states)
            for term, weight in basis.product(y, z).items():
                combined += weight * t[basis.index(term)]
            np.testing.assert_array_equal(combined, t[basis.index(y)] * t[basis.index(z)])


@every_space
def test_index_and_term_undo_each_other(cards: tuple[int, ...]) -> None:
    basis = Basis("indicator", cards)
    assert [basis.index(basis.term(y)) for y in range(basis.n_states)] == list(range(basis.n_states))


def test_subterms_come_with_the_first_variable_fastest() -> None:
    basis = Basis("indicator", (3, 2, 2))
    assert list(basis.subterms((2, 0))) == [
        (),
        ((2, 1),),
        ((0, 1),),
        ((2, 1), (0, 1)),
        ((0, 2),),
        ((2, 1), (0, 2)),
    ]


def test_walsh_on_three_levels_is_the_indicator_basis() -> None:
    """As in the paper: cardinalities that are no power of two take eq. 2.3."""
    np.testing.assert_array_equal(Basis("walsh", (3,)).local(0), [[1, 1, 1], [-1, 1, -1], [-1, -1, 1]])
    np.testing.assert_array_equal(
        Basis("walsh", (4,)).local(0), [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]
    )


def test_an_unknown_basis_is_refused() -> None:
    with pytest.raises(FullspanError, match="'fourier' is unknown; choose one of walsh, indicator, monomial"):
        Basis("fourier", (2,))  # type: ignore[arg-type]
