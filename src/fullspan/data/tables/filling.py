"""Missing cells filled in a table that otherwise stays as it is: observed cells, further columns, and their order.

A filled cell copies an observed cell of the same level from its own column, so that it is spelled and typed alike; a
level that the column has nowhere is written as the model has it. In a binned column it is a number: the median of the
data in the bin, or a random one of the values that the model keeps for the bin, as often as its rows are.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.contents import Contents
from fullspan.data.decoding import as_array, as_arrow, decoded
from fullspan.data.relations.files import open_file
from fullspan.data.relations.frames import arrow_of
from fullspan.data.space import Level, Space, Variable
from fullspan.data.tables.filled_columns import arrow_column, cast_texts, pandas_column, polars_column

_EXACT_INTEGERS = 2**53
"""Whole numbers up to which floating point has all of them."""


@dataclass(frozen=True)
class Fill:
    """What the cells of a column become: ``rows[i]`` is the row whose cell is copied to row ``i``.

    Positions from the number of rows on are those of ``values``, which stand nowhere in the column. ``column`` is
    what the column would be if nothing of it were observed.
    """

    rows: NDArray[np.int64]
    values: list[Level]
    column: NDArray[Any]

    @property
    def changes(self) -> bool:
        return bool((self.rows != np.arange(len(self.rows))).any())

    def cells(self, column: Sequence[Any]) -> list[Any]:
        """The cells of a column given as a sequence."""
        known = [*column, *self.values]
        return [known[i] for i in self.rows.tolist()]


def held(source: Any) -> Any:
    """The table; an Ibis table as rows in memory, which have one order in all queries."""
    return source.to_pyarrow() if type(source).__module__.split(".")[0] == "ibis" else source


def fill(
    source: Any,
    space: Space,
    codes: NDArray[Any],
    completed: NDArray[Any],
    rng: np.random.Generator | None = None,
    *,
    names: Sequence[str] | None = None,
    as_text: bool = False,
) -> Any:
    """A table with its missing cells filled; nothing else changes.

    Parameters
    ----------
    source : anything :func:`fullspan.data.encode` takes, but for Ibis tables; see :func:`held`.
    codes : (rows, n) codes of the table, −1 for a missing cell or column.
    completed : the same without −1.
    rng : draws numbers within a bin; without one, the median of the bin is taken.
    names : variables of the columns of an array, where it has not all of them in their order.
    as_text : leave the cells of a CSV or TSV file as the text they are.

    Returns
    -------
    A table of the kind of ``source``: an array for a list of lists, an Arrow table for a file or a dictionary, typed as
    :func:`fullspan.data.count` reads a CSV file. A column keeps its type where that can hold what is filled in: whole
    numbers become floating-point if a filled one is not whole, and anything else becomes text or Python objects.
    Variables without a column are added at the end.
    """
    fills = {v.name: _fill(v, codes[:, j], completed[:, j], rng) for j, v in enumerate(space.variables)}
    if isinstance(source, np.ndarray):
        width = source.shape[1]
        names = names or (space.names if width == len(space) else [f"x{i}" for i in range(width)])
    return _filled(source, fills, names or space.names, as_text)


def with_column(source: Any, name: str, column: NDArray[Any], *, as_text: bool = False) -> Any:
    """A table with one column more, at its end; everything else as :func:`fill` leaves it."""
    if isinstance(source, list | tuple) and source and isinstance(source[0], Mapping):
        return [{**record, name: cell} for record, cell in zip(source, column.tolist(), strict=True)]
    fills = {name: Fill(np.arange(len(column)), [], column)}
    width = source.shape[1] if isinstance(source, np.ndarray) else len(source[0]) if isinstance(source, list) else 0
    return _filled(source, fills, [f"x{i}" for i in range(width)], as_text)


def _filled(source: Any, fills: Mapping[str, Fill], names: Sequence[str], as_text: bool) -> Any:
    if isinstance(source, np.ndarray):
        return _fill_array(source, fills, names)
    if isinstance(source, list | tuple):
        if source and isinstance(source[0], Mapping):
            return _fill_records(source, fills)
        columns = [np.array(column, dtype=object) for column in zip(*source, strict=True)]
        filled = _fill_columns(columns, fills, names)
        return as_array({str(i): _natural(column) for i, column in enumerate(filled)})
    module = type(source).__module__.split(".")[0]
    if module == "pandas":
        return _fill_pandas(source, fills)
    if module == "polars":
        return _fill_polars(source, fills)
    if isinstance(source, str | os.PathLike):
        return _fill_file(Path(source), fills, as_text)
    return _fill_arrow(arrow_of(source)[0], fills)


def made(codes: NDArray[Any], space: Space, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Columns of codes without a table that they come from: numbers within their bins, cells empty where missing."""
    columns = {}
    for j, variable in enumerate(space.variables):
        own = codes[:, j].astype(np.int64)
        if variable.edges is not None:
            columns[variable.name] = _fill(variable, np.full(len(own), -1), own, rng).column
            continue
        empty = -1 if variable.missing_code is None else variable.missing_code
        levels = variable.levels[: variable.n_bins] or variable.levels
        columns[variable.name] = decoded(variable.name, levels, np.where(own == empty, -1, own))
    return columns


