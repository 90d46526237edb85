"""``fullspan compare`` as a person runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.running import VOTES, Done
from fullspan.estimators.compare import HEADINGS
from fullspan.people.cli.commands.compare import blocks
from fullspan.people.cli.running import summary


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


def test_the_table_learned_from_is_called_training_rows(
    run: Callable[..., Done], votes_model: Path, tmp_path: Path
) -> None:
    """Also part of it, its columns the other way round; of incomplete rows nothing was learned; time is of the fit."""
    header, *rows = (line.split(",") for line in VOTES.read_text().splitlines())
    complete = [row for row in rows if "?" not in row]
    half = tmp_path / "half.csv"
    for own in (complete[:150], rows[:200]):
        half.write_text("\n".join(",".join(reversed(line)) for line in (header, *own)) + "\n")
        done = run("compare", votes_model, "--data", half)
        share = sum("?" not in row for row in own) / len(own)
        words = "these are training rows" if share == 1 else f"about {share:.0%} of these rows are training rows"
        assert f"votes: {words}" in done.out
        assert "held-out rows" not in done.out
    shown = json.loads(run("show", votes_model, "--json").out)
    row = next(
        r
        for r in json.loads(run("compare", votes_model, "--data", VOTES, "--json").out)["models"]
        if r["name"] == "votes"
    )
    assert row["fit_seconds"] == shown["fit_seconds"] > 0
    assert row["training_share"] == pytest.approx(len(complete) / len(rows))


NAMES = ["votes", "a-model-with-a-name-of-some-length", "x" * 60, *(f"model-{k}" for k in range(12))]


@pytest.mark.parametrize("width", [80, 100, 200])
def test_names_are_whole_and_lines_fit_at_every_width(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every part of the table has every name, every number is shown once, and no line is wider than the terminal."""
    monkeypatch.setattr(summary, "FILE_WIDTH", width)
    rows = [(name, *(f"{-k}.{j:04d}1234" for j in range(1, len(HEADINGS)))) for k, name in enumerate(NAMES, 1)]
    parts = list(blocks(HEADINGS, rows, width))
    for headings, part in parts:
        summary.print_rows(headings, part)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    assert all(sum(line.split()[0] == name for line in out.splitlines() if line) == len(parts) for name in NAMES)
    for row in rows:
        assert all(out.count(f" {number}") == 1 for number in row[1:])
    assert [h for headings, _ in parts for h in headings[1:]] == list(HEADINGS[1:])
