"""The search with missing cells and hidden variables."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fullspan.data import Empirical, Space, Variable
from fullspan.errors import DataError, TooLargeError
from fullspan.learn.base import Progress
from fullspan.learn.search import Options, fit_complete, fit_incomplete, fit_search, incomplete
from fullspan.model import Fitted, LogLinear
from fullspan.model.algebra import Basis

WALSH = Options(basis="walsh")


def spins(n: int) -> NDArray[np.int64]:
    return 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)


def chain(n: int, coupling: float) -> NDArray[np.float64]:
    """p(x) of a chain of spins."""
    s = spins(n)
    p = np.exp(coupling * (s[:, 1:] * s[:, :-1]).sum(axis=1) + 0.2 * s[:, 0])
    return np.asarray(p / p.sum())


def drawn(p: NDArray[np.float64], rows: int, seed: int) -> NDArray[np.int64]:
    n = p.size.bit_length() - 1
    states = np.random.default_rng(seed).choice(p.size, size=rows, p=p)
    return (states[:, None] >> np.arange(n)) & 1


def masked(rows: NDArray[np.int64], share: float, seed: int) -> NDArray[np.int64]:
    return np.where(np.random.default_rng(seed).random(rows.shape) < share, -1, rows)


def visible(fitted: Fitted, n: int) -> NDArray[np.float64]:
    """Distribution of the first n binary variables, by enumeration."""
    space = fitted.model.space
    p = np.exp(fitted.model.log_prob(space.states(np.arange(space.n_states))))
    return np.asarray(p.reshape(-1, 2**n).sum(axis=0))


def kl(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    return float(np.sum(p * np.log(p / q)))


def observed_log_likelihood(rows: NDArray[np.int64], fitted: Fitted, n: int) -> float:
    """Sum over rows of log p(observed cells), row by row over all states."""
    p, states = visible(fitted, n), (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    agree = [((row < 0) | (states == row)).all(axis=1) for row in rows]
    return float(sum(np.log(p[which].sum()) for which in agree))


def test_completion_weighs_all_states_that_agree_with_a_row() -> None:
    """sum_o q(o) p(x | o), by enumeration, at a generic model over mixed levels."""
    space, rng = Space.of_cards((3, 2, 2)), np.random.default_rng(5)
    basis = Basis("indicator", space.cards)
    terms = tuple(basis.term(y) for y in (1, 4, 7, 11))
    theta = rng.normal(size=4)
    exponent = basis.evaluate(terms, space.states(np.arange(12))).astype(float) @ theta
    model = LogLinear(space, basis, terms, theta, float(np.log(np.exp(exponent).sum())))
    data = Empirical.from_codes([[2, -1, 0], [-1, 1, -1], [1, 1, 1]], [2.0, 3.0, 0.5], space, allow_missing=True)
    p, states = np.exp(exponent), space.states(np.arange(12))
    wanted = np.zeros(12)
    for row, count in zip(data.states, data.counts, strict=True):
        which = ((row < 0) | (states == row)).all(axis=1)
        wanted[which] += count * p[which] / p[which].sum()
    filled = incomplete.completed(data, model)
    assert filled.is_complete
    found = np.zeros(12)
    found[space.index(filled.states)] = filled.counts
    assert np.allclose(found, wanted, atol=1e-13)


def test_nothing_missing_is_the_ordinary_search() -> None:
    rows = drawn(chain(5, 0.4), 500, 1)
    data = Empirical.from_codes(rows)
    assert (
        fit_search(Empirical.from_codes(rows, allow_missing=True), WALSH).model.weights
        == fit_search(data, WALSH).model.weights
    )


def test_complete_rows_are_refined_to_what_they_were() -> None:
    """Refining weights for what was observed leaves them where all was observed, and as finite as they were."""
    rows = drawn(chain(5, 0.9), 30, 1)
    rows[:, 4] = rows[:, 3]  # an impossible state: without the pseudo-row of the search this weight would grow
    data = Empirical.from_codes(rows)
    # Both in the table's own order of columns: fit_search would sort them, and ties would be broken another way.
    one, again = fit_complete(data, WALSH), fit_incomplete(data, WALSH)
    assert again.model.terms == one.model.terms
    assert np.allclose(again.model.theta, one.model.theta, atol=0.02)


def test_missing_cells_cost_little_and_dropping_rows_much() -> None:
    """With a fifth of the cells missing the model is far nearer to the truth than one from the complete rows."""
    p = chain(7, 0.6)
    rows = drawn(p, 2000, 2)
    gaps = masked(rows, 0.2, 3)
    whole = fit_search(Empirical.from_codes(rows), WALSH)
    em = fit_search(Empirical.from_codes(gaps, allow_missing=True), WALSH)
    dropped = fit_search(Empirical.from_codes(gaps[(gaps >= 0).all(axis=1)], space=Space.of_cards((2,) * 7)), WALSH)
    assert kl(p, visible(em, 7)) < 3 * kl(p, visible(whole, 7))
    assert kl(p, visible(em, 7)) < 0.5 * kl(p, visible(dropped, 7))


def test_measures_are_those_of_the_observed_cells() -> None:
    """Divergence plus entropy is minus the mean log-probability of the observed cells, summed over states by hand."""
    gaps = masked(drawn(chain(5, 0.5), 400, 4), 0.3, 5)
    gaps = gaps[(gaps >= 0).any(axis=1)]
    fitted = fit_search(Empirical.from_codes(gaps, allow_missing=True), WALSH)
    mean = observed_log_likelihood(gaps, fitted, 5) / len(gaps)
    assert -(fitted.divergence + fitted.entropy) == pytest.approx(mean, abs=1e-10)
    assert fitted.total == len(gaps)


def test_the_description_of_the_observed_data_never_rises() -> None:
    gaps = masked(drawn(chain(6, 0.5), 600, 6), 0.3, 7)
    history = fit_search(Empirical.from_codes(gaps, allow_missing=True)).history
    costs = [step.cost for step in history]
    assert costs == sorted(costs, reverse=True)


def test_standard_errors_grow_with_what_is_missing() -> None:
    """The same rows with holes tell less about each weight."""
    rows = drawn(chain(4, 0.7), 3000, 8)
    whole = fit_search(Empirical.from_codes(rows), WALSH)
    holes = fit_search(Empirical.from_codes(masked(rows, 0.4, 9), allow_missing=True), WALSH)
    both = set(whole.model.terms) & set(holes.model.terms)
    assert len(both) >= 3
    for term in both:
        a = whole.standard_errors[whole.model.terms.index(term)]
        assert holes.standard_errors[holes.model.terms.index(term)] > 1.1 * a


def latent(rows: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Six answers that share one hidden cause, and their distribution."""
    rng = np.random.default_rng(seed)
    yes, no = rng.uniform(0.7, 0.9, 6), rng.uniform(0.1, 0.3, 6)
    x = (np.arange(64)[:, None] >> np.arange(6)) & 1
    p = 0.4 * np.where(x, yes, 1 - yes).prod(axis=1) + 0.6 * np.where(x, no, 1 - no).prod(axis=1)
    return drawn(p, rows, seed + 1), p


