"""IPFP on the events of 0/1 terms: the same steps as the general procedure, and moments that agree at the end."""

from __future__ import annotations

import numpy as np
import pytest

from fullspan.engine.dual import DualTable
from fullspan.learn.likelihood import Constraint, Events, Free, events_of, project_by_ipf
from fullspan.learn.likelihood.ipf import ipf
from fullspan.model.algebra import Basis

CARDS = (3, 2, 4, 2, 5, 2, 3, 2)
"""2,880 states: the last variables are beyond the first digits that the lists of events are split at."""


def generic(cards: tuple[int, ...], seed: int) -> tuple[Basis, np.ndarray, np.ndarray, np.ndarray]:
    """A basis, some terms of order 1 to 3, their expectations under a random distribution, and a random start."""
    basis, rng = Basis("monomial", cards), np.random.default_rng(seed)
    terms = [y for y in rng.permutation(basis.n_states)[:400] if 1 <= len(basis.term(int(y))) <= 3][:12]
    eta = rng.dirichlet(np.full(basis.n_states, 3.0))
    basis.analyse(eta)
    y = np.array(terms, dtype=np.int64)
    return basis, y, eta[y], rng.dirichlet(np.full(basis.n_states, 3.0))


@pytest.mark.parametrize("cards", [(2, 3, 2), CARDS])
def test_sweeps_are_those_of_the_general_procedure(cards: tuple[int, ...]) -> None:
    basis, y, d, p = generic(cards, 1)
    constraints = [Constraint.of_term(basis, basis.term(int(i)), float(q)) for i, q in zip(y, d, strict=True)]
    expected, weights = p.copy(), 7.0 * p
    found = ipf(basis, constraints, expected, 0.0, 3)
    theta, _, sweeps = Events(basis, tuple(y.tolist())).fit(weights, d, 0.0, 3)
    assert sweeps == 3
    assert theta == pytest.approx([found.theta[basis.term(int(i))] for i in y], rel=1e-9)
    assert weights / weights.sum() == pytest.approx(expected, rel=1e-9)


def test_moments_agree_at_the_end_and_the_weights_explain_the_change() -> None:
    """w(x) ends as w(x) exp(theta . Phi(x)) up to a constant, with the wanted expectations."""
    basis, y, d, p = generic(CARDS, 2)
    weights = p.copy()
    theta, difference, sweeps = events_of(basis, tuple(y.tolist())).fit(weights, d, 1e-11, 10_000)
    assert difference <= 1e-11
    assert 1 < sweeps < 10_000
    change = np.zeros(basis.n_states)
    change[y] = theta
    basis.synthesise(change)
    expected = p * np.exp(change)
    weights /= weights.sum()
    assert weights == pytest.approx(expected / expected.sum(), rel=1e-9)
    basis.analyse(weights)
    assert weights[y] == pytest.approx(d, abs=1e-10)


def test_events_without_odds_are_left_alone() -> None:
    """A target of 0 or 1 asks for an infinite weight: the difference is reported, the weight stays."""
    basis = Basis("monomial", (2, 2))
    weights = np.full(4, 0.25)
    theta, difference, _ = Events(basis, (1, 2, 3)).fit(weights, np.array([0.0, 0.6, 0.2]), 1e-9, 50)
    assert theta[0] == 0.0
    assert difference > 0.1
    assert np.isfinite(theta).all()


@pytest.mark.parametrize("name", ["monomial", "walsh"])
def test_projection_from_a_start_reaches_the_moments(name: str) -> None:
    """From any theta, with 0/1 terms (events) and with spins (the general procedure)."""
    basis = Basis("walsh" if name == "walsh" else "monomial", (2,) * 5)
    rng = np.random.default_rng(3)
    y = np.array([1, 2, 4, 8, 16, 3, 6, 20], dtype=np.int64)
    free = Free(DualTable(basis), y)
    free.move(rng.normal(size=8))
    d = free.eta().copy()
    free.move(project_by_ipf(free, d, rng.normal(size=8), 1e-10))
    assert free.eta() == pytest.approx(d, abs=1e-8)
