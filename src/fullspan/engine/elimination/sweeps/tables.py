"""The table of one elimination step: the product of what enters it, block by block.

Tables are worked on in blocks that fit the first-level cache: the fastest axes, always with the variable that is summed
out. Inputs that do not depend on the slower axes are multiplied once and reused by every block.

Numbers are kept as multiples of a scale, ``exp(log f - top)``: then a product needs no logarithm and no exponential.
That is exact as long as the product cannot leave the range of double precision, which is known beforehand from the
ranges of the inputs. Where it might, the step works with logarithms instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.model.algebra.jit import inlined, serial

BLOCK_ENTRIES = 1024
"""Entries worked on together."""
LAID_OUT_STATES = 64
"""States of a factor's slower axes up to which its entries are laid out for every one of them."""
RUN_ENTRIES = 8
"""Neighbouring entries from which on they are worked through as a run."""
LOWEST, HIGHEST = -600.0, 60.0
"""Range of log values whose products and quotients stay far inside double precision."""


class Factors(NamedTuple):
    """Tables of all factors, scaled or as logarithms, and the levels that are allowed.

    Attributes
    ----------
    values : flat; ``exp(g - top)`` of a factor, or ``g - top`` where ``is_log``.
    base : first entry of each factor, moved by the clamped values.
    is_log, low : whether a factor is held as logarithms, and the least finite ``g - top``.
    mask, levels, masked : 1 or 0 for each level of variable v at ``levels[v]``; whether any level of v is excluded.
    """

    values: Array
    base: Ints
    is_log: NDArray[np.bool_]
    low: Array
    mask: Array
    levels: Ints
    masked: NDArray[np.bool_]


class Messages(NamedTuple):
    """Messages of all steps: true log = ``scale + log(pool)``, or ``scale + pool`` where ``is_log``.

    ``low`` and ``high`` bound the logarithm of the stored numbers, zeros left out. ``in_logs`` says whether the step
    itself had to work with logarithms.
    """

    pool: Array
    is_log: NDArray[np.bool_]
    low: Array
    high: Array
    scale: Array
    in_logs: NDArray[np.bool_]


@serial
def scaled(values, starts):  # type: ignore[no-untyped-def]
    """Log tables as ``exp(g - top)`` where the range allows, else as ``g - top``; tops, ranges and which is which."""
    n = len(starts) - 1
    out, top, low, is_log = np.empty(len(values)), np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.bool_)
    for f in range(n):
        high, least = -np.inf, np.inf
        for e in range(starts[f], starts[f + 1]):
            high = max(high, values[e])
            if values[e] > -np.inf:
                least = min(least, values[e])
        # A factor that allows no state: its top would make every entry NaN.
        if high == -np.inf:
            out[starts[f] : starts[f + 1]] = 0.0
            continue
        top[f], low[f] = high, least - high
        # exp of so small a number would be denormal, or 0, and an unlikely state would become an impossible one.
        is_log[f] = low[f] < LOWEST
        for e in range(starts[f], starts[f + 1]):
            out[e] = values[e] - high if is_log[f] else np.exp(values[e] - high)
    return out, top, low, is_log


@inlined
def inner_axes(program, k):  # type: ignore[no-untyped-def]
    """First axis of the block, the block's entries, and the number of blocks of a step's table."""
    start, end = program.axes[k], program.axes[k + 1]
    first, size = end - 1, program.axis_cards[end - 1]
    # The slowest axis of the block is whole, so that every block has the same layout.
    while first > start and size * program.axis_cards[first - 1] <= BLOCK_ENTRIES:
        first -= 1
        size *= program.axis_cards[first]
    blocks = 1
    for a in range(start, first):
        blocks *= program.axis_cards[a]
    return first - start, size, blocks


@inlined
def spread(index, program, k, i, first):  # type: ignore[no-untyped-def]
    """Offset in input i of every entry of a block, whose axes begin at ``first``."""
    at, axis = program.stride_starts[i], program.axes[k]
    index[0] = 0
    length = 1
    for a in range(program.axes[k + 1] - axis - 1, first - 1, -1):
        stride, card = program.strides[at + a], program.axis_cards[axis + a]
        for level in range(1, card):
            shift, start = np.uint64(level * stride), np.uint64(level * length)
            for j in range(length):
                index[start + np.uint64(j)] = index[j] + shift
        length *= card


@serial
def run_length(program, k, i, first):  # type: ignore[no-untyped-def]
    """Entries of a block that lie next to each other in input i, in order."""
    at, axis, run = program.stride_starts[i], program.axes[k], 1
    for a in range(program.axes[k + 1] - axis - 1, first - 1, -1):
        if program.axis_cards[axis + a] > 1:
            if program.strides[at + a] != run:
                break
            run *= program.axis_cards[axis + a]
    return run


@inlined
def depends(program, k, i, first):  # type: ignore[no-untyped-def]
    """Whether input i depends on an axis outside the block."""
    at, found = program.stride_starts[i], False
    for a in range(first):
        found |= program.strides[at + a] != 0
    return found


@inlined
def offset(program, factors, i):  # type: ignore[no-untyped-def]
    """First entry of input i in its array."""
    source = program.sources[i]
    return factors.base[source] if source >= 0 else program.messages[-1 - source]


@inlined
def input_range(program, factors, messages, k):  # type: ignore[no-untyped-def]
    """Bounds of the logarithm of the product of a step's inputs, zeros left out; -inf where one is held in logs."""
    low, high = 0.0, 0.0
    for i in range(program.inputs[k], program.inputs[k + 1]):
        source = program.sources[i]
        if source >= 0:
            low += -np.inf if factors.is_log[source] else factors.low[source]
        else:
            low += -np.inf if messages.is_log[-1 - source] else messages.low[-1 - source]
            high += messages.high[-1 - source]
    return low, high


@inlined
def add_logs(table, size, part, index, is_log):  # type: ignore[no-untyped-def]
    """Add the logarithms of the entries of an input to a block."""
    for j in range(size):
        x = part[index[j]]
        # The log of a stored 0 is -inf, which is what an impossible state is to be.
        table[j] += x if is_log else np.log(x)


@inlined
def begin(table, size, program, factors, k, in_logs):  # type: ignore[no-untyped-def]
    """The block before anything enters: the allowed levels of the variable that is summed out."""
    v = program.axis_variables[program.axes[k + 1] - 1]
    card = program.axis_cards[program.axes[k + 1] - 1]
    if not factors.masked[v]:
        for j in range(size):
            table[j] = 0.0 if in_logs else 1.0
    else:
        for j in range(size):
            allowed = factors.mask[factors.levels[v] + j % card]
            table[j] = (0.0 if allowed else -np.inf) if in_logs else allowed


@inlined
def enter(table, size, program, factors, messages, k, first, index, in_logs):  # type: ignore[no-untyped-def]
    """The part of a step's block that does not depend on slower axes: allowed levels and inputs without such axes."""
    begin(table, size, program, factors, k, in_logs)
    for i in range(program.inputs[k], program.inputs[k + 1]):
        if first > 0 and depends(program, k, i, first):
            continue
        spread(index, program, k, i, first)
        source, start = program.sources[i], np.uint64(offset(program, factors, i))
        if in_logs:
            if source >= 0:
                add_logs(table, size, factors.values[start:], index, factors.is_log[source])
            else:
                add_logs(table, size, messages.pool[start:], index, messages.is_log[-1 - source])
        elif source >= 0:
            for j in range(size):
                table[j] *= factors.values[start + index[j]]
        else:
            for j in range(size):
                table[j] *= messages.pool[start + index[j]]
