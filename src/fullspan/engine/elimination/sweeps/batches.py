"""Forward sweeps over many clamped patterns at once, log Z of each: a row of patterns under every table entry.

Chunks of patterns are shared out to the cores, each of which keeps one set of messages, so memory does not grow with
the number of patterns. Numbers carry a scale as in ``tables``. A chunk in which a product might leave the range of
double precision is given back undone, for the sweeps that can work with logarithms.
"""

from __future__ import annotations

import numpy as np

from fullspan.engine.elimination.sweeps.pattern_rows import bases, gather, product_range, product_row, space
from fullspan.engine.elimination.sweeps.tables import HIGHEST, LOWEST
from fullspan.model.algebra.jit import inlined, serial

_NEAR_LOG = 30.0
"""Messages within exp(+-30) keep their numbers as they are."""


@serial
def forward_chunk(program, factors, slices, patterns, rows, first, last, log_z):  # type: ignore[no-untyped-def]
    """log Z of a chunk; False where its numbers are too far apart."""
    n, held_low, held_high, product = last - first, 0.0, 0.0, rows.product
    product[:n] = 1.0
    log_z[first:last] = 0.0
    bases(slices, patterns, first, last, rows.base)
    for k in range(len(program.axes) - 1):
        low, high = product_range(program, factors, rows, k)
        # Bounds over all patterns of the chunk: one pattern that is far off sends the whole chunk to the careful
        # sweeps.
        if low < LOWEST or high > HIGHEST:
            return False
        start, end = program.messages[k], program.messages[k + 1]
        card = program.axis_cards[program.axes[k + 1] - 1]
        gather(program, factors, slices, patterns, rows, k, first, n)
        static, places = patterns.static[slices.cells[k] :], slices.places[slices.place_starts[k] :]
        _sum_out(rows, static, places, slices.inputs[k + 1] - slices.inputs[k], start, end - start, card, n)
        if low < -_NEAR_LOG or high + card > _NEAR_LOG:
            _scale(rows, k, start, end, n, log_z[first:last])
        else:
            # A sum of `card` numbers up to exp(high) is at most card exp(high), whose log is below high + card.
            rows.low[k], rows.high[k] = low, high + card
        if end - start == 1 and program.axes[k + 1] - program.axes[k] == 1:
            # A component is done. Its Z is multiplied in while that is safe: one logarithm serves several components.
            # A product over components may be held back only as long as it stays inside double precision.
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


@inlined
def _sum_out(rows, static, places, count, start, length, card, n):  # type: ignore[no-untyped-def]
    """The message of a step: for each of its entries, the products of the inputs summed over the step's variable."""
    # Taken out once: an array read from a tuple inside a loop has its references counted each time.
    size, pool, out, work = length * card, rows.pool, rows.row, rows.pair
    for c in range(length):
        if card == 2:
            _sum_of_two(pool[start + c], static, pool, places, count, size, 2 * c, n, work)
            continue
        message = pool[start + c]
        product_row(message, static[c * card], pool, places, count, size, c * card, n)
        for level in range(1, card):
            j = c * card + level
            product_row(out, static[j], pool, places, count, size, j, n)
            for b in range(n):
                message[b] += out[b]


@inlined
def _sum_of_two(message, static, pool, places, count, size, j, n, work):  # type: ignore[no-untyped-def]
    """The sum of two neighbouring table entries, in one loop where up to two inputs differ between patterns."""
    w0, w1 = static[j], static[j + 1]
    if count == 0:
        for b in range(n):
            message[b] = w0 + w1
    elif count == 1:
        a0, a1 = pool[places[j]], pool[places[j + 1]]
        for b in range(n):
            message[b] = w0 * a0[b] + w1 * a1[b]
    elif count == 2:
        a0, a1 = pool[places[j]], pool[places[j + 1]]
        b0, b1 = pool[places[size + j]], pool[places[size + j + 1]]
        for b in range(n):
            message[b] = w0 * a0[b] * b0[b] + w1 * a1[b] * b1[b]
    else:
        first, second = pool[places[j]], pool[places[j + 1]]
        # More than two inputs: the ones before the last are multiplied up in work rows, so that no loop has more than
        # three streams.
        for o in range(1, count - 1):
            a0, a1 = pool[places[o * size + j]], pool[places[o * size + j + 1]]
            left, right = work[0], work[1]
            for b in range(n):
                left[b] = first[b] * a0[b]
            for b in range(n):
                right[b] = second[b] * a1[b]
            first, second = left, right
        a0, a1 = pool[places[(count - 1) * size + j]], pool[places[(count - 1) * size + j + 1]]
        for b in range(n):
            message[b] = w0 * first[b] * a0[b] + w1 * second[b] * a1[b]


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
    rows.low[k], rows.high[k] = 0.0, 0.0
    if high == 0.0:
        return
    rows.low[k], rows.high[k] = np.log(least), np.log(high)
    if rows.low[k] > -_NEAR_LOG and rows.high[k] < _NEAR_LOG:
        return
    inverse = rows.inverse
    inverse[:n] = 0.0
    for e in range(start, end):
        row = rows.pool[e]
        for b in range(n):
            inverse[b] = max(inverse[b], row[b])
    for b in range(n):
        # A pattern without any possible state has no scale; its zeros stay, and its log Z becomes -inf.
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
def swept(begin, end, program, factors, slices, patterns, chunk, cores, log_z, undone):  # type: ignore[no-untyped-def]
    """log Z of the patterns of cores ``begin`` to ``end``, each of which takes every ``cores``-th chunk.

    Parameters
    ----------
    chunk, cores : patterns worked on together, and the most chunks at a time.
    log_z : (N,) filled in, without the tops of the factors and factors all of whose variables are clamped.
    undone : (chunks,) filled in, whether a chunk was left out because its numbers are too far apart.
    """
    n = len(log_z)
    for core in range(begin, end):
        rows = space(program, slices, chunk)
        for c in range(core, len(undone), cores):
            first = c * chunk
            last = min(first + chunk, n)
            undone[c] = not forward_chunk(program, factors, slices, patterns, rows, first, last, log_z)


@serial
def add_constants(begin, end, alone, patterns, logs, chunk, log_z):  # type: ignore[no-untyped-def]
    """Add what factors contribute all of whose variables are clamped, factor by factor along chunks of patterns."""
    n = len(log_z)
    for c in range(begin, end):
        first = c * chunk
        last, place = min(first + chunk, n), np.empty(chunk, dtype=np.int64)
        for o in range(len(alone)):
            _places(alone[o], patterns, first, last, place)
            for b in range(last - first):
                log_z[first + b] += logs[place[b]]


@inlined
def _places(f, patterns, first, last, place):  # type: ignore[no-untyped-def]
    """The entry of a factor that each pattern clamps it to."""
    place[: last - first] = patterns.table_starts[f]
    for e in range(patterns.links[f], patterns.links[f + 1]):
        codes, stride = patterns.values[patterns.link_slots[e], first:last], patterns.link_strides[e]
        for b in range(last - first):
            place[b] += codes[b] * stride
