"""Equal rows of codes merged and sorted; −1 is a missing cell and comes before every level.

Columns are the digits of a mixed-radix index, the first the least significant. Where cells are missing a column
of ``|X_i|`` levels has the digits ``x_i + 1`` to the radix ``|X_i| + 1``. An index beyond 63 bits is kept in several
words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    radices = [card + missing for card in cards]
    words, n_states = _words(radices, columns, lowest=-int(missing)), math.prod(radices)
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
