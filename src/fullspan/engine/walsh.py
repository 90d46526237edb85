"""Fused step of the dual table in the Walsh basis.

For ``theta_y <- theta_y + delta`` with ``c = tanh(delta)``

    eta'_z = (eta_z + c eta_{z xor y}) / (1 + c eta_y),

so the pairs (z, z xor y) are updated in place, and the new values are compared with d while in the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from fullspan.algebra.jit import parallel, serial
from fullspan.engine.scan import (
    Move,
    PriceTables,
    bar_of,
    scan_block,
    spin_winners,
    update_row,
    update_spin_pair,
    update_spins,
)


@serial
def _swap_1(target: NDArray[Any], source: NDArray[Any]) -> None:
    for i in range(target.size // 2):
        target[2 * i] = source[2 * i + 1]
        target[2 * i + 1] = source[2 * i]


@serial
def _swap_2(target: NDArray[Any], source: NDArray[Any]) -> None:
    for i in range(target.size // 4):
        target[4 * i] = source[4 * i + 2]
        target[4 * i + 1] = source[4 * i + 3]
        target[4 * i + 2] = source[4 * i]
        target[4 * i + 3] = source[4 * i + 1]


@serial
def _swap_4(target: NDArray[Any], source: NDArray[Any]) -> None:
    for i in range(target.size // 8):
        target[8 * i] = source[8 * i + 4]
        target[8 * i + 1] = source[8 * i + 5]
        target[8 * i + 2] = source[8 * i + 6]
        target[8 * i + 3] = source[8 * i + 7]
        target[8 * i + 4] = source[8 * i]
        target[8 * i + 5] = source[8 * i + 1]
        target[8 * i + 6] = source[8 * i + 2]
        target[8 * i + 7] = source[8 * i + 3]


@serial
def _swap_octets(target: NDArray[Any], source: NDArray[Any], y: int) -> None:
    """Whole runs of eight change places.

    Unsigned places need no check for negative ones, and reading all eight before writing any lets the compiler
    move them as one vector although target and source might overlap.
    """
    mask = np.uint64(y)
    for run in range(target.size // 8):
        p = np.uint64(8 * run)
        q = p ^ mask
        a0, a1, a2, a3 = source[q], source[q + np.uint64(1)], source[q + np.uint64(2)], source[q + np.uint64(3)]
        q += np.uint64(4)
        a4, a5, a6, a7 = source[q], source[q + np.uint64(1)], source[q + np.uint64(2)], source[q + np.uint64(3)]
        target[p], target[p + np.uint64(1)], target[p + np.uint64(2)], target[p + np.uint64(3)] = a0, a1, a2, a3
        p += np.uint64(4)
        target[p], target[p + np.uint64(1)], target[p + np.uint64(2)], target[p + np.uint64(3)] = a4, a5, a6, a7


@serial
def _permute(work: NDArray[Any], source: NDArray[Any], y: int) -> NDArray[Any]:
    """``source[j xor y]``, in a row of ``work`` (2, L): one vectorised swap per low bit of y, one for the rest."""
    turn = 0
    if y >= 8:
        _swap_octets(work[turn], source, y & ~7)
        source, turn = work[turn], 1
    if y & 4:
        _swap_4(work[turn], source)
        source, turn = work[turn], 1 - turn
    if y & 2:
        _swap_2(work[turn], source)
        source, turn = work[turn], 1 - turn
    if y & 1:
        _swap_1(work[turn], source)
        source = work[turn]
    return source


@parallel
def step(
    eta: NDArray[Any],
    d: NDArray[Any],
    y: int,
    move: Move,
    prices: PriceTables,
    gains: NDArray[np.float64],
    indices: NDArray[np.int64],
) -> None:
    """Update along term ``y`` and find the best candidate of each chunk: its net gain, and its index or -1."""
    size, n_blocks = prices.orders.size, prices.block_orders.size
    high, low = y // size, y % size
    top = 1
    while 2 * top <= high:
        top *= 2
    n_units = n_blocks // 2 if high else n_blocks
    n_chunks = gains.size
    number = eta.dtype.type
    for chunk in prange(n_chunks):
        work = np.empty((4, size), eta.dtype)
        best, where = move.floor, -1
        for unit in range(chunk * n_units // n_chunks, (chunk + 1) * n_units // n_chunks):
            b0 = (unit // top) * 2 * top + unit % top if high else unit
            b1 = b0 ^ high
            bar = number(min(bar_of(b0, best, prices), bar_of(b1, best, prices)))
            row0, row1 = eta[b0 * size : (b0 + 1) * size], eta[b1 * size : (b1 + 1) * size]
            d0, d1 = d[b0 * size : (b0 + 1) * size], d[b1 * size : (b1 + 1) * size]
            if move.l1 > 0.0 or high == 0 or low:
                winners = _general(row0, row1, d0, d1, work, low, high, move, bar)
            else:
                winners = update_spin_pair(row0, row1, d0, d1, move.c, move.scale, bar)
            if winners > 0:
                best, place = scan_block(row0, d0, b0, best, prices, move.l1, False)
                if place >= 0:
                    where = b0 * size + place
                if high:
                    best, place = scan_block(row1, d1, b1, best, prices, move.l1, False)
                    if place >= 0:
                        where = b1 * size + place
        gains[chunk] = best
        indices[chunk] = where


@serial
def _general(
    row0: NDArray[Any],
    row1: NDArray[Any],
    d0: NDArray[Any],
    d1: NDArray[Any],
    work: NDArray[Any],
    low: int,
    high: int,
    move: Move,
    bar: Any,
) -> Any:
    """A pair of blocks with a permutation inside them, a block that is its own partner, or an L1 penalty."""
    c, scale, l1 = move.c, move.scale, row0.dtype.type(move.l1)
    if c == 0:  # a scan: nothing moves
        winners = spin_winners(row0, d0, bar, l1)
        return winners + spin_winners(row1, d1, bar, l1) if high else winners
    if low == 0:
        work[0] = row0
        moved0, moved1 = work[0], row1
    else:
        moved0 = _permute(work[:2], row0, low)
        moved1 = _permute(work[2:], row1, low) if high else moved0
    if l1 > 0:
        update_row(row0, moved1, c, scale)
        winners = spin_winners(row0, d0, bar, l1)
        if high:
            update_row(row1, moved0, c, scale)
            winners += spin_winners(row1, d1, bar, l1)
        return winners
    winners = update_spins(row0, moved1, d0, c, scale, bar)
    if high:
        winners += update_spins(row1, moved0, d1, c, scale, bar)
    return winners
