"""The backward sweep over a chunk of clamped patterns: marginals of variables and factors of each."""

from __future__ import annotations

import numpy as np

from fullspan.engine.elimination.sweeps.pattern_rows import gather, product_row
from fullspan.engine.elimination.sweeps.slices import is_lone
from fullspan.engine.elimination.sweeps.tables import spread
from fullspan.model.algebra.jit import serial


@serial
def backward_chunk(program, factors, slices, patterns, rows, first, last, marginals, expected):  # type: ignore[no-untyped-def]
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
        gather(program, factors, slices, patterns, rows, k, first, n)
        static, places = patterns.static[slices.cells[k] :], slices.places[slices.place_starts[k] :]
        if program.axes[k + 1] - program.axes[k] == 1:
            _invert(rows.pool[start], n)
        rows.scratch[: slices.lengths[slices.inputs[k] : slices.inputs[k + 1]].sum()] = 0.0
        levels[:card] = 0.0
        for j in range(size):
            product_row(p, static[j], rows.pool, places, count, size, j, n)
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
        if len(marginals):
            for x in range(card):
                for b in range(n):
                    marginals[first + b, factors.levels[v] + x] = levels[x, b]
        _turn(program, slices, patterns, rows, k, first, n, expected)
        if len(expected):
            _expect_static(program, slices, patterns, k, size, index, totals, expected)


@serial
def _turn(program, slices, patterns, rows, k, first, n, expected):  # type: ignore[no-untyped-def]
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
                _put(back, rows.base[slices.moving[program.sources[i]]], shift, patterns, first, n, expected)
            elif len(expected):
                for other in range(program.inputs[k], program.inputs[k + 1]):
                    f = program.sources[other]
                    if f >= 0 and slices.moving[f] >= 0 and is_lone(program, k, other):
                        shift = e * program.strides[program.stride_starts[other + 1] - 1]
                        _put(back, rows.base[slices.moving[f]], shift, patterns, first, n, expected)
        held += slices.lengths[o]


@serial
def _put(back, base, offset, patterns, first, n, expected):  # type: ignore[no-untyped-def]
    """Add a row of probabilities to the entries of a moving factor."""
    if len(expected):
        for b in range(n):
            expected[base[b] + offset] += patterns.weights[first + b] * back[b]


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
def _invert(row, n):  # type: ignore[no-untyped-def]
    for b in range(n):
        row[b] = 1.0 / row[b] if row[b] > 0.0 else 0.0
