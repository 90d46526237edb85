"""Sweeps over many clamped patterns at once: one program, a row of patterns under every table entry.

Factors without a clamped variable are the same for all patterns and are multiplied once. Every other number is a row of
as many patterns as are worked on together; the innermost loops run along rows. Chunks of patterns are shared out to the
cores, each of which keeps one set of messages, so memory does not grow with the number of patterns.

Numbers carry a scale as in :mod:`fullspan.engine.tables`. A chunk in which a product might leave the range of double
precision is given back undone, for the sweeps that can work with logarithms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from fullspan.algebra.jit import inlined, parallel, serial
from fullspan.engine.tables import HIGHEST, LOWEST, Floats, Ints, spread

_NEAR = 30.0
"""Messages within exp(+-30) keep their numbers as they are."""


class Patterns(NamedTuple):
    """What the patterns change.

    Attributes
    ----------
    moving : number of a factor among those with a clamped variable, -1 of the others.
    links, link_slots, link_strides : for factor f at ``links[f] : links[f + 1]``, its clamped variables, numbered as
        the columns of ``values``, and the steps of their digits.
    table_starts : first entry of each factor.
    values : (clamped, N) codes.
    weights : (N,) weight of each pattern in the expected tables.
    static, cells : products of the factors that do not move, of step k's table from ``cells[k]`` on.
    """

    moving: Ints
    links: Ints
    link_slots: Ints
    link_strides: Ints
    table_starts: Ints
    values: Ints
    weights: Floats
    static: Floats
    cells: Ints


class Rows(NamedTuple):
    """Space of one core: a row of patterns for every message entry, then for the slices of one step's moving factors.

    ``places`` gives, for each input of the current step that differs between patterns and each table entry, its row;
    ``which`` input that is, ``starts`` and ``lengths`` where its rows lie, ``offsets`` where the entries of a slice lie
    in the factor, ``base`` the first entry of each moving factor for each pattern. Moving factors that keep only the
    summed variable are multiplied into one input, the first, which is numbered -1.
    ``inverse`` holds what messages were multiplied with where ``is_scaled``.
    """

    pool: Floats
    scratch: Floats
    places: NDArray[np.uint64]
    which: Ints
    starts: Ints
    lengths: Ints
    offsets: NDArray[np.uint64]
    base: Ints
    low: Floats
    high: Floats
    is_scaled: NDArray[np.bool_]
    inverse: Floats
    row: Floats
    bottom: Floats
    product: Floats


@serial
def static_products(program, factors, moving):  # type: ignore[no-untyped-def]
    """Products of the factors that are the same for all patterns, over the table of every step."""
    m = len(program.axes) - 1
    cells = np.zeros(m + 1, dtype=np.int64)
    largest = 1
    for k in range(m):
        size = (program.messages[k + 1] - program.messages[k]) * program.axis_cards[program.axes[k + 1] - 1]
        cells[k + 1] = cells[k] + size
        largest = max(largest, size)
    static, index = np.ones(cells[m]), np.empty(largest, dtype=np.uint64)
    for k in range(m):
        part = static[cells[k] : cells[k + 1]]
        for i in range(program.inputs[k], program.inputs[k + 1]):
            f = program.sources[i]
            if f >= 0 and moving[f] < 0:
                spread(index, program, k, i, 0)
                entries = factors.values[factors.base[f] :]
                for j in range(len(part)):
                    part[j] *= entries[index[j]]
    return static, cells, largest


@parallel
def swept(program, factors, patterns, chunk, cores, largest, log_z, marginals, tables, expected):  # type: ignore[no-untyped-def]
    """log Z, and what else has room, for every pattern.

    Parameters
    ----------
    chunk, cores : patterns worked on together, and at most so many chunks at a time.
    log_z : (N,) filled in, without the tops of the factors and factors all of whose variables are clamped.
    marginals, tables : (N, levels) and (N, entries), or of length 0 where they are not wanted.
    expected : (cores, entries), the weighted sum of the factors' marginals; or (cores, 0).

    Returns
    -------
    undone : (chunks,) whether a chunk was left out because its numbers are too far apart.
    """
    n = len(log_z)
    chunks = (n + chunk - 1) // chunk
    undone = np.zeros(chunks, dtype=np.bool_)
    for core in prange(cores):
        rows = _space(program, patterns, chunk, largest)
        for c in range(core, chunks, cores):
            first = np.int64(c) * chunk
            last = min(first + chunk, n)
            undone[c] = not _forward(program, factors, patterns, rows, first, last, log_z)
            if not undone[c] and (len(marginals) or len(tables) or expected.shape[1]):
                _backward(program, factors, patterns, rows, first, last, marginals, tables, expected[core])
    return undone


@serial
def _space(program, patterns, chunk, largest):  # type: ignore[no-untyped-def]
    m = len(program.axes) - 1
    entries, inputs = largest, 1
    for k in range(m):
        n = program.inputs[k + 1] - program.inputs[k]
        size = (program.messages[k + 1] - program.messages[k]) * program.axis_cards[program.axes[k + 1] - 1]
        entries, inputs = max(entries, n * size), max(inputs, n)
    return Rows(
        np.empty((program.messages[m] + entries, chunk)),
        np.empty((program.scratch + entries, chunk)),
        np.empty(entries, dtype=np.uint64),
        np.empty(inputs, dtype=np.int64),
        np.empty(inputs, dtype=np.int64),
        np.empty(inputs, dtype=np.int64),
        np.empty(entries, dtype=np.uint64),
        np.empty((patterns.moving.max() + 1 if len(patterns.moving) else 0, chunk), dtype=np.int64),
        np.zeros(m),
        np.zeros(m),
        np.zeros(m, dtype=np.bool_),
        np.empty((m, chunk)),
        np.empty(chunk),
        np.empty(chunk),
        np.empty(chunk),
    )


@serial
def _bases(patterns, first, last, base):  # type: ignore[no-untyped-def]
    """First entry of each moving factor for each pattern of a chunk."""
    for f in range(len(patterns.moving)):
        if patterns.moving[f] < 0:
            continue
        row = base[patterns.moving[f]]
        row[:] = patterns.table_starts[f]
        for e in range(patterns.links[f], patterns.links[f + 1]):
            codes, stride = patterns.values[patterns.link_slots[e], first:last], patterns.link_strides[e]
            for b in range(last - first):
                row[b] += codes[b] * stride


@inlined
def _lay_out(program, factors, patterns, rows, k, size, n):  # type: ignore[no-untyped-def]
    """Rows of the inputs of a step that differ between patterns, and how many; moving factors are gathered."""
    room, used = program.messages[len(program.axes) - 1], 0
    count = _merge(program, factors, patterns, rows, k, size, n, room)
    room += rows.lengths[0] if count else 0
    for i in range(program.inputs[k], program.inputs[k + 1]):
        f = program.sources[i]
        if f >= 0 and (patterns.moving[f] < 0 or _is_lone(program, k, i)):
            continue
        places = rows.places[count * size :]
        rows.which[count] = i
        if f < 0:
            spread(places, program, k, i, 0)
            rows.starts[count] = program.messages[-1 - f]
            rows.lengths[count] = program.messages[-f] - program.messages[-1 - f]
        else:
            base, offsets = rows.base[patterns.moving[f]], rows.offsets[used:]
            entries = _compact(program, k, i, places, offsets)
            for e in range(entries):
                _take(rows.pool[room + e], factors.values, base, offsets[e], n, False)
            rows.starts[count], rows.lengths[count] = room, entries
            room, used = room + entries, used + entries
        start = np.uint64(rows.starts[count])
        for j in range(size):
            places[j] += start
        count += 1
    return count


@inlined
def _is_lone(program, k, i):  # type: ignore[no-untyped-def]
    """Whether a factor keeps only the variable that is summed out."""
    lone = True
    for a in range(program.axes[k + 1] - program.axes[k] - 1):
        lone &= program.strides[program.stride_starts[i] + a] == 0
    return lone


@inlined
def _merge(program, factors, patterns, rows, k, size, n, room):  # type: ignore[no-untyped-def]
    """Multiply the moving factors that keep only the summed variable into rows of their own; 1 if there are any."""
    axis, count = program.axes[k + 1] - program.axes[k] - 1, 0
    card = program.axis_cards[program.axes[k] + axis]
    for i in range(program.inputs[k], program.inputs[k + 1]):
        f = program.sources[i]
        if f >= 0 and patterns.moving[f] >= 0 and _is_lone(program, k, i):
            stride = program.strides[program.stride_starts[i] + axis]
            for level in range(card):
                base, shift = rows.base[patterns.moving[f]], np.uint64(level * stride)
                _take(rows.pool[room + level], factors.values, base, shift, n, count > 0)
            count = 1
    if count:
        rows.which[0], rows.starts[0], rows.lengths[0] = -1, room, card
        for j in range(size):
            rows.places[j] = np.uint64(room + j % card)
    return count


@inlined
def _take(row, values, base, shift, n, multiply):  # type: ignore[no-untyped-def]
    """The entries of a factor at one offset, for every pattern."""
    if multiply:
        for b in range(n):
            row[b] *= values[np.uint64(base[b]) + shift]
    else:
        for b in range(n):
            row[b] = values[np.uint64(base[b]) + shift]


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


@inlined
def _product(out, weight, rows, count, size, j, n):  # type: ignore[no-untyped-def]
    """``weight`` times the rows of all inputs at one table entry."""
    if count == 0:
        for b in range(n):
            out[b] = weight
    elif count == 1:
        row = rows.pool[rows.places[j]]
        for b in range(n):
            out[b] = weight * row[b]
    else:
        row, other = rows.pool[rows.places[j]], rows.pool[rows.places[size + j]]
        for b in range(n):
            out[b] = weight * row[b] * other[b]
    for o in range(2, count):
        row = rows.pool[rows.places[o * size + j]]
        for b in range(n):
            out[b] *= row[b]


@inlined
def _range(program, factors, rows, k):  # type: ignore[no-untyped-def]
    """Bounds of the logarithm of the product of a step's inputs, zeros left out."""
    low, high = 0.0, 0.0
    for i in range(program.inputs[k], program.inputs[k + 1]):
        f = program.sources[i]
        low += factors.low[f] if f >= 0 else rows.low[-1 - f]
        high += 0.0 if f >= 0 else rows.high[-1 - f]
    return low, high


