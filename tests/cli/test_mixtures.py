"""Mixtures in a terminal: what needs probabilities takes them, what needs terms refuses them in words."""

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
    assert "components" in run("show", path).out


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


def test_a_report_needs_terms(run: Run, files: Files, tmp_path: Path) -> None:
    """The refusal names what to use instead."""
    done = run("report", files[0], "-o", tmp_path / "report.html")
    assert done.code == 2
    assert "FullSpanMixture" in done.err
    assert "query" in done.err
    assert not (tmp_path / "report.html").exists()
