"""One suite for all engines: the laws of the protocol, at generic points, against plain enumeration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from enumeration import Enumeration
from fullspan.engine.cuda import CudaTable, why_not
from fullspan.engine.dual import DualTable, layout, table
from fullspan.engine.protocol import Engine
from fullspan.errors import FullspanError, TooLargeError
from fullspan.model.algebra import Basis, BasisName
from generic import (
    ALL_BASES,
    BLOCKS,
    CARDS,
    DTYPES,
    always_compiled,
    distribution,
    matrix,
    sample,
    some_prices,
    tolerance,
    weights,
)

Make = Callable[[Basis, Any], Engine]

every_space = pytest.mark.parametrize("cards", CARDS, ids=str)
every_basis = pytest.mark.parametrize("name", ALL_BASES)
every_dtype = pytest.mark.parametrize("dtype", DTYPES)


TABLES = [f"table, {kind}blocks of {b}" for b in BLOCKS for kind in ("", "moves pending, ")]


@pytest.fixture(params=["small table", *TABLES, "table, through p", "enumeration", "cuda"])
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Every engine, the dual table in NumPy and compiled, with several block sizes, moves pending, steps through p."""
    if request.param == "small table":
        return DualTable
    if request.param == "enumeration":
        return Enumeration
    if request.param == "cuda":
        if (reason := why_not()) is not None:
            pytest.skip(reason)
        return CudaTable
    always_compiled(monkeypatch)
    if request.param == "table, through p":
        monkeypatch.setattr(table, "FIBRE_ENTRIES", 1)
    else:
        monkeypatch.setattr(layout, "BLOCK_STATES", int(request.param.split()[-1]))
        if "pending" in request.param:
            monkeypatch.setattr(table, "DEFERRED_BYTES", 0)
    return DualTable


def loaded(make: Make, basis: Basis, dtype: Any, pseudo: float = 0.0) -> Engine:
    engine = make(basis, dtype)
    engine.set_data(*sample(basis, 1), pseudo)
    engine.set_prices(some_prices(basis))
    return engine


def log_partition(basis: Basis, theta: dict[int, float]) -> float:
    exponent = sum((w * matrix(basis)[y] for y, w in theta.items()), np.zeros(basis.n_states))
    return float(np.log(np.exp(exponent).sum()))


def net_gains(basis: Basis, eta: Any, d: Any, l1: float) -> Any:
    """Gain less price of every term by the formula, minus infinity for the constant."""
    target = np.where(d > eta, np.maximum(d - l1, eta), np.minimum(d + l1, eta))
    q, m = (target, eta) if basis.zero_one else ((1 + target) / 2, (1 + eta) / 2)
    with np.errstate(all="ignore"):
        gain = np.where(q > 0, q * np.log(q / m), 0) + np.where(q < 1, (1 - q) * np.log((1 - q) / (1 - m)), 0)
    prices = some_prices(basis)
    gain -= [prices(basis.term(y)) for y in range(basis.n_states)]
    gain[0] = -np.inf
    return gain


def test_both_are_engines() -> None:
    for make in (DualTable, Enumeration):
        assert isinstance(make(Basis("walsh", (2, 3))), Engine)


@every_space
@every_basis
@every_dtype
def test_moves_lead_where_theta_leads(make: Make, name: BasisName, cards: tuple[int, ...], dtype: Any) -> None:
    """move, set_theta, rebuild and enumeration give the same eta and log Z, whatever the way."""
    basis = Basis(name, cards)
    engine = loaded(make, basis, dtype)
    theta = weights(basis, 2)
    for y, weight in theta.items():
        engine.move(y, weight / 3)
    for y, weight in reversed(theta.items()):
        engine.move(y, weight - weight / 3)
    exact = matrix(basis) @ distribution(basis, theta)
    assert engine.theta == pytest.approx(theta)
    np.testing.assert_allclose(engine.eta, exact, rtol=0, atol=tolerance(dtype))
    assert engine.log_z == pytest.approx(log_partition(basis, theta), abs=tolerance(dtype))
    assert engine.rebuild() <= 2 * tolerance(dtype)
    np.testing.assert_allclose(engine.eta, exact, rtol=0, atol=tolerance(dtype))
    assert engine.log_z == pytest.approx(log_partition(basis, theta), abs=tolerance(dtype))
    engine.set_theta({})
    assert engine.log_z == pytest.approx(np.log(basis.n_states), abs=tolerance(dtype))
    assert engine.eta[0] == 1


