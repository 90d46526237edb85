"""Steps of a Walsh table larger than the caches: the move is pending, and only blocks that might win are looked at.

A step that moves the table at once (``walsh``) takes as long as reading and writing the memory does. Here :func:`defer`
adds the move to those pending (``pending``) and carries the bounds of every block along (``bounds``); :func:`scan` then
looks at the blocks that might hold a candidate, as they will be after the pending moves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.dual.bounds import Bounds, carry, look, possible
from fullspan.engine.dual.pending import Pending, current_block
from fullspan.engine.dual.scan import Move, PriceTables, bar_of
from fullspan.model.algebra.jit import parallel, prange

_NEAR = 0.5
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
    near = 1.0 if moves.length[0] else _NEAR
    for chunk in prange(n_chunks):
        rows = np.empty(size << moves.y.size, eta.dtype)
        best, where = move.floor, -1
        for turn in range((n_blocks + n_chunks - 1) // n_chunks):
            b = turn * n_chunks + (chunk + 21 * turn) % n_chunks
            if b < n_blocks:
                bar = near * bar_of(b, best, prices)
                if possible(gap[b], most[b], peak[b], bar, move.l1):
                    row, target = current_block(eta, b, moves, rows, size), d[b * size : (b + 1) * size]
                    best, place = look(row, target, b, Bounds(most, gap, peak), bar, best, prices, move.l1)
                    where = b * size + place if place >= 0 else where
        gains[chunk] = best
        indices[chunk] = where
