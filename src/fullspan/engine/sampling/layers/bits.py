"""Products of matrices of 0 and 1 with numbers, by sums alone: no multiplication, and nothing for a 0.

    x w        a row of it is the sum of those rows of w where x is 1
    x' h       the same, by columns of x
    dense x    units by fours, and the 16 sums of each four rows of w listed once: one sum per four units and row

Units are int8. They are read eight at a time as words of 64 bits, least significant first; their number is a multiple
of 8 (:func:`whole_words` adds zeros).

Sums of rows of a table, held in vector registers: what products with matrices of 0 and 1 are made of.

A compiler that does not know whether arrays overlap keeps sums in memory and checks for overlaps before every row. So
these two loops are written in LLVM's vectors, which every processor has a form of: four of 64 bytes, a *stripe* of 64
numbers in single or 32 in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils as untyped_cgutils
from numba.cpython.unsafe import numbers
from numba.extending import intrinsic
from numba.np import arrayobj
from numpy.typing import NDArray

from fullspan.model.algebra.jit import parallel, prange

make_array: Any = arrayobj.make_array
cgutils: Any = untyped_cgutils
STRIPE_BYTES = 256
"""Bytes of a stripe."""
_VECTOR_BYTES, _VECTORS = 64, 4
_LISTED_ROWS = 4
"""Rows of which ``fill_sums`` lists all sums."""


def _vector(context: Any, array: Any) -> tuple[ir.VectorType, int]:
    """The vector type of an array's numbers, and their size in bytes."""
    size = array.dtype.bitwidth // 8
    return ir.VectorType(context.get_data_type(array.dtype), _VECTOR_BYTES // size), size


def _at(builder: Any, pointer: Any, k: int) -> Any:
    return builder.gep(pointer, [ir.Constant(ir.IntType(32), k)])


def _sum_rows(typing_context: Any, table: Any, column: Any, where: Any, count: Any, line: Any) -> Any:
    """``line = sum_k table[where[k], column : column + stripe]``, k below ``count``.

    ``table`` (rows, width) and ``line`` (stripe,) are of one floating type, ``where`` of uint32; all lie in order.
    """

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, size = _vector(context, table)
        rows = make_array(table)(context, builder, args[0])
        width = cgutils.unpack_tuple(builder, rows.shape, 2)[1]
        start = builder.gep(rows.data, [args[1]])
        listed = make_array(where)(context, builder, args[2]).data
        sums = [cgutils.alloca_once(builder, kind) for _ in range(_VECTORS)]
        for place in sums:
            builder.store(ir.Constant(kind, None), place)
        with cgutils.for_range(builder, args[3]) as loop:
            row = builder.zext(builder.load(builder.gep(listed, [loop.index])), width.type)
            vectors = builder.bitcast(builder.gep(start, [builder.mul(row, width)]), kind.as_pointer())
            for k, place in enumerate(sums):
                vector = builder.load(_at(builder, vectors, k), align=size)
                builder.store(builder.fadd(builder.load(place), vector), place)
        out = builder.bitcast(make_array(line)(context, builder, args[4]).data, kind.as_pointer())
        for k, place in enumerate(sums):
            builder.store(builder.load(place), _at(builder, out, k), align=size)
        return context.get_dummy_value()

    return types.void(table, column, where, count, line), write


def _fill_sums(typing_context: Any, rows: Any, table: Any, first: Any) -> Any:
    """``table[first + c] = sum of rows[k] over the bits k of c``, c below 16, of four rows (4, stripe)."""

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, size = _vector(context, table)
        source = builder.bitcast(make_array(rows)(context, builder, args[0]).data, kind.as_pointer())
        target = builder.bitcast(make_array(table)(context, builder, args[1]).data, kind.as_pointer())
        target = builder.gep(target, [builder.mul(args[2], ir.Constant(args[2].type, _VECTORS))])
        for v in range(_VECTORS):
            sums = [ir.Constant(kind, None)]
            for k in range(_LISTED_ROWS):
                row = builder.load(_at(builder, source, _VECTORS * k + v), align=size)
                # Doubles the list: every sum so far, and the same with this row. Entry 0, the empty sum, is not added
                # to.
                sums += [row, *(builder.fadd(s, row) for s in sums[1:])]
            for c, total in enumerate(sums):
                builder.store(total, _at(builder, target, _VECTORS * c + v), align=size)
        return context.get_dummy_value()

    return types.void(rows, table, first), write


sum_rows: Any = intrinsic(_sum_rows)
fill_sums: Any = intrinsic(_fill_sums)


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
                # Takes away the lowest one.
                word &= word - _ONE
        counts[r] = count


@parallel
def list_fours(words: Any, where: Any, counts: Any) -> None:
    """16 g + code of every four units g of a row that are not all 0; ``where`` (m, 2 words + 1)."""
    for r in prange(words.shape[0]):
        count = 0
        for g in range(words.shape[1]):
            word = words[r, g]
            # Bit 0 of bytes 0 to 3 is brought to bits 0 to 3, and that of bytes 4 to 7 to bits 32 to 35.
            packed = word | (word >> np.uint64(7)) | (word >> np.uint64(14)) | (word >> np.uint64(21))
            low, high = packed & _15, (packed >> np.uint64(32)) & _15
            # Written in any case; the count decides whether it stays.
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
