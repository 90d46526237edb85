"""Machines as a whole: laws of the fitted distribution, and data that are hard on it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical, Space, Variable
from fullspan.errors import DataError, FullspanError, TooLargeError
from fullspan.learn.base import Interrupted, Progress, margin_cells, observed_entropy
from fullspan.learn.likelihood import MachineOptions, fit_machine, machine
from fullspan.learn.likelihood import ipf as proportional_fitting
from fullspan.model import Fitted
from fullspan.model.algebra import BasisName
from generic import ALL_BASES, drawn, matrix, opened

SOLVERS = ("newton", "lbfgs", "gradient", "ipf")
bases = pytest.mark.parametrize("basis", ALL_BASES)


def probabilities(fitted: Fitted) -> Array:
    """p of every state, with one axis for each variable."""
    space = fitted.model.space
    p = np.exp(fitted.model.log_prob(space.states(np.arange(space.n_states))))
    return np.asarray(p.reshape(space.cards, order="F"))


def visible(fitted: Fitted) -> Array:
    """The same with hidden variables summed out."""
    p = probabilities(fitted)
    return np.asarray(p.sum(axis=tuple(range(p.ndim - fitted.n_hidden, p.ndim))))


def observed_log_likelihood(fitted: Fitted, data: Empirical) -> float:
    """Sum over rows of ``log sum_{x agrees} p(x)``, by enumeration."""
    space = fitted.model.space
    states, p = space.states(np.arange(space.n_states)), probabilities(fitted).ravel(order="F")
    total = 0.0
    for row, count in zip(data.states.astype(int), data.counts, strict=True):
        full = np.r_[row, np.full(len(space) - len(row), -1)]
        total += count * math.log(p[((full < 0) | (states == full)).all(axis=1)].sum())
    return total


def codes(rows: Any, cards: tuple[int, ...], weights: Any = None) -> Empirical:
    return Empirical.from_codes(np.asarray(rows), weights, Space.of_cards(cards), allow_missing=True)


# -- solvers agree ----------------------------------------------------------------------------------------------


def sparse_table() -> Empirical:
    """A margin with an empty cell, and a pair that never meets: the maximum lies at infinity."""
    rows = np.random.default_rng(0).integers(2, size=(60, 4))
    rows[:, 1] &= ~rows[:, 0] & 1
    rows[(rows[:, 2] == 0) & (rows[:, 3] == 0), 2] = 1
    return codes(rows, (2,) * 4)


DATA = {
    "binary": drawn((2,) * 5, "walsh", 0, rows=500, k=10),
    "categorical": drawn((2, 3, 4), "monomial", 1, rows=600),
    "boundary": sparse_table(),
    "categorical boundary": codes([[0, 0, 1], [1, 2, 0], [2, 0, 0], [0, 1, 1], [2, 2, 1], [1, 0, 1]] * 2, (3, 3, 2)),
}


@bases
@pytest.mark.parametrize("name", DATA)
def test_all_solvers_agree(name: str, basis: BasisName) -> None:
    """Expectations to 1e-8, inside and at the boundary, and no solver beats another's likelihood."""
    data = DATA[name]
    found = [fit_machine(data, MachineOptions(solver=solver, basis=basis)) for solver in SOLVERS]
    algebra = found[0].model.basis
    y = np.array(found[0].model.indices)
    p = np.bincount(data.space.index(data.states), data.counts / data.total, algebra.n_states)
    d = matrix(algebra)[y] @ p
    for fitted in found:
        assert fitted.status == "converged"
        eta = matrix(algebra)[y] @ probabilities(fitted).ravel(order="F")
        np.testing.assert_allclose(eta, d, atol=1e-8)
        np.testing.assert_allclose(probabilities(fitted), probabilities(found[0]), atol=1e-6)
        assert fitted.goodness is not None
        assert found[0].goodness is not None
        assert fitted.goodness.g2 == pytest.approx(found[0].goodness.g2, abs=1e-7 * data.total)
        assert fitted.diverging == found[0].diverging
    assert bool(found[0].diverging) == ("boundary" in name)


