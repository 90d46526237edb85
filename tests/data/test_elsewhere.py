"""Tables that live elsewhere are counted there: DuckDB, PostgreSQL and Spark give the counts of the same rows here."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fullspan as fs
from data import servers
from fullspan.data import count, count_groups, encode
from fullspan.errors import DataError

# Ibis 12 itself calls what DuckDB 2 deprecates when it opens a table by name; nothing of ours does.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

# PySpark 4 does not know pandas 3 yet, uses what that deprecates, and leaves sockets to the garbage collector.
SPARK = pytest.param("spark", marks=pytest.mark.filterwarnings("ignore"))

NAMES = ["a b", "select", 'Grö"ße', "number", "day", "price", "n", "w", "by%s"]
"""Names with a space, a word of SQL, a quote and letters beyond ASCII, and a mark that drivers replace."""
SQL_TYPES = [
    "integer",
    "text",
    "boolean",
    "double precision",
    "date",
    "numeric(6, 2)",
    "bigint",
    "double precision",
    "text",
]
SPARK_TYPES = ["int", "string", "boolean", "double", "date", "decimal(6,2)", "bigint", "double", "string"]
ARROW_TYPES = [pa.int32(), pa.string(), pa.bool_(), pa.float64(), pa.date32()]
ARROW_TYPES += [pa.decimal128(6, 2), pa.int64(), pa.float64(), pa.string()]


def _rows() -> list[tuple[Any, ...]]:
    """Rows with missing cells of every type, a NaN among them."""
    from decimal import Decimal

    rng = np.random.default_rng(4)
    texts = ["yes", "no", "it's", "ü", None]
    rows = []
    for i in range(300):
        a = int(rng.integers(3))
        rows.append(
            (
                None if i % 29 == 0 else a,
                texts[(a + int(rng.integers(3))) % 5],
                None if i % 31 == 0 else bool(rng.random() < 0.3 + 0.2 * a),
                math.nan if i == 7 else None if i % 23 == 0 else float(np.round(rng.normal(a), 3)),
                None if i == 5 else datetime.date(2026, 1, 1 + a),
                Decimal(int(rng.integers(4))) / 4,
                int(rng.integers(4)),
                float(rng.integers(5)) / 2,
                f"site {i % 7}",
            )
        )
    return rows


ROWS = _rows()
HERE = pa.table([pa.array(column, t) for column, t in zip(zip(*ROWS, strict=True), ARROW_TYPES, strict=True)], NAMES)


def _load(connection: Any, place: str) -> Any:
    """The rows as a table of the connection, whose name is odd too."""
    if place == "spark":
        schema = ", ".join(f"`{name}` {kind}" for name, kind in zip(NAMES, SPARK_TYPES, strict=True))
        connection._session.createDataFrame(ROWS, schema).createOrReplaceTempView("odd_table")
        return connection.table("odd_table")
    quoted = ['"' + name.replace('"', '""') + '"' for name in NAMES]
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(quoted, SQL_TYPES, strict=True))
    create = f'CREATE TABLE "odd table" ({columns})'
    if place == "duckdb":
        connection.con.execute(create)
        connection.con.executemany(f'INSERT INTO "odd table" VALUES ({", ".join("?" * len(NAMES))})', ROWS)
    else:
        with connection.con.cursor() as cursor:
            cursor.execute(create)
            cursor.executemany(f'INSERT INTO "odd table" VALUES ({", ".join(["%s"] * len(NAMES))})', ROWS)
        connection.con.commit()
    return connection.table("odd table")


@pytest.fixture(scope="module", params=["duckdb", "postgres", SPARK])
def table(request: pytest.FixtureRequest) -> Iterator[Any]:
    with getattr(servers, request.param)() as connection:
        yield _load(connection, request.param)


VARIABLES = NAMES[:6]


@pytest.mark.parametrize(
    "options",
    [
        {"columns": NAMES[:5], "missing": "drop", "bins": {"number": 3}},
        {"columns": NAMES[:3], "missing": "level"},
        {"columns": VARIABLES, "missing": "em", "bins": {"number": [-1.0, 0.5, 2.0], "price": ("width", 2)}},
        {"columns": ["number", "price"], "missing": "drop", "bins": 4},
        {"columns": ["a b", "price"], "missing": "drop", "count_column": "n"},
        {"columns": ["select", 'Grö"ße'], "missing": "drop", "sample_weight": "w"},
        {"columns": ["a b", "by%s"], "missing": "drop", "levels": {"a b": [2, 1, 0]}},
        {"columns": ["n", "price"], "na_values": ["3", "0.5"], "missing": "em"},
        {"columns": ["n"], "na_values": ["3"], "missing": "drop", "bins": {"n": ("width", 2)}},
    ],
    ids=lambda o: "-".join(o),
)
def test_counts_there_are_counts_here(table: Any, options: dict[str, Any]) -> None:
    """Same variables, states and counts, to the last byte, whoever holds the rows."""
    there, here = count(table, **options), count(HERE, **options)
    assert there.space == here.space
    assert there.fingerprint() == here.fingerprint()
    assert (there.n_rows, there.n_dropped, there.n_missing) == (here.n_rows, here.n_dropped, here.n_missing)


def test_only_distinct_states_travel(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes back to count 300 rows is one row for each distinct state."""
    from fullspan.data.relations import ibis_table

    seen = []
    original = ibis_table.IbisRelation._batches

    def spy(self, query):
        for batch in original(self, query):
            seen.append(batch.num_rows)
            yield batch

    monkeypatch.setattr(ibis_table.IbisRelation, "_batches", spy)
    counts = count(table, columns=["n", "day"], missing="drop")
    assert sum(seen) <= len(counts.states) + 4
    assert counts.n_rows == 300


