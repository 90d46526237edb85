"""Rows with open cells against the sum over all states that agree with them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from fullspan.engine.dual import Clamped, Within, clamped
from fullspan.model.algebra import Basis, BasisName
from generic import ALL_BASES, always_compiled, matrix

CARDS = ((2, 3, 4), (3, 1, 2, 5), (2,) * 6, (4, 3), (7,))


def every_row(cards: tuple[int, ...]) -> NDArray[np.int64]:
    """Every row that leaves something open or nothing: -1 is one more level of each variable."""
    return np.array(list(itertools.product(*(range(-1, card) for card in cards))))


def completions(cards: tuple[int, ...], row: NDArray[np.int64]) -> NDArray[np.int64]:
    """Indices of the states that agree with a row, the slow way."""
    states = np.array(list(itertools.product(*map(range, cards))))
    strides = np.cumprod([1, *cards[:-1]])
    return np.asarray(states[((row < 0) | (states == row)).all(axis=1)] @ strides)


@pytest.fixture(params=CARDS, ids=str)
def rows_of(request: pytest.FixtureRequest) -> tuple[Basis, NDArray[np.int64], NDArray[np.float64]]:
    cards: tuple[int, ...] = request.param
    rows = every_row(cards)
    rng = np.random.default_rng(len(rows))
    some = rng.permutation(len(rows))[:200]
    return Basis("monomial", cards), rows[some], rng.gamma(0.5, size=len(some)) + 0.01


@pytest.mark.parametrize("many", [1, 1 << 14, None], ids=["shared among cores", "one core", "NumPy"])
def test_completion_is_the_sum_over_agreeing_states(
    rows_of: tuple[Basis, NDArray[np.int64], NDArray[np.float64]], many: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``out += sum_o w(o) p(x | o)`` and ``log Z(o) = log sum exp l``, rows in any order, whoever does the work."""
    if many is not None:
        always_compiled(monkeypatch)
    basis, rows, weights = rows_of
    rng = np.random.default_rng(0)
    log_weights, out = rng.normal(scale=3, size=basis.n_states), rng.random(basis.n_states)
    wanted, log_z = out.copy(), []
    for row, weight in zip(rows, weights, strict=True):
        states = completions(basis.cards, row)
        part = np.exp(log_weights[states])
        wanted[states] += weight * part / part.sum()
        log_z.append(np.log(part.sum()))
    engine = Clamped(basis, rows, weights, many or 1 << 14)
    np.testing.assert_allclose(engine.complete(log_weights, out), log_z, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(out, wanted, rtol=1e-12)
    np.testing.assert_array_equal(
        Clamped(basis, rows[:5], weights[:5]).states(),
        np.unique(np.concatenate([completions(basis.cards, row) for row in rows[:5]])),
    )
    assert engine.n_visits == sum(len(completions(basis.cards, row)) for row in rows)


def test_log_weights_far_below_zero_do_not_underflow() -> None:
    """Adding -2000 to every log weight changes log Z by -2000 and the completions not at all."""
    basis = Basis("monomial", (2, 3, 2))
    rows, rng = every_row(basis.cards), np.random.default_rng(1)
    log_weights = rng.normal(scale=30, size=basis.n_states)
    engine = Clamped(basis, rows, np.ones(len(rows)))
    near, far = np.zeros(basis.n_states), np.zeros(basis.n_states)
    log_z = engine.complete(log_weights, near)
    np.testing.assert_allclose(engine.complete(log_weights - 2000.0, far), log_z - 2000.0, rtol=1e-14)
    np.testing.assert_allclose(far, near, rtol=1e-9)
    steep = np.where(np.arange(basis.n_states) == 5, 0.0, -2000.0)
    assert np.isfinite(engine.complete(steep, far)).all()


@pytest.mark.parametrize("basis", ALL_BASES)
@pytest.mark.parametrize("cards", [(2, 3, 4), (3, 1, 2, 2)], ids=str)
def test_covariance_within_rows(basis: BasisName, cards: tuple[int, ...]) -> None:
    """``sum_o w(o) Cov(Phi | o)`` row by row, whether few rows are held at a time or many."""
    algebra = Basis(basis, cards)
    rows, rng = every_row(cards), np.random.default_rng(2)
    weights, log_weights = rng.random(len(rows)), rng.normal(size=algebra.n_states)
    indices = rng.choice(np.arange(1, algebra.n_states), 11, replace=False)
    wanted, square = np.zeros((2, 11, 11))
    for row, weight in zip(rows, weights, strict=True):
        p = np.exp(log_weights[states := completions(cards, row)])
        phi, p = matrix(algebra)[indices][:, states], p / p.sum()
        square += weight * np.outer(phi @ p, phi @ p)
        wanted += weight * (phi * p @ phi.T - np.outer(phi @ p, phi @ p))
    engine, moments = Clamped(algebra, rows, weights), np.zeros(algebra.n_states)
    engine.complete(log_weights, moments)
    algebra.analyse(moments)
    for held in (1 << 18, 80):
        found = Within(engine, [algebra.term(int(y)) for y in indices], held)
        np.testing.assert_allclose(found.mean_square(log_weights - 2000.0), square, atol=1e-12)
        np.testing.assert_allclose(found.covariance(log_weights, moments), wanted, atol=1e-12)
    assert Within(engine, []).covariance(log_weights, moments).shape == (0, 0)


def test_a_fibre_lists_the_states_of_its_variables() -> None:
    basis = Basis("monomial", (3, 2, 4))
    assert clamped.fibre(basis, np.array([], dtype=np.intp)).tolist() == [0]
    assert clamped.fibre(basis, np.array([0, 2])).tolist() == [a + 6 * c for c in range(4) for a in range(3)]
