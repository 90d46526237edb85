"""An Ibis table as a relation: the grouping runs in its own backend and only the distinct states travel."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fullspan.data.contents import MOST_VALUES, RUNS
from fullspan.data.relations.columns import Column, Extent, Key, Marks
from fullspan.data.relations.duck import was_interrupted
from fullspan.data.relations.relation import BATCH_ROWS, EXAMPLES, INFINITE, number_marks
from fullspan.data.space import Variable
from fullspan.errors import DataError


@dataclass(frozen=True)
class IbisRelation:
    """An Ibis table expression."""

    table: Any
    columns: tuple[Column, ...]
    marks: Marks = field(default_factory=Marks)
    named: bool = True
    large: bool = True

    def renamed(self, names: Sequence[str]) -> IbisRelation:
        return replace(self, columns=tuple(replace(c, name=n) for c, n in zip(self.columns, names, strict=True)))

    def marked(self, marks: Marks) -> IbisRelation:
        return replace(self, marks=marks)

    def missing_texts(self, column: Column) -> dict[str, int]:
        x, cell = self._number(column), self.table[column.key]
        gone = self.table.select(v=cell, gone=x.isnull() | x.isnan()).filter(lambda t: t.gone)
        counted = gone.group_by("v").aggregate(n=lambda t: t.count())
        found: dict[str, int] = {}
        for row in self._translated(lambda: counted.to_pyarrow().to_pylist()):
            text = "" if row["v"] is None or row["v"] != row["v"] else str(row["v"])
            found[text] = found.get(text, 0) + int(row["n"])
        return found

    def infinite(self, column: Column) -> Any:
        rows = self.table.filter(_is_infinite(self._number(column))).select(v=column.key)
        return self._first(rows)

    def some(self, column: Column) -> list[Any]:
        rows = self._translated(lambda: self.table.select(v=column.key).limit(EXAMPLES).to_pyarrow().to_pylist())
        return [row["v"] for row in rows]

    def restricted(self, names: Sequence[str]) -> IbisRelation:
        return replace(self, columns=tuple(c for c in self.columns if c.name in names))

    def rows(self, keys: Sequence[Key]) -> Iterator[Any]:
        return self._batches(self.table.select(**self._keys(keys)))

    def groups(self, keys: Sequence[Key], weight: Column | None) -> Iterator[Any]:
        named = self._keys(keys)
        if weight is None:
            grouped = self.table.select(**named).group_by(list(named)).aggregate(n=lambda t: t.count())
        else:
            good, number = self._good(weight)
            grouped = (
                self.table.select(**named, good=good, w=number)
                .group_by(list(named))
                .aggregate(
                    n=lambda t: t.count(),
                    w=lambda t: t.w.sum(where=t.good),
                    bad=lambda t: (~t.good).sum(),
                )
            )
        return self._batches(grouped.select(*named, *(["n"] if weight is None else ["n", "w", "bad"])))

    def extents(self, columns: Sequence[Column]) -> list[Extent]:
        found = []
        for column in columns:
            x = self._number(column)
            finite = ~(x.isnan() | _is_infinite(x))
            row = self._row(
                low=x.min(where=finite),
                high=x.max(where=finite),
                distinct=x.nunique(where=finite),
                infinite=_is_infinite(x).sum(),
            )
            found.append(Extent(row["low"], row["high"], row["distinct"], n_infinite=row["infinite"] or 0))
        return found

    def quantiles(self, column: Column, probabilities: Sequence[float]) -> list[float]:
        x = self._number(column)
        finite = ~(x.isnan() | _is_infinite(x))
        row = self._row(**{f"q{i}": x.quantile(p, where=finite) for i, p in enumerate(probabilities)})
        return [float(row[f"q{i}"]) for i in range(len(probabilities))]

    def runs(self, key: Key, weight: Column | None) -> list[tuple[int, float, float, float]]:
        """As in the protocol, but runs of many values have equal widths: every backend groups, and few have windows."""
        import ibis

        named = {"k0": self._expression(key), "x": self._number(key.column)}
        if weight is None:
            keyed = self.table.select(**named)
        else:
            good, number = self._good(weight)
            keyed = self.table.select(**named, w=number, good=good).filter(lambda t: t.good & (t.w > 0))
        keyed = keyed.filter(keyed.k0 >= 0)
        bins = keyed.group_by("k0").aggregate(low=keyed.x.min(), high=keyed.x.max(), n=keyed.x.nunique())
        found = self._translated(lambda: bins.to_pyarrow().to_pylist())
        run = keyed.x
        for own in found:
            if own["n"] > MOST_VALUES:
                place = ((keyed.x - own["low"]) * (RUNS / (own["high"] - own["low"]))).floor()
                run = ibis.ifelse(keyed.k0 == int(own["k0"]), place, run)
        runs = keyed.mutate(run=run).group_by(["k0", "run"])
        rows = runs.aggregate(
            low=lambda t: t.x.min(), high=lambda t: t.x.max(), w=lambda t: t.count() if weight is None else t.w.sum()
        )
        listed = self._translated(lambda: rows.to_pyarrow().to_pylist())
        return [(int(r["k0"]), float(r["low"]), float(r["high"]), float(r["w"])) for r in listed]

    def neighbours(self, column: Column, low: float, high: float) -> tuple[float, float]:
        x = self._number(column)
        row = self._row(above=x.min(where=(x > low) & ~x.isnan()), below=x.max(where=(x < high) & ~x.isnan()))
        return float(row["above"]), float(row["below"])

    def distinct(self, columns: Sequence[Column], head: int | None = None) -> list[int]:
        table = self.table if head is None else self.table.limit(head)
        counts = table.aggregate(**{f"c{i}": table[c.key].nunique() for i, c in enumerate(columns)})
        row = self._translated(lambda: counts.to_pyarrow().to_pylist())[0]
        return [int(row[f"c{i}"]) for i in range(len(columns))]

    def bad_weight(self, weight: Column) -> tuple[int | None, Any]:
        good, _ = self._good(weight)
        return None, self._first(self.table.filter(~good).select(v=weight.key))

    def example(self, column: Column, variable: Variable, code: int) -> Any:
        keyed = self.table.select(k0=self._expression(Key(column, variable)), v=self.table[column.key])
        return self._first(keyed.filter(keyed.k0 == code).select("v"))

    def n_rows(self) -> int:
        return int(self._row(n=self.table.count())["n"])

    def close(self) -> None:
        """Nothing to close: the connection is the caller's."""

    def _keys(self, keys: Sequence[Key]) -> dict[str, Any]:
        return {f"k{i}": self._expression(key) for i, key in enumerate(keys)}

    def _expression(self, key: Key) -> Any:
        import ibis

        cell, variable = self.table[key.column.key], key.variable
        if variable is not None and variable.edges is not None:
            x = self._number(key.column)
            code = ibis.literal(0)
            for edge in variable.edges[1:-1]:
                code = code + (x >= edge).cast("int32")
            cases = ibis.cases((x.isnull() | x.isnan(), ibis.null("int32")), (_is_infinite(x), INFINITE), else_=code)
            return cases.cast("int32")
        if key.column.kind in ("date", "decimal"):
            return cell.cast("string")
        return cell.cast("float64") if key.column.kind == "float" else cell

    def _number(self, column: Column) -> Any:
        import ibis

        if not column.is_number:
            raise DataError(f"column {column.name!r} of the Ibis table is not numeric; cast it to a number first")
        x, marks = self.table[column.key].cast("float64"), number_marks(self.marks.of(column))
        return ibis.ifelse(x.isin(marks), ibis.null("float64"), x) if marks else x

    def _good(self, weight: Column) -> tuple[Any, Any]:
        x = self._number(weight)
        return (x.notnull() & ~x.isnan() & ~_is_infinite(x) & (x >= 0)).fill_null(False), x

    def _row(self, **expressions: Any) -> dict[str, Any]:
        found: list[dict[str, Any]] = self._translated(
            lambda: self.table.aggregate(**expressions).to_pyarrow().to_pylist()
        )
        return found[0]

    def _first(self, table: Any) -> Any:
        rows = self._translated(lambda: table.limit(1).to_pyarrow().to_pylist())
        return rows[0]["v"] if rows else None

    def _batches(self, table: Any) -> Iterator[Any]:
        result = self._translated(table.to_pyarrow)
        yield from result.to_batches(max_chunksize=BATCH_ROWS)

    @staticmethod
    def _translated(action: Any) -> Any:
        try:
            return action()
        except Exception as error:
            if was_interrupted(error):
                raise KeyboardInterrupt from error
            if type(error).__module__.split(".")[0] in ("builtins", "fullspan"):
                raise
            text = str(error).strip().split("\n")[0]
            raise DataError(f"the Ibis backend cannot answer: {text}") from error


def open_ibis(source: Any) -> IbisRelation:
    """The relation of an Ibis table; a column expression becomes a table of one column.

    Raises
    ------
    DataError : the expression is no table.
    """
    import ibis.expr.types as ir

    if isinstance(source, ir.Column):
        source = source.as_table()
    if not isinstance(source, ir.Table):
        raise DataError(f"an Ibis table is expected, but {type(source).__name__} was given")
    columns = tuple(Column(name, name, _kind(dtype)) for name, dtype in source.schema().items())
    return IbisRelation(source, columns)


def _is_infinite(x: Any) -> Any:
    """Whether a number is beyond all finite ones; Ibis' own ``isinf`` is always false on Spark."""
    return (x.abs() > sys.float_info.max) & ~x.isnan()


def _kind(dtype: Any) -> str:
    tests = (
        ("bool", dtype.is_boolean()),
        ("int", dtype.is_integer()),
        ("float", dtype.is_floating()),
        ("decimal", dtype.is_decimal()),
        ("text", dtype.is_string()),
        ("date", dtype.is_temporal() or dtype.is_uuid()),
    )
    return next((kind for kind, holds in tests if holds), "nested")
