"""Averages of rows with missing values: completions, sums and em against enumeration; the stack learned from them."""

from __future__ import annotations

import dataclasses
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullspan as fs
from fullspan.data import Empirical, Space
from fullspan.learn.ensemble import (
    Candidate,
    Completions,
    OutOfBagRows,
    averaged_search,
    completed,
    completing,
    cross_validated,
    drawn,
    in_folds,
    independent_log_table,
    log_prob_of,
    log_sums,
    log_table,
    observed_log_prob,
    shrunken_search,
)
from fullspan.learn.networks import Networks, Spread, draw_networks
from fullspan.learn.search import Options, fit_search
from fullspan.learn.shrinkage import Contrasts, fit_shrunken, shrink
from fullspan.model import LogLinear
from fullspan.model.algebra import Basis

CARDS = (2, 3, 2, 4)
SPACE, BASIS = Space.of_cards(CARDS), Basis("indicator", CARDS)
STATES = SPACE.states(np.arange(48))


def rows_of(n: int, holes: float, seed: int = 0) -> Empirical:
    """Rows of a generic distribution, cells missing at random; a row without any cell says nothing."""
    rng = np.random.default_rng(seed)
    contrasts = Contrasts(CARDS)
    f = contrasts.function(rng.normal(size=48) * np.array([0, 0.4, 0.35, 0.2, 0.1])[contrasts.orders])
    states = STATES[rng.choice(48, size=n, p=np.exp(f) / np.exp(f).sum())].astype(np.int64)
    return Empirical.from_codes(np.where(rng.random(states.shape) < holes, -1, states), space=SPACE, allow_missing=True)


def agreeing(row: np.ndarray) -> np.ndarray:
    """Which of all states agree with a row."""
    return ((row < 0) | (row == STATES)).all(axis=1)


def a_model(seed: int, scale: float = 0.5) -> LogLinear:
    terms = tuple(BASIS.term(y) for y in (1, 2, 7, 13, 23, 40))
    theta = np.random.default_rng(seed).normal(scale=scale, size=6)
    f = BASIS.evaluate(terms, STATES).astype(float) @ theta
    return LogLinear(SPACE, BASIS, terms, theta, float(np.logaddexp.reduce(f)))


def test_the_table_of_models_is_their_mean() -> None:
    """``log sum_g w_g p_g(x)`` of every state."""
    models = [(0.3, a_model(0)), (0.6, a_model(1)), (0.1, a_model(2))]
    wanted = np.log(sum(share * np.exp(model.log_prob(STATES)) for share, model in models))
    assert np.allclose(log_table(BASIS, models), wanted, atol=1e-13)


def test_rows_are_spread_over_the_states_that_agree() -> None:
    """``n(x) = sum_o n(o) p(x | o)`` by enumeration, every row keeps its weight, and ``log P(o)`` is the sum."""
    data = rows_of(80, 0.3)
    log_p = a_model(0).log_prob(STATES)
    filled, log_prob = completed(data, BASIS, log_p, smallest=2.0**-40)
    wanted = np.zeros(48)
    for row, count, found in zip(data.states, data.counts, log_prob, strict=True):
        which, p = agreeing(row), np.exp(log_p)
        wanted[which] += count * p[which] / p[which].sum()
        assert found == pytest.approx(np.log(p[which].sum()))
    assert filled.is_complete
    assert np.array_equal(SPACE.index(filled.states), np.flatnonzero(wanted))
    assert np.allclose(filled.counts, wanted[wanted > 0], atol=1e-12)
    assert filled.total == pytest.approx(data.total, abs=1e-11)
    assert np.allclose(log_sums(BASIS, log_p, data.states), log_prob, atol=1e-13)


