"""Where clamped patterns enter a program: what is the same for all of them, and what is a row of patterns.

Clamping a variable leaves a slice of each factor that has it; such a factor moves from pattern to pattern. At each step
the inputs that differ between patterns are the messages and the slices. Slices that keep only the variable that is
summed out are multiplied into one input. All this is laid out once for all chunks of patterns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Ints
from fullspan.engine.elimination.sweeps.program import Program
from fullspan.engine.elimination.sweeps.tables import spread
from fullspan.model.algebra.jit import inlined, serial


class Slices(NamedTuple):
    """Inputs of each step that differ between patterns.

    Attributes
    ----------
    moving : number of a factor among those with clamped and free variables, -1 of the others.
    inputs : those of step k are ``inputs[k] : inputs[k + 1]``.
    which : number of the program's input; -1 for the slices merged into one, which come first.
    rows, lengths : rows of an input: a message's entries, or behind all messages the entries of a slice.
    cells : entries of all tables; those of step k begin at ``cells[k]``.
    place_starts, places : row of each input at each entry of the step's table, input by input.
    offset_starts, offsets : offsets in its factor of the entries of a slice.
    n_rows : rows needed for messages and the slices of one step.
    """

    moving: Ints
    inputs: Ints
    which: Ints
    rows: Ints
    lengths: Ints
    cells: Ints
    place_starts: Ints
    places: NDArray[np.uint64]
    offset_starts: Ints
    offsets: NDArray[np.uint64]
    n_rows: int


def slices_of(program: Program, n_links: Ints) -> Slices:
    """Lay out the slices of a program; ``n_links`` are the clamped variables of each factor."""
    # A factor all of whose variables are clamped is at home in no step: it adds a constant to each pattern.
    is_moving = (n_links > 0) & (program.homes >= 0)
    return Slices(*_slices(program, np.where(is_moving, np.cumsum(is_moving) - 1, -1)))


@inlined
def is_lone(program, k, i):  # type: ignore[no-untyped-def]
    """Whether a factor keeps only the variable that is summed out."""
    lone = True
    for a in range(program.axes[k + 1] - program.axes[k] - 1):
        lone &= program.strides[program.stride_starts[i] + a] == 0
    return lone


@serial
def _count_cells(program, cells):  # type: ignore[no-untyped-def]
    """Fill in where the table of each step begins, and return an upper bound of the places of all inputs."""
    spaces = 1
    for k in range(len(cells) - 1):
        size = (program.messages[k + 1] - program.messages[k]) * program.axis_cards[program.axes[k + 1] - 1]
        cells[k + 1] = cells[k] + size
        spaces += (program.inputs[k + 1] - program.inputs[k]) * size
    return spaces


@inlined
def _any_lone(program, moving, k):  # type: ignore[no-untyped-def]
    """Whether a step has slices that keep only the variable that is summed out."""
    found = False
    for i in range(program.inputs[k], program.inputs[k + 1]):
        f = program.sources[i]
        found |= f >= 0 and moving[f] >= 0 and is_lone(program, k, i)
    return found


@serial
def _slices(program, moving):  # type: ignore[no-untyped-def]
    m, n = len(program.axes) - 1, len(program.sources)
    inputs, cells, place_starts = np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64)
    which, rows, lengths = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    spaces = _count_cells(program, cells)
    places, offsets = np.empty(spaces, dtype=np.uint64), np.empty(spaces, dtype=np.uint64)
    offset_starts = np.zeros(n + 1, dtype=np.int64)
    count, used, n_rows = 0, 0, program.messages[m]
    for k in range(m):
        size, place, room = cells[k + 1] - cells[k], place_starts[k], program.messages[m]
        if _any_lone(program, moving, k):
            card = program.axis_cards[program.axes[k + 1] - 1]
            which[count], rows[count], lengths[count], offset_starts[count] = -1, room, card, used
            for j in range(size):
                places[place + j] = np.uint64(room + j % card)
            # Rows of slices lie behind those of all messages, and are used again by the next step.
            place, room, count = place + size, room + card, count + 1
        for i in range(program.inputs[k], program.inputs[k + 1]):
            f = program.sources[i]
            if f >= 0 and (moving[f] < 0 or is_lone(program, k, i)):
                continue
            which[count], offset_starts[count], part = i, used, places[place:]
            if f < 0:
                spread(part, program, k, i, 0)
                rows[count], lengths[count] = program.messages[-1 - f], program.messages[-f] - program.messages[-1 - f]
            else:
                rows[count], lengths[count] = room, _compact(program, k, i, part, offsets[used:])
                room, used = room + lengths[count], used + lengths[count]
            for j in range(size):
                part[j] += np.uint64(rows[count])
            place, count = place + size, count + 1
        inputs[k + 1], place_starts[k + 1] = count, place
        n_rows = max(n_rows, room)
    offset_starts[count] = used
    return (
        moving, inputs, which[:count].copy(), rows[:count].copy(), lengths[:count].copy(), cells, place_starts,
        places[: place_starts[m]].copy(), offset_starts[: count + 1].copy(), offsets[:used].copy(), n_rows,
    )  # fmt: skip


@serial
def _compact(program, k, i, index, offsets):  # type: ignore[no-untyped-def]
    """Number of each table entry in the slice that input i is, and each slice entry's offset; the slice's length."""
    at, axis = program.stride_starts[i], program.axes[k]
    index[0], offsets[0] = 0, 0
    length, entries = 1, 1
    for a in range(program.axes[k + 1] - axis - 1, -1, -1):
        stride, card = program.strides[at + a], program.axis_cards[axis + a]
        own = entries if stride != 0 else 0
        for level in range(1, card):
            for j in range(length):
                index[level * length + j] = index[j] + np.uint64(level * own)
        length *= card
        if stride != 0:
            for level in range(1, card):
                for e in range(entries):
                    offsets[level * entries + e] = offsets[e] + np.uint64(level * stride)
            entries *= card
    return entries
