"""``max |a - b|`` over a block, many lanes at a time: compilers leave the largest of many numbers to one lane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.model.algebra.jit import serial, vector_code

LANES = 32


def _take_plain(lanes: NDArray[Any], a: NDArray[Any], p: int, b: NDArray[Any], q: int) -> None:
    """``lanes[j] <- max(lanes[j], |a[p + j] - b[q + j]|)`` for j < LANES."""
    np.maximum(lanes, abs(a[p : p + LANES] - b[q : q + LANES]), out=lanes)


def _take_lanes(typing: Any, lanes: Any, a: Any, p: Any, b: Any, q: Any) -> Any:
    """:func:`_take_plain` in vectors."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba import types

    number = lanes.dtype

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> None:
        scalar = context.get_value_type(number)
        vector, align = ir.VectorType(scalar, LANES), context.get_abi_sizeof(scalar)

        def place(kind: Any, array: Any, at: Any) -> Any:
            data = context.make_array(kind)(context, builder, array).data
            return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())

        where = place(lanes, values[0], ir.Constant(ir.IntType(64), 0))
        known = builder.load(where, align=align)
        u = builder.load(place(a, values[1], values[2]), align=align)
        v = builder.load(place(b, values[3], values[4]), align=align)
        ahead, behind = builder.fsub(u, v), builder.fsub(v, u)
        distance = builder.select(builder.fcmp_ordered(">", ahead, behind), ahead, behind)
        further = builder.fcmp_ordered(">", distance, known)
        builder.store(builder.select(further, distance, known), where, align=align)

    return types.void(lanes, a, types.uint64, b, types.uint64), generate


_take = vector_code(_take_plain, _take_lanes)


@serial
def furthest(a: NDArray[Any], b: NDArray[Any], lanes: NDArray[Any]) -> float:
    """``max |a - b|``, where ``b`` is as long as ``a``, or LANES zeros; ``lanes`` is scratch."""
    largest = 0.0
    if a.size < LANES:
        for j in range(a.size):
            largest = max(largest, abs(a[j] - b[j]))
        return largest
    lanes[:] = 0
    for run in range(0, a.size, LANES):
        _take(lanes, a, np.uint64(run), b, np.uint64(run if b.size == a.size else 0))
    for j in range(LANES):
        largest = max(largest, lanes[j])
    return largest
