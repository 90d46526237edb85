"""Two doors, one fit: the command line and Python write the same files, because one is made from the other."""

from __future__ import annotations

import inspect
import json
import shlex
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullspan as fs
from cli.running import Done
from fullspan.model.algebra import jit
from fullspan.people.cli.options.declarations import from_class, from_source, parameters_of
from fullspan.people.cli.options.from_estimators import NAMES, models, options

Run = Callable[..., Done]
CHAIN = [("a", "b"), ("b", "c"), ("c", "d")]
CASES: dict[str, tuple[str, Callable[[], Any]]] = {
    "full-span": (
        "--penalty 2 --max-order 2 --basis walsh --max-memory 1GiB",
        lambda: fs.FullSpan(penalty=2.0, max_order=2, basis="walsh", max_memory=1 << 30),
    ),
    "full-span hidden": (
        "--hidden mood --restarts 2 --seed 3",
        lambda: fs.FullSpan(hidden=["mood"], restarts=2, random_state=3),
    ),
    "full-span average": ("--average 2 --seed 3", lambda: fs.FullSpan(average=2, random_state=3)),
    "boltzmann": (
        "--edge a-b --edge b,c --edge c-d --order 3 --l2 0.02 --solver lbfgs --tol 1e-8",
        lambda: fs.BoltzmannMachine(graph=CHAIN, order=3, l2=0.02, solver="lbfgs", tol=1e-8),
    ),
    "boltzmann chains": (
        "--solver pcd --chains 7 --sweeps 2 --learning-rate 0.03 --max-iter 5 --no-mean-weights --seed 3",
        lambda: fs.BoltzmannMachine(
            solver="pcd", n_chains=7, n_sweeps=2, learning_rate=0.03, max_iter=5, mean_weights=False, random_state=3
        ),
    ),
    "decimatable": (
        "--edge a-b --edge b-c --edge c-d --l2 0.02 --solver gradient --seed 3",
        lambda: fs.DecimatableBoltzmannMachine(CHAIN, l2=0.02, solver="gradient", random_state=3),
    ),
    "truncated": (
        "--min-support 3 --max-order 3 --l2 0.02 --unseen 0.1",
        lambda: fs.TruncatedBoltzmannMachine(min_support=3, max_order=3, l2=0.02, unseen=0.1),
    ),
    "mixture": (
        "--components 2 --max-width 1 --restarts 1 --smoothing 2 --seed 3",
        lambda: fs.FullSpanMixture(runs=[(2, 1)], restarts=1, smoothing=2.0, random_state=3),
    ),
    "chow-liu": ("--pseudo-count 0.5", lambda: fs.ChowLiuTree(pseudo_count=0.5)),
    "hidden-tree": (
        "--components 2,3 --restarts 1 --smoothing 0.5 --no-mixture --seed 3",
        lambda: fs.HiddenChowLiuTree(n_states=[2, 3], restarts=1, smoothing=0.5, mixture=False, random_state=3),
    ),
    "restricted": (
        "--hidden 2 --epochs 3 --batch-size 20 --weight-decay 0.01 --no-decay --target d --seed 3",
        lambda: fs.RestrictedBoltzmannMachine(
            n_hidden=2, max_iter=3, batch_size=20, weight_decay=0.01, decay=False, target="d", random_state=3
        ),
    ),
    "deep": (
        "--hidden 3,2 --epochs 3 --pretraining 1 --early-stopping --seed 3",
        lambda: fs.DeepBoltzmannMachine(layers=[3, 2], max_iter=3, pretraining=1, early_stopping=True, random_state=3),
    ),
}
"""Options, and the estimator that they stand for."""
TIMES = ("seconds",)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four two-level columns that follow a hidden one, every state among them, and a column of weights."""
    rng = np.random.default_rng(5)
    hidden = rng.random(60) < 0.5
    rows = (rng.random((60, 4)) < np.where(hidden[:, None], 0.8, 0.3)).astype(int)
    rows = np.concatenate([rows, np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T])
    lines = [",".join(map(str, (*row, 1 + i % 3))) for i, row in enumerate(rows)]
    path = tmp_path_factory.mktemp("parity") / "table.csv"
    path.write_text("\n".join(["a,b,c,d,w", *lines]) + "\n")
    return path


def without_times(value: Any) -> Any:
    """A document without what depends on the clock, and without the checksum over that."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in (*TIMES, "checksum", "created")}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def document(path: Path) -> Any:
    return without_times(json.loads(path.read_text(encoding="utf-8")))


@pytest.fixture
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are compiled from the first call, not from one amid the first fit: their twins differ by rounding."""
    monkeypatch.setattr(jit, "PATIENCE_PYTHON", -1)
    monkeypatch.setattr(jit, "PATIENCE", -1)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("_compiled")
@pytest.mark.filterwarnings("ignore::fullspan.errors.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::fullspan.errors.BoundaryWarning")
def test_both_doors_write_the_same_file(case: str, run: Run, table: Path, tmp_path: Path) -> None:
    words, made = CASES[case]
    command = ["--model", case.split()[0], *shlex.split(words), "--weights", "w", "--missing", "drop", "-q"]
    done = run("fit", table, "-o", tmp_path / "command.fsm", *command)
    assert done.code == 0, done.err
    made().set_params(missing="drop").fit(table, sample_weight="w").save(tmp_path / "python.fsm")
    assert document(tmp_path / "command.fsm") == document(tmp_path / "python.fsm")


def test_every_model_has_a_case() -> None:
    assert {case.split()[0] for case in CASES} == set(NAMES.values())


@pytest.mark.parametrize("model", NAMES.values())
def test_the_source_says_what_the_class_says(model: str) -> None:
    """Help is made without importing an estimator; what it reads there is the signature and the docstring."""
    home, name = models()[model]
    cls = getattr(import_module(home), name)
    read, known = from_source(home, name), from_class(cls)
    assert set(read) == set(known) == set(inspect.signature(cls).parameters)
    for parameter in known:
        assert read[parameter].type == known[parameter].type
        assert read[parameter].default == known[parameter].default
        assert read[parameter].text == known[parameter].text != ""


def test_every_parameter_has_an_option() -> None:
    table = options()
    for model, (home, name) in models().items():  # those that other tests have registered too
        covered = {o.parameters[model][0] for o in table.values() if model in o.parameters}
        assert set(parameters_of(home, name)) - covered <= {"verbose", "warm_start"}