@bases
@pytest.mark.parametrize("order", [1, 2, 3])
def test_terms_without_their_subsets(basis: BasisName, order: int) -> None:
    """A list of terms is fitted literally, by all solvers: IPFP goes term by term."""
    data = drawn((2, 3, 2, 2), basis, 2, rows=800)
    terms = [list(c) for c in itertools.combinations(data.space.names, order)][1:]
    found = [fit_machine(data, MachineOptions(terms=terms, solver=solver, basis=basis)) for solver in SOLVERS]
    for fitted in found:
        assert fitted.status == "converged"
        np.testing.assert_allclose(fitted.model.theta, found[0].model.theta, atol=1e-6)
    assert {tuple(i for i, _ in t) for t in found[0].model.terms} == {
        tuple(data.space.position(v) for v in term) for term in terms
    }


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), cards=st.lists(st.integers(1, 4), min_size=2, max_size=4), rows=st.integers(1, 60))
def test_newton_and_ipf_agree_on_any_table(seed: int, cards: list[int], rows: int) -> None:
    """However few rows: full of empty cells, one-level variables among them."""
    rng = np.random.default_rng(seed)
    data = codes(np.array([rng.integers(card, size=rows) for card in cards]).T, tuple(cards))
    newton, ipf = (
        fit_machine(data, MachineOptions(solver=solver, basis=str(rng.choice(ALL_BASES))))
        for solver in ("newton", "ipf")
    )
    assert newton.status == "converged"
    np.testing.assert_allclose(probabilities(newton), probabilities(ipf), atol=1e-6)
    assert np.isfinite(newton.model.theta).all()
    for i, j in itertools.combinations(range(len(cards)), 2):
        others = tuple(a for a in range(len(cards)) if a not in (i, j))
        margin = probabilities(newton).sum(axis=others).ravel(order="F")
        np.testing.assert_allclose(margin, margin_cells(data, (i, j)), atol=1e-8)


@bases
def test_order_n_reproduces_the_data(basis: BasisName) -> None:
    data = drawn((2, 3, 4), basis, 3, rows=50)
    fitted = fit_machine(data, MachineOptions(order=None, basis=basis))
    wanted = np.bincount(data.space.index(data.states), data.counts / data.total, 24).reshape((2, 3, 4), order="F")
    np.testing.assert_allclose(probabilities(fitted), wanted, atol=1e-9)
    assert fitted.goodness is not None
    assert fitted.goodness.g2 == pytest.approx(0.0, abs=1e-6)
    assert fitted.divergence == pytest.approx(0.0, abs=1e-9)
    assert fitted.goodness.df == 0


# -- what must change nothing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_the_basis_is_only_a_coordinate_system(share: float) -> None:
    """A hierarchical model is one distribution in every basis; so is its number of parameters, its G2, its p-value."""
    data = opened(drawn((2, 3, 4), "walsh", 4, rows=500), share, 4)
    found = [fit_machine(data, MachineOptions(margins=[["x0", "x1"], ["x1", "x2"]], basis=b)) for b in ALL_BASES]
    for fitted in found[1:]:
        np.testing.assert_allclose(probabilities(fitted), probabilities(found[0]), atol=1e-8)
        assert fitted.goodness is not None
        assert found[0].goodness is not None
        assert fitted.goodness.log_likelihood == pytest.approx(found[0].goodness.log_likelihood, abs=1e-8)
        assert fitted.goodness.df == found[0].goodness.df


