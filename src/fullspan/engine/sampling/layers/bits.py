"""Products of matrices of 0 and 1 with numbers, by sums alone: no multiplication, and nothing for a 0.

    x w        a row of it is the sum of those rows of w where x is 1
    x' h       the same, by columns of x
    dense x    units by fours, and the 16 sums of each four rows of w listed once: one sum per four units and row

Units are int8. They are read eight at a time as words of 64 bits, least significant first; their number is a multiple
of 8 (:func:`whole_words` adds zeros).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.cpython.unsafe import numbers
from numpy.typing import NDArray

from fullspan.engine.sampling.layers.row_sums import STRIPE_BYTES, fill_sums, sum_rows
from fullspan.model.algebra.jit import parallel, prange

trailing_zeros: Any = numbers.trailing_zeros
_ONE, _15 = np.uint64(1), np.uint64(15)


def whole_words(x: NDArray[np.int8]) -> NDArray[np.uint64]:
    """(m, n / 8) units as words, with zeros behind them where n is no multiple of 8."""
    short = -x.shape[1] % 8
    if short or not x.flags.c_contiguous:
        x = np.ascontiguousarray(np.pad(x, ((0, 0), (0, short))))
    return x.view(np.uint64)


@parallel
def list_ones(words: Any, where: Any, counts: Any) -> None:
    """Positions of the ones of each row; ``where`` (m, 8 words)."""
    for r in prange(words.shape[0]):
        count = 0
        for g in range(words.shape[1]):
            word = words[r, g]
            while word != 0:
                where[r, count] = 8 * g + (trailing_zeros(word) >> 3)
                count += 1
                word &= word - _ONE
        counts[r] = count


@parallel
def list_fours(words: Any, where: Any, counts: Any) -> None:
    """16 g + code of every four units g of a row that are not all 0; ``where`` (m, 2 words + 1)."""
    for r in prange(words.shape[0]):
        count = 0
        for g in range(words.shape[1]):
            word = words[r, g]
            packed = word | (word >> np.uint64(7)) | (word >> np.uint64(14)) | (word >> np.uint64(21))
            low, high = packed & _15, (packed >> np.uint64(32)) & _15
            where[r, count] = np.uint32(32 * g) + np.uint32(low)
            count += low != 0
            where[r, count] = np.uint32(32 * g + 16) + np.uint32(high)
            count += high != 0
        counts[r] = count


@parallel
def list_columns(words: Any, first: int, where: Any, counts: Any) -> None:
    """Add the rows in which each unit is 1, numbered from ``first``, to lists of ``counts`` rows; ``where`` (n, m)."""
    for g in prange(words.shape[1]):
        for r in range(words.shape[0]):
            word = words[r, g]
            while word != 0:
                i = 8 * g + (trailing_zeros(word) >> 3)
                where[i, counts[i]] = first + r
                counts[i] += 1
                word &= word - _ONE


@parallel
def sum_ones(where: Any, counts: Any, w: Any, out: Any) -> None:
    """``out[r] = sum_k w[where[r, k]]``, a stripe of columns at a time, copied such that its rows lie side by side."""
    n, p, stripe = w.shape[0], w.shape[1], STRIPE_BYTES // w.itemsize
    for s in prange((p + stripe - 1) // stripe):
        low, width = s * stripe, min(stripe, p - s * stripe)
        table, line = np.empty((n, stripe), w.dtype), np.empty(stripe, w.dtype)
        if width < stripe:
            table[:] = 0
        for i in range(n):
            source, target = w[i, low : low + width], table[i]
            for j in range(width):
                target[j] = source[j]
        for r in range(out.shape[0]):
            sum_rows(table, 0, where[r], counts[r], line)
            row = out[r, low : low + width]
            for j in range(width):
                row[j] = line[j]


@parallel
def sum_fours(where: Any, counts: Any, w: Any, out: Any) -> None:
    """``out[r]`` = sum over k of the sum of those rows of w that ``where[r, k]`` = 16 g + code stands for."""
    n, p, stripe = w.shape[0], w.shape[1], STRIPE_BYTES // w.itemsize
    for s in prange((p + stripe - 1) // stripe):
        low, width = s * stripe, min(stripe, p - s * stripe)
        table, line = np.empty((4 * n + 12, stripe), w.dtype), np.empty(stripe, w.dtype)
        four = np.zeros((4, stripe), w.dtype)
        for g in range((n + 3) // 4):
            if 4 * g + 4 <= n:
                for j in range(width):
                    for b in range(4):
                        four[b, j] = w[4 * g + b, low + j]
            else:
                four[:] = 0
                for b in range(n - 4 * g):
                    for j in range(width):
                        four[b, j] = w[4 * g + b, low + j]
            fill_sums(four, table, 16 * g)
        for r in range(out.shape[0]):
            sum_rows(table, 0, where[r], counts[r], line)
            row = out[r, low : low + width]
            for j in range(width):
                row[j] = line[j]
