"""Frames, arrays, lists and dictionaries as Arrow tables, and those as relations.

Categorical columns (pandas, Arrow dictionaries, polars Enum) keep the order of their levels, unseen ones
included. polars' Categorical declares no order of its own and is read as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from fullspan.data.relations.columns import Column
from fullspan.data.relations.duck import DuckRelation, translated
from fullspan.data.relations.relation import checked_names
from fullspan.data.space import Level
from fullspan.errors import DataError

LARGE_ROWS = 1_000_000


def relation_of_arrow(
    connection: Any,
    table: Any,
    names: Sequence[str],
    levels: Mapping[str, tuple[Level, ...] | None],
    *,
    named: bool = True,
    large: bool = False,
) -> DuckRelation:
    """A relation over an Arrow table or dataset, which DuckDB reads in place."""
    translated(lambda: connection.register("arrow_source", table))
    relation = DuckRelation.of(connection, "arrow_source", names, named=named, large=large, kept=(table,))
    ordered = [getattr(kind, "ordered", False) for kind in table.schema.types]  # of Arrow dictionaries
    columns = tuple(
        Column(c.name, c.key, c.kind, levels.get(c.name), is_ordered)
        for c, is_ordered in zip(relation.columns, ordered, strict=True)
    )
    return DuckRelation(**{**vars(relation), "columns": columns})


def open_frame(connection: Any, source: Any) -> DuckRelation:
    """The relation of a frame, array, list or dictionary.

    Raises
    ------
    DataError : the kind of object is not known, it has no columns or no rows, or a column mixes types.
    """
    table, names, named = arrow_of(source)
    levels = {name: declared_levels(table.column(i)) for i, name in enumerate(names)}
    keyed = table.rename_columns([f"c{i}" for i in range(len(names))])
    large = table.num_rows > LARGE_ROWS
    return relation_of_arrow(connection, keyed, names, levels, named=named, large=large)


def arrow_of(source: Any) -> tuple[Any, list[str], bool]:
    """(Arrow table, column names, whether the source itself named them)."""
    if isinstance(source, np.ndarray):
        return _of_columns(_columns_of_array(source), named=False)
    if isinstance(source, Mapping):
        return _of_columns(_columns_of_mapping(source), named=True)
    if isinstance(source, list | tuple):
        return _of_rows(source)
    table = _of_native_frame(source)
    return table, checked_names([str(name) for name in table.column_names]), True


def _columns_of_array(array: np.ndarray) -> dict[str, Any]:
    if array.ndim != 2:
        raise DataError(f"an array of shape {array.shape} was given; a table has two dimensions (rows, columns)")
    return {f"x{i}": array[:, i] for i in range(array.shape[1])}


def _columns_of_mapping(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    is_column = [isinstance(v, list | tuple | np.ndarray) for v in mapping.values()]
    if any(is_column) and not all(is_column):
        raise DataError("a dictionary holds either one level per name or one list per name, not both")
    columns = {str(name): values if any(is_column) else [values] for name, values in mapping.items()}
    if len({len(values) for values in columns.values()}) > 1:
        lengths = ", ".join(f"{name!r}: {len(values)}" for name, values in columns.items())
        raise DataError(f"the columns differ in length: {lengths}")
    return columns


def _of_rows(rows: Sequence[Any]) -> tuple[Any, list[str], bool]:
    if not rows:
        raise DataError("the table has no rows")
    # Rows may lack keys: the columns are those of all of them, in the order in which they are met.
    if all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys(name for row in rows for name in row))
        return _of_columns({str(name): [row.get(name) for row in rows] for name in names}, named=True)
    for i, row in enumerate(rows, start=1):
        if isinstance(row, str | Mapping) or not isinstance(row, Iterable):
            raise DataError(f"row {i} is {row!r}; a list of rows holds lists of equal length, or dictionaries")
        if len(list(row)) != len(list(rows[0])):
            raise DataError(f"row {i} has {len(list(row))} cells and row 1 has {len(list(rows[0]))}")
    return _of_columns({f"x{i}": list(values) for i, values in enumerate(zip(*rows, strict=True))}, named=False)


def _of_columns(columns: Mapping[str, Any], *, named: bool) -> tuple[Any, list[str], bool]:
    import pyarrow as pa

    names = checked_names(list(columns))
    return pa.table([_arrow_column(n, v) for n, v in columns.items()], names=names), names, named


def _arrow_column(name: str, values: Any) -> Any:
    import pyarrow as pa

    if isinstance(values, np.ndarray) and values.dtype != object:
        if values.dtype.kind not in "biufUM":
            raise DataError(f"column {name!r} has the type {values.dtype}; numbers, text or truth values are expected")
        # Arrow has no half precision that DuckDB reads; every such number is one in single precision.
        plain = values.astype(np.float32) if values.dtype == np.float16 else values
        if values.dtype == np.longdouble and values.dtype.itemsize > 8:
            plain = values.astype(np.float64)
            _refuse_rounding(name, values, plain)
        try:
            return pa.array(np.ascontiguousarray(plain))
        except UnicodeError as error:  # half of a surrogate pair
            raise DataError(f"column {name!r} cannot be read: {error}") from error
    cells = [_cell(v) for v in values]
    _check_one_type(name, cells)
    try:
        if any(type(c) is int and not -(2**63) <= c < 2**63 for c in cells):
            return _large_integers(cells)
        return pa.array(cells)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise DataError(f"column {name!r} cannot be read: {error}") from error


def _refuse_rounding(name: str, values: np.ndarray, rounded: np.ndarray) -> None:
    """Raise DataError where extended precision would be lost."""
    lost = (rounded != values) & ~np.isnan(values)
    if lost.any():
        i = int(np.argmax(lost))
        raise DataError(
            f"column {name!r} holds {values[i]!r} in row {i + 1}, which rounds to {float(rounded[i])!r} in double "
            "precision; round the column, or give it as text"
        )


def _large_integers(cells: Sequence[Any]) -> Any:
    """Integers beyond 64 bits, up to 38 digits, as decimals; a float among them must be whole to stay what it is."""
    import pyarrow as pa

    exact = [None if c is None else Decimal(c) for c in cells]
    return pa.array(exact, type=pa.decimal128(38, 0))


def _cell(value: Any) -> Any:
    """A cell as a plain Python value; NaN, NaT and pandas' NA are None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    return value


