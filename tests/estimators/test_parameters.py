"""Parameters are declared and documented once, whatever estimator has them; what contradicts itself is refused."""

from __future__ import annotations

import inspect
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullspan as fs
from fullspan.errors import ConvergenceWarning, FullspanError
from fullspan.estimators.inputs import READING, documented
from fullspan.learn.base import following

ESTIMATORS = [
    *(fs.FullSpan, fs.BoltzmannMachine, fs.BoltzmannClassifier, fs.DecimatableBoltzmannMachine, fs.ChowLiuTree),
    *(fs.HiddenChowLiuTree, fs.FullSpanMixture, fs.TruncatedBoltzmannMachine, fs.RestrictedBoltzmannMachine),
    fs.DeepBoltzmannMachine,
]
SHARED = {*READING, "verbose", "max_memory", "random_state"}
OWN_WORDS = {"missing", "max_memory"}
"""Some estimators take other missing cells, or have another default of memory, and say so."""
ROWS = np.random.default_rng(0).integers(2, size=(60, 3))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_docstring_describes_every_parameter_once(estimator: Any) -> None:
    names = inspect.signature(estimator).parameters
    assert set(documented(estimator.__doc__)) == set(names)
    for name in names:
        assert (
            len(re.findall(rf"^(?:\w+, )*{name}(?:, \w+)* : ", estimator.__doc__.split("Attributes\n")[0], re.M)) == 1
        )


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_shared_parameters_are_the_same_everywhere(estimator: Any) -> None:
    own, first = inspect.signature(estimator).parameters, inspect.signature(fs.FullSpan).parameters
    assert set(READING) | {"verbose"} <= set(own)
    for name in SHARED & set(own):
        assert own[name].default == first[name].default
        assert own[name].kind is inspect.Parameter.KEYWORD_ONLY
        if name not in OWN_WORDS:
            assert documented(estimator.__doc__)[name] == documented(fs.FullSpan.__doc__)[name]


