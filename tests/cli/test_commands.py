"""Every command once as a process of its own, on the bundled votes."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cli.running import COMMAND, VOTES, Done, spawn
from fullspan.data import count, encode
from fullspan.estimators.registry import read_fitted as load
from fullspan.people.cli.app import app

Run = Callable[..., Done]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


# -- show -----------------------------------------------------------------------------------------------------


def test_show_lists_the_strongest_terms(votes_model: Path) -> None:
    done = spawn("show", votes_model, "--top", "3")
    assert done.code == 0
    assert "party: democrat, republican" in done.out
    fitted = load(votes_model)
    assert f"... and {len(fitted.interactions) - 3} more\n" in done.out
    terms = spawn("show", votes_model, "--top", "3", "--terms")
    assert terms.out.endswith(f"... and {len(fitted.model.terms) - 3} more\n")


def test_show_as_json_holds_every_term(run: Run, votes_model: Path) -> None:
    shown = json.loads(run("show", votes_model, "--top", "0", "--json").out)
    fitted = load(votes_model)
    assert sorted(t["weight"] for t in shown["terms"]) == sorted(fitted.model.theta.tolist())
    assert [v["name"] for v in shown["variables"]] == list(fitted.model.space.names)
    savings = [t["nats_saved"] for t in shown["terms"]]
    assert savings == sorted(savings, reverse=True)


# -- query ----------------------------------------------------------------------------------------------------


def test_queries_are_answered_in_order(votes_model: Path) -> None:
    done = spawn("query", votes_model, "P(party=democrat | crime=n)", "party | crime=n")
    assert done.code == 0
    first, second, *table = done.out.splitlines()
    match = re.fullmatch(r"P\(party=democrat \| crime=n\) = (0\.\d+)", first)
    assert match is not None
    assert second == "P(party | crime=n):"
    assert any(line.split()[:1] == ["democrat"] and line.endswith(match[1]) for line in table)


def test_query_as_json(run: Run, votes_model: Path) -> None:
    done = run("query", votes_model, "P(party=democrat | crime=n)", "P(party, crime)", "--json")
    number, table = json.loads(done.out)
    assert 0 < number["probability"] < 1
    assert table["variables"] == ["party", "crime"]
    assert math.isclose(sum(row["probability"] for row in table["distribution"]), 1)
    assert table["distribution"][0]["state"] == {"party": "democrat", "crime": "n"}


@pytest.mark.parametrize(
    ("question", "message", "caret"),
    [
        ("P(party=democrat | crim=n)", "did you mean 'crime'", 19),
        ("P(party=whig)", "has no level 'whig'", 8),
        ("P(party=democrat", None, None),
        ("", None, None),
    ],
)
def test_a_wrong_question_points_at_the_place(
    run: Run, votes_model: Path, question: str, message: str | None, caret: int | None
) -> None:
    done = run("query", votes_model, question)
    assert done.code == 2
    assert "Traceback" not in done.err
    if message is not None and caret is not None:
        assert message in done.err
        *_, shown, mark = done.err.splitlines()
        assert shown.strip() == question
        assert mark.index("^") - shown.index(question) == caret


# -- sample ---------------------------------------------------------------------------------------------------


def test_samples_are_reproducible_and_obey_what_is_given(votes_model: Path) -> None:
    arguments = ("sample", votes_model, "-n", 50, "--seed", 3, "--given", "crime=y, education=n")
    first, second = spawn(*arguments), spawn(*arguments)
    assert first.code == 0
    assert first.out == second.out
    drawn = rows(first.out)
    assert len(drawn) == 50
    assert {(row["crime"], row["education"]) for row in drawn} == {("y", "n")}
    assert len({row["party"] for row in drawn}) == 2


def test_samples_go_to_files_and_json_lines(run: Run, votes_model: Path, tmp_path: Path) -> None:
    printed = run("sample", votes_model, "-n", 5, "--seed", 1, "--json").out.splitlines()
    written = run("sample", votes_model, "-n", 5, "--seed", 1, "-o", tmp_path / "s.parquet")
    assert written.out == ""
    assert "5 rows written" in written.err
    space = load(votes_model).model.space
    assert np.array_equal(encode([json.loads(line) for line in printed], space), encode(tmp_path / "s.parquet", space))


def test_no_rows_are_a_header(run: Run, votes_model: Path) -> None:
    done = run("sample", votes_model, "-n", 0)
    assert done.code == 0
    assert done.out == ",".join(load(votes_model).model.space.names) + "\n"


def test_a_closed_pipe_ends_quietly(votes_model: Path) -> None:
    command = " ".join([*COMMAND, "sample", str(votes_model), "-n", "200000"])
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.splitlines()[0].startswith("party,")
    assert done.stdout.splitlines()[1] == "0"
    assert done.stderr == ""


@pytest.mark.parametrize("command", [["sample", "-n", "435", "--seed", "1"], ["impute", VOTES]])
def test_standard_output_as_a_file_is_csv(votes_model: Path, command: list[object]) -> None:
    name, *others = command
    done = spawn(name, votes_model, *others, "-o", "/dev/stdout")
    assert done.code == 0
    assert done.out.splitlines()[0] == VOTES.read_text().splitlines()[0]
    assert len(done.out.splitlines()) == 436
    assert "written to /dev/stdout" in done.err


def test_a_report_goes_through_a_pipe(votes_model: Path) -> None:
    done = spawn("report", votes_model, "-o", "/dev/stdout")
    assert done.code == 0
    assert done.out.startswith("<!doctype html>")
    assert "report written to /dev/stdout" in done.err


def test_a_refused_comparison_names_the_option(votes_model: Path) -> None:
    done = spawn("query", votes_model, "crime >= y")
    assert done.code == 2
    assert "fit with --levels" in done.err
    assert done.err.splitlines()[-2:] == ["  crime >= y", "           ^"]


def test_a_query_nested_too_deep_is_refused(votes_model: Path) -> None:
    done = spawn("query", votes_model, "not " * 10_000 + "crime=y")
    assert done.code == 2
    assert done.err.startswith("fullspan: parentheses and 'not' are nested at most 100 deep")


# -- impute ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["mode", "draw"])
def test_imputation_fills_every_gap_and_changes_nothing_else(votes_model: Path, tmp_path: Path, how: str) -> None:
    out = tmp_path / "filled.csv"
    done = spawn("impute", votes_model, VOTES, "-o", out, "--how", how, "--seed", 1)
    assert done.code == 0
    assert "392 cells of 435 rows filled" in done.err
    space = load(votes_model).model.space
    before, after = encode(VOTES, space, allow_missing=True), encode(out, space)
    assert np.array_equal(after[before >= 0], before[before >= 0])


def test_imputation_keeps_columns_cells_and_spelling_of_a_file(run: Run, tmp_path: Path) -> None:
    """A model of two of four columns; ``3`` in a binned column stays ``3``, and a filled one is a number."""
    data, model, out = (tmp_path / name for name in ("t.csv", "m.fsm", "o.csv"))
    lines = [f"{i:03d},{i % 10}.0,{'Yes' if i % 10 > 4 else 'No'},NA" for i in range(60)]
    data.write_text("id,x,side,note\n" + "\n".join(lines) + "\n")
    assert run("fit", data, "-o", model, "--columns", "x,side", "--bins", '{"x": [0, 5, 10]}').code == 0
    lines[7], lines[23] = "007,7.0,,NA", '023,,No,"a ""b"", c"'
    data.write_text("id,x,side,note\n" + "\n".join(lines) + "\n")
    assert run("impute", model, data, "-o", out).code == 0
    lines[7], lines[23] = "007,7.0,Yes,NA", '023,2,No,"a ""b"", c"'
    assert out.read_text().splitlines() == ["id,x,side,note", *lines]


def test_the_mean_gives_probabilities(run: Run, votes_model: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.csv"
    done = run("impute", votes_model, VOTES, "-o", out, "--how", "mean")
    assert done.code == 0
    assert f"probabilities of the missing cells written to {out}: 392 cells of 435 rows were missing" in done.err
    assert "filled" not in done.err
    table = rows(out.read_text())
    assert len(table) == 435
    assert float(table[0]["party=republican"]) == 1.0
    gap = table[0]
    assert 0 < float(gap["synfuels=y"]) < 1
    assert math.isclose(float(gap["synfuels=y"]) + float(gap["synfuels=n"]), 1, rel_tol=1e-9)


def test_a_model_in_which_a_gap_is_a_level_has_nothing_to_fill(run: Run, tmp_path: Path) -> None:
    model = tmp_path / "m.fsm"
    assert run("fit", VOTES, "-o", model, "--missing", "level", "--columns", "party,water").code == 0
    done = run("impute", model, VOTES, "-o", tmp_path / "out.csv")
    assert done.code == 2
    assert "a level of their own" in done.err
    assert not (tmp_path / "out.csv").exists()


# -- score ----------------------------------------------------------------------------------------------------


def test_the_score_is_the_mean_over_complete_rows(run: Run, votes_model: Path, tmp_path: Path) -> None:
    done = spawn("score", votes_model, VOTES, "--json")
    assert done.code == 0
    score = json.loads(done.out)
    fitted = load(votes_model)
    complete = count(VOTES, missing="drop")
    expected = complete.counts @ fitted.model.log_prob(complete.states) / complete.total
    assert math.isclose(score["mean_log_prob"], expected, rel_tol=1e-12)
    assert (score["n_rows"], score["n_dropped"]) == (435, 203)
    assert f"{expected:.6f} nats over 232 rows (203 of 435 left out)" in run("score", votes_model, VOTES).out

    assert run("score", votes_model, VOTES, "--per-row", "-o", tmp_path / "rows.csv").code == 0
    each = np.array([float(row["log_prob"]) for row in rows((tmp_path / "rows.csv").read_text())])
    whole = (encode(VOTES, fitted.model.space, allow_missing=True) >= 0).all(axis=1)
    assert len(each) == 435
    assert math.isclose(each[whole].mean(), expected, rel_tol=1e-12)
    assert each[~whole].mean() > each[whole].mean()


def test_the_score_sums_out_cells_not_observed(run: Run, tmp_path: Path) -> None:
    """A model read with --missing em scores every row that has a cell, as --per-row does."""
    (tmp_path / "whole.csv").write_text("a,b\n" + "0,x\n" * 5 + "1,y\n" * 4 + "1,x\n")
    (tmp_path / "holes.csv").write_text("a,b\n0,x\n1,?\n,y\n?,?\n")
    model, holes = tmp_path / "m.fsm", tmp_path / "holes.csv"
    assert run("fit", tmp_path / "whole.csv", "-o", model, "--missing", "em").code == 0
    score = json.loads(run("score", model, holes, "--json").out)
    each = [float(row["log_prob"]) for row in rows(_written(run, model, holes, tmp_path / "rows.csv"))]
    assert each[3] == 0
    assert math.isclose(score["mean_log_prob"], sum(each[:3]) / 3, rel_tol=1e-9)
    assert (score["n_rows"], score["n_dropped"]) == (4, 1)
    assert "over 3 rows (1 of 4 left out)" in run("score", model, holes).out


def _written(run: Run, model: Path, data: Path, out: Path) -> str:
    assert run("score", model, data, "--per-row", "-o", out).code == 0
    return out.read_text()


# -- help and examples ----------------------------------------------------------------------------------------

COMMANDS = [command.name for command in app.registered_commands]


def test_every_command_is_known() -> None:
    assert " ".join(COMMANDS) == (
        "fit show query sample impute predict explain synth rake adjust score compare report serve convert demo "
        "reproduce"
    )


def test_every_option_is_explained() -> None:
    import typer

    root = typer.main.get_command(app)
    for command in root.commands.values():
        assert command.help
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{command.name} {parameter.name}"


def test_the_version(run: Run) -> None:
    import fullspan

    assert run("--version").out == f"fullspan {fullspan.__version__}\n"


# -- demo -----------------------------------------------------------------------------------------------------


def test_the_demo_tells_answers_and_writes(tmp_path: Path) -> None:
    done = spawn("demo", "out", cwd=tmp_path)
    assert done.code == 0, done.err
    assert len(re.findall(r"^P\(.*\) = 0\.\d{4}$", done.out, re.MULTILINE)) == 2
    assert "more likely" in done.out or "goes with" in done.out
    assert "CC BY 4.0" in done.out
    assert "out/votes.fsm" in done.out
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["report.html", "votes.fsm"]
    assert "House votes 1984" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
