"""Steps of a Walsh table larger than the caches: the move is pending, and only blocks that might win are looked at.

A step that moves the table at once (``walsh``) takes as long as reading and writing the memory does. Here :func:`defer`
adds the move to those pending (``pending``) and carries the bounds of every block along (``bounds``); :func:`scan` then
looks at the blocks that might hold a candidate, as they will be after the pending moves.

Which blocks of a Walsh table might hold a candidate: bounds that moves carry along, so that others are not read.

Of every block three numbers are known, ``most >= max |eta|``, ``gap >= max |d - eta|`` and ``peak = max |d|``. By the
two bounds on a gain (see ``scan``) a spin can be a candidate only if

    gap^2 > bar max(1 - most^2, 2 - 2 max(most, peak)^2).

A move
``eta' = scale (eta + c eta_partner)`` carries both along,

    most' <= scale (most + |c| most_partner),      gap' <= gap + |1 - scale| most + scale |c| most_partner,

with the partner's block in place of the partner. A block that might hold a candidate is read, and both are renewed; at
first with ``|d - eta| <= max |d| + |eta|``, which often spares reading d.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.dual.pending import Pending, current_block
from fullspan.engine.dual.scan import Move, PriceTables, bar_of, scan_block
from fullspan.model.algebra.jit import parallel, prange, serial, vector_code

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
        # Aligned as one number, not as a vector: a block may begin anywhere in an array.
        vector, align = ir.VectorType(scalar, LANES), context.get_abi_sizeof(scalar)

        def place(kind: Any, array: Any, at: Any) -> Any:
            data = context.make_array(kind)(context, builder, array).data
            return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())

        where = place(lanes, values[0], ir.Constant(ir.IntType(64), 0))
        known = builder.load(where, align=align)
        u = builder.load(place(a, values[1], values[2]), align=align)
        v = builder.load(place(b, values[3], values[4]), align=align)
        ahead, behind = builder.fsub(u, v), builder.fsub(v, u)
        # |u - v| as the larger of both differences: no call, and the sign bit needs no mask.
        distance = builder.select(builder.fcmp_ordered(">", ahead, behind), ahead, behind)
        further = builder.fcmp_ordered(">", distance, known)
        builder.store(builder.select(further, distance, known), where, align=align)

    return types.void(lanes, a, types.uint64, b, types.uint64), generate


_take = vector_code(_take_plain, _take_lanes)


@serial
def furthest(a: NDArray[Any], b: NDArray[Any], lanes: NDArray[Any]) -> float:
    """``max |a - b|``, where ``b`` is as long as ``a``, or LANES zeros; ``lanes`` is scratch."""
    largest = 0.0
    # Blocks of a table of few states are shorter than a vector.
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


_ROUNDING = 1e-6
"""What rounding adds to a bound, as a share of it."""


class Bounds(NamedTuple):
    """Bounds on |eta| and on |d - eta| in each block, and the largest |d|, which no move changes."""

    most: NDArray[np.float64]
    gap: NDArray[np.float64]
    peak: NDArray[Any]

    @classmethod
    def unknown(cls, peak: NDArray[Any]) -> Bounds:
        """Every block must be looked at."""
        # |eta| <= 1 and |d - eta| <= 2: with these no block can be ruled out, so that all are read once.
        return cls(np.full(peak.size, 2.0), np.full(peak.size, 2.0), peak)


@serial
def carry(most: NDArray[np.float64], gap: NDArray[np.float64], b0: int, b1: int, c: Any, scale: Any) -> None:
    """Bounds of a block and its partner, which may be itself, after a move."""
    # Read before either is written: the partner's bound may be the same entry.
    by, shrink, u, v = scale * abs(c), abs(1.0 - scale), most[b0], most[b1]
    most[b0], most[b1] = (1 + _ROUNDING) * (scale * u + by * v), (1 + _ROUNDING) * (scale * v + by * u)
    gap[b0] += shrink * u + by * v + _ROUNDING * most[b0]
    if b0 != b1:
        gap[b1] += shrink * v + by * u + _ROUNDING * most[b1]


@serial
def possible(gap: float, most: float, peak: float, bar: float, l1: float) -> bool:
    """Whether a spin with ``|d - eta| <= gap``, ``|eta| <= most``, ``|d| <= peak`` might have a gain above ``bar``."""
    # A block is passed over for good, so the test leans towards looking: 1 % and 1e-5 are more than float32 loses.
    model, either = 1.0 - most * most, 1.0 - max(most, peak) ** 2
    return gap > l1 and (bar <= 0.0 or (gap - l1) * (gap - l1) > 0.99 * bar * (max(model, 2.0 * either) - 1e-5))


@serial
def look(
    row: NDArray[Any], d: NDArray[Any], b: int, bounds: Bounds, bar: float, best: float, prices: PriceTables, l1: float
) -> tuple[float, int]:
    """Renew the bounds of block ``b`` from its row of eta, and of d if need be; see :func:`scan.scan_block`."""
    lanes, zeros = np.empty(LANES, row.dtype), np.zeros(LANES, row.dtype)
    most, peak = furthest(row, zeros, lanes), bounds.peak[b]
    # The triangle inequality first: it needs no pass over d, and often decides.
    gap = min(bounds.gap[b], most + peak)
    far = possible(gap, most, peak, bar, l1)
    if far:
        gap = furthest(row, d, lanes)
        far = possible(gap, most, peak, bar, l1)
    bounds.most[b], bounds.gap[b] = most, gap
    return scan_block(row, d, b, best, prices, l1, False) if far else (best, -1)


_NEAR_BAR = 0.5
"""Share of the bar from which a block is looked at while nothing is pending, when that costs least."""


@parallel
def defer(bounds: Bounds, moves: Pending, y: int, move: Move, prices: PriceTables) -> int:
    """Add a move to those pending, and take it into account in the bounds: one call, which no signal interrupts.

    Returns how many blocks might hold a candidate then.
    """
    most, gap, peak, high = bounds.most, bounds.gap, bounds.peak, y // prices.orders.size
    crowd = 0
    for b in prange(most.size):
        partner = b ^ high
        if b <= partner:
            carry(most, gap, b, partner, move.c, move.scale)
            # Counted against the floor alone; the scan's bar rises with every candidate that it finds.
            crowd += possible(gap[b], most[b], peak[b], bar_of(b, move.floor, prices), move.l1)
            if b < partner:
                bar = bar_of(partner, move.floor, prices)
                crowd += possible(gap[partner], most[partner], peak[partner], bar, move.l1)
    t = moves.length[0]
    moves.y[t], moves.c[t], moves.scale[t] = y, move.c, move.scale
    moves.length[0] = t + 1
    return crowd


@parallel
def scan(
    eta: NDArray[Any],
    d: NDArray[Any],
    bounds: Bounds,
    moves: Pending,
    move: Move,
    prices: PriceTables,
    gains: NDArray[np.float64],
    indices: NDArray[np.int64],
) -> None:
    """The best candidate of each chunk after the pending moves: its net gain, and its index or -1.

    Blocks are dealt to the chunks in turns, so that the low orders, where candidates are, are shared evenly.
    """
    size, n_blocks, n_chunks = prices.orders.size, prices.block_orders.size, gains.size
    most, gap, peak = bounds.most, bounds.gap, bounds.peak
    # With nothing pending a look costs one read, and renewed bounds spare it later, when it would cost several.
    near = 1.0 if moves.length[0] else _NEAR_BAR
    for chunk in prange(n_chunks):
        rows = np.empty(size << moves.y.size, eta.dtype)
        best, where = move.floor, -1
        for turn in range((n_blocks + n_chunks - 1) // n_chunks):
            # Shifted from turn to turn: the ones of a block's number in binary are its order, so that a fixed stride
            # would give one chunk most of the low orders.
            b = turn * n_chunks + (chunk + 21 * turn) % n_chunks
            if b < n_blocks:
                bar = near * bar_of(b, best, prices)
                if possible(gap[b], most[b], peak[b], bar, move.l1):
                    row, target = current_block(eta, b, moves, rows, size), d[b * size : (b + 1) * size]
                    best, place = look(row, target, b, Bounds(most, gap, peak), bar, best, prices, move.l1)
                    where = b * size + place if place >= 0 else where
        gains[chunk] = best
        indices[chunk] = where
