"""Shares of several candidates, and the average of fits that is stacked with them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fullspan as fs
from fullspan.data import Empirical, Space
from fullspan.errors import FullspanError
from fullspan.learn.base import Sample
from fullspan.learn.ensemble import OutOfBagRows, cross_validated, degrees_of_freedom, in_folds, share_of_single
from fullspan.learn.likelihood import MachineOptions, fit_machine
from fullspan.learn.shares import best_shares, mixed
from fullspan.model.algebra import Basis
from fullspan.papers.truths import random_network


def test_shares_are_the_maximum() -> None:
    """No shares nearby make the rows, and one more for each candidate, likelier."""
    rng = np.random.default_rng(0)
    log, weight = rng.normal(size=(30, 3)), rng.integers(1, 5, size=30).astype(float)
    shares = best_shares(log, weight)

    def value(w: np.ndarray) -> float:
        return float(weight @ mixed(log, w) + np.log(w).sum())

    assert shares.sum() == pytest.approx(1.0)
    for _ in range(50):
        step = rng.normal(size=3)
        near = shares * np.exp(0.02 * step)
        assert value(near / near.sum()) <= value(shares) + 1e-6


def test_shares_of_good_bad_and_equal_candidates() -> None:
    """A candidate that predicts far better gets nearly all, none is ruled out, equal ones get the same."""
    weight = np.full(50, 4.0)
    logs = np.array([[-9.0, -1.0]]).repeat(50, axis=0)
    assert best_shares(logs, weight) == pytest.approx([1 / 202, 201 / 202], abs=1e-4)
    assert best_shares(np.full((50, 3), -2.0), weight) == pytest.approx([1 / 3] * 3)


class _Counted:
    """Predicts a state by how often it was seen."""

    def __init__(self, data: Empirical) -> None:
        self.count = dict(zip(map(tuple, data.states.tolist()), data.counts, strict=True))

    def log_prob(self, states: np.ndarray) -> np.ndarray:
        return np.array([self.count.get(tuple(s), 0.0) for s in states.tolist()])

    def models(self) -> tuple[()]:
        return ()


def test_a_row_is_predicted_without_its_part() -> None:
    """A state seen once is never in what predicts it; the parts leave out every row once."""
    data = Empirical.from_codes([[i] for i in range(40)] + [[40]] * 500)
    rows = OutOfBagRows(data).followed
    totals = []

    def learn(part: Empirical, basis: Basis, rng: np.random.Generator) -> _Counted:
        totals.append(part.total)
        return _Counted(part)

    rng = np.random.default_rng(0)
    found = cross_validated(data, rows, in_folds(data, rows, rng), learn, Basis("indicator", (41,)), rng)
    once = np.isin(rows.state, np.flatnonzero(data.counts == 1))
    assert np.all(found[once] == 0.0)
    assert np.all((found[~once] > 350) & (found[~once] < 450))
    assert len(totals) == 5
    assert sum(totals) == pytest.approx(4 * 540)


def test_the_first_fit_is_of_the_rows_as_they_are() -> None:
    """The first member is the single fit, it decides nothing out of bag, and the others stay in its basis."""
    rng = np.random.default_rng(3)
    rows = rng.integers(2, size=(200, 4))
    rows[:, 3] = np.where(rng.random(200) < 0.9, rows[:, 0] ^ rows[:, 1], rows[:, 3])
    one, average = fs.FullSpan().fit(rows), fs.FullSpan(average=3, random_state=0).fit(rows)
    first = average.model_.members[0]
    assert first.terms == one.model_.terms
    assert np.array_equal(first.theta, one.model_.theta)
    assert {m.basis.name for m in average.model_.members} == {one.model_.basis.name}
    seen = OutOfBagRows(Empirical.from_codes(rows))
    data = Empirical.from_codes(rows)
    seen.add(Sample.whole(data).drawn, np.zeros(len(data.states)), rng)
    assert not seen.known.any()


def test_what_more_fits_would_say() -> None:
    """The mean log of an average of few fits, corrected, is nearer to that of an average of many."""
    rng = np.random.default_rng(0)
    data = Empirical.from_codes([[i] for i in range(500)])
    p = rng.gamma(5.0, 0.2, size=(40, 500))
    few, many = OutOfBagRows(data), np.log(p.mean(axis=0)).mean()
    for own in p[:6]:
        few.add(np.zeros(500), np.log(own), rng)
    plain, corrected = few.log_prob().mean(), few.expected(40).mean()
    assert plain < many - 0.01
    assert abs(corrected - many) < 0.3 * abs(plain - many)
    assert np.allclose(few.expected(6), few.log_prob())


def test_noise_is_not_pursued() -> None:
    """Of columns without structure no fit of an average finds any, as the single fit does: rows drawn twice are none.

    That bounds the time of every fit by that of the first, in rounds of growing.
    """
    rows = np.random.default_rng(0).integers(2, size=(200, 12))
    assert all(len(term) == 1 for term in fs.FullSpan().fit(rows).model_.terms)
    average = fs.FullSpan(average=6, random_state=0).fit(rows)
    assert all(len(term) == 1 for member in average.model_.members for term in member.terms)
    fresh = np.random.default_rng(1).integers(2, size=(4000, 12))
    assert average.score(fresh) == pytest.approx(-12 * math.log(2), abs=0.1)


def test_rounds_are_those_of_the_first_fit() -> None:
    """Growing stops after the rounds given, settled and sifted, and says so."""
    from fullspan.learn.search import Limits, Options, fit_search

    rng = np.random.default_rng(5)
    rows = rng.integers(2, size=(300, 6))
    rows[:, 5] = rows[:, 0] ^ rows[:, 1] ^ (rng.random(300) < 0.05)
    rows[:, 4] = rows[:, 2] ^ (rng.random(300) < 0.2)
    data = Empirical.from_codes(rows)
    free, bound = (
        fit_search(data, Options(basis="walsh")),
        fit_search(data, Options(basis="walsh"), limits=Limits(rounds=0)),
    )
    assert free.status == "converged"
    assert bound.status == "round limit"
    assert any(step.move in ("append", "margin") for step in free.history)
    assert not any(step.move in ("append", "margin") for step in bound.history)


def test_out_of_bag_is_of_the_whole_stack() -> None:
    """What is reported is the likelihood of unseen rows under all parts, near that of fresh rows."""
    rng = np.random.default_rng(0)

    def draw(n: int) -> np.ndarray:
        x = rng.integers(2, size=(n, 5))
        x[:, 4] = np.where(rng.random(n) < 0.9, x[:, 0] & x[:, 1], x[:, 4])
        return x

    model = fs.FullSpan(average=8, random_state=0).fit(draw(400))
    assert model.oob_score_ == pytest.approx(model.score(draw(20_000)), abs=0.08)
    shares = model.fitted_.settings["shares"]
    assert sum(shares.values()) == pytest.approx(1.0)
    assert 1 - shares["fits"] == pytest.approx(model.model_.share)


def test_rows_that_are_hardly_possible_have_a_logarithm() -> None:
    """Two fits with log p = -800 and -801: their mean, although exp of it is 0."""
    data = Empirical.from_codes(np.array([[0, 1], [1, 0]]))
    rows, rng = OutOfBagRows(data), np.random.default_rng(0)
    for log_prob in (-800.0, -801.0):
        rows.add(np.zeros(2), np.full(2, log_prob), rng)
    expected = np.logaddexp(-800.0, -801.0) - math.log(2)
    assert np.allclose(rows.log_prob(), expected)
    assert rows.score().score == pytest.approx(expected)
    p = np.exp([0.0, -1.0])
    assert np.allclose(rows.expected(4), expected + p.var(ddof=1) / p.mean() ** 2 / 2 * (1 / 2 - 1 / 4))


def test_two_rows_can_be_stacked_with_a_shrunken_model() -> None:
    """Both rows may fall into one part; nothing is known without it."""
    X = np.array([[0, 0, 0], [0, 1, 1]])
    for seed in range(4):
        model = fs.FullSpan(average=2, shrinkage="evidence", random_state=seed).fit(X)
        assert math.isfinite(model.score(X))


def test_many_columns_of_which_few_vary() -> None:
    """Tables of more than 62 columns are not averaged, however few states they have."""
    rng = np.random.default_rng(0)
    X = np.zeros((80, 70), dtype=int)
    X[:, -4:] = rng.integers(0, 2, (80, 4))
    X[:, 0] = X[:, -1] = X[:, -2]
    with pytest.raises(FullspanError, match=r"70 columns; at most 62 .* columns="):
        fs.FullSpan(average=2, random_state=0).fit(X)


@pytest.mark.parametrize("name", ["stack.best_shares", "selection.cross_validated"])
def test_an_interrupt_while_shares_are_found_keeps_the_fits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The average of all fits, without other candidates."""

    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"fullspan.learn.ensemble.{name}", interrupted)
    X = np.random.default_rng(1).integers(0, 2, (60, 3))
    with pytest.warns(UserWarning, match="interrupted"):
        model = fs.FullSpan(average=4, random_state=0).fit(X)
    assert model.fitted_.status == "interrupted"
    assert len(model.model_.members) == 4


