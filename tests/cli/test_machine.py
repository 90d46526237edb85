"""``fullspan fit --model boltzmann``: options reach the learner, and the other commands know hidden variables."""

from __future__ import annotations

import csv
import json
import math
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullspan as fs
from cli.running import COMMAND, VOTES, Done
from fullspan.errors import FullspanError
from fullspan.estimators.explain import coefficients
from fullspan.estimators.registry import read_fitted as load
from fullspan.people.cli.options.arguments import edge

Run = Callable[..., Done]
COLUMNS = ["party", "crime", "water", "budget"]
FEW = ("--columns", ",".join(COLUMNS))


def machine(*more: object) -> tuple[object, ...]:
    return ("fit", VOTES, "--model", "boltzmann", *FEW, *more)


def test_it_prints_what_a_statistician_looks_for(run: Run, tmp_path: Path) -> None:
    done = run(*machine("-o", tmp_path / "m.fsm", "--missing", "drop"))
    assert done.code == 0, done.err
    model = fs.BoltzmannMachine(missing="drop", columns=COLUMNS).fit(VOTES)
    assert f"deviance G2      {model.goodness_.g2:.3f}" in done.out
    assert "party=republican:crime=y" in done.out
    shown = run("show", tmp_path / "m.fsm").out
    assert shown == done.out[: len(shown)]
    few = run("show", tmp_path / "m.fsm", "--top", 3).out
    assert ("... and 3 more" in few, "... and 7 more" in few) == (True, True)  # of 6 interactions and 10 coefficients
    assert type(fs.load(tmp_path / "m.fsm")) is fs.BoltzmannMachine


def test_json_holds_the_same_facts(run: Run, tmp_path: Path) -> None:
    done = run(*machine("-o", tmp_path / "m.fsm", "--missing", "drop", "--json"))
    fitted, facts, shown = (
        load(tmp_path / "m.fsm"),
        json.loads(done.out),
        json.loads(run("show", tmp_path / "m.fsm", "--json").out),
    )
    for found in (facts, shown):
        assert found["goodness"]["g2"] == fitted.goodness.g2
        assert found["coding"] == "sum"
        assert [c["estimate"] for c in found["coefficients"]] == [c.estimate for c in coefficients(fitted)]
        assert len(found["interactions"]) == len(fitted.interactions)
    assert {t["weight"] for t in shown["terms"]} == set(fitted.model.theta.tolist())


def test_every_option_reaches_the_model(run: Run, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "--missing": "em",
        "--order": 2,
        "--edge": "party-crime",
        "--hidden": "left,right",
        "--l2": 0.01,
        "--basis": "walsh",
        "--solver": "lbfgs",
        "--restarts": 1,
        "--seed": 3,
        "--max-memory": "1GiB",
    }
    flat = [part for pair in options.items() for part in pair]
    assert run(*machine("-o", tmp_path / "m.fsm", *flat, "--edge", "water,left")).code == 0
    fitted = load(tmp_path / "m.fsm")
    assert fitted.model.space.names == (*COLUMNS, "left", "right")
    assert fitted.n_hidden == 2
    assert fitted.model.basis.name == "walsh"
    expected = {
        **{"missing": "em", "l2": 0.01, "solver": "lbfgs", "restarts": 1, "random_state": 3, "l1": 0.0},
        **{"graph": [["party", "crime"], ["water", "left"]], "estimator": "BoltzmannMachine", "max_memory": 1 << 30},
        "hidden": {"left": [0, 1], "right": [0, 1]},
    }
    assert {key: fitted.settings[key] for key in expected} == expected


@pytest.mark.parametrize("solver", ["newton", "ipf"])
def test_margins_and_a_file_of_edges(run: Run, tmp_path: Path, solver: str) -> None:
    (tmp_path / "edges.txt").write_text("# pairs\nparty crime\n\nwater, party\n")
    graph = ("--graph", tmp_path / "edges.txt", "--solver", solver)
    margins = ("--margin", "party,crime", "--margin", "water,party", "--margin", "budget", "--l1", 0)
    for name, options in (("g", graph), ("m", margins)):
        assert run(*machine("-o", tmp_path / f"{name}.fsm", "--missing", "drop", "-q", *options)).code == 0
    one, two = load(tmp_path / "g.fsm"), load(tmp_path / "m.fsm")
    assert one.model.terms == two.model.terms
    np.testing.assert_allclose(one.model.theta, two.model.theta, atol=1e-6)


