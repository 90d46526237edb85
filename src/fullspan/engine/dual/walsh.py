"""Fused step of the dual table in the Walsh basis.

For ``theta_y <- theta_y + delta`` with ``c = tanh(delta)``

    eta'_z = (eta_z + c eta_{z xor y}) / (1 + c eta_y),

so the pairs (z, z xor y) are updated in place. While they are in the cache it is seen whether any of them might be a
candidate, from the largest |d| of their block; only then d is read: eight bytes per state are moved instead of twelve.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.dual.scan import (
    Move,
    PriceTables,
    bar_of,
    possible_spins,
    reach,
    scan_spins,
    update_possible_pair,
    update_possible_spins,
)
from fullspan.model.algebra.jit import parallel, prange, serial


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
    """Whole runs of eight change places: read in order from the table, written anywhere in the cache.

    Unsigned places need no check for negative ones, and reading all eight before writing any lets the compiler
    move them as one vector although target and source might overlap.
    """
    mask = np.uint64(y)
    for run in range(target.size // 8):
        q = np.uint64(8 * run)
        p = q ^ mask
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
    peaks: NDArray[Any],
    y: int,
    move: Move,
    prices: PriceTables,
    gains: NDArray[np.float64],
    indices: NDArray[np.int64],
) -> None:
    """Update along term ``y`` and find the best candidate of each chunk: its net gain, and its index or -1.

    ``peaks`` holds the largest |d| of each block; d is read only where that lets a winner be possible.
    """
    size, n_blocks = prices.orders.size, prices.block_orders.size
    high, low = y // size, y % size
    # The leading bit of the move: of each pair of partner blocks the one without it is visited, and so each pair once.
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
            # One threshold for the pair, the lower of both, so that one comparison serves in the inner loop.
            bar = min(bar_of(b0, best, prices), bar_of(b1, best, prices))
            least = number(reach(max(peaks[b0], peaks[b1]), bar, 0.0))
            row0, row1 = eta[b0 * size : (b0 + 1) * size], eta[b1 * size : (b1 + 1) * size]
            # No permutation inside the blocks: nothing need be copied.
            if high and low == 0:
                possible = update_possible_pair(row0, row1, move.c, move.scale, least)
            else:
                possible = _permuted(row0, row1, work, low, high, move, least)
            if possible > 0:
                best, where = scan_spins(eta, d, b0, best, where, prices, move.l1)
                if high:
                    best, where = scan_spins(eta, d, b1, best, where, prices, move.l1)
        gains[chunk] = best
        indices[chunk] = where


@serial
def _permuted(
    row0: NDArray[Any], row1: NDArray[Any], work: NDArray[Any], low: int, high: int, move: Move, least: Any
) -> Any:
    """A pair of blocks with a permutation inside them, or a block that is its own partner; the possible winners."""
    if low == 0:  # a scan: nothing moves
        return possible_spins(row0, least)
    moved0 = _permute(work[:2], row0, low)
    if not high:
        return update_possible_spins(row0, moved0, move.c, move.scale, least)
    moved1 = _permute(work[2:], row1, low)
    possible = update_possible_spins(row0, moved1, move.c, move.scale, least)
    return possible + update_possible_spins(row1, moved0, move.c, move.scale, least)
