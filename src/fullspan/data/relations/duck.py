"""DuckDB as a relation: files and frames, asked in SQL."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fullspan.data.contents import MOST_VALUES, RUNS, TAIL
from fullspan.data.relations.columns import Column, Extent, Key, Marks
from fullspan.data.relations.relation import BATCH_ROWS, EXAMPLES, INFINITE, NOT_A_NUMBER, number_marks
from fullspan.data.space import Variable
from fullspan.errors import DataError

MIXED_ENDINGS = "the CSV file mixes line endings; save it with one kind, LF or CRLF"


def quote(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


_ROW_BYTES = 1 << 18
_CELL = {"bool": 1, "int": 8, "float": 8}
_AGGREGATES = 64
"""Bytes of a block of DuckDB's hash table, of a cell in it (text has 16), and of its sums and hash."""

_KINDS = {
    "BOOLEAN": "bool",
    **dict.fromkeys(
        ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"], "int"
    ),
    **dict.fromkeys(["FLOAT", "DOUBLE"], "float"),
    **dict.fromkeys(["HUGEINT", "UHUGEINT", "BIGNUM"], "decimal"),
    **dict.fromkeys(["VARCHAR", "NULL", '"NULL"'], "text"),
    **dict.fromkeys(["DATE", "INTERVAL", "UUID"], "date"),
}


def kind_of(sql_type: str) -> str:
    """The kind of a DuckDB type; what is not a scalar a person would read is ``nested``."""
    if sql_type in _KINDS:
        return _KINDS[sql_type]
    if sql_type.endswith("]"):
        return "nested"
    for prefix, kind in (("DECIMAL", "decimal"), ("ENUM", "text"), ("TIME", "date")):
        if sql_type.startswith(prefix):
            return kind
    return "nested"