@every_space
@every_basis
@every_dtype
def test_data_are_expectations(make: Make, name: BasisName, cards: tuple[int, ...], dtype: Any) -> None:
    """d = T p_d; without pseudo-rows events keep half a row in N + 1 away from never and always."""
    basis = Basis(name, cards)
    engine = make(basis, dtype)
    index, counts = sample(basis, 3)
    p = np.bincount(index, counts, minlength=basis.n_states)
    engine.set_data(index, counts, 2.5)
    assert engine.d is not None
    smooth = matrix(basis) @ (p + 2.5 / basis.n_states) / (counts.sum() + 2.5)
    np.testing.assert_allclose(engine.d, smooth, rtol=0, atol=tolerance(dtype))
    engine.set_data(np.array([basis.n_states - 1]), np.array([40.0]))
    least = 0.5 / 41
    q = engine.d if basis.zero_one else (1 + engine.d) / 2
    np.testing.assert_allclose(np.minimum(q, 1 - q)[1:], least, rtol=0, atol=tolerance(dtype))
    assert engine.d[0] == 1


@every_space
@every_basis
@every_dtype
@pytest.mark.parametrize("l1", [0.0, 0.02])
def test_the_first_candidate_is_the_best(
    make: Make, name: BasisName, cards: tuple[int, ...], dtype: Any, l1: float
) -> None:
    """After a move and without one, candidates are the argmax of gain less price; a floor only hides those below it."""
    basis = Basis(name, cards)
    engine = loaded(make, basis, dtype)
    engine.set_theta(weights(basis, 4))
    y = max(1, basis.n_states // 3)
    for candidates in (engine.move(y, 0.37, l1=l1), engine.scan(l1=l1)):
        assert engine.d is not None
        net = net_gains(basis, engine.eta.astype(float), engine.d.astype(float), l1)
        near = 1e-9 if dtype is np.float64 else 1e-5
        assert candidates.indices.size == candidates.gains.size
        assert (np.diff(candidates.gains) <= 0).all()
        np.testing.assert_allclose(candidates.gains, net[candidates.indices], rtol=0, atol=near)
        best = candidates.gains[0] if candidates.gains.size else 0.0
        assert best == pytest.approx(max(net.max(), 0.0), abs=near)
    assert engine.scan(floor=best - 1e-4, l1=l1).gains[:1] == pytest.approx(candidates.gains[:1])
    assert engine.scan(floor=best + 1e-4, l1=l1).indices.size == 0


@every_basis
@every_dtype
def test_the_constant_is_never_a_candidate(make: Make, name: BasisName, dtype: Any) -> None:
    """Though rounding moves its expectation off 1 for a moment."""
    basis = Basis(name, (2, 3, 2, 2))
    engine = loaded(make, basis, dtype)
    engine.set_prices(layout.Prices(np.array([0, np.inf, np.inf, np.inf, np.inf]), np.zeros(4)))
    for step in range(60):
        candidates = engine.move(1 + step % (basis.n_states - 1), 0.3 * (-1) ** step)
        assert candidates.indices.size == 0


@every_basis
def test_terms_that_are_not_for_sale_are_no_candidates(make: Make, name: BasisName) -> None:
    basis = Basis(name, (3, 2, 4, 5))
    engine = loaded(make, basis, np.float64)
    prices = some_prices(basis)
    by_order = np.where(np.arange(5) > 2, np.inf, prices.by_order)
    engine.set_prices(layout.Prices(by_order, prices.by_variable))
    found = engine.scan().indices
    assert found.size
    assert ((engine.digits(found) > 0).sum(axis=1) <= 2).all()


@every_space
@every_basis
@every_dtype
def test_fisher_information_is_the_covariance(make: Make, name: BasisName, cards: tuple[int, ...], dtype: Any) -> None:
    """Cov(Phi_y, Phi_z) and <Phi_y Phi_z> by look-up equal those by enumeration, also for terms of high order."""
    basis = Basis(name, cards)
    engine = make(basis, dtype)
    theta = weights(basis, 5)
    engine.set_theta(theta)
    p, t = distribution(basis, theta), matrix(basis)
    y = np.unique(np.r_[0, np.random.default_rng(6).integers(basis.n_states, size=20), basis.n_states - 1])
    z = y[: max(1, y.size // 2)]
    moments = (t[y] * p) @ t[z].T
    many = 3 ** len(cards)
    np.testing.assert_allclose(engine.second_moments(y, z), moments, rtol=0, atol=many * tolerance(dtype))
    eta = t[y] @ p
    covariance = (t[y] * p) @ t[y].T - np.outer(eta, eta)
    np.testing.assert_allclose(engine.fisher(y), covariance, rtol=0, atol=many * tolerance(dtype))


@every_space
@every_basis
@every_dtype
def test_marginals_and_their_gains(make: Make, name: BasisName, cards: tuple[int, ...], dtype: Any) -> None:
    """p(x_A), p_d(x_A) and KL(p_d(x_A) || p(x_A)) by look-up equal those by summation, in any order of variables."""
    basis = Basis(name, cards)
    engine = loaded(make, basis, dtype, pseudo=1.0)
    theta = weights(basis, 7)
    engine.set_theta(theta)
    index, counts = sample(basis, 1)
    shape = tuple(reversed(cards))
    model = distribution(basis, theta).reshape(shape)
    data = np.bincount(index, counts, minlength=basis.n_states) + 1 / basis.n_states
    data = (data / data.sum()).reshape(shape)
    n = len(cards)
    pairs = [(n - 1, 0), (0, n // 2)] if n > 2 else [(0,)]
    sets = np.array([a for a in pairs if len(set(a)) == len(a)])
    rows = engine.data_margins(sets)
    gains = engine.margin_gains(sets, rows, np.zeros(len(sets)))
    for a, row, gain in zip(sets, rows, gains, strict=True):
        p, q = summed(model, a), summed(data, a)
        near = tolerance(dtype) * 10
        np.testing.assert_allclose(engine.marginal([int(i) for i in a]), p, rtol=0, atol=near)
        np.testing.assert_allclose(row[: q.size], q, rtol=0, atol=near)
        assert not row[q.size :].any()
        assert gain == pytest.approx(np.sum(q * np.log(q / p)), abs=100 * near)
    for share in (0.5, 0.99, 1.01, 3.0):  # a limit below the gain leaves it, one above it may hide it
        limited = engine.margin_gains(sets, rows, share * gains)
        assert (limited == gains).all() if share < 1 else (limited <= share * gains).all()


def summed(p: Any, variables: Any) -> Any:
    """Marginal of an array whose last axis is variable 0, flat with the first of ``variables`` fastest."""
    n = p.ndim
    axes = [n - 1 - int(i) for i in variables]
    rest = tuple(a for a in range(n) if a not in axes)
    kept = p.sum(axis=rest)
    order = sorted(axes)
    return kept.transpose([order.index(a) for a in reversed(axes)]).ravel()


def test_scanning_without_data_is_refused(make: Make) -> None:
    engine = make(Basis("walsh", (2, 2)), np.float64)
    with pytest.raises(FullspanError, match="call set_data and set_prices first"):
        engine.scan()


def test_enumeration_refuses_many_states() -> None:
    with pytest.raises(TooLargeError, match="8,192 states was asked for; it serves up to 4,096"):
        Enumeration(Basis("walsh", (2,) * 13))
