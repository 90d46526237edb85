"""``fullspan fit --model restricted`` and ``deep``: options reach the machine, and other commands know its file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import fullspan as fs
from cli.running import VOTES, Done
from fullspan.query.distributions import GraphDistribution

Run = Callable[..., Done]
FEW = ("--columns", "party,crime,water", "--missing", "drop", "--epochs", 3, "--seed", 1)


def test_a_restricted_machine_is_fitted_shown_scored_and_sampled(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.fsm"
    done = run("fit", VOTES, "-o", path, "--model", "restricted", "--hidden", 5, "--target", "party", *FEW)
    assert done.code == 0, done.err
    assert "3 variables, units 3 - 5, 23 parameters" in done.out
    assert "(exact)" in done.out
    machine = fs.load(path)
    assert machine.get_params()["n_hidden"] == 5
    assert machine.get_params()["random_state"] == 1
    assert machine.classes_.tolist() == ["democrat", "republican"]
    assert json.loads(run("show", path, "--json").out)["layers"] == [3, 5]
    votes = tmp_path / "few.csv"
    votes.write_text("party,crime,water\ndemocrat,y,n\nrepublican,n,n\n")
    score = json.loads(run("score", path, votes, "--json").out)
    assert score["mean_log_prob"] == pytest.approx(machine.score(votes))
    assert score["standard_error"] == 0.0
    assert "nats" in run("score", path, votes).out
    rows = list(
        csv.DictReader(io.StringIO(run("sample", path, "-n", 20, "--seed", 1, "--given", "party=democrat").out))
    )
    assert len(rows) == 20
    assert {row["party"] for row in rows} == {"democrat"}


def test_a_deep_machine_has_a_layer_for_each_number(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.fsm"
    done = run("fit", VOTES, "-o", path, "--model", "deep", "--hidden", "4,3", "--learning-rate", 0.05, "--json", *FEW)
    assert json.loads(done.out)["layers"] == [3, 4, 3]
    assert fs.load(path).get_params()["learning_rate"] == 0.05
    assert "units 3 - 4 - 3" in run("show", path).out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "restricted", "--order", 3), "--order is for --model boltzmann, not for --model restricted"),
        (("--epochs", 3), "--epochs is for --model restricted or deep, not for --model full-span"),
        (("--model", "restricted", "--hidden", "4,3"), "a number of units, 64"),
        (("--model", "deep", "--hidden", "a,b"), "a number of units for each layer"),
        (("--model", "restricted", "--hidden", 0), "at least 1 unit"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    run: Run, tmp_path: Path, options: tuple[object, ...], message: str
) -> None:
    done = run("fit", VOTES, "-o", tmp_path / "m.fsm", "--columns", "party,crime", "--missing", "drop", *options)
    assert done.code != 0
    assert message in " ".join(done.err.replace("│", " ").split())
    assert not (tmp_path / "m.fsm").exists()


def test_questions_about_a_deep_machine_are_answered_by_chains(run: Run, tmp_path: Path) -> None:
    """Near what elimination over all units gives, within the errors that are printed."""
    path = tmp_path / "m.fsm"
    run("fit", VOTES, "-o", path, "--model", "deep", "--hidden", "4,3", *FEW)
    asked = "P(crime=y | party=republican)"
    refused = run("query", path, asked)
    assert (refused.code, "a deep machine is not summed over its hidden layers" in refused.err) == (2, True)
    done = run("query", path, asked, "--gibbs", "--seed", 1, "--json")
    (answer,) = json.loads(done.out)["answers"]
    exact = GraphDistribution(fs.load(path).fitted_.model.graph()).ask(asked)
    assert 0 < answer["error"] < 0.02
    assert abs(answer["probability"] - exact) < 4 * answer["error"]


@pytest.mark.parametrize(("model", "hidden", "bound"), [("restricted", "4", ""), ("deep", "4,3", "at least ")])
def test_the_summary_says_that_the_epochs_ran_out_and_what_the_rows_gain(
    run: Run, tmp_path: Path, model: str, hidden: str, bound: str
) -> None:
    """The log-likelihood is that of the rows learned from; "converged" is left to early stopping."""
    table, path = tmp_path / "t.csv", tmp_path / "m.fsm"
    table.write_text("a,b\n" + "y,y\nn,n\n" * 40)
    done = run("fit", table, "-o", path, "--model", model, "--hidden", hidden, "--epochs", 1, "--seed", 1)
    machine = fs.load(path)
    assert machine.status_ == "epoch limit"
    assert "1 epoch, epoch limit" in done.out
    assert "Remedy: use more epochs" in done.out
    assert f"log-likelihood {bound}{machine.score(table):.4f} nats per row, " in done.out
    assert "independent columns" in done.out
    assert run("show", path).out in done.out
    stopped = ("--early-stopping", "--patience", 1, "--tol", 9, "--seed", 1)
    done = run("fit", table, "-o", path, "--model", model, "--hidden", hidden, "--epochs", 20, *stopped)
    assert "2 epochs, converged" in done.out


def test_a_deep_machine_is_scored_on_complete_rows(run: Run, tmp_path: Path) -> None:
    table, path = tmp_path / "t.csv", tmp_path / "m.fsm"
    table.write_text("a,b\n" + "y,y\nn,n\ny,\n" * 40)
    done = run("fit", table, "-o", path, "--model", "deep", "--hidden", "4,3", "--missing", "em", "--seed", 1)
    assert "nats per row of the 80 complete rows, " in done.out