@bases
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_relabelling_and_reordering_change_only_the_labels(basis: BasisName, share: float) -> None:
    """Levels permuted, variables permuted: the same probabilities in other places."""
    data = opened(drawn((2, 3, 4), basis, 5, rows=400), share, 5)
    p = probabilities(fit_machine(data, MachineOptions(basis=basis)))
    rng = np.random.default_rng(6)
    names = [np.r_[rng.permutation(card), -1] for card in data.space.cards]
    renamed = np.stack([names[i][data.states[:, i]] for i in range(3)], axis=1)
    q = probabilities(fit_machine(codes(renamed, (2, 3, 4), data.counts), MachineOptions(basis=basis)))
    np.testing.assert_allclose(q[np.ix_(*(name[:-1] for name in names))], p, atol=1e-8)
    moved = codes(data.states[:, [2, 0, 1]].astype(int), (4, 2, 3), data.counts)
    np.testing.assert_allclose(
        probabilities(fit_machine(moved, MachineOptions(basis=basis))).transpose(1, 2, 0), p, atol=1e-8
    )


def test_weights_are_counts() -> None:
    data = drawn((2, 3), "walsh", 7, rows=300)
    rows = np.repeat(data.states, data.counts.astype(int), axis=0).astype(int)
    a, b = fit_machine(data), fit_machine(codes(rows, (2, 3)))
    np.testing.assert_allclose(a.model.theta, b.model.theta)
    np.testing.assert_allclose(a.standard_errors, b.standard_errors)


# -- open cells -------------------------------------------------------------------------------------------------


@bases
@pytest.mark.parametrize("em", ["auto", "exact"])
def test_the_likelihood_is_that_of_what_was_observed(basis: BasisName, em: str) -> None:
    """Reported, it is the sum over completions; it never falls on the way, and both ways end at the same height."""
    data = opened(drawn((2, 3, 2), basis, 8, rows=300), 0.25, 8)
    fitted = fit_machine(data, MachineOptions(basis=basis, em=em, tol=1e-9))
    assert fitted.status == "converged"
    assert fitted.goodness is not None
    assert fitted.goodness.log_likelihood == pytest.approx(observed_log_likelihood(fitted, data), abs=1e-8)
    assert (np.diff([step.cost for step in fitted.history]) <= 1e-12).all()
    assert math.isnan(fitted.goodness.g2)
    best = fit_machine(data, MachineOptions(basis=basis, tol=1e-9)).goodness
    assert best is not None
    assert fitted.goodness.log_likelihood == pytest.approx(best.log_likelihood, abs=1e-6)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 0.7), basis=st.sampled_from(ALL_BASES))
def test_the_observed_likelihood_never_falls(seed: int, share: float, basis: BasisName) -> None:
    data = opened(drawn((2, 2, 3), basis, seed, rows=40, scale=1.0), share, seed)
    fitted = fit_machine(data, MachineOptions(basis=basis, max_iter=60))
    assert (np.diff([step.cost for step in fitted.history]) <= 1e-12).all()
    assert np.isfinite(fitted.model.theta).all()
    assert fitted.goodness is not None
    assert fitted.goodness.log_likelihood == pytest.approx(observed_log_likelihood(fitted, data), abs=1e-6)


