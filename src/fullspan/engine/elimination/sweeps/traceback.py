"""States from the messages of a forward sweep: the most probable one, or exact samples.

Backwards through the order each variable is chosen given those chosen before,

    p(x_v | x_S)  proportional to the product of the factors and messages that contain v,

so nothing but the messages is needed. Samples are independent and run on all cores.
"""

from __future__ import annotations

import numpy as np

from fullspan.engine.elimination.sweeps.tables import offset
from fullspan.model.algebra.jit import inlined, parallel, prange, serial


@parallel
def drawn(program, factors, messages, states, uniforms):  # type: ignore[no-untyped-def]
    """Fill in the free variables of states (s, n), drawn by uniform numbers (s, m)."""
    most = program.axis_cards.max() if len(program.axis_cards) else 1
    for s in prange(len(states)):
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
    for level in range(last):
        below += weights[level]
        if target < below:
            return level
    return last