@dataclass(frozen=True)
class DuckRelation:
    """A DuckDB table expression ``source`` on its own in-memory connection."""

    connection: Any
    source: str
    columns: tuple[Column, ...]
    named: bool = True
    marks: Marks = field(default_factory=Marks)
    large: bool = False
    kept: tuple[Any, ...] = field(default=(), repr=False)
    path: Path | None = None
    """The CSV file it reads, if any, so that errors can point into it."""

    @classmethod
    def of(cls, connection: Any, source: str, names: Sequence[str] | None = None, **options: Any) -> DuckRelation:
        """Describe ``source``; ``names`` are what people call the columns, in the backend's order."""
        relation = translated(lambda: connection.sql(f"SELECT * FROM {source}"))
        kinds = [kind_of(str(t)) for t in relation.types]
        names = relation.columns if names is None else names
        columns = tuple(Column(n, k, kind) for n, k, kind in zip(names, relation.columns, kinds, strict=True))
        return cls(connection, source, columns, **options)

    def renamed(self, names: Sequence[str]) -> DuckRelation:
        columns = tuple(replace(c, name=n) for c, n in zip(self.columns, names, strict=True))
        return replace(self, columns=columns)

    def marked(self, marks: Marks) -> DuckRelation:
        return replace(self, marks=marks)

    def missing_texts(self, column: Column) -> dict[str, int]:
        cell = quote(column.key)
        text = f"trim({cell})" if column.is_text else f"CAST({cell} AS VARCHAR)"
        empty = f"{cell} IS NULL" if column.is_text else f"{cell} IS NULL OR isnan(CAST({cell} AS DOUBLE))"
        number = self._number(column)
        missing = f"({self._is_mark(column)} OR isnan({number}))" if column.is_text else f"{number} IS NULL"
        sql = (
            f"SELECT CASE WHEN {empty} THEN '' ELSE {text} END, count(*) FROM {self.source} WHERE {empty} OR {missing}"
        )
        rows = translated(lambda: self.connection.sql(sql + " GROUP BY 1").fetchall())
        return {str(text): int(n) for text, n in rows}

    def infinite(self, column: Column) -> Any:
        sql = f"SELECT {quote(column.key)} FROM {self.source} WHERE isinf({self._number(column)}) LIMIT 1"
        return self._row(sql)[0]

    def some(self, column: Column) -> list[Any]:
        # Without an order: any rows will do, and DuckDB stops reading after them.
        sql = f"SELECT {_value(column)} FROM {self.source} LIMIT {EXAMPLES}"
        return [value for (value,) in translated(lambda: self.connection.sql(sql).fetchall())]

    def restricted(self, names: Sequence[str]) -> DuckRelation:
        return replace(self, columns=tuple(c for c in self.columns if c.name in names))

    def with_weight(self, weights: Any) -> tuple[DuckRelation, Column]:
        """The same rows with one weight each, from an array in their order."""
        import pyarrow as pa

        # A name with spaces, which no column of weights is likely to have in the table itself.
        self.connection.register("weights", pa.table({"weight of row": weights}))
        # By position and not by a row number, which a parallel scan of a file need not give in order.
        source = f"(SELECT * FROM (SELECT * FROM {self.source}) POSITIONAL JOIN weights)"
        return replace(self, source=source), Column("sample_weight", "weight of row", "float")

    def rows(self, keys: Sequence[Key]) -> Iterator[Any]:
        return self._batches(f"SELECT {self._select(keys)} FROM {self.source}")

    def weighted_rows(self, keys: Sequence[Key], weight: Column) -> Iterator[Any]:
        """The same with the number ``w`` of a column, null where it holds none."""
        return self._batches(f"SELECT {self._select(keys)}, {self._number(weight)} AS w FROM {self.source}")

    def groups(self, keys: Sequence[Key], weight: Column | None) -> Iterator[Any]:
        _refuse_wide(keys)
        by = ", ".join(str(i + 1) for i in range(len(keys)))
        measure = "count(*) AS n"
        if weight is not None:
            number = self._number(weight)
            # NULL and NaN compare as NULL; `coalesce` counts them as bad too.
            bad = f"coalesce(NOT ({number} >= 0 AND {number} < 'infinity'::DOUBLE), true)"
            measure += f", sum({number}) FILTER (NOT {bad}) AS w, count(*) FILTER ({bad}) AS bad"
        return self._batches(f"SELECT {self._select(keys)}, {measure} FROM {self.source} GROUP BY {by}")

    def extents(self, columns: Sequence[Column]) -> list[Extent]:
        parts = []
        for column in columns:
            x, cell = self._number(column), quote(column.key)
            finite = f"FILTER (isfinite({x}))"
            bad = f"{cell} IS NOT NULL AND {x} IS NULL AND NOT {self._is_mark(column)}" if column.is_text else "false"
            padded = f"regexp_matches({cell}, '^ *[+-]?0[0-9]')" if column.is_text else "false"
            parts.append(
                f"min({x}) {finite}, max({x}) {finite}, count(DISTINCT {x}) {finite}, "
                f"count(*) FILTER ({bad}), count(*) FILTER ({padded}), count(*) FILTER (isinf({x}))"
            )
        row = self._row(f"SELECT {', '.join(parts)} FROM {self.source}")
        return [Extent(*row[6 * i : 6 * i + 6]) for i in range(len(columns))]

    def quantiles(self, column: Column, probabilities: Sequence[float]) -> list[float]:
        x, points = self._number(column), ", ".join(f"{p!r}::DOUBLE" for p in probabilities)
        sql = f"SELECT quantile_cont({x}, [{points}]) FILTER (isfinite({x})) FROM {self.source}"
        return [float(q) for q in self._row(sql)[0]]

    def runs(self, key: Key, weight: Column | None) -> list[tuple[int, float, float, float]]:
        w = "1" if weight is None else f"CASE WHEN isfinite({self._number(weight)}) THEN {self._number(weight)} END"
        rows = f"SELECT {self._select([key])}, {self._number(key.column)} AS x, {w} AS w FROM {self.source}"
        values = f"SELECT k0, x, sum(w) AS w FROM ({rows}) WHERE k0 >= 0 AND isfinite(x) AND w > 0 GROUP BY k0, x"
        whole = "OVER (PARTITION BY k0)"
        placed = (
            f"SELECT k0, x, w, count(*) {whole} <= {MOST_VALUES} OR w * {RUNS} >= sum(w) {whole} AS alone, "
            f"(sum(w) OVER (PARTITION BY k0 ORDER BY x ROWS UNBOUNDED PRECEDING) - w) / (sum(w) {whole}) AS u "
            f"FROM ({values})"
        )
        place = (
            f"CASE WHEN u * {RUNS} < 1 THEN -floor(-log2(greatest(u, {2.0**-TAIL}))) "
            f"WHEN (1 - u) * {RUNS} <= 1 THEN {RUNS} + floor(-log2(greatest(1 - u, {2.0**-TAIL}))) "
            f"ELSE floor(u * {RUNS}) END"
        )
        sql = (
            f"SELECT k0, min(x), max(x), sum(w) FROM ({placed}) "
            f"GROUP BY k0, alone, CASE WHEN alone THEN x ELSE {place} END ORDER BY k0, min(x)"
        )
        found = self._translated(lambda: self.connection.sql(sql).fetchall())
        return [(int(code), float(low), float(high), float(own)) for code, low, high, own in found]

    def neighbours(self, column: Column, low: float, high: float) -> tuple[float, float]:
        x = self._number(column)
        sql = f"min({x}) FILTER ({x} > {low!r}::DOUBLE), max({x}) FILTER ({x} < {high!r}::DOUBLE)"
        above, below = self._row(f"SELECT {sql} FROM {self.source}")
        return float(above), float(below)

    def distinct(self, columns: Sequence[Column], head: int | None = None) -> list[int]:
        source = self.source if head is None else f"(SELECT * FROM {self.source} LIMIT {head})"
        parts = ", ".join(f"count(DISTINCT {_value(c)})" for c in columns)
        return [int(n) for n in self._row(f"SELECT {parts} FROM {source}")]

    def bad_weight(self, weight: Column) -> tuple[int | None, Any]:
        number = self._number(weight)
        sql = (
            f"SELECT * FROM (SELECT row_number() OVER () AS i, {quote(weight.key)} AS v, {number} AS w "
            f"FROM {self.source}) WHERE coalesce(NOT (w >= 0 AND w < 'infinity'::DOUBLE), true) ORDER BY i LIMIT 1"
        )
        row, value, _ = self._row(sql)
        return int(row), value

    def example(self, column: Column, variable: Variable, code: int) -> Any:
        expression = self._select([Key(column, variable)])
        sql = f"SELECT v FROM (SELECT {expression}, {quote(column.key)} AS v FROM {self.source}) WHERE k0 = {code}"
        return self._row(sql + " LIMIT 1")[0]

    def n_rows(self) -> int:
        return int(self._row(f"SELECT count(*) FROM {self.source}")[0])

    def table(self) -> Any:
        """All rows and columns as an Arrow table, in order."""
        found = self._translated(lambda: self.connection.sql(f"SELECT * FROM {self.source}").to_arrow_table())
        return found.rename_columns([c.name for c in self.columns])

    def close(self) -> None:
        self.connection.close()

    def _select(self, keys: Sequence[Key]) -> str:
        return ", ".join(f"{self._expression(key)} AS k{i}" for i, key in enumerate(keys))

    def _expression(self, key: Key) -> str:
        column, variable = key.column, key.variable
        if variable is None or variable.edges is None:
            return _value(column)
        x, cell = self._number(column), quote(column.key)
        inner = variable.edges[1:-1]
        bin_code = _sum([f"({x} >= {e!r}::DOUBLE)::INTEGER" for e in inner])
        cases = [f"WHEN {cell} IS NULL OR isnan({x}) THEN NULL", f"WHEN isinf({x}) THEN {INFINITE}"]
        if not column.is_text:
            cases.append(f"WHEN {x} IS NULL THEN NULL")
        else:
            labels = enumerate(variable.levels)
            cases += [f"WHEN trim({cell}) = {literal(str(label))} THEN {i}" for i, label in labels]
            cases += [f"WHEN {self._is_mark(column)} THEN NULL", f"WHEN {x} IS NULL THEN {NOT_A_NUMBER}"]
        return f"(CASE {' '.join(cases)} ELSE {bin_code} END)::INTEGER"

    def _number(self, column: Column) -> str:
        """The cell as a number, null if marked as missing.

        ``trim`` also keeps DuckDB from moving the cast into its CSV reader, where it would fail.
        """
        cell = quote(column.key)
        if column.is_text:
            return f"(CASE WHEN {self._is_mark(column)} THEN NULL ELSE TRY_CAST(trim({cell}) AS DOUBLE) END)"
        # The mark 99 means the number, so that it is found as 99.0 as well.
        number = f"CAST({cell} AS DOUBLE)"
        marked = ", ".join(f"{mark!r}::DOUBLE" for mark in number_marks(self.marks.of(column)))
        return f"(CASE WHEN {number} IN ({marked}) THEN NULL ELSE {number} END)" if marked else number

    def _is_mark(self, column: Column) -> str:
        marks = self.marks.of(column)
        if not column.is_text or not marks:
            return "false"
        return f"(trim({quote(column.key)}) IN ({', '.join(map(literal, sorted(marks)))}))"

    def _row(self, sql: str) -> tuple[Any, ...]:
        rows: list[tuple[Any, ...]] = self._translated(lambda: self.connection.sql(sql).fetchall())
        return rows[0]

    def _translated(self, action: Any, pool: ThreadPoolExecutor | None = None) -> Any:
        try:
            return translated(lambda: self._waited(action, pool))
        except DataError as error:
            if self.path is None or str(error) != MIXED_ENDINGS:
                raise
            from fullspan.data.relations.tokens import other_ending

            raise DataError(f"{other_ending(self.path)}{MIXED_ENDINGS}") from error

    def _waited(self, action: Any, pool: ThreadPoolExecutor | None = None) -> Any:
        """The result of a query that Ctrl-C can end: it runs in a thread, and the main one waits for signals."""
        if threading.current_thread() is not threading.main_thread():
            return action()
        future: Future[Any] = Future()  # made here: Ctrl-C may come before ``submit`` returns one
        with ThreadPoolExecutor(1) if pool is None else nullcontext(pool) as own:
            try:
                own.submit(_run, future, action)
                return future.result()
            except KeyboardInterrupt:
                # A query that has not begun is never begun; one that runs is interrupted until it has ended.
                if not future.cancel():
                    while wait([future], timeout=0.05).not_done:  # again, should the query only have begun
                        self.connection.interrupt()
                raise

    def _batches(self, sql: str) -> Iterator[Any]:
        def start() -> Any:
            relation = self.connection.sql(sql)
            return (getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch)(BATCH_ROWS)

        with ThreadPoolExecutor(1) as pool:
            reader = self._translated(start, pool)
            while (batch := self._translated(lambda: next(reader, None), pool)) is not None:
                yield batch


