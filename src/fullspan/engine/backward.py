"""The backward sweep: the adjoint of log Z, which is every marginal.

With the outside weight ``r_k(x_S) = p(x_S) / m_k(x_S)`` of its message, a step's table becomes a distribution,

    p(x_S, x_v) = r_k(x_S) prod of the factors and messages that contain v,

and its sums over the other variables are ``d log Z / d g_f(x_f) = p(x_f)`` for each factor and ``p(x_S')`` for each
message that entered. Nothing is subtracted. A message is replaced by its outside weight once it has been used.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from fullspan.algebra.jit import parallel, serial
from fullspan.engine.tables import (
    enter,
    fill_block,
    inner_axes,
    is_spread_evenly,
    offset,
    outer_inputs,
    shifted,
    spread,
)

_MANY = 32
_TASKS = 64
_SMALL = 64
"""Parts of a factor, one per state of its slower axes, up to which its marginal is gathered per block entry."""


@serial
def backward(program, factors, messages, marginals, tables):  # type: ignore[no-untyped-def]
    """Marginals of variables, flat by ``factors.levels``, and of factors, flat as their tables; both start at zero.

    Messages are spoilt: each becomes its outside weight.
    """
    index = np.empty(max(1024, program.axis_cards.max() if len(program.axis_cards) else 1), dtype=np.int64)
    inner, table = np.empty(len(index)), np.empty(len(index))
    scratch = np.empty(program.scratch)
    for k in range(len(program.axes) - 2, -1, -1):
        start, end = program.messages[k], program.messages[k + 1]
        if program.axes[k + 1] - program.axes[k] == 1:
            messages.pool[start] = -messages.pool[start] if messages.is_log[k] else 1.0 / messages.pool[start]
        first, size, blocks = inner_axes(program, k)
        in_logs = messages.in_logs[k]
        enter(inner, size, program, factors, messages, k, first, index, in_logs)
        _clear(program, k, scratch)
        v = program.axis_variables[program.axes[k + 1] - 1]
        level = marginals[factors.levels[v] : factors.levels[v + 1]]
        if blocks == 1:
            _weigh(inner, size, len(level), messages, k, start, in_logs)
            _add_levels(inner, size, level)
            _flow_back(inner, size, program, factors, k, index, scratch, tables)
        else:
            outer = outer_inputs(program, k, first, size)
            _blocks(inner, table, size, blocks, program, factors, messages, k, first, outer, scratch, tables, level)
        _turn(program, messages, k, scratch)


@serial
def _clear(program, k, scratch):  # type: ignore[no-untyped-def]
    held = 0
    for i in range(program.inputs[k], program.inputs[k + 1]):
        if program.sources[i] < 0:
            child = -1 - program.sources[i]
            held += program.messages[child + 1] - program.messages[child]
    scratch[:held] = 0.0


@serial
def _weigh(table, size, card, messages, k, start, in_logs):  # type: ignore[no-untyped-def]
    """Multiply a block by the outside weights: it becomes a part of the distribution of the step's variables."""
    pool, unit = messages.pool, messages.scale[k] if in_logs else np.exp(-messages.scale[k])
    if in_logs:
        for c in range(size // card):
            weight = (pool[start + c] if messages.is_log[k] else np.log(pool[start + c])) - unit
            for level in range(card):
                x = table[c * card + level]
                table[c * card + level] = np.exp(x + weight) if x > -np.inf else 0.0
    elif card == 2:
        for c in range(size // 2):
            weight = pool[start + c] * unit
            table[2 * c] *= weight
            table[2 * c + 1] *= weight
    else:
        for c in range(size // card):
            weight = pool[start + c] * unit
            for level in range(card):
                table[c * card + level] *= weight


@serial
def _add_levels(table, size, level):  # type: ignore[no-untyped-def]
    """Marginal of the variable that was summed out."""
    card = len(level)
    if card == 2:
        zero, one = 0.0, 0.0
        for c in range(size // 2):
            zero += table[2 * c]
            one += table[2 * c + 1]
        level[0] += zero
        level[1] += one
        return
    for c in range(size // card):
        for x in range(card):
            level[x] += table[c * card + x]


@serial
def _flow_back(table, size, program, factors, k, index, scratch, tables):  # type: ignore[no-untyped-def]
    """Sum a table of one block into the marginals of all inputs."""
    held = 0
    for i in range(program.inputs[k], program.inputs[k + 1]):
        spread(index, program, k, i, 0)
        source = program.sources[i]
        if source >= 0:
            start = offset(program, factors, i)
            for j in range(size):
                tables[start + index[j]] += table[j]
        else:
            for j in range(size):
                scratch[held + index[j]] += table[j]
            held += program.messages[-source] - program.messages[-1 - source]


@serial
def _turn(program, messages, k, scratch):  # type: ignore[no-untyped-def]
    """Replace the messages that entered a step by their outside weights ``p / m``."""
    held, pool = 0, messages.pool
    for i in range(program.inputs[k], program.inputs[k + 1]):
        if program.sources[i] >= 0:
            continue
        child = -1 - program.sources[i]
        start, end = program.messages[child], program.messages[child + 1]
        for e in range(end - start):
            p, m = scratch[held + e], pool[start + e]
            if messages.is_log[child]:
                pool[start + e] = np.log(p) - m if p > 0.0 else -np.inf
            else:
                pool[start + e] = p / m if m > 0.0 else 0.0
        held += end - start


@serial
def _blocks(inner, table, size, blocks, program, factors, messages, k, first, outer, scratch, tables, level):  # type: ignore[no-untyped-def]
    """The same for a table of many blocks, in tasks that never write to the same place."""
    which, starts, directly, parts, held = _targets(program, k, first, size)
    shared, tasks = _split(program, k, first, blocks, which, directly)
    gathered = np.zeros((tasks, held + len(level)))
    if tasks > 1 and blocks >= _MANY:
        _tasks(inner, size, blocks, program, factors, messages, k, first, outer, scratch, tables,
               which, starts, directly, parts, shared, gathered)  # fmt: skip
    else:
        for t in range(tasks):
            _task(t, inner, table, size, blocks, program, factors, messages, k, first, outer, scratch, tables,
                  which, starts, directly, parts, shared, gathered[t])  # fmt: skip
    index = np.empty(size, dtype=np.int64)
    for t in range(tasks):
        level += gathered[t, held:]
    for o in range(len(which)):
        i = which[o]
        if directly[o]:
            continue
        spread(index, program, k, i, first)
        for part in range(_n_parts(program, k, i, first)):
            start = offset(program, factors, i) + _part_offset(program, k, i, first, part)
            for t in range(tasks):
                for j in range(size):
                    tables[start + index[j]] += gathered[t, parts[o] + part * size + j]


@serial
def _n_parts(program, k, i, first):  # type: ignore[no-untyped-def]
    """States of the slower axes that an input has."""
    n = 1
    for a in range(first):
        if program.strides[program.stride_starts[i] + a] != 0:
            n *= program.axis_cards[program.axes[k] + a]
    return n


@serial
def _part_offset(program, k, i, first, part):  # type: ignore[no-untyped-def]
    """Offset in an input of one state of its slower axes."""
    shift = 0
    for a in range(first - 1, -1, -1):
        stride = program.strides[program.stride_starts[i] + a]
        if stride != 0:
            card = program.axis_cards[program.axes[k] + a]
            shift += (part % card) * stride
            part //= card
    return shift


@serial
def _targets(program, k, first, size):  # type: ignore[no-untyped-def]
    """Where each input's marginal is gathered: messages and large factors directly, small factors by block entry."""
    number = program.inputs[k + 1] - program.inputs[k]
    which, starts, parts = np.empty(number, np.int64), np.empty(number, np.int64), np.zeros(number, np.int64)
    directly = np.empty(number, dtype=np.bool_)
    in_scratch, held = 0, 0
    for o in range(number):
        i = program.inputs[k] + o
        which[o], starts[o] = i, in_scratch
        if program.sources[i] < 0:
            child = -1 - program.sources[i]
            in_scratch += program.messages[child + 1] - program.messages[child]
            directly[o] = True
            continue
        n = _n_parts(program, k, i, first)
        directly[o] = n > _SMALL
        if not directly[o]:
            parts[o] = held
            held += n * size
    return which, starts, directly, parts, held


@serial
def _split(program, k, first, blocks, which, directly):  # type: ignore[no-untyped-def]
    """Slower axes that every directly written input has: tasks over them write to different places."""
    shared = np.zeros(first, dtype=np.bool_)
    tasks = 1
    for a in range(first):
        card, everywhere = program.axis_cards[program.axes[k] + a], True
        for o in range(len(which)):
            if directly[o] and program.strides[program.stride_starts[which[o]] + a] == 0:
                everywhere = False
        if everywhere and tasks * card <= _TASKS and blocks >= _MANY:
            shared[a] = True
            tasks *= card
    return shared, tasks


@parallel
def _tasks(inner, size, blocks, program, factors, messages, k, first, outer, scratch, tables,
           which, starts, directly, parts, shared, gathered):  # type: ignore[no-untyped-def]  # fmt: skip
    for t in prange(len(gathered)):
        table = np.empty(size)
        _task(np.int64(t), inner, table, size, blocks, program, factors, messages, k, first, outer, scratch, tables,
              which, starts, directly, parts, shared, gathered[t])  # fmt: skip


@serial
def _task(t, inner, table, size, blocks, program, factors, messages, k, first, outer, scratch, tables,
          which, starts, directly, parts, shared, gathered):  # type: ignore[no-untyped-def]  # fmt: skip
    """All blocks whose shared axes have the digits of task t."""
    card = program.axis_cards[program.axes[k + 1] - 1]
    level = gathered[len(gathered) - card :]
    index, even = np.empty((len(which), size), dtype=np.int64), np.empty(len(which), dtype=np.bool_)
    for o in range(len(which)):
        spread(index[o], program, k, which[o], first)
        even[o] = is_spread_evenly(index[o], size)
    for rest in range(blocks // _n_shared(program, k, shared)):
        block = _block_number(program, k, shared, t, rest)
        fill_block(table, size, inner, program, factors, messages, k, first, block, outer, messages.in_logs[k])
        _weigh(table, size, card, messages, k, program.messages[k] + block * (size // card), messages.in_logs[k])
        _add_levels(table, size, level)
        for o in range(len(which)):
            i = which[o]
            if not directly[o]:
                start = parts[o] + size * _part_number(program, k, i, first, block)
                for j in range(size):
                    gathered[start + j] += table[j]
            elif program.sources[i] >= 0:
                _scatter(table, size, tables, shifted(program, factors, k, i, first, block), index[o], even[o])
            else:
                start = shifted(program, factors, k, i, first, block) - offset(program, factors, i) + starts[o]
                _scatter(table, size, scratch, start, index[o], even[o])


@serial
def _scatter(table, size, target, start, index, even):  # type: ignore[no-untyped-def]
    if even:
        for j in range(size):
            target[start + j] += table[j]
    else:
        for j in range(size):
            target[start + index[j]] += table[j]


@serial
def _n_shared(program, k, shared):  # type: ignore[no-untyped-def]
    n = 1
    for a in range(len(shared)):
        if shared[a]:
            n *= program.axis_cards[program.axes[k] + a]
    return n


@serial
def _block_number(program, k, shared, t, rest):  # type: ignore[no-untyped-def]
    """Number of the block with task digits t on the shared axes and digits ``rest`` on the others."""
    block, stride = 0, 1
    for a in range(len(shared) - 1, -1, -1):
        card = program.axis_cards[program.axes[k] + a]
        if shared[a]:
            block += (t % card) * stride
            t //= card
        else:
            block += (rest % card) * stride
            rest //= card
        stride *= card
    return block


@serial
def _part_number(program, k, i, first, block):  # type: ignore[no-untyped-def]
    """Which state of an input's own slower axes a block has."""
    part, stride = 0, 1
    for a in range(first - 1, -1, -1):
        card = program.axis_cards[program.axes[k] + a]
        if program.strides[program.stride_starts[i] + a] != 0:
            part += (block % card) * stride
            stride *= card
        block //= card
    return part
