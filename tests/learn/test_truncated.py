"""Truncated machines: the laws of their engine, and one optimum by every way to it."""

from __future__ import annotations

import numpy as np
import pytest

from fullspan.data import Empirical, Space
from fullspan.engine.truncated import TruncatedEngine
from fullspan.learn.likelihood import MachineOptions, fit_machine
from fullspan.learn.truncated import TruncatedOptions, Truncation, by_program, certified, fit_truncated
from fullspan.learn.truncated.train import train
from fullspan.model.algebra import Basis, sets_of_states, sets_of_terms
from fullspan.model.algebra.inclusion import inclusion

PAIRS = [["x0"], ["x1"], ["x2"], ["x3"], ["x0", "x1"], ["x1", "x2"], ["x0", "x2", "x3"]]


def rows(n: int = 80, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.random((n, 4)) < [0.3, 0.6, 0.5, 0.4]).astype(np.int64)


def truncation(seed: int = 0, cards: tuple[int, ...] = (2, 3, 2, 4)) -> Truncation:
    """A few states of a space with several levels, and generic terms on it."""
    rng = np.random.default_rng(seed)
    states = np.stack([rng.integers(card, size=12) for card in cards], axis=1)
    data = Empirical.from_codes(states, rng.random(12), Space.of_cards(cards))
    terms = (((0, 1),), ((1, 2),), ((3, 1),), ((0, 1), (1, 2)), ((1, 1), (3, 3)), ((0, 1), (2, 1), (3, 2)))
    return Truncation.of(data, terms)


@pytest.mark.parametrize("dense_entries", [0, 1 << 22])
def test_the_model_matrix_is_inclusion(dense_entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """F[x, b] = 1 iff the items of b are among those of x (eq. 3), as the monomial basis says; compiled and not."""
    monkeypatch.setattr("fullspan.model.algebra.inclusion._DENSE_ENTRIES", dense_entries)
    rng = np.random.default_rng(1)
    cards = (3, 2, 4, 2)
    states = np.stack([rng.integers(card, size=40) for card in cards], axis=1)
    basis = Basis("monomial", cards)
    terms = [basis.term(int(y)) for y in rng.choice(np.arange(1, basis.n_states), 20, replace=False)]
    start, indices = inclusion(sets_of_states(states, cards), sets_of_terms(terms, cards))
    dense = np.zeros((40, 20))
    for x in range(40):
        dense[x, indices[start[x] : start[x + 1]]] = 1
    assert np.array_equal(dense, basis.evaluate(terms, states))


def test_the_space_is_zero_the_terms_and_the_data() -> None:
    """S = D, B, {0}, each once (eq. 4), and the block of B is triangular with a unit diagonal."""
    t = truncation()
    k = len(t.terms)
    block = t.engine.dense()[: k + 1]
    assert not block[0].any()
    assert np.array_equal(np.tril(block[1:]), block[1:])
    assert np.all(np.diag(block[1:]) == 1)
    assert np.isclose(t.q.sum(), 1)
    assert len(t.engine) == 1 + k + len(t.others)


def test_the_engine_sums_over_its_states() -> None:
    """log Z, p, eta and the Fisher information (eqs. 7, 10, 11) by dense sums at a generic point."""
    t = truncation()
    theta = np.random.default_rng(2).normal(size=len(t.terms))
    log_z = t.engine.move(theta)
    dense = t.engine.dense()
    weight = np.exp(dense @ theta)
    p = weight / weight.sum()
    assert np.isclose(log_z, np.log(weight.sum()), rtol=1e-14)
    assert np.allclose(t.engine.p, p, rtol=1e-13)
    assert np.allclose(np.exp(t.engine.log_p), p, rtol=1e-13)
    assert np.allclose(t.engine.eta(), dense.T @ p, rtol=1e-13)
    fisher = dense.T @ np.diag(p) @ dense - np.outer(dense.T @ p, dense.T @ p)
    assert np.allclose(t.engine.covariance(), fisher, atol=1e-15)


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "gradient"])
@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_every_solver_ends_at_the_same_optimum(solver: str, l2: float) -> None:
    """The objective is convex: Newton, L-BFGS and Algorithm 1 agree, and the expectations are the data's."""
    data = Empirical.from_codes(rows())
    fits = [
        fit_truncated(data, TruncatedOptions(patterns=PAIRS, solver=s, l2=l2, tol=1e-9, max_iter=100_000))
        for s in ("auto", solver)
    ]
    assert {f.status for f in fits} == {"converged"}
    assert np.allclose(fits[0].model.theta, fits[1].model.theta, atol=1e-6)
    if not l2:
        engine = TruncatedEngine.of_model(fits[1].model)  # type: ignore[arg-type]
        share = Truncation.of(data, fits[1].model.terms).q
        assert np.allclose(engine.eta(), engine.moments(share), atol=1e-8)


