"""The forward sweep: variables are summed out (or maximised over) one after the other.

    m_k(x_S) = sum_v prod of the factors and messages that contain v          log Z = sum of the scales

A message is stored with its scale; see :mod:`fullspan.engine.tables`. Tables of many blocks use all cores.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from fullspan.algebra.jit import parallel, serial
from fullspan.engine.tables import LOWEST, enter, fill_block, inner_axes, needs_logs, outer_inputs

_MANY = 32
"""Blocks from which on several cores are worth waking."""
_NEAR = 30.0
"""Messages whose largest entry is within exp(+-30) keep their numbers as they are, if they are long."""


@serial
def forward(program, factors, messages, maximise):  # type: ignore[no-untyped-def]
    """Fill in all messages; ``maximise`` takes maxima instead of sums, always with logarithms."""
    index = np.empty(max(1024, program.axis_cards.max() if len(program.axis_cards) else 1), dtype=np.int64)
    inner, table = np.empty(len(index)), np.empty(len(index))
    for k in range(len(program.axes) - 1):
        first, size, blocks = inner_axes(program, k)
        in_logs = maximise or needs_logs(program, factors, messages, k)
        messages.in_logs[k] = in_logs
        enter(inner, size, program, factors, messages, k, first, index, in_logs)
        card = program.axis_cards[program.axes[k + 1] - 1]
        start, end = program.messages[k], program.messages[k + 1]
        if blocks == 1:
            _sum_out(inner, size, card, messages.pool, start, in_logs, maximise)
        else:
            outer = outer_inputs(program, k, first, size)
            if blocks < _MANY:
                for b in range(blocks):
                    fill_block(table, size, inner, program, factors, messages, k, first, b, outer, in_logs)
                    _sum_out(table, size, card, messages.pool, start + b * (size // card), in_logs, maximise)
            else:
                _many_blocks(inner, size, blocks, program, factors, messages, k, first, outer, in_logs, maximise)
        _store(messages, k, start, end, in_logs, maximise)


@parallel
def _many_blocks(inner, size, blocks, program, factors, messages, k, first, outer, in_logs, maximise):  # type: ignore[no-untyped-def]
    card = program.axis_cards[program.axes[k + 1] - 1]
    start = program.messages[k]
    for number in prange(blocks):
        b, table = np.int64(number), np.empty(size)
        fill_block(table, size, inner, program, factors, messages, k, first, b, outer, in_logs)
        _sum_out(table, size, card, messages.pool, start + b * (size // card), in_logs, maximise)


@serial
def _sum_out(table, size, card, pool, start, in_logs, maximise):  # type: ignore[no-untyped-def]
    """Sum a block over its fastest axis into the pool."""
    if in_logs:
        for c in range(size // card):
            top = -np.inf
            for level in range(card):
                top = max(top, table[c * card + level])
            if top > -np.inf and not maximise:
                total = 0.0
                for level in range(card):
                    total += np.exp(table[c * card + level] - top)
                top += np.log(total)
            pool[start + c] = top
    elif card == 2:
        for c in range(size // 2):
            pool[start + c] = table[2 * c] + table[2 * c + 1]
    else:
        for c in range(size // card):
            total = 0.0
            for level in range(card):
                total += table[c * card + level]
            pool[start + c] = total


@serial
def _store(messages, k, start, end, in_logs, maximise):  # type: ignore[no-untyped-def]
    """Take the scale out of a message and note its range; logarithms of a moderate range become numbers."""
    pool = messages.pool
    messages.is_log[k] = False
    messages.low[k], messages.high[k] = 0.0, 0.0
    high = -np.inf
    for e in range(start, end):
        high = max(high, pool[e])
    if high == (-np.inf if in_logs else 0.0):
        messages.scale[k] = -np.inf
        messages.is_log[k] = in_logs
        return
    least = np.inf
    if in_logs:
        for e in range(start, end):
            pool[e] -= high
            if pool[e] > -np.inf:
                least = min(least, pool[e])
        messages.scale[k], messages.low[k] = high, least
        messages.is_log[k] = maximise or least < LOWEST
        if not messages.is_log[k]:
            for e in range(start, end):
                pool[e] = np.exp(pool[e])
        return
    for e in range(start, end):
        x = pool[e]
        least = min(least, x if x > 0.0 else np.inf)
    log_high = np.log(high)
    if end - start > 1024 and abs(log_high) < _NEAR:
        messages.scale[k], messages.low[k], messages.high[k] = 0.0, np.log(least), log_high
        return
    for e in range(start, end):
        pool[e] /= high
    messages.scale[k], messages.low[k] = log_high, np.log(least) - log_high if end - start > 1 else 0.0