def _run(future: Future[Any], action: Any) -> None:
    """Do what a future stands for, unless it is cancelled."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(action())
    except BaseException as error:
        future.set_exception(error)


def _refuse_wide(keys: Sequence[Key]) -> None:
    """Refuse rows wider than a block of DuckDB: its hash table would divide by the rows in a block, which are none."""
    cells = (
        4 if k.variable is not None and k.variable.edges is not None else _CELL.get(k.column.kind, 16) for k in keys
    )
    # One bit a column says whether it is null.
    n_bytes = sum(cells) + len(keys) // 8 + _AGGREGATES
    if n_bytes > _ROW_BYTES:
        raise DataError(
            f"rows of {len(keys):,} columns take {n_bytes:,} bytes to count, the limit is {_ROW_BYTES:,}; give fewer "
            "columns=: up to 16,000 of text, which all cells of a CSV file are, or 32,000 of numbers"
        )


def _value(column: Column) -> str:
    """The cell as grouped by: dates as text, and decimals too, which floating point would round."""
    cell = quote(column.key)
    if column.kind in ("date", "decimal"):
        return f"CAST({cell} AS VARCHAR)"
    return f"CAST({cell} AS DOUBLE)" if column.kind == "float" else cell


def translated(action: Any) -> Any:
    """Run ``action``; what DuckDB or Arrow report becomes a :class:`DataError` that names the line.

    Ctrl-C in a query, which DuckDB reports as its own error, is a KeyboardInterrupt.
    """
    import duckdb
    import pyarrow as pa

    try:
        return action()
    except Exception as error:
        if was_interrupted(error):
            raise KeyboardInterrupt from error
        if not isinstance(error, duckdb.Error | pa.ArrowException | OSError):
            raise
        raise DataError(_plain(str(error))) from error


def was_interrupted(error: Exception) -> bool:
    """Whether an error is Ctrl-C: DuckDB's own, a RuntimeError, or Arrow's report of it, as the moment has it."""
    plain = type(error) is RuntimeError and "interrupted" in str(error).lower()
    return plain or type(error).__name__ == "InterruptException" or "INTERRUPT Error" in str(error)


def _plain(message: str) -> str:
    """DuckDB's message in one sentence: the line and what was found there."""
    line = re.search(r"CSV Error on Line: (\d+)\s+Original Line: ?(.*)", message)
    if line is None and "state machine reached an invalid state" in message:
        return MIXED_ENDINGS
    if line is None:
        return "the table cannot be read: " + message.split("\n")[0]
    where = f"line {line[1]} of the CSV file ({line[2][:80]!r}) "
    if found := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
        return where + f"has {found[2]} cells where the header has {found[1]} columns; mend the line"
    if "unterminated quote" in message:
        return where + "opens a quote that is never closed; mend the line"
    if "unicode" in message or "utf-8" in message:
        return where + "is not UTF-8; save the file as UTF-8"
    return where + "cannot be read: " + message[line.end() :].strip().split("\n")[0][:200]


def _sum(parts: Sequence[str]) -> str:
    """A sum in halves of halves: the parser refuses one of a thousand parts, which nests as deeply."""
    if len(parts) <= 1:
        return parts[0] if parts else "0"
    half = len(parts) // 2
    return f"({_sum(parts[:half])} + {_sum(parts[half:])})"
