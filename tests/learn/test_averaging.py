"""Averages of bootstrap fits, against the enumerated mean of the members' distributions."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fullspan as fs
from fullspan.data import Empirical, Space
from fullspan.engine.dual import ProbabilityTable
from fullspan.errors import FullspanError, ModelFileError, TooLargeError
from fullspan.estimators.registry import read_fitted as load
from fullspan.estimators.registry import write_fitted as save
from fullspan.learn.base import bootstrap
from fullspan.learn.ensemble import Bounds, OutOfBagRows, averaged_machine, fit_average
from fullspan.learn.likelihood import MachineOptions, fit_machine
from fullspan.model import AveragedLogLinear, Fitted, LogLinear
from fullspan.model.algebra import Basis
from fullspan.model.files import checksum
from fullspan.query.distributions import AveragedDistribution, LogLinearDistribution

CARDS = (2, 3, 2, 4)


def member(rng: np.random.Generator, basis: Basis) -> LogLinear:
    """A generic log-linear model with a random half of the terms of up to three variables."""
    every = [basis.term(int(y)) for y in range(1, basis.n_states)]
    terms = tuple(t for t in every if len(t) <= 3 and rng.random() < 0.5)
    theta = rng.normal(scale=0.7, size=len(terms))
    free = LogLinear(Space.of_cards(basis.cards), basis, terms, theta, 0.0)
    log_z = float(np.logaddexp.reduce(-free.energy(states(basis.cards))))
    return LogLinear(free.space, basis, terms, theta, log_z)


def states(cards: tuple[int, ...]) -> np.ndarray:
    """All states, the first variable fastest."""
    return np.array([s[::-1] for s in itertools.product(*(range(c) for c in cards[::-1]))])


@pytest.fixture(params=["walsh", "indicator", "monomial"])
def average(request: pytest.FixtureRequest) -> tuple[AveragedLogLinear, np.ndarray]:
    """An average of five generic models, and its enumerated probabilities as a cube."""
    rng = np.random.default_rng(3)
    model = AveragedLogLinear.of([member(rng, Basis(request.param, CARDS)) for _ in range(5)])
    p = np.mean([np.exp(m.log_prob(states(CARDS))) for m in model.members], axis=0)
    return model, p.reshape(CARDS, order="F")


def test_average_of_dual_tables(average: tuple[AveragedLogLinear, np.ndarray]) -> None:
    """The dual table of the average is the average of the dual tables."""
    model, p = average
    table = AveragedDistribution(model).table
    mean = np.mean([LogLinearDistribution(m).table.eta for m in model.members], axis=0)
    assert np.allclose(table.eta, mean, atol=1e-13)
    assert np.allclose(np.exp(model.log_prob(states(CARDS))), p.ravel(order="F"), rtol=1e-12)


def test_every_query_is_of_the_mean_table(average: tuple[AveragedLogLinear, np.ndarray]) -> None:
    """Probabilities, conditionals, modes, entropies and informations are those of the enumerated mean."""
    model, p = average
    oracle = AveragedDistribution(model)
    assert np.allclose(oracle.joint(), p, rtol=1e-12)
    given = p[:, [0, 2]][..., 3]
    wanted = given.sum(axis=1) / given.sum()
    evidence = {"x1": [0, 2], "x3": 3}
    assert np.allclose(oracle.conditional(["x2", "x0"], evidence).values, wanted.T, rtol=1e-10)
    assert oracle.probability({"x0": 1}, evidence) == pytest.approx(wanted[1].sum(), rel=1e-10)
    tiny = p[1, 2, 0, 3] / p[1, 2].sum()
    assert oracle.probability("x2=0, x3=3 | x0=1, x1=2") == pytest.approx(tiny, rel=1e-10)
    mode = oracle.mode({"x1": 1})
    part = p[:, 1]
    assert part[mode.state[0], mode.state[2], mode.state[3]] == part.max()
    assert mode.log_prob == pytest.approx(math.log(part.max() / part.sum()), rel=1e-9)
    assert oracle.entropy() == pytest.approx(-float((p * np.log(p)).sum()), rel=1e-12)
    pair = p.sum(axis=(1, 2))
    product = np.outer(pair.sum(axis=1), pair.sum(axis=0))
    assert oracle.mutual_information("x0", "x3") == pytest.approx(
        float((pair * np.log(pair / product)).sum()), rel=1e-8
    )


def test_rows_of_the_mean_table(average: tuple[AveragedLogLinear, np.ndarray]) -> None:
    """Partial rows sum the mean table; their completions are its argmax, its shares, and draws from it."""
    model, p = average
    oracle = AveragedDistribution(model)
    rows = np.array([[1, 2, 0, 3], [1, -1, 0, -1], [-1, 0, -1, 2], [-1, -1, -1, -1], [0, 1, -1, 1]])
    cut = [p[1, 2, 0, 3], p[1, :, 0, :].sum(), p[:, 0, :, 2].sum(), 1.0, p[0, 1, :, 1].sum()]
    assert np.allclose(oracle.log_prob(rows), np.log(cut), atol=1e-10)
    wide = oracle.probabilities.log_sums_of_rows(rows)
    assert np.allclose(wide, np.log(cut), atol=1e-12)
    best = np.unravel_index(p[1, :, 0, :].argmax(), (3, 4))
    assert oracle.impute(rows.copy())[1].tolist() == [1, best[0], 0, best[1]]
    shares = oracle.impute(rows.copy(), "mean")
    assert np.allclose(shares["x3"][1], p[1, :, 0, :].sum(axis=0) / cut[1], rtol=1e-10)
    assert np.allclose(oracle.probabilities.marginals({0: (1,), 2: (0,)})[3], shares["x3"][1], rtol=1e-10)
    many = np.tile(rows[1], (40_000, 1))
    drawn = oracle.impute(many, "draw", np.random.default_rng(0))
    found = np.bincount(drawn[:, 3], minlength=4) / len(drawn)
    assert np.allclose(found, shares["x3"][1], atol=0.015)


def test_samples_of_the_mean_table(average: tuple[AveragedLogLinear, np.ndarray]) -> None:
    """Samples given evidence have the frequencies of the mean table."""
    model, p = average
    drawn = AveragedDistribution(model).sample(60_000, np.random.default_rng(1), {"x3": [1, 3], "x0": 1})
    assert set(drawn[:, 0]) == {1}
    assert set(drawn[:, 3]) == {1, 3}
    part = p[1][:, :, [1, 3]]
    found = np.zeros((3, 2, 4))
    np.add.at(found, (drawn[:, 1], drawn[:, 2], drawn[:, 3]), 1 / len(drawn))
    assert np.allclose(found[:, :, [1, 3]], part / part.sum(), atol=0.01)


def test_terms_of_an_average() -> None:
    """A term's share is how many members have it, its weight and spread are mean and deviation over these."""
    space, basis = Space.of_cards((2, 2)), Basis("walsh", (2, 2))
    a, b = ((0, 1),), ((0, 1), (1, 1))
    one = LogLinear(space, basis, (b, a), np.array([0.2, 0.5]), 1.0)
    two = LogLinear(space, basis, (a,), np.array([0.9]), 1.0)
    model = AveragedLogLinear.of([one, two])
    assert model.terms == (a, b)
    assert np.allclose(model.theta, [0.7, 0.2])
    assert np.allclose(model.chosen, [1.0, 0.5])
    assert model.spread[0] == pytest.approx(0.4 / math.sqrt(2))
    assert math.isnan(model.spread[1])
    assert np.allclose(model.mean([np.array([3.0, 5.0]), np.array([1.0])]), [3.0, 1.5])