def test_share_of_the_single_fit() -> None:
    """None where the average is clearly better, half in doubt, nearly all where the single fit is clearly better."""
    rng, weight = np.random.default_rng(0), np.full(400, 2.0)
    noise = rng.normal(size=400)
    noise -= noise.mean()
    assert share_of_single(noise + 0.2, weight) == 0.0
    assert share_of_single(noise + 0.01, weight) == 0.5
    assert 0.5 < share_of_single(noise - 0.02, weight) < share_of_single(noise - 0.05, weight) < 1.0
    assert share_of_single(noise - 0.5, weight) > 0.999
    assert share_of_single(np.zeros(400), weight) == 1.0


def test_a_fit_predicts_new_rows_worse_by_its_weights_over_the_rows() -> None:
    """Akaike: the likelihood of the fitted rows less k/N is that of new rows, in the mean over many tables."""
    rng, corrected, plain, true = np.random.default_rng(0), [], [], []
    for _ in range(150):
        data = Empirical.from_codes(rng.integers(2, size=(100, 4)), space=Space.of_cards((2,) * 4))
        fitted = fit_machine(data, MachineOptions(order=1))
        plain.append(data.counts @ fitted.model.log_prob(data.states) / data.total)
        corrected.append(plain[-1] - degrees_of_freedom(fitted) / data.total)
        true.append(fitted.model.log_prob(data.space.states(np.arange(16))).mean())
    assert degrees_of_freedom(fitted) == 4
    error = np.std(np.array(corrected) - true) / np.sqrt(len(true))
    assert abs(np.mean(corrected) - np.mean(true)) < 3 * error
    assert np.mean(plain) > np.mean(true) + 6 * error


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_an_average_is_not_behind_its_own_member(missing: float) -> None:
    """KL to the true network, average against single fit, over draws: not above by more than twice the error."""
    differences = []
    for draw in range(4):
        truth = random_network(7, 2, np.random.default_rng(draw))
        index, counts = truth.sample(900, np.random.default_rng([draw, 1]))
        rows = np.repeat(truth.space.states(index), counts.astype(int), axis=0)
        rows[np.random.default_rng([draw, 2]).random(rows.shape) < missing] = -1
        data = Empirical.from_codes(rows, space=truth.space, allow_missing=True)
        model = fs.FullSpan(average=4, random_state=draw).partial_fit(data)
        average, single = (
            truth.divergence(m.log_prob(truth.space.states(np.arange(128))))
            for m in (model.model_, model.model_.members[0])
        )
        differences.append(average - single)
        share = model.fitted_.settings["shares"]["single fit"]
        assert share == 0 or any(part is model.model_.members[0] for _, part in model.model_.background)
    assert np.mean(differences) < 2 * np.std(differences, ddof=1) / 2


def test_few_rows_and_machines() -> None:
    """With fewer than 500 rows the single fit has no share of its own; the rule holds for machines too."""
    rng = np.random.default_rng(1)
    rows = rng.integers(2, size=(600, 5))
    few = fs.FullSpan(average=4, random_state=0).fit(rows[:400])
    assert "single fit" not in few.fitted_.settings["shares"]
    machine = fs.BoltzmannMachine(order=2, average=4, random_state=0).fit(rows)
    assert 0.5 <= machine.fitted_.settings["shares"]["single fit"] < 1
