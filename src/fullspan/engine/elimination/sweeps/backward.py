"""The backward sweep: the adjoint of log Z, which is every marginal.

With the outside weight ``r_k(x_S) = p(x_S) / m_k(x_S)`` of its message, a step's table becomes a distribution,

    p(x_S, x_v) = r_k(x_S) prod of the factors and messages that contain v,

and its sums over the other variables are ``d log Z / d g_f(x_f) = p(x_f)`` for each factor and ``p(x_S')`` for each
message that entered. Nothing is subtracted. A message is replaced by its outside weight once it has been used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Ints
from fullspan.engine.elimination.sweeps.blocks import (
    blocks_of,
    fill_block,
    is_lone,
    n_parts,
    part_number,
    part_offset,
    shift_of,
)
from fullspan.engine.elimination.sweeps.tables import (
    LAID_OUT_STATES,
    RUN_ENTRIES,
    enter,
    inner_axes,
    offset,
    run_length,
    spread,
)
from fullspan.model.algebra.jit import inlined, parallel, prange, serial

_PARALLEL_BLOCKS = 32
"""Blocks from which on several cores are worth waking."""
_TASKS = 64


class Targets(NamedTuple):
    """Where the marginals of a step's inputs are gathered.

    Messages and large factors go ``directly`` to their places, a message from ``starts`` of the scratch array on. Small
    factors are summed entry by entry over blocks, those without slower axes all together at 0, the others from
    ``starts`` on; ``lone`` ones level by level. ``shared`` axes are slower ones that all direct inputs have: ``tasks``
    over their states never write to the same place.
    """

    directly: NDArray[np.bool_]
    starts: Ints
    lone: NDArray[np.bool_]
    runs: Ints
    offsets: NDArray[np.uint64]
    room: int
    shared: NDArray[np.bool_]
    tasks: int


@serial
def backward(program, factors, messages, marginals, tables):  # type: ignore[no-untyped-def]
    """Marginals of variables, flat by ``factors.levels``, and of factors, flat as their tables; both start at zero.

    Messages are spoilt: each becomes its outside weight.
    """
    index = np.empty(max(1024, program.axis_cards.max() if len(program.axis_cards) else 1), dtype=np.uint64)
    inner, scratch = np.empty(len(index)), np.empty(program.scratch)
    # The reverse of the forward order: when a step is reached, its own outside weight is complete.
    for k in range(len(program.axes) - 2, -1, -1):
        start = program.messages[k]
        if program.axes[k + 1] - program.axes[k] == 1:
            # A component's last message is its Z: the outside weight 1 / Z makes the table a distribution.
            messages.pool[start] = -messages.pool[start] if messages.is_log[k] else 1.0 / messages.pool[start]
        first, size, number = inner_axes(program, k)
        in_logs = messages.in_logs[k]
        enter(inner, size, program, factors, messages, k, first, index, in_logs)
        _clear(program, k, scratch)
        v = program.axis_variables[program.axes[k + 1] - 1]
        level = marginals[factors.levels[v] : factors.levels[v + 1]]
        if number == 1:
            _weigh(inner, size, len(level), messages, k, start, in_logs)
            _add_levels(inner, size, level)
            _flow_back(inner, size, program, factors, k, index, scratch, tables)
        else:
            blocks = blocks_of(program, factors, k, first, size, number, inner, in_logs)
            targets = _targets(program, k, blocks)
            # A copy for each task; `_collect` adds them up in order, so that sums do not depend on the cores.
            gathered = np.zeros((targets.tasks, targets.room))
            _in_tasks(program, factors, messages, k, blocks, targets, scratch, tables, gathered)
            _collect(program, factors, k, blocks, targets, gathered, tables, level)
        _turn(program, messages, k, scratch)


@inlined
def _clear(program, k, scratch):  # type: ignore[no-untyped-def]
    held = 0
    for i in range(program.inputs[k], program.inputs[k + 1]):
        if program.sources[i] < 0:
            child = -1 - program.sources[i]
            held += program.messages[child + 1] - program.messages[child]
    scratch[:held] = 0.0


@inlined
def _weigh(table, size, card, messages, k, start, in_logs):  # type: ignore[no-untyped-def]
    """Multiply a block by the outside weights: it becomes a part of the distribution of the step's variables."""
    pool, unit = messages.pool[start:], messages.scale[k] if in_logs else np.exp(-messages.scale[k])
    if in_logs:
        for c in range(size // card):
            weight = (pool[c] if messages.is_log[k] else np.log(pool[c])) - unit
            row = table[c * card : (c + 1) * card]
            for level in range(card):
                # An impossible state may have the weight +inf, whose sum with -inf would be NaN.
                row[level] = np.exp(row[level] + weight) if row[level] > -np.inf else 0.0
    elif card == 2:
        for c in range(size // 2):
            weight = pool[c] * unit
            table[np.uint64(2 * c)] *= weight
            table[np.uint64(2 * c + 1)] *= weight
    else:
        for c in range(size // card):
            weight = pool[c] * unit
            for level in range(card):
                table[np.uint64(c * card + level)] *= weight


@serial
def _add_levels(table, size, level):  # type: ignore[no-untyped-def]
    """Marginal of the variable that was summed out."""
    card = len(level)
    if card == 2:
        zero, one = 0.0, 0.0
        for c in range(size // 2):
            zero += table[np.uint64(2 * c)]
            one += table[np.uint64(2 * c + 1)]
        level[0] += zero
        level[1] += one
        return
    for c in range(size // card):
        for x in range(card):
            level[x] += table[np.uint64(c * card + x)]


@inlined
def _flow_back(table, size, program, factors, k, index, scratch, tables):  # type: ignore[no-untyped-def]
    """Sum a table of one block into the marginals of all inputs."""
    held = 0
    for i in range(program.inputs[k], program.inputs[k + 1]):
        spread(index, program, k, i, 0)
        source = program.sources[i]
        if source >= 0:
            start = np.uint64(offset(program, factors, i))
            for j in range(size):
                tables[start + index[j]] += table[j]
        else:
            start = np.uint64(held)
            for j in range(size):
                scratch[start + index[j]] += table[j]
            held += program.messages[-source] - program.messages[-1 - source]


@inlined
def _turn(program, messages, k, scratch):  # type: ignore[no-untyped-def]
    """Replace the messages that entered a step by their outside weights ``p / m``."""
    held, pool = 0, messages.pool
    for i in range(program.inputs[k], program.inputs[k + 1]):
        if program.sources[i] >= 0:
            continue
        child = -1 - program.sources[i]
        start, end = program.messages[child], program.messages[child + 1]
        part, back = pool[start:end], scratch[held:]
        if messages.is_log[child]:
            for e in range(len(part)):
                # Where nothing flows back the state is impossible, and 0 / 0 is to be 0.
                part[e] = np.log(back[e]) - part[e] if back[e] > 0.0 else -np.inf
        else:
            for e in range(len(part)):
                part[e] = back[e] / part[e] if part[e] > 0.0 else 0.0
        held += end - start


@serial
def _targets(program, k, blocks):  # type: ignore[no-untyped-def]
    first, size = blocks.first, blocks.size
    inputs = program.inputs[k + 1] - program.inputs[k]
    directly, starts = np.zeros(inputs, dtype=np.bool_), np.zeros(inputs, dtype=np.int64)
    runs, offsets = np.empty(inputs, dtype=np.int64), np.empty((inputs, size), dtype=np.uint64)
    lone = np.zeros(inputs, dtype=np.bool_)
    card = program.axis_cards[program.axes[k + 1] - 1]
    in_scratch, room = 0, size
    for o in range(inputs):
        i = program.inputs[k] + o
        runs[o] = run_length(program, k, i, first)
        spread(offsets[o], program, k, i, first)
        parts = n_parts(program, k, i, first)
        if program.sources[i] < 0:
            child = -1 - program.sources[i]
            directly[o], starts[o] = True, in_scratch
            in_scratch += program.messages[child + 1] - program.messages[child]
        # Large factors are written to where they lie; small ones are summed up apart first, since many blocks hit one
        # entry.
        elif parts > LAID_OUT_STATES:
            directly[o] = True
        elif parts > 1:
            lone[o], starts[o] = is_lone(program, k, i, first), room
            room += parts * (card if lone[o] else size)
    shared, tasks = np.zeros(first, dtype=np.bool_), 1
    for a in range(first):
        states, everywhere = program.axis_cards[program.axes[k] + a], True
        for o in range(inputs):
            # Two tasks with different states of this axis would write to the same entries.
            if directly[o] and program.strides[program.stride_starts[program.inputs[k] + o] + a] == 0:
                everywhere = False
        if everywhere and tasks * states <= _TASKS and blocks.number >= _PARALLEL_BLOCKS:
            shared[a] = True
            tasks *= states
    return Targets(directly, starts, lone, runs, offsets, room, shared, tasks)


@serial
def _in_tasks(program, factors, messages, k, blocks, targets, scratch, tables, gathered):  # type: ignore[no-untyped-def]
    if targets.tasks > 1:
        _on_all_cores(program, factors, messages, k, blocks, targets, scratch, tables, gathered)
    else:
        _task(0, program, factors, messages, k, blocks, targets, scratch, tables, gathered[0])


@parallel
def _on_all_cores(program, factors, messages, k, blocks, targets, scratch, tables, gathered):  # type: ignore[no-untyped-def]
    for t in prange(targets.tasks):
        _task(np.int64(t), program, factors, messages, k, blocks, targets, scratch, tables, gathered[t])


@serial
def _task(t, program, factors, messages, k, blocks, targets, scratch, tables, gathered):  # type: ignore[no-untyped-def]
    """All blocks whose shared axes have the digits of task t."""
    card, size, first = program.axis_cards[program.axes[k + 1] - 1], blocks.size, blocks.first
    table, sums, in_logs = np.empty(size), np.empty(card), messages.in_logs[k]
    for rest in range(blocks.number // targets.tasks):
        b = _block_number(program, k, targets.shared, t, rest)
        fill_block(table, program, factors, messages, k, blocks, b, in_logs)
        _weigh(table, size, card, messages, k, program.messages[k] + b * (size // card), in_logs)
        _add(table, size, gathered)
        sums[:] = 0.0
        if len(blocks.lone):
            _add_levels(table, size, sums)
        for o in range(len(targets.directly)):
            i = program.inputs[k] + o
            if targets.directly[o]:
                start = shift_of(program, k, i, first, b)
                if program.sources[i] >= 0:
                    target = tables[offset(program, factors, i) + start :]
                else:
                    target = scratch[targets.starts[o] + start :]
                _scatter(table, size, target, targets.offsets[o], targets.runs[o])
            elif targets.lone[o]:
                _add(sums, card, gathered[targets.starts[o] + card * part_number(program, k, i, first, b) :])
            elif targets.starts[o] > 0:
                _add(table, size, gathered[targets.starts[o] + size * part_number(program, k, i, first, b) :])


@serial
def _collect(program, factors, k, blocks, targets, gathered, tables, level):  # type: ignore[no-untyped-def]
    """Sum what the tasks gathered into the marginals of the variable and of small factors."""
    size, first = blocks.size, blocks.first
    for t in range(targets.tasks):
        _add_levels(gathered[t], size, level)
        for o in range(len(targets.directly)):
            i = program.inputs[k] + o
            if targets.directly[o]:
                continue
            length = len(level) if targets.lone[o] else size
            for part in range(n_parts(program, k, i, first)):
                entries = gathered[t, targets.starts[o] + part * length :]
                target = tables[offset(program, factors, i) + part_offset(program, k, i, first, part) :]
                for j in range(length):
                    target[targets.offsets[o, j]] += entries[j]


@serial
def _scatter(table, size, target, index, run):  # type: ignore[no-untyped-def]
    """Add a block to the entries of an input that it has."""
    if run >= RUN_ENTRIES:
        for r in range(0, size, run):
            _add(table[r:], run, target[index[r] :])
    else:
        for j in range(size):
            target[index[j]] += table[j]


@serial
def _add(table, size, target):  # type: ignore[no-untyped-def]
    for j in range(size):
        target[j] += table[j]


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