@bases
@pytest.mark.parametrize("em", ["auto", "exact", "inexact"])
def test_a_hidden_unit_is_a_column_that_nobody_has_seen(
    basis: BasisName, em: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byrne's point: the same start leads the same way, named as hidden or given as a column of open cells."""
    seen = drawn((2, 3, 2), basis, 9, rows=300)
    options = MachineOptions(basis=basis, em=em, restarts=1, seed=3, max_iter=30)
    unit = Variable("h", (0, 1, 2))
    as_hidden = fit_machine(seen, options, hidden=[unit])
    column = np.c_[seen.states.astype(int), np.full(len(seen.states), -1)]
    space = Space((*seen.space.variables, unit))
    missing = Empirical.from_codes(column, seen.counts, space, allow_missing=True)
    first = machine.best_of_runs

    def from_the_same_start(self: Any, face: Any) -> Any:
        return first(self._solve, self.terms, seen, options)

    monkeypatch.setattr(machine._Machine, "_best_of_runs", from_the_same_start)
    as_missing = fit_machine(missing, options)
    np.testing.assert_allclose(as_missing.model.theta, as_hidden.model.theta, atol=1e-9)
    assert as_missing.goodness is not None
    assert as_hidden.goodness is not None
    assert as_missing.goodness.log_likelihood == pytest.approx(as_hidden.goodness.log_likelihood, abs=1e-9)
    assert as_hidden.n_hidden == 1
    assert as_hidden.goodness.n_cells == 12
    assert math.isnan(as_missing.goodness.g2)


def test_hidden_units_fit_better_and_are_measured_on_what_is_visible() -> None:
    """A mixture of two products: one hidden unit fits it, independence does not."""
    rng = np.random.default_rng(10)
    kind = rng.random(3000) < 0.4
    rows = (rng.random((3000, 4)) < np.where(kind[:, None], 0.85, 0.2)).astype(int)
    data = codes(rows, (2,) * 4)
    star = [("h", name) for name in data.space.names]
    fitted = fit_machine(data, MachineOptions(graph=star, seed=0), hidden=[Variable("h", ("u", "v"))])
    alone = fit_machine(data, MachineOptions(order=1))
    assert fitted.goodness is not None
    assert alone.goodness is not None
    assert fitted.goodness.g2 < 25 < alone.goodness.g2
    p, n = visible(fitted), np.bincount(data.space.index(data.states), data.counts, 16).reshape((2,) * 4, order="F")
    assert fitted.goodness.g2 == pytest.approx(2 * np.sum(n * np.log(n / (3000 * p))), rel=1e-6)
    assert fitted.goodness.pearson == pytest.approx(np.sum((n - 3000 * p) ** 2 / (3000 * p)), rel=1e-6)
    assert fitted.divergence == pytest.approx(fitted.goodness.g2 / 6000, rel=1e-6)
    assert fitted.description_length == pytest.approx(fitted.goodness.bic / 2)


def test_more_restarts_are_never_worse_and_seeds_repeat() -> None:
    data = drawn((2,) * 4, "monomial", 11, rows=500, k=12, scale=1.2)
    unit = [Variable("h", (0, 1))]
    one, again, five = (
        fit_machine(data, MachineOptions(restarts=r, seed=5, max_iter=40), hidden=unit) for r in (1, 1, 5)
    )
    np.testing.assert_array_equal(one.model.theta, again.model.theta)
    assert five.divergence <= one.divergence + 1e-12


def test_observed_entropy_makes_the_divergence_absolute() -> None:
    """``-mean log p(row) - entropy`` is the mean over patterns of KL on the cells they observe."""
    data = opened(drawn((2, 3, 2), "walsh", 12, rows=300), 0.3, 12)
    fitted = fit_machine(data)
    assert fitted.entropy == observed_entropy(data)
    p, kl = probabilities(fitted), 0.0
    for pattern in data.patterns():
        q = pattern.counts / pattern.counts.sum()
        margin = p.sum(axis=pattern.missing)
        m = np.array([margin[tuple(row[list(pattern.observed)])] for row in pattern.states])
        kl += pattern.counts.sum() / data.total * float(q @ np.log(q / m))
    assert fitted.divergence == pytest.approx(kl, abs=1e-10)
    complete = drawn((2, 3), "walsh", 13, rows=40)
    share = complete.counts / complete.total
    assert observed_entropy(complete) == pytest.approx(-np.sum(share * np.log(share)))


# -- standard errors --------------------------------------------------------------------------------------------


@bases
@pytest.mark.parametrize("share", [0.0, 0.25])
@pytest.mark.parametrize("l2", [0.0, 0.01])
def test_standard_errors_are_the_inverse_of_the_observed_information(basis: BasisName, share: float, l2: float) -> None:
    """The observed log-likelihood differentiated twice, numerically, by enumeration."""
    data = opened(drawn((2, 3, 2), basis, 14, rows=600), share, 14)
    fitted = fit_machine(data, MachineOptions(basis=basis, l2=l2))
    algebra, y = fitted.model.basis, np.array(fitted.model.indices)
    states, phi = data.space.states(np.arange(algebra.n_states)), matrix(algebra)[y]
    agrees = [((row < 0) | (states == row)).all(axis=1) for row in data.states.astype(int)]

    def objective(theta: Array) -> float:
        weights = np.exp(theta @ phi)
        rows = np.log([weights[a].sum() for a in agrees]) - np.log(weights.sum())
        return float(-data.counts @ rows + data.total * l2 * theta @ theta / 2)

    k, h = len(y), 1e-3
    information, steps = np.empty((k, k)), h * np.eye(k)
    for a, b in itertools.product(range(k), repeat=2):
        signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
        values = [s * t * objective(fitted.model.theta + s * steps[a] + t * steps[b]) for s, t in signs]
        information[a, b] = sum(values) / (4 * h * h)
    np.testing.assert_allclose(
        fitted.standard_errors, np.sqrt(np.diag(np.linalg.inv(information))), rtol=2e-3 if share else 1e-4
    )


def test_weights_that_l1_drops_have_no_error() -> None:
    data = drawn((2, 3, 4), "walsh", 15, rows=300, k=3)
    fitted = fit_machine(data, MachineOptions(l1=0.02, basis="walsh"))
    dropped = fitted.model.theta == 0
    assert dropped.any()
    assert not dropped.all()
    assert np.isnan(fitted.standard_errors[dropped]).all()
    assert np.isfinite(fitted.standard_errors[~dropped]).all()
    assert fitted.goodness is not None
    assert fitted.goodness.n_parameters == (~dropped).sum()


# -- hard data --------------------------------------------------------------------------------------------------


def hard_rows(name: str) -> NDArray[np.int64]:
    rng = np.random.default_rng(16)
    rows = rng.integers(2, size=(200, 4))
    if name == "constant column":
        rows[:, 1] = 0
    elif name == "constant column at 1":
        rows[:, 2] = 1
    elif name == "duplicated column":
        rows[:, 3] = rows[:, 0]
    elif name == "opposite column":
        rows[:, 3] = 1 - rows[:, 0]
    elif name == "one row":
        rows = rows[:1]
    elif name == "two rows":
        rows = rows[:2]
    elif name == "nearly equal columns":
        rows = rng.integers(2, size=(3000, 4))
        rows = np.where(rng.random((3000, 4)) < 0.03, rows, rows[:, :1])
    elif name == "all equal":
        rows[:] = [1, 0, 1, 1]
    elif name == "one of each, else zeros":
        rows = np.r_[np.zeros((500, 4), dtype=int), np.eye(4, dtype=int)]
    return rows


HARD = (
    "constant column",
    "constant column at 1",
    "duplicated column",
    "opposite column",
    "one row",
    "two rows",
    "nearly equal columns",
    "all equal",
    "one of each, else zeros",
)


@bases
@pytest.mark.parametrize("solver", ["newton", "ipf"])
@pytest.mark.parametrize("name", HARD)
def test_hard_data_end_at_the_limit(name: str, solver: str, basis: BasisName) -> None:
    """The pairwise margins are the data's, weights and log-likelihood are finite."""
    data = codes(hard_rows(name), (2,) * 4)
    fitted = fit_machine(data, MachineOptions(basis=basis, solver=solver))
    assert fitted.status == "converged"
    assert np.isfinite(fitted.model.theta).all()
    assert fitted.goodness is not None
    assert math.isfinite(fitted.goodness.log_likelihood)
    p = probabilities(fitted)
    assert p.sum() == pytest.approx(1.0, abs=1e-9)
    for i, j in itertools.combinations(range(4), 2):
        others = tuple(a for a in range(4) if a not in (i, j))
        np.testing.assert_allclose(p.sum(axis=others).ravel(order="F"), margin_cells(data, (i, j)), atol=1e-8)
    assert bool(fitted.diverging) == (name != "nearly equal columns")


@bases
@pytest.mark.parametrize("em", ["auto", "exact", "inexact"])
@pytest.mark.parametrize("name", HARD)
def test_hard_data_with_open_cells_end(name: str, em: str, basis: BasisName) -> None:
    """No NaN, no endless loop; what is certain however the rows are completed is certain in the model."""
    rows = hard_rows(name).astype(int)
    rows[::3, 0] = -1
    data = codes(rows, (2,) * 4)
    fitted = fit_machine(data, MachineOptions(basis=basis, em=em, max_iter=50, tol=1e-7))
    assert np.isfinite(fitted.model.theta).all()
    assert fitted.goodness is not None
    assert fitted.goodness.log_likelihood == pytest.approx(observed_log_likelihood(fitted, data), abs=1e-6)
    if name == "constant column":
        assert probabilities(fitted)[:, 1].sum() < 1e-6
        terms = [fitted.model.terms[i] for i in fitted.diverging]
        assert terms
        assert all((1, 1) in term for term in terms)


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "gradient", "ipf"])
def test_the_basket_of_the_lecture(solver: str) -> None:
    """Bread, milk, apple: the maximum lies at infinity; the limit is 0.375, 0.15, 0.225, 0.1, 0.15 and zeros."""
    counts = np.zeros((2, 2, 2))
    counts[0, 0, 0], counts[1, 1, 1], counts[1, 1, 0], counts[0, 1, 1], counts[0, 1, 0] = 3, 2, 1, 1, 1
    data = Empirical.from_table(counts)
    fitted = fit_machine(data, MachineOptions(graph=[("x0", "x1"), ("x1", "x2")], solver=solver))
    wanted = np.zeros((2, 2, 2))
    wanted[0, 0, 0], wanted[1, 1, 1], wanted[1, 1, 0], wanted[0, 1, 1], wanted[0, 1, 0] = 0.375, 0.225, 0.15, 0.15, 0.1
    np.testing.assert_allclose(probabilities(fitted), wanted, atol=1e-9)
    assert fitted.diverging


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e12])
@pytest.mark.parametrize("solver", ["newton", "ipf"])
def test_the_size_of_weights_does_not_matter(scale: float, solver: str) -> None:
    """Rows weighted all alike: the same fit, errors as the root of the number of rows."""
    data = drawn((2, 3, 2), "walsh", 17, rows=400)
    one = fit_machine(data, MachineOptions(solver=solver))
    other = fit_machine(codes(data.states.astype(int), (2, 3, 2), scale * data.counts), MachineOptions(solver=solver))
    assert other.status == "converged"
    np.testing.assert_allclose(other.model.theta, one.model.theta, atol=1e-8)
    np.testing.assert_allclose(other.standard_errors * math.sqrt(scale), one.standard_errors, rtol=1e-6)


