"""A kind of model that is registered from outside goes through every door: one entry in one registry is enough."""

from __future__ import annotations

import inspect
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import fullspan as fs
from contract import independent
from contract.independent import IndependentColumns
from fullspan.estimators.registry import load
from fullspan.people.cli import main
from fullspan.people.web import Explorer
from fullspan.query import Table

ROWS = np.random.default_rng(0).integers(0, [2, 3, 2], size=(200, 3))
NAMES = ("a", "b", "c")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("independent") / "rows.csv"
    lines = [",".join(NAMES), *(",".join(map(str, row)) for row in ROWS)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def model(table: Path) -> IndependentColumns:
    return IndependentColumns(pseudo_count=2.0).fit(table)


@pytest.fixture(scope="module")
def saved(table: Path, model: IndependentColumns) -> Path:
    path = table.with_name("m.fsm")
    model.save(path)
    return path


def share(column: int, level: int, pseudo_count: float = 2.0) -> float:
    """What the model says, by hand."""
    card = int(ROWS[:, column].max()) + 1
    return float((np.sum(ROWS[:, column] == level) + pseudo_count / card) / (len(ROWS) + pseudo_count))


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The output of a command that succeeds."""
    code = main([*map(str, arguments)])
    done = capsys.readouterr()
    assert code == 0, done.err
    return done.out


def test_a_kind_is_at_most_120_lines() -> None:
    assert len(inspect.getsource(independent).splitlines()) <= 120


def test_the_estimator_answers_as_every_other(model: IndependentColumns) -> None:
    """Questions, modes, information, rows, samples and imputation, from two methods of its distribution."""
    assert model.probability("a=1 | b=2") == pytest.approx(share(0, 1), rel=1e-12)
    assert isinstance(model.conditional(["a", "c"], {"b": [0, 1]}), Table)
    assert model.mutual_information("a", "b") == pytest.approx(0.0, abs=1e-12)
    assert model.mode({"b": 2})["b"] == 2
    assert model.score_samples([[0, 1, 1]])[0] == pytest.approx(np.log(share(0, 0) * share(1, 1) * share(2, 1)))
    assert model.sample(5, random_state=1).num_rows == 5
    filled = model.impute({"a": [None, 1], "b": [2, None], "c": [0, 0]})
    assert filled["a"][0].as_py() == int(share(0, 1) > 0.5)
    assert "independent columns" in (model.limits_ or "")


def test_files_and_pickles_keep_it(model: IndependentColumns, saved: Path) -> None:
    for again in (load(saved), pickle.loads(pickle.dumps(model))):
        assert isinstance(again, IndependentColumns)
        assert again.pseudo_count == 2.0
        assert again.probability("a=1, c=0") == pytest.approx(model.probability("a=1, c=0"), rel=1e-14)
    assert isinstance(fs.load(saved), IndependentColumns)


def test_notebooks_show_it(model: IndependentColumns) -> None:
    assert "IndependentColumns" in model._repr_html_()
    assert "probability" in model.conditional("a")._repr_html_()


def test_every_command_takes_it(capsys: pytest.CaptureFixture[str], table: Path, saved: Path, tmp_path: Path) -> None:
    """fit, show, query, sample, impute, score, compare and report."""
    own = tmp_path / "fitted.fsm"
    run(capsys, "fit", table, "-o", own, "--model", "independent-columns", "--pseudo-count", 2)
    assert load(own).probability("a=1") == pytest.approx(share(0, 1))
    assert "IndependentColumns: 200 rows, 3 variables, 4 parameters" in run(capsys, "show", saved)
    assert json.loads(run(capsys, "show", saved, "--json"))["n_parameters"] == 4
    answers = json.loads(run(capsys, "query", saved, "P(a=1 | b=0)", "H(b)", "mode(a | c=1)", "--json"))
    assert answers[0]["probability"] == pytest.approx(share(0, 1))
    found = json.loads(run(capsys, "query", saved, "--log-z", "--marginals", "--json"))
    assert found["log_z"] == 0.0
    assert found["marginals"]["b"][2] == pytest.approx(share(1, 2))
    assert len(run(capsys, "sample", saved, "-n", 4, "--seed", 1, "--given", "b=2").splitlines()) == 5
    partial = tmp_path / "partial.csv"
    partial.write_text("a,b,c\n,1,0\n1,,1\n")
    run(capsys, "impute", saved, partial, "-o", tmp_path / "filled.csv")
    assert (tmp_path / "filled.csv").read_text().splitlines()[1] == f"{int(share(0, 1) > 0.5)},1,0"
    score = json.loads(run(capsys, "score", saved, table, "--json"))
    assert score["mean_log_prob"] == pytest.approx(fs.load(saved).score(table))
    assert "m" in run(capsys, "compare", saved, "--data", table)
    run(capsys, "report", saved, "--data", table, "-o", tmp_path / "r.html")
    assert "parameters" in (tmp_path / "r.html").read_text()


def test_the_explorer_opens_it(saved: Path) -> None:
    explorer = Explorer(saved)
    assert explorer.summary()["kind"] == "IndependentColumns"
    assert explorer.distributions({"b": 1}, ["a"])["marginals"]["a"][1] == pytest.approx(share(0, 1))
    assert explorer.ask("P(c=1 | a=0)", {})["probability"] == pytest.approx(share(2, 1))
    assert len(explorer.sample(3, 0, {"c": 1})["rows"]) == 3
    assert explorer.what_if("a", {}, 2)["rows"][0]["moves"] == pytest.approx(0.0, abs=1e-12)