def rows_of(n: int, seed: int = 0) -> list[list[str]]:
    """Rows of three dependent columns."""
    rng = np.random.default_rng(seed)
    a = rng.integers(2, size=n)
    b = np.where(rng.random(n) < 0.8, a, 1 - a)
    c = np.where(rng.random(n) < 0.7, b, rng.integers(3, size=n))
    return [["ny"[i], "ny"[j], "uvw"[k]] for i, j, k in zip(a, b, c, strict=True)]


@pytest.mark.parametrize("estimator", [fs.FullSpan, fs.BoltzmannMachine])
def test_estimators(estimator: type, tmp_path: object) -> None:
    """An average answers with the shares of its parts, and its file holds it."""
    model = estimator(average=4, random_state=7).fit(rows_of(300))
    assert isinstance(model.model_, AveragedLogLinear)
    assert len(model.model_.members) == 4
    everything = np.array(list(itertools.product("ny", "ny", "uvw")))
    codes = np.array([[0 if x in "nu" else 1 if x in "yv" else 2 for x in row] for row in everything])
    parts = model.model_.parts
    assert sum(share for share, _ in parts) == pytest.approx(1.0)
    assert (len(parts) == 4) is (estimator is fs.BoltzmannMachine)
    mean = sum(share * np.exp(m.log_prob(codes)) for share, m in parts)
    assert mean.sum() == pytest.approx(1.0)
    assert np.allclose(np.exp(model.score_samples(everything)), mean, rtol=1e-12)
    assert model.score(rows_of(4_000, 1)) == pytest.approx(model.oob_score_, abs=6 * model.oob_error_)
    assert {row.chosen for row in model.terms_} <= {0.25, 0.5, 0.75, 1.0}
    assert "chosen" in repr(model.terms_)
    assert "spread" in repr(model.terms_)
    path = tmp_path / "a.fsm"  # type: ignore[operator]
    model.save(path)
    again = fs.load(path)
    assert type(again) is estimator
    assert again.average == 4
    assert again.oob_score_ == model.oob_score_
    assert np.array_equal(again.score_samples(everything), model.score_samples(everything))
    assert repr(again.terms_.to_dicts()) == repr(model.terms_.to_dicts())
    repeated = estimator(average=4, random_state=7).fit(rows_of(300))
    # Not to the last bit: a first fit may be served by NumPy, and the second by kernels that were loaded meanwhile.
    assert np.allclose(repeated.score_samples(everything), model.score_samples(everything), rtol=1e-12)


