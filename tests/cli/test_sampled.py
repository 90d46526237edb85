"""Machines beyond the table on the command line: what is estimated is marked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import fullspan as fs
from cli.running import Done
from fullspan.errors import ConvergenceWarning, FullspanError

Run = Callable[..., Done]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """40 binary columns in pairs that agree nine times in ten."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, size=(300, 40))
    x[:, 1::2] = np.where(rng.random((300, 20)) < 0.9, x[:, ::2], 1 - x[:, ::2])
    path = tmp_path / "rows.csv"
    header = ",".join(f"v{i}" for i in range(40))
    np.savetxt(path, x, fmt="%d", delimiter=",", header=header, comments="")
    return path


def test_a_wide_machine_is_fitted_scored_sampled_and_asked(run: Run, rows: Path, tmp_path: Path) -> None:
    model = tmp_path / "wide.fsm"
    options = ["--model", "boltzmann", "--solver", "pcd", "--learning-rate", "0.05", "--l2", "0.05", "--seed", "0"]
    done = run("fit", str(rows), "-o", str(model), *options, "--max-iter", "200", "--chains", "50", "--sweeps", "1")
    assert done.code == 0
    assert "log Z by annealed importance sampling" in done.out
    assert "±" in done.out
    scored = run("score", str(model), str(rows))
    assert "±" in scored.out
    assert "log Z is an estimate" in scored.out
    assert json.loads(run("score", str(model), str(rows), "--json").out)["log_z_is_estimated"] is True
    assert "log Z is an estimate" in run("score", str(model), str(rows), "--per-row").err
    drawn = run("sample", str(model), "-n", "20", "--seed", "1")
    assert "drawn by Gibbs chains: R-hat" in drawn.err
    assert len(drawn.out.splitlines()) == 21
    asked = run("query", str(model), "P(v1=1 | v0=1)", "P(v3 | v2=0)", "--seed", "0")
    assert "P(v1=1 | v0=1) = 0." in asked.out
    assert asked.out.count("±") == 3
    found = json.loads(run("query", str(model), "P(v1=1 | v0=1)", "--seed", "0", "--json").out)
    assert found["method"] == "gibbs"
    assert found["answers"][0]["probability"] > 0.55
    assert found["answers"][0]["error"] > 0
    refused = run("query", str(model), "P(v1=1)", "--max-memory", "1GiB")
    assert refused.code == 2
    assert "--max-memory applies only to exact answers" in refused.err
    loaded = fs.load(model)
    assert isinstance(loaded, fs.BoltzmannMachine)
    assert loaded.solver == "pcd"
    assert loaded.n_chains == 50
    assert not loaded.log_z_estimate_.exact
    assert loaded.log_z_estimate_.freedom >= 50
    assert loaded.learning_curve_[-1]["log_likelihood"] > loaded.learning_curve_[0]["log_likelihood"]
    answer = loaded.estimate("P(v1=1 | v0=1)", random_state=0)
    assert "±" in str(answer)
    assert loaded.sample(3, random_state=0).num_rows == 3


def test_networks_are_asked_by_chains_on_request(run: Run, tmp_path: Path) -> None:
    network = tmp_path / "pair.uai"
    network.write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n3 1 1 3\n")
    done = run("query", str(network), "P(x0=1 | x1=1)", "--gibbs", "--log-z", "--marginals", "--seed", "0")
    assert "ln Z = 2.07944" in done.out
    assert "P(x0=1 | x1=1) = 0.7" in done.out
    assert done.out.count("±") == 5
    refused = run("query", str(network), "P(x0=1)", "--gibbs", "--evidence", str(network))
    assert refused.code != 0
    assert "state the condition in the question" in refused.err


def test_a_rate_that_diverges_is_said(run: Run, rows: Path, tmp_path: Path) -> None:
    model = tmp_path / "d.fsm"
    options = ["--model", "boltzmann", "--solver", "pcd", "--learning-rate", "100", "--seed", "0", "--max-iter", "100"]
    done = run("fit", str(rows), "-o", str(model), *options)
    assert "the learning rate 100 is too large" in done.err
    assert model.exists()
    table = np.genfromtxt(rows, delimiter=",", skip_header=1).astype(int)
    with pytest.warns(ConvergenceWarning, match="the learning rate 100 is too large.*Remedy: use learning_rate=10"):
        fs.BoltzmannMachine(solver="pcd", learning_rate=100, max_iter=100, random_state=0).fit(table)
    with pytest.raises(FullspanError, match="learning_rate is 'fast'; a positive number"):
        fs.BoltzmannMachine(solver="pcd", learning_rate="fast").fit(table)
    with pytest.raises(FullspanError, match="reads no rows"):
        fs.BoltzmannMachine(solver="pcd").fit_margins({"a": [0.5, 0.5]})
