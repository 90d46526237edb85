"""Trees in a terminal: all commands that ask take them, and say what Python says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fullspan as fs

Run = Callable[..., Any]


@pytest.fixture(scope="module", params=[False, True], ids=["tree", "hidden"])
def tree(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path, Path]:
    rng = np.random.default_rng(5)
    x = rng.integers(3, size=(300, 4))
    for i in range(1, 4):
        x[:, i] = np.where(rng.random(300) < 0.6, x[:, i - 1], x[:, i])
    folder = tmp_path_factory.mktemp("trees")
    table = pd.DataFrame(x, columns=["a", "b b", "c", "d"])
    table.to_csv(folder / "x.csv", index=False)
    hidden = fs.HiddenChowLiuTree(n_states=2, restarts=1, random_state=0)
    model: Any = (hidden if request.param else fs.ChowLiuTree()).fit(table)
    model.save(folder / "tree.fsm")
    return model, folder / "tree.fsm", folder / "x.csv"


def test_commands_that_ask(run: Run, tree: tuple[Any, Path, Path], tmp_path: Path) -> None:
    model, path, table = tree
    done = run("query", path, "P(a=1 | 'b b' in {0, 2}, d=1)", "P(c | a=0)", "--json")
    number, shares = json.loads(done.out)
    assert number["probability"] == pytest.approx(model.probability("a=1 | 'b b' in {0, 2}, d=1"), rel=1e-9)
    expected = model.conditional("c", {"a": 0}).values
    assert [row["probability"] for row in shares["distribution"]] == pytest.approx(expected, rel=1e-9)
    assert json.loads(run("score", path, table, "--json").out)["mean_log_prob"] == pytest.approx(model.score(table))
    (tmp_path / "known.evid").write_text("1 0 2\n")
    asked = ("--evidence", tmp_path / "known.evid", "--log-z", "--marginals", "--json")
    report = json.loads(run("query", path, *asked).out)
    assert report["log_z"] == pytest.approx(np.log(model.probability("a=2")), rel=1e-9)
    assert list(report["marginals"]) == ["a", "b b", "c", "d"]
    assert report["marginals"]["d"] == pytest.approx(model.marginals("a=2")["d"].values, rel=1e-9)
    rows = run("sample", path, "-n", 5, "--seed", 1, "--given", "a=1").out.splitlines()
    assert [line.split(",")[0] for line in rows] == ["a", *"11111"]
    gaps = tmp_path / "gaps.csv"
    gaps.write_text("a,b b,c,d\n0,,2,1\n")
    assert run("impute", path, gaps, "-o", tmp_path / "full.csv").code == 0
    filled = model.impute(pd.DataFrame([{"a": 0, "b b": None, "c": 2, "d": 1}]))
    assert pd.read_csv(tmp_path / "full.csv")["b b"][0] == filled["b b"][0]
    shown = run("show", path).out
    assert type(model).__name__ in shown
    strongest = model.interactions_[0]
    row = next(line for line in shown.splitlines() if line.startswith(strongest.words))
    assert f"~{strongest.nats_saved:.1f}" in row  # of all rows, as of every other model
    assert ("odds" in shown or "×" in shown) == model.model_.is_observed
    assert f"nats {'saved' if model.model_.is_observed else 'shared'}" in shown
    assert json.loads(run("show", path, "--json").out)["n_parameters"] == model.n_parameters_


def test_a_tree_becomes_a_network(run: Run, tree: tuple[Any, Path, Path], tmp_path: Path) -> None:
    """The marginals of the first variables of the network are those of the tree."""
    model, path, _ = tree
    assert run("convert", path, tmp_path / "tree.uai").code == 0
    found = fs.read_graph(tmp_path / "tree.uai").marginals()
    assert found["x2"] == pytest.approx(model.marginal("c").values, rel=1e-9)


def test_json_lines_hold_no_infinity(run: Run, tmp_path: Path) -> None:
    """A row that a model holds impossible has no log-probability in JSON: null."""
    rows = pd.DataFrame({"a": [0, 0, 1], "b": [0, 1, 1]})
    fs.ChowLiuTree(pseudo_count=0).fit(rows).save(tmp_path / "tree.fsm")
    (tmp_path / "new.csv").write_text("a,b\n1,0\n0,0\n")
    done = run("score", tmp_path / "tree.fsm", tmp_path / "new.csv", "--per-row", "--json")
    first, second = (json.loads(line, parse_constant=pytest.fail) for line in done.out.splitlines())
    assert first["log_prob"] is None
    assert second["log_prob"] == pytest.approx(np.log(1 / 3))


def test_chains_are_for_log_linear_models(run: Run, tree: tuple[Any, Path, Path], tmp_path: Path) -> None:
    """A tree or a truncated machine has states or nodes of its own, which chains over all variables would miss."""
    _, path, table = tree
    rows = pd.read_csv(table).clip(upper=1)
    fs.TruncatedBoltzmannMachine(l2=1e-3).fit(rows).save(tmp_path / "truncated.fsm")
    for model in (path, tmp_path / "truncated.fsm"):
        done = run("query", model, "P(a=1)", "--gibbs", "--seed", 1)
        assert done.code == 2
        assert "leave out --gibbs" in done.err