def test_hidden_variables_are_no_columns(run: Run, tmp_path: Path) -> None:
    model, out = tmp_path / "m.fsm", tmp_path / "out.csv"
    options = ("--missing", "em", "--hidden", 1, "--edge", "party-h1", "--edge", "crime-h1", "--seed", 0)
    assert run(*machine("-o", model, *options)).code == 0
    assert run("sample", model, "-n", 2, "--given", "h1=1").out.splitlines()[0] == ",".join(COLUMNS)
    for how in ("mode", "draw"):
        assert run("impute", model, VOTES, "-o", out, "--how", how).code == 0
        with out.open() as file:
            table = list(csv.reader(file))
        places = [table[0].index(name) for name in COLUMNS]
        assert not {"", "?"} & {row[i] for row in table for i in places}
        assert "h1" not in table[0]
    score = json.loads(run("score", model, VOTES, "--json").out)
    fitted = load(model)
    assert math.isclose(score["mean_log_prob"] * fitted.total, fitted.goodness.log_likelihood, rel_tol=1e-9)
    assert run("score", model, VOTES, "--per-row", "-o", out).code == 0
    assert "P(h1 | party=democrat):" in run("query", model, "P(h1 | party=democrat)").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "boltzmann", "--search", "paper"), "--search is for --model full-span"),
        (("--model", "boltzmann", "--checkpoint", "c.fsm"), "--checkpoint is for --model full-span"),
        (("--edge", "party-crime"), "--edge is for --model boltzmann"),
        (("--model", "boltzmann", "--edge", "party-crim"), "did you mean 'crime'"),
        (("--model", "boltzmann", "--edge", "a-b-c"), "'a-b-c' is not an edge"),
        (("--model", "boltzmann", "--margin", "party,nobody"), "margins names 'nobody'"),
        (("--model", "boltzmann", "--edge", "party-crime", "--margin", "party"), "graph and margins are given"),
        (("--model", "boltzmann", "--hidden", "party"), "has the name of an observed one"),
        (("--model", "boltzmann", "--graph", "none.txt"), "No such file"),
        (("--model", "boltzmann", "--solver", "ipf", "--l2", "1"), "takes no penalty"),
    ],
)
def test_what_does_not_fit_together_is_refused(run: Run, tmp_path: Path, arguments: Any, message: str) -> None:
    done = run("fit", VOTES, "-o", tmp_path / "m.fsm", "--missing", "drop", *FEW, *arguments)
    assert done.code == 2
    assert message in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert not list(tmp_path.iterdir())


def test_a_line_that_is_no_edge_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("party crime\nwater\n")
    done = run(*machine("-o", tmp_path / "m.fsm", "--missing", "drop", "--graph", tmp_path / "edges.txt"))
    assert done.code == 2
    assert "line 2" in done.err
    assert "two names are needed" in done.err


def test_names_with_hyphens_are_read_where_one_reading_fits() -> None:
    assert edge("a-b", lambda: pytest.fail("one reading needs no names")) == ("a", "b")
    assert edge("a-b-c", lambda: ["a-b", "c"]) == ("a-b", "c")
    assert edge('"a, x",b', lambda: ["a, x", "b"]) == ("a, x", "b")
    with pytest.raises(FullspanError, match="2 readings"):
        edge("a-b-c", lambda: ["a", "b-c", "a-b", "c"])


def test_the_columns_of_the_table_decide_how_an_edge_is_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a-b,c,d\n" + "0,0,0\n0,1,1\n1,0,0\n1,1,1\n" * 5)
    command = ("fit", tmp_path / "t.csv", "-o", tmp_path / "m.fsm", "--model", "boltzmann", "--hidden", "h-1", "-q")
    assert run(*command, "--edge", "a-b-c", "--edge", "c-h-1", "--restarts", 1, "--seed", 0, "--l2", 0.1).code == 0
    assert load(tmp_path / "m.fsm").settings["graph"] == [["a-b", "c"], ["c", "h-1"]]


