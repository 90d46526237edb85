"""The numbers of a chunk of clamped patterns: a row of patterns under every entry that differs between them.

Factors without a clamped variable are the same for all patterns and are multiplied once. Slices of the others are
fetched step by step, into rows behind those of the messages. The innermost loops run along rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.engine.elimination.sweeps.slices import is_lone
from fullspan.engine.elimination.sweeps.tables import spread
from fullspan.model.algebra.jit import inlined, serial


class Patterns(NamedTuple):
    """What the patterns change.

    Attributes
    ----------
    links, link_slots, link_strides : for factor f at ``links[f] : links[f + 1]``, its clamped variables, numbered as
        the rows of ``values``, and the steps of their digits.
    slot_cards : levels of each clamped variable.
    table_starts : first entry of each factor.
    values : (clamped, N) codes.
    static : products of the factors that do not move, over the tables of all steps.
    """

    links: Ints
    link_slots: Ints
    link_strides: Ints
    slot_cards: Ints
    table_starts: Ints
    values: Ints
    static: Array


class Rows(NamedTuple):
    """Space of one core: a row of patterns for every message entry, then for the slices of the current step.

    ``base`` holds the first entry of each moving factor for each pattern, ``low`` and ``high`` bounds of the logarithms
    of messages; the rows after them are where sums and scales are worked out.
    """

    pool: Array
    base: Ints
    low: Array
    high: Array
    inverse: Array
    row: Array
    bottom: Array
    product: Array
    pair: Array


@serial
def static_products(program, factors, slices):  # type: ignore[no-untyped-def]
    """Products of the factors that are the same for all patterns, over the table of every step."""
    m, largest = len(program.axes) - 1, 1
    for k in range(m):
        largest = max(largest, slices.cells[k + 1] - slices.cells[k])
    static, index = np.ones(slices.cells[m]), np.empty(largest, dtype=np.uint64)
    for k in range(m):
        part = static[slices.cells[k] : slices.cells[k + 1]]
        for i in range(program.inputs[k], program.inputs[k + 1]):
            f = program.sources[i]
            if f >= 0 and slices.moving[f] < 0:
                spread(index, program, k, i, 0)
                entries = factors.values[factors.base[f] :]
                # Once for all patterns: only what moves with the pattern is multiplied again for each.
                for j in range(len(part)):
                    part[j] *= entries[index[j]]
    return static


@serial
def space(program, slices, chunk):  # type: ignore[no-untyped-def]
    m = len(program.axes) - 1
    return Rows(
        np.empty((slices.n_rows, chunk)),
        np.empty((slices.moving.max() + 1 if len(slices.moving) else 0, chunk), dtype=np.int64),
        np.zeros(m),
        np.zeros(m),
        np.empty(chunk),
        np.empty(chunk),
        np.empty(chunk),
        np.empty(chunk),
        np.empty((2, chunk)),
    )


@serial
def bases(slices, patterns, first, last, base):  # type: ignore[no-untyped-def]
    """First entry of each moving factor for each pattern of a chunk."""
    for f in range(len(slices.moving)):
        if slices.moving[f] < 0:
            continue
        row = base[slices.moving[f]]
        row[:] = patterns.table_starts[f]
        for e in range(patterns.links[f], patterns.links[f + 1]):
            codes, stride = patterns.values[patterns.link_slots[e], first:last], patterns.link_strides[e]
            for b in range(last - first):
                row[b] += codes[b] * stride


@inlined
def gather(program, factors, slices, patterns, rows, k, first, n):  # type: ignore[no-untyped-def]
    """Fill in the slices of a step, those that keep only the summed variable multiplied together."""
    axis, again = program.axes[k + 1] - program.axes[k] - 1, False
    for i in range(program.inputs[k], program.inputs[k + 1]):
        f = program.sources[i]
        if f >= 0 and slices.moving[f] >= 0 and is_lone(program, k, i):
            stride, start = program.strides[program.stride_starts[i] + axis], slices.rows[slices.inputs[k]]
            link = patterns.links[f]
            # One clamped variable with two levels: a choice of two numbers vectorises, a gather of addresses does not.
            if patterns.links[f + 1] - link == 1 and patterns.slot_cards[patterns.link_slots[link]] == 2:
                codes = patterns.values[patterns.link_slots[link], first : first + n]
                for level in range(program.axis_cards[program.axes[k] + axis]):
                    place = patterns.table_starts[f] + level * stride
                    zero, one = factors.values[place], factors.values[place + patterns.link_strides[link]]
                    _choose(rows.pool[start + level], zero, one, codes, n, again)
            else:
                base = rows.base[slices.moving[f]]
                for level in range(program.axis_cards[program.axes[k] + axis]):
                    _take(rows.pool[start + level], factors.values, base, np.uint64(level * stride), n, again)
            # The first such slice overwrites the rows of the step before, later ones multiply into them.
            again = True
    for o in range(slices.inputs[k], slices.inputs[k + 1]):
        if slices.which[o] >= 0 and program.sources[slices.which[o]] >= 0:
            base = rows.base[slices.moving[program.sources[slices.which[o]]]]
            for e in range(slices.lengths[o]):
                shift = slices.offsets[slices.offset_starts[o] + e]
                _take(rows.pool[slices.rows[o] + e], factors.values, base, shift, n, False)


@inlined
def _choose(row, zero, one, codes, n, multiply):  # type: ignore[no-untyped-def]
    """One of two entries of a factor for every pattern."""
    if multiply:
        for b in range(n):
            row[b] *= one if codes[b] else zero
    else:
        for b in range(n):
            row[b] = one if codes[b] else zero


@inlined
def _take(row, values, base, shift, n, multiply):  # type: ignore[no-untyped-def]
    """The entries of a factor at one offset, for every pattern."""
    if multiply:
        for b in range(n):
            row[b] *= values[np.uint64(base[b]) + shift]
    else:
        for b in range(n):
            row[b] = values[np.uint64(base[b]) + shift]


@inlined
def product_row(out, weight, pool, places, count, size, j, n):  # type: ignore[no-untyped-def]
    """``weight`` times the rows of all inputs at one table entry."""
    if count == 0:
        for b in range(n):
            out[b] = weight
    elif count == 1:
        row = pool[places[j]]
        for b in range(n):
            out[b] = weight * row[b]
    else:
        row, other = pool[places[j]], pool[places[size + j]]
        for b in range(n):
            out[b] = weight * row[b] * other[b]
    for o in range(2, count):
        row = pool[places[o * size + j]]
        for b in range(n):
            out[b] *= row[b]


@inlined
def product_range(program, factors, rows, k):  # type: ignore[no-untyped-def]
    """Bounds of the logarithm of the product of a step's inputs, zeros left out."""
    low, high = 0.0, 0.0
    for i in range(program.inputs[k], program.inputs[k + 1]):
        f = program.sources[i]
        low += factors.low[f] if f >= 0 else rows.low[-1 - f]
        high += 0.0 if f >= 0 else rows.high[-1 - f]
    return low, high
