"""Restricted and deep Boltzmann machines as estimators: rows, labels, files, and what is refused."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import fullspan as fs
from fullspan import DeepBoltzmannMachine, RestrictedBoltzmannMachine
from fullspan.datasets import house_votes_path
from fullspan.errors import ConvergenceWarning, DataError, FullspanError, ModelFileError, TooLargeError
from fullspan.model.files import checksum
from layers import all_codes, joint, log_sum


def patterns(n: int = 400, seed: int = 0) -> NDArray[np.int64]:
    """Two opposite patterns of four bits, with 5 % of the bits flipped."""
    rng = np.random.default_rng(seed)
    clean = np.where(rng.random((n, 1)) < 0.5, [[0, 0, 1, 1]], [[1, 1, 0, 0]])
    return np.asarray(clean ^ (rng.random((n, 4)) < 0.05), dtype=np.int64)


def restricted(**options: Any) -> RestrictedBoltzmannMachine:
    """A small machine that learns the patterns in a moment."""
    given = {"n_hidden": 3, "batch_size": 20, "max_iter": 30, "random_state": 0, **options}
    return RestrictedBoltzmannMachine(**given)


def deep(**options: Any) -> DeepBoltzmannMachine:
    given = {"layers": [3, 2], "batch_size": 20, "max_iter": 30, "learning_rate": 0.1, "random_state": 0, **options}
    return DeepBoltzmannMachine(**given)


BOTH = pytest.mark.parametrize("make", [restricted, deep])


@cache
def learned(make: Callable[..., Any]) -> Any:
    """A machine of the patterns, for tests that only ask it."""
    return make().fit(patterns())


def exact_log_p(machine: Any, codes: NDArray[Any]) -> NDArray[np.float64]:
    """Log-probabilities of rows with −1 for open cells, by the sum over all joint states."""
    every, _, log = joint(machine.model_)
    n, z = len(machine.space_), log_sum(log)
    return np.array([log_sum(log[((every[:, :n] == r) | (r < 0)).all(axis=1)]) - z for r in codes])


def test_scores_are_log_probabilities() -> None:
    """score_samples = log p(x) = -F(x) - log Z by enumeration, sums to one over all states, and score is its mean."""
    machine = learned(restricted)
    every = all_codes((2,) * 4)
    assert machine.log_z_.is_exact
    assert np.allclose(-machine.free_energy(every) - machine.log_z_.value, machine.score_samples(every))
    assert machine.score_samples(every) == pytest.approx(exact_log_p(machine, every), abs=1e-9)
    assert np.exp(machine.score_samples(every)).sum() == pytest.approx(1.0, abs=1e-9)
    assert machine.score(every) == pytest.approx(machine.score_samples(every).mean())
    assert machine.score(patterns(seed=5)) > -1.8


def test_scores_with_an_estimated_log_z_say_so() -> None:
    """log_z='ais': the score differs from the exact one by the error of log Z, which is known and not zero."""
    machine = restricted(log_z="ais", ais_chains=300, ais_steps=200).fit(patterns())
    assert machine.log_z_.method == "ais"
    off = machine.score_samples(patterns()[:3]) - exact_log_p(machine, patterns()[:3])
    assert off == pytest.approx(off[0] * np.ones(3), abs=1e-6)
    assert abs(off[0]) < 4 * machine.log_z_.standard_error < 0.2
    assert "±" in str(machine.log_z_)


@BOTH
def test_log_z_is_estimated_when_it_is_asked_for(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Learning and features need no log Z; the estimate is made once, with the seed and the settings of the fit."""
    from fullspan.engine.sampling.layers import likelihood

    calls, estimate = [], likelihood.annealed_log_z
    monkeypatch.setattr(likelihood, "annealed_log_z", lambda *a: calls.append(a) or estimate(*a))
    machine = make(log_z="ais", ais_chains=20, ais_steps=10).fit(patterns())
    machine.transform(patterns())
    assert not calls
    again = pickle.loads(pickle.dumps(machine)).set_params(ais_steps=5000, random_state=9)
    assert machine.log_z_ == machine.log_z_ == machine.fitted_.log_z == again.log_z_
    assert [call[2:] for call in calls] == [(20, 10), (20, 10)]
    with pytest.raises(FullspanError, match="log_z is 'guess'"):
        make(log_z="guess").fit(patterns())


