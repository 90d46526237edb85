"""The two searches: the same on every engine, never longer, blind to labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from enumeration import Enumeration
from fullspan.data import Empirical, Space
from fullspan.engine.dual import DualTable, layout
from fullspan.engine.protocol import Engine
from fullspan.learn.base import smoothed_entropy
from fullspan.learn.search import (
    Options,
    Problem,
    carry_over,
    fit_search,
    grow,
    line,
    names_in_use,
    paper_search,
    prices,
    sift_out,
)
from fullspan.model import Fitted
from fullspan.model.algebra import Basis, BasisName
from fullspan.papers.truths import ising
from generic import ALL_BASES, drawn, matrix, pseudo_row

law = settings(derandomize=True, max_examples=12, deadline=None)
searches = pytest.mark.parametrize("search", ["paper", "full"])
every_basis = pytest.mark.parametrize("basis", ALL_BASES)


def problem_on(make: Any, data: Empirical, basis: BasisName, pseudo: float, l1: float = 0.0) -> Problem:
    algebra = Basis(basis, data.space.cards)
    engine: Engine = make(algebra, np.float64)
    engine.set_data(data.space.index(data.states), data.counts, pseudo)
    tariff = prices(algebra.cards, data.total)
    engine.set_prices(tariff)
    return Problem(engine, tariff, smoothed_entropy(data.counts, algebra.n_states, pseudo), data.total, l1)


def probabilities(fitted: Fitted) -> NDArray[np.float64]:
    space = fitted.model.space
    return np.exp(fitted.model.log_prob(space.states(np.arange(space.n_states))))


def costs(fitted: Fitted) -> NDArray[np.float64]:
    return np.array([step.cost for step in fitted.history])


# -- engines --------------------------------------------------------------------------------------------------------


@every_basis
@pytest.mark.parametrize("cards", [(2,) * 6, (3, 2, 4)], ids=str)
@pytest.mark.parametrize("l1", [0.0, 0.01])
def test_the_published_search_is_the_same_on_both_engines(basis: BasisName, cards: tuple[int, ...], l1: float) -> None:
    data = drawn(cards, basis, 3, rows=1500, k=10)
    found = []
    for make in (DualTable, Enumeration):
        problem = problem_on(make, data, basis, pseudo=0.0, l1=l1)
        assert paper_search(problem, 1e-5) == "converged"
        found.append((problem.table.theta, [step.move for step in problem.history.steps], problem.cost()))
    assert len(found[0][0]) > 1
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-9)
    assert found[0][1] == found[1][1]
    assert found[0][2] == pytest.approx(found[1][2], abs=1e-12)


@every_basis
@pytest.mark.parametrize("cards", [(2,) * 6, (3, 2, 4)], ids=str)
def test_the_full_search_is_the_same_on_both_engines(basis: BasisName, cards: tuple[int, ...]) -> None:
    data = drawn(cards, basis, 4, rows=1500, k=10)
    found = []
    for make in (DualTable, Enumeration):
        problem = problem_on(make, data, basis, pseudo=1.0)
        assert grow(problem)[0] == "converged"
        sift_out(problem)
        found.append((problem.table.theta, problem.names))
    assert len(found[0][0]) > 2
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-7)
    assert found[0][1] == pytest.approx(found[1][1])


@every_basis
@pytest.mark.parametrize("cards", [(2,) * 6, (3, 2, 4, 2)], ids=str)
def test_what_was_grown_is_carried_over_to_other_bases(basis: BasisName, cards: tuple[int, ...]) -> None:
    """The other basis starts about as close to the data, with the same margins and names; the prior differs."""
    data = drawn(cards, basis, 15, rows=30_000, k=10, scale=0.5)
    source = problem_on(DualTable, data, basis, pseudo=1.0)
    independent = source.divergence()
    status, grown = grow(source)
    assert status == "converged"
    assert source.divergence() < 0.2 * independent
    assert independent * data.total > 1000
    for other in ALL_BASES:
        target = problem_on(DualTable, data, other, pseudo=1.0)
        assert carry_over(grown, target)
        assert target.divergence() < source.divergence() + 0.01 * independent
        assert target.names <= source.names + 1e-12
        supports = {frozenset(i for i, _ in source.table.basis.term(y)) for y in source.table.theta}
        assert all(any(target.support(z) <= a for a in supports) for z in target.table.theta)
        assert [step.move for step in target.history.steps] == ["start"]


@pytest.mark.parametrize("basis", ["walsh", "monomial"])
def test_the_published_search_takes_the_best_move_at_every_step(basis: BasisName) -> None:
    """Algorithm 2 to the letter: of all appendings, adjustments and removals, the one that lowers the cost most."""
    data = drawn((2,) * 5, basis, 8, rows=800, k=8)
    problem = problem_on(Enumeration, data, basis, pseudo=0.0)
    engine, zero_one = problem.table, basis == "monomial"
    engine.set_theta({31: 0.02})  # not worth its price: to be removed some time
    assert engine.d is not None
    moved = 0
    while True:
        eta, d = engine.eta.astype(float), engine.d.astype(float)
        drop = line.drop(eta, d, line.step_to(eta, d, zero_one), zero_one)
        gains = {y: float(drop[y]) - problem.price(y) for y in range(1, 32) if y not in engine.theta}
        for y, theta in engine.theta.items():
            removal = float(line.drop(eta[y], d[y], np.array(-theta), zero_one)) + problem.price(y)
            gains[y] = max(float(drop[y]), removal)
        before = problem.cost()
        paper_search(problem, 1e-6, max_steps=1)
        if len(problem.history.steps) == moved:
            assert max(gains.values()) < 1e-6
            break
        moved += 1
        assert before - problem.cost() == pytest.approx(max(gains.values()), abs=1e-12)
        assert problem.history.steps[-1].cost == pytest.approx(problem.cost(), abs=1e-12)
    assert {step.move for step in problem.history.steps} == {"append", "adjust", "remove"}


# -- laws -----------------------------------------------------------------------------------------------------------


@law
@given(
    seed=st.integers(0, 1000), cards=st.sampled_from([(2,) * 5, (3, 2, 4), (2, 5, 2)]), basis=st.sampled_from(ALL_BASES)
)
def test_description_never_grows(seed: int, cards: tuple[int, ...], basis: BasisName) -> None:
    """In both searches; the last cost is the one reported, and KL(p_d || p) >= 0."""
    data = drawn(cards, basis, seed, rows=500)
    for search in ("paper", "full"):
        fitted = fit_search(data, Options(search=search, basis=basis))
        assert (np.diff(costs(fitted)) <= 1e-12).all()
        assert fitted.divergence >= -1e-12
        if fitted.history:
            reported = fitted.description_length / fitted.total - fitted.entropy
            assert reported == pytest.approx(costs(fitted)[-1], abs=pseudo_row(fitted))
        assert probabilities(fitted).sum() == pytest.approx(1, abs=1e-12)


def relabelled(data: Empirical, order: NDArray[Any], levels: list[NDArray[Any]]) -> Empirical:
    """The same rows with variables in another order and each level under another code."""
    columns = [levels[i][data.states[:, i]] for i in order]
    space = Space.of_cards([data.space.cards[i] for i in order])
    return Empirical.from_codes(np.column_stack(columns), weights=data.counts, space=space)


@searches
@pytest.mark.parametrize(
    ("cards", "block"), [((2,) * 6, 1024), ((2,) * 9, 16), ((4, 2, 4, 2), 1024), ((2, 4, 4, 2, 2), 8)], ids=str
)
def test_labels_carry_no_meaning_in_the_walsh_basis(
    search: str, cards: tuple[int, ...], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other names for variables and levels give the same distribution, description length and number of terms.

    Up to four levels every relabelling maps Walsh functions to Walsh functions, up to the sign.
    """
    monkeypatch.setattr(layout, "BLOCK_STATES", block)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        data = drawn(cards, "walsh", seed, rows=2000, k=2 * len(cards))
        order = rng.permutation(len(cards))
        levels = [rng.permutation(card) for card in cards]
        options = Options(search=search, basis="walsh", epsilon=1e-6)
        a, b = fit_search(data, options), fit_search(relabelled(data, order, levels), options)
        states = a.model.space.states(np.arange(a.model.space.n_states))
        moved = np.column_stack([levels[i][states[:, i]] for i in order])
        np.testing.assert_allclose(np.exp(b.model.log_prob(moved)), probabilities(a), rtol=0, atol=1e-10)
        assert len(a.model.terms) == len(b.model.terms) > 2
        assert a.description_length == pytest.approx(b.description_length, abs=1e-6)


