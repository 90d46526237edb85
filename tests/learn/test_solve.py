"""Solvers: where they end, that they agree, what penalties mean, and how they stop."""

from __future__ import annotations

import numpy as np
import pytest

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.engine.dual import DualTable
from fullspan.learn.base import Interrupted, Known, factor, soft
from fullspan.learn.likelihood import Features, Free, Likelihood, Observed, SolverName, data_moments
from fullspan.learn.likelihood.solve import solve
from fullspan.model.algebra import Basis, BasisName
from generic import ALL_BASES, drawn, opened

SOLVERS: tuple[SolverName, ...] = ("newton", "lbfgs", "gradient")
bases = pytest.mark.parametrize("basis", ALL_BASES)
solvers = pytest.mark.parametrize("solver", SOLVERS)


def problem(
    basis: BasisName, cards: tuple[int, ...] = (2, 3, 4), seed: int = 0, k: int = 9, l2: float = 0.0, l1: float = 0.0
) -> Likelihood:
    """Rows of a random model, and terms of any order without their subsets."""
    algebra, data = Basis(basis, cards), drawn(cards, basis, seed, rows=400)
    y = np.random.default_rng(seed).choice(np.arange(1, algebra.n_states), k, replace=False)
    return Likelihood(Free(DualTable(algebra), y), Known(data_moments(algebra, y, data.states, data.counts)), l2, l1)


def opened_problem(basis: BasisName, l2: float = 0.0, l1: float = 0.0) -> Likelihood:
    cards = (2, 3, 2, 2)
    algebra = Basis(basis, cards)
    data = opened(drawn(cards, basis, 1, rows=500), 0.25, 1)
    y = np.array([i for i in range(1, algebra.n_states) if len(algebra.term(i)) <= 2])
    return Likelihood(Free(DualTable(algebra), y), Observed(algebra, y, data.states, data.counts), l2, l1)


def start(likelihood: Likelihood) -> Array:
    assert isinstance(likelihood.free, Free)
    return np.zeros(len(likelihood.free.terms))


@bases
@solvers
def test_the_maximum_has_the_expectations_of_the_data(solver: SolverName, basis: BasisName) -> None:
    """eta = d, and the value is the objective there."""
    likelihood = problem(basis)
    found = solve(likelihood, start(likelihood), solver, 1e-10)
    assert found.status == "converged"
    assert found.violation <= 1e-10
    np.testing.assert_allclose(likelihood.free.eta(), likelihood.data.eta(), atol=1e-10)
    assert likelihood.theta is found.theta
    assert likelihood.move(found.theta) == pytest.approx(found.value, abs=1e-14)
    assert found.iterations == len(found.trace) - 1
    assert found.value <= min(found.trace) + 1e-13


@bases
@pytest.mark.parametrize("l2", [0.0, 0.03])
def test_solvers_agree(basis: BasisName, l2: float) -> None:
    likelihood = problem(basis, seed=2, l2=l2)
    found = [solve(likelihood, start(likelihood), solver, 1e-11).theta for solver in SOLVERS]
    np.testing.assert_allclose(found[1], found[0], atol=1e-8)
    np.testing.assert_allclose(found[2], found[0], atol=1e-8)


@bases
@solvers
def test_ridge_pulls_towards_its_centre(solver: SolverName, basis: BasisName) -> None:
    """``eta - d + l2 (theta - centre) = 0``, each weight with its own strength."""
    likelihood = problem(basis)
    rng = np.random.default_rng(3)
    likelihood.l2, likelihood.centre = rng.gamma(1.0, 0.1, 9), rng.normal(size=9)
    found = solve(likelihood, start(likelihood), solver, 1e-10)
    residual = likelihood.free.eta() - likelihood.data.eta() + likelihood.l2 * (found.theta - likelihood.centre)
    np.testing.assert_allclose(residual, 0.0, atol=1e-10)


@bases
@pytest.mark.parametrize("l1", [0.005, 0.05, 10.0])
def test_l1_meets_its_conditions_of_optimality(basis: BasisName, l1: float) -> None:
    """``eta - d = -l1 sign(theta)`` where theta is not 0, ``|eta - d| <= l1`` where it is; both solvers agree."""
    likelihood = problem(basis, seed=4, l1=l1)
    thetas = []
    for solver in ("newton", "gradient"):
        theta = solve(likelihood, start(likelihood), solver, 1e-10).theta  # type: ignore[arg-type]
        g = likelihood.free.eta() - likelihood.data.eta()
        np.testing.assert_allclose(g[theta != 0], -l1 * np.sign(theta[theta != 0]), atol=1e-10)
        assert (np.abs(g[theta == 0]) <= l1 + 1e-10).all()
        thetas.append(theta)
    np.testing.assert_allclose(thetas[1], thetas[0], atol=1e-7)
    assert ((thetas[0] == 0) == (thetas[1] == 0)).all()
    assert (thetas[0] == 0).any() or l1 < 0.05
    assert thetas[0].any() == (l1 < 10.0)


@bases
def test_l1_from_the_unpenalised_maximum_sets_weights_to_zero_exactly(basis: BasisName) -> None:
    """The way to 0 leaves no rounding behind."""
    likelihood = problem(basis, seed=4)
    full = solve(likelihood, start(likelihood), "newton", 1e-10).theta
    assert (full != 0).all()
    likelihood.l1 = 0.05
    from_zero, from_full = (solve(likelihood, theta, "newton", 1e-10) for theta in (start(likelihood), full))
    assert from_full.status == "converged"
    assert ((from_zero.theta == 0) == (from_full.theta == 0)).all()
    np.testing.assert_allclose(from_full.theta, from_zero.theta, atol=1e-8)