def test_a_checkpoint_is_resumed_in_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file holds a model of its own, which the next search begins with, in the same basis."""
    path = tmp_path / "c.fsm"
    rows = np.concatenate([ROWS, np.repeat([[1, 1, 0]], 30, axis=0)])
    first = fs.FullSpan(basis="monomial", checkpoint=path, checkpoint_every=0).fit(rows)
    assert fs.load(path).space_ == first.space_
    again = fs.FullSpan(basis="walsh", checkpoint=path, resume=True, verbose=True).fit(rows)
    assert again.model_.basis.name == "monomial"
    assert "resuming from" in capsys.readouterr().err
    with pytest.raises(FullspanError, match="made from other data"):
        fs.FullSpan(checkpoint=path, resume=True).fit(np.concatenate([rows, rows]))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"resume": True}, "needs checkpoint="),
        ({"resume": True, "checkpoint": "c.fsm", "average": 2}, "one fit"),
        ({"resume": True, "checkpoint": "c.fsm", "shrinkage": "evidence"}, "one fit"),
        ({"engine": "table", "max_width": 3}, "a table has no width"),
    ],
)
def test_contradictions_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        fs.FullSpan(**given).fit(ROWS)


def test_a_fit_is_followed_even_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    """Who follows a fit sees its phases (None) and its steps, and may stop it; nothing is printed."""
    seen: list[Any] = []
    with following(seen.append):
        fs.BoltzmannMachine(solver="gradient", l2=0.01).fit(ROWS)
    assert None in seen
    assert any(step is not None for step in seen)
    assert capsys.readouterr() == ("", "")

    def stop(step: Any) -> None:
        if step is not None:
            raise KeyboardInterrupt

    with following(stop), pytest.warns(ConvergenceWarning, match="interrupted"):
        machine = fs.BoltzmannMachine(solver="gradient", l2=0.01).fit(ROWS)
    assert machine.status_ == "interrupted"


def test_ctrl_c_while_a_fit_is_measured_keeps_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fullspan.estimators.density.recorded", stop)
    with pytest.warns(ConvergenceWarning, match="interrupted while it was measured"):
        model = fs.FullSpan().fit(ROWS)
    assert model.status_ == "converged"
    assert 0 < model.probability("x0=1") < 1


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (fs.FullSpan(epsilon=0.1), "epsilon is 0.1, and has no effect here: it applies only to search='paper'"),
        (fs.FullSpan(restarts=9), "restarts is 9, and has no effect here: it applies only to hidden variables"),
        (fs.BoltzmannMachine(restarts=9), "restarts is 9, and has no effect here"),
        (fs.BoltzmannMachine(em="exact"), "em is 'exact', and has no effect here: .* hidden variables or missing='em'"),
        (fs.BoltzmannMachine(n_chains=7), "n_chains is 7, and has no effect here: it applies only to solver='pcd'"),
        (fs.BoltzmannMachine(learning_rate=3), "learning_rate is 3, and has no effect here"),
        (fs.FullSpan(engine="elimination", dtype="float64"), "dtype is 'float64', and has no effect here"),
        (fs.FullSpan(max_seconds=1), "max_seconds is 1, and has no effect here: it applies only to average= above 1"),
        (fs.FullSpan(checkpoint_every=5), "checkpoint_every is 5, and has no effect here: .* checkpoint="),
        (fs.TruncatedBoltzmannMachine(patterns=[["x0"]], max_order=3), "max_order is 3, .* without patterns="),
        (fs.TruncatedBoltzmannMachine(n_pairs=1, min_support=3), "min_support is 3, and has no effect here"),
        (fs.HiddenChowLiuTree(mixture=False, validation_fraction=0.0), "mixture is False, .* rows held out"),
        (fs.DecimatableBoltzmannMachine([("x0", "x1")], restarts=2), "restarts is 2, .* hidden nodes"),
        (fs.BoltzmannClassifier(outputs="x1", restarts=2), "restarts is 2, .* hidden variables"),
        (fs.RestrictedBoltzmannMachine(n_hidden=1, patience=7), "patience is 7, .* early_stopping=True"),
        (fs.RestrictedBoltzmannMachine(n_hidden=1, log_z="exact", ais_steps=9), "ais_steps is 9, .* estimates"),
        (fs.DeepBoltzmannMachine(layers=[1], solver="cd", n_chains=9), "n_chains is 9, .* solver='pcd'"),
        (fs.FullSpan(penalty="bic"), "penalty='bic' charges .* use search='paper'"),
        (fs.FullSpan(penalty="bic", engine="elimination"), "penalty='bic' charges .* use search='paper'"),
    ],
)
def test_what_would_change_nothing_is_refused(model: Any, message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        model.fit(ROWS)


def test_what_changes_something_is_taken() -> None:
    for model in (
        fs.FullSpan(epsilon=0.1, search="paper", restarts=1),
        fs.FullSpan(penalty="bic", search="paper"),
        fs.RestrictedBoltzmannMachine(n_hidden=1, max_iter=2, early_stopping=True, patience=1, random_state=0),
        fs.BoltzmannMachine(em="exact", missing="em"),
        fs.BoltzmannMachine(em="exact", hidden=1, restarts=1, tol=1e-2, random_state=0),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(ROWS)


def test_bic_is_what_the_published_search_adds_up() -> None:
    """``2 (description length)`` is BIC with one parameter for each term, constants of the rows aside."""
    rng = np.random.default_rng(0)
    x = rng.integers(2, size=(300, 3))
    x[:, 1] = np.where(rng.random(300) < 0.8, x[:, 0], x[:, 1])
    model = fs.FullSpan(search="paper", penalty="bic", basis="walsh").fit(x)
    bic = -2 * model.log_likelihood_ + model.n_terms_ * np.log(300)
    assert 2 * model.description_length_ == pytest.approx(bic, rel=1e-9)
