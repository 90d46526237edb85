"""Weights for many rows: ``python benchmarks/bench_rake.py [rows]``.

Builds a CSV file with DuckDB and rakes it to four margins, one of two variables. Prints the processor time of
:func:`fullspan.rake` and of ``fullspan rake`` with the file that it writes, and as a ratio to DuckDB alone, which reads
the same columns, and copies the file with one column more.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

import fullspan as fs
from fullspan.people.cli import main

LEVELS = {"sex": 2, "age": 60, "region": 50, "education": 7}


def build(path: Path, n_rows: int) -> None:
    """Rows with uneven levels, a design weight, and a column that no margin names."""
    columns = ", ".join(f"(random() * random() * {n})::INTEGER % {n} AS {name}" for name, n in LEVELS.items())
    with duckdb.connect() as connection:
        connection.sql("SELECT setseed(0.5)").fetchall()
        rows = f"SELECT {columns}, 1 + random() AS design, (random() * 1000)::INTEGER AS income FROM range({n_rows})"
        connection.execute(f"COPY ({rows}) TO '{path}' (FORMAT csv, HEADER)")


def margins(path: Path) -> dict[Any, dict[Any, float]]:
    """Shares between those of the rows and equal ones."""
    found: dict[Any, dict[Any, float]] = {}
    with duckdb.connect() as connection:
        for names in (("age",), ("region",), ("sex", "education")):
            cells = ", ".join(names)
            rows = connection.sql(f"SELECT {cells}, count(*) FROM '{path}' GROUP BY {cells}").fetchall()
            total = sum(row[-1] for row in rows)
            key = names if len(names) > 1 else names[0]
            mixed = {row[:-1]: 0.7 * row[-1] / total + 0.3 / len(rows) for row in rows}
            found[key] = {cell if len(names) > 1 else cell[0]: share for cell, share in mixed.items()}
    return found


def table_of(key: Any, cells: dict[Any, float]) -> list[dict[str, Any]]:
    """A margin as the rows of a JSON file."""
    if isinstance(key, str):
        return [{key: level, "count": share} for level, share in cells.items()]
    return [{**dict(zip(key, cell, strict=True)), "count": share} for cell, share in cells.items()]


def processor(action: Callable[[], object]) -> float:
    """Processor seconds of an action, all threads."""
    start = time.process_time()
    action()
    return time.process_time() - start


def bare_read(path: Path) -> None:
    with duckdb.connect() as connection:
        connection.sql(f"SELECT {', '.join(LEVELS)}, design FROM '{path}'").to_arrow_table()


def bare_copy(path: Path, target: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT *, 2 * design AS w FROM '{path}') TO '{target}' (FORMAT csv, HEADER)")


def run(n_rows: int) -> None:
    import json

    with tempfile.TemporaryDirectory() as folder:
        path, out, listed = Path(folder) / "rows.csv", Path(folder) / "out.csv", Path(folder) / "margins.json"
        build(path, n_rows)
        wanted = margins(path)
        tables = [table_of(key, cells) for key, cells in wanted.items()]
        listed.write_text(json.dumps({"margins": tables}))
        read = processor(lambda: bare_read(path))
        print(fs.rake(path, wanted, "design"))
        raked = processor(lambda: fs.rake(path, wanted, "design"))
        copied = processor(lambda: bare_copy(path, out))
        command = ["rake", str(path), "--margins", str(listed), "--weights", "design", "-o", str(out)]
        written = processor(lambda: main(command))
        print(f"{n_rows:,} rows: rake {raked:.1f} processor s, {raked / read:.1f} x reading the columns")
        print(f"command with its file {written:.1f} processor s, {written / copied:.1f} x copying the file")
        print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB")


if __name__ == "__main__":
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