def test_fits_of_samples_know_nothing_of_other_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is out of bag is unseen: no fit begins with a model, which would be one of rows that its sample lacks."""
    begun: list[Any] = []

    def noted(data: Empirical, *given: Any) -> Any:
        begun.extend(part for part in given if isinstance(part, LogLinear))
        return fit_search(data, *given)

    monkeypatch.setattr("fullspan.learn.ensemble.averages.fit_search", noted)
    assert averaged_search(rows_of(60, 0.3), Options(), k=3, random_state=0).out_of_bag is not None
    assert not begun


def test_faint_weights_are_drawn_in_proportion() -> None:
    """Others stay, each row keeps its sum, and over all offsets the mean of every weight is what it was."""
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.full(40, 0.3), size=6) * np.array([0.2, 1.0, 1.0, 3.0, 7.0, 20.0])[:, None]
    weights[1] = np.arange(40) == 7  # nothing is faint
    weights[2] = 1 / 40  # everything is
    least, offsets = np.array([0.01, 0.05, 0.1, 0.05, 0.2, 0.3]), (np.arange(4000) + 0.5) / 4000
    found = np.array([drawn(weights, least, np.full(6, offset)) for offset in offsets])
    faint = weights < least[:, None]
    assert faint.any(axis=1).tolist() == [True] * 6
    assert np.array_equal(found[:, ~faint], np.broadcast_to(weights[~faint], (4000, (~faint).sum())))
    assert np.allclose(found.sum(axis=2), weights.sum(axis=1), rtol=1e-12)
    assert np.allclose(found.mean(axis=0), weights, atol=2e-3 * least[:, None])
    assert (((found > 0) & faint).sum(axis=2) <= (weights * faint).sum(axis=1) / least + 1).all()


def test_a_row_with_many_gaps_is_completed_in_few_states_that_tell_the_same() -> None:
    """Of 2^12 completions, alike or not, some hundred are left; shares and correlations of columns are as they were."""
    space, basis = Space.of_cards((2,) * 13), Basis("walsh", (2,) * 13)
    states = space.states(np.arange(2**13))
    for share in (0.5, 0.3):
        log_p = np.where(states == 1, np.log(share), np.log(1 - share)).sum(axis=1)
        row = np.array([[1] + [-1] * 12])
        filled, log_prob = completed(Empirical(space, row, np.ones(1), 1), basis, log_p)
        assert log_prob[0] == pytest.approx(np.log(share))
        assert 150 < len(filled.counts) <= 2 * 256
        assert filled.total == pytest.approx(1.0, abs=1e-12)
        columns = filled.states[:, 1:].astype(float)
        assert np.allclose(filled.counts @ columns, share, atol=0.1)
        covariance = np.cov(columns.T, aweights=filled.counts, ddof=0)
        assert np.allclose(covariance, share * (1 - share) * np.eye(12), atol=0.06)


def test_many_rows_are_completed_in_blocks() -> None:
    """Whatever the size of a block."""
    data, log_p = rows_of(80, 0.3), a_model(0).log_prob(STATES)
    whole, log_prob = completed(data, BASIS, log_p)
    parts, again = completed(data, BASIS, log_p, block=8)
    assert np.allclose(whole.counts, parts.counts, atol=1e-13)
    assert np.array_equal(log_prob, again)


def test_independent_columns_are_counted_by_themselves() -> None:
    """The product of the columns' shares, with one row more, in which nothing is missing."""
    data = rows_of(50, 0.3)
    wanted = np.zeros(48)
    for i, card in enumerate(CARDS):
        counts = np.array([data.counts[data.states[:, i] == level].sum() for level in range(card)]) + 1 / card
        wanted += np.log(counts / counts.sum())[STATES[:, i]]
    assert np.allclose(independent_log_table(data), wanted)


class _Pairs:
    """Maximum likelihood of the first two variables together and the last two together: an exact M step."""

    def __init__(self, data: Empirical) -> None:
        table = np.zeros(48)
        table[SPACE.index(data.states)] = data.counts / data.counts.sum()
        cube = table.reshape(CARDS[::-1])
        p = np.einsum("dc,ba->dcba", cube.sum(axis=(2, 3)), cube.sum(axis=(0, 1))).ravel()
        f = np.log(p)
        theta = np.linalg.solve(BASIS.evaluate([BASIS.term(y) for y in range(48)], STATES).astype(float), f)
        model = LogLinear(SPACE, BASIS, tuple(BASIS.term(y) for y in range(1, 48)), theta[1:], -float(theta[0]))
        self._model = model

    def log_prob(self, states: np.ndarray) -> np.ndarray:
        return self._model.log_prob(states)

    def models(self) -> tuple[tuple[float, LogLinear]]:
        return ((1.0, self._model),)


