"""Learning without a table: pseudo-likelihood against its definition, ascent against exact maximum likelihood."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical, Space, Variable
from fullspan.engine.sampling import Base
from fullspan.errors import FullspanError
from fullspan.learn.base import Interrupted
from fullspan.learn.contrastive import PseudoLikelihood, form_of, machine
from fullspan.learn.likelihood import MachineOptions, fit_machine
from fullspan.model.algebra import BASES, Basis, Term
from generic import drawn, opened


def terms_of(cards: tuple[int, ...], order: int) -> list[Term]:
    return [
        tuple(zip(scope, digits, strict=True))
        for size in range(1, order + 1)
        for scope in itertools.combinations(range(len(cards)), size)
        for digits in itertools.product(*(range(1, cards[i]) for i in scope))
    ]


def plain_pseudo(basis: Basis, terms: list[Term], theta: Array, states: NDArray[Any], weights: Array) -> float:
    """Minus the mean of ``sum_i log p(x_i | rest)``, by trying every level of every variable."""
    total = 0.0
    for row, weight in zip(states, weights / weights.sum(), strict=True):
        for i, card in enumerate(basis.cards):
            tried = np.repeat(row[None], card, axis=0)
            tried[:, i] = np.arange(card)
            exponent = basis.evaluate(terms, tried) @ theta
            total -= weight * (exponent[row[i]] - np.logaddexp.reduce(exponent))
    return total


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize(("cards", "order"), [((2,) * 5, 2), ((3, 2, 4), 2), ((2, 3, 2, 2), 3)])
def test_pseudo_likelihood_is_its_definition_and_the_gradient_its_slope(
    cards: tuple[int, ...], order: int, basis: str
) -> None:
    rng = np.random.default_rng(0)
    functions, terms = Basis(basis, cards), terms_of(cards, order)  # type: ignore[arg-type]
    states = np.stack([rng.integers(0, card, size=40) for card in cards], axis=1)
    weights, theta = rng.random(40), rng.normal(size=len(terms))
    likelihood = PseudoLikelihood(form_of(Space.of_cards(cards), functions, terms), states, weights)
    value, gradient = likelihood.value_and_gradient(theta)
    assert value == pytest.approx(plain_pseudo(functions, terms, theta, states, weights), rel=1e-12)
    for k in range(len(terms)):
        step = np.zeros(len(terms))
        step[k] = 1e-5
        slope = (likelihood.value(theta + step) - likelihood.value(theta - step)) / 2e-5
        assert gradient[k] == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("basis", BASES)
def test_the_start_has_the_frequencies_of_the_levels(basis: str) -> None:
    """exp(theta . Phi) with the independent weights is the product of the base, up to its constant."""
    cards = (2, 3, 2)
    functions, terms = Basis(basis, cards), terms_of(cards, 2)  # type: ignore[arg-type]
    base = Base(np.array(cards), np.random.default_rng(1).normal(size=7))
    states = Space.of_cards(cards).states(np.arange(12))
    exponent = functions.evaluate(terms, states) @ machine.independent(functions, terms, base)
    difference = exponent - base.log_prob(states)
    np.testing.assert_allclose(difference, difference[0], atol=1e-12)
    without = [term for term in terms if term != ((1, 2),)]
    assert machine.independent(functions, without, base)[1] == 0.0


@pytest.mark.parametrize("solver", ["pcd", "cd", "pseudo"])
@pytest.mark.parametrize(("cards", "basis", "order"), [((2,) * 6, "walsh", 2), ((3, 2, 2, 3), "indicator", 2)])
def test_every_solver_comes_near_the_maximum_of_the_likelihood(
    cards: tuple[int, ...], basis: Any, order: int, solver: str
) -> None:
    """Data of the model's own kind: the likelihood found is that of Newton's method within 0.005 nats per row."""
    data = drawn(cards, basis, 3, 20_000)
    exact = fit_machine(data, MachineOptions(order=order, basis=basis))
    found = fit_machine(data, MachineOptions(order=order, basis=basis, solver=solver, max_iter=3_000, seed=1))
    assert found.divergence >= exact.divergence - 1e-9
    assert found.divergence == pytest.approx(exact.divergence, abs=0.005)
    assert found.status == "converged"
    assert found.settings["log_z"]["exact"]
    curve = found.settings["learning_curve"]
    assert curve[0]["update"] == 0
    assert all(point["exact"] and point["error"] == 0 for point in curve)
    assert curve[-1]["log_likelihood"] > curve[0]["log_likelihood"] + 0.001
    assert curve[-1]["log_likelihood"] == pytest.approx(-found.divergence - found.entropy, abs=1e-9)
    if solver != "pseudo":
        assert len(curve) >= 10


def test_terms_of_higher_order_are_learned_by_chains() -> None:
    """A triple that no pair shows: parity of three spins, with noise."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, size=(4_000, 3))
    x[:, 2] = x[:, 0] ^ x[:, 1] ^ (rng.random(4_000) < 0.2)
    options = MachineOptions(order=3, basis="walsh", solver="pcd", max_iter=2_000, learning_rate=0.05, seed=0)
    found = fit_machine(Empirical.from_codes(x), options)
    weight = found.model.weights[(0, 1), (1, 1), (2, 1)]
    assert weight == pytest.approx(0.5 * np.log(0.8 / 0.2), abs=0.08)


