"""What a model file says about how it was learned is what the command line said: fit, load, compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullspan as fs
from cli.running import Done
from fullspan.estimators.inputs import hidden_variables

SEED = {"random_state": 3}
EDGES = [["a", "b"], ["b", "c"], ["c", "d"]]
GIVEN: dict[str, tuple[str, dict[str, Any]]] = {
    "full-span": (
        "--penalty 2.5 --basis walsh --max-order 2 --engine table --dtype float64 --device cpu --max-memory 1GiB",
        {"penalty": 2.5, "basis": "walsh", "max_order": 2, "engine": "table", "dtype": "float64", "device": "cpu"}
        | {"max_memory": 2**30},
    ),
    "full-span one at a time": (
        "--search paper --l1 0.01 --epsilon 0.002 --penalty bic",
        {"search": "paper", "l1": 0.01, "epsilon": 0.002, "penalty": "bic"},
    ),
    "full-span hidden": ("--hidden 1 --restarts 2 --seed 3", {"hidden": 1, "restarts": 2} | SEED),
    "full-span wide": ("--engine elimination --max-width 2", {"engine": "elimination", "max_width": 2}),
    "full-span average": ("--average 2 --seed 3", {"average": 2} | SEED),
    "full-span average wide": (
        "--average 2 --engine elimination --max-width 2 --seed 3",
        {"average": 2, "engine": "elimination", "max_width": 2} | SEED,
    ),
    "full-span shrink": ("--shrink --seed 3", {"shrinkage": "evidence"} | SEED),
    "boltzmann": (
        "--order 3 --l2 0.02 --solver lbfgs --max-iter 900 --basis walsh --max-memory 1GiB",
        {"order": 3, "l2": 0.02, "solver": "lbfgs", "max_iter": 900, "basis": "walsh", "max_memory": 2**30},
    ),
    "boltzmann graph": (
        "--edge a-b --edge b-c --edge c-d --hidden mood --l1 0.01 --restarts 2 --seed 3",
        {"graph": EDGES, "hidden": ["mood"], "l1": 0.01, "restarts": 2} | SEED,
    ),
    "boltzmann margins": ("--margin a,b --margin c,d", {"margins": [["a", "b"], ["c", "d"]]}),
    "boltzmann chains": (
        "--solver pcd --chains 7 --sweeps 2 --learning-rate 0.03 --max-iter 5 --seed 3",
        {"solver": "pcd", "n_chains": 7, "n_sweeps": 2, "learning_rate": 0.03, "max_iter": 5} | SEED,
    ),
    "boltzmann shrink": ("--shrink --order 2", {"shrinkage": "evidence"}),
    "boltzmann average": ("--average 2 --seed 3", {"average": 2} | SEED),
    "decimatable": (
        "--edge a-b --edge b-c --edge c-d --l2 0.02 --solver gradient --restarts 1 --max-iter 900 --seed 3",
        {"graph": EDGES, "l2": 0.02, "solver": "gradient", "restarts": 1, "max_iter": 900} | SEED,
    ),
    "truncated": (
        "--min-support 3 --max-order 3 --l2 0.02 --unseen 0.1 --solver lbfgs --max-memory 1GiB --seed 3",
        {"min_support": 3, "max_order": 3, "l2": 0.02, "unseen": 0.1, "solver": "lbfgs", "max_memory": 2**30} | SEED,
    ),
    "truncated pairs": ("--pairs 2 --l2 0.02 --seed 3", {"n_pairs": 2, "l2": 0.02} | SEED),
    "mixture": (
        "--components 2 --max-width 1 --restarts 1 --max-seconds 50 --seed 3",
        {"runs": [[2, 1]], "restarts": 1, "max_seconds": 50.0} | SEED,
    ),
    "chow-liu": ("--max-memory 1GiB", {"max_memory": 2**30}),
    "hidden-tree": (
        "--components 2 --restarts 1 --max-memory 1GiB --seed 3",
        {"n_states": 2, "restarts": 1, "max_memory": 2**30} | SEED,
    ),
    "restricted": (
        "--hidden 2 --epochs 3 --learning-rate 0.02 --seed 3",
        {"n_hidden": 2, "max_iter": 3, "learning_rate": 0.02} | SEED,
    ),
    "restricted labels": ("--hidden 2 --epochs 3 --target d", {"n_hidden": 2, "max_iter": 3, "target": "d"}),
    "deep": ("--hidden 3,2 --epochs 3 --seed 3", {"layers": [3, 2], "max_iter": 3} | SEED),
}
"""Options of the command line, and the parameters of the estimator that they are."""
READING = {"missing": "drop", "count_column": "n"}
"""The parameters of reading that a file keeps: the others are in its variables."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(5)
    hidden = rng.random(60) < 0.5
    rows = (rng.random((60, 4)) < np.where(hidden[:, None], 0.8, 0.3)).astype(int)
    rows = np.concatenate([rows, np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T])
    lines = [",".join(map(str, (*row, 1 + i % 3))) for i, row in enumerate(rows)]
    path = tmp_path_factory.mktemp("settings") / "table.csv"
    path.write_text("\n".join(["a,b,c,d,n", *lines]) + "\n")
    return path


@pytest.mark.parametrize("case", GIVEN)
@pytest.mark.filterwarnings("ignore::fullspan.errors.ConvergenceWarning")
def test_a_file_keeps_the_settings_of_the_command(
    case: str, run: Callable[..., Done], table: Path, tmp_path: Path
) -> None:
    """Options that were given have their values in the loaded estimator, and all others the estimator's defaults."""
    options, expected = GIVEN[case]
    words = ["--model", case.split()[0], *options.split(), "--missing", "drop", "--count-column", "n", "-q"]
    done = run("fit", table, "-o", tmp_path / "m.fsm", *words)
    assert done.code == 0, done.err
    model = fs.load(tmp_path / "m.fsm")
    defaults = {**type(model)().get_params(), "verbose": False}
    assert _plain(model.get_params()) == _plain({**defaults, **READING, **expected})


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Lists for tuples, hidden variables with their levels, and nothing asked for as None."""
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()}
    if "hidden" in plain and not plain.get("inputs"):
        found = hidden_variables(plain["hidden"] or 0)
        plain["hidden"] = [(v.name, list(v.levels)) for v in found]
    return {name: None if value == [] else value for name, value in plain.items()}


def test_a_fit_in_python_and_on_the_command_line_save_the_same_settings(
    run: Callable[..., Done], table: Path, tmp_path: Path
) -> None:
    """The settings in the file are those that the estimator itself saves, seconds of the fit apart."""
    run("fit", table, "-o", tmp_path / "cli.fsm", "--hidden", 1, "--restarts", 2, "--seed", 3, "-q")
    fs.FullSpan(hidden=1, restarts=2, random_state=3).fit(table).save(tmp_path / "python.fsm")
    by_command, in_python = (fs.load(tmp_path / f"{name}.fsm") for name in ("cli", "python"))
    assert by_command.get_params() == in_python.get_params()
    assert by_command.model_.weights == in_python.model_.weights
    own = [{**model.fitted_.settings, "estimator": "FullSpan", "seconds": 0} for model in (by_command, in_python)]
    assert own[0] == own[1]