@searches
@every_basis
def test_no_term_is_larger_than_asked(search: str, basis: BasisName) -> None:
    data = drawn((2, 3, 2, 2), "indicator", 5, rows=9000, k=20, scale=0.7)
    assert max(map(len, fit_search(data, Options(search=search, basis=basis)).model.terms)) > 2
    for most in (1, 2):
        limited = fit_search(data, Options(search=search, basis=basis, max_order=most))
        assert max(map(len, limited.model.terms)) == most
    assert fit_search(data, Options(search=search, basis=basis, max_order=9)).status == "converged"


# -- L1 -------------------------------------------------------------------------------------------------------------


@every_basis
@pytest.mark.parametrize("l1", [0.005, 0.03])
def test_l1_solutions_are_stationary(basis: BasisName, l1: float) -> None:
    """|d - eta| <= l1 where theta = 0, and d - eta = l1 sign(theta) elsewhere (Karush, Kuhn and Tucker)."""
    data = drawn((2, 3, 4) if basis != "walsh" else (2,) * 5, basis, 6, rows=1000, k=10, scale=0.6)
    problem = problem_on(DualTable, data, basis, pseudo=0.0, l1=l1)
    fitted = fit_search(data, Options(basis=basis, penalty=0.0, l1=l1, epsilon=1e-10))
    problem.table.set_theta(dict(zip(fitted.model.indices, map(float, fitted.model.theta), strict=True)))
    everything = np.arange(1, problem.table.basis.n_states)
    slope = problem.d_at(everything) - problem.eta_at(everything)
    used = np.isin(everything, fitted.model.indices)
    assert 0 < used.sum() < everything.size
    assert np.abs(slope[~used]).max() <= l1 + 1e-4
    order = np.argsort(fitted.model.indices)
    np.testing.assert_allclose(slope[used], l1 * np.sign(fitted.model.theta[order]), rtol=0, atol=1e-4)


