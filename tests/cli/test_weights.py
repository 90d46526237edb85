"""``--weights COLUMN``: weights of rows on the command line; and ``convert -o``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import fullspan as fs
from cli.running import Done

Run = Callable[..., Done]
ROWS = [("y", "y", "1.5"), ("n", "n", "2.5"), ("y", "n", "0.5"), ("n", "y", "0"), ("n", "n", "0.25"), ("y", "y", "1")]


def _table(path: Path, rows: list[tuple[str, ...]]) -> Path:
    path.write_text("\n".join(map(",".join, [("a", "b", "w"), *rows])) + "\n")
    return path


@pytest.mark.parametrize("model", ["full-span", "boltzmann", "chow-liu", "restricted"])
def test_weights_count_and_are_recorded(run: Run, tmp_path: Path, model: str) -> None:
    """The total is the sum of the weights, the column is no variable, and the file says where weights came from."""
    data, out = _table(tmp_path / "t.csv", ROWS * 10), tmp_path / "m.fsm"
    layered = ("--hidden", 2, "--epochs", 2) if model == "restricted" else ()
    assert run("fit", data, "-o", out, "--weights", "w", "--model", model, "-q", *layered).code == 0
    loaded = fs.load(out)
    assert loaded.fitted_.settings["weights"] == "w"
    assert loaded.space_.names[:2] == ("a", "b")
    assert "w" not in loaded.space_.names
    if model != "restricted":
        assert json.loads(run("show", out, "--json").out)["total"] == pytest.approx(57.5)
    assert run("score", out, data).code == 0


def test_scores_are_weighted_means(run: Run, tmp_path: Path) -> None:
    data, out = _table(tmp_path / "t.csv", ROWS), tmp_path / "m.fsm"
    assert run("fit", data, "-o", out, "--weights", "w", "--model", "boltzmann", "--l2", "0.01", "-q").code == 0
    each = run("score", out, data, "--per-row").out.splitlines()[1:]
    weights = [float(row[2]) for row in ROWS]
    expected = sum(w * float(x) for w, x in zip(weights, each, strict=True)) / sum(weights)
    for given in (("--weights", "w"), ()):  # the model's own column is the default
        found = json.loads(run("score", out, data, "--json", *given).out)
        assert found["mean_log_prob"] == pytest.approx(expected, rel=1e-9)
    plain = _table(tmp_path / "plain.csv", ROWS)
    plain.write_text(plain.read_text().replace(",w\n", ",v\n", 1))
    other = json.loads(run("score", out, plain, "--json").out)["mean_log_prob"]
    assert other == pytest.approx(sum(map(float, each)) / len(each), rel=1e-9)
    compared = json.loads(run("compare", out, "--data", data, "--weights", "w", "--no-baselines", "--json").out)
    assert compared["models"][0]["log_likelihood"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("bad", ["-1", "nan", "inf"])
def test_bad_weights_are_refused_with_their_row(run: Run, tmp_path: Path, bad: str) -> None:
    data = _table(tmp_path / "t.csv", [*ROWS[:2], ("y", "n", bad), *ROWS[3:]])
    done = run("fit", data, "-o", tmp_path / "m.fsm", "--weights", "w")
    assert done.code == 2
    assert "'w' holds" in done.err
    assert "row 3" in done.err
    assert not (tmp_path / "m.fsm").exists()


def test_wrong_uses_of_weights(run: Run, tmp_path: Path) -> None:
    data, out = _table(tmp_path / "t.csv", ROWS), tmp_path / "m.fsm"
    for options, message in (
        (("--weights", "w", "--count-column", "w"), "give one"),
        (("--weights", "W"), "did you mean 'w'"),
        (("--weights", "a"), "'a' holds 'y' in row 1"),
        (("--weights", "w", "--columns", "a,w"), "cannot be a variable"),
    ):
        done = run("fit", data, "-o", out, *options)
        assert done.code == 2, options
        assert message in done.err
    assert run("fit", data, "-o", out, "--weights", "w", "--model", "chow-liu", "-q").code == 0
    done = run("score", out, data, "--per-row", "--weights", "w")
    assert done.code == 2
    assert "--weights is for the mean" in done.err


def test_convert_takes_its_target_either_way(run: Run, votes_model: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.uai", tmp_path / "two.uai"
    assert run("convert", votes_model, "-o", one).code == 0
    assert run("convert", votes_model, two).code == 0
    assert one.read_bytes() == two.read_bytes()
    for arguments, message in (((two, "-o", one), "given twice"), ((), "give the file to write: -o FILE")):
        done = run("convert", votes_model, *arguments)
        assert done.code == 2
        assert message in done.err
