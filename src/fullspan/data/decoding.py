"""Codes as levels: columns, or a frame of the kind a person came with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.space import Level, Space
from fullspan.errors import DataError


def decode_columns(codes: NDArray[Any], space: Space) -> dict[str, NDArray[Any]]:
    """Levels by column, in natural dtypes: bool, int64, float64, or object for text.

    A code of −1 is a missing cell: NaN among numbers (the column becomes float64), None elsewhere.

    Raises
    ------
    DataError : the width is not the number of variables, or a code is out of range.
    """
    rows = np.asarray(codes)
    if rows.ndim != 2 or rows.shape[1] != len(space):
        raise DataError(f"codes of shape {rows.shape} were given; (rows, {len(space)}) is needed")
    return {v.name: decoded(v.name, v.levels, rows[:, j]) for j, v in enumerate(space.variables)}


def decoded(name: str, levels: tuple[Level, ...], codes: NDArray[Any]) -> NDArray[Any]:
    """The levels of one column; see :func:`decode_columns`."""
    codes = codes.astype(np.int64)
    wrong = (codes < -1) | (codes >= len(levels))
    if wrong.any():
        raise DataError(
            f"{name!r} has codes 0 to {len(levels) - 1}, but row {int(np.argmax(wrong)) + 1} has "
            f"{codes[np.argmax(wrong)]}"
        )
    table = _level_table(levels)
    if (codes < 0).any():
        is_number = table.dtype.kind in "if"
        empty = np.array([np.nan if is_number else None], dtype=np.float64 if is_number else object)
        table = np.concatenate([table.astype(empty.dtype), empty])
    column: NDArray[Any] = table[codes]
    return column


def _level_table(levels: tuple[Level, ...]) -> NDArray[Any]:
    if all(isinstance(level, bool) for level in levels):
        return np.array(levels, dtype=np.bool_)
    if any(isinstance(level, bool | str) for level in levels):
        return _objects(levels)
    if all(isinstance(level, int) for level in levels):
        fits = all(-(2**63) <= level < 2**63 for level in levels if isinstance(level, int))
        return np.array(levels, dtype=np.int64) if fits else _objects(levels)
    return np.array(levels, dtype=np.float64)


def _objects(levels: tuple[Level, ...]) -> NDArray[Any]:
    table = np.empty(len(levels), dtype=object)
    table[:] = levels
    return table


def decode(codes: NDArray[Any], space: Space, like: Any = None) -> Any:
    """Levels as a frame of the same kind as ``like``: pandas, polars, array, else a pyarrow Table.

    A pandas index is kept where the lengths agree, and ordered levels that are text, bins among them, become ordered
    categories there. A column of mixed levels (numbers and "(missing)", say), or of whole numbers beyond 64 bits, is
    text in polars and Arrow.

    Raises
    ------
    DataError : see :func:`decode_columns`.
    """
    return framed(decode_columns(codes, space), space, like)


def framed(columns: dict[str, NDArray[Any]], space: Space, like: Any = None) -> Any:
    """Columns as a frame of the same kind as ``like``; see :func:`decode`."""
    module = type(like).__module__.split(".")[0]
    if isinstance(like, np.ndarray | list | tuple):
        return as_array(columns)
    if module == "pandas":
        return _as_pandas(columns, space, like)
    table = as_arrow(columns)
    if module == "polars":
        import polars as pl

        return pl.from_arrow(table)
    return table


def as_array(columns: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """Columns as one array, of objects where types are mixed."""
    kinds = {column.dtype.kind for column in columns.values()}
    values = list(columns.values())
    if len(kinds) > 1 and not kinds <= {"i", "f"}:
        values = [v.astype(object) for v in values]
    return np.stack(values, axis=1)


def _as_pandas(columns: dict[str, NDArray[Any]], space: Space, like: Any) -> Any:
    import pandas as pd

    n_rows = len(next(iter(columns.values())))
    index = like.index if len(like) == n_rows else None
    frame = pd.DataFrame(columns, index=index)
    for variable in space.variables:
        is_text = columns[variable.name].dtype == object  # bins may have been made numbers
        if variable.ordered and is_text and all(isinstance(level, str) for level in variable.levels):
            kind = pd.CategoricalDtype(list(variable.levels), ordered=True)
            frame[variable.name] = frame[variable.name].astype(kind)
    return frame


def as_arrow(columns: dict[str, NDArray[Any]]) -> Any:
    """Columns as an Arrow table; see :func:`decode`."""
    import pyarrow as pa

    return pa.table({name: pa.array(_one_type(column), from_pandas=True) for name, column in columns.items()})


def _one_type(column: NDArray[Any]) -> Any:
    if column.dtype != object:
        return column
    kinds = {type(v) for v in column if v is not None}
    if len(kinds) <= 1 and not any(isinstance(v, int) and not -(2**63) <= v < 2**63 for v in column):
        return column.tolist()
    return [None if v is None else str(v) for v in column]
