"""What cells mean on the command line: --na, --unknown, and what is said about them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.running import Done

Run = Callable[..., Done]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("pain,sex\n" + "None,m\nangina,f\nother,\nangina,m\n" * 10)
    return path


def test_fit_says_what_it_reads_as_missing(run: Run, table: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.fsm"
    for kind in ("chow-liu", "boltzmann"):
        done = run("fit", table, "-o", model, "--model", kind, "--missing", "em")
        assert done.code == 0
        assert "read as missing: 10 cells 'None' in pain, 10 empty cells in sex\n" in done.err
        assert "fullspan: 10 of 40 cells of 'pain' are 'None' and are read as missing" in done.err
        assert "--na" in done.err
        quiet = run("fit", table, "-o", model, "--model", kind, "--missing", "em", "--quiet")
        assert quiet == Done(0, "", "")
    refused = run("fit", table, "-o", model)
    assert refused.code == 2
    assert "10 cells 'None' in pain, 10 empty cells in sex" in refused.err
    assert "--na says which texts mean a missing cell" in refused.err


def test_na_replaces_the_usual_texts_and_stays_with_the_model(run: Run, table: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.fsm"
    done = run("fit", table, "-o", model, "--model", "chow-liu", "--missing", "em", "--na", "")
    assert "read as missing: 10 empty cells in sex\n" in done.err
    shown = json.loads(run("show", model, "--json").out)
    assert shown["variables"][0] == {
        "name": "pain", "levels": ["None", "angina", "other"], "edges": None, "ordered": False,
    }  # fmt: skip
    run("fit", table, "-o", model, "--model", "chow-liu", "--missing", "em", "--na", "None", "--na", "other")
    test = tmp_path / "test.csv"
    test.write_text("pain,sex\nother,m\nNA,f\n")
    refused = run("score", model, test)
    assert refused.code == 2
    assert "'NA' in 1 row" in refused.err
    assert "--unknown missing" in refused.err
    for how in (("--unknown", "missing"), ("--na", "other", "--na", "NA", "--na", "None")):
        done = run("score", model, test, "--per-row", *how)
        assert done.code == 0
        rows = [float(x) for x in done.out.split()[1:]]
        mean = json.loads(run("score", model, test, "--json", *how).out)["mean_log_prob"]
        assert mean == pytest.approx(sum(rows) / 2)
        assert run("impute", model, test, "-o", tmp_path / "out.csv", *how).code == 0
        assert (tmp_path / "out.csv").read_text().splitlines()[1:] == ["angina,m", "angina,f"]
        assert run("compare", model, "--data", test, "--train", table, *how).code == 0


def test_a_column_of_counts_is_said_as_an_option(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,n\nu,x,12\nu,y,5\nv,x,7\nv,y,5\n")
    done = run("fit", path, "-o", tmp_path / "m.fsm", "--model", "chow-liu")
    assert "fullspan: 'n' looks like the count of each row" in done.err
    assert "--count-column n reads it as counts" in done.err
