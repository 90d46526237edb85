"""Binary units in turn, each for many chains at once: the compiled sweep of fully connected machines.

A chain's fields ``h_i = b_i + sum_j W_ij x_j`` are kept for all units. ``GATHERED_UNITS`` of them at a time are
copied into lanes, one lane per chain, and drawn strictly one after the other: before a unit is drawn, its field takes
in what the units before it in the block have changed. Afterwards the flips of the block are added to the fields of
all units, stripe by stripe. So the law is that of a sequential scan; a unit that stays costs a random number and some
of its block's additions, and one that flips n additions.

Lanes do not see each other: a chain's path depends on its stream alone, not on the chains next to it, nor on how many
cores there are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.sampling.row_additions import MOST_VECTORS, VECTOR, add_rows
from fullspan.engine.sampling.streams import Streams, advanced, uniform_single
from fullspan.model.algebra import jit
from fullspan.model.algebra.elementary import exponential
from fullspan.model.algebra.jit import serial

Single = NDArray[np.float32]
Places = NDArray[np.uint32]

GATHERED_UNITS = 32
"""Units whose flips are gathered before they are spread to all fields."""
MOST, LEAST = 64, VECTOR
"""Chains that one core walks side by side, at most; and what their number is filled up to a multiple of."""
_ZERO, _ONE = np.float32(0), np.float32(1)


def shares(chains: int) -> Ints:
    """Bounds of the chains that go together: one share for each core, more if they would be too many."""
    number = max(-(-chains // MOST), min(jit.cores(), -(-chains // LEAST)))
    return np.linspace(0, chains, number + 1).astype(np.int64)


@serial
def _list_flips(change: Single, units: Places, flipped: Places, moves: Single, number: Ints) -> None:
    """Which units of a block have flipped, chain by chain, where to, and how many they are."""
    for c in range(number.size):
        m = 0
        for k in range(units.size):
            flipped[c, m] = units[k]
            # Written in any case and overwritten if the unit stayed: no branch in the inner loop.
            moves[c, m] = change[k, c]
            m += change[k, c] != 0
        number[c] = m


@serial
def _spread(fields: Single, rows: Single, flipped: Places, moves: Single, number: Ints, units: int) -> None:
    """``fields[c] += sum_k moves_ck rows[flipped_ck]``, all chains c for one stripe of columns after another.

    So the rows of a block stay in the first cache, as far as the stripe goes, while all chains pass.
    """
    vectors = -(-units // VECTOR)
    stripes = -(-vectors // MOST_VECTORS)
    # As many vectors as the registers hold; stripes differ by one vector at most.
    for s in range(stripes):
        first, end = vectors * s // stripes, vectors * (s + 1) // stripes
        for c in range(number.size):
            add_rows(fields[c], rows, flipped[c], moves[c], number[c], VECTOR * first, end - first)


@serial
def _draw_numbers(counters: Streams, u: Single) -> None:
    """The next number of every lane's stream, unit after unit."""
    for k in range(u.shape[0]):
        for c in range(u.shape[1]):
            counters[c] = advanced(counters[c])
            u[k, c] = uniform_single(counters[c])


