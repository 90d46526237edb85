"""``fullspan fit --check``: how far a model is from the best predictor, on rows that neither has seen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import fullspan as fs
from cli.running import Done
from fullspan.data import Empirical
from fullspan.data.tables import held_out
from fullspan.errors import FullspanError
from fullspan.estimators.jobs import SHARE, Check, check, checking

Run = Callable[..., Done]


def rows(n: int = 400) -> np.ndarray:
    """Three columns whose parity is mostly even: a tree of pairs sees nothing of it."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(2, size=(2, n))
    return np.column_stack([a, b, np.where(rng.random(n) < 0.9, a ^ b, 1 - (a ^ b))])


@pytest.fixture(autouse=True, scope="module")
def few_fits() -> Iterator[None]:
    """An average of few fits says as much here as one of many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checking, "AVERAGE", 2)
        yield


@pytest.fixture(scope="module")
def behind() -> Check:
    """A tree of pairs, which the best predictor beats."""
    return check(fs.ChowLiuTree(), rows())


def test_both_learn_from_the_same_rows_and_are_scored_on_the_others(behind: Check) -> None:
    """The numbers are those of a split, a fit and a score by hand."""
    train, rest = held_out(Empirical.from_codes(rows()), SHARE, np.random.default_rng(0))
    assert rest is not None
    own = fs.ChowLiuTree().fit(np.repeat(train.states, train.counts.astype(int), axis=0))
    log = own.score_samples(np.repeat(rest.states, rest.counts.astype(int), axis=0))
    assert behind.n_rows == rest.total == len(log)
    assert behind.log_likelihood == pytest.approx(log.mean(), rel=1e-9)
    assert behind.behind == pytest.approx(behind.best - behind.log_likelihood)


def test_a_model_that_is_behind_is_told_how_to_get_the_better_one(behind: Check) -> None:
    assert behind.is_behind
    assert behind.behind == pytest.approx(np.log(2) + 0.9 * np.log(0.9) + 0.1 * np.log(0.1), abs=0.15)
    assert behind.lines("COMMAND")[1] == "to predict rather than to read: COMMAND"
    level = Check(-1.0, -0.99, 0.01, 0.02, 100.0)
    assert level.lines("COMMAND")[1:] == ["no more than chance apart: this model predicts as well"]


def test_the_command_prints_and_stores_it(run: Run, tmp_path: Path, behind: Check) -> None:
    """In words with the command that fits the best predictor, and as JSON."""
    path, model = tmp_path / "t.csv", tmp_path / "m.fsm"
    np.savetxt(path, rows(), fmt="%d", delimiter=",", header="a,b,c", comments="")
    done = run("fit", path, "-o", model, "--model", "chow-liu", "--check")
    assert f"on {behind.n_rows:.0f} held-out rows" in done.out
    assert f"fullspan fit {path} -o {tmp_path / 'm-best.fsm'} --average 2" in done.out
    found = json.loads(run("fit", path, "-o", model, "--model", "chow-liu", "--check", "--json").out)["check"]
    assert found["behind"] == pytest.approx(behind.behind, abs=1e-6)


def test_what_cannot_be_checked_says_so() -> None:
    with pytest.raises(FullspanError, match="2 rows are too few"):
        check(fs.ChowLiuTree(), rows()[:2])
    with pytest.raises(FullspanError, match="does not learn from counted rows"):
        check(fs.RestrictedBoltzmannMachine(), rows())