def test_a_limit_is_shown_as_such(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,n\n0,0,3\n0,1,2\n1,1,3\n")
    done = run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.fsm", "--model", "boltzmann", "--count-column", "n")
    assert done.code == 0
    assert "+inf" in done.out
    assert "no finite maximum" in done.out
    assert run("query", tmp_path / "m.fsm", "P(a=1, b=0)").out == "P(a=1, b=0) = 0\n"
    refused = run("query", tmp_path / "m.fsm", "P(a | a=1, b=0)")
    assert refused.code == 2
    assert "has probability 0" in refused.err


def test_ctrl_c_keeps_the_best_so_far(tmp_path: Path) -> None:
    """Gradient ascent over 17 variables with hidden units runs far longer than a test waits."""
    model = tmp_path / "m.fsm"
    options = ["--model", "boltzmann", "--missing", "em", "--hidden", "1", "--solver", "gradient", "--restarts", "50"]
    command = [*COMMAND, "fit", str(VOTES), "-o", str(model), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any("nats/row" in line for line in process.stderr)  # the first report of progress
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "interrupted; the best model so far is in" in err
    assert load(model).status == "interrupted"


def test_a_classifier_answers_no_questions_about_its_inputs(run: Run, tmp_path: Path) -> None:
    """Its file holds p(outputs | inputs); as a joint model it would be wrong without a word."""
    path = tmp_path / "c.fsm"
    X = np.random.default_rng(0).integers(0, 2, (60, 2))
    fs.BoltzmannClassifier(l2=0.1).fit(X, X[:, 0] | X[:, 1]).save(path)
    table = tmp_path / "t.csv"
    table.write_text("x0,x1,y\n0,1,1\n")
    for command in (
        ["query", path, "P(y=1)"],
        ["sample", path],
        ["score", path, table],
        ["impute", path, table, "-o", tmp_path / "o.csv"],
    ):
        done = run(*map(str, command))
        assert done.code != 0
        assert "is a classifier: it predicts y given x0, x1" in done.err


def test_a_decimatable_machine_is_fitted_on_its_graph(run: Run, tmp_path: Path) -> None:
    """The file is what the estimator learns on the same edges, hidden nodes included; other solvers are refused."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (80, 3))
    rows[:, 1] = rows[:, 0] ^ (rng.random(80) < 0.2)
    table, path = tmp_path / "rows.csv", tmp_path / "chain.fsm"
    table.write_text("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n", encoding="utf-8")
    command = ("fit", table, "-o", path, "--model", "decimatable")
    done = run(*command, "--edge", "a-b", "--edge", "b-c", "--l2", 0.01, "--json")
    assert done.code == 0
    own = fs.DecimatableBoltzmannMachine([("a", "b"), ("b", "c")], l2=0.01).fit(table)
    found = fs.load(path)
    assert isinstance(found, fs.DecimatableBoltzmannMachine)
    assert found.machine_.fields == pytest.approx(own.machine_.fields, abs=1e-5)
    assert found.l2 == 0.01
    asked = json.loads(run("query", path, "P(c=1 | a=1)", "--json").out)[0]["probability"]
    assert asked == pytest.approx(own.probability("c=1 | a=1"), abs=1e-6)
    star = ("--edge", "a-h1", "--edge", "b-h1", "--edge", "c-h1", "--hidden", "h1", "--seed", 0, "--restarts", 1)
    assert run(*command, *star, "-q").code == 0
    assert fs.load(path).graph_.hidden == ("h1",)
    assert "needs a graph" in run(*command).err
    assert "choose one of 'lbfgs'" in run(*command, "--edge", "a-b", "--solver", "pcd").err
    assert run("fit", table, "-o", path, "--model", "decimatable", "--margin", "a,b").code == 2
