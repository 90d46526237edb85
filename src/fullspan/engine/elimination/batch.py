"""Sweeps over many clamped patterns at once: one program, a row of patterns under every table entry.

Factors without a clamped variable are the same for all patterns and are multiplied once. Every other number is a row of
as many patterns as are worked on together; the innermost loops run along rows. Chunks of patterns are shared out to the
cores, each of which keeps one set of messages, so memory does not grow with the number of patterns.

Numbers carry a scale as in ``tables``. A chunk in which a product might leave the range of double
precision is given back undone, for the sweeps that can work with logarithms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from fullspan.algebra.jit import inlined, parallel, serial
from fullspan.engine.elimination.slices import is_lone
from fullspan.engine.elimination.tables import HIGHEST, LOWEST, Floats, Ints, spread

_NEAR = 30.0
"""Messages within exp(+-30) keep their numbers as they are."""


class Patterns(NamedTuple):
    """What the patterns change.

    Attributes
    ----------
    links, link_slots, link_strides : for factor f at ``links[f] : links[f + 1]``, its clamped variables, numbered as
        the rows of ``values``, and the steps of their digits.
    table_starts : first entry of each factor.
    values : (clamped, N) codes.
    weights : (N,) weight of each pattern in the expected tables.
    static : products of the factors that do not move, over the tables of all steps.
    """

    links: Ints
    link_slots: Ints
    link_strides: Ints
    table_starts: Ints
    values: Ints
    weights: Floats
    static: Floats


class Rows(NamedTuple):
    """Space of one core: a row of patterns for every message entry, then for the slices of the current step.

    ``base`` holds the first entry of each moving factor for each pattern, ``inverse`` what messages were multiplied
    with where ``is_scaled``, ``low`` and ``high`` bounds of their logarithms.
    """

    pool: Floats
    scratch: Floats
    base: Ints
    low: Floats
    high: Floats
    is_scaled: NDArray[np.bool_]
    inverse: Floats
    row: Floats
    bottom: Floats
    product: Floats


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
                for j in range(len(part)):
                    part[j] *= entries[index[j]]
    return static


@parallel
def swept(program, factors, slices, patterns, chunk, cores, log_z, marginals, tables, expected):  # type: ignore[no-untyped-def]
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
        rows = _space(program, slices, chunk)
        for c in range(core, chunks, cores):
            first = np.int64(c) * chunk
            last = min(first + chunk, n)
            undone[c] = not _forward(program, factors, slices, patterns, rows, first, last, log_z)
            if not undone[c] and (len(marginals) or len(tables) or expected.shape[1]):
                _backward(program, factors, slices, patterns, rows, first, last, marginals, tables, expected[core])
    return undone


@serial
def _space(program, slices, chunk):  # type: ignore[no-untyped-def]
    m = len(program.axes) - 1
    return Rows(
        np.empty((slices.n_rows, chunk)),
        np.empty((slices.n_scratch, chunk)),
        np.empty((slices.moving.max() + 1 if len(slices.moving) else 0, chunk), dtype=np.int64),
        np.zeros(m),
        np.zeros(m),
        np.zeros(m, dtype=np.bool_),
        np.empty((m, chunk)),
        np.empty(chunk),
        np.empty(chunk),
        np.empty(chunk),
    )


@serial
def _bases(slices, patterns, first, last, base):  # type: ignore[no-untyped-def]
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
def _gather(program, factors, slices, rows, k, n):  # type: ignore[no-untyped-def]
    """Fill in the slices of a step, those that keep only the summed variable multiplied together."""
    axis, again = program.axes[k + 1] - program.axes[k] - 1, False
    for i in range(program.inputs[k], program.inputs[k + 1]):
        f = program.sources[i]
        if f >= 0 and slices.moving[f] >= 0 and is_lone(program, k, i):
            base, stride = rows.base[slices.moving[f]], program.strides[program.stride_starts[i] + axis]
            start = slices.rows[slices.inputs[k]]
            for level in range(program.axis_cards[program.axes[k] + axis]):
                _take(rows.pool[start + level], factors.values, base, np.uint64(level * stride), n, again)
            again = True
    for o in range(slices.inputs[k], slices.inputs[k + 1]):
        if slices.which[o] >= 0 and program.sources[slices.which[o]] >= 0:
            base = rows.base[slices.moving[program.sources[slices.which[o]]]]
            for e in range(slices.lengths[o]):
                shift = slices.offsets[slices.offset_starts[o] + e]
                _take(rows.pool[slices.rows[o] + e], factors.values, base, shift, n, False)


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
def _product(out, weight, pool, places, count, size, j, n):  # type: ignore[no-untyped-def]
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
def _range(program, factors, rows, k):  # type: ignore[no-untyped-def]
    """Bounds of the logarithm of the product of a step's inputs, zeros left out."""
    low, high = 0.0, 0.0
    for i in range(program.inputs[k], program.inputs[k + 1]):
        f = program.sources[i]
        low += factors.low[f] if f >= 0 else rows.low[-1 - f]
        high += 0.0 if f >= 0 else rows.high[-1 - f]
    return low, high


