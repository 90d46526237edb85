"""Each refusal, with the words a person needs."""

from __future__ import annotations

import decimal
import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fullspan.data import Empirical, Space, Variable, count
from fullspan.data.relations import DuckRelation
from fullspan.errors import DataError

FRAME = pd.DataFrame({"age": [1, 2, 2], "sex": ["f", "m", "f"], "n": [1.0, 2.0, 3.0]})
SPACE = Space((Variable("age", (1, 2)), Variable("sex", ("f", "x"))))


def message(*args, **options) -> str:
    with pytest.raises(DataError) as error:
        count(*args, **options)
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n3\n4,5\n", ["line 3", "1 cells", "2 columns"]),
        ("a,b\n1,2\n3,4,5\n", ["line 3", "3 cells", "2 columns"]),
        ('a,b\n1,"x\n2,y\n', ["line 2", "quote"]),
        ("", ["empty"]),
        ("a,b\n", ["no rows"]),
        ("a,b,a\n1,2,3\n", ["named 'a'"]),
        ("a,,c\n1,2,3\n", ["column 2 has no name"]),
        ("\na,b\n1,2\n", ["empty line", "header"]),
    ],
)
def test_bad_csv(csv_file, text, words):
    found = message(csv_file(text))
    assert all(word in found for word in words), found


def test_bad_files(tmp_path):
    assert "no file" in message(tmp_path / "none.csv")
    assert "folder" in message(_folder(tmp_path / "d.csv"))
    for name, data, word in [
        ("t.parquet", b"nonsense", "cannot be read"),
        ("t.arrow", b"nonsense", "cannot be read"),
        ("t.jsonl", b"{nonsense", "cannot be read"),
        ("t.csv", "a,b\n1,é\n".encode("latin-1"), "UTF-8"),
        ("h.csv", "é,b\n1,2\n".encode("latin-1"), "UTF-8"),
        ("t.csv.gz", b"a,b\n1,2\n", "cannot be read"),
        ("t.xlsx", b"x", ".parquet"),
        ("e.csv.gz", gzip.compress(b"", mtime=0), "empty line"),
    ]:
        (tmp_path / name).write_bytes(data)
        assert word in message(tmp_path / name), name
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "none.parquet")
    assert "no rows" in message(tmp_path / "none.parquet")


def _folder(path):
    path.mkdir()
    return path


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (np.array([[1], ["a"]], dtype=object), ["'x0'", "mixes types", "1 (number)", "'a' (str)"]),
        (pd.DataFrame({"q": [1, "a"]}, dtype=object), ["'q'", "mixes types"]),
        (pl.DataFrame({"q": pl.Series([1, "a"], dtype=pl.Object)}), ["'q'", "mixes types"]),
        (pl.DataFrame({"q": pl.Series([{1}, {2}], dtype=pl.Object)}), ["'q'", "Python objects"]),
        ([[True], [1]], ["'x0'", "mixes types"]),
        ([[1, 2], [3]], ["row 2 has 1 cells"]),
        ([[1], 5], ["row 2 is 5"]),
        ([], ["no rows"]),
        (np.zeros(3), ["shape (3,)"]),
        (np.zeros((2, 0)), ["no columns"]),
        (np.zeros((0, 2)), ["no rows"]),
        (np.zeros((1, 1), complex), ["'x0'", "complex"]),
        (pd.DataFrame(), ["no columns"]),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ["named 'a'"]),
        (pd.Series([1, 2]), ["to_frame"]),
        (pl.Series([1, 2]), ["to_frame"]),
        (pa.array([1]), ["Arrow table"]),
        (pa.table({"a": [[1, 2]]}), ["'a'", "nested"]),
        (pa.table({"a": [{"b": 1}]}), ["'a'", "nested"]),
        (pa.table({"a": [b"x"]}), ["'a'", "binary"]),
        ({"a": [1, 2], "b": [1]}, ["'a': 2", "'b': 1"]),
        ({"a": [1, 2], "b": 1}, ["not both"]),
        ([[decimal.Decimal(1)], ["x"]], ["mixes types", "Decimal"]),
        (3, ["int was given", "pandas"]),
    ],
)
def test_bad_tables(source, words):
    found = message(source)
    assert all(word in found for word in words), found


