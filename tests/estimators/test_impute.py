"""Imputation changes missing cells only: observed cells, further columns and their order stay as they are."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fullspan as fs
from fullspan.data import Space, Variable, count, encode, fill
from fullspan.data.contents import Contents
from fullspan.errors import DataError
from fullspan.model.files import checksum

ROWS = 300
MODELS = {
    "FullSpan": lambda **k: fs.FullSpan(**k),
    "BoltzmannMachine": lambda **k: fs.BoltzmannMachine(**k),
    "ChowLiuTree": lambda **k: fs.ChowLiuTree(**k),
    "FullSpanMixture": lambda **k: fs.FullSpanMixture(runs=[(2, 1)], restarts=1, **k),
    "TruncatedBoltzmannMachine": lambda **k: fs.TruncatedBoltzmannMachine(**k),
    "RestrictedBoltzmannMachine": lambda **k: fs.RestrictedBoltzmannMachine(2, max_iter=5, random_state=0, **k),
}


@pytest.fixture(scope="module")
def frame():
    """Columns in another order than the model's, one of whole numbers to be cut, one of halves, and two left out."""
    rng = np.random.default_rng(1)
    age = rng.integers(18, 80, ROWS)
    side = np.where(age + rng.normal(size=ROWS) * 9 > 50, "old", "young")
    return pd.DataFrame(
        {"id": [f"{i:04d}" for i in range(ROWS)], "half": age / 2 + 0.25, "w": 1.5, "side": side, "age": age}
    )


@pytest.fixture(scope="module")
def partial(frame):
    out = frame.astype({"age": "Int64"})
    for column, rows in (("age", [0, 7]), ("side", [3, 7]), ("half", [5])):
        out.loc[rows, column] = None
    return out


def options(name):
    plain = {"columns": ["age", "side"], "bins": {"age": [0, 50, 100]}}  # two levels each: all machines take them
    return {**plain, "missing": "em"} if name == "RestrictedBoltzmannMachine" else plain


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("how", ["mode", "draw"])
def test_every_estimator_fills_missing_cells_only(name, how, frame, partial):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fs.errors.ConvergenceWarning)
        model = MODELS[name](**options(name)).fit(frame)
    filled = model.impute(partial, how, random_state=0)
    assert list(filled.columns) == list(partial.columns)
    variables = ["age", "side"]
    assert not filled[variables].isna().any().any()
    assert filled["age"].isin(frame["age"]).all()  # a number of the data, no label of a bin
    for column in partial.columns:
        known = partial[column].notna()
        pd.testing.assert_series_equal(filled.loc[known, column], partial.loc[known, column])
        assert filled[column].dtype == partial[column].dtype
    assert filled["half"].isna().sum() == 1  # no variable of the model


@pytest.fixture(scope="module")
def tree(frame):
    return fs.ChowLiuTree(columns=["age", "side", "half"], bins=4).fit(frame)


KINDS = {
    "pandas": lambda f, _: f,
    "polars": lambda f, _: pl.from_pandas(f),
    "lazy": lambda f, _: pl.from_pandas(f).lazy(),
    "arrow": lambda f, _: pa.Table.from_pandas(f, preserve_index=False),
    "records": lambda f, _: f.astype(object).where(f.notna(), None).to_dict("records"),
    "csv": lambda f, folder: _written(folder / "t.csv", lambda p: f.to_csv(p, index=False)),
    "parquet": lambda f, folder: _written(folder / "t.parquet", lambda p: f.to_parquet(p)),
    "jsonl": lambda f, folder: _written(folder / "t.jsonl", lambda p: f.to_json(p, orient="records", lines=True)),
    "arrow file": lambda f, folder: _written(
        folder / "t.arrow", lambda p: pa.feather.write_feather(f, str(p), compression="uncompressed")
    ),
}


def _written(path, write):
    import pyarrow.feather  # noqa: F401

    write(path)
    return path


def cells(table):
    """Rows of any table as dictionaries."""
    if isinstance(table, list):
        return table
    if isinstance(table, pd.DataFrame):
        return table.astype(object).to_dict("records")
    return table.to_dicts() if isinstance(table, pl.DataFrame) else table.to_pylist()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_keeps_its_cells(kind, tree, partial, tmp_path):
    source = KINDS[kind](partial, tmp_path)
    filled = cells(tree.impute(source))
    assert list(filled[0]) == list(partial.columns)
    medians = {v.name: [inside.median for inside in v.contents] for v in tree.space_.variables if v.edges}
    for given, got in zip(partial.astype(object).to_dict("records"), filled, strict=True):
        for name, cell in given.items():
            if not pd.isna(cell):
                assert got[name] == cell
            elif name in medians:
                assert got[name] in medians[name]
            else:
                assert got[name] in ("old", "young")


