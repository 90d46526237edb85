"""``fullspan synth --epsilon``: what is written, what is said, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullspan.people.cli import main


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = [
        "sex,smokes",
        *(f"{a},{b}" for a, b in zip(rng.choice(["f", "m"], 300), rng.choice(["n", "y"], 300), strict=True)),
    ]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(rows) + "\n")
    (tmp_path / "schema.json").write_text(json.dumps({"sex": ["f", "m"], "smokes": ["n", "y"]}))
    return path


def test_a_private_table_is_written_and_its_promise_said(table: Path, capsys: Any) -> None:
    out = table.parent / "out.csv"
    schema = str(table.parent / "schema.json")
    code = main(["synth", str(table), "--epsilon", "1", "--schema", schema, "-n", "50", "--seed", "1", "-o", str(out)])
    said = capsys.readouterr().err
    lines = out.read_text().splitlines()
    assert code in (0, None)
    assert lines[0] == "sex,smokes"
    assert len(lines) == 51
    assert "(1, 1e-09)-differentially private for tables that differ by one row added or removed" in said
    assert "anyone who knows the seed can remove it" in said


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--epsilon", "0"], "epsilon is 0"),
        (["--epsilon", "1", "--report"], "--report measures the rows"),
        (["--bounded"], "give --epsilon too"),
        (["--delta", "1e-6"], "give --epsilon too"),
        (["--epsilon", "1", "--bins", "4"], "--bins cuts at values of the rows"),
        (["--json"], "give --report too"),
        (["--epsilon", "1", "--schema", "missing.json"], "not a schema"),
    ],
)
def test_what_is_no_budget_or_schema_is_refused_and_nothing_written(
    table: Path, capsys: Any, more: list[str], words: str
) -> None:
    out = table.parent / "out.csv"
    with_exit: Any = None
    try:
        with_exit = main(["synth", str(table), "-o", str(out), *more])
    except SystemExit as stopped:
        with_exit = stopped.code
    assert with_exit == 2
    assert words in " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert not out.exists()


def test_fit_privately_writes_a_model_and_says_what_it_promises(table: Path, capsys: Any) -> None:
    out, schema = table.parent / "m.fsm", str(table.parent / "schema.json")
    assert main(["fit", str(table), "--private", "1,1e-6", "--levels", schema, "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "from noisy counts alone, (1, 1e-06)-differentially private" in said
    assert "fitted in" not in said
    assert main(["query", str(out), "P(sex=f)"]) == 0
    assert main(["show", str(out)]) == 0
    assert "about " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--private", "one"], "--private is 'one'; give epsilon"),
        (["--private", "0"], "epsilon is 0"),
        (["--private", "1", "--check"], "--check measures the rows"),
        (["--private", "1", "--average", "4"], "average is 4"),
        (["--private", "1", "--weights", "sex"], "every row counts once"),
    ],
)
def test_a_private_fit_that_cannot_be_leaves_no_file(table: Path, capsys: Any, more: list[str], words: str) -> None:
    out = table.parent / "m.fsm"
    assert main(["fit", str(table), "-o", str(out), *more]) == 2
    said = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert words in said
    assert not out.exists()
