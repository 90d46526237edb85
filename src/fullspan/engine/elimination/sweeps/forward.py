"""The forward sweep: variables are summed out (or maximised over) one after the other.

    m_k(x_S) = sum_v prod of the factors and messages that contain v          log Z = sum of the scales

A message is stored with its scale; see ``tables``. Tables of many blocks use all cores.

States from the messages of a forward sweep: the most probable one, or exact samples.

Backwards through the order each variable is chosen given those chosen before,

    p(x_v | x_S)  proportional to the product of the factors and messages that contain v,

so nothing but the messages is needed. Samples are independent and run on all cores.
"""

from __future__ import annotations

import numpy as np

from fullspan.engine.elimination.sweeps.blocks import blocks_of, fill_block
from fullspan.engine.elimination.sweeps.tables import HIGHEST, LOWEST, enter, inner_axes, input_range, offset
from fullspan.model.algebra.jit import inlined, parallel, prange, serial

_PARALLEL_BLOCKS = 32
"""Blocks from which on several cores are worth waking."""
_LANES = 64
_NEAR_LOG = 30.0
"""Messages that are known to be within exp(+-30) keep their numbers as they are; so do long ones whose top is."""


@serial
def forward(program, factors, messages, maximise):  # type: ignore[no-untyped-def]
    """Fill in all messages; ``maximise`` takes maxima instead of sums, always with logarithms."""
    index = np.empty(max(1024, program.axis_cards.max() if len(program.axis_cards) else 1), dtype=np.uint64)
    inner, table = np.empty(len(index)), np.empty(len(index))
    for k in range(len(program.axes) - 1):
        first, size, number = inner_axes(program, k)
        low, high = input_range(program, factors, messages, k)
        # Known before anything is multiplied: a product cannot leave the range if the sum of the bounds does not.
        in_logs = maximise or low < LOWEST or high > HIGHEST
        messages.in_logs[k] = in_logs
        enter(inner, size, program, factors, messages, k, first, index, in_logs)
        card = program.axis_cards[program.axes[k + 1] - 1]
        start, end = program.messages[k], program.messages[k + 1]
        if number == 1:
            _sum_out(inner, size, card, messages.pool, start, in_logs, maximise)
        else:
            blocks = blocks_of(program, factors, k, first, size, number, inner, in_logs)
            if number < _PARALLEL_BLOCKS:
                for b in range(number):
                    fill_block(table, program, factors, messages, k, blocks, b, in_logs)
                    _sum_out(table, size, card, messages.pool, start + b * (size // card), in_logs, maximise)
            else:
                _many_blocks(program, factors, messages, k, blocks, in_logs, maximise)
        # Most messages skip the pass that finds and takes out their scale. The last message of a component has its
        # scale taken out in any case: it is log Z.
        if in_logs or low < -_NEAR_LOG or high + card > _NEAR_LOG or program.axes[k + 1] - program.axes[k] == 1:
            _store(messages, k, start, end, in_logs, maximise)
        else:
            messages.is_log[k], messages.scale[k] = False, 0.0
            messages.low[k], messages.high[k] = low, high + card


@parallel
def _many_blocks(program, factors, messages, k, blocks, in_logs, maximise):  # type: ignore[no-untyped-def]
    card = program.axis_cards[program.axes[k + 1] - 1]
    for number in prange(blocks.number):
        b, table = np.int64(number), np.empty(blocks.size)
        fill_block(table, program, factors, messages, k, blocks, b, in_logs)
        start = program.messages[k] + b * (blocks.size // card)
        _sum_out(table, blocks.size, card, messages.pool, start, in_logs, maximise)


@serial
def _sum_out(table, size, card, pool, start, in_logs, maximise):  # type: ignore[no-untyped-def]
    """Sum a block over its fastest axis into the pool."""
    part = pool[start:]
    if in_logs:
        for c in range(size // card):
            row, top = table[c * card : (c + 1) * card], -np.inf
            for level in range(card):
                top = max(top, row[level])
            # A row without any possible state stays at -inf: exp(-inf + inf) would be NaN.
            if top > -np.inf and not maximise:
                total = 0.0
                for level in range(card):
                    total += np.exp(row[level] - top)
                top += np.log(total)
            part[c] = top
    elif card == 2:
        for c in range(size // 2):
            part[c] = table[np.uint64(2 * c)] + table[np.uint64(2 * c + 1)]
    else:
        for c in range(size // card):
            total = 0.0
            for level in range(card):
                total += table[np.uint64(c * card + level)]
            part[c] = total


@serial
def extremes(part, in_logs):  # type: ignore[no-untyped-def]
    """Smallest entry that is not zero (or its logarithm) and the largest, in lanes, which vectorises."""
    zero = -np.inf if in_logs else 0.0
    least, high, tail = np.inf, zero, 0
    if len(part) >= 4 * _LANES:
        bottoms, tops = np.full(_LANES, np.inf), np.full(_LANES, zero)
        tail = len(part) // _LANES * _LANES
        for start in range(0, tail, _LANES):
            row = part[start : start + _LANES]
            for j in range(_LANES):
                tops[j] = max(tops[j], row[j])
                bottoms[j] = min(bottoms[j], row[j] if row[j] > zero else np.inf)
        least, high = bottoms.min(), tops.max()
    for e in range(tail, len(part)):
        x = part[np.uint64(e)]
        high = max(high, x)
        least = min(least, x if x > zero else np.inf)
    return least, high


@inlined
def _store(messages, k, start, end, in_logs, maximise):  # type: ignore[no-untyped-def]
    """Take the scale out of a message and note its range; logarithms of a moderate range become numbers."""
    pool = messages.pool[start:end]
    messages.is_log[k] = False
    # Of an empty message: bounds of -inf would send all steps above it to logarithms.
    messages.low[k], messages.high[k] = 0.0, 0.0
    least, high = extremes(pool, in_logs)
    if high == (-np.inf if in_logs else 0.0):
        messages.scale[k] = -np.inf
        messages.is_log[k] = in_logs
        return
    if in_logs:
        for e in range(len(pool)):
            pool[e] -= high
        messages.scale[k], messages.low[k] = high, least - high
        messages.is_log[k] = maximise or least - high < LOWEST
        if not messages.is_log[k]:
            for e in range(len(pool)):
                pool[e] = np.exp(pool[e])
        return
    log_high = np.log(high)
    # Dividing a long message would cost another pass over memory; its range is known now, which is all that is needed.
    if len(pool) > 1024 and abs(log_high) < _NEAR_LOG:
        messages.scale[k], messages.low[k], messages.high[k] = 0.0, np.log(least), log_high
        return
    for e in range(len(pool)):
        pool[e] /= high
    messages.scale[k], messages.low[k] = log_high, np.log(least) - log_high if len(pool) > 1 else 0.0


@serial
def drawn(begin, end, program, factors, messages, states, uniforms):  # type: ignore[no-untyped-def]
    """Fill in the free variables of states (s, n), drawn by uniform numbers (s, m)."""
    most = program.axis_cards.max() if len(program.axis_cards) else 1
    for s in range(begin, end):
        weights = np.empty(most)
        for k in range(len(program.axes) - 2, -1, -1):
            v, card = _weights(program, factors, messages, states[s], k, weights, messages.in_logs[k], False)
            states[s, v] = _pick(weights, card, uniforms[s, k])


@serial
def most_probable(program, factors, messages, state):  # type: ignore[no-untyped-def]
    """Fill in the free variables of one state after a forward sweep of maxima; ties go to the lowest level."""
    weights = np.empty(program.axis_cards.max() if len(program.axis_cards) else 1)
    for k in range(len(program.axes) - 2, -1, -1):
        v, card = _weights(program, factors, messages, state, k, weights, True, True)
        state[v] = np.argmax(weights[:card])


@inlined
def _weights(program, factors, messages, state, k, weights, in_logs, as_logs):  # type: ignore[no-untyped-def]
    """Weights of the levels of step k's variable, given the later ones; their logarithms if ``as_logs``."""
    start, end = program.axes[k], program.axes[k + 1]
    v, card = program.axis_variables[end - 1], program.axis_cards[end - 1]
    for level in range(card):
        allowed = factors.mask[factors.levels[v] + level]
        weights[level] = (0.0 if allowed else -np.inf) if in_logs else allowed
    for i in range(program.inputs[k], program.inputs[k + 1]):
        at, source = program.stride_starts[i], program.sources[i]
        place = offset(program, factors, i)
        for a in range(end - 1 - start):
            place += program.strides[at + a] * state[program.axis_variables[start + a]]
        stride = program.strides[at + end - 1 - start]
        is_log = factors.is_log[source] if source >= 0 else messages.is_log[-1 - source]
        array = factors.values if source >= 0 else messages.pool
        for level in range(card):
            x = array[place + level * stride]
            if in_logs:
                weights[level] += x if is_log else np.log(x)
            else:
                weights[level] *= x
    if in_logs and not as_logs:
        top = weights[:card].max()
        for level in range(card):
            weights[level] = np.exp(weights[level] - top)
    return v, card


@inlined
def _pick(weights, card, uniform):  # type: ignore[no-untyped-def]
    """A level with probability proportional to its weight; never one of weight 0."""
    total, last = 0.0, 0
    for level in range(card):
        total += weights[level]
        if weights[level] > 0.0:
            last = level
    target, below = uniform * total, 0.0
    # Up to the last level with a weight, which takes the rest: rounding must never draw one of weight 0.
    for level in range(last):
        below += weights[level]
        if target < below:
            return level
    return last
