"""Counting against the bare query: ``python benchmarks/bench_count.py [rows] [columns]``.

Builds a Parquet file of binary columns with DuckDB, then times ``SELECT cols, count(*) ... GROUP BY cols`` fetched
as Arrow, and :func:`fullspan.data.count`, which infers the levels as well. Prints the ratio of the medians.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from fullspan.data import count

REPEATS = 3


def build(path: Path, n_rows: int, n_columns: int, bias: float) -> None:
    """Independent columns, each 1 with probability ``bias``; a small one gives few distinct rows."""
    columns = ", ".join(f"(random() < {bias})::TINYINT AS x{i}" for i in range(n_columns))
    with duckdb.connect() as connection:
        connection.sql("SELECT setseed(0.5)").fetchall()
        connection.execute(f"COPY (SELECT {columns} FROM range({n_rows})) TO '{path}' (FORMAT parquet)")


def bare(path: Path, n_columns: int) -> int:
    names = ", ".join(f"x{i}" for i in range(n_columns))
    with duckdb.connect() as connection:
        query = f"SELECT {names}, count(*) AS n FROM read_parquet('{path}') GROUP BY {names}"
        return int(connection.sql(query).to_arrow_table().num_rows)


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main(n_rows: int = 5_000_000, n_columns: int = 20) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for bias in (0.05, 0.5):
            path = Path(folder) / f"bits-{bias}.parquet"
            build(path, n_rows, n_columns, bias)
            bare_times, count_times = [], []
            for _ in range(REPEATS):
                bare_times.append(seconds(lambda p=path: bare(p, n_columns)))
                count_times.append(seconds(lambda p=path: count(p)))
            b, c = statistics.median(bare_times), statistics.median(count_times)
            print(
                f"{n_rows} x {n_columns}, P(1) = {bias}: {bare(path, n_columns)} distinct, "
                f"bare {b:.2f} s, count {c:.2f} s, ratio {c / b:.2f}"
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
