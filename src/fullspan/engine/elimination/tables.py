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

from fullspan.algebra.jit import inlined, serial

BLOCK = 1024
"""Entries worked on together."""
SMALL = 64
"""States of a factor's slower axes up to which its entries are laid out for every one of them."""
SHORT = 8
"""Neighbouring entries from which on they are worked through as a run."""
LOWEST, HIGHEST = -600.0, 60.0
"""Range of log values whose products and quotients stay far inside double precision."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Factors(NamedTuple):
    """Tables of all factors, scaled or as logarithms, and the levels that are allowed.

    Attributes
    ----------
    values : flat; ``exp(g - top)`` of a factor, or ``g - top`` where ``is_log``.
    base : first entry of each factor, moved by the clamped values.
    is_log, low : whether a factor is held as logarithms, and the least finite ``g - top``.
    mask, levels, masked : 1 or 0 for each level of variable v at ``levels[v]``; whether any level of v is excluded.
    """

    values: Floats
    base: Ints
    is_log: NDArray[np.bool_]
    low: Floats
    mask: Floats
    levels: Ints
    masked: NDArray[np.bool_]


class Messages(NamedTuple):
    """Messages of all steps: true log = ``scale + log(pool)``, or ``scale + pool`` where ``is_log``.

    ``low`` and ``high`` bound the logarithm of the stored numbers, zeros left out. ``in_logs`` says whether the step
    itself had to work with logarithms.
    """

    pool: Floats
    is_log: NDArray[np.bool_]
    low: Floats
    high: Floats
    scale: Floats
    in_logs: NDArray[np.bool_]


class Blocks(NamedTuple):
    """How a table of several blocks is made: ``number`` blocks of ``size`` entries over the axes from ``first`` on.

    ``inner`` is the part that all blocks share. ``lone`` factors have the summed variable and slower axes only: within
    a block they are one number per level. ``which`` other inputs depend on slower axes: small factors are laid out in
    ``rows``, a row of ``size`` entries for each state of their slower axes, from ``row_starts`` on; the entries of the
    rest are found by ``offsets``, ``runs`` of them at a time being neighbours (``row_starts`` is -1).
    """

    first: int
    size: int
    number: int
    inner: Floats
    lone: Ints
    which: Ints
    offsets: NDArray[np.uint64]
    runs: Ints
    rows: Floats
    row_starts: Ints


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
        if high == -np.inf:
            out[starts[f] : starts[f + 1]] = 0.0
            continue
        top[f], low[f] = high, least - high
        is_log[f] = low[f] < LOWEST
        for e in range(starts[f], starts[f + 1]):
            out[e] = values[e] - high if is_log[f] else np.exp(values[e] - high)
    return out, top, low, is_log


@inlined
def inner_axes(program, k):  # type: ignore[no-untyped-def]
    """First axis of the block, the block's entries, and the number of blocks of a step's table."""
    start, end = program.axes[k], program.axes[k + 1]
    first, size = end - 1, program.axis_cards[end - 1]
    while first > start and size * program.axis_cards[first - 1] <= BLOCK:
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
    """Entries of a block that lie beside each other in input i, in order."""
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


@serial
def is_lone(program, k, i, first):  # type: ignore[no-untyped-def]
    """Whether input i is a small factor that has, within a block, only the variable that is summed out."""
    if program.sources[i] < 0:
        return False
    for a in range(first, program.axes[k + 1] - program.axes[k] - 1):
        if program.strides[program.stride_starts[i] + a] != 0:
            return False
    return depends(program, k, i, first) and n_parts(program, k, i, first) <= SMALL


@serial
def blocks_of(program, factors, k, first, size, number, inner, in_logs):  # type: ignore[no-untyped-def]
    """Lay out what the blocks of a step need, once."""
    outer, single, room = 0, 0, 0
    for i in range(program.inputs[k], program.inputs[k + 1]):
        single += is_lone(program, k, i, first)
        outer += depends(program, k, i, first) and not is_lone(program, k, i, first)
    lone, which, runs = np.empty(single, np.int64), np.empty(outer, np.int64), np.empty(outer, np.int64)
    offsets, row_starts = np.empty((outer, size), dtype=np.uint64), np.full(outer, -1, dtype=np.int64)
    outer, single = 0, 0
    for i in range(program.inputs[k], program.inputs[k + 1]):
        if is_lone(program, k, i, first):
            lone[single] = i
            single += 1
        elif depends(program, k, i, first):
            which[outer], runs[outer] = i, run_length(program, k, i, first)
            spread(offsets[outer], program, k, i, first)
            parts = n_parts(program, k, i, first)
            if program.sources[i] >= 0 and parts <= SMALL and runs[outer] < size:
                row_starts[outer] = room
                room += parts * size
            outer += 1
    rows = np.empty(room)
    for o in range(outer):
        if row_starts[o] >= 0:
            _lay_rows(rows[row_starts[o] :], offsets[o], program, factors, k, which[o], first, size, in_logs)
    return Blocks(first, size, number, inner, lone, which, offsets, runs, rows, row_starts)


@serial
def _lay_rows(rows, offsets, program, factors, k, i, first, size, in_logs):  # type: ignore[no-untyped-def]
    """Entries of a small factor in every kind of block."""
    is_log = factors.is_log[program.sources[i]]
    for part in range(n_parts(program, k, i, first)):
        entries = factors.values[offset(program, factors, i) + part_offset(program, k, i, first, part) :]
        row = rows[part * size :]
        for j in range(size):
            x = entries[offsets[j]]
            row[j] = x if is_log or not in_logs else np.log(x)


@serial
def n_parts(program, k, i, first):  # type: ignore[no-untyped-def]
    """States of the slower axes that an input has."""
    n = 1
    for a in range(first):
        if program.strides[program.stride_starts[i] + a] != 0:
            n *= program.axis_cards[program.axes[k] + a]
    return n


@serial
def part_offset(program, k, i, first, part):  # type: ignore[no-untyped-def]
    """Offset in an input of one state of its slower axes."""
    shift = 0
    for a in range(first - 1, -1, -1):
        stride = program.strides[program.stride_starts[i] + a]
        if stride != 0:
            card = program.axis_cards[program.axes[k] + a]
            shift += (part % card) * stride
            part //= card
    return shift


@serial
def part_number(program, k, i, first, block):  # type: ignore[no-untyped-def]
    """Which state of an input's own slower axes a block has; blocks are counted row-major over all slower axes."""
    part, stride = 0, 1
    for a in range(first - 1, -1, -1):
        card = program.axis_cards[program.axes[k] + a]
        if program.strides[program.stride_starts[i] + a] != 0:
            part += (block % card) * stride
            stride *= card
        block //= card
    return part


