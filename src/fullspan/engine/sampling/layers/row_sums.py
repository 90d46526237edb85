"""Sums of rows of a table, held in vector registers: what products with matrices of 0 and 1 are made of.

A compiler that does not know whether arrays overlap keeps sums in memory and checks for overlaps before every row. So
these two loops are written in LLVM's vectors, which every processor has a form of: four of 64 bytes, a *stripe* of 64
numbers in single or 32 in double precision.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils as untyped_cgutils
from numba.extending import intrinsic
from numba.np import arrayobj

make_array: Any = arrayobj.make_array
cgutils: Any = untyped_cgutils
STRIPE_BYTES = 256
"""Bytes of a stripe."""
_VECTOR_BYTES, _VECTORS = 64, 4
_GROUP = 4
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
            for k in range(_GROUP):
                row = builder.load(_at(builder, source, _VECTORS * k + v), align=size)
                sums += [row, *(builder.fadd(s, row) for s in sums[1:])]
            for c, total in enumerate(sums):
                builder.store(total, _at(builder, target, _VECTORS * c + v), align=size)
        return context.get_dummy_value()

    return types.void(rows, table, first), write


sum_rows: Any = intrinsic(_sum_rows)
fill_sums: Any = intrinsic(_fill_sums)
