"""The conditional machine as a classifier."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import fullspan as fs
from fullspan import BoltzmannClassifier
from fullspan.errors import BoundaryWarning, ConvergenceWarning, DataError, FullspanError, ModelFileError
from fullspan.model.files.log_linear import write as save

EXPECTED_FAILURES = {
    "check_estimators_nan_inf": "a missing cell is refused, as demanded, but the message names the columns, how many "
    "cells each lacks and what to do, in words that suit text too, where the check looks for the letters NaN",
    "check_sample_weight_equivalence_on_dense_data": "it repeats rows, which moves the quantiles that continuous "
    "columns are cut at; test_integer_weights_count_rows checks the law on discrete data",
}


@parametrize_with_checks([BoltzmannClassifier(bins=3, l2=1e-3)], expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    """The checks use continuous columns, which a model of discrete data cuts in three."""
    check(estimator)


def frame(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    wind, cloud = rng.choice(["no", "some", "much"], rows), rng.choice(["clear", "grey"], rows)
    wet = rng.random(rows) < np.where(cloud == "grey", 0.7, 0.2) * np.where(wind == "much", 0.6, 1.0)
    return pd.DataFrame({"wind": wind, "cloud": cloud, "rain": np.where(wet, "yes", "no")})


def test_y_beside_and_among_the_columns_is_the_same() -> None:
    table = frame()
    among = BoltzmannClassifier(outputs="rain").fit(table)
    beside = BoltzmannClassifier().fit(table[["wind", "cloud"]], table["rain"])
    assert beside.classes_.tolist() == among.classes_.tolist() == ["no", "yes"]
    assert np.allclose(beside.predict_proba(table[["wind", "cloud"]]), among.predict_proba(table), atol=1e-9)
    assert among.score(table) == beside.score(table[["wind", "cloud"]], table["rain"])


def test_probabilities_are_those_of_the_model() -> None:
    """p(y | x) of every row against log_prob of both completions."""
    table = frame()
    model = BoltzmannClassifier(outputs="rain", order=3).fit(table)
    codes = np.array([[model.space_.variables[j].code(v) for j, v in enumerate(row)] for row in table.to_numpy()])
    both = np.stack([model.model_.log_prob(np.c_[codes[:, :2], np.full(len(codes), y)]) for y in (0, 1)], axis=1)
    wanted = np.exp(both) / np.exp(both).sum(axis=1, keepdims=True)
    assert np.allclose(model.predict_proba(table), wanted, atol=1e-12)
    assert np.allclose(np.exp(model.predict_log_proba(table)), wanted, atol=1e-12)
    assert (model.predict(table) == np.array(["no", "yes"])[wanted.argmax(axis=1)]).all()


def test_several_outputs() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (500, 3))
    Y = np.stack([X[:, 0] ^ (rng.random(500) < 0.1), (X[:, 1] + (rng.random(500) < 0.2)) % 3], axis=1)
    model = BoltzmannClassifier(l2=1e-4).fit(X, Y)
    first, second = model.predict_proba(X)
    assert (first.shape, second.shape) == ((500, 2), (500, len(np.unique(Y[:, 1]))))
    assert np.allclose([first.sum(axis=1), second.sum(axis=1)], 1)
    assert model.predict(X).shape == (500, 2)
    assert 0.5 < model.score(X, Y) <= 1
    assert [c.tolist() for c in model.classes_] == [[0, 1], np.unique(Y[:, 1]).tolist()]


def test_hidden_units_learn_what_pairs_cannot() -> None:
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (400, 2))
    y = np.where(rng.random(400) < 0.05, 1 - (X[:, 0] ^ X[:, 1]), X[:, 0] ^ X[:, 1])
    model = BoltzmannClassifier(hidden=2, random_state=0, l2=1e-4).fit(X, y)
    assert model.score(X, y) > 0.9 > BoltzmannClassifier(l2=1e-4).fit(X, y).score(X, y)


def test_frames_arrays_and_lists_agree() -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (200, 3))
    y = (X[:, 0] + rng.integers(0, 2, 200)) % 2
    p = BoltzmannClassifier().fit(X, y).predict_proba(X)
    names = ["a", "b", "c"]
    for table in (pd.DataFrame(X, columns=names), pl.DataFrame(dict(zip(names, X.T, strict=True))), X.tolist()):
        assert np.allclose(BoltzmannClassifier().fit(table, y).predict_proba(table), p, atol=1e-9)


def test_missing_cells() -> None:
    table = frame()
    table.loc[3, "wind"] = None
    with pytest.raises(DataError, match="missing"):
        BoltzmannClassifier(outputs="rain").fit(table)
    X, y = table[["wind", "cloud"]], table["rain"]
    kept = BoltzmannClassifier(missing="drop").fit(X, y)
    assert kept.fitted_.total == 399
    with pytest.raises(DataError, match="the input 'wind' is missing in 1 distinct rows"):
        BoltzmannClassifier(missing="em").fit(X, y)
    assert BoltzmannClassifier(missing="level", l2=1e-4).fit(X, y).predict(X).shape == (400,)
    with pytest.raises(DataError, match="missing"):
        kept.predict(X)


def test_scikit_learn_tools() -> None:
    assert is_classifier(BoltzmannClassifier())
    model = BoltzmannClassifier(order=3, l2=0.1)
    assert clone(model).get_params() == model.get_params()
    X = np.random.default_rng(5).integers(0, 2, (120, 3))
    scores = cross_val_score(BoltzmannClassifier(l2=1e-3), X, X[:, 0] ^ X[:, 1], cv=3)
    assert scores.shape == (3,)
    with pytest.raises(NotFittedError):
        BoltzmannClassifier().predict(X)


def test_bad_roles_and_targets() -> None:
    table, X = frame(), np.array([[0, 1], [1, 0], [1, 1]])
    with pytest.raises(FullspanError, match="requires y to be passed"):
        BoltzmannClassifier().fit(table)
    with pytest.raises(FullspanError, match="y is given too"):
        BoltzmannClassifier(outputs="rain").fit(table, table["rain"])
    with pytest.raises(FullspanError, match="both an input and an output"):
        BoltzmannClassifier(outputs="rain", inputs=["rain", "wind", "cloud"]).fit(table)
    with pytest.raises(DataError, match="3 rows and y has 2"):
        BoltzmannClassifier().fit(X, [0, 1])
    with pytest.raises(DataError, match="has one class"):
        BoltzmannClassifier().fit(X, [1, 1, 1])
    with pytest.raises(DataError, match=r"an input is named 'rain', as y is"):
        BoltzmannClassifier().fit(table, table["rain"])
    with pytest.raises(FullspanError, match="hidden is -1"):
        BoltzmannClassifier(hidden=-1).fit(X, [0, 1, 1])


def test_separated_outputs_are_told() -> None:
    X = np.random.default_rng(6).integers(0, 2, (100, 2))
    with pytest.warns(BoundaryWarning, match="x0=1:y=1"):
        model = BoltzmannClassifier(l2=0.0).fit(X, X[:, 0])
    assert model.diverging_ == ("y=1", "x0=1:y=1")
    assert model.score(X, X[:, 0]) == 1.0


def test_scoring_a_table_leaves_out_incomplete_rows_as_fitting_does() -> None:
    table = frame()
    table.loc[:9, "wind"] = None
    model = BoltzmannClassifier(outputs="rain", missing="drop").fit(table)
    assert model.score(table) == model.score(table.iloc[10:])


def test_an_early_end_is_told() -> None:
    table = frame()
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        BoltzmannClassifier(outputs="rain", l2=0.0, max_iter=1).fit(table)


def test_a_column_of_outputs_is_scored_row_by_row() -> None:
    """y as (rows,), (rows, 1) or a frame of one column is one output, and has one score."""
    table = frame()
    X, y = table[["wind", "cloud"]], table["rain"]
    model = BoltzmannClassifier().fit(X, table[["rain"]])
    assert model.space_.names == ("wind", "cloud", "rain")
    expected = np.mean(model.predict(X) == y)
    assert 0 < expected < 1
    assert model.score(X, y) == model.score(X, table[["rain"]]) == model.score(X, y.to_numpy()[:, None]) == expected
    with pytest.raises(DataError, match=r"shape \(399,\)"):
        model.score(X, y[1:])


def test_outputs_of_several_kinds_keep_their_values() -> None:
    """Text beside truth values: both are learned, and predicted as they are."""
    table = frame()
    Y = pd.DataFrame({"rain": table["rain"], "calm": table["wind"] == table["wind"].iloc[0]})
    X = table[["cloud"]]
    model = BoltzmannClassifier(l2=1e-4).fit(X, Y)
    assert [c.dtype.kind for c in model.classes_][1] == "b"
    found = model.predict(X)
    assert {type(v) for v in found[:, 1].tolist()} == {bool}
    assert model.score(X, Y) == np.mean((found == Y.to_numpy()).all(axis=1)) > 0


def test_outputs_of_arrow_and_missing_scalars() -> None:
    """Columns of an Arrow table have their own names; NA of a nullable column is a missing output."""
    pa = pytest.importorskip("pyarrow")
    table = frame()
    X = table[["wind", "cloud"]]
    assert BoltzmannClassifier().fit(X, pa.table({"wet": table["rain"].tolist()})).space_.names[-1] == "wet"
    y = pd.Series(pd.array((table["rain"] == table["rain"].iloc[0]).astype(int), dtype="Int64"), dtype=object)
    y[3] = pd.NA
    assert BoltzmannClassifier(missing="drop").fit(X, y).fitted_.total == 399


def test_columns_beyond_the_inputs_are_refused() -> None:
    """An array with a column too many is no table of the inputs, unless the outputs were among its columns."""
    X = np.random.default_rng(7).integers(0, 2, (80, 3))
    beside = BoltzmannClassifier(l2=1e-3).fit(X[:, :2], X[:, 2])
    with pytest.raises(DataError, match="X has 3 features"):
        beside.predict(X)
    among = BoltzmannClassifier(outputs="x2", l2=1e-3).fit(X)
    assert among.predict(X).tolist() == beside.predict(X[:, :2]).tolist()


def test_roles_without_effect_are_refused() -> None:
    table = frame()
    with pytest.raises(FullspanError, match="no term has an output, so nothing would be learned about 'rain'"):
        BoltzmannClassifier(outputs="rain", terms=[["wind", "cloud"]]).fit(table)
    with pytest.raises(FullspanError, match="'rain' is named twice among the outputs"):
        BoltzmannClassifier(outputs=["rain", "rain"]).fit(table)


def test_a_file_keeps_the_parameters(tmp_path: Path) -> None:
    """A loaded classifier is one that can be fitted again, with the same result."""
    table = frame()
    X, y = table[["wind", "cloud"]], table["rain"]
    graph = [("wind", "cloud"), ("wind", "rain"), ("cloud", "rain"), ("u", "rain")]
    model = BoltzmannClassifier(
        order=3, graph=graph, hidden=["u"], basis="walsh", l2=1e-2, restarts=2, tol=1e-8, max_iter=400, random_state=3
    ).fit(X, y)
    model.save(tmp_path / "rain.fsm")
    loaded = fs.load(tmp_path / "rain.fsm")
    given, kept = model.get_params(), loaded.get_params()
    assert kept.pop("hidden") == {"u": [0, 1]}
    assert {tuple(sorted(edge)) for edge in kept.pop("graph")} == {tuple(sorted(edge)) for edge in graph}
    assert kept == {name: value for name, value in given.items() if name in kept}
    again = clone(loaded).fit(X, y)
    assert again.n_terms_ == model.n_terms_
    assert np.allclose(again.predict_proba(X), model.predict_proba(X))


def test_information_gain_of_rows_with_missing_outputs() -> None:
    """Rows without output add nothing: the gain per row is that of the others, in a larger number of rows."""
    table = frame()
    X, y = table[["wind", "cloud"]], table["rain"].astype(object)
    whole = BoltzmannClassifier(l2=0.0).fit(X[100:], y[100:])
    y[:100] = None
    part = BoltzmannClassifier(missing="em", l2=0.0).fit(X, y)
    assert part.information_gain_ == pytest.approx(whole.information_gain_ * 300 / 400, abs=1e-10)
    assert whole.information_gain_ > 1e-4


def test_a_file_without_roles_is_refused(tmp_path: Path) -> None:
    table = frame()
    model = BoltzmannClassifier(outputs="rain", l2=0.01).fit(table)
    settings = {name: value for name, value in model.fitted_.settings.items() if name != "roles"}
    save(dataclasses.replace(model.fitted_, settings=settings), tmp_path / "rain.fsm")
    with pytest.raises(ModelFileError, match="lacks what a BoltzmannClassifier needs: 'roles'"):
        fs.load(tmp_path / "rain.fsm")