def test_more_l1_means_smaller_weights() -> None:
    data = drawn((2,) * 5, "walsh", 7, rows=1000, k=10, scale=0.6)
    sizes = [
        np.abs(fit_search(data, Options(basis="walsh", penalty=0.0, l1=l1, epsilon=1e-8)).model.theta).sum()
        for l1 in (0.003, 0.01, 0.03, 0.1, 2.0)
    ]
    assert (np.diff(sizes) < 0).all()
    assert sizes[-1] == 0


@pytest.mark.parametrize("basis", ["walsh", "monomial"])
def test_l1_crosses_zero_from_a_start_on_the_wrong_side(basis: BasisName) -> None:
    """A weight of the wrong sign must not hold the search up."""
    data = drawn((2,) * 4, basis, 9, rows=1000, k=5, scale=0.6)
    options = Options(basis=basis, penalty=0.0, l1=0.01, epsilon=1e-10)
    reached = fit_search(data, options)
    wrong = type(reached.model)(
        reached.model.space, reached.model.basis, reached.model.terms, -1e-7 * np.sign(reached.model.theta), 0.0
    )
    again = fit_search(data, options, start=wrong)
    assert again.model.weights == pytest.approx(reached.model.weights, abs=1e-3)
    assert again.description_length == pytest.approx(reached.description_length, abs=1e-4)


# -- findings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 3, 5])
def test_sifting_finds_exactly_the_edges_of_a_lattice(seed: int) -> None:
    """Ising 3x3 at N = 20,000: twelve terms, the twelve edges."""
    truth = ising(3, 3)
    index, counts = truth.sample(20_000, np.random.default_rng(seed))
    data = Empirical.from_codes(truth.space.states(index), weights=counts, space=truth.space)
    fitted = fit_search(data)
    across = {(i, i + 1) for i in range(9) if i % 3 < 2}
    down = {(i, i + 3) for i in range(6)}
    assert {tuple(i for i, _ in term) for term in fitted.model.terms} == across | down
    np.testing.assert_allclose(fitted.model.theta, 0.5, atol=0.05)
    assert truth.divergence(np.log(probabilities(fitted))) < 2e-4


