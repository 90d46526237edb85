"""Alternating minimisation: divergences never rise, fixed points are maxima, hidden units are missing columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.engine.dual import DualTable
from fullspan.learn.likelihood import Free, Likelihood, Observed, Projection, alternate_phases, distribution
from fullspan.learn.likelihood.solve import solve
from fullspan.model.algebra import Basis, BasisName
from generic import ALL_BASES, drawn, matrix, opened

bases = pytest.mark.parametrize("basis", ALL_BASES)
EXACT = [Projection("newton", 1e-11), Projection("ipf", 1e-11)]
INEXACT = Projection("ipf", 0.0, max_sweeps=10, restart=True)


def phases(basis: BasisName, data: Empirical, order: int = 2) -> tuple[Free, Observed]:
    algebra = Basis(basis, data.space.cards)
    y = np.array([i for i in range(1, algebra.n_states) if len(algebra.term(i)) <= order])
    return Free(DualTable(algebra), y), Observed(algebra, y, data.states, data.counts)


def hidden_data(seed: int, cards: tuple[int, ...] = (2, 2, 2, 2)) -> Empirical:
    """Visible rows, and a last variable that nobody has seen."""
    data = drawn(cards, "monomial", seed, rows=400, k=12, scale=1.0)
    rows = data.states.astype(np.int64).copy()
    rows[:, -1] = -1
    return Empirical.from_codes(rows, data.counts, space=data.space, allow_missing=True)


def random_start(free: Free, seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=len(free.terms))


@bases
@pytest.mark.parametrize("projection", EXACT, ids=lambda p: p.solver)
def test_the_exact_variant_never_raises_the_divergence(basis: BasisName, projection: Projection) -> None:
    """D(P || B_v) falls at every step, hidden units or missing cells, whatever does the projection."""
    for data in (hidden_data(0), opened(drawn((2, 3, 2), basis, 0, rows=300), 0.3, 0)):
        free, observed = phases(basis, data)
        found = alternate_phases(Likelihood(free, observed), random_start(free, 1), projection, 1e-9, 40)
        assert len(found.trace) > 5
        assert (np.diff(found.trace) <= 1e-10).all()
        assert found.value == pytest.approx(min(found.trace), abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), basis=st.sampled_from(ALL_BASES), share=st.floats(0.05, 0.6))
def test_no_step_of_the_exact_variant_rises(seed: int, basis: BasisName, share: float) -> None:
    data = opened(drawn((2, 3, 2), basis, seed, rows=100, scale=0.8), share, seed)
    if data.is_complete:
        return
    free, observed = phases(basis, data)
    found = alternate_phases(
        Likelihood(free, observed), np.zeros(len(free.terms)), Projection("newton", 1e-11), 1e-9, 15
    )
    assert (np.diff(found.trace) <= 1e-10).all()


@bases
def test_one_step_is_completion_and_projection(basis: BasisName) -> None:
    """P by enumeration (Byrne 1992, eq. 16), then the machine with the moments of P (Property 2)."""
    data = opened(drawn((2, 3, 2), basis, 2, rows=200), 0.3, 2)
    free, observed = phases(basis, data)
    theta = random_start(free, 3)
    algebra = free.table.basis
    p, states = distribution(algebra, free.terms, theta), data.space.states(np.arange(algebra.n_states))
    completed = np.zeros(algebra.n_states)
    for row, count in zip(data.states.astype(int), data.counts, strict=True):
        agrees = ((row < 0) | (states == row)).all(axis=1)
        completed[agrees] += count / data.total * p[agrees] / p[agrees].sum()
    for projection in (*EXACT, Projection("lbfgs", 1e-11), Projection("gradient", 1e-11)):
        found = alternate_phases(Likelihood(free, observed), theta, projection, 1e-12, 1)
        after = matrix(algebra)[free.terms] @ distribution(algebra, free.terms, found.theta)
        np.testing.assert_allclose(after, matrix(algebra)[free.terms] @ completed, atol=1e-9)


@bases
def test_fixed_points_are_maxima_of_the_observed_likelihood(basis: BasisName) -> None:
    """The exact variant and the direct solver end at the same place."""
    data = opened(drawn((2, 3, 2), basis, 4, rows=500), 0.2, 4)
    free, observed = phases(basis, data)
    direct = solve(Likelihood(free, observed), np.zeros(len(free.terms)), "newton", 1e-11)
    assert direct.status == "converged"
    for projection in EXACT:
        found = alternate_phases(Likelihood(free, observed), np.zeros(len(free.terms)), projection, 1e-9, 5000)
        assert found.status == "converged"
        assert found.value == pytest.approx(direct.value, abs=1e-12)
        np.testing.assert_allclose(found.theta, direct.theta, atol=1e-5)


@pytest.mark.parametrize(("l2", "l1"), [(0.02, 0.0), (0.0, 0.01), (0.01, 0.005)])
def test_penalties_are_part_of_the_projection(l2: float, l1: float) -> None:
    """The penalised objective never rises, and its stationary point is that of the direct solver."""
    data = opened(drawn((2, 3, 2), "walsh", 5, rows=300), 0.2, 5)
    free, observed = phases("walsh", data)
    zero = np.zeros(len(free.terms))
    direct = solve(Likelihood(free, observed, l2, l1), zero, "newton", 1e-11)
    found = alternate_phases(Likelihood(free, observed, l2, l1), zero, Projection("newton", 1e-11), 1e-9, 3000)
    assert found.status == direct.status == "converged"
    assert (np.diff(found.trace) <= 1e-11).all()
    np.testing.assert_allclose(found.theta, direct.theta, atol=1e-6)


@bases
def test_the_inexact_variant_keeps_the_best_machine_it_met(basis: BasisName) -> None:
    """Halted projections may raise the divergence; what is returned is the lowest."""
    rose = False
    for seed in range(6):
        data = hidden_data(seed, (2, 3, 2, 2))
        free, observed = phases(basis, data, order=3)
        found = alternate_phases(Likelihood(free, observed), random_start(free, seed), INEXACT, 1e-9, 30)
        assert found.value == pytest.approx(min(found.trace), abs=1e-12)
        assert Likelihood(free, observed).move(found.theta) == pytest.approx(found.value, abs=1e-13)
        rose = rose or bool((np.diff(found.trace) > 1e-12).any())
    assert rose, "no trace rose: the test shows nothing"


@bases
def test_em_ends_where_an_event_never_happens(basis: BasisName) -> None:
    """A column that is constant, beside open cells: the targets of IPFP are 0, and it must still end."""
    rng = np.random.default_rng(6)
    rows = rng.integers(2, size=(80, 3))
    rows[:, 0] = 1
    rows[rng.random(80) < 0.3, 2] = -1
    data = Empirical.from_codes(rows, space=drawn((2, 2, 2), "walsh", 0, 9).space, allow_missing=True)
    free, observed = phases(basis, data)
    newton, ipf, inexact = (
        alternate_phases(Likelihood(free, observed), np.zeros(6), p, 1e-8, 200) for p in (*EXACT, INEXACT)
    )
    assert newton.status == ipf.status == "converged"
    assert newton.value == pytest.approx(ipf.value, abs=1e-10)
    assert inexact.value == pytest.approx(ipf.value, abs=1e-3)
    assert np.isfinite([newton.theta, ipf.theta, inexact.theta]).all()


@pytest.mark.parametrize("projection", [*EXACT, INEXACT], ids=["newton", "ipf", "inexact"])
def test_an_interrupt_keeps_the_best_so_far(projection: Projection) -> None:
    data = hidden_data(7)
    free, observed = phases("monomial", data)
    values: list[float] = []

    def watch(theta: Array, value: float, violation: float) -> None:
        values.append(value)
        if len(values) == 5:
            raise KeyboardInterrupt

    found = alternate_phases(Likelihood(free, observed), random_start(free, 8), projection, 1e-12, watch=watch)
    assert found.status == "interrupted"
    assert len(values) == 5
    assert found.value == pytest.approx(min(found.trace), abs=1e-13)


def test_an_interrupt_inside_a_projection_stops_the_alternation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control-C while the model is being fitted is not lost in the inner solver."""
    data = hidden_data(9)
    free, observed = phases("monomial", data)
    covariance, calls = Free.covariance, []

    def stopped(self: Free) -> Array:
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return covariance(self)

    monkeypatch.setattr(Free, "covariance", stopped)
    found = alternate_phases(Likelihood(free, observed), random_start(free, 10), Projection("newton", 1e-11), 1e-12)
    assert found.status == "interrupted"
    assert len(calls) == 6


def test_rounding_does_not_keep_it_from_ending() -> None:
    """Once the objective is flat to rounding the violation decides, and a small one is convergence."""
    data = opened(drawn((2,) * 6, "walsh", 11, rows=400), 0.05, 11)
    free, observed = phases("monomial", data)
    found = alternate_phases(
        Likelihood(free, observed), np.zeros(len(free.terms)), Projection("newton", 1e-12), 1e-11, 3000
    )
    assert found.status == "converged"
    assert found.iterations < 200
