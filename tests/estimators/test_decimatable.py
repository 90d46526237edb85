"""The estimator: roles, rows, predictions, samples, files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import fullspan as fs
from fullspan import graphs
from fullspan.engine.elimination import Decimation
from fullspan.errors import DataError, FullspanError

COLUMNS = ["a", "b", "c", "d", "e"]
EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("b", "d")]


def frame(seed: int = 0, rows: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.integers(2, size=(rows, 5))
    for i in range(1, 5):
        x[:, i] = np.where(rng.random(rows) < 0.6, x[:, i - 1], x[:, i])
    return pd.DataFrame(np.where(x == 1, "yes", "no"), columns=COLUMNS)


@pytest.fixture(scope="module")
def joint() -> Any:
    return fs.DecimatableBoltzmannMachine(EDGES).fit(frame())


@pytest.fixture(scope="module")
def conditional() -> Any:
    return fs.DecimatableBoltzmannMachine(EDGES, outputs=["c", "e"]).fit(frame())


def test_the_joint_machine_answers_as_the_boltzmann_machine_does(joint: Any) -> None:
    other = fs.BoltzmannMachine(graph=EDGES, basis="walsh").fit(frame())
    assert joint.score(frame()) == pytest.approx(other.score(frame()), abs=1e-9)
    assert joint.score_samples(frame()[:9]) == pytest.approx(other.score_samples(frame()[:9]), abs=1e-5)
    assert joint.probability("e=yes | a=no") == pytest.approx(other.probability("e=yes | a=no"), abs=1e-5)
    assert joint.log_likelihood_ == pytest.approx(other.log_likelihood_, abs=1e-6)
    assert joint.mode() == other.mode()
    assert not hasattr(joint, "classes_")


def test_missing_cells_and_hidden_nodes_are_summed_out() -> None:
    table = frame()
    table.loc[::3, "b"] = None
    table.loc[1::4, "e"] = None
    hidden = graphs.Graph.of([("h", name) for name in COLUMNS], [*COLUMNS, "h"], hidden=["h"])
    model = fs.DecimatableBoltzmannMachine(hidden, missing="em", l2=1e-3, restarts=2, random_state=0).fit(table)
    assert model.graph_.names == (*COLUMNS, "h")
    assert model.graph_.hidden == ("h",)
    partial = model.score_samples(table[:6])
    by_oracle = model.distribution_.log_prob(model._codes(table[:6], partial=True))
    assert partial == pytest.approx(by_oracle, rel=1e-10)
    assert model.sample(4, random_state=0).columns.tolist() == COLUMNS


def test_predictions_are_conditionals_given_the_inputs(conditional: Any) -> None:
    rows = frame(1, 20)
    found = conditional.predict_proba(rows)
    assert [c.tolist() for c in conditional.classes_] == [["no", "yes"], ["no", "yes"]]
    for k, name in enumerate(("c", "e")):
        for r in range(5):
            given = {n: rows[n][r] for n in ("a", "b", "d")}
            exact = conditional.conditional(name, given=given).values
            assert found[k][r] == pytest.approx(exact, abs=1e-12)
    predicted = conditional.predict(rows)
    assert predicted.shape == (20, 2)
    assert conditional.predict(rows[["a", "b", "d"]]).tolist() == predicted.tolist()
    right = (predicted == rows[["c", "e"]].to_numpy()).all(axis=1).mean()
    assert conditional.score(rows) == pytest.approx(right)
    assert conditional.information_gain_ >= 0


def test_scores_of_rows_are_conditional_on_the_inputs(conditional: Any) -> None:
    rows = frame(1, 8)
    given = [{n: rows[n][r] for n in ("a", "b", "d")} for r in range(8)]
    expected = [conditional.probability({n: rows[n][r] for n in ("c", "e")}, given=given[r]) for r in range(8)]
    assert conditional.score_samples(rows) == pytest.approx(np.log(expected), abs=1e-12)


def test_a_single_output_gives_one_array() -> None:
    model = fs.DecimatableBoltzmannMachine(EDGES, inputs=["a"], outputs="e").fit(frame())
    assert model.predict_proba(frame(1, 4)).shape == (4, 2)
    assert model.predict(np.array([["yes"], ["no"]])).shape == (2,)


def test_outputs_given_apart_are_outputs_among_the_columns(conditional: Any, tmp_path: Path) -> None:
    """``fit(X, y)`` learns what ``outputs=`` learns, for frames, arrays and a single output."""
    table, fresh = frame(), frame(1, 30)
    X, y = table[["a", "b", "d"]], table[["c", "e"]]
    named = fs.DecimatableBoltzmannMachine(EDGES).fit(X, y)
    assert named.graph_.outputs == ("c", "e")
    assert (named.n_features_in_, named.missing_) == (3, {})
    assert named.feature_names_in_.tolist() == ["a", "b", "d"]
    for found, expected in zip(named.predict_proba(fresh), conditional.predict_proba(fresh), strict=True):
        assert found == pytest.approx(expected, abs=1e-5)
    assert named.score(fresh[["a", "b", "d"]], fresh[["c", "e"]]) == conditional.score(fresh)
    named.save(tmp_path / "m.fsm")
    assert fs.load(tmp_path / "m.fsm").n_features_in_ == 3
    edges = [("x0", "x1"), ("x1", "last"), ("x1", "x2"), ("x2", "last")]
    alone = fs.DecimatableBoltzmannMachine(edges, outputs="last").fit(X.to_numpy(), table["e"].to_numpy())
    assert alone.predict(fresh[["a", "b", "d"]].to_numpy()).shape == (30,)
    weighted = alone.score(X.to_numpy(), table["e"], sample_weight=np.ones(300))
    assert weighted == pytest.approx((alone.predict(X.to_numpy()) == table["e"]).mean())
    assert weighted > 0.5


def test_missing_outputs_are_summed_out() -> None:
    """A row whose only output is unknown says nothing about it: learning without the row gives the same weights."""
    table = frame()
    y = table["e"].astype(object).copy()
    y[::4] = None
    edges = [("a", "b"), ("b", "e"), ("a", "e")]
    completing = fs.DecimatableBoltzmannMachine(edges, missing="em", tol=1e-9).fit(table[["a", "b"]], y)
    kept = y.notna()
    without = fs.DecimatableBoltzmannMachine(edges, tol=1e-9).fit(table.loc[kept, ["a", "b"]], y[kept])
    assert completing.machine_.couplings == pytest.approx(without.machine_.couplings, abs=1e-6)
    assert completing.machine_.fields == pytest.approx(without.machine_.fields, abs=1e-6)


def test_samples_follow_what_is_given(joint: Any, conditional: Any) -> None:
    drawn = joint.sample(20_000, random_state=0, given={"b": "yes"})
    assert (drawn["b"] == "yes").all()
    p = joint.probability("d=yes | b=yes")
    assert (drawn["d"] == "yes").mean() == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 20_000))
    assert (conditional.sample(5, random_state=1, given="a=yes, b=no, d=yes")["a"] == "yes").all()
    with pytest.raises(FullspanError, match="the input 'b' is not given"):
        conditional.sample(5, given="a=yes, d=no")


def test_a_file_and_a_pickle_give_the_same_machine(joint: Any, conditional: Any, tmp_path: Path) -> None:
    rows = frame(2, 10)
    for k, model in enumerate((joint, conditional)):
        model.save(tmp_path / f"{k}.fsm")
        for other in (fs.load(tmp_path / f"{k}.fsm"), pickle.loads(pickle.dumps(model))):
            assert type(other) is fs.DecimatableBoltzmannMachine
            assert other.graph_ == model.graph_
            assert other.score_samples(rows) == pytest.approx(model.score_samples(rows), rel=1e-13)
    assert fs.load(tmp_path / "1.fsm").predict(rows).tolist() == conditional.predict(rows).tolist()
    again = clone(fs.load(tmp_path / "1.fsm")).fit(frame())
    assert again.machine_.couplings == pytest.approx(conditional.machine_.couplings, abs=1e-5)


def test_a_chain_of_three_hundred_columns_is_learned_and_asked() -> None:
    """Far beyond any table: the expectations are those of the data, less the pull of the penalty."""
    rng = np.random.default_rng(0)
    x = rng.integers(2, size=(200, 300))
    for i in range(1, 300):
        x[:, i] = np.where(rng.random(200) < 0.5, x[:, i - 1], x[:, i])
    model = fs.DecimatableBoltzmannMachine(graphs.chain(300), l2=1e-3).fit(x)
    assert model.status_ == "converged"
    s, machine = 2 * x - 1, model.machine_
    found = Decimation(300, machine.edges).expectations(machine.couplings, machine.fields)
    assert found.nodes == pytest.approx(s.mean(axis=0) - 1e-3 * machine.fields, abs=2e-6)
    assert found.edges == pytest.approx((s[:, :-1] * s[:, 1:]).mean(axis=0) - 1e-3 * machine.couplings, abs=2e-6)
    assert model.score(x) > -300 * np.log(2)
    assert model.sample(3, random_state=0).shape == (3, 300)


def test_what_cannot_be_is_refused(joint: Any, conditional: Any) -> None:
    with pytest.raises(FullspanError, match="needs a graph"):
        fs.DecimatableBoltzmannMachine().fit(frame())
    with pytest.raises(DataError, match="one for each of the outputs c, e is needed"):
        fs.DecimatableBoltzmannMachine(EDGES, outputs=["c", "e"]).fit(frame()[["a", "b", "d"]], frame()["c"])
    with pytest.raises(DataError, match="an input is named 'c', as y is"):
        fs.DecimatableBoltzmannMachine(EDGES).fit(frame(), frame()["c"])
    assert (joint.predict(frame())[:, 2] == joint.predict(frame(), "c")).all()
    with pytest.raises(FullspanError, match="and nothing else"):
        conditional.predict(frame(), "a")
    with pytest.raises(FullspanError, match="there is no node 'q'"):
        fs.DecimatableBoltzmannMachine(graphs.chain(COLUMNS), outputs=["q"]).fit(frame())
    with pytest.raises(NotFittedError):
        fs.DecimatableBoltzmannMachine(EDGES).score_samples(frame())
    with pytest.raises(FullspanError, match="no level 'maybe'"):
        joint.sample(1, given={"a": "maybe"})


def test_questions_that_leave_inputs_open_are_refused(conditional: Any, tmp_path: Path) -> None:
    """Weights that were learned given the inputs say nothing about them, in Python, from a file and in a terminal."""
    from fullspan.people.cli import main

    conditional.save(tmp_path / "machine.fsm")
    for machine in (conditional, fs.load(tmp_path / "machine.fsm"), pickle.loads(pickle.dumps(conditional))):
        for ask in (
            lambda m: m.marginal("a"),
            lambda m: m.conditional("c", {"a": "yes", "d": "no"}),
            lambda m: m.probability("c=yes | a=yes, b in {no, yes}, d=no"),
            lambda m: m.mode({"a": "yes"}),
            lambda m: m.entropy(),
            lambda m: m.entropy("c", given=["a", "b", "d"]),
            lambda m: m.mutual_information("a", "c"),
        ):
            with pytest.raises(FullspanError, match=r"inputs .* open, whose distribution was not learned"):
                ask(machine)
        with pytest.raises(FullspanError, match="input 'b' is missing"):
            machine.impute(pd.DataFrame([{"a": "yes", "b": None, "c": None, "d": "no", "e": "no"}]))
        given = {"a": "yes", "b": "no", "d": "no"}
        assert machine.mode(given)["a"] == "yes"
        assert machine.entropy("c", given) > 0
        filled = machine.impute(pd.DataFrame([{**given, "c": None, "e": "no"}]))
        assert filled["c"][0] == machine.mode({**given, "e": "no"})["c"]
    with pytest.raises(FullspanError, match="predicts some columns"):
        conditional.residuals()
    assert "pearson residual" not in str(conditional.summary())
    for command in (["P(c=yes | a=yes)"], ["--marginals"], ["--log-z"]):
        assert main(["query", str(tmp_path / "machine.fsm"), *command]) == 2


def test_evidence_that_no_level_satisfies_is_refused(joint: Any) -> None:
    """A sample given nothing possible is an error, not a sample of something else."""
    with pytest.raises(FullspanError, match="leaves no level of 'a'"):
        joint.sample(3, given={"a": []})


def test_standard_errors_of_thousands_of_weights_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The information of so many weights is a dense matrix whose eigenvectors would take minutes: NaN instead."""
    from fullspan.learn.likelihood import decimatable

    def refused(*_: Any) -> Any:
        raise AssertionError("the errors were worked out")

    monkeypatch.setattr(decimatable, "standard_errors", refused)
    rows = np.random.default_rng(0).permuted(np.tile([[0], [0], [1], [1], [1]], 800), axis=0)
    machine = fs.DecimatableBoltzmannMachine(graphs.chain(800), l2=0.05).fit(rows)
    assert machine.n_terms_ == 1599
    assert np.isnan(machine.fitted_.standard_errors).all()
