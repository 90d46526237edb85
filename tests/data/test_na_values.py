"""Texts that mean a missing cell: the same for files, frames and arrays, by column where wanted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

import fullspan
from fullspan import BoltzmannMachine, ChowLiuTree, FullSpan, FullSpanMixture
from fullspan.data import count, encode
from fullspan.errors import DataError, FullspanError

COLUMNS = {"a": ["-", "x", "None", "y"], "b": ["u", "-", "v", "u"]}
FORMS = {
    "rows": lambda: [list(row) for row in zip(*COLUMNS.values(), strict=True)],
    "array": lambda: np.array(list(zip(*COLUMNS.values(), strict=True))),
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "categories": lambda: pd.DataFrame(COLUMNS).astype("category"),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "arrow": lambda: pa.table(COLUMNS),
}


def _levels(source, **options):
    return [v.levels for v in count(source, missing="em", **options).space.variables]


@pytest.mark.parametrize("form", [*FORMS, "csv", "parquet"])
def test_texts_are_missing_in_every_form(form, tmp_path):
    source = FORMS.get(form, FORMS["pandas"])()
    if form == "csv":
        source.to_csv(tmp_path / "t.csv", index=False)
        source = tmp_path / "t.csv"
    if form == "parquet":
        source.to_parquet(tmp_path / "t.parquet")
        source = tmp_path / "t.parquet"
    names = ["x0", "x1"] if form in ("rows", "array") else ["a", "b"]
    assert _levels(source, na_values=["-"]) == [("None", "x", "y"), ("u", "v")]
    assert _levels(source, na_values=["-", "None"]) == [("x", "y"), ("u", "v")]
    assert _levels(source, na_values=[]) == [("-", "None", "x", "y"), ("-", "u", "v")]
    own = count(source, missing="em", na_values={names[0]: ["-", "None"], names[1]: []})
    assert [v.levels for v in own.space.variables] == [("x", "y"), ("-", "u", "v")]
    assert own.missing_cells == {names[0]: {"-": 1, "None": 1}}
    codes = encode(source, own.space, allow_missing=True, na_values={names[0]: ["-", "None"]})
    assert codes[:, 0].tolist() == [-1, 0, -1, 1]


def test_numbers_may_mean_missing_cells_too():
    table = {"a": [1, 9, 2, 9], "x": [0.5, -9.0, 2.5, 3.5]}
    counts = count(table, missing="em", na_values={"a": [9], "x": [-9]}, bins={"x": 2})
    assert counts.space.variables[0].levels == (1, 2)
    assert counts.missing_cells == {"a": {"9": 2}, "x": {"-9.0": 1}}


def test_an_empty_cell_is_missing_whatever_is_listed(csv_file):
    counts = count(csv_file('a,b\n,u\n"",u\n  ,v\nNA,v\n'), missing="em", na_values=[])
    assert counts.space.variables[0].levels == ("NA",)
    assert counts.missing_cells == {"a": {"": 3}}


def test_the_error_names_texts_and_counts(csv_file):
    with pytest.raises(DataError, match="2 cells 'None' and 1 empty cell in a, 1 cell 'NA' in x") as found:
        count(csv_file("a,x\nNone,1\nNone,2\n,3\nu,NA\n"), bins={"x": [0, 2, 4]})
    assert "na_values=" in str(found.value)
    with pytest.raises(DataError, match=r"\['NA'\]"):
        count({"a": ["u"]}, na_values="NA")


@pytest.mark.parametrize("kind", [FullSpan, ChowLiuTree, BoltzmannMachine])
def test_a_model_file_keeps_the_texts(kind, tmp_path, capsys):
    frame = pd.DataFrame({"a": ["-", "x", "y"] * 8, "b": ["u", "v"] * 12})
    model = kind(missing="em", na_values=["-"], handle_unknown="missing", verbose=True).fit(frame)
    assert model.missing_ == {"a": {"-": 8}}
    assert "8 cells '-' in a" in capsys.readouterr().err
    model.save(tmp_path / "m.fsm")
    again = fullspan.load(tmp_path / "m.fsm")
    assert (again.na_values, again.handle_unknown) == (["-"], "missing")
    assert again.score_samples(frame) == pytest.approx(model.score_samples(frame))


# -- levels that were not seen --------------------------------------------------------------------------------


def _frame():
    a = np.random.default_rng(0).integers(0, 2, 60)
    b = np.array(["x", "y"], dtype=object)[a]
    b[59] = "z"  # one fold alone has it
    return pd.DataFrame({"a": a, "b": b})


def test_an_unknown_level_names_every_remedy():
    model = ChowLiuTree().fit(_frame()[:40])
    for ask in (model.score, model.score_samples):
        with pytest.raises(DataError, match="'z'") as found:
            ask(_frame())
        assert all(word in str(found.value) for word in ("handle_unknown='missing'", "levels=", "categorical"))
    with pytest.raises(FullspanError, match="'ignore'"):
        ChowLiuTree(handle_unknown="ignore").fit(_frame())


@pytest.mark.parametrize("missing", ["error", "drop", "level", "em"])
def test_an_unknown_level_is_summed_out(missing):
    model = ChowLiuTree(pseudo_count=1, missing=missing, handle_unknown="missing").fit(_frame()[:40])
    row = pd.DataFrame({"a": [1], "b": ["z"]})
    expected = np.log(model.probability({"a": 1}))
    assert model.score_samples(row) == pytest.approx([expected])
    rows = pd.concat([row, _frame()[:1]])
    mean = model.score_samples(rows).mean() if missing != "drop" else model.score_samples(rows)[1]
    assert model.score(rows) == pytest.approx(mean)


def test_a_missing_cell_stays_an_error_where_unknown_levels_are_not():
    model = ChowLiuTree(handle_unknown="missing").fit(_frame()[:40])
    for ask in (model.score, model.score_samples):
        with pytest.raises(DataError, match="missing"):
            ask(pd.DataFrame({"a": [1, 0], "b": [None, "x"]}))


def _folds(model, frame):
    scores = cross_val_score(model, frame, cv=3, error_score="raise")
    assert np.isfinite(scores).all()


def test_cross_validation_where_a_fold_lacks_a_level():
    frame, smooth = _frame(), ChowLiuTree(pseudo_count=1)
    with pytest.raises(DataError, match="handle_unknown"):
        _folds(smooth, frame)
    _folds(ChowLiuTree(handle_unknown="missing"), frame)
    _folds(ChowLiuTree(pseudo_count=1, levels={"b": ["x", "y", "z"]}), frame)
    _folds(smooth, frame.assign(b=frame["b"].astype("category")))
    search = GridSearchCV(smooth, {"pseudo_count": [0.5, 2.0]}, cv=3, error_score="raise")
    assert np.isfinite(search.fit(frame.assign(b=frame["b"].astype("category"))).best_score_)
    _folds(
        smooth,
        pl.DataFrame({"a": frame["a"].to_numpy(), "b": pl.Series(list(frame["b"]), dtype=pl.Enum(["x", "y", "z"]))}),
    )


def test_a_classifier_cannot_sum_an_input_out():
    frame = _frame()
    model = fullspan.BoltzmannClassifier(handle_unknown="missing", l2=0.1).fit(frame[["b"]][:40], frame["a"][:40])
    with pytest.raises(DataError, match="'b' has a value in row 20 that is not a level"):
        model.predict(frame[["b"]][40:])


def test_mixtures_keep_the_parameters():
    assert FullSpanMixture(na_values=["-"], handle_unknown="missing").get_params()["na_values"] == ["-"]


@pytest.mark.parametrize("marks", [[99.0], (mark for mark in [99.0]), {"a": (mark for mark in [99.0])}])
def test_a_number_among_the_marks_means_the_same_after_loading(marks, tmp_path):
    """99.0 means the texts "99.0" and "99", from a list or from a generator, before and after saving."""
    frame = pd.DataFrame({"a": ["99", "x", "99.0", "y"] * 5, "b": ["u", "v"] * 10})
    model = ChowLiuTree(missing="em", na_values=marks).fit(frame)
    assert model.missing_ == {"a": {"99": 5, "99.0": 5}}
    model.save(tmp_path / "m.fsm")
    for own in (model, fullspan.load(tmp_path / "m.fsm")):
        assert own.impute(frame)["a"].isin(["x", "y"]).all()


def test_marks_of_a_column_that_the_table_lacks_are_refused():
    table = {"age": ["1", "-"], "b": ["u", "v"]}
    message = r"na_values lists texts for 'agee', which is not a column of the table \(did you mean 'age'\?\)"
    for read in (count, lambda *args, **options: fullspan.fit_many(*args, by="b", **options)):
        with pytest.raises(DataError, match=message):
            read(table, na_values={"agee": ["-"]})
    model = ChowLiuTree(missing="em", na_values={"age": ["-"]}).fit(table)
    assert model.impute({"b": ["u"]}).column_names == ["b", "age"]  # a further table may lack the column


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(["x", "y", "-"], ["y", "x", "-"], ordered=True)),
        pl.Series(["x", "y", "-"], dtype=pl.Enum(["y", "x", "-"])),
    ],
)
def test_ordered_levels_stay_ordered(column):
    frame = (pd if isinstance(column, pd.Series) else pl).DataFrame({"a": column})
    variable = count(frame, missing="em", na_values=["-"]).space.variables[0]
    assert variable.levels == ("y", "x")
    assert variable.ordered


def test_a_text_is_a_level_or_missing():
    table = {"a": ["x", "y", "-"], "b": ["u", "-", "v"]}
    with pytest.raises(DataError, match="levels= of column 'a' lists '-', which na_values= lists as a missing cell"):
        count(table, missing="em", na_values=["-"], levels={"a": ["y", "x", "-"]})
    own = count(table, missing="em", na_values={"b": ["-"]}, levels={"a": ["y", "x", "-"]})
    assert own.missing_cells == {"b": {"-": 1}}


@pytest.mark.parametrize("na_values", [[["x"]], {"a": [["x"]]}, [("x",), "y"]])
def test_nested_texts_are_refused(na_values):
    with pytest.raises(DataError, match=r"na_values= lists .*'x'.*; give texts or numbers"):
        count({"a": ["x", "y"]}, na_values=na_values)