def _fill(variable: Variable, before: NDArray[Any], after: NDArray[Any], rng: np.random.Generator | None) -> Fill:
    n = len(before)
    rows, missing = np.arange(n), np.flatnonzero(before < 0)
    wanted = after[missing].astype(np.int64)
    if variable.edges is not None:
        numbers = _numbers(variable, wanted, rng)
        distinct, position = np.unique(numbers, return_inverse=True)
        rows[missing] = n + position.reshape(-1)
        whole = bool((numbers == np.round(numbers)).all()) and bool((np.abs(numbers) < 2**53).all())
        values: list[Level] = [int(x) if x.is_integer() and abs(x) < 2**53 else x for x in distinct.tolist()]
        return Fill(rows, values, numbers.astype(np.int64) if whole else numbers)
    seen, first = np.unique(before, return_index=True)
    place = np.full(variable.card, -1)
    place[seen[seen >= 0]] = first[seen >= 0]
    new = np.unique(wanted[place[wanted] < 0])
    place[new] = n + np.arange(len(new))
    rows[missing] = place[wanted]
    column = decoded(variable.name, variable.levels, after) if len(missing) == n else np.empty(0)
    return Fill(rows, [variable.levels[c] for c in new], column)


def _numbers(variable: Variable, bins: NDArray[np.int64], rng: np.random.Generator | None) -> NDArray[np.float64]:
    """A number in each of the bins; NaN, an empty cell, for the level of missing cells, which is no bin."""
    known = [_contents(variable, code) if code < variable.n_bins else _NOTHING for code in range(variable.card)]
    if rng is None:
        return np.array([inside.median for inside in known])[bins]
    values, shares = zip(*(inside.drawable() for inside in known), strict=True)
    starts = np.cumsum([0, *map(len, values[:-1])])
    # one increasing sequence, so that a single search draws from the bin of every row
    upto = np.concatenate([code + np.cumsum(own) for code, own in enumerate(shares)])
    places = np.searchsorted(upto, bins + rng.random(len(bins)), side="right")
    drawn: NDArray[np.float64] = np.concatenate(values)[
        np.clip(places, starts[bins], starts[bins] + np.array([len(v) - 1 for v in values])[bins])
    ]
    return drawn


_NOTHING = Contents.uncounted([math.nan])


def values_of(variable: Variable, codes: NDArray[np.int64]) -> NDArray[Any]:
    """What stands for each code in a table: its level; of a bin the median of the data in it, as :func:`fill` has it.

    Whole numbers where all medians of the variable are.
    """
    if variable.edges is None:
        return decoded(variable.name, variable.levels, codes)
    medians = _numbers(variable, np.arange(variable.card), None)
    is_whole = bool((medians == np.round(medians)).all()) and bool((np.abs(medians) < 2**53).all())
    return (medians.astype(np.int64) if is_whole else medians)[codes]


def _contents(variable: Variable, code: int) -> Contents:
    """What the data hold in a bin; of a bin without data, or a model of an earlier version, the middle.

    A bin without end has its finite edge instead of a middle.
    """
    if variable.contents is not None and variable.contents[code].low:
        return variable.contents[code]
    low, high = (variable.edges or ())[code : code + 2]
    if np.isinf(low):
        return Contents.uncounted([0.0 if np.isinf(high) else float(np.nextafter(high, low))])
    return Contents.uncounted([low if np.isinf(high) else low / 2 + high / 2])


# -- arrays and records ---------------------------------------------------------------------------------------