@serial
def _forward(program, factors, patterns, rows, first, last, log_z):  # type: ignore[no-untyped-def]
    """log Z of a chunk; False where its numbers are too far apart."""
    n, held_low, held_high = last - first, 0.0, 0.0
    product, out = rows.product, rows.row
    product[:n] = 1.0
    log_z[first:last] = 0.0
    _bases(patterns, first, last, rows.base)
    for k in range(len(program.axes) - 1):
        low, high = _range(program, factors, rows, k)
        if low < LOWEST or high > HIGHEST:
            return False
        start, end = program.messages[k], program.messages[k + 1]
        card = program.axis_cards[program.axes[k + 1] - 1]
        size = (end - start) * card
        count = _lay_out(program, factors, patterns, rows, k, size, n)
        static = patterns.static[patterns.cells[k] :]
        for c in range(end - start):
            message = rows.pool[start + c]
            _product(message, static[c * card], rows, count, size, c * card, n)
            for level in range(1, card):
                j = c * card + level
                _product(out, static[j], rows, count, size, j, n)
                for b in range(n):
                    message[b] += out[b]
        if low < -_NEAR or high + card > _NEAR:
            _scale(rows, k, start, end, n, log_z[first:last])
        else:
            rows.is_scaled[k], rows.low[k], rows.high[k] = False, low, high + card
        if end - start == 1 and program.axes[k + 1] - program.axes[k] == 1:
            if held_low + rows.low[k] < LOWEST or held_high + rows.high[k] > -LOWEST:
                for b in range(n):
                    log_z[first + b] += np.log(product[b])
                    product[b] = 1.0
                held_low, held_high = 0.0, 0.0
            message = rows.pool[start]
            for b in range(n):
                product[b] *= message[b]
            held_low, held_high = held_low + rows.low[k], held_high + rows.high[k]
    for b in range(n):
        log_z[first + b] += np.log(product[b])
    return True


