"""Weighted rows of a table added to a line of numbers that stays in vector registers meanwhile.

A compiler that does not know whether arrays overlap stores the line after every row, and that store is what a row then
costs. So the loop is written in LLVM's vectors, which every processor has a form of.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import config, types
from numba.core import cgutils as untyped_cgutils
from numba.extending import intrinsic
from numba.np import arrayobj

make_array: Any = arrayobj.make_array
cgutils: Any = untyped_cgutils
VECTOR = 16
"""Numbers of single precision in a vector, and in a line of the cache."""
MOST_VECTORS = 7
"""Vectors that are held at once: 14 of the 16 registers of AVX2, 28 of the 32 of NEON, 7 of the 32 of AVX-512."""
_KIND = ir.VectorType(ir.FloatType(), VECTOR)
_EVERYWHERE = ir.Constant(ir.VectorType(ir.IntType(32), VECTOR), None)
_FREE = ir.Constant(_KIND, ir.Undefined)


def _at(builder: Any, pointer: Any, k: int) -> Any:
    return builder.gep(pointer, [ir.Constant(ir.IntType(32), k)])


def _spread(builder: Any, number: Any) -> Any:
    """A vector of equal numbers."""
    first = builder.insert_element(_FREE, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, _FREE, _EVERYWHERE)


def _add(builder: Any, out: Any, start: Any, width: Any, listed: Any, weights: Any, number: Any, vectors: int) -> None:
    """The loop over rows, for a line of ``vectors`` vectors."""
    sums = [cgutils.alloca_once(builder, _KIND) for _ in range(vectors)]
    for k, place in enumerate(sums):
        builder.store(builder.load(_at(builder, out, k), align=4), place)
    with cgutils.for_range(builder, number) as loop:
        row = builder.zext(builder.load(builder.gep(listed, [loop.index])), width.type)
        weight = _spread(builder, builder.load(builder.gep(weights, [loop.index])))
        source = builder.bitcast(builder.gep(start, [builder.mul(row, width)]), _KIND.as_pointer())
        for k, place in enumerate(sums):
            part = builder.fmul(weight, builder.load(_at(builder, source, k), align=4), flags=("contract",))
            builder.store(builder.fadd(builder.load(place), part, flags=("contract",)), place)
    for k, place in enumerate(sums):
        builder.store(builder.load(place), _at(builder, out, k), align=4)


def _add_rows(
    typing_context: Any, line: Any, table: Any, listed: Any, weights: Any, number: Any, column: Any, vectors: Any
) -> Any:
    """``line[j] += sum_k weights[k] table[listed[k], j]``, k below ``number``, j from ``column`` on, ``vectors`` wide.

    ``line``, ``table`` and ``weights`` are of float32, ``listed`` of uint32; all lie in order. There are 1 to
    ``MOST_VECTORS`` vectors; with any other number nothing happens.
    """

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = make_array(table)(context, builder, args[1])
        width = cgutils.unpack_tuple(builder, rows.shape, 2)[1]
        start = builder.gep(rows.data, [args[5]])
        out = builder.gep(make_array(line)(context, builder, args[0]).data, [args[5]])
        out = builder.bitcast(out, _KIND.as_pointer())
        which, by = (make_array(kind)(context, builder, args[k]).data for kind, k in ((listed, 2), (weights, 3)))
        done = builder.append_basic_block("done")
        choice = builder.switch(args[6], done)
        for number_of_vectors in range(1, MOST_VECTORS + 1):
            block = builder.append_basic_block(f"vectors{number_of_vectors}")
            choice.add_case(ir.Constant(args[6].type, number_of_vectors), block)
            builder.position_at_end(block)
            _add(builder, out, start, width, which, by, args[4], number_of_vectors)
            builder.branch(done)
        builder.position_at_end(done)
        return context.get_dummy_value()

    return types.void(line, table, listed, weights, number, column, vectors), write


def _add_rows_plain(line: Any, table: Any, listed: Any, weights: Any, number: int, column: int, vectors: int) -> None:
    """The same in NumPy, for where nothing is compiled."""
    own = slice(column, column + VECTOR * vectors)
    line[own] += weights[:number] @ table[np.asarray(listed[:number], dtype=np.int64), own]


add_rows: Any = _add_rows_plain if getattr(config, "DISABLE_JIT", 0) else intrinsic(_add_rows)
