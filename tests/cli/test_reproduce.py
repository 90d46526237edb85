"""``fullspan reproduce``: options reach the experiment that has them, figures are written into a folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.running import Done

Run = Callable[..., Done]


def test_a_figure_is_written_and_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("reproduce", "byrne-fig4", "--runs", 1, "--iterations", 2)
    assert done.code == 0
    assert "written: byrne-fig4/byrne-fig4.svg, byrne-fig4/byrne-fig4.csv" in done.out
    assert "<svg" in (tmp_path / "byrne-fig4" / "byrne-fig4.svg").read_text()
    assert len((tmp_path / "byrne-fig4" / "byrne-fig4.csv").read_text().splitlines()) == 1 + 2 * 3


def test_without_matplotlib_the_numbers_are_written(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullspan.papers.plots.can_draw", lambda: False)
    done = run("reproduce", "byrne-fig4", "--runs", 1, "--iterations", 2, "--out", tmp_path / "f")
    assert done.code == 0
    assert "not installed: pip install 'fullspan[plots]'. Only the numbers are written." in done.err
    assert [path.name for path in (tmp_path / "f").iterdir()] == ["byrne-fig4.csv"]


def test_options_reach_the_experiment(run: Run, tmp_path: Path) -> None:
    done = run(
        "reproduce", "byrne-fig5", "--runs", 2, "--iterations", 3, "--seed", 9, "--out", tmp_path / "a", "--json"
    )
    value = json.loads(done.out)
    assert value["families"][0]["iterations"] == [0, 1, 3]
    assert len(value["families"][0]["rises"]) == 2
    assert value["files"] == [str(tmp_path / "a" / f"byrne-fig5.{kind}") for kind in ("svg", "csv")]


def test_a_table_is_printed(run: Run) -> None:
    assert "3/20" in run("reproduce", "basket").out
    assert json.loads(run("reproduce", "basket", "--json").out)["rows"][1]["limit_as_fraction"] == "3/8"


def test_options_of_other_experiments_are_refused(run: Run, tmp_path: Path) -> None:
    done = run("reproduce", "basket", "--runs", 3)
    assert done.code != 0
    assert "basket has no option runs" in done.err
    done = run("reproduce", "basket", "--out", tmp_path)
    assert done.code != 0
    assert "writes no files" in done.err
    (tmp_path / "taken").write_text("")
    done = run("reproduce", "byrne-fig4", "--runs", 1, "--iterations", 1, "--out", tmp_path / "taken")
    assert done.code != 0
    assert "is a file; give a folder" in done.err


def test_data_that_are_not_there_are_asked_for(run: Run, tmp_path: Path) -> None:
    for more in ((), ("--data", tmp_path)):
        done = run("reproduce", "tbm-fig1", "--out", tmp_path / "f", *more)
        assert done.code == 2
        assert "give --data FOLDER with mnist10k_bin.npz" in done.err


def test_the_list_names_all(run: Run) -> None:
    listed = json.loads(run("reproduce", "--list", "--json").out)
    figures = ["byrne-fig4", "byrne-fig5", "rueger", "tbm-fig1", "tbm-fig2", "tbm-fig3", "tbm-spikes", "rbm-digits"]
    assert [e["name"] for e in listed] == ["fsll-table1", "basket", *figures]
    assert "byrne-fig5" in run("reproduce", "--list").out