@bases
@pytest.mark.parametrize("terms", [None, [["x0"], ["x1"], ["x0", "x1"]], [["x0", "x1"], ["x2"]]])
@pytest.mark.parametrize("solver", ["newton", "ipf"])
def test_tiny_beside_huge_weights(solver: str, terms: Any, basis: BasisName) -> None:
    """Twenty orders of magnitude apart in one table: finite, and the expectations are met.

    Cells below rounding are a boundary that no face names, and IPFP comes near it only slowly.
    """
    rng = np.random.default_rng(18)
    rows = np.array(list(itertools.product(range(2), range(3), range(2))))
    data = codes(rows, (2, 3, 2), rng.choice([1e-8, 1.0, 1e12], size=12))
    fitted = fit_machine(data, MachineOptions(solver=solver, terms=terms, basis=basis, max_iter=1000))
    assert fitted.status == "converged" or solver == "ipf"
    assert np.isfinite(fitted.model.theta).all()
    y = np.array(fitted.model.indices)
    p = np.bincount(data.space.index(data.states), data.counts / data.total, 12)
    eta = matrix(fitted.model.basis)[y] @ probabilities(fitted).ravel(order="F")
    np.testing.assert_allclose(eta, matrix(fitted.model.basis)[y] @ p, atol=1e-8 if solver == "newton" else 3e-4)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("terms", [None, [["x0", "x2"]]])
