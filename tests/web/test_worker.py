"""Workers: right answers, files that change, questions that take too long, workers that die."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from fullspan.errors import FullspanError
from fullspan.people.web import Pool
from fullspan.processes import TookTooLong


@pytest.fixture(scope="module")
def served(paths: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Pool, Path]]:
    path = tmp_path_factory.mktemp("served") / "model.fsm"
    shutil.copy(paths["one"], path)
    pool = Pool({"model": path}, size=1, seconds=5.0)
    pool.ready()
    yield pool, path
    pool.close()


def test_errors_are_told_and_leave_the_worker_alive(served: tuple[Pool, Path]) -> None:
    pool, _ = served
    with pytest.raises(FullspanError, match="no variable 'nobody'"):
        pool.ask("model", "ask", {"text": "P(nobody=1)", "given": {}})
    assert 0 < pool.ask("model", "ask", {"text": "P(rain=yes)", "given": {}})["probability"] < 1


def test_a_file_that_changes_is_read_again_and_a_broken_one_is_told(
    served: tuple[Pool, Path], paths: dict[str, Path]
) -> None:
    """The new model answers at once; a damaged file leaves the last model, and the answer says so."""
    pool, path = served
    before = pool.ask("model", "summary", {})
    shutil.copy(paths["two"], path)
    after = pool.ask("model", "summary", {})
    assert (before["kind"], after["kind"]) == ("BoltzmannMachine", "ChowLiuTree")
    assert before["version"] != after["version"]
    assert after["stale"] is None
    path.write_text("nonsense")
    broken = pool.ask("model", "summary", {})
    assert broken["kind"] == "ChowLiuTree"
    assert "cannot be read" in broken["stale"]
    path.unlink()
    assert pool.ask("model", "summary", {})["stale"] is not None
    shutil.copy(paths["one"], path)
    assert pool.ask("model", "summary", {})["kind"] == "BoltzmannMachine"


def test_a_question_that_takes_too_long_is_stopped_and_the_next_is_answered(served: tuple[Pool, Path]) -> None:
    """Its worker is killed; another takes its place. So too if a worker dies."""
    pool, _ = served
    pool.seconds = 1e-6
    with pytest.raises(TookTooLong, match="was stopped"):
        pool.ask("model", "sample", {"n": 1000, "seed": 0, "given": {}})
    pool.seconds = 30.0
    assert len(pool.ask("model", "sample", {"n": 7, "seed": 0, "given": {}})["rows"]) == 7
    os.kill(pool._all[0].pid or 0, signal.SIGKILL)
    try:
        answer = pool.ask("model", "summary", {})
    except TookTooLong:  # the question was sent before the process had ended
        answer = pool.ask("model", "summary", {})
    assert answer["n_variables"] == 3


def test_a_model_that_cannot_be_opened_is_told_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "bad.fsm").write_text("{}")
    pool = Pool({"bad": tmp_path / "bad.fsm"}, size=1)
    with pytest.raises(FullspanError, match=r"bad\.fsm"):
        pool.ready()
    pool.close()