def test_groups_are_counted_in_one_question(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All groups of a table elsewhere come back from one GROUP BY, equal to those of the rows here."""
    from fullspan.data.relations import ibis_table

    asked = []
    original = ibis_table.IbisRelation.groups
    monkeypatch.setattr(
        ibis_table.IbisRelation, "groups", lambda self, *a: asked.append(a) or original(self, *a), raising=True
    )
    options: dict[str, Any] = {"columns": ["a b", "select"], "missing": "drop"}
    there, here = count_groups(table, "by%s", **options), count_groups(HERE, "by%s", **options)
    assert len(asked) == 1
    assert there.groups == here.groups == tuple(f"site {i}" for i in range(7))
    for g in range(7):
        assert there.empirical(g).fingerprint() == here.empirical(g).fingerprint()


def test_models_are_learned_and_rows_scored_there(table: Any) -> None:
    """A fit to a table elsewhere is the fit to its rows here; rows come in the order the backend gives them."""
    settings: dict[str, Any] = {"columns": ["a b", 'Grö"ße', "number"], "bins": {"number": 2}, "missing": "drop"}
    there, here = fs.FullSpan(**settings).fit(table), fs.FullSpan(**settings).fit(HERE)
    assert there.model_.weights == here.model_.weights
    assert there.score(table) == pytest.approx(here.score(HERE))
    codes = [encode(t, here.space_, allow_missing=True) for t in (table, HERE)]
    assert sorted(codes[0].tolist()) == sorted(codes[1].tolist())


def test_what_is_wrong_there_is_said(table: Any) -> None:
    """Missing cells, bad weights, unknown columns, many levels and questions the backend refuses are DataErrors."""
    import ibis

    with pytest.raises(DataError, match="11 empty cells in a b"):
        count(table, columns=["a b"])
    with pytest.raises(DataError, match=r"'w' holds -\d.* in a row"):
        count(table.mutate(w=-table.w), columns=["n"], count_column="w")
    with pytest.raises(DataError, match="'w' holds None in a row"):
        count(table.mutate(w=ibis.null("float64")), columns=["n"], count_column="w")
    with pytest.raises(DataError, match="'w' holds inf in a row"):
        count(table.mutate(w=ibis.ifelse(table.n == 0, math.inf, table.w)), columns=["n"], count_column="w")
    with pytest.raises(DataError, match="'selct'; did you mean 'select'"):
        count(table, columns=["selct"])
    with pytest.raises(DataError, match=r"'number' has \d+ levels, the limit is 64"):
        count(table, columns=["number"], missing="drop")
    infinite = table.mutate(number=ibis.ifelse(table.n == 0, math.inf, table.number))
    with pytest.raises(DataError, match="infinite"):
        count(infinite, columns=["number"], bins={"number": 2}, missing="drop")
    with pytest.raises(DataError, match="infinite"):
        count(
            infinite, space=count(table, columns=["number"], bins={"number": 2}, missing="drop").space, missing="drop"
        )
    with pytest.raises(DataError, match="the Ibis backend cannot answer"):
        count(table.mutate(broken=table["select"].cast("int32")), columns=["broken"])