def test_arrays_and_lists_keep_their_cells():
    rows = np.random.default_rng(0).normal(size=(200, 3))
    rows[:, 1] = rows[:, 0] > 0
    model = fs.ChowLiuTree(bins={"x0": 3, "x2": 3}).fit(rows)
    gaps = rows[:5].copy()
    gaps[[0, 1, 2], [0, 1, 2]] = np.nan
    for source in (gaps, gaps.tolist()):
        filled = model.impute(source)
        assert isinstance(filled, np.ndarray)
        assert filled.dtype == np.float64
        np.testing.assert_array_equal(filled[~np.isnan(gaps)], gaps[~np.isnan(gaps)])
        assert filled[0, 0] in rows[:, 0]
        assert filled[1, 1] in (0, 1)
        assert filled[2, 2] in rows[:, 2]
    chosen = fs.ChowLiuTree(columns=["x0", "x2"], bins=3).fit(rows)  # the middle column is no variable
    np.testing.assert_array_equal(np.isnan(chosen.impute(gaps)), np.isnan(gaps) & [False, True, False])


def test_draws_are_values_of_the_bin_as_often_as_in_the_data():
    x = np.repeat([1.0, 2.0, 3.0, 10.0, 11.0], [10, 40, 50, 180, 40])
    model = fs.FullSpan(bins={"x": [0, 5, 20]}).fit(pd.DataFrame({"x": x}))
    empty = pd.DataFrame({"x": np.full(20_000, np.nan)})
    drawn = model.impute(empty, "draw", random_state=0)["x"]
    shares = drawn.value_counts(normalize=True)
    expected = pd.Series(x).value_counts(normalize=True)
    assert set(shares.index) <= set(expected.index)
    assert (shares - expected[shares.index]).abs().max() < 0.015  # noise alone: the values of a bin have their shares
    assert model.impute(empty.head(1))["x"].tolist() == [10.0]  # the likeliest bin's median


def test_types_widen_only_where_a_filled_number_needs_it():
    """Whole numbers become floating-point where the filled one is not whole, and stay whole where it is."""
    half = Variable(
        "x", ("[0, 2)", "[2, 4]"), (0.0, 2.0, 4.0), contents=(Contents.uncounted([0.5]), Contents.uncounted([3.0]))
    )
    codes = np.array([[0], [-1]])
    for kind, types in (
        (lambda v: pd.DataFrame({"x": pd.array(v, "Int64")}), ("Float64", "Int64")),
        (lambda v: pl.DataFrame({"x": v}), ("Float64", "Int64")),
        (lambda v: pa.table({"x": v}), ("double", "int64")),
    ):
        for code, expected in zip((0, 1), types, strict=True):
            filled = fill(kind([1, None]), Space((half,)), codes, np.array([[0], [code]]))
            found = filled.schema.field("x").type if isinstance(filled, pa.Table) else filled["x"].dtype
            assert str(found) == expected
            assert [row["x"] for row in cells(filled)] == [1, half.contents[code].median]


@pytest.mark.parametrize(
    ("array", "levels", "expected"),
    [
        (np.array([["a"], [""]]), ("a", "longer"), "<U6"),
        (np.array([["1"], [""]]), (1, 123), "<U3"),
        (np.array([[1], [99]]), (1, 32.5), "float64"),
        (np.array([[1], [99]], dtype=np.int8), (1, 300), "int16"),
        (np.array([[1], [99]], dtype=np.float32), (1, 2.5), "float32"),
        (np.array([[1], [99]], dtype=np.float32), (1, 16777217), "float64"),
        (np.array([[2**60 + 1], [99]]), (2**60 + 1, 0.5), "object"),
        (np.array([[1], [99]]), (1, 2**64), "object"),
        (np.array([[1], [99]]), (1, "text"), "object"),
        (np.array([[True], [False]]), (True, 7), "object"),
        (np.array([[1], [99]]), (1, 2), "int64"),
    ],
)
def test_an_array_widens_to_hold_what_is_filled_in(array, levels, expected):
    space, codes = Space((Variable("x0", levels),)), np.array([[0], [-1]])
    filled = fill(array, space, codes, np.array([[0], [1]]))
    assert filled.dtype.kind == np.dtype(expected).kind
    assert filled[:, 0].tolist() == [array[0, 0], str(levels[1]) if array.dtype.kind == "U" else levels[1]]
    if expected != "int16":
        assert filled.dtype == np.dtype(expected)