def test_no_round_lowers_the_likelihood_of_what_was_observed() -> None:
    """Each candidate learned by maximum likelihood makes the observed cells at least as likely as the one before."""
    data, candidates = rows_of(2000, 0.35), []

    def learn(part: Empirical, basis: Basis, rng: np.random.Generator) -> Candidate:
        candidates.append(_Pairs(part))
        return candidates[-1]

    Completions(learn, rounds=40, gain=1e-9, smallest=2.0**-40).of(data, BASIS)
    found = [
        float(data.counts @ observed_log_prob(candidate, BASIS, data.states)) / data.total for candidate in candidates
    ]
    assert len(found) > 4
    assert np.all(np.diff(found) > -1e-12)
    assert found[-1] > found[0] + 1e-3
    assert found[-1] - found[-2] < 1e-8


def test_rows_are_completed_once_for_all_ways() -> None:
    """By the fast candidate alone; each candidate then learns from the same complete rows."""
    data, calls, given = rows_of(100, 0.3), [], []

    def fast(part: Empirical, basis: Basis, rng: np.random.Generator) -> Candidate:
        assert part.is_complete
        assert part.total == pytest.approx(data.total)
        calls.append(part)
        return draw_networks(part, basis, "all", rng, draws=0)

    def slow(part: Empirical, basis: Basis, rng: np.random.Generator) -> Candidate:
        given.append(part)
        return draw_networks(part, basis, "each", rng, draws=2)

    completions = Completions(fast)
    for _ in range(3):
        completing(slow, completions)(data, BASIS, np.random.default_rng(0))
    rounds = len(calls)
    assert 0 < rounds < 12
    assert given[0] is given[1] is given[2] is completions.of(data, BASIS)
    again = dataclasses.replace(data)
    assert completions.of(again, BASIS) is not given[0]
    assert len(calls) == 2 * rounds


def test_complete_rows_go_to_a_way_as_they_are() -> None:
    """The same networks, bit by bit, as without em around them."""
    data = rows_of(200, 0.0)
    learn = lambda d, b, r: draw_networks(d, b, "all", r, draws=4)  # noqa: E731
    candidates = (learn, completing(learn, Completions(learn)))
    plain, wrapped = (candidate(data, BASIS, np.random.default_rng(3)) for candidate in candidates)
    assert np.array_equal(plain.parents, wrapped.parents)
    assert np.array_equal(plain.log_prob(STATES), wrapped.log_prob(STATES))
    assert np.array_equal(observed_log_prob(plain, BASIS, STATES), plain.log_prob(STATES))


def test_the_best_network_is_where_the_walk_starts() -> None:
    """Without draws: one network, which no toggled arc makes likelier, as a log-linear model too."""
    data = rows_of(200, 0.0)
    best = draw_networks(data, BASIS, "all", np.random.default_rng(0), draws=0)
    assert best.parents.shape == (1, 4)
    ((share, model),) = best.models()
    assert share == 1.0
    assert np.allclose(model.log_prob(STATES), best.log_prob(STATES))


@pytest.mark.parametrize("dear", [0, 1 << 40])
def test_networks_say_of_rows_with_missing_values_what_their_completions_have(dear: int) -> None:
    """``log P(o) = log sum p(x)`` over the states that agree with o, asked for by themselves or in a table of all."""
    data = rows_of(150, 0.25)
    best = Completions(lambda d, b, r: draw_networks(d, b, "each", r, draws=0))
    learn = completing(lambda d, b, r: draw_networks(d, b, "each", r, draws=5), best)
    candidate = learn(data, BASIS, np.random.default_rng(0))
    assert isinstance(candidate, Networks)
    p = np.exp(candidate.log_prob(STATES))
    assert p.sum() == pytest.approx(1.0)
    wanted = [np.log(p[agreeing(row)].sum()) for row in data.states]
    assert np.allclose(observed_log_prob(candidate, BASIS, data.states, dear), wanted)