def test_a_hidden_cause_is_found() -> None:
    """One hidden variable explains what takes many interactions among the visible: shorter, and nearer the truth."""
    rows, p = latent(3000, 10)
    data = Empirical.from_codes(rows)
    plain = fit_search(data, WALSH)
    hidden = fit_incomplete(data, WALSH, [Variable("cause", (0, 1))], restarts=2, seed=0)
    assert (hidden.n_hidden, hidden.model.space.names[-1]) == (1, "cause")
    assert hidden.description_length < plain.description_length - 20
    assert kl(p, visible(hidden, 6)) < kl(p, visible(plain, 6))
    assert all(any(i == 6 for i, _ in term) for term in hidden.model.terms if len(term) > 1)


def test_a_hidden_variable_that_explains_nothing_is_left_unused() -> None:
    """Independent coins: no term has the hidden variable, and the description is no longer than without."""
    rows = np.random.default_rng(11).integers(0, 2, (800, 4))
    data = Empirical.from_codes(rows)
    plain = fit_search(data, WALSH)
    hidden = fit_incomplete(data, WALSH, [Variable("h1", (0, 1, 2))], restarts=2, seed=0)
    assert hidden.description_length <= plain.description_length + 1e-6
    assert all(i < 4 for term in hidden.model.terms for i, _ in term)


def test_the_same_seed_gives_the_same_model() -> None:
    data = Empirical.from_codes(latent(400, 12)[0])
    first, second = (fit_incomplete(data, WALSH, [Variable("h", (0, 1))], 2, seed=3) for _ in range(2))
    assert first.model.weights == second.model.weights


def test_a_hidden_variable_needs_its_own_name() -> None:
    with pytest.raises(DataError, match=r"hidden variable 'x0' has the name of an observed one"):
        fit_incomplete(Empirical.from_codes([[0, 1], [1, 0]]), WALSH, [Variable("x0", (0, 1))])


def test_too_large_is_refused_before_anything_is_allocated() -> None:
    data = Empirical.from_codes([[0] * 40, [1] * 39 + [-1]], space=Space.of_cards((2,) * 40), allow_missing=True)
    with pytest.raises(TooLargeError, match="five tables"):
        fit_search(data)


def test_an_interruption_keeps_the_best_model_so_far() -> None:
    gaps = masked(drawn(chain(6, 0.5), 300, 13), 0.2, 14)
    seen: list[Any] = []

    def stop(progress: Progress) -> None:
        seen.append(progress.snapshot())
        if len(seen) == 3:
            raise KeyboardInterrupt

    fitted = fit_search(Empirical.from_codes(gaps, allow_missing=True), WALSH, watch=stop)
    assert fitted.status == "interrupted"
    assert np.isfinite([fitted.description_length, seen[-1].description_length]).all()


@pytest.mark.parametrize("options", [Options(search="paper", basis="walsh"), Options(l1=0.01, basis="monomial")])
def test_the_search_by_single_terms_takes_missing_cells_too(options: Options) -> None:
    gaps = masked(drawn(chain(5, 0.6), 2000, 15), 0.2, 16)
    fitted = fit_search(Empirical.from_codes(gaps, allow_missing=True), options)
    assert fitted.status == "converged"
    assert kl(chain(5, 0.6), visible(fitted, 5)) < 0.1


@pytest.mark.parametrize("where", ["fit_machine", "solve"])
def test_an_interrupt_anywhere_ends_the_search(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C inside the first completion or the last refit is not lost: the best model so far comes back at once."""
    codes = np.random.default_rng(2).integers(0, 2, (200, 3))
    data = Empirical.from_codes(codes)
    calls = []
    plain = getattr(incomplete, where)

    def stopped(*given: Any, **named: Any) -> Any:
        calls.append(1)
        return dataclasses.replace(plain(*given, **named), status="interrupted")

    monkeypatch.setattr(incomplete, where, stopped)
    fitted = incomplete.fit_incomplete(data, hidden=[Variable("h", (0, 1))], restarts=4, seed=0)
    assert fitted.status == "interrupted"
    assert len(calls) == 1