def test_the_bound_of_a_deep_machine_lies_below() -> None:
    """score_samples of a deep machine is a lower bound of log p(x), and the posterior tells that it converged."""
    machine = learned(deep)
    every = all_codes((2,) * 4)
    bounds, truth = machine.score_samples(every), exact_log_p(machine, every)
    assert (bounds <= truth + 1e-9).all()
    assert (truth - bounds).max() > 1e-6
    assert machine.posterior(every).converged
    assert machine.transform(every).shape == (16, 2)
    assert machine.score(patterns(seed=5)) > -2.2


def test_missing_cells_are_summed_out_and_learned_from() -> None:
    """missing='em': NaN cells are summed over in scores and transform; learning with a fifth missing still works."""
    rows = patterns(600).astype(float)
    rows[np.random.default_rng(1).random(rows.shape) < 0.2] = np.nan
    machine = restricted(missing="em", max_iter=60).fit(rows)
    codes = np.where(np.isnan(rows), -1, rows).astype(int)[:30]
    assert machine.score_samples(rows[:30]) == pytest.approx(exact_log_p(machine, codes), abs=1e-9)
    assert machine.transform(rows[:30]).shape == (30, 3)
    assert machine.score(patterns(seed=5)) > -1.9
    with pytest.raises(DataError, match=r"missing cell.*missing='em'"):
        restricted().fit(rows)
    dropped = restricted(missing="drop").fit(rows)
    assert dropped.fitted_.n_dropped == int(np.isnan(rows).any(axis=1).sum())


def test_transform_gives_the_posterior_of_hidden_units() -> None:
    """p(h_j = 1 | x) = sigmoid(c_j + x.W_j), and names of the features count the hidden units."""
    machine = learned(restricted)
    rows = patterns()[:5]
    inputs = rows @ machine.components_.T + machine.intercept_hidden_
    assert machine.transform(rows) == pytest.approx(1 / (1 + np.exp(-inputs)), abs=1e-9)
    assert list(machine.get_feature_names_out()) == [f"restrictedboltzmannmachine{j}" for j in range(3)]


def test_a_machine_works_in_a_pipeline() -> None:
    """Labels given by a pipeline are not taken for visible units unless there is a target."""
    rows = patterns()
    pipe = make_pipeline(restricted(), LogisticRegression()).fit(rows, rows[:, 0])
    assert pipe.score(rows, rows[:, 0]) > 0.9
    assert clone(restricted(n_hidden=7)).n_hidden == 7


@pytest.mark.parametrize("as_frame", [False, True])
def test_labels_are_predicted_by_free_energies(as_frame: bool) -> None:
    """predict_proba(x) = p(y | x) by enumeration, with the label given as y or as a column."""
    rows = patterns(600)
    labels = np.array(["left", "none", "right"])[rows[:, 0] + rows[:, 1]]
    machine = restricted(n_hidden=6, target="side", max_iter=60)
    inputs: Any = rows
    if as_frame:
        inputs = pd.DataFrame(rows, columns=list("abcd"))
        machine.fit(inputs.assign(side=labels))
    else:
        machine.fit(rows, labels)
    codes = machine._codes(inputs[:20])
    assert (codes[:, machine._position] == -1).all()
    expected = np.empty((20, 3))
    for k in range(3):
        codes[:, machine._position] = k
        expected[:, k] = np.exp(exact_log_p(machine, codes))
    expected /= expected.sum(axis=1, keepdims=True)
    assert machine.predict_proba(inputs[:20]) == pytest.approx(expected, abs=1e-9)
    assert (machine.predict(inputs) == labels).mean() > 0.85
    assert machine.transform(inputs).shape == (600, 6)
    if not as_frame:
        assert machine.score(rows, labels) < machine.score(rows)