def test_missing_cells_and_hidden_variables() -> None:
    """Members fitted to observed cells are averaged; hidden variables are summed out of rows."""
    rows = [[None if (i * 7 + j) % 11 == 0 else x for j, x in enumerate(row)] for i, row in enumerate(rows_of(200))]
    model = fs.FullSpan(average=3, missing="em", random_state=0).fit(rows)
    total = np.exp(model.score_samples([[a, b, c] for a in "ny" for b in "ny" for c in "uvw"])).sum()
    assert total == pytest.approx(1.0)
    assert math.isfinite(model.oob_score_)
    machine = fs.BoltzmannMachine(average=2, hidden=1, l2=0.01, restarts=1, random_state=0).fit(rows_of(200))
    total = np.exp(machine.score_samples([[a, b, c] for a in "ny" for b in "ny" for c in "uvw"])).sum()
    assert total == pytest.approx(1.0)


def test_out_of_bag_is_by_the_fits_that_have_not_seen_the_row() -> None:
    """With one row per state, a state counts in exactly the fits whose sample lacks it."""
    data = Empirical.from_codes([[0], [1], [2]])
    rows = OutOfBagRows(data)
    rng = np.random.default_rng(0)
    rows.add(np.array([2.0, 1.0, 0.0]), np.log([0.5, 0.3, 0.2]), rng)
    rows.add(np.array([0.0, 3.0, 0.0]), np.log([0.1, 0.5, 0.4]), rng)
    found = rows.score()
    expected = [math.log(0.1), math.log(0.3)]
    assert found.score == pytest.approx(np.mean(expected))
    assert found.share == pytest.approx(2 / 3)
    assert found.error == pytest.approx(np.std(expected) / math.sqrt(2))


def test_out_of_bag_counts_rows_and_not_states() -> None:
    """Of c rows of one state, a sample leaves out each with probability (1 - 1/c)^m, about 37 % of all."""
    data = Empirical.from_codes([[0]] * 5000 + [[1]] * 3)
    rng, left = np.random.default_rng(0), []
    for _ in range(60):
        rows = OutOfBagRows(data)
        rows.add(bootstrap(data, rng).drawn, np.log([0.9, 0.1]), rng)
        left.append(rows.score().share)
    assert np.mean(left) == pytest.approx(math.exp(-1), abs=0.03)