def test_variables_of_one_level_leave_nothing_to_fit(solver: str, terms: Any) -> None:
    data = codes([[0, 0, 0], [0, 0, 0]], (1, 1, 1))
    fitted = fit_machine(data, MachineOptions(solver=solver, terms=terms))
    assert fitted.status == "converged"
    assert fitted.model.terms == ()
    assert fitted.model.log_z == 0.0
    beside = codes([[0, 0, 1], [0, 1, 0], [0, 1, 1]], (1, 2, 2))
    fitted = fit_machine(beside, MachineOptions(solver=solver, terms=terms))
    assert fitted.status == "converged"
    assert len(fitted.model.terms) == (0 if terms else 3)


@bases
@pytest.mark.parametrize("em", ["auto", "exact"])
def test_a_pair_that_is_never_seen_together_is_not_determined(basis: BasisName, em: str) -> None:
    """x0 and x1 are never observed in one row: it ends, no weight is NaN, and their interaction may be anything."""
    rng = np.random.default_rng(19)
    rows = rng.integers(2, size=(400, 3))
    rows[:200, 0], rows[200:, 1] = -1, -1
    data = codes(rows, (2,) * 3)
    fitted = fit_machine(data, MachineOptions(basis=basis, em=em, max_iter=300, margins=[["x0", "x1"], ["x2"]]))
    assert np.isfinite(fitted.model.theta).all()
    place = fitted.model.terms.index(((0, 1), (1, 1)))
    assert not fitted.standard_errors[place] < 100
    p = probabilities(fitted)
    assert p.sum(axis=(1, 2))[1] == pytest.approx(rows[200:, 0].mean(), abs=1e-6)
    assert p.sum(axis=(0, 2))[1] == pytest.approx(rows[:200, 1].mean(), abs=1e-6)


