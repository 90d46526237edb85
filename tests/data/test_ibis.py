"""Ibis tables: grouped in their own backend."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from fullspan.data import count, encode
from fullspan.errors import DataError

ibis = pytest.importorskip("ibis")

# Ibis 12 itself calls what DuckDB 2 deprecates when it opens a table by name; nothing of ours does.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

FRAME = pd.DataFrame(
    {
        "a": [0, 1, 1, 2, 1],
        "t": ["y", "n", "n", None, "n"],
        "b": [True, False, False, True, False],
        "f": [1.0, 2.0, 2.0, 4.0, 2.0],
        "d": pd.to_datetime(["2020-01-01"] * 5).date,
        "w": [1.0, 2.0, 0.5, 0.0, 3.0],
    }
)


@pytest.fixture
def table():
    connection = ibis.duckdb.connect()
    connection.con.register("t", pa.Table.from_pandas(FRAME))
    yield connection.table("t")
    connection.disconnect()


def test_ibis_equals_the_frame(table):
    for options in (
        {"missing": "drop"},
        {"missing": "level"},
        {"missing": "em"},
        {"missing": "em", "count_column": "w", "bins": {"f": [0, 2, 4]}},
        {"columns": ["b", "a"]},
        {"missing": "drop", "count_column": "w"},
        {"columns": ["a"], "sample_weight": "w"},
    ):
        assert count(table, **options).fingerprint() == count(FRAME, **options).fingerprint(), options


def test_expressions_and_columns_are_tables(table):
    assert count(table.filter(table.a == 1).select("a", "b")).counts.tolist() == [3.0]
    assert count(table.a).counts.tolist() == [1, 3, 1]


def test_only_distinct_states_travel(table, monkeypatch):
    """The backend groups: what comes back has one row per distinct state."""
    from fullspan.data.relations import ibis_table

    seen = []
    original = ibis_table.IbisRelation._batches

    def spy(self, query):
        for batch in original(self, query):
            seen.append(batch.num_rows)
            yield batch

    monkeypatch.setattr(ibis_table.IbisRelation, "_batches", spy)
    count(table, columns=["a", "b"])
    assert sum(seen) == 3


def test_bad_weights_and_arrays_of_weights(table):
    bad = ibis.memtable(pa.table({"a": [0, 1], "w": [1.0, -2.0]}))
    with pytest.raises(DataError, match=r"'w' holds -2\.0 in a row"):
        count(bad, count_column="w")
    with pytest.raises(DataError, match="name the column"):
        count(table, columns=["a"], sample_weight=np.ones(5))


def test_ibis_errors(table):
    with pytest.raises(DataError, match="'a' has 3 levels, the limit is 2"):
        count(table, columns=["a"], max_levels=2)
    with pytest.raises(DataError, match="not numeric"):
        count(table, columns=["t"], bins={"t": 2})
    with pytest.raises(DataError, match="Ibis table is expected"):
        count(table.a.sum())
    with pytest.raises(DataError, match="no rows"):
        count(table.filter(table.a > 9).select("a"))
    with pytest.raises(DataError, match="cannot answer"):
        count(ibis.table({"a": "int64"}, name="unbound"))


def test_encode_an_ibis_table(table):
    e = count(table, columns=["a", "b", "d"], bins={"a": [0, 1, 2]})
    assert encode(table, e.space).tolist() == [[0, 1, 0], [1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 0, 0]]
    assert encode(table, e.space, allow_missing=True, columns=["b"])[:, 1].tolist() == [1, 0, 0, 1, 0]
