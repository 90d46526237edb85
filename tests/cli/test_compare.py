"""``fullspan compare`` as a person runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from cli.running import VOTES, Done


def test_a_model_and_the_baselines_side_by_side(run: Callable[..., Done], votes_model: Path) -> None:
    """One line for each, best first; missing votes are summed out; infinite or unknown numbers are null in JSON."""
    done = run("compare", votes_model, "--data", VOTES)
    assert done.code == 0, done.err
    assert all(name in done.out for name in ("votes", "Chow–Liu tree", "independent", "saturated, smoothed"))
    report = json.loads(run("compare", votes_model, "--data", VOTES, "--train", VOTES, "--json").out)
    scores = [row["log_likelihood"] for row in report["models"]]
    assert report["n_rows"] == 435
    assert scores == sorted(scores, reverse=True)
    assert all(row["calibration_error"] < 0.1 for row in report["models"])


def test_a_model_given_twice_is_refused(run: Callable[..., Done], votes_model: Path) -> None:
    done = run("compare", votes_model, votes_model, "--data", VOTES)
    assert done.code == 2
    assert "twice" in done.err