@serial
def _extremes(rows, start, end, n):  # type: ignore[no-untyped-def]
    """Largest entry of some rows, and the smallest that is not zero; pattern by pattern first, which vectorises."""
    tops, bottoms = rows.row, rows.bottom
    tops[:n] = 0.0
    bottoms[:n] = np.inf
    for e in range(start, end):
        row = rows.pool[e]
        for b in range(n):
            tops[b] = max(tops[b], row[b])
            bottoms[b] = min(bottoms[b], row[b] if row[b] > 0.0 else np.inf)
    return tops[:n].max(), bottoms[:n].min()


@inlined
def _scale(rows, k, start, end, n, log_z):  # type: ignore[no-untyped-def]
    """Note the range of a message, and take a scale out of every pattern's when it has moved far from 1."""
    high, least = _extremes(rows, start, end, n)
    rows.is_scaled[k], rows.low[k], rows.high[k] = False, 0.0, 0.0
    if high == 0.0:
        return
    rows.low[k], rows.high[k] = np.log(least), np.log(high)
    if rows.low[k] > -_NEAR and rows.high[k] < _NEAR:
        return
    rows.is_scaled[k] = True
    inverse = rows.inverse[k]
    inverse[:n] = 0.0
    for e in range(start, end):
        row = rows.pool[e]
        for b in range(n):
            inverse[b] = max(inverse[b], row[b])
    for b in range(n):
        top = inverse[b] if inverse[b] > 0.0 else 1.0
        inverse[b] = 1.0 / top
        log_z[b] += np.log(top)
    for e in range(start, end):
        row = rows.pool[e]
        for b in range(n):
            row[b] *= inverse[b]
    high, least = _extremes(rows, start, end, n)
    rows.low[k], rows.high[k] = np.log(least), 0.0


