"""Iterative proportional fitting against direct computation, by margins and by terms."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullspan.arrays import Array
from fullspan.learn.likelihood import Constraint, attainable, coefficients, distribution
from fullspan.learn.likelihood.ipf import ipf
from fullspan.model.algebra import Basis, BasisName, Term
from generic import ALL_BASES, matrix

bases = pytest.mark.parametrize("basis", ALL_BASES)
CARDS = (2, 3, 2, 4)
SETS = ((0, 1), (1, 2, 3), (0, 3))


def positive(basis: Basis, seed: int) -> Array:
    return np.random.default_rng(seed).dirichlet(np.ones(basis.n_states))


def margin(basis: Basis, p: Array, variables: Sequence[int]) -> Array:
    """p(x_A), flat with the first variable fastest, by summing a cube."""
    cube = p.reshape(basis.cards, order="F")
    rest = tuple(i for i in range(len(basis.cards)) if i not in variables)
    return np.asarray(cube.sum(axis=rest).ravel(order="F"))


def subterms(basis: Basis, sets: Sequence[Sequence[int]]) -> list[Term]:
    return sorted({term for a in sets for term in basis.subterms(a) if term})


@bases
def test_margins_are_matched_and_the_weights_give_the_table(basis: BasisName) -> None:
    """p ends with the target's margins, and as ``exp(theta . Phi)`` times what it was."""
    algebra = Basis(basis, CARDS)
    target, p = positive(algebra, 0), positive(algebra, 1)
    start = p.copy()
    found = ipf(algebra, [Constraint.of_margin(a, margin(algebra, target, a)) for a in SETS], p, 1e-12)
    assert found.converged
    assert found.difference <= 1e-12
    for a in SETS:
        np.testing.assert_allclose(margin(algebra, p, a), margin(algebra, target, a), atol=1e-11)
    assert sorted(found.theta) == subterms(algebra, SETS)
    y = [algebra.index(term) for term in found.theta]
    tilted = start * np.exp(np.array(list(found.theta.values())) @ matrix(algebra)[y])
    np.testing.assert_allclose(p, tilted / tilted.sum(), rtol=1e-9)


@bases
def test_margins_and_terms_lead_to_one_distribution(basis: BasisName) -> None:
    """A whole margin at a time, or the event of each of its terms at a time."""
    algebra = Basis(basis, CARDS)
    target = positive(algebra, 2)
    by_margins, by_terms = np.full((2, algebra.n_states), 1 / algebra.n_states)
    whole = ipf(algebra, [Constraint.of_margin(a, margin(algebra, target, a)) for a in SETS], by_margins, 1e-13)
    eta = target.copy()
    algebra.analyse(eta)
    terms = subterms(algebra, SETS)
    single = [Constraint.of_term(algebra, term, float(eta[algebra.index(term)])) for term in terms]
    parts = ipf(algebra, single, by_terms, 1e-13)
    assert whole.converged
    assert parts.converged
    assert whole.sweeps < parts.sweeps
    np.testing.assert_allclose(by_terms, by_margins, atol=1e-11)
    for term in terms:
        assert parts.theta[term] == pytest.approx(whole.theta[term], abs=1e-8)
    y = np.array([algebra.index(term) for term in terms])
    theta = np.array([parts.theta[term] for term in terms])
    np.testing.assert_allclose(distribution(algebra, y, theta), by_terms, atol=1e-12)


@bases
def test_one_term_is_matched_in_one_step(basis: BasisName) -> None:
    """``e^delta = (1-m)/m q/(1-q)`` for events (Byrne 1992, eqs. 55-56)."""
    algebra = Basis(basis, CARDS)
    p = positive(algebra, 3)
    term = ((1, 2), (3, 1))
    phi = matrix(algebra)[algebra.index(term)]
    event = phi == 1
    m, q = p[event].sum(), 0.3
    mean = q if algebra.zero_one else 2 * q - 1
    found = ipf(algebra, [Constraint.of_term(algebra, term, mean)], p, 1e-14)
    delta = np.log((1 - m) / m * q / (1 - q))
    assert found.theta[term] == pytest.approx(delta if algebra.zero_one else delta / 2)
    assert p[event].sum() == pytest.approx(q)
    assert found.sweeps == 1


