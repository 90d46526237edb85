"""Equal rows of codes merged and sorted; −1 is a missing cell and comes before every level.

Columns are the digits of a mixed-radix index, the first the least significant. Where cells are missing a column
of ``|X_i|`` levels has the digits ``x_i + 1`` to the radix ``|X_i| + 1``. An index beyond 63 bits is kept in several
words.

The variables of several parts of a table together: batches of a stream, machines that each hold some of the rows.

A part may not have seen every level. Levels that a table did not declare are sorted, so that the levels of the whole
are the sorted union of those of the parts; declared ones keep their order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.contents import Contents
from fullspan.data.space import MISSING, Level, Space, Variable
from fullspan.errors import DataError

Columns = Sequence[NDArray[Any]]

WORD = 2**63
BLOCK_ROWS = 1 << 14


def has_missing(columns: Columns) -> bool:
    """Whether a code is negative."""
    return any(column.dtype.kind == "i" and column.size and column.min() < 0 for column in columns)


def n_missing_cells(columns: Columns) -> NDArray[np.intp]:
    """Number of negative codes in each row."""
    n = np.zeros(len(columns[0]), dtype=np.intp)
    for column in columns:
        n += column < 0
    return n


def code_dtype(cards: Sequence[int], signed: bool = False) -> type[np.integer[Any]]:
    """The smallest unsigned type that holds every code; the smallest signed one where cells may be missing."""
    largest = max(cards) - 1
    if signed:
        return np.int8 if largest < 2**7 else np.int16 if largest < 2**15 else np.int32
    return np.uint8 if largest < 2**8 else np.uint16 if largest < 2**16 else np.uint32


def side_by_side(columns: Columns, dtype: type[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """The columns as rows, written block by block, so that a block stays in the cache."""
    rows = np.empty((len(columns[0]), len(columns)), dtype=dtype)
    for start in range(0, len(rows), BLOCK_ROWS):
        for j, column in enumerate(columns):
            rows[start : start + BLOCK_ROWS, j] = column[start : start + BLOCK_ROWS]
    return rows


def merged(
    cards: Sequence[int], columns: Columns, weights: NDArray[np.float64], *, missing: bool
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """One row of each distinct state, in the order of the index, and the summed weights."""
    # One digit more for a missing cell, which comes before all levels.
    radices = [card + missing for card in cards]
    words, n_states = _words(radices, columns, lowest=-int(missing)), math.prod(radices)
    # Few states: counted in a table over all of them, which needs no sort.
    if n_states <= 8 * len(weights):
        return _dense_sums(words[0], weights, n_states)
    order = np.argsort(words[0]) if len(words) == 1 else np.lexsort(words)
    ranked = [word[order] for word in words]
    return _run_sums(order, np.logical_or.reduce([word[1:] != word[:-1] for word in ranked]), weights)


def _words(radices: Sequence[int], columns: Columns, lowest: int) -> list[NDArray[np.int64]]:
    """The index ``sum_i (x_i - lowest) stride_i`` in words of 63 bits, the least significant first."""
    words: list[NDArray[np.int64]] = []
    stride = WORD
    for radix, column in zip(radices, columns, strict=True):
        # A new word: all digits of one column stay together, so that words can be compared one by one.
        if stride * radix >= WORD:
            words.append(np.zeros(len(column), dtype=np.int64))
            stride = 1
        words[-1] += column.astype(np.int64) * stride
        if lowest:
            words[-1] -= lowest * stride
        stride *= radix
    return words


def _run_sums(
    order: NDArray[np.intp], is_new: NDArray[np.bool_], weights: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Sums over runs of equal sorted rows; ``is_new`` says which rows differ from the one before."""
    first = np.concatenate([[0], np.flatnonzero(is_new) + 1])
    return order[first], np.add.reduceat(weights[order], first, dtype=np.float64)


