"""Distinct values stay distinct levels, through every kind of table; infinite numbers are refused."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from fullspan.data import count, encode
from fullspan.errors import DataError

LARGE = {
    "around 2^53": [2**53, 2**53 + 1, -(2**53) - 1],
    "int64": [2**63 - 1, 2**63 - 2, 0],
    "uint64": [2**64 - 1, 2**64 - 2, 2**63],
    "beyond 64 bits": [2**70, 2**70 + 1, -(2**70)],
}


def check(source, values):
    """Every value is a level of its own, exactly, and is found again."""
    space = count(source).space
    assert space.variables[0].levels == tuple(sorted(values))
    assert encode(source, space)[:, 0].tolist() == [sorted(values).index(v) for v in values]


@pytest.mark.parametrize("values", LARGE.values(), ids=LARGE.keys())
def test_large_integers_in_rows_objects_and_text_files(values, tmp_path):
    check([[v] for v in values], values)
    check({"x": values}, values)
    check(pd.DataFrame({"x": pd.Series(values, dtype=object)}), values)
    check(np.array([[v] for v in values], dtype=object), values)
    (tmp_path / "t.csv").write_text("x\n" + "".join(f"{v}\n" for v in values))
    check(tmp_path / "t.csv", values)
    (tmp_path / "p.csv").write_text("x\n" + "".join(f"{v}.0\n" for v in values))
    check(tmp_path / "p.csv", values)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_large_integers_in_typed_tables(dtype, tmp_path):
    values = LARGE[dtype] if dtype == "uint64" else [*LARGE["int64"], *LARGE["around 2^53"]]
    array = np.array(values, dtype=dtype)
    table = pa.table({"x": array})
    for source in (array[:, None], pd.DataFrame({"x": array}), pl.DataFrame({"x": array}), table):
        check(source, values)
    pq.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, tmp_path / "t.arrow", compression="uncompressed")
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"x": v}) + "\n" for v in values))
    for name in ("t.parquet", "t.arrow", "t.jsonl"):
        check(tmp_path / name, values)


def test_decimals_keep_their_digits(tmp_path):
    values = [Decimal("9007199254740993.00"), Decimal("9007199254740992.00"), Decimal("1.00")]
    table = pa.table({"x": pa.array(values)})
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (table, tmp_path / "t.parquet", pl.from_arrow(table)):
        check(source, [9007199254740993, 9007199254740992, 1])
    check(pa.table({"x": pa.array([Decimal("0.10"), Decimal("2.50")])}), [0.1, 2.5])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (pa.table({"x": [Decimal("0.1000000000000000055"), Decimal("0.1000000000000000056")]}), ".1000000000000000055"),
        ({"x": [2**130, 1]}, "'x'"),
        ({"x": [2**53 + 1, 0.5]}, "'x'"),
        (np.array([[1], [1 + np.finfo(np.longdouble).eps]], dtype=np.longdouble), "'x0'"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(source, words):
    with pytest.raises(DataError, match=words):
        count(source)


@pytest.mark.parametrize(
    "cells", [("0.1", "0.10000000000000000001"), ("0", "1e-400"), ("9007199254740993.5", "9007199254740993.4")]
)
def test_text_that_rounds_to_one_number_is_refused(csv_file, cells):
    with pytest.raises(DataError, match=r"'x' holds .* cannot tell apart"):
        count(csv_file("x\n" + "\n".join([*cells, "0.5"]) + "\n"))


def test_a_json_file_with_rounded_numbers_is_refused(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"x": 1180591620717411303424}\n{"x": 1180591620717411303425}\n')
    with pytest.raises(DataError, match=r"'x' holds 1.18059e\+21.*2\^53"):
        count(path)


def test_one_number_written_in_several_ways_is_one_level(csv_file):
    assert count(csv_file("x\n1\n1.0\n1e0\n2.5\n")).space.variables[0].levels == (1.0, 2.5)


def test_names_that_differ_by_case_are_two_columns(csv_file, tmp_path):
    table = pa.table({"a": [0, 1], "A": [5, 6], "b_1": [2, 3]})
    pq.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, tmp_path / "t.arrow", compression="uncompressed")
    (tmp_path / "t.jsonl").write_text('{"a": 0, "A": 5, "b_1": 2}\n{"a": 1, "A": 6, "b_1": 3}\n')
    path = csv_file("a,A,b_1\n0,5,2\n1,6,3\n")
    for source in (table, table.to_pandas(), pl.from_arrow(table), path, *sorted(tmp_path.glob("t.[ajp]*"))):
        space = count(source).space
        assert [(v.name, v.levels) for v in space.variables] == [("a", (0, 1)), ("A", (5, 6)), ("b_1", (2, 3))]


# -- infinite numbers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["1e400", "-1e400", "inf", "-Infinity"])
@pytest.mark.parametrize("bins", [None, {"x": 2}])
def test_a_number_beyond_all_is_refused_in_a_file(csv_file, cell, bins):
    path = csv_file(f"x,y\n1,a\n2.5,b\n{cell},a\n3,b\n")
    with pytest.raises(DataError, match=f"'x' holds {cell}"):
        count(path, bins=bins)
    with pytest.raises(DataError, match=f"'x' holds {cell} in row 3|'x' holds '{cell}' in row 3"):
        count(path, count_column="x")


def test_an_error_names_the_beginning_of_a_long_number(csv_file):
    path = csv_file(f"x,y\n1,a\n2.5,b\n{'9' * 5000},a\n3,b\n")
    with pytest.raises(DataError, match=r"'x' holds 9{60}\.\.\. \(5,000 characters\), and cannot be cut"):
        count(path, bins={"x": 2})


@pytest.mark.parametrize("bins", [None, {"x": 2}])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_infinity_in_a_frame_is_refused(make, bins):
    frame = make({"x": [0.5, float("inf"), 2.0, 3.0], "y": [0, 1, 0, 1]})
    with pytest.raises(DataError, match="'x' holds inf"):
        count(frame, bins=bins)
    with pytest.raises(DataError, match="'x' holds inf in row 2"):
        count(frame, count_column="x")
    known = count({"x": [0.5, 2.0], "y": [0, 1]}).space
    with pytest.raises(DataError, match="'x' holds inf"):
        encode(frame, known, handle_unknown="missing")