@pytest.mark.parametrize("low", [1, 4, 1024])
def test_where_a_state_is_split_changes_nothing(low: int) -> None:
    algebra = Basis("monomial", (2, 3, 2, 4, 3, 2))
    target = positive(algebra, 4)
    sets = [(0, 5), (1, 2, 4), (3,), (2, 3, 5)]
    p = np.full(algebra.n_states, 1 / algebra.n_states)
    ipf(algebra, [Constraint.of_margin(a, margin(algebra, target, a)) for a in sets], p, 1e-12, low=low)
    for a in sets:
        np.testing.assert_allclose(margin(algebra, p, a), margin(algebra, target, a), atol=1e-11)


def test_a_limit_of_sweeps_is_kept_and_reported() -> None:
    """Ten sweeps update each margin ten times, and the difference is that of the table returned."""
    algebra = Basis("monomial", CARDS)
    target, p = positive(algebra, 5), positive(algebra, 6)
    constraints = [Constraint.of_margin(a, margin(algebra, target, a)) for a in SETS]
    few, more = p.copy(), p.copy()
    found = ipf(algebra, constraints, few, 0.0, 3)
    assert (found.sweeps, found.converged) == (3, False)
    left = max(np.abs(margin(algebra, few, a) - margin(algebra, target, a)).max() for a in SETS)
    assert found.difference == pytest.approx(left)
    ipf(algebra, constraints, more, 0.0, 1)
    ipf(algebra, constraints, more, 0.0, 2)
    np.testing.assert_allclose(more, few, rtol=1e-12)
    none = ipf(algebra, constraints, p, 0.0, 0)
    assert not any(none.theta.values())


def test_no_constraint_is_met_at_once() -> None:
    p = np.full(6, 1 / 6)
    found = ipf(Basis("monomial", (2, 3)), [], p)
    assert (found.converged, found.sweeps, found.theta) == (True, 0, {})


def test_cells_of_target_0_stay_empty_where_they_were_empty() -> None:
    algebra = Basis("monomial", (2, 2))
    p, cells = np.array([0.5, 0.5, 0.0, 0.0]), np.array([0.3, 0.7, 0.0, 0.0])
    found = ipf(algebra, [Constraint.of_margin((0, 1), cells)], p, 1e-14)
    assert found.converged
    np.testing.assert_allclose(p, cells)
    assert np.isfinite(list(found.theta.values())).all()


@bases
def test_events_that_never_or_always_happen_get_a_finite_weight(basis: BasisName) -> None:
    """From the uniform distribution, a target at the end of its range is met to rounding."""
    algebra = Basis(basis, (2, 3))
    y = np.array([1, 2])
    ends = np.array([0.0, 1.0]) if algebra.zero_one else np.array([-1.0, 1.0])
    d = attainable(algebra, ends)
    p = np.full(6, 1 / 6)
    terms = [algebra.term(int(i)) for i in y]
    constraints = [Constraint.of_term(algebra, term, float(m)) for term, m in zip(terms, d, strict=True)]
    found = ipf(algebra, constraints, p, 1e-12, 1000)
    assert found.converged
    assert np.isfinite(list(found.theta.values())).all()
    np.testing.assert_allclose(matrix(algebra)[y] @ p, ends, atol=1e-12)
    inside = np.array([0.2, 0.9])
    assert (attainable(algebra, inside) == inside).all()


@settings(max_examples=40, deadline=None)
@given(
    basis=st.sampled_from(ALL_BASES),
    cards=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    seed=st.integers(0, 2**32 - 1),
)
def test_coefficients_invert_the_synthesis(basis: BasisName, cards: list[int], seed: int) -> None:
    """``l(x_A) = constant + sum_y theta_y Phi_y(x_A)`` with the theta that coefficients returns."""
    rng = np.random.default_rng(seed)
    algebra = Basis(basis, tuple(cards))
    chosen = sorted(rng.choice(len(cards), rng.integers(1, len(cards) + 1), replace=False).tolist())
    small = [algebra.cards[i] for i in chosen]
    values = rng.normal(size=int(np.prod(small)))
    theta = coefficients(algebra, chosen, values)
    states = list(itertools.product(*(range(c) for c in reversed(small))))
    full = np.zeros((len(states), len(cards)), dtype=np.int64)
    full[:, chosen] = np.array([state[::-1] for state in states]).reshape(len(states), len(chosen))
    back = algebra.evaluate(list(theta), full).astype(float) @ np.array(list(theta.values()))
    np.testing.assert_allclose(np.diff(back), np.diff(values), atol=1e-9)
