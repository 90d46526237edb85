"""Binary units in turn, each for many chains at once: the compiled sweep of fully connected machines.

A chain's fields ``h_i = b_i + sum_j W_ij x_j`` are kept for all units. ``BLOCK`` units at a time are copied into lanes,
one lane per chain, and drawn strictly one after the other; a unit that flips changes the fields of those behind it in
its block at once, and afterwards, together with the other flips of the block, those of all units: rows of W, four at a
time. So the law is that of a sequential scan; a unit that stays costs a random number, and one that flips n additions.

Lanes do not see each other: a chain's path depends on its stream alone, not on the chains beside it, nor on how many
cores there are.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from fullspan.algebra.exponential import exponential
from fullspan.algebra.jit import inlined, parallel, serial
from fullspan.engine.sampling.streams import Streams, advanced, uniform_single
from fullspan.engine.sampling.target import Array, Ints

Single = NDArray[np.float32]

BLOCK = 16
"""Units whose flips are gathered before they are spread to all fields."""
MOST, LEAST = 64, 16
"""Chains that one core walks side by side, at most; and what their number is filled up to a multiple of."""
_ZERO, _ONE = np.float32(0), np.float32(1)


def shares(chains: int) -> Ints:
    """Bounds of the chains that go together: one share for each core, more if they would be too many."""
    number = max(-(-chains // MOST), min(numba.get_num_threads(), -(-chains // LEAST)))
    return np.linspace(0, chains, number + 1).astype(np.int64)


@inlined
def _add_four(out: Single, a: Any, b: Any, c: Any, d: Any, p: Any, q: Any, r: Any, s: Any) -> None:
    for j in range(out.size):
        out[j] += (p * a[j] + q * b[j]) + (r * c[j] + s * d[j])


@inlined
def _add_one(out: Single, a: Any, p: Any) -> None:
    for j in range(out.size):
        out[j] += p * a[j]


@serial
def _spread(out: Single, rows: Single, flipped: Ints, change: Single, number: int) -> None:
    """``out += sum_k change_k rows[flipped_k]``."""
    k = 0
    while k + 4 <= number:
        a, b, c, d = rows[flipped[k]], rows[flipped[k + 1]], rows[flipped[k + 2]], rows[flipped[k + 3]]
        _add_four(out, a, b, c, d, change[k], change[k + 1], change[k + 2], change[k + 3])
        k += 4
    while k < number:
        _add_one(out, rows[flipped[k]], change[k])
        k += 1


@serial
def _draw_numbers(counters: Streams, u: Single) -> None:
    """The next number of every lane's stream, unit after unit."""
    for k in range(u.shape[0]):
        for c in range(u.shape[1]):
            counters[c] = advanced(counters[c])
            u[k, c] = uniform_single(counters[c])


@serial
def _visit(
    h: Single, u: Single, x: Single, change: Single, gap: Single, w: Single, pull: Single, beta: Single, rest: Single
) -> None:
    """Draw the units of a block in turn, all lanes at once; arrays are (units, lanes), w is (units, units).

    The log odds are ``(1 - beta) pull + beta h``. The less likely value has the probability e / (1 + e), e = exp of
    minus their size: written so, it is right relative to itself however small. ``gap`` follows log f - log f_0.
    """
    units, lanes = w.shape[0], h.shape[1]
    for k in range(units):
        field, number, value, move, p = h[k], u[k], x[k], change[k], pull[k]
        for c in range(lanes):
            odds = rest[c] * p + beta[c] * field[c]
            e = exponential(-abs(odds))
            new = _ONE if (odds >= _ZERO) != (number[c] * (_ONE + e) < e) else _ZERO
            move[c] = new - value[c]
            value[c] = new
        for c in range(lanes):  # a loop of its own: with more arrays the one above would not be vectorised
            gap[c] += move[c] * (field[c] - p)
        for m in range(k + 1, units):
            v, behind = w[k, m], h[m]
            for c in range(lanes):
                behind[c] += v * move[c]


@parallel
def walk(
    states: NDArray[np.uint8],
    fields: Single,
    rows: Single,
    pull: Single,
    free: Ints,
    streams: Streams,
    beta: Array,
    ladder: Array,
    rises: Array,
    gaps: Array,
    log_weights: Array,
    bounds: Ints,
) -> None:
    """For each step k of the ladder: sweep at ``ladder_k beta``, then add ``rises_k (log f - log f_0)`` to log weights.

    All arrays but ``ladder``, ``rises``, ``rows``, ``pull`` and ``free`` have an entry or a row per chain, and are
    brought up to date; ``gaps`` holds log f - log f_0.
    """
    for task in numba.prange(bounds.size - 1):
        first, width = bounds[task], bounds[task + 1] - bounds[task]
        lanes = (width + LEAST - 1) // LEAST * LEAST
        h, u = np.zeros((BLOCK, lanes), np.float32), np.zeros((BLOCK, lanes), np.float32)
        change, x = np.zeros((BLOCK, lanes), np.float32), np.zeros((free.size, lanes), np.float32)
        w, p = np.zeros((BLOCK, BLOCK), np.float32), np.zeros(BLOCK, np.float32)
        flipped, moves = np.zeros(BLOCK, np.int64), np.zeros(BLOCK, np.float32)
        counters, gap = np.zeros(lanes, np.uint64), np.zeros(lanes, np.float32)
        own, rest = np.zeros(lanes, np.float32), np.zeros(lanes, np.float32)
        for c in range(width):
            counters[c] = streams[first + c]
            for k in range(free.size):
                x[k, c] = states[first + c, free[k]]
        for step in range(ladder.size):
            for c in range(width):
                own[c] = ladder[step] * beta[first + c]
                rest[c] = 1.0 - ladder[step] * beta[first + c]
            for start in range(0, free.size, BLOCK):
                units = min(BLOCK, free.size - start)
                for k in range(units):
                    i = free[start + k]
                    p[k] = pull[i]
                    for m in range(units):
                        w[k, m] = rows[i, free[start + m]]
                for c in range(width):
                    field = fields[first + c]
                    for k in range(units):
                        h[k, c] = field[free[start + k]]
                _draw_numbers(counters, u[:units])
                _visit(h, u, x[start : start + units], change, gap, w[:units, :units], p, own, rest)
                for c in range(width):
                    number = 0
                    for k in range(units):
                        flipped[number] = free[start + k]
                        moves[number] = change[k, c]
                        number += change[k, c] != 0
                    _spread(fields[first + c], rows, flipped, moves, number)
            for c in range(width):
                gaps[first + c] += gap[c]
                gap[c] = 0.0
                log_weights[first + c] += rises[step] * gaps[first + c]
        for c in range(width):
            streams[first + c] = counters[c]
            for k in range(free.size):
                states[first + c, free[k]] = np.uint8(x[k, c])