@pytest.mark.parametrize("cards", [(2,) * 5, (2, 3, 2, 4)])
def test_a_space_that_is_not_truncated_is_a_boltzmann_machine(cards: tuple[int, ...]) -> None:
    """S = all states: the same log-probabilities as the exact machine with the same terms, to 1e-10."""
    rng = np.random.default_rng(4)
    states = np.stack([rng.integers(card, size=400) for card in cards], axis=1)
    data = Empirical.from_codes(states, space=Space.of_cards(cards))
    terms = [[f"x{i}"] for i in range(len(cards))] + [["x0", "x1"], ["x1", "x2"], ["x0", "x2", "x3"]]
    exact = fit_machine(data, MachineOptions(terms=terms, tol=1e-13)).model
    ours = fit_truncated(data, TruncatedOptions(patterns=terms, states="all", tol=1e-13)).model
    every = data.space.states(np.arange(data.space.n_states))
    assert np.abs(ours.log_prob(every) - exact.log_prob(every)).max() < 1e-10
    assert np.allclose([ours.weights[t] for t in exact.terms], exact.theta, atol=1e-9)


def test_so_is_its_limit_at_infinity() -> None:
    """x0 = 1 only where x1 = 1: both machines find the same limit and the same diverging weights."""
    states = rows(300)
    states[:, 1] |= states[:, 0]
    data = Empirical.from_codes(states)
    terms = [["x0"], ["x1"], ["x2"], ["x3"], ["x0", "x1"], ["x2", "x3"]]
    exact = fit_machine(data, MachineOptions(terms=terms))
    ours = fit_truncated(data, TruncatedOptions(patterns=terms, states="all", tol=1e-12))
    every = data.space.states(np.arange(16))
    assert np.abs(np.exp(ours.model.log_prob(every)) - np.exp(exact.model.log_prob(every))).max() < 1e-10
    assert {ours.model.terms[i] for i in ours.diverging} == {exact.model.terms[i] for i in exact.diverging}
    assert ours.goodness is not None
    assert exact.goodness is not None
    assert ours.goodness.df == exact.goodness.df


def test_more_weights_than_rows_give_the_data_back() -> None:
    """Where the shortest direction tops out on the rows seen alone, the limit is the empirical distribution."""
    rng = np.random.default_rng(5)
    states = (rng.random((9, 30)) < 0.6).astype(np.int64)
    weights = rng.random(9)
    data = Empirical.from_codes(states, weights)
    fitted = fit_truncated(data, TruncatedOptions(n_pairs=100, seed=0))
    assert fitted.divergence < 1e-10
    assert fitted.settings["violation"] < 1e-8
    assert np.allclose(np.exp(fitted.model.log_prob(data.states)), data.counts / data.total, rtol=1e-9)
    assert len(fitted.diverging) > 0


def test_the_certificate_and_the_program_find_the_same_face() -> None:
    """Rows that depend on each other: the face is the states seen either way, with the same dimension."""
    rng = np.random.default_rng(6)
    states = (rng.random((10, 12)) < 0.7).astype(np.int64)
    states[:, 0] = 1
    data = Empirical.from_codes(states, rng.random(10), Space.of_cards((2,) * 12))
    t = Truncation.of(data, tuple(((i, 1),) for i in range(12)))
    quick = certified(t.engine, t.q > 0)
    face, on = by_program(t.engine, t.q > 0)
    if quick is not None:
        assert np.array_equal(on, t.q > 0)
        assert quick.face.n_free == face.n_free
    values = t.engine.dot(face.direction)
    top = values[t.q > 0].max()
    assert np.allclose(values[on], top, atol=1e-7)
    assert (values[~on] <= top - 1 + 1e-7).all()
    trained = train(t.engine, t.q, tol=1e-10)
    assert trained.solution.violation < 1e-9
    assert t.engine.p[~on].max(initial=0.0) == 0.0


def test_weights_of_rows_count_rows() -> None:
    """A row of weight 3 is three rows."""
    states = rows(30)
    weights = np.random.default_rng(7).integers(0, 4, 30)
    once = fit_truncated(Empirical.from_codes(states, weights), TruncatedOptions(patterns=PAIRS, l2=0.01))
    often = fit_truncated(
        Empirical.from_codes(np.repeat(states, weights, axis=0)), TruncatedOptions(patterns=PAIRS, l2=0.01)
    )
    assert np.allclose(once.model.theta, often.model.theta, atol=1e-12)