# -- how it ends ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.2])
@pytest.mark.parametrize("solver", SOLVERS)
def test_one_iteration_is_a_limit(solver: str, share: float) -> None:
    data = opened(drawn((2, 3, 2), "walsh", 20, rows=300), share, 20)
    fitted = fit_machine(data, MachineOptions(solver=solver, max_iter=1))
    assert fitted.status == "iteration limit"
    assert fitted.settings["iterations"] == 1
    assert fitted.settings["violation"] > 1e-10


@pytest.mark.parametrize("signal", [KeyboardInterrupt, Interrupted])
@pytest.mark.parametrize(
    "choices",
    [
        {"solver": "newton"},
        {"solver": "lbfgs"},
        {"solver": "gradient"},
        {"solver": "ipf"},
        {"share": 0.2},
        {"share": 0.2, "em": "exact"},
        {"share": 0.2, "em": "inexact"},
        {"hidden": True},
        {"hidden": True, "em": "exact"},
    ],
    ids=str,
)
def test_an_interrupt_keeps_the_best_so_far(
    choices: dict[str, Any], signal: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever watches may stop the fit: the model is the best that was met, and says that it was interrupted."""
    monkeypatch.setattr(proportional_fitting, "VISITS_PER_REPORT", 1)
    choices = dict(choices)
    data = opened(drawn((2,) * 4, "walsh", 21, rows=300, k=12, scale=0.6), choices.pop("share", 0.0), 21)
    hidden = [Variable("h", (0, 1))] if choices.pop("hidden", False) else []
    seen: list[Progress] = []

    def watch(progress: Progress) -> None:
        seen.append(progress)
        if len(seen) == 3:
            raise signal

    fitted = fit_machine(data, MachineOptions(**choices, tol=1e-13, seed=1), hidden, watch)
    assert len(seen) == 3
    assert fitted.status == "interrupted"
    assert len(fitted.history) == 3
    surprise = fitted.divergence + fitted.entropy
    assert surprise == pytest.approx(min(progress.cost for progress in seen), abs=1e-10)
    assert all(progress.n_terms == len(fitted.model.terms) for progress in seen)


# -- bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"basis": "fourier"}, "basis is 'fourier'; choose one of 'walsh', 'indicator', 'monomial'"),
        ({"solver": "sgd"}, "solver is 'sgd'; choose one of 'auto', 'newton', 'lbfgs', 'gradient', 'ipf'"),
        ({"em": "never"}, "em is 'never'; choose one of 'auto', 'exact', 'inexact'"),
        ({"l1": -1.0}, r"l1 is -1\.0; a finite number of at least 0 is needed"),
        ({"l2": math.inf}, "l2 is inf; a finite number"),
        ({"l2": math.nan}, "l2 is nan"),
        ({"tol": 0.0}, r"tol is 0\.0; a positive number is needed"),
        ({"tol": math.nan}, "tol is nan"),
        ({"restarts": 0}, "restarts is 0; a whole number of at least 1 is needed"),
        ({"restarts": None}, "restarts is None"),
        ({"restarts": 2.5}, r"restarts is 2\.5"),
        ({"max_iter": 0}, "max_iter is 0; a whole number of at least 1"),
        ({"max_iter": True}, "max_iter is True"),
        ({"solver": "ipf", "l2": 0.1}, "solver='ipf' matches expectations exactly and takes no penalty"),
        ({"solver": "ipf", "l1": 0.1}, "solver='ipf' matches expectations exactly"),
        ({"solver": "lbfgs", "l1": 0.1}, "solver='lbfgs' needs a smooth objective and takes no l1"),
        ({"em": "inexact", "l1": 0.1}, "em='inexact' is IPFP, which takes no penalty"),
        ({"em": "inexact", "solver": "newton"}, "em='inexact' is IPFP; solver='newton' goes with em='auto' or 'exact'"),
    ],
    ids=str,
)
def test_options_are_checked(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        MachineOptions(**wrong)


def test_wrong_structures_and_names_are_refused_before_tables_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "DualTable", lambda *_: pytest.fail("a table was made"))
    data = drawn((2, 2), "walsh", 22, rows=50)
    with pytest.raises(FullspanError, match="graph names 'x9'"):
        fit_machine(data, MachineOptions(graph=[("x0", "x9")]))
    with pytest.raises(DataError, match="the hidden variable 'x1' has the name of an observed one"):
        fit_machine(data, hidden=[Variable("x1", (0, 1))])
    with pytest.raises(TooLargeError, match=r"2 tables of 4 states .* may be used"):
        fit_machine(data, MachineOptions(max_memory=50))
    with pytest.raises(TooLargeError, match=r"3 tables of 8 states .* use fewer hidden units"):
        fit_machine(data, MachineOptions(max_memory=50), hidden=[Variable("h", (0, 1))])
    wide = codes(np.random.default_rng(23).integers(2, size=(30, 60)), (2,) * 60)
    with pytest.raises(TooLargeError, match="tables of 1,152,921,504,606,846,976 states"):
        fit_machine(wide, MachineOptions(order=1))


def test_many_weights_choose_a_solver_without_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit L-BFGS is the default, with L1 gradient steps, and no errors are given."""
    data = drawn((2,) * 4, "walsh", 24, rows=300)
    newton = fit_machine(data)
    monkeypatch.setattr(machine, "MAX_NEWTON", 3)
    monkeypatch.setattr(machine.Free, "covariance", lambda _: pytest.fail("a matrix was made"))
    many = fit_machine(data)
    np.testing.assert_allclose(many.model.theta, newton.model.theta, atol=1e-7)
    assert np.isnan(many.standard_errors).all()
    assert fit_machine(data, MachineOptions(l1=0.05)).status == "converged"