def test_out_of_bag_keeps_the_weight_of_every_state() -> None:
    """Which of a state's rows are known is chance, and does not make it count for more or for less."""
    data = Empirical.from_codes([[0]] * 800 + [[1]] * 150 + [[2]] * 50)
    log_prob, rng, scores = np.log(data.counts / data.total), np.random.default_rng(0), []
    for _ in range(20):
        rows = OutOfBagRows(data)
        for _ in range(6):
            rows.add(bootstrap(data, rng).drawn, log_prob, rng)
        scores.append(rows.score().score)
    assert scores == pytest.approx([float(data.counts @ log_prob) / data.total] * 20)


def test_bootstrap_keeps_the_total() -> None:
    """A sample has the weight of the data, also where weights are fractions."""
    whole = Empirical.from_codes([[0], [1], [1], [2]])
    assert bootstrap(whole, np.random.default_rng(0)).data.total == 4
    parts = Empirical.from_codes([[0], [1], [2]], weights=[0.2, 0.5, 0.1])
    assert bootstrap(parts, np.random.default_rng(0)).data.total == pytest.approx(0.8)


def test_interrupt_keeps_the_fits_that_are_done() -> None:
    """Ctrl-C after two fits leaves the average of these two; before the first is done, what it had come to."""
    from fullspan.learn.ensemble import averaged_search
    from fullspan.learn.search import Options

    data = Empirical.from_codes([[int(x in "yv") + 2 * (x == "w") for x in row] for row in rows_of(300)])

    def stop_at(fit: str):  # type: ignore[no-untyped-def]
        def watch(step):  # type: ignore[no-untyped-def]
            if step.move.startswith(fit):
                raise KeyboardInterrupt

        return watch

    early = averaged_search(data, Options(), k=5, random_state=0, watch=stop_at("fit 1 "))
    assert early.status == "interrupted"
    assert len(early.model.members) == 1
    late = averaged_search(data, Options(), k=5, random_state=0, watch=stop_at("fit 2 "))
    assert late.status == "interrupted"
    assert 1 <= len(late.model.members) < 5
    full = averaged_search(data, Options(), k=5, random_state=0)
    assert full.status == "converged"
    assert len(full.model.members) == 5
    assert np.array_equal(full.model.members[0].theta, late.model.members[0].theta)