@bases
@solvers
@pytest.mark.parametrize(("l2", "l1"), [(0.0, 0.0), (0.02, 0.0), (0.0, 0.01), (0.01, 0.01)])
def test_with_open_cells_the_objective_falls_to_a_stationary_point(
    basis: BasisName, solver: SolverName, l2: float, l1: float
) -> None:
    """Never up in Newton's method, and the gradient of the penalised observed likelihood vanishes in all."""
    if solver == "lbfgs" and l1:
        pytest.skip("L-BFGS takes no l1")
    likelihood = opened_problem(basis, l2, l1)
    found = solve(likelihood, start(likelihood), solver, 1e-8)
    assert found.status == "converged"
    assert likelihood.violation() <= 1e-8
    assert found.value < found.trace[0]
    if solver == "newton":
        assert (np.diff(found.trace) <= 1e-13).all()


@solvers
def test_a_limit_of_steps_keeps_the_best(solver: SolverName) -> None:
    likelihood = problem("monomial", seed=6)
    found = solve(likelihood, start(likelihood), solver, 1e-12, max_iter=2)
    assert found.status == "iteration limit"
    assert found.iterations == 2
    assert found.value == pytest.approx(min(found.trace), abs=1e-15)
    assert found.violation == likelihood.violation() > 1e-12


@solvers
@pytest.mark.parametrize("signal", [KeyboardInterrupt, Interrupted])
def test_an_interrupt_keeps_the_best_so_far(solver: SolverName, signal: type[BaseException]) -> None:
    for stop in range(1, 8):
        likelihood = problem("indicator", seed=7)
        values: list[float] = []

        def watch(theta: Array, value: float, violation: float, values: list[float] = values, stop: int = stop) -> None:
            values.append(value)
            if len(values) == stop:
                raise signal

        found = solve(likelihood, start(likelihood), solver, 1e-13, watch=watch)
        if len(values) == stop:
            assert found.status == "interrupted"
        assert found.value <= min(values) + 1e-13
        np.testing.assert_array_equal(likelihood.theta, found.theta)


@solvers
def test_a_tolerance_below_rounding_ends(solver: SolverName) -> None:
    likelihood = problem("walsh", seed=8, k=5)
    found = solve(likelihood, start(likelihood), solver, 1e-30, max_iter=300)
    assert found.status in ("rounding limit", "iteration limit") or found.violation == 0.0
    assert found.violation < 1e-12


@solvers
def test_no_terms_are_fitted_at_once(solver: SolverName) -> None:
    nothing = np.array([], dtype=np.int64)
    likelihood = Likelihood(Free(DualTable(Basis("monomial", (2, 3))), nothing), Known(np.zeros(0)))
    found = solve(likelihood, np.zeros(0), solver)
    assert (found.status, found.iterations, found.violation) == ("converged", 0, 0.0)
    assert found.value == pytest.approx(np.log(6))


def test_lbfgs_refuses_l1() -> None:
    likelihood = problem("walsh", l1=0.1)
    with pytest.raises(ValueError, match="smooth objective"):
        solve(likelihood, start(likelihood), "lbfgs")


@solvers
def test_the_table_is_built_once_for_each_point(solver: SolverName, monkeypatch: pytest.MonkeyPatch) -> None:
    """Telling whoever watches, and ending where one is, cost no further rebuild."""
    likelihood, points = problem("walsh", seed=9), []
    set_theta = DualTable.set_theta

    def counted(self: DualTable, theta: dict[int, float]) -> None:
        points.append(tuple(theta.values()))
        set_theta(self, theta)

    monkeypatch.setattr(DualTable, "set_theta", counted)
    found = solve(likelihood, start(likelihood), solver, 1e-9)
    assert found.status == "converged"
    assert len(points) <= len(set(points)) + 1


def test_two_feature_phases_are_logistic_regression() -> None:
    """One clamped phase minus another: the maximum of p(y | x), here with the score equations as the law."""
    rng = np.random.default_rng(10)
    x = rng.integers(2, size=(500, 3))
    y = (rng.random(500) < 1 / (1 + np.exp(-(x @ [1.0, -0.7, 0.4] - 0.3)))).astype(int)
    data = Empirical.from_codes(np.c_[x, y])
    basis = Basis("monomial", data.space.cards)
    terms = [((3, 1),), *(((i, 1), (3, 1)) for i in range(3))]
    given = data.states.astype(np.int64).copy()
    given[:, 3] = -1
    free = Features(basis, terms, given, data.counts)
    phi = basis.evaluate(terms, data.states)
    found = solve(Likelihood(free, Known(data.counts / data.total @ phi)), np.zeros(4), "newton", 1e-11)
    design = np.c_[np.ones(500), x]
    p = 1 / (1 + np.exp(-design @ found.theta))
    np.testing.assert_allclose(design.T @ (y - p), 0.0, atol=1e-7)


def test_soft_moves_towards_zero() -> None:
    np.testing.assert_allclose(soft(np.array([-3.0, -0.5, 0.0, 0.2, 2.0]), 0.5), [-2.5, 0, 0, 0, 1.5])


def test_factor_of_a_singular_matrix_solves_nearly() -> None:
    """The least ridge: a rank-deficient system is solved where it can be."""

    a = np.random.default_rng(11).normal(size=(5, 3))
    matrix, x = a @ a.T, a @ np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(matrix @ factor(matrix).solve(matrix @ x), matrix @ x, atol=1e-6)
    assert np.isfinite(factor(np.zeros((2, 2))).solve(np.zeros(2))).all()
