"""Many boxes in one call: log of the sum over the states of each, by one order of elimination.

    Z(B) = sum_{x : x_v in B_v for all v} exp( sum_f g_f(x_f) )

A step visits only the states that the box allows, and a message is summed anew only where the box restricts a variable
that it stands for: the others are those of the whole model, which are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data.space import Space
from fullspan.engine.elimination.sweeps.program import Program
from fullspan.engine.elimination.sweeps.tables import LOWEST, Factors, offset
from fullspan.errors import QueryError
from fullspan.model.algebra.jit import inlined, serial

_FACTOR, _KEPT, _NEW = 0, 1, 2
"""Where an input's numbers are: in a factor, in a message without any restriction, or in one of this box."""


class Codes(NamedTuple):
    """Codes allowed: of box b and variable v, ``codes[starts[b, v] : starts[b, v] + counts[b, v]]``."""

    codes: Ints
    starts: Ints
    counts: Ints


@dataclass(frozen=True, eq=False)
class Boxes:
    """Events, each the increasing codes of the variables that it restricts, by position; and the same as arrays.

    All codes of any variable stand at the beginning, so that a range of neighbouring codes takes no room of its own.
    """

    each: Sequence[Mapping[int, Sequence[int]]]
    codes: Codes

    @classmethod
    def of(cls, each: Sequence[Mapping[int, Sequence[int]]], space: Space) -> Boxes:
        """Events about the variables of a space.

        Raises
        ------
        QueryError : a variable or code is unknown, or none is left of a variable.
        """
        cards = space.cards
        starts, counts = np.zeros((len(each), len(cards)), dtype=np.int64), np.tile(cards, (len(each), 1))
        # A full or contiguous range of codes is a window of this one list: only sets with holes need entries of their
        # own.
        parts, end = [np.arange(max(cards, default=0))], max(cards, default=0)
        for b, box in enumerate(each):
            for v, own in box.items():
                if not 0 <= v < len(cards):
                    raise QueryError(f"there is no variable {v}; positions go from 0 to {len(cards) - 1}")
                if not own or own[0] < 0 or own[-1] >= cards[v]:
                    raise QueryError(f"{space.names[v]!r} has the codes 0 to {cards[v] - 1}, but {own!r} was given")
                counts[b, v] = len(own)
                starts[b, v] = own[0]
                # The codes increase, so that the distance of the ends shows whether there are holes.
                if own[-1] - own[0] + 1 != len(own):
                    starts[b, v] = end
                    parts.append(np.asarray(own, dtype=np.int64))
                    end += len(own)
        return cls(each, Codes(np.concatenate(parts).astype(np.int64), starts, counts))

    def by_place(self, numbers: Ints) -> Codes:
        """The codes where variable ``numbers[k]`` stands at place k."""
        codes, starts, counts = self.codes
        return Codes(codes, starts.take(numbers, axis=1), counts.take(numbers, axis=1))  # in C order, however many


class Kept(NamedTuple):
    """Messages: true log = ``scale + log(pool * inverse)``; the last is at most 0, and at least ``low`` or no state."""

    pool: Array
    scale: Array
    low: Array
    inverse: Array

    @classmethod
    def empty(cls, program: Program) -> Kept:
        """Room for the messages of a program."""
        m = len(program.axes) - 1
        return cls(np.zeros(int(program.messages[m])), np.zeros(m), np.zeros(m), np.ones(m))


def whole(program: Program, factors: Factors) -> Kept | None:
    """The messages without any restriction; None where their numbers are too far apart."""
    cards, kept = program.axis_cards[program.axes[1:] - 1], Kept.empty(program)
    everything = Codes(np.arange(cards.max(initial=0)), np.zeros((1, len(cards)), dtype=np.int64), cards[None])
    # With `anew` every message is made, into the very arrays that later boxes read.
    log_z, undone = np.zeros(1), np.zeros(1, dtype=np.bool_)
    _sweep(program, factors, kept, kept, _room(program), everything, True, log_z, undone)
    return None if undone[0] else kept


class _Room(NamedTuple):
    """What one step works with: entries and strides of its inputs by axis, and where it is in its separator."""

    at: Ints
    step: Ints
    inverse: Array
    where: Ints
    stride: Ints
    place: Ints
    digit: Ints


def _room(program: Program) -> _Room:
    width = int(np.diff(program.axes).max(initial=1))
    inputs = int(np.diff(program.inputs).max(initial=0))
    stride, place, digit = np.zeros((3, width + 1), dtype=np.int64)
    at, step = np.zeros((2, width + 1, inputs), dtype=np.int64)
    return _Room(at, step, np.ones(inputs), np.zeros(inputs, dtype=np.int64), stride, place, digit)


class Sweep:
    """Sweeps over boxes by one program and its factors: the messages without any restriction are made once."""

    def __init__(self, program: Program, factors: Factors) -> None:
        self._program, self._factors = program, factors
        self._kept = whole(program, factors) if not factors.is_log.any() else None
        self._spare: list[tuple[Kept, _Room]] = []  # each is taken out while one thread works with it

    def __call__(self, boxes: Codes) -> tuple[Array, NDArray[np.bool_]]:
        """log Z of each box relative to the tops of the factors; and for which the numbers are too far apart."""
        log_z = np.zeros(len(boxes.starts))
        undone = np.full(len(log_z), self._kept is None)
        if self._kept is not None:
            try:
                own, room = self._spare.pop()
            except IndexError:
                own, room = Kept.empty(self._program), _room(self._program)
            _sweep(self._program, self._factors, self._kept, own, room, boxes, False, log_z, undone)
            self._spare.append((own, room))
        return log_z, undone


