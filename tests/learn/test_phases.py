"""Phases: log Z over clamped rows, its gradient and Hessian, against enumeration and finite differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.engine.dual import DualTable
from fullspan.learn.base import Known, Phase
from fullspan.learn.likelihood import Features, Free, Observed, Smoothed, data_moments, distribution
from fullspan.model.algebra import Basis, BasisName
from generic import ALL_BASES, drawn, matrix, opened
from generic import distribution as enumerated

CARDS = ((2, 3, 4), (2,) * 5, (3, 1, 2))
spaces = pytest.mark.parametrize("cards", CARDS, ids=str)
bases = pytest.mark.parametrize("basis", ALL_BASES)


def some_terms(basis: Basis, seed: int = 0) -> NDArray[np.int64]:
    """Terms of any order, without their subsets."""
    k = min(8, basis.n_states - 1)
    return np.random.default_rng(seed).choice(np.arange(1, basis.n_states), k, replace=False)


def incomplete(cards: tuple[int, ...], seed: int = 0) -> Empirical:
    return opened(drawn(cards, "monomial", seed, rows=60), 0.4, seed)


def make(kind: str, basis: Basis, y: NDArray[np.int64]) -> Phase:
    data = incomplete(basis.cards)
    if kind == "free":
        return Free(DualTable(basis), y)
    if kind == "known":
        complete = drawn(basis.cards, "monomial", 1, rows=60)
        return Known(data_moments(basis, y, complete.states, complete.counts))
    if kind in ("observed", "smoothed"):
        observed = Observed(basis, y, data.states, data.counts)
        terms = [basis.term(int(i)) for i in y]
        return observed if kind == "observed" else Smoothed(observed, basis, terms, data.total, 2.5)
    return Features(basis, [basis.term(int(i)) for i in y], data.states, data.counts)


def difference(f: Callable[[Array], Array | float], theta: Array, h: float) -> Array:
    """Central differences, one row for each weight."""
    steps = h * np.eye(len(theta))
    return np.array([(np.asarray(f(theta + s)) - np.asarray(f(theta - s))) / (2 * h) for s in steps])


@spaces
@bases
@pytest.mark.parametrize("kind", ["free", "known", "observed", "smoothed", "features"])
def test_the_gradient_is_eta_and_the_hessian_the_covariance(
    kind: str, basis: BasisName, cards: tuple[int, ...]
) -> None:
    """``d log Z = E(Phi)`` and ``d2 log Z = Cov(Phi)``, averaged over the rows."""
    algebra = Basis(basis, cards)
    y = some_terms(algebra)
    phase = make(kind, algebra, y)
    theta = np.random.default_rng(3).normal(scale=0.7, size=len(y))

    def eta_at(point: Array) -> Array:
        phase.move(point)
        return phase.eta().copy()

    gradient, hessian = difference(phase.move, theta, 1e-5), difference(eta_at, theta, 1e-5)
    phase.move(theta)
    np.testing.assert_allclose(phase.eta(), gradient, atol=1e-8)
    np.testing.assert_allclose(phase.covariance(), hessian, atol=1e-8)


@spaces
@bases
def test_observed_rows_are_sums_over_their_completions(basis: BasisName, cards: tuple[int, ...]) -> None:
    """The mean of ``log sum_{x agrees} exp theta.Phi(x)``, row by row, and Features agree with Observed in all."""
    algebra, data = Basis(basis, cards), incomplete(cards)
    y = some_terms(algebra)
    theta = np.random.default_rng(4).normal(size=len(y))
    exponent = theta @ matrix(algebra)[y]
    states = data.space.states(np.arange(algebra.n_states))
    log_z = [
        np.log(np.exp(exponent[((row < 0) | (states == row)).all(axis=1)]).sum()) for row in data.states.astype(int)
    ]
    observed, features = make("observed", algebra, y), make("features", algebra, y)
    assert isinstance(observed, Observed)
    assert observed.move(theta) == pytest.approx(data.counts @ log_z / data.total, rel=1e-13)
    np.testing.assert_allclose(observed.log_z(), log_z, rtol=1e-12)
    assert features.move(theta) == pytest.approx(observed.move(theta), rel=1e-13)
    np.testing.assert_allclose(features.eta(), observed.eta(), atol=1e-13)
    np.testing.assert_allclose(features.covariance(), observed.covariance(), atol=1e-12)
    assert observed.moments()[0] == pytest.approx(1.0, abs=1e-13)
    np.testing.assert_allclose(observed.moments()[y], observed.eta())


def test_features_are_the_same_a_few_rows_at_a_time() -> None:
    algebra = Basis("walsh", (2, 3, 4))
    y = some_terms(algebra)
    theta = np.linspace(-1, 1, len(y))
    whole = make("features", algebra, y)
    data = incomplete(algebra.cards)
    parts = Features(algebra, [algebra.term(int(i)) for i in y], data.states, data.counts, block=100)
    assert parts.move(theta) == pytest.approx(whole.move(theta), rel=1e-14)
    np.testing.assert_allclose(parts.covariance(), whole.covariance(), atol=1e-14)


@bases
def test_complete_rows_are_a_known_phase(basis: BasisName) -> None:
    """With nothing open, log Z = theta . d and the covariance is 0."""
    algebra, data = Basis(basis, (2, 3, 4)), drawn((2, 3, 4), "indicator", 5, rows=40)
    y = some_terms(algebra)
    theta = np.random.default_rng(6).normal(size=len(y))
    d = data.counts / data.total @ matrix(algebra)[y][:, data.space.index(data.states)].T
    np.testing.assert_allclose(data_moments(algebra, y, data.states, data.counts), d, atol=1e-14)
    for phase in (
        Known(d),
        Observed(algebra, y, data.states, data.counts),
        Features(algebra, [algebra.term(int(i)) for i in y], data.states, data.counts),
    ):
        assert phase.move(theta) == pytest.approx(theta @ d, rel=1e-12)
        np.testing.assert_allclose(phase.eta(), d, atol=1e-13)
        np.testing.assert_allclose(phase.covariance(), 0.0, atol=1e-13)


@spaces
@bases
def test_pseudo_rows_are_rows_of_every_state(basis: BasisName, cards: tuple[int, ...]) -> None:
    """2.5 pseudo-rows are the same as 2.5 / |X| rows of each state among the others."""
    algebra = Basis(basis, cards)
    y, data = some_terms(algebra), drawn(cards, "monomial", 1, rows=60)
    known = Known(data_moments(algebra, y, data.states, data.counts))
    smoothed = Smoothed(known, algebra, [algebra.term(int(i)) for i in y], data.total, 2.5)
    counts = np.full(algebra.n_states, 2.5 / algebra.n_states)
    counts[data.space.index(data.states)] += data.counts
    every = data.space.states(np.arange(algebra.n_states))
    np.testing.assert_allclose(smoothed.eta(), data_moments(algebra, y, every, counts), atol=1e-14)


@bases
def test_weights_of_thousands_of_nats_stay_finite(basis: BasisName) -> None:
    """Log-weights down to -2000: no NaN, no infinity, and the two ways agree."""
    algebra = Basis(basis, (2, 3, 4))
    y = some_terms(algebra)
    theta = np.random.default_rng(7).choice([-2000.0, 2000.0, 1.3], size=len(y))
    observed, features, free = (make(kind, algebra, y) for kind in ("observed", "features", "free"))
    assert observed.move(theta) == pytest.approx(features.move(theta), rel=1e-12)
    assert np.isfinite(free.move(theta))
    for phase in (observed, features, free):
        assert np.isfinite(phase.eta()).all()
        assert np.isfinite(phase.covariance()).all()
    np.testing.assert_allclose(observed.eta(), features.eta(), atol=1e-12)


@spaces
@bases
def test_the_distribution_of_weights(basis: BasisName, cards: tuple[int, ...]) -> None:
    """p(x) by enumeration; states at the end of an infinite weight have none at all."""
    algebra = Basis(basis, cards)
    y = some_terms(algebra)
    theta = np.random.default_rng(8).normal(size=len(y))
    wanted = enumerated(algebra, dict(zip(y.tolist(), theta.tolist(), strict=True)))
    np.testing.assert_allclose(distribution(algebra, y, theta), wanted, rtol=1e-12)
    first = distribution(algebra, y, 2000.0 * np.eye(len(y))[0])
    low = matrix(algebra)[y[0]] < 1
    assert (first[low] == 0.0).all()
    assert first.sum() == pytest.approx(1.0)