@searches
@every_basis
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_events_at_the_boundary_have_finite_weights(search: str, basis: BasisName, dtype: Any) -> None:
    """Duplicated columns, constant columns, pairs that never meet, a single row."""
    rng = np.random.default_rng(0)
    x = rng.integers(2, size=(200, 3))
    ones = np.ones((200, 1), dtype=int)
    tables = {
        "duplicated": np.c_[x, x[:, 0]],
        "opposite": np.c_[x, 1 - x[:, 0]],
        "constant": np.c_[x, ones, 0 * ones],
        "never meet": np.c_[x, (1 - x[:, 0]) * x[:, 1]],
        "all alike": np.ones((50, 4), dtype=int),
        "one row": np.array([[1, 0, 1]]),
    }
    for rows in tables.values():
        data = Empirical.from_codes(rows, space=Space.of_cards((2,) * rows.shape[1]))
        fitted = fit_search(data, Options(search=search, basis=basis, dtype=dtype))
        assert np.isfinite(fitted.standard_errors).all()
        assert np.abs(fitted.model.theta).max(initial=0) < 12
        assert (np.diff(costs(fitted)) <= 1e-6).all()
        assert fitted.divergence > -1e-6
    duplicated = fit_search(
        Empirical.from_codes(tables["duplicated"]), Options(search=search, basis=basis, dtype=dtype)
    )
    p = probabilities(duplicated).reshape((2,) * 4)  # axes: variable 3 first
    assert p[0, :, :, 1].sum() + p[1, :, :, 0].sum() < 0.02


def test_fitted_expectations_are_those_of_the_data() -> None:
    """Where nothing is priced, the published search fits everything: p = p_d."""
    data = drawn((2, 3, 2), "indicator", 10, rows=5000, k=11, scale=0.3)
    fitted = fit_search(data, Options(search="paper", basis="indicator", penalty=0.0, epsilon=1e-13))
    p_d = np.zeros(12)
    p_d[data.space.index(data.states)] = data.counts / data.total
    assert (p_d > 0).all()
    np.testing.assert_allclose(probabilities(fitted), p_d, atol=1e-5)
    eta = matrix(fitted.model.basis) @ probabilities(fitted)
    np.testing.assert_allclose(eta, matrix(fitted.model.basis) @ p_d, atol=1e-5)


def test_rounding_of_the_total_does_not_choose_names() -> None:
    """Joining a pair to one margin or another often costs the same: a last digit must not decide."""
    rng = np.random.default_rng(0)
    cards = (2,) * 12
    basis = Basis("walsh", cards)
    engine = DualTable(basis, np.float64)
    for _ in range(20):
        pairs = {tuple(sorted(rng.choice(12, 2, replace=False))) for _ in range(25)}
        terms = [basis.index(tuple((int(i), 1) for i in pair)) for pair in pairs]
        names = []
        engine.set_theta(dict.fromkeys(terms, 0.0))
        for total in 300.0 * (1 + np.finfo(float).eps * np.arange(-4, 5)):
            names.append(total * names_in_use(Problem(engine, prices(cards, total), 0.0, total)))
        np.testing.assert_allclose(names, names[0], rtol=1e-12)


def test_a_margin_that_is_cheaper_to_name_for_holding_more_is_widened() -> None:
    """``ln C(5, 4) < ln C(5, 3)``: naming four of five variables costs less than naming three, which they hold."""
    cards, total = (2,) * 5, 300.0
    basis, own = Basis("walsh", cards), prices(cards, total, "combinatorial")
    engine = Enumeration(basis, np.float64)
    engine.set_theta({basis.index(tuple((i, 1) for i in term)): 0.0 for term in ((0, 1, 2), (0, 1, 3))})
    found = names_in_use(Problem(engine, own, 0.0, total))
    assert found == pytest.approx((np.log(5) + np.log(5)) / total)