@serial
def _sweep(program, factors, kept, own, room, boxes, anew, log_z, undone):  # type: ignore[no-untyped-def]
    m = len(program.axes) - 1
    is_new = np.zeros(m, dtype=np.bool_)
    for b in range(len(log_z)):
        for k in range(m):
            is_new[k] = anew or boxes.counts[b, k] < program.axis_cards[program.axes[k + 1] - 1]
            for i in range(program.inputs[k], program.inputs[k + 1]):
                source = program.sources[i]
                # A message below has changed, so this one has: sources below 0 are messages, -1 - source the step that
                # made them.
                is_new[k] = is_new[k] or (source < 0 and is_new[-1 - source])
            if is_new[k] and not _step(program, factors, kept, own, room, is_new, boxes, b, k):
                undone[b] = True
                break
            log_z[b] += own.scale[k] if is_new[k] else kept.scale[k]
            # An impossible box stays impossible; messages that are kept for later boxes must all be made.
            if log_z[b] == -np.inf and not anew:
                break


@inlined
def _enter(program, factors, kept, own, room, is_new, k):  # type: ignore[no-untyped-def]
    """Where the inputs of a step begin, and how they move along its axes; a lower bound of the log of their product."""
    first, width, low = program.inputs[k], program.axes[k + 1] - 1 - program.axes[k], 0.0
    # Taken out once: an array read from a tuple inside a loop has its references counted each time.
    at, step, inverse, where, stride = room.at, room.step, room.inverse, room.where, room.stride
    for i in range(program.inputs[k + 1] - first):
        source = program.sources[first + i]
        inverse[i], where[i] = 1.0, _FACTOR
        if source >= 0:
            low += factors.low[source]
        else:
            where[i] = _NEW if is_new[-1 - source] else _KEPT
            low += own.low[-1 - source] if is_new[-1 - source] else kept.low[-1 - source]
            inverse[i] = own.inverse[-1 - source] if is_new[-1 - source] else kept.inverse[-1 - source]
        at[0, i] = offset(program, factors, first + i)
        for a in range(width + 1):
            step[a, i] = program.strides[program.stride_starts[first + i] + a]
    # The tables are row-major: the axis eliminated last is the slowest.
    stride[max(width - 1, 0)] = 1
    for a in range(width - 1, 0, -1):
        stride[a - 1] = stride[a] * program.axis_cards[program.axes[k] + a]
    return low


@inlined
def _sum_over(levels, n_inputs, at, by, where, inverse, values, before, new):  # type: ignore[no-untyped-def]
    """The product of the inputs at one place of the separator, summed over the allowed levels of the variable."""
    total = 0.0
    for c in range(len(levels)):
        x, level = 1.0, levels[c]
        for i in range(n_inputs):
            entry = at[i] + level * by[i]
            if where[i] == _FACTOR:
                x *= values[entry]
            elif where[i] == _KEPT:
                x *= before[entry] * inverse[i]
            else:
                x *= new[entry] * inverse[i]
        total += x
    return total


@inlined
def _step(program, factors, kept, own, room, is_new, boxes, b, k):  # type: ignore[no-untyped-def]
    """The message of a step over the allowed states of its separator; False where a product might leave the range.

    The states are walked by an odometer: digit a counts the allowed levels of axis a, and ``a == width`` is a state.
    """
    start, width = program.axes[k], program.axes[k + 1] - 1 - program.axes[k]
    n_inputs = program.inputs[k + 1] - program.inputs[k]
    # Refused before anything is summed: a product that underflows would be taken for an impossible state.
    if _enter(program, factors, kept, own, room, is_new, k) < LOWEST:
        return False
    at, step, inverse, where, stride, place, digit = room
    values, before, new = factors.values, kept.pool, own.pool
    levels = boxes.codes[boxes.starts[b, k] : boxes.starts[b, k] + boxes.counts[b, k]]
    here, by = at[width], step[width]
    place[0], a, top, least = program.messages[k], 0, 0.0, np.inf
    digit[: width + 1] = 0
    while a >= 0:
        if a == width:
            total = _sum_over(levels, n_inputs, here, by, where, inverse, values, before, new)
            new[place[width]] = total
            top = max(top, total)
            least = min(least, total) if total > 0.0 else least
            a -= 1
            continue
        u = program.axis_variables[start + a]
        if digit[a] == boxes.counts[b, u]:
            digit[a] = 0
            a -= 1
            continue
        level = boxes.codes[boxes.starts[b, u] + digit[a]]
        place[a + 1] = place[a] + level * stride[a]
        for i in range(n_inputs):
            at[a + 1, i] = at[a, i] + level * step[a, i]
        digit[a] += 1
        a += 1
    own.scale[k], own.low[k], own.inverse[k] = -np.inf, 0.0, 1.0
    if top > 0.0:
        own.scale[k], own.low[k], own.inverse[k] = np.log(top), np.log(least) - np.log(top), 1.0 / top
    return True