def _dense_sums(
    index: NDArray[np.int64], weights: NDArray[np.float64], n_states: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The same without sorting, where a table of all states is no larger than the rows."""
    row = np.empty(n_states, dtype=np.intp)
    row[index] = np.arange(len(index))
    sums: NDArray[np.float64] = np.bincount(index, weights=weights, minlength=n_states).astype(np.float64, copy=False)
    seen = np.flatnonzero(sums)
    return row[seen], sums[seen]


def joined(a: Space, b: Space) -> Space:
    """The space of two parts: variables are found by name, and ordered as in the first.

    Raises
    ------
    DataError : the variables differ, or one has other bins or its levels in another order.
    """
    if a == b and all(v.edges is None for v in a.variables):  # parts differ in the values of their bins
        return a
    if set(a.names) != set(b.names):
        odd = sorted(set(a.names) ^ set(b.names))
        raise DataError(f"the parts have different variables: {', '.join(map(repr, odd))} is not in both of them")
    return Space(tuple(_joined_variable(v, b.variables[b.position(v.name)]) for v in a.variables))


def _joined_variable(a: Variable, b: Variable) -> Variable:
    if a.edges != b.edges:
        raise DataError(
            f"{a.name!r} is cut into other bins in another part; give the same edges to all parts: "
            f"bins={{{a.name!r}: {list(a.edges or b.edges or ())}}}"
        )
    absent = (MISSING,) if a.missing_code is not None or b.missing_code is not None else ()
    ordered, levels = a.ordered and b.ordered, _joined_levels(a.name, _seen(a), _seen(b)) + absent
    return Variable(a.name, levels, a.edges, ordered, _joined_contents(a, b))


def _joined_contents(a: Variable, b: Variable) -> tuple[Contents, ...] | None:
    """The contents of both parts in each bin, once where a part was read with the variables of the other."""
    if a.contents is None or b.contents is None or a.contents is b.contents:
        return a.contents or b.contents
    return tuple(x + y for x, y in zip(a.contents, b.contents, strict=True))


def _seen(variable: Variable) -> tuple[Level, ...]:
    return variable.levels[: variable.n_bins]


def _joined_levels(name: str, a: tuple[Level, ...], b: tuple[Level, ...]) -> tuple[Level, ...]:
    """All levels in an order that agrees with both parts."""
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    kinds = {_kind(level) for level in (*a, *b)}
    if len(kinds) > 1:
        raise _disagreement(name, a, b)
    union = {float(v) if _is_float(a + b) else v for v in (*a, *b)}
    if [level for level in longer if level in set(shorter)] == list(shorter):
        return tuple(float(v) for v in longer) if _is_float(a + b) else longer
    if sorted(a) != list(a) or sorted(b) != list(b):
        raise _disagreement(name, a, b)
    return tuple(sorted(union))


def _kind(level: Level) -> str:
    return "number" if isinstance(level, int | float) and not isinstance(level, bool) else type(level).__name__


def _is_float(levels: tuple[Level, ...]) -> bool:
    return any(isinstance(level, float) for level in levels)


def _disagreement(name: str, a: tuple[Level, ...], b: tuple[Level, ...]) -> DataError:
    shown = " and ".join(str(list(levels[:6]))[:-1] + (", ...]" if len(levels) > 6 else "]") for levels in (a, b))
    return DataError(
        f"the parts have the levels of {name!r} in different types or orders: {shown}; give all parts the same levels="
    )


@dataclass(frozen=True, eq=False)
class Pattern:
    """The distinct rows whose missing cells are those of ``missing``, and no others.

    Attributes
    ----------
    missing : positions of the variables not observed, increasing.
    states : (m, n) codes, −1 in the columns of ``missing``.
    counts : (m,) float64, positive.
    """

    missing: tuple[int, ...]
    states: NDArray[np.integer[Any]]
    counts: NDArray[np.float64]

    @property
    def observed(self) -> tuple[int, ...]:
        """Positions of the variables observed, increasing."""
        missing = set(self.missing)
        return tuple(i for i in range(self.states.shape[1]) if i not in missing)


def grouped(states: NDArray[np.integer[Any]], counts: NDArray[np.float64]) -> Iterator[Pattern]:
    """The patterns in increasing order of ``sum_{i missing} 2^i``: complete rows, if any, come first.

    Rows keep their order. Time is one sort of (m,) words of 64 bits for each 64 variables.
    """
    for rows in same_pattern(states):
        missing = tuple(np.flatnonzero(states[rows[0]] < 0).tolist())
        yield Pattern(missing, states[rows], counts[rows])


def same_pattern(states: NDArray[np.integer[Any]]) -> list[NDArray[np.intp]]:
    """Positions of the rows of each pattern, increasing; patterns in the order of :func:`grouped`."""
    words = _pattern_words(states < 0)
    order = np.lexsort(words.T)
    ranked = words[order]
    is_new = (ranked[1:] != ranked[:-1]).any(axis=1)
    return np.split(order, np.flatnonzero(is_new) + 1)


def _pattern_words(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Rows of bits (m, n) as words (m, ⌈n/64⌉), bit 0 of the first word first."""
    packed = np.packbits(bits, axis=1, bitorder="little")
    padded = np.zeros((len(bits), -(-bits.shape[1] // 64) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8")