@serial
def _backward(program, factors, patterns, rows, first, last, marginals, tables, expected):  # type: ignore[no-untyped-def]
    """Marginals of a chunk after its forward sweep; messages become outside weights."""
    n, p = last - first, rows.row
    levels, totals = np.empty((program.axis_cards.max(), len(p))), np.empty(len(rows.places))
    for k in range(len(program.axes) - 2, -1, -1):
        start, end = program.messages[k], program.messages[k + 1]
        card, v = program.axis_cards[program.axes[k + 1] - 1], program.axis_variables[program.axes[k + 1] - 1]
        size = (end - start) * card
        count = _lay_out(program, factors, patterns, rows, k, size, n)
        if program.axes[k + 1] - program.axes[k] == 1:
            _invert(rows.pool[start], n)
        rows.scratch[: rows.lengths[:count].sum()] = 0.0
        levels[:card] = 0.0
        for j in range(size):
            _product(p, patterns.static[patterns.cells[k] + j], rows, count, size, j, n)
            outside, level = rows.pool[start + j // card], levels[j % card]
            if rows.is_scaled[k]:
                inverse = rows.inverse[k]
                for b in range(n):
                    p[b] *= outside[b] * inverse[b]
            else:
                for b in range(n):
                    p[b] *= outside[b]
            for b in range(n):
                level[b] += p[b]
            held = 0
            for o in range(count):
                back = rows.scratch[held + np.int64(rows.places[o * size + j]) - rows.starts[o]]
                for b in range(n):
                    back[b] += p[b]
                held += rows.lengths[o]
            if len(expected):
                total = 0.0
                for b in range(n):
                    total += patterns.weights[first + b] * p[b]
                totals[j] = total
            if len(tables):
                _add_static(program, patterns, k, j, first, n, p, tables)
        if len(marginals):
            for x in range(card):
                for b in range(n):
                    marginals[first + b, factors.levels[v] + x] = levels[x, b]
        _turn(program, patterns, rows, k, count, first, n, tables, expected)
        if len(expected):
            _expect_static(program, patterns, rows, k, size, totals, expected)


@serial
def _turn(program, patterns, rows, k, count, first, n, tables, expected):  # type: ignore[no-untyped-def]
    """Messages become outside weights ``p / m``; the marginals of moving factors go to their entries."""
    held, used = 0, 0
    for o in range(count):
        i = rows.which[o]
        for e in range(rows.lengths[o]):
            back = rows.scratch[held + e]
            if i >= 0 and program.sources[i] < 0:
                row = rows.pool[rows.starts[o] + e]
                for b in range(n):
                    row[b] = back[b] / row[b] if row[b] > 0.0 else 0.0
            elif i >= 0:
                offset = np.int64(rows.offsets[used + e])
                _put(back, rows.base[patterns.moving[program.sources[i]]], offset, patterns, first, n, tables, expected)
            elif len(expected) or len(tables):
                for other in range(program.inputs[k], program.inputs[k + 1]):
                    f = program.sources[other]
                    if f >= 0 and patterns.moving[f] >= 0 and _is_lone(program, k, other):
                        offset = e * program.strides[program.stride_starts[other + 1] - 1]
                        _put(back, rows.base[patterns.moving[f]], offset, patterns, first, n, tables, expected)
        held += rows.lengths[o]
        used += rows.lengths[o] if i >= 0 and program.sources[i] >= 0 else 0


@serial
def _put(back, base, offset, patterns, first, n, tables, expected):  # type: ignore[no-untyped-def]
    """Add a row of probabilities to the entries of a moving factor."""
    if len(expected):
        for b in range(n):
            expected[base[b] + offset] += patterns.weights[first + b] * back[b]
    if len(tables):
        for b in range(n):
            tables[first + b, base[b] + offset] += back[b]


@serial
def _expect_static(program, patterns, rows, k, size, totals, expected):  # type: ignore[no-untyped-def]
    """Add weighted probabilities of table entries to the factors that are the same for all patterns."""
    for i in range(program.inputs[k], program.inputs[k + 1]):
        f = program.sources[i]
        if f >= 0 and patterns.moving[f] < 0:
            spread(rows.places, program, k, i, 0)
            for j in range(size):
                expected[patterns.table_starts[f] + np.int64(rows.places[j])] += totals[j]


@serial
def _add_static(program, patterns, k, j, first, n, p, tables):  # type: ignore[no-untyped-def]
    """Add the probabilities of one table entry to the factors that are the same for all patterns."""
    for i in range(program.inputs[k], program.inputs[k + 1]):
        f = program.sources[i]
        if f < 0 or patterns.moving[f] >= 0:
            continue
        place, rest = patterns.table_starts[f], j
        for a in range(program.axes[k + 1] - 1, program.axes[k] - 1, -1):
            place += (rest % program.axis_cards[a]) * program.strides[program.stride_starts[i] + a - program.axes[k]]
            rest //= program.axis_cards[a]
        for b in range(n):
            tables[first + b, place] += p[b]


@serial
def _invert(row, n):  # type: ignore[no-untyped-def]
    for b in range(n):
        row[b] = 1.0 / row[b] if row[b] > 0.0 else 0.0


@serial
def add_constants(alone, patterns, logs, log_z, tables, expected, undone):  # type: ignore[no-untyped-def]
    """Add what factors contribute all of whose variables are clamped, pattern by pattern."""
    for i in range(len(log_z)):
        for o in range(len(alone)):
            place = patterns.table_starts[alone[o]]
            for e in range(patterns.links[alone[o]], patterns.links[alone[o] + 1]):
                place += patterns.values[patterns.link_slots[e], i] * patterns.link_strides[e]
            log_z[i] += logs[place]
            if len(expected) and not undone[i]:
                expected[place] += patterns.weights[i]
            if len(tables):
                tables[i, place] = 1.0