@pytest.mark.parametrize("how", ["mode", "draw"])
def test_a_binned_column_that_the_table_lacks_may_be_filled_with_its_level_of_missing_cells(how):
    """The likeliest level of such a column may be "(missing)": an empty cell."""
    x = np.where(np.arange(100) < 90, np.nan, np.arange(100.0))
    model = fs.ChowLiuTree(bins={"x": 2}, missing="level").fit(pd.DataFrame({"x": x, "y": np.arange(100) % 2}))
    filled = model.impute(pd.DataFrame({"y": np.arange(200) % 2}), how, random_state=0)
    share = filled["x"].isna().mean()
    assert share == 1.0 if how == "mode" else 0.8 < share < 1.0


def test_levels_that_a_column_does_not_show_are_written_in_its_type():
    space = Space((Variable("d", ("2020-01-01", "2021-02-03")), Variable("c", ("a", "b")), Variable("i", (1, 2))))
    codes, after = np.array([[0, 0, 0], [-1, -1, -1]]), np.array([[0, 0, 0], [1, 1, 1]])
    frame = pd.DataFrame(
        {"d": pd.to_datetime(["2020-01-01", None]), "c": pd.Categorical(["a", None]), "i": [1.0, None]},
        index=["first", "second"],
    )
    filled = fill(frame, space, codes, after)
    assert filled.loc["second"].tolist() == [pd.Timestamp("2021-02-03"), "b", 2.0]
    assert filled["d"].dtype == frame["d"].dtype
    assert filled["i"].dtype == np.float64
    table = pa.table({"d": pa.array(frame["d"]), "c": pa.array(["a", None]).dictionary_encode(), "i": [1, None]})
    assert [str(v) for v in fill(table, space, codes, after).to_pylist()[1].values()] == [
        "2021-02-03 00:00:00",
        "b",
        "2",
    ]


def test_a_bin_without_data_and_files_without_values_give_the_middle_or_the_finite_edge(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0, 30.0], "y": [0, 0, 1]})
    model = fs.FullSpan(bins={"x": [0, 10, 20, 40]}).fit(frame)
    contents = model.space_.variables[0].contents
    assert contents == (Contents((1.0, 2.0), (1.0, 2.0), (1.0, 1.0)), Contents(), Contents((30.0,), (30.0,), (1.0,)))
    path = tmp_path / "m.fsm"
    model.save(path)
    assert fs.load(path).space_.variables[0].contents == contents
    record = json.loads(path.read_text())
    del record["space"]["variables"][0]["contents"]
    record["space"]["variables"][0]["edges"] = ["-inf", 10.0, 20.0, "inf"]
    record["checksum"] = checksum(record)
    path.write_text(json.dumps(record))
    old = fs.load(path).space_
    after = np.array([[0, 0], [1, 0], [2, 1]])
    filled = fill(frame.assign(x=np.nan), old, np.where([True, False], -1, after), after)
    assert filled["x"].tolist() == pytest.approx([10.0, 15.0, 20.0])
    np.testing.assert_array_equal(encode(filled, old), after)


def test_values_of_a_bin_must_lie_in_it():
    with pytest.raises(DataError, match=r"'x'.*2 bins and values for 1"):
        Variable("x", ("a", "b"), (0.0, 1.0, 2.0), contents=(Contents.uncounted([0.5]),))
    with pytest.raises(DataError, match=r"1.5 of 'x' is not in its bin a"):
        Variable("x", ("a", "b"), (0.0, 1.0, 2.0), contents=(Contents.uncounted([1.5]), Contents()))


def test_added_parts_add_what_their_bins_hold():
    edges = {"x": [0, 1, 2]}
    parts = [count({"x": values}, bins=edges) for values in ([0.25], [0.75, 0.25, 1.5])]
    together = count({"x": [0.25, 0.75, 0.25, 1.5]}, bins=edges)
    assert (parts[0] + parts[1]).space.variables[0].contents == together.space.variables[0].contents


def test_an_unknown_kind_of_completion_is_refused_with_all_that_exist() -> None:
    model = fs.ChowLiuTree(pseudo_count=1.0).fit({"a": [0, 1, 1, 0], "b": [0, 1, 0, 0]})
    with pytest.raises(fs.errors.FullspanError, match="how is 'likeliest'; choose 'mode', 'cells', 'draw' or 'mean'"):
        model.impute({"a": [0], "b": [None]}, how="likeliest")


def test_a_table_of_other_things_is_neither_filled_nor_predicted() -> None:
    """Where no column is one of the model's, all that could be said is its shares, a row for every row."""
    model = fs.ChowLiuTree(pseudo_count=1.0).fit({"a": [0, 1, 1, 0], "b": [0, 1, 0, 0]})
    for ask in (model.impute, lambda table: model.predict(table, "a"), lambda table: model.score_samples(table)):
        with pytest.raises(DataError, match=r"the table has (none of the model's columns|no column 'a')"):
            ask({"c": [0, 1]})
