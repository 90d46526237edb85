"""Mixtures in a terminal: every command that asks takes them; what needs one product of factors refuses in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullspan as fs

Run = Callable[..., Any]
Files = tuple[Path, Path, fs.FullSpanMixture]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("mixture")
    rng = np.random.default_rng(0)
    rows = rng.integers(2, size=(200, 6))
    rows[:, 1] = rows[:, 0]
    table = folder / "rows.csv"
    table.write_text("a,b,c,d,e,f\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n", encoding="utf-8")
    model = fs.FullSpanMixture(runs=[(2, 2)], restarts=1, random_state=0).fit(table)
    model.save(folder / "mixture.fsm")
    return folder / "mixture.fsm", table, model


def test_commands_agree_with_the_estimator(run: Run, files: Files) -> None:
    """query, score and show print what the model answers in Python."""
    path, table, model = files
    asked = json.loads(run("query", path, "P(a=1 | b=1, c=0)", "--json").out)
    assert asked[0]["probability"] == pytest.approx(model.probability("a=1 | b=1, c=0"), rel=1e-6)
    assert f"{model.score(table):.4f}" in run("score", path, table).out
    shown = json.loads(run("show", path, "--json").out)
    assert shown["n_components"] == model.n_components_
    assert sum(shown["shares"]) == pytest.approx(1)
    out = run("show", path).out
    assert "components" in out
    strongest = model.interactions_[0]
    row = next(line for line in out.splitlines() if line.startswith(strongest.words))
    assert "nats shared" in out
    assert f"~{strongest.nats_saved:.1f}" in row
    assert "nats shared" in str(model.interactions_)
    assert "nats saved" not in str(model.interactions_) + out  # the pairs of a mixture are not refitted


def test_samples_and_imputations(run: Run, files: Files, tmp_path: Path) -> None:
    """Rows come out whole, and obey what is given."""
    path, _, _ = files
    drawn = run("sample", path, "-n", 5, "--seed", 1, "--given", "a=1").out.splitlines()
    assert drawn[0] == "a,b,c,d,e,f"
    assert all(line.startswith("1,") for line in drawn[1:])
    gaps = tmp_path / "gaps.csv"
    gaps.write_text("a,b,c,d,e,f\n1,,0,1,0,1\n", encoding="utf-8")
    run("impute", path, gaps, "-o", tmp_path / "full.csv")
    assert (tmp_path / "full.csv").read_text(encoding="utf-8").splitlines()[1] == "1,1,0,1,0,1"


def test_a_report_says_what_is_mixed_and_paired(run: Run, files: Files, tmp_path: Path) -> None:
    """The page has the shares of the components, the pairs, marginals and the test on held-out rows."""
    path, table, _ = files
    page = tmp_path / "report.html"
    assert run("report", path, "-o", page, "--data", table).code == 0
    text = page.read_text(encoding="utf-8")
    assert "What is mixed" in text
    assert "hidden level" in text
    assert "a – b" in text
    assert "log-likelihood of the rows held out" in text


def test_evidence_files_and_all_marginals(run: Run, files: Files, tmp_path: Path) -> None:
    """--evidence, --log-z and --marginals say what the model answers; of a mixture log Z is log P(evidence)."""
    path, _, model = files
    (tmp_path / "known.evid").write_text("2 0 1 2 0\n")
    asked = ("--evidence", tmp_path / "known.evid", "--log-z", "--marginals", "P(b=1)", "--json")
    found = json.loads(run("query", path, *asked).out)
    given = {"a": 1, "c": 0}
    assert found["log_z"] == pytest.approx(np.log(model.probability(given)), rel=1e-9)
    assert found["marginals"]["b"] == pytest.approx(model.conditional("b", given).values, rel=1e-9)
    assert found["answers"][0]["probability"] == pytest.approx(model.probability({"b": 1}, given), rel=1e-9)


def test_a_mixture_is_no_network(run: Run, files: Files, tmp_path: Path) -> None:
    """It has several graphs; the message names what takes it."""
    done = run("convert", files[0], tmp_path / "x.uai")
    assert done.code == 2
    assert "fullspan query" in done.err


def test_a_mixture_is_compared(run: Run, files: Files) -> None:
    """Beside the baselines, with its score on the rows."""
    path, table, model = files
    rows = json.loads(run("compare", path, "--data", table, "--json").out)["models"]
    own = next(row for row in rows if row["name"] == "mixture")
    assert own["log_likelihood"] == pytest.approx(model.score(table), rel=1e-9)


@pytest.mark.parametrize(
    ("model", "options", "estimator"),
    [
        ("mixture", ("--components", 2, "--max-width", 1, "--restarts", 1), fs.FullSpanMixture),
        ("chow-liu", (), fs.ChowLiuTree),
        ("hidden-tree", ("--components", 2, "--restarts", 1), fs.HiddenChowLiuTree),
    ],
)
def test_fit_learns_mixtures_and_trees(
    run: Run, files: Files, tmp_path: Path, model: str, options: tuple[object, ...], estimator: type
) -> None:
    """The file holds what the estimator would have learned; JSON says what it is; rows with gaps are learned from."""
    gaps, path = tmp_path / "gaps.csv", tmp_path / "model.fsm"
    lines = files[1].read_text(encoding="utf-8").splitlines()
    gaps.write_text(
        "\n".join([lines[0], *("," + line[2:] if t % 3 == 0 else line for t, line in enumerate(lines[1:]))])
    )
    seed = () if model == "chow-liu" else ("--seed", 0)
    missing = "drop" if model == "chow-liu" else "em"
    done = run("fit", gaps, "-o", path, "--model", model, "--missing", missing, "--json", *options, *seed)
    assert done.code == 0
    told, found = json.loads(done.out), fs.load(path)
    assert type(found) is estimator
    assert told["file"] == str(path)
    assert told["status"] == "converged"
    assert told["log_likelihood"] == pytest.approx(found.log_likelihood_)
    assert found.score(files[1]) > -4.5
    assert "written to" in run("fit", gaps, "-o", path, "--model", model, "--missing", missing, *options, *seed).out


def test_options_of_other_models_are_refused(run: Run, files: Files, tmp_path: Path) -> None:
    """--components is no option of a search."""
    done = run("fit", files[1], "-o", tmp_path / "x.fsm", "--components", 3)
    assert done.code == 2
    assert "--model mixture" in done.err


def test_an_interruption_keeps_the_runs_so_far(
    run: Run, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C during the second run: the first is written, and the exit code says so."""
    from fullspan.learn.decomposable import Learner

    whole, calls = Learner.run, []

    def stopped(*args: Any) -> Any:
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return whole(*args)

    monkeypatch.setattr(Learner, "run", stopped)
    options = ("--model", "mixture", "--components", 2, "--restarts", 3, "--seed", 0)
    done = run("fit", files[1], "-o", tmp_path / "x.fsm", *options)
    assert done.code == 130
    assert "interrupted" in done.err
    assert fs.load(tmp_path / "x.fsm").status_ == "interrupted"


def test_a_width_without_components_is_refused(run: Run, files: Files, tmp_path: Path) -> None:
    """It would say nothing: several widths are tried then, and a table has none."""
    for options in (("--model", "mixture"), ("--engine", "table")):
        done = run("fit", files[1], "-o", tmp_path / "x.fsm", *options, "--max-width", 3)
        assert done.code == 2
        assert "--max-width" in done.err


def test_one_component_is_an_average_of_bootstrap_samples(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n" + "y,n\nn,y\ny,y\n" * 10)
    done = run("fit", table, "-o", tmp_path / "m.fsm", "--model", "mixture", "--components", 1, "--seed", 1)
    assert "6 networks, one per bootstrap sample and no hidden variable, of width up to 1" in done.out, done.err
