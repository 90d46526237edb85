"""From distinct values to levels, and from values to codes.

A column's type is decided from its distinct values, so that the levels are what a person sees:

* CSV text is ``bool`` if every value is true or false (any case), ``int`` or ``float`` if every value is a number
  written without a padding zero, else text. ``007`` keeps its zeros, and its whole column stays text. A
  number beyond double precision is refused.
* Floating-point columns that hold whole numbers only have integer levels.
* Text of typed sources (frames, Parquet, JSON) stays text. Dates are text.

Levels sort by number, by text, or False before True; a categorical column keeps its own order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.merging import code_dtype
from fullspan.data.relations.columns import Column, Key
from fullspan.data.relations.relation import INFINITE, NOT_A_NUMBER
from fullspan.data.relations.tokens import Tokens
from fullspan.data.space import MISSING, Level, Variable
from fullspan.errors import DataError, QueryError, brief

ABSENT, UNSEEN = -1, -2
"""Codes of a missing cell and of a value that is no level."""

_INTEGER = re.compile(r"[+-]?(0|[1-9]\d*)")
_NUMBER = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_EXACT, _LARGEST = 2**53, 1e38
"""Whole numbers below are exact in floating point; from the second on, numbers with an exponent stay floating-point."""
MAX_DIGITS = 300
"""Most characters of a number; a column with a longer one is text."""
_BOOLEAN = {"true": True, "false": False}


def plain_values(column: Column, values: Sequence[Any], marks: frozenset[str]) -> list[Any]:
    """Distinct raw values as levels, None where missing; several raw values may become one level.

    Raises
    ------
    DataError : a number is infinite, or two values that differ would become one.
    """
    if column.kind == "raw":
        texts = [_unmarked(v if v is None else v.strip(), marks) for v in values]
        plain = _typed(texts)
        refuse_merged(column.name, texts, plain)
        return plain
    unmarked = [_unmarked(v, marks) for v in values]
    refuse_infinite(column.name, unmarked)
    if column.rounded:
        _refuse_rounded(column.name, unmarked)
    return _whole(unmarked) if column.kind in ("float", "decimal") else unmarked


def _unmarked(value: Any, marks: frozenset[str]) -> Any:
    return None if value is None or is_mark(value, marks) else value


def is_mark(value: Any, marks: frozenset[str]) -> bool:
    """Whether the text of a value means a missing cell; 9.0 reads as 9."""
    if not marks:
        return False
    whole = isinstance(value, float) and value.is_integer()
    return str(value).strip() in marks or (whole and str(int(value)) in marks)


def _typed(texts: list[str | None]) -> list[Any]:
    present = [t for t in texts if t is not None]
    if all(t.lower() in _BOOLEAN for t in present):
        return [None if t is None else _BOOLEAN[t.lower()] for t in texts]
    # int() of a text of very many digits takes quadratic time.
    if any(len(t) > MAX_DIGITS for t in present):
        return list(texts)
    if all(map(_INTEGER.fullmatch, present)):
        return [None if t is None else int(t) for t in texts]
    # A column of "inf" alone is text; among numbers it is refused with its name.
    if all(_NUMBER.fullmatch(t) or _INFINITY.fullmatch(t) for t in present) and any(map(_NUMBER.fullmatch, present)):
        return _whole([None if t is None else exact_number(t) for t in texts])
    return list(texts)


def _whole(values: list[Any]) -> list[Any]:
    """Floats as integers where all of them are whole, else all as floats unless an integer would lose digits."""
    if all(v is None or isinstance(v, int) or (v.is_integer() and abs(v) < 2**63) for v in values):
        return [None if v is None else int(v) for v in values]
    return [float(v) if isinstance(v, int) and abs(v) <= _EXACT else v for v in values]


def exact_number(text: str) -> int | float:
    """A number as an integer where a float would lose digits of a whole number, else as the nearest float."""
    if _INTEGER.fullmatch(text):
        return int(text)
    number = float(text)
    # Below 2^53 a float is exact; beyond 1e38 an exponent was meant as a size, not as digits.
    if not _EXACT <= abs(number) < _LARGEST:
        return number
    exact = Decimal(text)
    return int(exact) if exact == exact.to_integral_value() else number


def exact_numbers(column: Column, values: Sequence[Any]) -> list[Any]:
    """The numbers of a decimal column, which the backend hands over as text.

    Raises
    ------
    DataError : two of them would become one.
    """
    numbers = [None if v is None else exact_number(v) for v in values]
    refuse_merged(column.name, values, numbers)
    return numbers


def exact_tokens(tokens: Tokens, keys: Sequence[Key]) -> Tokens:
    """The tokens with the numbers of decimal columns in place of their texts."""
    for j, key in enumerate(keys):
        if key.column.kind == "decimal" and (key.variable is None or key.variable.edges is None):
            tokens.values[j] = exact_numbers(key.column, tokens.values[j])
    return tokens


def refuse_merged(name: str, texts: Sequence[str | None], plain: Sequence[Any]) -> None:
    """Raise DataError where a number is infinite, or two texts that are different numbers became the same."""
    refuse_infinite(name, plain, texts)
    if len(set(plain)) == len(plain):
        return
    first: dict[Any, str] = {}
    for text, value in zip(texts, plain, strict=True):
        if text is not None and isinstance(value, float | int) and not isinstance(value, bool):
            other = first.setdefault(value, text)
            if other != text and _differ(other, text):
                raise DataError(
                    f"column {name!r} holds {other} and {text}, which a computer's floating-point numbers cannot tell "
                    "apart; cut it with bins=, or give it as text"
                )


def _differ(a: str, b: str) -> bool:
    try:
        return Decimal(a) != Decimal(b)
    except InvalidOperation:  # an exponent beyond all bounds: not the number it was rounded to
        return True


def refuse_infinite(name: str, values: Sequence[Any], texts: Sequence[Any] | None = None) -> None:
    """Raise DataError for a number that is infinite or too large to compute with."""
    for i, value in enumerate(values):
        if isinstance(value, float) and math.isinf(value):
            shown = value if texts is None else texts[i]
            raise DataError(
                f"column {name!r} holds {brief(shown)}, and levels are finite numbers; correct the cell, or mark it as "
                "missing with na_values="
            )


def _refuse_rounded(name: str, values: Sequence[Any]) -> None:
    """Raise DataError for a whole number so large that its reader has rounded it."""
    for value in values:
        if isinstance(value, float) and abs(value) >= _EXACT:
            raise DataError(
                f"column {name!r} holds {value:g}: the reader rounds numbers of a JSON file beyond 2^53, so that "
                "different ones may have become equal; write them as text, or cut the column with bins="
            )


def inferred_levels(column: Column, plain: Sequence[Any], marks: frozenset[str]) -> tuple[Level, ...]:
    """The levels of a column from its plain values, in order; a level "(missing)" comes last."""
    declared = [] if column.levels is None else [v for v in column.levels if not is_mark(v, marks)]
    seen = sorted(set(plain) - {None} - set(declared))
    levels = declared + seen
    # A stable sort: all other levels keep their order.
    return tuple(sorted(levels, key=lambda level: level == MISSING))


def codes_of(
    variable: Variable, values: Sequence[Any], marks: frozenset[str] = frozenset()
) -> NDArray[np.signedinteger[Any]]:
    """Codes of raw values: a known level first, else ABSENT for a missing mark, else UNSEEN.

    A variable with the level "(missing)" takes missing cells as that level.
    """
    absent = ABSENT if variable.missing_code is None else variable.missing_code
    codes = (absent if v is None else _code_of(variable, v, absent, marks) for v in values)
    return np.fromiter(codes, dtype=code_dtype((variable.card,), signed=True), count=len(values))


def _code_of(variable: Variable, value: Any, absent: int, marks: frozenset[str]) -> int:
    for candidate in _readings(value):
        try:
            return variable.code(candidate)
        except QueryError:
            continue
    return absent if is_mark(value, marks) else UNSEEN


def _readings(value: Any) -> Iterator[Any]:
    """The value itself, then what a cell with that text may mean."""
    # As it stands first: the text "1" is a level of its own where a model has it.
    yield value
    if isinstance(value, float) and value.is_integer():
        yield int(value)
    if isinstance(value, str):
        text = value.strip()
        yield text
        if text.lower() in _BOOLEAN:
            yield _BOOLEAN[text.lower()]
        if _NUMBER.fullmatch(text):
            yield exact_number(text)


def bin_codes(variable: Variable, values: Sequence[Any]) -> NDArray[np.signedinteger[Any]]:
    """Codes of the bin codes a relation returned: missing cells as in :func:`codes_of`, bad cells kept."""
    absent = ABSENT if variable.missing_code is None else variable.missing_code
    codes = [absent if v is None else UNSEEN if v < 0 else v for v in values]
    return np.array(codes, dtype=code_dtype((variable.card,), signed=True))


def bad_cell(variable: Variable, code: int, value: Any) -> DataError:
    """The error for a cell that no bin can take."""
    reason = {NOT_A_NUMBER: "which is not a number", INFINITE: "which is infinite"}[code]
    return DataError(
        f"column {variable.name!r} is binned, but holds {value!r}, {reason}; correct the cell, or mark it as missing"
    )


def with_missing(variable: Variable) -> Variable:
    """The variable with a last level "(missing)"."""
    if variable.missing_code is not None:
        return variable
    return Variable(variable.name, (*variable.levels, MISSING), variable.edges, variable.ordered, variable.contents)
