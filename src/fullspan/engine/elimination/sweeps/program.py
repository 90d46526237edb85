"""An order of elimination as a program: for each step what enters its table, with which strides, and where it goes.

Step k sums out one variable v. Its table is over the separator S_k and v, row-major, v fastest; factors and messages
that contain v enter, each with a stride per axis, 0 where it does not have the variable. The message over S_k is stored
in one pool, row-major in the separator's order. Nothing here depends on the numbers in the tables.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fullspan.arrays import Ints
from fullspan.engine.elimination.ordering.order import Order
from fullspan.engine.elimination.sweeps.arrangement import Arrangement
from fullspan.model.algebra.jit import serial


class Program(NamedTuple):
    """Flat arrays; m steps, numbered in the order of elimination.

    Attributes
    ----------
    axes, axis_variables, axis_cards : the variables of step k's table, named by their own steps, slowest first, at
        ``axes[k] : axes[k + 1]``.
    inputs : what enters step k is ``inputs[k] : inputs[k + 1]``, factors first.
    sources : number of the factor, or ``-1 - step`` of the message.
    strides, stride_starts : one stride per axis of the step's table, for each input.
    messages : the message of step k is ``messages[k] : messages[k + 1]`` of the pool.
    homes : step at which each factor enters, -1 when all its variables are clamped.
    scratch : entries needed beside the pool to hold what flows back into one step.
    """

    axes: Ints
    axis_variables: Ints
    axis_cards: Ints
    inputs: Ints
    sources: Ints
    strides: Ints
    stride_starts: Ints
    messages: Ints
    homes: Ints
    scratch: int


class Clamps(NamedTuple):
    """How clamped values move a factor's first entry: ``base[factors] += values[slots] * strides``.

    ``cards`` are the levels of the clamped variables, in the order of the slots.
    """

    factors: Ints
    slots: Ints
    strides: Ints
    cards: Ints


def compiled(factors: Arrangement, order: Order) -> Program:
    """The program of an order, for factors arranged by it."""
    parts = _program(
        factors.scope_starts, factors.variables, factors.strides, factors.homes, factors.cards,
        order.bounds, order.separator,
    )  # fmt: skip
    return Program(*parts)


def clamps(factors: Arrangement, m: int) -> Clamps:
    """Where the clamped variables, which come after m free ones, occur in factors."""
    clamped = len(factors.cards) - m
    entries = np.flatnonzero(factors.variables >= m) if clamped else np.zeros(0, dtype=np.int64)
    owner = np.searchsorted(factors.scope_starts, entries, side="right") - 1
    return Clamps(owner, factors.variables[entries] - m, factors.strides[entries], factors.cards[m:])


@serial
def _program(scope_starts, variables, factor_strides, homes, cards, bounds, separator):  # type: ignore[no-untyped-def]
    m, n_factors = len(bounds) - 1, len(scope_starts) - 1
    axes, messages, counts = np.zeros(m + 1, dtype=np.int64), np.zeros(m + 1, dtype=np.int64), np.zeros(m + 1, np.int64)
    axis_variables, axis_cards = np.empty(len(separator) + m, np.int64), np.empty(len(separator) + m, np.int64)
    for k in range(m):
        end, size = axes[k], 1
        for e in range(bounds[k], bounds[k + 1]):
            axis_variables[end] = separator[e]
            axis_cards[end] = cards[separator[e]]
            size *= axis_cards[end]
            end += 1
        axis_variables[end], axis_cards[end] = k, cards[k]
        axes[k + 1], messages[k + 1] = end + 1, messages[k] + size
    for f in range(n_factors):
        if homes[f] >= 0:
            counts[homes[f] + 1] += 1
    for k in range(m):
        if bounds[k + 1] > bounds[k]:
            counts[separator[bounds[k + 1] - 1] + 1] += 1
    for k in range(m):
        counts[k + 1] += counts[k]
    n_inputs = counts[m]
    sources, stride_starts, free = np.empty(n_inputs, np.int64), np.empty(n_inputs + 1, np.int64), counts[:-1].copy()
    for f in range(n_factors):
        if homes[f] >= 0:
            sources[free[homes[f]]] = f
            free[homes[f]] += 1
    for k in range(m):
        if bounds[k + 1] > bounds[k]:
            parent = separator[bounds[k + 1] - 1]
            sources[free[parent]] = -1 - k
            free[parent] += 1
    total = 0
    for k in range(m):
        for i in range(counts[k], counts[k + 1]):
            stride_starts[i] = total
            total += axes[k + 1] - axes[k]
    stride_starts[n_inputs] = total
    strides, scratch = np.zeros(total, dtype=np.int64), 1
    axis_of = np.zeros(len(cards), dtype=np.int64)
    for k in range(m):
        width = axes[k + 1] - axes[k]
        for a in range(width):
            axis_of[axis_variables[axes[k] + a]] = a
        held = 0
        for i in range(counts[k], counts[k + 1]):
            start = stride_starts[i]
            if sources[i] >= 0:
                f = sources[i]
                for e in range(scope_starts[f], scope_starts[f + 1]):
                    if variables[e] < m:
                        strides[start + axis_of[variables[e]]] = factor_strides[e]
            else:
                child, stride = -1 - sources[i], 1
                for e in range(bounds[child + 1] - 1, bounds[child] - 1, -1):
                    v = separator[e]
                    strides[start + axis_of[v]] = stride
                    stride *= cards[v]
                held += stride
        scratch = max(scratch, held)
    return axes, axis_variables, axis_cards, counts, sources, strides, stride_starts, messages, homes, scratch
