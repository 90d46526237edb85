"""A table as the prototype of synthetic ones: what a model learns of its columns, and cells for the model's codes.

A column with few values is learned as it is. Numbers and dates of many values are cut at quantiles, and the rare levels
of a text column with many are joined into one. Cells are never written from labels: a code becomes the cell of a random
row of the original that has this code, so that numbers, dates and spellings are the data's own, with their distribution
there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data.relations.columns import Column, NaValues, check_names
from fullspan.data.relations.source import find, opened
from fullspan.data.space import Space
from fullspan.data.tables.encoding import encode
from fullspan.data.tables.filled_columns import arrow_column, cast_texts
from fullspan.data.tables.filling import held
from fullspan.data.tables.hints import _KEY
from fullspan.data.tables.schema import plain_values
from fullspan.errors import DataError

N_BINS = 16
"""Bins of a column of numbers or dates, unless another number is asked for."""
MAX_LEVELS = 64
"""Most levels of a text column; the rarest beyond are joined."""
OTHER = "(other)"
_SHARE_OF_NAMES = 0.5
"""Distinct values per row from which on a text column is taken for names, notes or keys."""
_LEAST_ROWS = 20
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?")


@dataclass(frozen=True, eq=False)
class Prototype:
    """A table that others are to be like.

    Attributes
    ----------
    table : the rows as an Arrow table; cells of CSV files are the texts that they are.
    prepared : the columns that a model learns, with numbers for dates.
    edges : bin edges of the columns that are cut.
    numbered : columns that number the rows, with their first number; they are numbered anew.
    left_out : columns that are not made, with the reason.
    empty : columns without any value, which stay so.
    numeric : numbers of the numeric columns and dates, NaN where missing, for measures of quality.
    """

    table: Any
    prepared: Any
    edges: dict[str, list[float]]
    numbered: dict[str, int]
    left_out: dict[str, str]
    empty: tuple[str, ...]
    has_missing: bool
    numeric: dict[str, Array] = field(repr=False)
    columns: tuple[Column, ...] = field(repr=False)
    marks: Any = field(repr=False)

    @property
    def names(self) -> list[str]:
        """The columns that are made, in the order of the table."""
        return [name for name in self.table.column_names if name not in self.left_out]

    def condition(self, text: str) -> str:
        """A condition in words with its comparisons at edges of bins: ``age <= 30`` is ``age < 31`` if 31 comes next.

        Raises
        ------
        DataError : a column is to equal a number that it does not have.
        """
        for name in self.edges:
            distinct = np.unique(self.numeric[name][np.isfinite(self.numeric[name])])

            def moved(match: re.Match[str], name: str = name, distinct: Array = distinct) -> str:
                column, sign, x = match[1], match[2], float(match[3])
                if sign in ("=", "!="):
                    if x not in distinct:
                        raise DataError(f"no row has {name}={match[3]}, and none is drawn; give a number of the data")
                    return match[0]
                next_up = int(np.searchsorted(distinct, x, side="left" if sign in ("<", ">=") else "right"))
                if next_up == len(distinct):  # all rows are below
                    return f"{column} >= {distinct[0]:.17g}" if sign in ("<", "<=") else match[0]
                return f"{column} {'<' if sign in ('<', '<=') else '>='} {distinct[next_up]:.17g}"

            text = _comparisons(name).sub(moved, text)
        return text

    def codes(self, space: Space) -> NDArray[np.int32]:
        """Codes of the rows under the variables of a model of ``prepared``; -1 for a level that it has not."""
        return encode(self.prepared, space, allow_missing=True, na_values=[], handle_unknown="missing")

    def drawn(self, codes: Ints, space: Space, rng: np.random.Generator) -> Any:
        """Rows of codes (n, variables) as an Arrow table: columns, order, types and spelling of the original."""
        import pyarrow as pa

        own = self.codes(space)
        columns = {}
        for name in self.names:
            original = self.table.column(name)
            if name in self.numbered:
                numbers = self.numbered[name] + np.arange(len(codes))
                columns[name] = pa.array(numbers.astype(str) if pa.types.is_string(original.type) else numbers)
            elif name in self.empty:
                columns[name] = pa.nulls(len(codes), original.type)
            else:
                j = space.position(name)
                rows, values = _rows(own[:, j].astype(np.int64), codes[:, j], space.variables[j].levels, rng)
                columns[name] = arrow_column(original, rows, values)
        return pa.table(columns)

    def split(self, share: float, seed: int) -> tuple[Prototype, Prototype]:
        """The table in two parts, the second with a share of the rows, at random."""
        n = self.table.num_rows
        order = np.random.default_rng(seed).permutation(n)
        n_second = round(share * n)
        if not 0 < n_second < n:
            raise DataError(f"{n} rows cannot be split, {share:.0%} of them apart; give more rows")
        return self._rows(np.sort(order[n_second:])), self._rows(np.sort(order[:n_second]))

    def _rows(self, rows: Ints) -> Prototype:
        import pyarrow as pa

        own = {name: numbers[rows] for name, numbers in self.numeric.items()}
        taken = pa.array(rows)
        return replace(self, table=self.table.take(taken), prepared=self.prepared.take(taken), numeric=own)

    def read(self, table: Any) -> dict[str, NDArray[Any]]:
        """The columns that a model learns, of this table or one like it: numbers (dates as days), or plain values."""
        found: dict[str, NDArray[Any]] = {}
        for column in self.columns:
            if column.name not in self.prepared.column_names:
                continue
            distinct, index = _distinct(table.column(column.name))
            values, present = _plain(column, distinct, self.marks.of(column))
            if column.name in self.numeric:
                dates = _dates(values, present, column.kind)
                numbers = values if dates is None else dates
                table_of = np.array([float(v) if there else np.nan for v, there in zip(numbers, present, strict=True)])
                found[column.name] = table_of[index]
            else:
                found[column.name] = values[index]
        return found

    def typed(self, table: Any) -> Any:
        """Rows with the types that the texts of a CSV file show; missing cells are null."""
        if not any(column.kind == "raw" for column in self.columns):
            return table
        return cast_texts(table, [c for c in self.columns if c.name in table.column_names], self.marks)


def _rows(own: Ints, wanted: Ints, levels: Sequence[Any], rng: np.random.Generator) -> tuple[Ints, list[Any]]:
    """A random row of the original for each wanted code; positions beyond its rows are levels that no row has."""
    order = np.argsort(own, kind="stable")
    codes = np.arange(len(levels))
    starts = np.searchsorted(own[order], codes)
    sizes = np.searchsorted(own[order], codes, side="right") - starts
    picks = starts[wanted] + np.floor(rng.random(len(wanted)) * np.maximum(sizes[wanted], 1)).astype(np.int64)
    rows = order[np.minimum(picks, len(order) - 1)].astype(np.int64)
    absent = np.flatnonzero(sizes == 0)
    place = np.zeros(len(levels), dtype=np.int64)
    place[absent] = len(own) + np.arange(len(absent))
    lacking = sizes[wanted] == 0
    rows[lacking] = place[wanted[lacking]]
    return rows, [levels[int(c)] for c in absent]


def prototype(
    source: Any,
    columns: Sequence[str] | None = None,
    n_bins: int = N_BINS,
    na_values: NaValues = None,
    thresholds: Iterable[str] = (),
) -> Prototype:
    """Look at a table.

    Parameters
    ----------
    columns : those to make; all by default.
    n_bins : bins of a column of numbers or dates with more values.
    thresholds : conditions in words; the numbers that they compare a column with become edges of its bins, so that the
        conditions are exact.

    Raises
    ------
    DataError : the table cannot be read, or no column is left.
    """
    import pyarrow as pa

    with opened(held(source), na_values) as relation:
        check_names(na_values, [c.name for c in relation.columns])
        chosen = list(relation.columns) if columns is None else [find(relation, name) for name in columns]
        whole = relation.table().select([c.name for c in chosen])  # type: ignore[attr-defined]
        if not whole.num_rows:
            raise DataError("the table has no rows")
        marks = relation.marks
        made = [_Look(c, whole.column(c.name), relation.marks.of(c), n_bins, thresholds) for c in chosen]
    kept = {look.name: look.prepared for look in made if look.prepared is not None}
    if not kept:
        reasons = "; ".join(f"{look.name!r} {look.left_out or 'is empty'}" for look in made)
        raise DataError(f"no column is left to learn: {reasons}")
    return Prototype(
        table=whole,
        prepared=pa.table(kept),
        edges={look.name: look.edges for look in made if look.edges is not None},
        numbered={look.name: look.first for look in made if look.first is not None},
        left_out={look.name: look.left_out for look in made if look.left_out},
        empty=tuple(look.name for look in made if look.is_empty),
        has_missing=any(column.null_count for column in kept.values()),
        numeric={look.name: look.numbers for look in made if look.numbers is not None and look.prepared is not None},
        columns=tuple(chosen),
        marks=marks,
    )


def plain_prototype(source: Any, names: Sequence[str], na_values: NaValues = None) -> Prototype:
    """A table as it is, for a model that has been learned from one like it.

    Raises
    ------
    DataError : it lacks a column, or has no rows.
    """
    with opened(held(source), na_values) as relation:
        chosen = tuple(find(relation, name) for name in names)
        table = relation.table().select(list(names))  # type: ignore[attr-defined]
        if not table.num_rows:
            raise DataError("the table has no rows")
        return Prototype(table, table, {}, {}, {}, (), False, {}, chosen, relation.marks)


class _Look:
    """What is to be done with one column."""

    def __init__(
        self, column: Column, cells: Any, marks: frozenset[str], n_bins: int, thresholds: Iterable[str]
    ) -> None:
        self.name, self.cells = column.name, cells
        self.edges: list[float] | None = None
        self.first: int | None = None
        self.left_out = ""
        self.prepared: Any = None
        self.numbers: Array | None = None
        self.is_empty = False
        if column.kind == "nested":
            self.left_out = "is nested or binary"
            return
        distinct, index = _distinct(cells)
        values, present = _plain(column, distinct, marks)
        self.n_rows, self.n_distinct = int(present[index].sum()), len(set(values[present].tolist()))
        if not self.n_rows:
            self.is_empty = True
        elif all(isinstance(v, int | float) and not isinstance(v, bool) for v in values[present]):
            self._of_numbers(values, present, index, n_bins, thresholds, whole=True)
        elif (dates := _dates(values, present, column.kind)) is not None:
            self._of_numbers(dates, present, index, n_bins, thresholds, whole=False)
        else:
            self._of_texts(values, index)

    def _of_numbers(
        self, values: Any, present: Any, index: Ints, n_bins: int, thresholds: Iterable[str], *, whole: bool
    ) -> None:
        import pyarrow as pa

        table = np.array([float(v) if there else np.nan for v, there in zip(values, present, strict=True)])
        self.numbers = table[index]
        finite = self.numbers[np.isfinite(self.numbers)]
        is_key = whole and all(isinstance(v, int) for v in values[present]) and self._is_key(finite)
        if is_key and finite.max() - finite.min() == self.n_rows - 1 and self.n_rows == len(index):
            self.first = int(finite.min())
            return
        if is_key and _KEY.fullmatch(self.name):
            self.left_out = "names its rows: a different number in each"
            return
        if self.n_distinct <= n_bins and whole:
            self.prepared = pa.array([values[i] for i in index.tolist()])
            return
        if not np.isfinite(self.numbers[~np.isnan(self.numbers)]).all():
            raise DataError(f"column {self.name!r} holds infinite numbers; correct them, or mark them as missing")
        self.prepared = pa.array(self.numbers, mask=np.isnan(self.numbers))
        self.edges = _edges(finite, n_bins, _compared(self.name, thresholds))
        if len(self.edges) < 2:
            self.edges = None

    def _is_key(self, finite: Array) -> bool:
        return self.n_rows >= _LEAST_ROWS and self.n_distinct == self.n_rows and len(finite) == self.n_rows

    def _of_texts(self, values: Any, index: Ints) -> None:
        import pyarrow as pa

        if self.n_distinct > max(MAX_LEVELS, _SHARE_OF_NAMES * self.n_rows) or (
            self.n_distinct == self.n_rows >= _LEAST_ROWS
        ):
            self.left_out = f"has {self.n_distinct:,} different texts in {self.n_rows:,} rows, as names and keys have"
            return
        if self.n_distinct > MAX_LEVELS:
            counts = np.bincount(index, minlength=len(values))
            counts[[v is None for v in values]] = 0
            kept = set(np.argsort(-counts, kind="stable")[: MAX_LEVELS - 1].tolist())
            values = np.array([v if v is None or i in kept else OTHER for i, v in enumerate(values)], dtype=object)
        self.prepared = pa.array([values[i] for i in index.tolist()])


def _distinct(cells: Any) -> tuple[list[Any], Ints]:
    """The distinct cells of a column, and which of them each row has."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = cells.combine_chunks() if hasattr(cells, "combine_chunks") else cells
    column = column.chunk(0) if hasattr(column, "chunks") and column.num_chunks else column
    if hasattr(column, "chunks"):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], type=column.type)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    encoded = column.dictionary_encode()
    values, index = encoded.dictionary.to_pylist(), encoded.indices
    if index.null_count:
        index = pc.fill_null(index, len(values))
        values.append(None)
    return values, index.to_numpy(zero_copy_only=False).astype(np.int64)