def test_averaging_takes_the_noise_out() -> None:
    """The mean of the last half of the updates is nearer to the maximum than the last weights."""
    data = drawn((2,) * 6, "walsh", 3, 20_000)
    options = {"basis": "walsh", "solver": "pcd", "max_iter": 2_000, "learning_rate": 0.05, "seed": 0}
    exact = fit_machine(data, MachineOptions(basis="walsh")).divergence
    mean, last = (
        fit_machine(data, MachineOptions(**options, mean_weights=a)).divergence - exact for a in (True, False)
    )
    assert 0 <= mean < 0.2 * last


def test_penalties_shrink_the_weights() -> None:
    data = drawn((2,) * 5, "walsh", 3, 5_000)
    for solver in ("pcd", "pseudo"):
        free, ridge = (
            fit_machine(data, MachineOptions(basis="walsh", solver=solver, max_iter=1_000, l2=l2, seed=0))
            for l2 in (0.0, 0.3)
        )
        assert np.abs(ridge.model.theta).sum() < 0.8 * np.abs(free.model.theta).sum()
    sparse = fit_machine(
        data, MachineOptions(basis="walsh", solver="pcd", max_iter=1_000, l1=0.1, seed=0, mean_weights=False)
    )
    assert (sparse.model.theta == 0).sum() >= 3


@pytest.mark.parametrize("rate", [50.0, 1e300])
def test_a_learning_rate_that_diverges_is_stopped_with_the_last_good_weights(rate: float) -> None:
    """The weights kept describe the rows no worse than independent variables, and the status says what happened."""
    data = drawn((2,) * 8, "walsh", 3, 2_000)
    found = fit_machine(data, MachineOptions(basis="walsh", solver="pcd", learning_rate=rate, seed=0, max_iter=500))
    alone = fit_machine(data, MachineOptions(order=1, basis="walsh"))
    assert found.status == "diverged"
    assert np.isfinite(found.model.theta).all()
    assert found.divergence < 1.1 * alone.divergence
    assert found.settings["iterations"] < 500


def test_an_interruption_keeps_the_weights_so_far() -> None:
    data = drawn((2,) * 6, "walsh", 3, 2_000)
    for solver in ("pcd", "pseudo"):
        calls = 0

        def stop(step: Any) -> None:
            nonlocal calls
            calls += 1
            if calls == 5:
                raise Interrupted

        found = fit_machine(data, MachineOptions(basis="walsh", solver=solver, max_iter=500, seed=0), watch=stop)
        assert found.status == "interrupted"
        assert found.divergence < found.history[0].cost - found.entropy
        assert found.settings["iterations"] < 500


def test_the_same_seed_gives_the_same_weights() -> None:
    data = drawn((2,) * 6, "walsh", 3, 500)
    one, two, other = (
        fit_machine(data, MachineOptions(solver="pcd", max_iter=50, seed=s)).model.theta for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def test_beyond_the_table_log_z_is_estimated_and_says_so() -> None:
    """60 binary variables, all pairs: 1,830 weights; the curve rises, and every point of it has its error."""
    rng = np.random.default_rng(0)
    x = (rng.random((400, 60)) < 0.3).astype(np.int64)
    x[:, 1::2] = np.where(rng.random((400, 30)) < 0.9, x[:, ::2], 1 - x[:, ::2])
    data = Empirical.from_codes(x)
    found = fit_machine(data, MachineOptions(solver="pcd", max_iter=200, learning_rate=0.05, l2=0.05, seed=0))
    assert not found.settings["log_z"]["exact"]
    assert found.settings["log_z"]["error"] > 0
    curve = found.settings["learning_curve"]
    assert all(not point["exact"] and point["error"] > 0 for point in curve[1:])
    assert curve[-1]["log_likelihood"] > curve[0]["log_likelihood"] + 3
    tree = fit_machine(data, MachineOptions(solver="pseudo", l2=0.05, graph=[(i, i + 1) for i in range(0, 60, 2)]))
    assert tree.settings["log_z"]["exact"]


def test_bad_input_is_refused_with_the_way_out() -> None:
    data = drawn((2,) * 4, "walsh", 3, 200)
    with pytest.raises(FullspanError, match="learning_rate is 0; a positive number"):
        MachineOptions(solver="pcd", learning_rate=0)
    with pytest.raises(FullspanError, match="n_chains is 0; a whole number of at least 1"):
        MachineOptions(solver="pcd", n_chains=0)
    with pytest.raises(FullspanError, match="takes no l1"):
        MachineOptions(solver="pseudo", l1=0.1)
    with pytest.raises(FullspanError, match="em='exact' has no effect"):
        MachineOptions(solver="cd", em="exact")
    with pytest.raises(FullspanError, match=r"without hidden units.*RestrictedBoltzmannMachine"):
        fit_machine(data, MachineOptions(solver="pcd"), [Variable("h", (0, 1))])
    with pytest.raises(FullspanError, match=r"needs complete rows.*missing='drop'"):
        fit_machine(opened(data, 0.3, 0), MachineOptions(solver="pcd"))
    with pytest.raises(FullspanError, match="solver='pcd' or 'pseudo' takes more"):
        fit_machine(Empirical.from_codes(np.eye(300, dtype=np.int64)), MachineOptions())


@pytest.mark.parametrize("solver", ["pcd", "pseudo"])
def test_rows_without_variety_leave_nothing_to_learn(solver: str) -> None:
    """One row, seen once: no term, log Z = 0, and the row has probability 1."""
    found = fit_machine(
        Empirical.from_codes(np.zeros((1, 4), dtype=np.int64)), MachineOptions(solver=solver, max_iter=3)
    )
    assert found.model.terms == ()
    assert found.model.log_z == pytest.approx(0.0, abs=1e-12)
