"""Laws of the dual coordinates, on random spaces and points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullspan.engine.dual import DualTable, scan
from fullspan.learn.search import line
from fullspan.model.algebra import Basis, BasisName
from generic import ALL_BASES, distribution, sample, some_prices, weights

law = settings(derandomize=True, max_examples=25, deadline=None)
cards = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)
names = st.sampled_from(ALL_BASES)
seeds = st.integers(0, 10_000)
inside = st.floats(1e-6, 1 - 1e-6)


@law
@given(q=st.floats(0, 1), m=inside)
def test_gain_is_a_divergence_below_its_bound(q: float, m: float) -> None:
    """0 <= q ln(q/m) + (1-q) ln((1-q)/(1-m)) <= (q-m)^2 / (m(1-m)), eqs. 2.18 and 2.19."""
    bound = (q - m) ** 2 / (m * (1 - m))
    assert -1e-15 <= scan.gain(q, m) <= bound * (1 + 1e-9) + 1e-15


@law
@given(d=st.floats(-0.999, 0.999), eta=st.floats(-0.999, 0.999), l1=st.floats(0, 0.5))
def test_an_l1_penalty_never_adds_to_the_gain(d: float, eta: float, l1: float) -> None:
    free, held = scan.term_gain(d, eta, 0.0, False), scan.term_gain(d, eta, l1, False)
    assert -1e-15 <= held <= free + 1e-15
    if abs(d - eta) <= l1:
        assert held == pytest.approx(0, abs=1e-15)


@law
@given(cards=cards, name=names, seed=seeds)
def test_eta_is_the_gradient_of_log_z(cards: tuple[int, ...], name: BasisName, seed: int) -> None:
    """eta_y = d log Z / d theta_y (eq. 2.6), by central differences."""
    basis = Basis(name, cards)
    theta = weights(basis, seed)
    engine = DualTable(basis)
    engine.set_theta(theta)
    eta = engine.eta.copy()
    for y in np.random.default_rng(seed).integers(basis.n_states, size=4):
        values = []
        for h in (-1e-5, 1e-5):
            engine.set_theta({**theta, int(y): theta.get(int(y), 0.0) + h})
            values.append(engine.log_z)
        assert (values[1] - values[0]) / 2e-5 == pytest.approx(eta[y], abs=1e-7)


@law
@given(cards=cards, name=names, seed=seeds)
def test_fisher_is_the_slope_of_eta_and_positive(cards: tuple[int, ...], name: BasisName, seed: int) -> None:
    """F_yz = d eta_y / d theta_z, symmetric with no negative eigenvalue."""
    basis = Basis(name, cards)
    theta = weights(basis, seed)
    engine = DualTable(basis)
    engine.set_theta(theta)
    y = np.unique(np.random.default_rng(seed).integers(basis.n_states, size=8))
    fisher = engine.fisher(y)
    np.testing.assert_allclose(fisher, fisher.T, rtol=0, atol=1e-14)
    assert np.linalg.eigvalsh(fisher).min() > -1e-12
    h, z = 1e-5, int(y[-1])
    engine.set_theta({**theta, z: theta.get(z, 0.0) + h})
    up = engine.eta[y].copy()
    engine.set_theta({**theta, z: theta.get(z, 0.0) - h})
    np.testing.assert_allclose((up - engine.eta[y]) / (2 * h), fisher[:, -1], rtol=0, atol=1e-7)


@law
@given(
    cards=cards,
    name=names,
    seed=seeds,
    deltas=st.lists(st.floats(-1.5, 1.5), min_size=1, max_size=20),
)
def test_updates_equal_a_rebuild(cards: tuple[int, ...], name: BasisName, seed: int, deltas: list[float]) -> None:
    """Any sequence of moves in place leads to the eta and log Z of its theta."""
    basis = Basis(name, cards)
    engine = DualTable(basis)
    engine.set_data(*sample(basis, seed))
    engine.set_prices(some_prices(basis))
    rng = np.random.default_rng(seed)
    for delta in deltas:
        engine.move(int(rng.integers(basis.n_states)), delta)
    moved, log_z = engine.eta.copy(), engine.log_z
    engine.rebuild()
    np.testing.assert_allclose(moved, engine.eta, rtol=0, atol=1e-10)
    assert log_z == pytest.approx(engine.log_z, abs=1e-10)


@law
@given(cards=cards, name=names, seed=seeds)
def test_a_move_to_the_data_gains_what_was_promised(cards: tuple[int, ...], name: BasisName, seed: int) -> None:
    """Moving the best candidate to eta_y = d_y lowers KL(p_d || p) by its gain; no other step along y does better."""
    basis = Basis(name, cards)
    engine = DualTable(basis)
    index, counts = sample(basis, seed)
    engine.set_data(index, counts, 1.0)
    engine.set_prices(some_prices(basis))
    theta = weights(basis, seed, k=4)
    engine.set_theta(theta)
    found = engine.scan()
    if not found.indices.size:
        return
    y = int(found.indices[0])
    p_d = (np.bincount(index, counts, minlength=basis.n_states) + 1 / basis.n_states) / (counts.sum() + 1)

    def divergence(delta: float) -> float:
        p = distribution(basis, {**theta, y: theta.get(y, 0.0) + delta})
        return float(np.sum(p_d * np.log(p_d / p)))

    assert engine.d is not None
    way = float(line.step_to(engine.eta[y], engine.d[y], basis.zero_one))
    promised = found.gains[0] + some_prices(basis)(basis.term(y))
    assert divergence(0) - divergence(way) == pytest.approx(promised, abs=1e-10)
    for delta in way + np.linspace(-2, 2, 20):
        assert divergence(delta) >= divergence(way) - 1e-12