def _plain(column: Column, distinct: Sequence[Any], marks: frozenset[str]) -> tuple[Any, Any]:
    """The distinct cells as plain values, None where missing, and which are there."""
    if column.kind == "decimal":
        plain = [None if v is None else float(v) for v in distinct]
    else:
        plain = plain_values(column, distinct, marks)
    values = np.empty(len(plain), dtype=object)
    values[:] = [None if v is None or v != v else v for v in plain]
    return values, np.array([v is not None for v in values], dtype=bool)


def _dates(values: Any, present: Any, kind: str) -> Any:
    """Dates as days, None where they are none; of text, only ISO dates."""
    texts = [str(v) for v in values[present]]
    if kind not in ("date", "text", "raw") or not all(_DATE.fullmatch(text) for text in texts):
        return None
    try:
        days = np.array(texts, dtype="datetime64[us]").astype(np.int64) / 86_400e6
    except ValueError:
        return None
    out = np.full(len(values), np.nan)
    out[present] = days
    return out


def _edges(finite: Array, n_bins: int, compared: Sequence[tuple[str, float]]) -> list[float]:
    """Edges at quantiles; a value so common that it fills a bin has it for itself. Thresholds are edges as well."""
    distinct = np.unique(finite)
    if len(distinct) <= n_bins:
        edges = set(distinct.tolist())
    else:
        edges = {float(distinct[0])}
        for q in np.quantile(finite, np.arange(1, n_bins) / n_bins, method="higher"):
            edges.add(float(q))
            after = np.searchsorted(distinct, q, side="right")
            if after < len(distinct) and (finite == q).mean() > 0.5 / n_bins:
                edges.add(float(distinct[after]))
    for sign, x in compared:
        own, past = np.searchsorted(distinct, x, side="left"), np.searchsorted(distinct, x, side="right")
        for next_up, signs in ((own, ("<", ">=", "=", "!=")), (past, ("<=", ">", "=", "!="))):
            if sign in signs and next_up < len(distinct):  # edges are values of the data: no bin is without rows
                edges.add(float(distinct[next_up]))
    top = float(np.nextafter(distinct[-1], np.inf))
    inside = sorted(e for e in edges if distinct[0] < e <= distinct[-1])
    return [float(distinct[0]), *inside, top]


def _comparisons(name: str) -> re.Pattern[str]:
    number = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
    return re.compile(rf"(?<![\w.])({re.escape(name)}[\"']?)\s*(<=|>=|!=|=|<|>)\s*({number})(?![\w.])")


def _compared(name: str, texts: Iterable[str]) -> list[tuple[str, float]]:
    """(comparison, number) for each number that a condition compares a column with."""
    return [(sign, float(x)) for text in texts for _, sign, x in _comparisons(name).findall(text)]