def test_without_a_target_every_column_is_predicted_from_the_others() -> None:
    """A machine with labels predicts these; one without predicts each column, or the one that is named."""
    machine = learned(restricted)
    every = machine.predict_proba(patterns())
    assert every.shape == (len(patterns()), sum(machine.space_.cards))
    assert machine.predict_proba(patterns(), "x1") == pytest.approx(every[:, 2:4], abs=1e-12)
    assert not hasattr(DeepBoltzmannMachine(layers=[2, 2]), "predict")


def test_constant_columns_are_nothing_to_learn_from() -> None:
    with pytest.raises(DataError, match="one level only"):
        restricted(missing="level").fit(np.ones((1, 3)) * 4)


EXPECTED_FAILURES = {
    "check_estimators_nan_inf": "a missing cell is refused, as demanded, in words without the letters NaN",
    "check_sample_weight_equivalence_on_dense_data": "stochastic steps draw other batches of repeated rows",
}
_QUICK = {"bins": 2, "max_iter": 2, "ais_chains": 5, "ais_steps": 5, "batch_size": 10, "random_state": 0}
CHECKED = [
    RestrictedBoltzmannMachine(n_hidden=2, **_QUICK),
    DeepBoltzmannMachine(layers=[2, 2], pretraining=1, **_QUICK),
]


