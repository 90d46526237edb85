"""From distinct values to levels, and from values to codes.

A column's type is decided from its distinct values, so that the levels are what a person sees:

* CSV text is ``bool`` if every value is true or false (any case), ``int`` or ``float`` if every value is a number
  written without a padding zero, else text. ``007`` keeps its zeros, and its whole column stays text; so does a
  column with a number beyond double precision.
* Floating-point columns that hold whole numbers only have integer levels.
* Text of typed sources (frames, Parquet, JSON) stays text. Dates are text.

Levels sort by number, by text, or False before True; a categorical column keeps its own order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.relation import INFINITE, NOT_A_NUMBER, Column
from fullspan.data.tokens import signed_dtype
from fullspan.errors import DataError, QueryError
from fullspan.space import MISSING, Level, Variable

ABSENT, UNSEEN = -1, -2
"""Codes of a missing cell and of a value that is no level."""

_INTEGER = re.compile(r"[+-]?(0|[1-9]\d*)")
_NUMBER = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
MAX_DIGITS = 300
"""Most characters of a whole number; a longer one is text, and so is a number beyond double precision."""
_BOOLEAN = {"true": True, "false": False}


def plain_values(column: Column, values: Sequence[Any], marks: frozenset[str]) -> list[Any]:
    """Distinct raw values as levels, None where missing; several raw values may become one level."""
    if column.kind == "raw":
        return _typed([_unmarked(v if v is None else v.strip(), marks) for v in values])
    unmarked = [_unmarked(v, marks) for v in values]
    return _whole(unmarked) if column.kind == "float" else unmarked


def _unmarked(value: Any, marks: frozenset[str]) -> Any:
    return None if value is None or _is_mark(value, marks) else value


def _is_mark(value: Any, marks: frozenset[str]) -> bool:
    """Whether the text of a value means a missing cell; 9.0 reads as 9."""
    if not marks:
        return False
    whole = isinstance(value, float) and value.is_integer()
    return str(value).strip() in marks or (whole and str(int(value)) in marks)


def _typed(texts: list[str | None]) -> list[Any]:
    present = [t for t in texts if t is not None]
    if all(t.lower() in _BOOLEAN for t in present):
        return [None if t is None else _BOOLEAN[t.lower()] for t in texts]
    if all(len(t) <= MAX_DIGITS and _INTEGER.fullmatch(t) for t in present):
        return [None if t is None else int(t) for t in texts]
    if all(_NUMBER.fullmatch(t) and math.isfinite(float(t)) for t in present):
        return _whole([None if t is None else float(t) for t in texts])
    return list(texts)


def _whole(values: list[Any]) -> list[Any]:
    """Floats as integers where all of them are whole and fit 64 bits."""
    if all(v is None or (float(v).is_integer() and abs(v) < 2**63) for v in values):
        return [None if v is None else int(v) for v in values]
    return values


def inferred_levels(column: Column, plain: Sequence[Any]) -> tuple[Level, ...]:
    """The levels of a column from its plain values, in order; a level "(missing)" comes last."""
    declared = [] if column.levels is None else list(column.levels)
    seen = sorted(set(plain) - {None} - set(declared))
    levels = declared + seen
    return tuple(sorted(levels, key=lambda level: level == MISSING))


def codes_of(
    variable: Variable, values: Sequence[Any], marks: frozenset[str] = frozenset()
) -> NDArray[np.signedinteger[Any]]:
    """Codes of raw values: a known level first, else ABSENT for a missing mark, else UNSEEN.

    A variable with the level "(missing)" takes missing cells as that level.
    """
    absent = ABSENT if variable.missing_code is None else variable.missing_code
    codes = (absent if v is None else _code_of(variable, v, absent, marks) for v in values)
    return np.fromiter(codes, dtype=signed_dtype(variable.card), count=len(values))


def _code_of(variable: Variable, value: Any, absent: int, marks: frozenset[str]) -> int:
    for candidate in _readings(value):
        try:
            return variable.code(candidate)
        except QueryError:
            continue
    return absent if _is_mark(value, marks) else UNSEEN


def _readings(value: Any) -> Iterator[Any]:
    """The value itself, then what a cell with that text may mean."""
    yield value
    if isinstance(value, float) and value.is_integer():
        yield int(value)
    if isinstance(value, str):
        text = value.strip()
        yield text
        if text.lower() in _BOOLEAN:
            yield _BOOLEAN[text.lower()]
        if _NUMBER.fullmatch(text):
            yield float(text)


def bin_codes(variable: Variable, values: Sequence[Any]) -> NDArray[np.signedinteger[Any]]:
    """Codes of the bin codes a relation returned: missing cells as in :func:`codes_of`, bad cells kept."""
    absent = ABSENT if variable.missing_code is None else variable.missing_code
    codes = [absent if v is None else UNSEEN if v < 0 else v for v in values]
    return np.array(codes, dtype=signed_dtype(variable.card))


def bad_cell(variable: Variable, code: int, value: Any) -> DataError:
    """The error for a cell that no bin can take."""
    reason = {NOT_A_NUMBER: "which is not a number", INFINITE: "which is infinite"}[code]
    return DataError(
        f"column {variable.name!r} is binned, but holds {value!r}, {reason}; mend the cell, or mark it as missing"
    )


def with_missing(variable: Variable) -> Variable:
    """The variable with a last level "(missing)"."""
    if variable.missing_code is not None:
        return variable
    return Variable(variable.name, (*variable.levels, MISSING), variable.edges, variable.bin_values)
