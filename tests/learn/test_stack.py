"""Models of different kinds, stacked by rows held out, where the table of all states would be too large."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fullspan as fs
from fullspan.data import Empirical
from fullspan.errors import ConvergenceWarning, FullspanError, QueryError
from fullspan.estimators.explain import summary_lines
from fullspan.learn.ensemble import StackOptions, stacked_wide, wide
from fullspan.learn.ensemble.wide import SEARCH
from fullspan.learn.ensemble.wide_candidates import candidates_of
from fullspan.model import Mixture


def rows(n_rows: int, seed: int, n: int = 70) -> NDArray[np.int64]:
    """Columns that follow their neighbour four times in five, in one of two classes of rows the other way round."""
    rng = np.random.default_rng(seed)
    found = rng.integers(2, size=(n_rows, n))
    turned = rng.random(n_rows) < 0.5
    for i in range(1, n):
        follows = rng.random(n_rows) < 0.8
        found[follows, i] = found[follows, i - 1] ^ (turned[follows] & (i % 2 == 0))
    return found


@pytest.fixture(scope="module")
def stack() -> fs.FullSpan:
    """Seventy columns: terms have places beyond 64 bits."""
    model = fs.FullSpan(average=2, max_width=2, max_seconds=None, random_state=1)
    return model.fit(rows(400, 0), validation=rows(200, 1))


def test_the_stack_is_the_weighted_sum_of_its_parts(stack: fs.FullSpan) -> None:
    asked, model = rows(20, 2), stack.model_
    parts = [*model.parts, *((share, part) for share, part in model.others)]
    assert sum(share for share, _ in parts) == pytest.approx(1)
    p = sum(share * np.exp(part.log_prob(asked) if part.kind == "log-linear" else part.log_weight(asked))
            for share, part in parts)  # fmt: skip
    np.testing.assert_allclose(stack.score_samples(asked), np.log(p), rtol=1e-10)
    assert set(stack.fitted_.settings["shares"]) >= {SEARCH, "mixture", "hidden tree"}


def test_it_is_not_behind_its_best_member_on_the_rows_held_out(stack: fs.FullSpan) -> None:
    """The shares make these rows likeliest; a history of minus their mean log-likelihood is kept."""
    assert len(stack.history_) == 6
    best = max(-step.cost for step in stack.history_)
    assert stack.oob_score_ is not None
    assert stack.oob_score_ >= best - 0.005
    assert stack.oob_score_ == pytest.approx(stack.score(rows(200, 1)), abs=1e-9)


def test_questions_are_answered_by_sums_in_each_part(stack: fs.FullSpan) -> None:
    """P(a | b) = P(a, b) / P(b); a row with missing cells is summed over; the likeliest state is refused."""
    both, given = stack.probability("x3=1, x40=0"), stack.probability("x40=0")
    assert stack.probability("x3=1 | x40=0") == pytest.approx(both / given, rel=1e-9)
    row = np.full((1, 70), -1)
    row[0, 3], row[0, 40] = 1, 0
    assert float(stack.distribution_.log_prob(row)[0]) == pytest.approx(np.log(both), rel=1e-9)
    drawn = stack.sample(500, random_state=0)
    assert np.mean(np.asarray(drawn)[:, 40] == 0) == pytest.approx(given, abs=0.1)
    with pytest.raises(QueryError, match="mixture"):
        stack.mode()
    assert any("stack of models" in line for line in summary_lines(stack.fitted_))


def test_it_survives_its_file(stack: fs.FullSpan, tmp_path: Path) -> None:
    stack.save(tmp_path / "stack.fsm")
    asked = rows(20, 2)
    again = fs.load(tmp_path / "stack.fsm")
    np.testing.assert_allclose(again.score_samples(asked), stack.score_samples(asked), rtol=1e-12)
    assert [part.kind for _, part in again.model_.others] == [part.kind for _, part in stack.model_.others]


def test_a_person_stops_it_and_what_was_learned_is_stacked() -> None:
    data = Empirical.from_codes(rows(200, 3, 24))

    def watch(step: Any) -> None:
        if "mixture" in step.words and step.n_terms == 8:
            raise KeyboardInterrupt

    found = stacked_wide(data, StackOptions(size=4, seed=0), watch=watch)
    assert found.status == "interrupted"
    assert list(found.settings["shares"])[:2] == [SEARCH, "latent variable, trees"]
    assert "hidden tree" not in found.settings["shares"]


def test_the_time_is_a_limit() -> None:
    model = fs.FullSpan(average=4, engine="elimination", max_seconds=1e-3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        model.fit(rows(200, 3, 24))
    assert model.status_ == "time limit"
    with pytest.raises(FullspanError, match="max_seconds"):
        StackOptions(max_seconds=0)


def test_what_added_most_is_learned_again_in_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks alone: others of bootstrap samples follow until the last one adds nothing, long before the limit."""

    def networks(options: StackOptions, *, complete: bool) -> list[Any]:
        return [one for one in candidates_of(options, complete=complete) if one.name == "networks"]

    monkeypatch.setattr(wide, "candidates_of", networks)
    found = stacked_wide(Empirical.from_codes(rows(300, 5, 24)), StackOptions(size=2, max_seconds=300.0, seed=0))
    names = list(found.settings["shares"])
    assert names[:3] == [SEARCH, "networks", "networks, 2"]
    assert found.status == "converged"
    assert found.out_of_bag is not None
    assert found.out_of_bag.score >= max(-step.cost for step in found.history) - 0.005


def test_one_that_takes_too_long_does_not_keep_others_from_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first candidate uses up the first half of the time; the second still has at least half of its part."""
    given: list[float] = []

    def networks(options: StackOptions, *, complete: bool) -> list[Any]:
        one = next(c for c in candidates_of(options, complete=complete) if c.name == "networks")

        def slow(train: Any, valid: Any, seconds: float, *rest: Any) -> Any:
            given.append(seconds)
            if len(given) == 1:
                time.sleep(0.6 * 20)
            return one.learn(train, valid, seconds, *rest)

        return [replace(one, name=name, learn=slow, learn_again=slow) for name in ("first", "second")]

    monkeypatch.setattr(wide, "candidates_of", networks)
    data = Empirical.from_codes(rows(100, 6, 12))
    found = stacked_wide(data, StackOptions(size=1, max_seconds=20.0, seed=0))
    assert list(found.settings["shares"]) == [SEARCH, "first", "second"]
    assert given[1] == pytest.approx(given[0] / 2)


def test_rows_with_missing_cells_are_summed_over() -> None:
    data = rows(200, 4, 12).astype(object)
    data[::3, 2] = None
    model = fs.FullSpan(average=2, engine="elimination", missing="em", max_seconds=None, random_state=0).fit(data)
    p = np.exp(model.score_samples(np.array(list(np.ndindex(*(2,) * 12)))))
    assert p.sum() == pytest.approx(1, abs=1e-6)
    assert isinstance(model.distribution_.model, Mixture)


def test_rows_for_the_shares_are_refused_where_there_are_none() -> None:
    with pytest.raises(FullspanError, match="validation= has no effect"):
        fs.FullSpan().fit(rows(50, 0, 4), validation=rows(50, 1, 4))