@parametrize_with_checks(CHECKED, expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    """The checks use continuous columns, which are cut in two."""
    check(estimator)


def test_categorical_tables_are_units_in_groups() -> None:
    """House votes with three levels and text: fitted from a file, scored exactly, sampled as a frame of levels."""
    machine = RestrictedBoltzmannMachine(
        n_hidden=4, missing="level", columns=["party", "crime", "water"], max_iter=20, batch_size=20, random_state=0
    ).fit(house_votes_path())
    assert machine.model_.sizes == (1 + 3 + 3, 4)
    rows = machine.sample(500, random_state=1, given={"party": "democrat"}, burn_in=50)
    assert set(rows.column("party").to_pylist()) == {"democrat"}
    with pytest.raises(FullspanError, match="given 2 levels; chains need a single level"):
        machine.sample(1, given={"party": ["democrat", "republican"]})
    codes = machine._codes(house_votes_path())[:5]
    assert machine._scores(codes) == pytest.approx(exact_log_p(machine, codes), abs=1e-9)


@BOTH
def test_samples_have_the_machine_s_frequencies(make: Any) -> None:
    """Frequencies of 20,000 chains agree with the exact means within 4.5 standard errors; the seed fixes them."""
    machine = learned(make)
    drawn = machine.sample(20000, random_state=3, burn_in=400)
    _, layers, log = joint(machine.model_)
    p = np.exp(log - log_sum(log)) @ layers[0]
    assert (np.abs(drawn.mean(axis=0) - p) < 4.5 * np.sqrt(p * (1 - p) / 20000)).all()
    assert np.array_equal(machine.sample(5, random_state=4, burn_in=5), machine.sample(5, random_state=4, burn_in=5))
    with pytest.raises(FullspanError, match="n_samples is -1; a whole number of at least 0"):
        machine.sample(-1)


@BOTH
def test_rows_are_completed_given_what_they_say(make: Any) -> None:
    """impute keeps observed cells; half a pattern gets its likeliest other half, a draw of it, or probabilities."""
    machine = make(missing="em", max_iter=60).fit(patterns(800))
    rows = np.array([[0, 0, np.nan, np.nan], [np.nan, 1, np.nan, 0]])
    assert machine.impute(rows, random_state=0).tolist() == [[0, 0, 1, 1], [1, 1, 0, 0]]
    many = np.repeat(rows[:1], 4000, axis=0)
    drawn = machine.impute(many, how="draw", random_state=0)
    assert (drawn[:, :2] == 0).all()
    assert 0.7 < drawn[:, 2].mean() < 1.0
    means = machine.impute(many, how="mean", random_state=1, burn_in=30)
    assert list(means) == list(machine.space_.names)
    assert all(p.sum(axis=1) == pytest.approx(1.0) for p in means.values())
    assert (means["x0"] == [1.0, 0.0]).all()
    every, layers, log = joint(machine.model_)
    p = np.exp(log - log.max()) * (every[:, :2] == 0).all(axis=1)
    assert means["x2"][:, 1].mean() == pytest.approx(p @ layers[0][:, 2] / p.sum(), abs=0.02)
    with pytest.raises(FullspanError, match="'mode', 'mean' or 'draw'"):
        machine.impute(rows, how="median")
    with pytest.raises(FullspanError, match=r"burn_in is 2\.5; a whole number of at least 1"):
        machine.impute(rows, burn_in=2.5)


def test_levels_are_completed_with_their_probabilities() -> None:
    """how='mean' of three levels, two levels and one level: p(x_i | known cells) by enumeration; how='mode' its top."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, size=400)
    frame = pd.DataFrame({"a": x, "b": ((x == 2) ^ (rng.random(400) < 0.2)).astype(int), "c": "only"})
    machine = restricted(missing="em", max_iter=40).fit(frame)
    row = pd.DataFrame({"a": [None], "b": [1], "c": [None]})
    means = machine.impute(pd.concat([row] * 500), how="mean", random_state=0, burn_in=40)
    every, _, log = joint(machine.model_)
    weight = np.exp(log - log.max()) * (every[:, 1] == 1)
    exact = [weight @ (every[:, 0] == k) / weight.sum() for k in range(3)]
    assert means["a"].mean(axis=0) == pytest.approx(exact, abs=0.03)
    assert (means["b"] == [0.0, 1.0]).all()
    assert (means["c"] == 1.0).all()
    assert machine.impute(row, random_state=0).iloc[0].tolist() == [int(np.argmax(exact)), 1, "only"]


def test_files_keep_the_interval_of_an_estimated_log_z(tmp_path: Path) -> None:
    """Value, error, freedom and skewness come back; without the last two the interval is that of a normal error."""
    machine = restricted(log_z="ais", ais_chains=20, ais_steps=10).fit(patterns())
    machine.save(tmp_path / "m.fsm")
    found = fs.load(tmp_path / "m.fsm").log_z_
    assert found == machine.log_z_
    assert found.freedom == 19
    document = json.loads((tmp_path / "m.fsm").read_text())
    del document["log_z"]["freedom"], document["log_z"]["skewness"]
    document["checksum"] = checksum(document)
    (tmp_path / "old.fsm").write_text(json.dumps(document))
    old = fs.load(tmp_path / "old.fsm").log_z_
    assert old.interval()[1] == pytest.approx(found.value + 1.959964 * found.standard_error)


@BOTH
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_files_bring_the_same_machine_back(make: Any, dtype: str, tmp_path: Path) -> None:
    """save and load: every weight, log Z, curve and parameter; scores are equal to the last bit."""
    machine = make(early_stopping=True, dtype=dtype, missing="em").fit(patterns())
    machine.save(tmp_path / "m.fsm")
    again = fs.load(tmp_path / "m.fsm")
    assert type(again) is type(machine)
    assert again.log_z_ == machine.log_z_
    assert again.curve_ == machine.curve_
    assert again.history_ == machine.history_
    assert {k: again.get_params()[k] for k in ("max_iter", "missing", "dtype")} == {
        "max_iter": 30,
        "missing": "em",
        "dtype": dtype,
    }
    for a, b in zip(again.model_.weights, machine.model_.weights, strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(again.score_samples(patterns()), machine.score_samples(patterns()))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"method": "exact"', '"method": "guess"', "checksum"),
        ('"kind": "layers"', '"kind": "tree"', "missing|checksum"),
    ],
)
def test_damaged_files_are_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.fsm"
    learned(restricted).save(path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(ModelFileError, match=message):
        fs.load(path)


def test_a_file_whose_weights_have_holes_is_refused(tmp_path: Path) -> None:
    """A document with a right checksum and ragged or non-finite weights is no machine."""
    path = tmp_path / "m.fsm"
    learned(restricted).save(path)
    sound = json.loads(path.read_text())
    for change in (
        lambda d: d["layers"]["weights"][0][0].pop(),
        lambda d: d["layers"].update(weights=[]),
        lambda d: d["layers"]["biases"][1].append(0.0),
        lambda d: d["layers"]["weights"][0][0].__setitem__(0, "1.0"),
        lambda d: d["layers"].update(single="yes"),
        lambda d: d["log_z"].update(method="guess"),
        lambda d: d["fit"].update(curve=[[1, 2.0]]),
    ):
        document = json.loads(json.dumps(sound))
        change(document)
        document["checksum"] = checksum(document)
        path.write_text(json.dumps(document))
        with pytest.raises(ModelFileError, match="not a valid model file"):
            fs.load(path)


def test_partial_fit_goes_on() -> None:
    """Calls of partial_fit continue weights, chains and momentum: five of them are five epochs of fit without decay."""
    machine, rows = restricted(), patterns(600)
    for _ in range(5):
        machine.partial_fit(rows)
    whole = restricted(max_iter=5, decay=False).fit(rows)
    assert np.array_equal(machine.model_.weights[0], whole.model_.weights[0])
    with pytest.raises(DataError, match=r"features|other variables|columns"):
        machine.partial_fit(rows[:, :3])


def test_a_partial_fit_that_raises_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a call that raises in the last stage, the next one goes on from the weights and momentum before it."""
    rows, kind = patterns(600), type(restricted())
    machine = restricted().partial_fit(rows)
    before, trained = machine.model_, machine._trainer
    momentum = [v.copy() for v in trained.ascent.velocities]
    chains = [c.copy() for c in trained.chains]

    def fails(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(kind, "_accept", fails)
        with pytest.raises(KeyboardInterrupt):
            machine.partial_fit(rows)
    assert machine.model_ is before
    assert machine._trainer is trained
    assert np.array_equal(trained.network.weights[0], before.weights[0])
    assert all(map(np.array_equal, trained.ascent.velocities, momentum))
    assert all(map(np.array_equal, trained.chains, chains))
    assert machine.partial_fit(rows).status_ == "epoch limit"


def test_warm_start_begins_with_the_last_weights() -> None:
    """One more epoch after a warm start changes little; from a cold start it is far away."""
    rows = patterns(600)
    machine = restricted(max_iter=40).fit(rows)
    before = machine.score(rows)
    machine.set_params(warm_start=True, max_iter=1, learning_rate=0.01).fit(rows)
    assert abs(machine.score(rows) - before) < 0.05
    assert machine.set_params(warm_start=False).fit(rows).score(rows) < before - 0.5


def test_early_stopping_keeps_a_curve() -> None:
    machine = restricted(early_stopping=True, max_iter=100, patience=2).fit(patterns(100))
    assert 2 < len(machine.curve_) <= 100
    assert all(error == 0.0 for _, _, error in machine.curve_)
    with pytest.raises(FullspanError, match="hold out 0 of"):
        restricted(early_stopping=True, validation_fraction=0.0).fit(patterns())


@BOTH
@pytest.mark.parametrize("value", [0.5, 1.0001, -0.2])
def test_values_that_are_no_units_are_refused(make: Any, value: float) -> None:
    """Values outside {0, 1}: what was found, where, and the way out."""
    rows = patterns().astype(float)
    rows[7, 2] = value
    with pytest.raises(DataError, match=r"row 8 .*column 3.*binarise"):
        make().fit(rows)


@BOTH
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_refused(make: Any, value: float) -> None:
    """Infinity is neither a unit nor a level, in rows to learn from and in rows to score."""
    rows = patterns().astype(float)
    machine = make().fit(rows)
    rows[4, 1] = value
    with pytest.raises(DataError, match=r"row 5 has -?inf in column 2"):
        make().fit(rows)
    with pytest.raises(DataError, match=r"row 5 has -?inf in column 2"):
        machine.score_samples(rows)


@BOTH
def test_a_column_without_an_observed_cell_is_refused(make: Any) -> None:
    """A column of which nothing was seen is named; a batch may lack it where others had it, and rows may be empty."""
    rows = patterns().astype(float)
    rows[3] = np.nan
    assert make(missing="em").fit(rows).status_ == "epoch limit"
    blind = rows.copy()
    blind[:, 2] = np.nan
    with pytest.raises(DataError, match="x2 has no observed cell"):
        make(missing="em").fit(blind)
    with pytest.raises(DataError, match="no observed cell"):
        make(missing="em").fit(np.full((5, 3), np.nan))
    assert make(missing="em").partial_fit(rows).partial_fit(blind).status_ == "epoch limit"


@BOTH
def test_values_that_are_no_levels_are_refused(make: Any) -> None:
    """Rows to score or transform with a value the machine has not seen are refused, with the column and row."""
    machine = learned(make)
    rows = patterns()[:3]
    rows[1, 3] = 2
    with pytest.raises(DataError, match=r"'x3' holds 2 in row 2"):
        machine.score_samples(rows)
    with pytest.raises(DataError, match="5 features"):
        machine.transform(np.zeros((2, 5)))


@pytest.mark.parametrize("bad", [0, -3, 2.5, True])
def test_layers_without_units_are_refused(bad: Any) -> None:
    with pytest.raises(FullspanError, match=r"hidden layer of .* units"):
        restricted(n_hidden=bad).fit(patterns())
    with pytest.raises(FullspanError, match=r"hidden layer of .* units"):
        deep(layers=[3, bad]).fit(patterns())
    with pytest.raises(FullspanError, match="at least one"):
        deep(layers=[]).fit(patterns())


@pytest.mark.parametrize("bad", [2.5, float("nan"), -1, "3", True])
@BOTH
def test_numbers_that_are_not_whole_are_refused_by_name(make: Any, bad: Any) -> None:
    """Epochs, sweeps, chains and temperatures: the argument, its value and what is needed."""
    names = ["max_iter", "gibbs_steps", "batch_size", "n_chains", "patience", "ais_chains", "ais_steps"]
    for name in [*names, *(["pretraining", "mean_field_sweeps"] if make is deep else [])]:
        with pytest.raises(FullspanError, match=f"{name} is {bad!r}; a whole number of at least [012] is needed"):
            make(**{name: bad}).fit(patterns())


@BOTH
def test_a_learning_rate_that_diverges_is_said(make: Any) -> None:
    """The warning names the rate and the epoch; the last good weights are kept and are finite."""
    machine = make(learning_rate=1e6)
    with pytest.warns(ConvergenceWarning) as said:
        machine.fit(patterns())
    texts = [str(warning.message) for warning in said]
    assert any("learning_rate=1e+06 diverges in epoch 1" in text for text in texts)
    assert any("in pretraining" in text for text in texts) == (make is deep)
    assert machine.status_ == "diverged"
    assert np.isfinite(machine.score(patterns()))


def test_a_deep_machine_scores_complete_rows_only() -> None:
    machine = deep(missing="em").fit(patterns())
    with pytest.raises(DataError, match=r"'x1'.*impute"):
        machine.score_samples(np.array([[0, np.nan, 1, 1]]))


def test_too_many_missing_cells_are_refused() -> None:
    """A row that leaves 2^25 states open is not scored silently by sampling."""
    rows = (np.random.default_rng(0).random((60, 25)) < 0.5).astype(float)
    machine = RestrictedBoltzmannMachine(
        n_hidden=24, missing="em", max_iter=1, log_z="ais", ais_steps=5, random_state=0
    )
    machine.fit(rows)
    with pytest.raises(TooLargeError, match="25 cells missing"):
        machine.score_samples(np.full((1, 25), np.nan))


def test_the_same_seed_gives_the_same_machine() -> None:
    a, b = (restricted().fit(patterns()) for _ in range(2))
    assert np.array_equal(a.model_.weights[0], b.model_.weights[0])
    assert not np.array_equal(a.model_.weights[0], restricted(random_state=1).fit(patterns()).model_.weights[0])


def test_nothing_warns_in_a_plain_fit() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        restricted(max_iter=2).fit(patterns())
