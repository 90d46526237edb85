"""Fitting as a whole: options, precision, weights, interruption, resuming, choice of basis."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from fullspan.data import Empirical
from fullspan.engine.dual import DualTable, log_partition
from fullspan.errors import FullspanError, TooLargeError
from fullspan.learn.base import Interrupted, Progress
from fullspan.learn.search import Options, Problem, fit_search, prices, refit
from fullspan.model.algebra import BasisName
from generic import drawn, pseudo_row

searches = pytest.mark.parametrize("search", ["paper", "full"])
bases = pytest.mark.parametrize("basis", ["walsh", "indicator", "monomial"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"search": "best"}, "search is 'best'; choose one of 'full', 'paper'"),
        ({"basis": "fourier"}, "basis is 'fourier'; choose one of 'walsh', 'indicator', 'monomial', 'auto'"),
        ({"dtype": "float16"}, "dtype is 'float16'; choose one of 'auto', 'float32', 'float64'"),
        ({"l1": -0.1}, "l1 is -0.1; a finite number of at least 0"),
        ({"l1": float("nan")}, "l1 is nan"),
        ({"epsilon": 0.0}, r"epsilon is 0\.0; a positive number"),
        ({"epsilon": float("inf")}, "epsilon is inf"),
        ({"max_order": 0}, "max_order is 0; at least 1 is needed"),
    ],
)
def test_options_are_checked(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        Options(**wrong)


def test_a_bad_penalty_is_refused_before_tables_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullspan.engine.planner.Plan.table", lambda *_: pytest.fail("a table was made"))
    with pytest.raises(FullspanError, match="penalty 'aic' is unknown"):
        fit_search(drawn((2, 2), "walsh", 0, rows=50), Options(penalty="aic"))
    with pytest.raises(TooLargeError, match="may be used"):
        fit_search(drawn((2, 2), "walsh", 0, rows=50), Options(max_memory=1000))


@searches
def test_single_precision_finds_the_same_model(search: str) -> None:
    data = drawn((2,) * 8, "walsh", 1, rows=5000, k=12)
    double, single = (fit_search(data, Options(search=search, basis="walsh", dtype=d)) for d in ("float64", "float32"))
    assert double.model.terms == single.model.terms
    np.testing.assert_allclose(double.model.theta, single.model.theta, atol=2e-3)
    assert single.model.log_z == pytest.approx(
        log_partition(single.model.basis, dict(zip(single.model.indices, map(float, single.model.theta), strict=True))),
        abs=1e-12,
    )
    assert 0 <= single.drift < 1e-4


@searches
def test_weights_are_counts(search: str) -> None:
    """A row of weight 3 is three rows; fractions are allowed, and the total is their sum."""
    rng = np.random.default_rng(2)
    rows = rng.integers(3, size=(300, 3)) // 2 * (rng.random((300, 1)) < 0.8).astype(int)
    weights = rng.integers(1, 4, size=300)
    options = Options(search=search, basis="walsh")
    a = fit_search(Empirical.from_codes(np.repeat(rows, weights, axis=0)), options)
    b = fit_search(Empirical.from_codes(rows, weights=weights), options)
    assert a.model.weights == pytest.approx(b.model.weights)
    assert a.description_length == pytest.approx(b.description_length)
    assert b.total == weights.sum()
    halves = fit_search(Empirical.from_codes(np.repeat(rows, 2, axis=0), weights=np.repeat(weights / 2, 2)), options)
    assert halves.model.weights == pytest.approx(b.model.weights)
    assert halves.standard_errors == pytest.approx(b.standard_errors)


def test_a_hundred_times_the_data_means_a_tenth_of_the_error() -> None:
    data = drawn((2, 3), "indicator", 3, rows=400, k=5)
    much = Empirical.from_codes(data.states, weights=100 * data.counts, space=data.space)
    options = Options(search="paper", basis="indicator", penalty=0.0, epsilon=1e-12)
    few, many = fit_search(data, options), fit_search(much, options)
    assert len(few.model.terms) == 5
    assert many.model.weights == pytest.approx(few.model.weights, abs=1e-4)
    np.testing.assert_allclose(many.standard_errors, few.standard_errors / 10, rtol=1e-3)
    np.testing.assert_allclose(many.nats_saved, few.nats_saved * 100, rtol=1e-3)


def test_standard_errors_are_those_of_repeated_samples() -> None:
    """Spread of a weight over fresh samples of one truth, against the error each fit reports."""
    estimates, errors = [], []
    rng = np.random.default_rng(4)
    p = np.exp([0.6, -0.6, -0.6, 0.6])
    for _ in range(200):
        counts = rng.multinomial(400, p / p.sum()).reshape(2, 2)
        fitted = fit_search(Empirical.from_table(counts), Options(search="paper", basis="walsh"))
        place = fitted.model.terms.index(((0, 1), (1, 1)))
        estimates.append(fitted.model.theta[place])
        errors.append(fitted.standard_errors[place])
    assert np.mean(estimates) == pytest.approx(0.6, abs=0.02)
    assert np.std(estimates) == pytest.approx(np.mean(errors), rel=0.15)


@bases
def test_nats_saved_are_about_what_dropping_a_term_costs(basis: BasisName) -> None:
    """Drop a term, refit the others jointly: N times the rise of KL(p_d || p)."""
    data = drawn((2, 3, 2), basis, 5, rows=20_000, k=4, scale=0.25)
    fitted = fit_search(data, Options(search="paper", basis=basis, epsilon=1e-9))
    engine = DualTable(fitted.model.basis)
    engine.set_data(data.space.index(data.states), data.counts)
    problem = Problem(engine, prices(data.space.cards, data.total), fitted.entropy, data.total)
    theta = dict(zip(fitted.model.indices, map(float, fitted.model.theta), strict=True))
    assert len(theta) > 1
    for y, saved in zip(theta, fitted.nats_saved, strict=True):
        engine.set_theta({z: weight for z, weight in theta.items() if z != y})
        assert refit(problem, 1e-12)
        assert data.total * (problem.divergence() - fitted.divergence) == pytest.approx(saved, rel=0.15)


@searches
@bases
@pytest.mark.parametrize("signal", [KeyboardInterrupt, Interrupted])
def test_an_interrupted_fit_keeps_the_best_model_so_far(
    search: str, basis: BasisName, signal: type[BaseException]
) -> None:
    data = drawn((2, 3, 2, 2), basis, 6, rows=3000, k=12, scale=0.6)
    options = Options(search=search, basis=basis)
    whole = fit_search(data, options)
    for stop in range(1, len(whole.history) + 1):
        seen: list[Progress] = []

        def watch(progress: Progress, seen: list[Progress] = seen, stop: int = stop) -> None:
            seen.append(progress)
            if len(seen) == stop:
                raise signal

        part = fit_search(data, options, watch)
        assert part.status == "interrupted"
        assert len(part.history) == len(seen) == stop
        assert len(part.model.terms) == seen[-1].n_terms
        reported = part.description_length / part.total - part.entropy
        assert reported == pytest.approx(seen[-1].cost, abs=pseudo_row(part))
        assert part.description_length >= whole.description_length - part.total * pseudo_row(part)


@searches
@bases
def test_resuming_reaches_at_least_as_short_a_description(search: str, basis: BasisName) -> None:
    """From any point of the way, whatever was named there."""
    data = drawn((2, 3, 2, 2), basis, 7, rows=3000, k=12, scale=0.6)
    options = Options(search=search, basis=basis)
    whole = fit_search(data, options)
    for stop in {1, len(whole.history) // 2 + 1, len(whole.history)}:
        calls = 0

        def watch(_: Progress, stop: int = stop) -> None:
            nonlocal calls
            calls += 1
            if calls == stop:
                raise KeyboardInterrupt

        part = fit_search(data, options, watch)
        more = fit_search(data, options, start=part.model)
        assert more.status == "converged"
        assert more.model.basis.name == basis
        assert more.description_length <= part.description_length + 1.0  # the prior of a finished search is not kept


def test_a_snapshot_is_a_model_that_can_be_kept() -> None:
    data = drawn((2,) * 5, "walsh", 8, rows=1000)
    kept = []
    final = fit_search(data, Options(basis="walsh"), lambda progress: kept.append((progress, progress.snapshot())))
    assert kept
    for progress, snapshot in kept:
        assert snapshot.status == "interrupted"
        assert len(snapshot.model.terms) == progress.n_terms
        assert snapshot.description_length == pytest.approx(
            final.total * (progress.cost + final.entropy), abs=final.total * pseudo_row(final)
        )
    assert kept[-1][1].model.weights == pytest.approx(final.model.weights)


@searches
def test_auto_keeps_the_basis_with_the_shortest_description(search: str) -> None:
    """The published search runs in every basis; the full one grows once, which here is never longer."""
    chosen = set()
    for seed, basis in ((9, "walsh"), (10, "monomial"), (11, "indicator")):
        data = drawn((2, 4, 3, 2), basis, seed, rows=2000, k=4, scale=1.0)  # type: ignore[arg-type]
        single = {b: fit_search(data, Options(search=search, basis=b)) for b in ("walsh", "indicator", "monomial")}
        auto = fit_search(data, Options(search=search))
        best = min(single, key=lambda b: single[b].description_length)
        assert auto.description_length <= single[best].description_length + 0.1
        if search == "paper":
            assert auto.description_length == pytest.approx(single[best].description_length)
        assert auto.model.basis.name == best == auto.settings["basis_chosen"]
        chosen.add(best)
    assert len(chosen) > 1


def test_a_term_too_large_for_the_other_basis_is_grown_anew_there() -> None:
    """A parity of 12 variables is one Walsh term and 2^12 - 1 monomials."""
    rng = np.random.default_rng(16)
    rows = rng.integers(2, size=(4000, 12))
    rows[:3000, 11] = rows[:3000, :11].sum(axis=1) % 2
    seen: list[Progress] = []
    fitted = fit_search(Empirical.from_codes(rows), Options(), seen.append)
    assert fitted.model.basis.name == "walsh"
    assert max(map(len, fitted.model.terms)) == 12
    assert [p.n_terms for p in seen if p.move == "start"] == [12, 12]


def test_an_interrupt_in_the_second_basis_keeps_the_first_if_that_is_shorter() -> None:
    data = drawn((2,) * 5, "walsh", 12, rows=2000, k=6)
    walsh = fit_search(data, Options(basis="walsh"))
    calls = []

    def watch(progress: Progress) -> None:
        calls.append(progress)
        if len(calls) == len(walsh.history) + 1:
            assert progress.snapshot().model.basis.name == "walsh"
            raise KeyboardInterrupt

    kept = fit_search(data, Options(), watch)
    assert kept.status == "interrupted"
    assert kept.model.weights == pytest.approx(walsh.model.weights)


def test_what_was_asked_for_is_recorded() -> None:
    data = drawn((2, 2), "walsh", 13, rows=100)
    fitted = fit_search(data, Options(search="paper", penalty=1.5, max_order=1))
    assert json.loads(json.dumps(dict(fitted.settings)))["penalty"] == 1.5
    assert fitted.fingerprint == data.fingerprint()
    assert fitted.n_rows == 100
    assert fitted.entropy == pytest.approx(-np.sum(data.counts / 100 * np.log(data.counts / 100)))


def test_independent_data_get_no_interaction() -> None:
    rows = np.random.default_rng(14).integers(2, size=(5000, 6))
    for search in ("paper", "full"):
        fitted = fit_search(Empirical.from_codes(rows), Options(search=search))
        assert all(len(term) == 1 for term in fitted.model.terms)