def _fill_array(array: NDArray[Any], fills: Mapping[str, Fill], names: Sequence[str]) -> NDArray[Any]:
    out, added = array.copy(), [fill.column for name, fill in fills.items() if name not in names]
    for j, name in enumerate(names):
        fill = fills.get(name)
        if fill is None or not fill.changes:
            continue
        cells = np.empty(len(out), dtype=object)
        cells[:] = fill.cells(out[:, j].tolist())
        out = _holding(out, fill.values)
        out[:, j] = cells
    if not added:
        return out
    return as_array({str(i): column for i, column in enumerate([*out.T, *added])})


def _holding(array: NDArray[Any], values: Sequence[Level]) -> NDArray[Any]:
    """The array in a type that holds these values too: an assignment would cut texts, and numbers, without a word."""
    kind = array.dtype.kind
    if not values or kind == "O" or (kind == "b" and all(isinstance(value, bool) for value in values)):
        return array
    if kind == "U":
        return array.astype(np.result_type(array.dtype, np.array([str(value) for value in values])))
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if kind not in "iuf" or len(numbers) < len(values):
        return array.astype(object)
    parts = [float(x) for x in numbers if not float(x).is_integer()]
    wholes = [np.min_scalar_type(int(x)) for x in numbers if float(x).is_integer()]
    wide = np.result_type(array.dtype, *wholes, *map(np.min_scalar_type, parts))
    if kind == "f" or not (parts or wide.kind == "f"):
        return array.astype(wide)
    is_exact = parts and all(abs(int(x)) <= _EXACT_INTEGERS for x in (array.max(), array.min()))
    return array.astype(np.float64 if is_exact else object)


def _fill_columns(
    columns: Sequence[NDArray[Any]], fills: Mapping[str, Fill], names: Sequence[str]
) -> list[NDArray[Any]]:
    filled = []
    for column, name in zip(columns, names, strict=True):
        cells = np.empty(len(column), dtype=object)
        cells[:] = fills[name].cells(column.tolist()) if name in fills else column.tolist()
        filled.append(cells)
    return filled + [fill.column for name, fill in fills.items() if name not in names]


def _natural(column: NDArray[Any]) -> NDArray[Any]:
    """Python cells in the dtype that holds all of them: bool, int64, float64, else objects."""
    kinds = {type(cell) for cell in column}
    if kinds == {bool} or kinds <= {int, float}:
        plain = np.array(column.tolist())
        return plain if plain.dtype.kind in "bif" else column
    return column


def _fill_records(records: Sequence[Mapping[Any, Any]], fills: Mapping[str, Fill]) -> list[dict[Any, Any]]:
    out = [dict(record) for record in records]
    for name, fill in fills.items():
        keys = [next((key for key in record if str(key) == name), name) for record in records]
        cells = fill.cells([record.get(key) for record, key in zip(records, keys, strict=True)])
        for i in np.flatnonzero(fill.rows != np.arange(len(out))).tolist():
            out[i][keys[i]] = cells[i]
    return out


# -- frames and files -----------------------------------------------------------------------------------------


def _fill_pandas(frame: Any, fills: Mapping[str, Fill]) -> Any:
    out, names = frame.copy(), [str(name) for name in frame.columns]
    for name, fill in fills.items():
        if name not in names:
            out[name] = fill.column
        elif fill.changes:
            label = frame.columns[names.index(name)]
            out[label] = pandas_column(frame[label], fill.rows, fill.values)
    return out


def _fill_polars(frame: Any, fills: Mapping[str, Fill]) -> Any:
    import polars as pl

    frame = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    changed = [
        polars_column(frame[name], fill.rows, fill.values) if name in frame.columns else pl.Series(name, fill.column)
        for name, fill in fills.items()
        if fill.changes or name not in frame.columns
    ]
    return frame.with_columns(changed)


def _fill_arrow(table: Any, fills: Mapping[str, Fill]) -> Any:
    for name, fill in fills.items():
        if name not in table.column_names:
            table = table.append_column(name, as_arrow({name: fill.column}).column(0))
        elif fill.changes:
            i = table.column_names.index(name)
            table = table.set_column(i, name, arrow_column(table.column(i), fill.rows, fill.values))
    return table


def _fill_file(path: Path, fills: Mapping[str, Fill], as_text: bool) -> Any:
    relation = open_file(path)
    try:
        table = _fill_arrow(relation.table(), fills)
        is_text = any(column.kind == "raw" for column in relation.columns)
        return cast_texts(table, relation.columns, relation.marks) if is_text and not as_text else table
    finally:
        relation.close()
