"""Levels whose order has a meaning: where the order comes from, and that it is kept."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fullspan
from fullspan import FullSpan
from fullspan.data import Variable, count, decode
from fullspan.data.space import MISSING

SIZES = ["small", "medium", "large"]
ROWS = ["small", "large", "medium", "large"] * 10


def _ordered(source, **options):
    return [v.ordered for v in count(source, **options).space.variables]


def test_bins_and_listed_levels_are_ordered_and_inferred_levels_are_not():
    table = {"size": ROWS, "x": list(range(40)), "plain": ["a", "b"] * 20}
    assert _ordered(table, bins={"x": 2}, levels={"size": SIZES}) == [True, True, False]


@pytest.mark.parametrize("is_ordered", [True, False])
def test_categories_are_ordered_where_they_say_so(is_ordered):
    dtype = pd.CategoricalDtype(SIZES, ordered=is_ordered)
    frame = pd.DataFrame({"size": pd.Series(ROWS, dtype=dtype)})
    assert _ordered(frame) == [is_ordered]
    assert _ordered(pa.Table.from_pandas(frame)) == [is_ordered]


def test_an_arrow_file_and_a_polars_enum_keep_the_order(tmp_path):
    frame = pl.DataFrame({"size": pl.Series(ROWS, dtype=pl.Enum(SIZES))})
    frame.write_ipc(tmp_path / "t.arrow")
    for source in (frame, tmp_path / "t.arrow"):
        variable = count(source).space.variables[0]
        assert variable.ordered
        assert list(variable.levels) == SIZES


@pytest.mark.parametrize("is_ordered", [True, False])
def test_a_parquet_file_keeps_categories_in_their_order(is_ordered, tmp_path):
    dtype = pd.CategoricalDtype([*SIZES, "huge"], ordered=is_ordered)
    pd.DataFrame({"x": 1, "size": pd.Series(ROWS, dtype=dtype)}).to_parquet(tmp_path / "t.parquet", row_group_size=7)
    variable = count(tmp_path / "t.parquet").space.variables[1]
    assert variable.levels == (*SIZES, "huge")
    assert variable.ordered is is_ordered


def test_the_level_of_missing_cells_leaves_the_order_to_the_others():
    frame = pd.DataFrame({"size": pd.Series([*ROWS, None], dtype=pd.CategoricalDtype(SIZES, ordered=True))})
    variable = count(frame, missing="level").space.variables[0]
    assert variable.ordered
    assert variable.levels == (*SIZES, MISSING)


def test_the_model_file_keeps_the_order_and_without_the_field_there_is_none(tmp_path):
    table = {"size": ROWS, "other": ["a", "b"] * 20}
    FullSpan(levels={"size": SIZES}).fit(table).save(tmp_path / "m.fsm")
    assert '"ordered": true' in (tmp_path / "m.fsm").read_text()
    assert [v.ordered for v in fullspan.load(tmp_path / "m.fsm").space_.variables] == [True, False]


def test_order_changes_no_state():
    assert Variable("a", ("x", "y"), ordered=True) == Variable("a", ("x", "y"))
    assert Variable("a", ("[0, 1)", "[1, 2]"), (0.0, 1.0, 2.0)).ordered


def test_decoded_pandas_columns_sort_by_the_order_of_the_levels():
    counts = count({"size": ROWS, "x": list(range(40))}, levels={"size": SIZES}, bins={"x": [0, 9, 10, 40]})
    frame = decode(np.array([[2, 2], [0, 1], [1, 0]]), counts.space, like=pd.DataFrame())
    assert frame["size"].sort_values().tolist() == SIZES
    assert frame["x"].sort_values().tolist() == ["[0, 9)", "[9, 10)", "[10, 40]"]
    assert count(frame).space.variables[0].ordered