@serial
def shift_of(program, k, i, first, block):  # type: ignore[no-untyped-def]
    """Offset in input i of a block's first entry."""
    at, axis = program.stride_starts[i], program.axes[k]
    shift = 0
    for a in range(first - 1, -1, -1):
        card = program.axis_cards[axis + a]
        shift += (block % card) * program.strides[at + a]
        block //= card
    return shift


@serial
def multiply(table, size, part, index, run):  # type: ignore[no-untyped-def]
    """Multiply a block by the entries of an input."""
    if run >= SHORT:
        for r in range(0, size, run):
            entries, target = part[index[r] :], table[r:]
            for j in range(run):
                target[j] *= entries[j]
    else:
        for j in range(size):
            table[j] *= part[index[j]]


@serial
def level_weights(program, factors, k, blocks, block, in_logs):  # type: ignore[no-untyped-def]
    """Product of the lone factors in one block, for each level of the summed variable."""
    axis = program.axes[k + 1] - program.axes[k] - 1
    weights = (
        np.zeros(program.axis_cards[program.axes[k] + axis])
        if in_logs
        else np.ones(program.axis_cards[program.axes[k] + axis])
    )
    for o in range(len(blocks.lone)):
        i = blocks.lone[o]
        start = offset(program, factors, i) + shift_of(program, k, i, blocks.first, block)
        stride = program.strides[program.stride_starts[i] + axis]
        for level in range(len(weights)):
            x = factors.values[start + level * stride]
            if in_logs:
                weights[level] += x if factors.is_log[program.sources[i]] else np.log(x)
            else:
                weights[level] *= x
    return weights


@serial
def fill_block(table, program, factors, messages, k, blocks, block, in_logs):  # type: ignore[no-untyped-def]
    """The product of all inputs of a step over one block."""
    size = blocks.size
    if len(blocks.lone) and not in_logs:
        weights = level_weights(program, factors, k, blocks, block, in_logs)
        card = len(weights)
        if card == 2:
            for c in range(size // 2):
                table[np.uint64(2 * c)] = blocks.inner[np.uint64(2 * c)] * weights[0]
                table[np.uint64(2 * c + 1)] = blocks.inner[np.uint64(2 * c + 1)] * weights[1]
        else:
            for j in range(size):
                table[j] = blocks.inner[j] * weights[j % card]
    else:
        table[:size] = blocks.inner[:size]
        if len(blocks.lone):
            weights = level_weights(program, factors, k, blocks, block, in_logs)
            for j in range(size):
                table[j] += weights[j % len(weights)]
    for o in range(len(blocks.which)):
        i = blocks.which[o]
        source = program.sources[i]
        if blocks.row_starts[o] >= 0:
            row = blocks.rows[blocks.row_starts[o] + size * part_number(program, k, i, blocks.first, block) :]
            if in_logs:
                for j in range(size):
                    table[j] += row[j]
            else:
                for j in range(size):
                    table[j] *= row[j]
            continue
        part = factors.values if source >= 0 else messages.pool
        part = part[offset(program, factors, i) + shift_of(program, k, i, blocks.first, block) :]
        if in_logs:
            is_log = factors.is_log[source] if source >= 0 else messages.is_log[-1 - source]
            add_logs(table, size, part, blocks.offsets[o], is_log)
        else:
            multiply(table, size, part, blocks.offsets[o], blocks.runs[o])