def _check_one_type(name: str, cells: Iterable[Any]) -> None:
    """Raise DataError where a column holds, say, numbers and text."""
    examples: dict[str, Any] = {}
    for cell in cells:
        if cell is not None:
            kind = "number" if type(cell) in (int, float) else type(cell).__name__
            examples.setdefault(kind, cell)
    if len(examples) > 1:
        shown = " and ".join(f"{value!r} ({kind})" for kind, value in list(examples.items())[:3])
        raise DataError(f"column {name!r} mixes types: {shown}; convert it to one type")


def _of_native_frame(source: Any) -> Any:
    module = type(source).__module__.split(".")[0]
    if module == "pandas":
        return _of_pandas(source)
    if module == "polars":
        return _of_polars(source)
    if module == "pyarrow":
        return _of_arrow(source)
    import narwhals as nw

    try:
        frame: Any = nw.from_native(source)
    except TypeError as error:
        raise DataError(
            f"a table is expected (a path, a pandas, polars or Arrow frame, an array, a list of rows, "
            f"an Ibis table), but {type(source).__name__} was given"
        ) from error
    return frame.collect(backend="pyarrow").to_native() if isinstance(frame, nw.LazyFrame) else frame.to_arrow()


def _of_arrow(source: Any) -> Any:
    import pyarrow as pa

    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if not isinstance(source, pa.Table):
        raise DataError(f"an Arrow table is expected, but {type(source).__name__} was given")
    return source.unify_dictionaries()


def _of_pandas(frame: Any) -> Any:
    import pyarrow as pa

    if frame.ndim != 2:
        raise DataError("a pandas Series was given; a table is expected: use series.to_frame()")
    names = checked_names([str(name) for name in frame.columns])
    columns = [_of_pandas_column(name, frame.iloc[:, i]) for i, name in enumerate(names)]
    return pa.table(columns, names=names)


def _of_pandas_column(name: str, series: Any) -> Any:
    import pyarrow as pa

    if series.dtype == object:
        return _arrow_column(name, series.to_numpy())
    if str(series.dtype) == "category" and not all(map(is_level, series.cat.categories)):
        series = series.cat.rename_categories([str(c) for c in series.cat.categories])
    if type(series.dtype).__name__ in ("IntervalDtype", "PeriodDtype"):
        # Intervals and periods have no Arrow type that is a level.
        series = series.astype(object).map(str, na_action="ignore")
    try:
        converted = pa.Array.from_pandas(series)
    except (pa.ArrowException, TypeError, UnicodeEncodeError) as error:
        raise DataError(f"column {name!r} of type {series.dtype} cannot be read: {error}") from error
    return converted


def _of_polars(frame: Any) -> Any:
    import polars as pl

    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, pl.DataFrame):
        raise DataError(f"a polars {type(frame).__name__} was given; a table is expected: use to_frame()")
    checked_names(frame.columns)
    objects = [name for name, dtype in frame.schema.items() if dtype == pl.Object]
    for name in objects:
        _check_one_type(name, map(_cell, frame[name].to_list()))
        raise DataError(f"column {name!r} holds Python objects; convert it to one type")
    plain = frame.with_columns(
        [pl.col(name).cast(pl.String) for name, dtype in frame.schema.items() if dtype == pl.Categorical]
    )
    return plain.to_arrow()


def declared_levels(column: Any) -> tuple[Level, ...] | None:
    """The levels an Arrow dictionary column declares, in order."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return None
    chunks = column.unify_dictionaries().chunks if isinstance(column, pa.ChunkedArray) else [column]
    values = chunks[0].dictionary.to_pylist() if chunks else []
    return tuple(values) or None if all(map(is_level, values)) else None


def is_level(value: Any) -> bool:
    """Whether a value can be a level as it is: text, number or truth value."""
    return isinstance(value, str | bool | int | float | np.number | np.bool_)