@pytest.mark.parametrize("limit", [1 << 22, 1])
def test_an_average_says_of_rows_with_missing_values_what_their_completions_have(limit: int) -> None:
    """By the table or by elimination, for one model and for an average with further models."""
    from fullspan.model import AveragedLogLinear

    average = AveragedLogLinear.of([a_model(0), a_model(1)], [(0.3, a_model(2))])
    rows = rows_of(40, 0.4).states
    for model in (a_model(3), average):
        p = np.exp(model.log_prob(STATES))
        wanted = [np.log(p[agreeing(row)].sum()) for row in rows]
        assert np.allclose(log_prob_of(model, rows, max_states=limit), wanted, atol=1e-12)


def test_a_fifth_is_predicted_by_the_others_alone() -> None:
    """What is completed, and completes, has the weight of the four fifths that are learned from."""
    data, given, used = rows_of(1000, 0.3), [], []

    def learn(part: Empirical, basis: Basis, rng: np.random.Generator) -> Candidate:
        used.append(part.total)
        return _Pairs(part)

    def incomplete(part: Empirical, basis: Basis, rng: np.random.Generator) -> Candidate:
        given.append(part.total)
        candidate = completing(learn, Completions(learn))(part, basis, rng)
        assert used == pytest.approx([part.total] * len(used))
        used.clear()
        return candidate

    rows, rng = OutOfBagRows(data).followed, np.random.default_rng(0)
    found = cross_validated(data, rows, in_folds(data, rows, rng), incomplete, BASIS, rng)
    assert np.isfinite(found).all()
    assert sum(given) == pytest.approx(4 * data.total)
    assert len(given) == 5


def test_with_all_rows_in_one_fifth_the_observed_cells_are_even() -> None:
    """Nothing is known without the only row: its observed cells, and no others, are as likely as any."""
    data = Empirical.from_codes([[1, -1, 0, -1]], space=Space.of_cards(CARDS), allow_missing=True)

    def never(part: Empirical, basis: Basis, rng: np.random.Generator) -> Candidate:
        raise AssertionError

    rows, rng = OutOfBagRows(data).followed, np.random.default_rng(0)
    found = cross_validated(data, rows, in_folds(data, rows, rng), never, BASIS, rng)
    assert found == pytest.approx([-np.log(CARDS[0] * CARDS[2])])


def test_shrunken_weights_are_at_the_maximum_of_the_observed_posterior() -> None:
    """``N (d - <Psi>) = alpha w`` with d of the rows completed by the model itself, row by row over all states."""
    data, contrasts = rows_of(400, 0.3), Contrasts(CARDS)
    found = shrink(contrasts, data, 3)
    table = np.stack([contrasts.function(row) for row in np.eye(48)])
    p, share = np.exp(contrasts.function(found.weights) - found.log_z), np.zeros(48)
    assert p.sum() == pytest.approx(1.0)
    for row, count in zip(data.states, data.counts, strict=True):
        share[agreeing(row)] += count / data.total * p[agreeing(row)] / p[agreeing(row)].sum()
    own = (contrasts.orders > 0) & (contrasts.orders <= 3)
    alpha = found.precision[contrasts.orders[own]]
    pull = data.total * (table @ (share - p))[own]
    assert np.abs((pull - alpha * found.weights[own]) / np.sqrt(alpha)).max() < 0.2
    naive = np.zeros(48)
    for row, count in zip(data.states, data.counts, strict=True):
        naive[agreeing(row)] += count / data.total / agreeing(row).sum()
    even = data.total * (table @ (naive - p))[own]
    assert np.abs((even - alpha * found.weights[own]) / np.sqrt(alpha)).max() > 2.0


def test_measures_of_a_shrunken_model_are_of_the_observed_cells() -> None:
    """Divergence and entropy add up to the mean surprise of what the rows say; standard errors are refused."""
    from fullspan.errors import FullspanError

    data = rows_of(200, 0.3)
    fitted = fit_shrunken(data, "indicator", 3)
    p = np.exp(fitted.model.log_prob(STATES))
    surprise = -sum(c * np.log(p[agreeing(r)].sum()) for r, c in zip(data.states, data.counts, strict=True))
    assert fitted.divergence + fitted.entropy == pytest.approx(surprise / data.total)
    assert fitted.total == data.total
    with pytest.raises(FullspanError, match=r"standard errors .* complete rows.*missing='drop'"):
        fit_shrunken(data, "indicator", 3, errors=True)