@pytest.mark.parametrize(
    ("at", "seconds", "members", "others"),
    [("fit 1 ", 11.0, {1}, False), ("fit 3 ", 6.0, {2, 3}, True), ("fit 3 ", 11.0, {2, 3}, False)],
)
def test_the_end_of_the_time_keeps_what_was_learned(
    at: str, seconds: float, members: set[int], others: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fits of samples end after half of the time, candidates after all of it; what is left is averaged."""
    from fullspan.learn.ensemble import averaged_search, timer
    from fullspan.learn.search import Options

    now = [0.0]
    monkeypatch.setattr(timer, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    data = Empirical.from_codes([[int(x in "yv") + 2 * (x == "w") for x in row] for row in rows_of(300)])

    def watch(step: Any) -> None:
        now[0] = max(now[0], seconds if step.move.startswith(at) else 0.0)

    found = averaged_search(data, Options(), k=8, random_state=0, watch=watch, max_seconds=10.0)
    assert found.status == "time limit"
    assert len(found.model.members) in members
    assert ("networks" in found.settings.get("shares", {})) == others
    assert np.exp(found.model.log_prob(states(data.space.cards))).sum() == pytest.approx(1.0, abs=1e-9)


def test_the_time_of_an_average_is_a_positive_number() -> None:
    with pytest.raises(FullspanError, match="max_seconds is 0; a positive number, or None"):
        fs.FullSpan(average=2, max_seconds=0).fit(rows_of(30))


@pytest.mark.parametrize(("rows", "k", "terms"), [(600, 4, 10), (600, 3, 8), (400, 4, 8)])
def test_samples_grow_a_quarter_more_where_neither_rows_nor_fits_are_few(rows: int, k: int, terms: int) -> None:
    data, given = Empirical.from_codes(np.random.default_rng(0).integers(2, size=(rows, 3))), []

    def one(sample: Empirical, bounds: Bounds, seed: np.random.Generator, watch: Callable[[Any], None]) -> Fitted:
        given.append(bounds)
        for _ in range(4):
            watch(SimpleNamespace(move="append", n_terms=8, cost=0.0))
        return fit_machine(sample, MachineOptions())

    fit_average(data, k, one, 0)
    assert given[0] == Bounds()
    assert {(bounds.rounds, bounds.terms) for bounds in given[1:]} == {(terms // 2, terms)}


def test_a_first_machine_has_no_snapshot() -> None:
    """Nothing can be averaged before it is done; a search has its own best model so far."""
    data, moves = Empirical.from_codes(np.random.default_rng(0).integers(2, size=(60, 3))), []
    averaged_machine(data, MachineOptions(), k=2, random_state=0, watch=moves.append)
    first = [step for step in moves if step.move.startswith("fit 1 ")]
    assert first
    assert all(step.snapshot is None for step in first)
    later = [step for step in moves if step.move.startswith("fit 2 ")]
    assert len(later[-1].snapshot().model.members) == 1


def test_a_member_that_did_not_converge_is_told_with_its_own_violation() -> None:
    """A status is that of the first member that ended early; the violation beside it is the largest of all."""
    data = Empirical.from_codes(np.random.default_rng(0).integers(2, size=(60, 3)))
    ends = iter([(1e-12, 9, "converged"), (0.3, 200, "iteration limit"), (1e-11, 14, "converged")])

    def one(rows: Empirical, bounds: Bounds, seed: np.random.Generator, watch: Callable[[Any], None]) -> Fitted:
        violation, iterations, status = next(ends)
        fitted = fit_machine(rows, MachineOptions())
        return replace(fitted, status=status, settings={"violation": violation, "iterations": iterations})

    fitted = fit_average(data, 3, one, 0)
    assert fitted.status == "iteration limit"
    assert (fitted.settings["violation"], fitted.settings["iterations"]) == (0.3, 200)


def test_an_average_is_no_log_linear_model() -> None:
    """What needs natural parameters refuses an average and says what to do."""
    model = fs.FullSpan(average=2, random_state=0).fit(rows_of(100))
    with pytest.raises(FullspanError, match="average of 2"):
        LogLinearDistribution(model.model_)
    with pytest.raises(FullspanError, match="average of 2"):
        fs.geometry.Manifold.of(model)
    with pytest.raises(FullspanError, match="average of 2"):
        fs.BoltzmannMachine(average=2, random_state=0).fit(rows_of(100)).estimate("P(x0=y)")
    with pytest.raises(FullspanError, match="average is 0"):
        fs.FullSpan(average=0).fit(rows_of(100))
    with pytest.raises(FullspanError, match="needs the table"):
        fs.BoltzmannMachine(average=2, solver="pcd").fit(rows_of(100))
    with pytest.raises(TooLargeError, match="average over 12 states"):
        ProbabilityTable.mean_of(model.model_, max_memory=100)


def test_hostile_files(tmp_path: object) -> None:
    """A file whose members do not belong to its terms, or whose log Z is wrong, is refused with the place."""
    rng = np.random.default_rng(0)
    model = AveragedLogLinear.of([member(rng, Basis("walsh", (2, 2, 2))) for _ in range(2)])
    path = tmp_path / "a.fsm"  # type: ignore[operator]
    save(Fitted.given(model), path)
    assert load(path).model.terms == model.terms
    sound = json.loads(path.read_text())
    for change, place in [
        (lambda d: d["members"][0]["terms"].__setitem__(0, 99), r"members\[0\].terms\[0\]"),
        (lambda d: d["members"][1]["terms"].reverse(), "increase"),
        (lambda d: d["members"][0]["weights"].pop(), r"members\[0\]"),
        (lambda d: d["members"][0].__setitem__("log_z", 50.0), "log_z"),
        (lambda d: d.__setitem__("members", []), "0 members"),
        (lambda d: d["terms"].reverse(), "sorted"),
        (lambda d: d["members"].__setitem__(0, 3), "object"),
    ]:
        damaged = json.loads(json.dumps(sound))
        change(damaged)
        damaged["checksum"] = checksum(damaged)
        path.write_text(json.dumps(damaged))
        with pytest.raises(ModelFileError, match=place):
            load(path)
