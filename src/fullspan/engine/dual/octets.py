"""Partners moved eight at a time: ``eta_z <- scale (eta_z + c eta_{z xor y})`` for z and z xor y, in registers.

The bits of y above the lowest three say which runs of eight are exchanged, the lowest three how the places inside a
run are. A shuffle of a vector must be known when it is compiled, so there is one loop for each of the eight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.model.algebra.jit import inlined, serial, vector_code

OCTET = 8
_FLAGS = ("reassoc", "contract", "arcp", "nsz")


def _exchange_plain(eta: NDArray[Any], p: int, q: int, c: Any, scale: Any, k: int) -> None:
    """Entries ``p + j`` and ``q + (j xor k)``, j < 8, are partners: move both. ``p == q`` is right as well."""
    own = np.arange(p, p + OCTET)
    partner = np.arange(q, q + OCTET)[np.arange(OCTET) ^ k]
    u, v = eta[own], eta[partner]
    eta[own], eta[partner] = scale * (u + c * v), scale * (v + c * u)


def _exchange_lanes(typing: Any, eta: Any, p: Any, q: Any, c: Any, scale: Any, k: Any) -> Any:
    """:func:`_exchange_plain` as two loads, two shuffles, four multiplications and two stores of vectors."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba import types

    number = eta.dtype

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> None:
        scalar = context.get_value_type(number)
        # Aligned as one number: blocks of small tables need not begin at a multiple of a vector.
        vector, align = ir.VectorType(scalar, OCTET), context.get_abi_sizeof(scalar)
        data = context.make_array(eta)(context, builder, values[0]).data
        one, other = (builder.bitcast(builder.gep(data, [at]), vector.as_pointer()) for at in values[1:3])
        mask = ir.Constant(ir.VectorType(ir.IntType(32), OCTET), [j ^ k.literal_value for j in range(OCTET)])
        empty = ir.Constant(vector, ir.Undefined)

        def all_lanes(value: Any) -> Any:
            first = builder.insert_element(empty, value, ir.Constant(ir.IntType(32), 0))
            return builder.shuffle_vector(first, empty, ir.Constant(mask.type, [0] * OCTET))

        def moved(own: Any, partner: Any) -> Any:
            product = builder.fmul(factor, builder.shuffle_vector(partner, empty, mask), flags=_FLAGS)
            return builder.fmul(by, builder.fadd(own, product, flags=_FLAGS), flags=_FLAGS)

        factor, by = all_lanes(values[3]), all_lanes(values[4])
        u, v = builder.load(one, align=align), builder.load(other, align=align)
        builder.store(moved(u, v), one, align=align)
        builder.store(moved(v, u), other, align=align)

    return types.void(eta, types.uint64, types.uint64, number, number, k), generate


_exchange = vector_code(_exchange_plain, _exchange_lanes, prefer_literal=True)


@inlined
def _runs(eta: NDArray[Any], first: int, second: int, count: int, mask: int, c: Any, scale: Any, k: int) -> None:
    """All runs of a block at ``first`` and its partner at ``second``, which may be the same block."""
    if first != second:
        for run in range(0, count, OCTET):
            _exchange(eta, np.uint64(first + run), np.uint64(second + (run ^ mask)), c, scale, k)
    else:
        for run in range(0, count, OCTET):
            # Within one block each pair of runs would be met twice, and exchanged back.
            if run <= run ^ mask:
                _exchange(eta, np.uint64(first + run), np.uint64(first + (run ^ mask)), c, scale, k)


@serial
def _singly(eta: NDArray[Any], first: int, second: int, count: int, low: int, c: Any, scale: Any) -> None:
    """:func:`move_pair` of blocks too small for a vector."""
    for j in range(count):
        p, q = first + j, second + (j ^ low)
        # The same for single entries.
        if first != second or p < q:
            u, v = eta[p], eta[q]
            eta[p], eta[q] = scale * (u + c * v), scale * (v + c * u)


@serial
def move_pair(eta: NDArray[Any], first: int, second: int, count: int, low: int, c: Any, scale: Any) -> None:
    """Move entries ``first + j`` and ``second + (j xor low)``, j < count, which are partners. O(count), in place."""
    mask, k = low & ~7, low & 7
    if count < OCTET:
        _singly(eta, first, second, count, low, c, scale)
    elif k == 0:
        _runs(eta, first, second, count, mask, c, scale, 0)
    elif k == 1:
        _runs(eta, first, second, count, mask, c, scale, 1)
    elif k == 2:
        _runs(eta, first, second, count, mask, c, scale, 2)
    elif k == 3:
        _runs(eta, first, second, count, mask, c, scale, 3)
    elif k == 4:
        _runs(eta, first, second, count, mask, c, scale, 4)
    elif k == 5:
        _runs(eta, first, second, count, mask, c, scale, 5)
    elif k == 6:
        _runs(eta, first, second, count, mask, c, scale, 6)
    else:
        _runs(eta, first, second, count, mask, c, scale, 7)