def test_json_of_mixed_types(csv_file):
    found = message(csv_file('{"a": 1}\n{"a": "x"}\n', "t.jsonl"))
    assert "'a'" in found
    assert "mixed type" in found


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": ["aeg"]}, ["no column 'aeg'", "'age'"]),
        ({"columns": "age"}, ["columns=['age']"]),
        ({"columns": ["age", "age"]}, ["twice"]),
        ({"columns": []}, ["no columns"]),
        ({"columns": ["age", "n"], "count_column": "n"}, ["'n'", "weights"]),
        ({"levels": {"sex": ["f"]}}, ["'sex'", "'m'", "1 row,", "'f'"]),
        ({"levels": {"age": [5]}}, ["'age'", "1 in 1 row", "1 other"]),
        ({"levels": {"sxe": ["f"]}}, ["no column 'sxe'", "'sex'"]),
        ({"levels": {"sex": ["f"]}, "columns": ["age"]}, ["'sex'", "not among"]),
        ({"levels": {"sex": ["f", "f"]}}, ["twice"]),
        ({"missing": "maybe"}, ["'maybe'", "'drop'"]),
        ({"count_column": "sex"}, ["'sex'", "not numeric"]),
        ({"count_column": "m"}, ["no column 'm'"]),
        ({"count_column": "n", "sample_weight": [1, 1, 1]}, ["both"]),
        ({"sample_weight": [1, 1]}, ["(2,)", "3 rows"]),
        ({"sample_weight": [1, -1, 1]}, ["row 2", "-1.0"]),
        ({"sample_weight": [1, np.nan, 1]}, ["row 2", "nan"]),
        ({"sample_weight": [0, 0, 0]}, ["sum to 0"]),
        ({"sample_weight": ["a", "b", "c"]}, ["not numbers"]),
        ({"space": SPACE}, ["'sex'", "'m'", "1 row", "'x'"]),
        ({"space": Space((Variable("agee", (1, 2)),))}, ["no column 'agee'", "'age'"]),
        ({"space": SPACE, "bins": 3, "levels": {}}, ["space=", "levels=, bins="]),
        ({"max_levels": 1}, ["'age'", "2 levels", "limit is 1", "bins=", "levels=", "columns=", "max_levels="]),
    ],
)
def test_bad_options(options, words):
    found = message(FRAME, **options)
    assert all(word in found for word in words), found


def test_arrays_have_the_width_of_the_space():
    assert "3 columns, but there are 2 variables" in message(np.zeros((1, 3)), space=SPACE)


@pytest.mark.parametrize("cell", ["-1", "x", "", "inf", "nan"])
def test_bad_counts_name_the_row(csv_file, cell):
    found = message(csv_file(f"a,n\n0,1\n1,{cell}\n0,2\n"), count_column="n")
    assert "'n'" in found
    assert "row 2" in found


def test_missing_cells_are_counted_by_column(csv_file):
    found = message(csv_file("a,b,c\n1,?,1\n?,?,1\n2,y,1\n"))
    assert "1 cell '?' in a, 2 cells '?' in b" in found
    assert " in c" not in found
    assert "na_values=" in found
    assert "missing='drop'" in found
    assert "missing='level'" in found


def test_all_rows_dropped_and_no_level_for_missing(csv_file):
    path = csv_file("a,b\n1,?\n?,1\n")
    assert "every one of the 2 rows" in message(path, missing="drop")
    space = Space((Variable("a", (1,)), Variable("b", (1,))))
    assert "no level '(missing)'" in message(path, missing="level", space=space)


def test_too_many_levels_stop_the_reading_early(monkeypatch, tmp_path):
    """A nearly unique column is refused from the first rows, and while streaming."""
    path = tmp_path / "t.parquet"
    for n in (5000, 200_000):  # more distinct values than any variable has are not read to the end
        pq.write_table(pa.table({"id": np.arange(n), "x": np.zeros(n, int)}), path)
        assert f"'id' has {n} levels, the limit is 64" in message(path)
        assert "'id'" in message(path, levels={"id": [1, 2]})
    large = pa.table({"id": np.arange(1_000_001), "x": np.zeros(1_000_001, int)})
    monkeypatch.setattr(DuckRelation, "groups", None)  # the guard comes first
    assert "'id' has 1000001 levels" in message(large)


@pytest.mark.parametrize(
    ("codes", "options", "words"),
    [
        ([[0, 2]], {"space": Space.of_cards([2, 2])}, ["row 1", "code 2", "'x1'", "0 to 1"]),
        ([[-1]], {}, ["code -1"]),
        ([[0.5]], {}, ["float64"]),
        ([0, 1], {}, ["(2,)"]),
        ([[0]], {"space": Space.of_cards([2, 2])}, ["1 columns", "2 variables"]),
        ([[0]], {"weights": [np.inf]}, ["row 1", "inf"]),
        ([[0]], {"weights": [0]}, ["sum to 0"]),
    ],
)
def test_from_codes_errors(codes, options, words):
    with pytest.raises(DataError) as error:
        Empirical.from_codes(codes, **options)
    assert all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        (["x", None], "levels= of column 'a' lists None; .*missing='level'"),
        (["x", float("nan")], "levels= of column 'a' lists nan; .*missing='level'"),
        (["x", ["y"]], r"levels= of column 'a' lists \['y'\]; levels are texts, numbers or truth values$"),
        ([1, True, 0], "levels= of column 'a' lists both 1 and True, which are equal"),
    ],
)
def test_listed_levels_are_levels(levels, expected):
    with pytest.raises(DataError, match=expected):
        count({"a": [1, 0]}, levels={"a": levels})


@pytest.mark.parametrize("weights", [[1 + 2j, 2], np.array([1 + 0j, 2])])
def test_weights_are_real(weights):
    with pytest.raises(DataError, match="complex numbers"):
        count({"a": ["x", "y"]}, sample_weight=weights)