@serial
def _visit(
    h: Single,
    u: Single,
    x: Single,
    change: Single,
    gap: Single,
    w: Single,
    pull: Single,
    beta: Single,
    rest: Single,
    places: Places,
) -> None:
    """Draw the units of a block in turn, all lanes at once; x is (units, lanes), arrays may have more rows.

    ``places`` counts the units of a block: 0, 1, 2, ...

    The log odds are ``(1 - beta) pull + beta h``. The less likely value has the probability e / (1 + e), e = exp of
    minus their size: written so, it is right relative to itself however small. ``gap`` follows log f - log f_0.
    """
    units, lanes = x.shape
    for k in range(units):
        field, number, value, move, p = h[k], u[k], x[k], change[k], pull[k]
        add_rows(field, change, places, w[k], k, 0, lanes // VECTOR)
        for c in range(lanes):
            odds = rest[c] * p + beta[c] * field[c]
            # Of minus the size: never overflows, and the rarer value keeps its relative precision.
            e = exponential(-abs(odds))
            new = _ONE if (odds >= _ZERO) != (number[c] * (_ONE + e) < e) else _ZERO
            move[c] = new - value[c]
            value[c] = new
        for c in range(lanes):  # a loop of its own: with more arrays the one above would not be vectorised
            gap[c] += move[c] * (field[c] - p)


@serial
def _load(states: NDArray[np.uint8], streams: Streams, free: Ints, x: Single, counters: Streams) -> None:
    """The chains of one share into lanes: units by chains. Lanes behind the last chain go along unread."""
    for c in range(streams.size):
        counters[c] = streams[c]
        for k in range(free.size):
            x[k, c] = states[c, free[k]]


@serial
def _store(states: NDArray[np.uint8], streams: Streams, free: Ints, x: Single, counters: Streams) -> None:
    """And back."""
    for c in range(streams.size):
        streams[c] = counters[c]
        for k in range(free.size):
            states[c, free[k]] = np.uint8(x[k, c])


@serial
def _gather(units: Places, fields: Single, rows: Single, pull: Single, h: Single, w: Single, p: Single) -> None:
    """What a block of units needs: fields in lanes, couplings to the units before them in the block, and pulls."""
    for k in range(units.size):
        p[k] = pull[units[k]]
        for m in range(k):
            w[k, m] = rows[units[k], units[m]]
        for c in range(fields.shape[0]):
            h[k, c] = fields[c, units[k]]


@serial
def walk(
    begin: int,
    end: int,
    states: NDArray[np.uint8],
    fields: Single,
    rows: Single,
    pull: Single,
    free: Ints,
    streams: Streams,
    beta: Array,
    betas: Array,
    rises: Array,
    excess: Array,
    log_weights: Array,
    bounds: Ints,
) -> None:
    """For each k: sweep at ``betas_k beta``, then add ``rises_k (log f - log f_0)`` to log weights.

    All arrays but ``betas``, ``rises``, ``rows``, ``pull`` and ``free`` have an entry or a row per chain, and are
    brought up to date; ``excess`` holds log f - log f_0.
    """
    for task in range(begin, end):
        first, width = bounds[task], bounds[task + 1] - bounds[task]
        lanes = (width + LEAST - 1) // LEAST * LEAST
        h, u = np.zeros((GATHERED_UNITS, lanes), np.float32), np.zeros((GATHERED_UNITS, lanes), np.float32)
        change, x = np.zeros((GATHERED_UNITS, lanes), np.float32), np.zeros((free.size, lanes), np.float32)
        w, p = np.zeros((GATHERED_UNITS, GATHERED_UNITS), np.float32), np.zeros(GATHERED_UNITS, np.float32)
        flipped, moves = np.zeros((width, GATHERED_UNITS), np.uint32), np.zeros((width, GATHERED_UNITS), np.float32)
        number, places = np.zeros(width, np.int64), np.arange(GATHERED_UNITS).astype(np.uint32)
        counters, gap = np.zeros(lanes, np.uint64), np.zeros(lanes, np.float32)
        own, rest = np.zeros(lanes, np.float32), np.zeros(lanes, np.float32)
        near = fields[first : first + width]
        _load(states[first : first + width], streams[first : first + width], free, x, counters)
        for step in range(betas.size):
            for c in range(width):
                own[c] = betas[step] * beta[first + c]
                rest[c] = 1.0 - betas[step] * beta[first + c]
            for start in range(0, free.size, GATHERED_UNITS):
                units = free[start : start + GATHERED_UNITS].astype(np.uint32)
                _gather(units, near, rows, pull, h, w, p)
                _draw_numbers(counters, u[: units.size])
                _visit(h, u, x[start : start + units.size], change, gap, w, p, own, rest, places)
                _list_flips(change, units, flipped, moves, number)
                _spread(near, rows, flipped, moves, number, pull.size)
            for c in range(width):
                excess[first + c] += gap[c]
                gap[c] = 0.0
                log_weights[first + c] += rises[step] * excess[first + c]
        _store(states[first : first + width], streams[first : first + width], free, x, counters)
