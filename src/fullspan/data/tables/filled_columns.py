"""A column of a frame with cells of other rows and new values in place of some; its type is kept where it can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.relations.columns import Column, Marks
from fullspan.data.space import Level
from fullspan.data.tables.schema import plain_values


def pandas_column(series: Any, rows: NDArray[np.int64], values: Sequence[Level]) -> Any:
    """``concat(series, values)[rows]`` with the index of the series."""
    import pandas as pd

    series, new = _pandas_parts(series, list(values))
    joined = pd.concat([series, new], ignore_index=True) if len(new) else series
    filled = joined.take(rows)
    filled.index = series.index
    return filled


def _pandas_parts(series: Any, values: list[Level]) -> tuple[Any, Any]:
    """The series and the values, in the type of the series or, where it cannot hold them, in one that can."""
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        unknown = [v for v in values if v not in series.cat.categories]
        series = series.cat.add_categories(unknown) if unknown else series
    try:
        return series, pd.Series(values, dtype=series.dtype)
    except (TypeError, ValueError):
        numeric = pd.api.types.is_numeric_dtype(series.dtype) and not any(isinstance(v, str) for v in values)
        wider = ("Float64" if pd.api.types.is_extension_array_dtype(series.dtype) else "float64") if numeric else object
        return series.astype(wider), pd.Series(values, dtype=wider)


def polars_column(series: Any, rows: NDArray[np.int64], values: Sequence[Level]) -> Any:
    """``concat(series, values)[rows]``."""
    import polars as pl

    if values:
        new = pl.Series(series.name, list(values), strict=False)
        kind = series.dtype
        if kind == pl.Null:
            kind = new.dtype
        elif kind.is_integer() and any(isinstance(v, float) for v in values):
            kind = pl.Float64()
        try:
            series = pl.concat([series.cast(kind), new.cast(kind)])
        except pl.exceptions.PolarsError:  # a level that the type cannot hold
            series = pl.concat([series.cast(pl.String), new.cast(pl.String)])
    return series.gather(rows)


def arrow_column(column: Any, rows: NDArray[np.int64], values: Sequence[Level]) -> Any:
    """``concat(column, values)[rows]``."""
    import pyarrow as pa

    if values:
        column, new = _arrow_parts(column, values)
        column = pa.chunked_array([*column.chunks, new], type=column.type).unify_dictionaries()
    return column.take(pa.array(rows))


def _arrow_parts(column: Any, values: Sequence[Level]) -> tuple[Any, Any]:
    import pyarrow as pa

    new = pa.array(_one_type(values))
    for kind in (column.type, pa.float64(), pa.string()):
        numeric = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if kind == pa.float64() and not numeric:
            continue
        try:
            return column.cast(kind), new.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
    return column.cast(pa.string()), pa.array([str(v) for v in values])


def _one_type(values: Sequence[Level]) -> list[Level]:
    if any(isinstance(v, str) for v in values):
        return [str(v) for v in values]
    return [float(v) for v in values] if any(isinstance(v, float) for v in values) else list(values)


def cast_texts(table: Any, columns: Sequence[Column], marks: Marks) -> Any:
    """The text of a CSV file as the types that its distinct values show; a mark of a missing cell is null."""
    import pyarrow as pa

    for i, column in enumerate(columns):
        encoded = table.column(i).combine_chunks().dictionary_encode()
        plain = plain_values(column, encoded.dictionary.to_pylist(), marks.of(column))
        try:
            typed = pa.array(plain)
        except (pa.ArrowInvalid, OverflowError):  # whole numbers beyond 64 bits stay text
            continue
        table = table.set_column(i, column.name, typed.take(encoded.indices))
    return table
