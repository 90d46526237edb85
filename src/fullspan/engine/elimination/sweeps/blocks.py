"""Tables of several blocks: what all blocks share, and what each of them adds.

Inputs that do not depend on the slower axes are multiplied once and reused by every block; small factors are laid out
once for every state of their slower axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.elimination.sweeps.tables import (
    LAID_OUT_STATES,
    RUN_ENTRIES,
    add_logs,
    depends,
    offset,
    run_length,
    spread,
)
from fullspan.model.algebra.jit import serial


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
    inner: Array
    lone: Ints
    which: Ints
    offsets: NDArray[np.uint64]
    runs: Ints
    rows: Array
    row_starts: Ints


@serial
def is_lone(program, k, i, first):  # type: ignore[no-untyped-def]
    """Whether input i is a small factor that has, within a block, only the variable that is summed out."""
    if program.sources[i] < 0:
        return False
    for a in range(first, program.axes[k + 1] - program.axes[k] - 1):
        if program.strides[program.stride_starts[i] + a] != 0:
            return False
    return depends(program, k, i, first) and n_parts(program, k, i, first) <= LAID_OUT_STATES


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
            # A factor whose entries are neighbours already is read as it stands; laying it out would only copy it.
            if program.sources[i] >= 0 and parts <= LAID_OUT_STATES and runs[outer] < size:
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
            # Logarithms once for each row that is laid out, not for each block that reads it.
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
    if run >= RUN_ENTRIES:
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
        # The innermost loop of most models; `j % card` would keep it from vectorising.
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