def gappy(n: int, seed: int = 0) -> list[list[object]]:
    """A table in which x3 is mostly x0 and x1, with missing values, and a row that says nothing."""
    rng = np.random.default_rng(seed)
    x = rng.integers(2, size=(n, 4))
    x[:, 3] = np.where(rng.random(n) < 0.9, x[:, 0] & x[:, 1], x[:, 3])
    holes = rng.random(x.shape) < 0.15
    table = [[None if hole else int(v) for v, hole in zip(*row, strict=True)] for row in zip(x, holes, strict=True)]
    return [*table, [None] * 4]


@pytest.mark.parametrize("average", [1, 4])
def test_a_stack_of_rows_with_missing_values(average: int, tmp_path: Path) -> None:
    """Shares sum to 1, the file keeps it, and rows with missing values have the sum over all their completions."""
    rows = gappy(200)
    model = fs.FullSpan(average=average, shrinkage="evidence", missing="em", random_state=0).fit(rows)
    every = np.array(list(np.ndindex(2, 2, 2, 2)))
    p = np.exp(model.score_samples(every))
    assert p.sum() == pytest.approx(1.0)
    if average > 1:
        shares = model.fitted_.settings["shares"]
        assert set(shares) >= {"fits", "networks", "shrunken"}
        assert sum(shares.values()) == pytest.approx(1.0)
        assert model.model_.share == pytest.approx(1 - shares["fits"])
    assert 0 < model.model_.share < 1
    assert np.exp(model.score_samples([[1, None, 1, 0]])[0]) == pytest.approx(
        p[(every[:, [0, 2, 3]] == [1, 1, 0]).all(axis=1)].sum()
    )
    path = tmp_path / "stack.fsm"
    model.save(path)
    assert np.allclose(np.exp(fs.load(path).score_samples(every)), p, rtol=1e-12)
    assert model.probability("x3=1 | x0=1, x1=1") > 0.8
    known = [row for row in rows if any(cell is not None for cell in row)]
    surprise = model.divergence_ + model.fitted_.entropy
    assert surprise == pytest.approx(-np.mean(model.score_samples(known)), abs=1e-9)


def test_ctrl_c_while_candidates_are_learned_keeps_the_fits() -> None:
    """An average of rows with missing values that is stopped while the shrunken model is fitted is that of the fits."""

    def stop(step) -> None:  # type: ignore[no-untyped-def]
        if step.move == "shrink":
            raise KeyboardInterrupt

    found = shrunken_search(rows_of(150, 0.2), Options(), 3, 0, stop)
    assert found.status == "interrupted"
    assert len(found.model.members) == 3  # type: ignore[attr-defined]
    assert found.model.share == 0.0  # type: ignore[attr-defined]


def test_ctrl_c_elsewhere_ends_the_shrunken_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not fitted to the end when someone stops while other candidates are learned: one step, and no more."""
    began, steps = threading.Event(), []

    def stopped(data: Empirical, basis: Basis, spread: Spread, *given: Any) -> Candidate:
        if spread == "all":
            began.wait(timeout=5)
            raise KeyboardInterrupt
        return draw_networks(data, basis, spread, *given)

    def watch(step: Any) -> None:
        if step.move == "shrink":
            steps.append(step)
            began.set()
            time.sleep(0.3)

    monkeypatch.setattr("fullspan.learn.ensemble.policy.draw_networks", stopped)
    found = shrunken_search(rows_of(150, 0.0), Options(), 4, 0, watch)
    assert found.status == "interrupted"
    assert len(steps) <= 1


def test_wide_tables_with_missing_values_have_the_fits_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the states that are summed over no candidate is stacked with the fits."""
    monkeypatch.setattr("fullspan.learn.ensemble.averages.MAX_STATES", 40)
    found = averaged_search(rows_of(100, 0.2), Options(), k=4, random_state=0)
    assert "shares" not in found.settings
    assert found.model.share == 0.0  # type: ignore[attr-defined]