@serial
def _forward(program, factors, slices, patterns, rows, first, last, log_z):  # type: ignore[no-untyped-def]
    """log Z of a chunk; False where its numbers are too far apart."""
    n, held_low, held_high = last - first, 0.0, 0.0
    product, out = rows.product, rows.row
    product[:n] = 1.0
    log_z[first:last] = 0.0
    _bases(slices, patterns, first, last, rows.base)
    for k in range(len(program.axes) - 1):
        low, high = _range(program, factors, rows, k)
        if low < LOWEST or high > HIGHEST:
            return False
        start, end = program.messages[k], program.messages[k + 1]
        card = program.axis_cards[program.axes[k + 1] - 1]
        size, count = (end - start) * card, slices.inputs[k + 1] - slices.inputs[k]
        _gather(program, factors, slices, rows, k, n)
        static, places = patterns.static[slices.cells[k] :], slices.places[slices.place_starts[k] :]
        for c in range(end - start):
            message = rows.pool[start + c]
            _product(message, static[c * card], rows.pool, places, count, size, c * card, n)
            for level in range(1, card):
                j = c * card + level
                _product(out, static[j], rows.pool, places, count, size, j, n)
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
def _backward(program, factors, slices, patterns, rows, first, last, marginals, tables, expected):  # type: ignore[no-untyped-def]
    """Marginals of a chunk after its forward sweep; messages become outside weights."""
    n, p = last - first, rows.row
    largest = 1
    for k in range(len(program.axes) - 1):
        largest = max(largest, slices.cells[k + 1] - slices.cells[k])
    levels, totals = np.empty((program.axis_cards.max(), len(p))), np.empty(largest)
    index = np.empty(largest, dtype=np.uint64)
    for k in range(len(program.axes) - 2, -1, -1):
        start, end = program.messages[k], program.messages[k + 1]
        card, v = program.axis_cards[program.axes[k + 1] - 1], program.axis_variables[program.axes[k + 1] - 1]
        size, count = (end - start) * card, slices.inputs[k + 1] - slices.inputs[k]
        _gather(program, factors, slices, rows, k, n)
        static, places = patterns.static[slices.cells[k] :], slices.places[slices.place_starts[k] :]
        if program.axes[k + 1] - program.axes[k] == 1:
            _invert(rows.pool[start], n)
        rows.scratch[: slices.lengths[slices.inputs[k] : slices.inputs[k + 1]].sum()] = 0.0
        levels[:card] = 0.0
        for j in range(size):
            _product(p, static[j], rows.pool, places, count, size, j, n)
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
                back = rows.scratch[held + np.int64(places[o * size + j]) - slices.rows[slices.inputs[k] + o]]
                for b in range(n):
                    back[b] += p[b]
                held += slices.lengths[slices.inputs[k] + o]
            if len(expected):
                total = 0.0
                for b in range(n):
                    total += patterns.weights[first + b] * p[b]
                totals[j] = total
            if len(tables):
                _add_static(program, slices, patterns, k, j, first, n, p, tables)
        if len(marginals):
            for x in range(card):
                for b in range(n):
                    marginals[first + b, factors.levels[v] + x] = levels[x, b]
        _turn(program, slices, patterns, rows, k, first, n, tables, expected)
        if len(expected):
            _expect_static(program, slices, patterns, k, size, index, totals, expected)


@serial
def _turn(program, slices, patterns, rows, k, first, n, tables, expected):  # type: ignore[no-untyped-def]
    """Messages become outside weights ``p / m``; the marginals of moving factors go to their entries."""
    held = 0
    for o in range(slices.inputs[k], slices.inputs[k + 1]):
        i = slices.which[o]
        for e in range(slices.lengths[o]):
            back = rows.scratch[held + e]
            if i >= 0 and program.sources[i] < 0:
                row = rows.pool[slices.rows[o] + e]
                for b in range(n):
                    row[b] = back[b] / row[b] if row[b] > 0.0 else 0.0
            elif i >= 0:
                shift = np.int64(slices.offsets[slices.offset_starts[o] + e])
                _put(back, rows.base[slices.moving[program.sources[i]]], shift, patterns, first, n, tables, expected)
            elif len(expected) or len(tables):
                for other in range(program.inputs[k], program.inputs[k + 1]):
                    f = program.sources[other]
                    if f >= 0 and slices.moving[f] >= 0 and is_lone(program, k, other):
                        shift = e * program.strides[program.stride_starts[other + 1] - 1]
                        _put(back, rows.base[slices.moving[f]], shift, patterns, first, n, tables, expected)
        held += slices.lengths[o]


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
def _expect_static(program, slices, patterns, k, size, index, totals, expected):  # type: ignore[no-untyped-def]
    """Add weighted probabilities of table entries to the factors that are the same for all patterns."""
    for i in range(program.inputs[k], program.inputs[k + 1]):
        f = program.sources[i]
        if f >= 0 and slices.moving[f] < 0:
            spread(index, program, k, i, 0)
            start = np.uint64(patterns.table_starts[f])
            for j in range(size):
                expected[start + index[j]] += totals[j]


@serial
def _add_static(program, slices, patterns, k, j, first, n, p, tables):  # type: ignore[no-untyped-def]
    """Add the probabilities of one table entry to the factors that are the same for all patterns."""
    for i in range(program.inputs[k], program.inputs[k + 1]):
        f = program.sources[i]
        if f < 0 or slices.moving[f] >= 0:
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
