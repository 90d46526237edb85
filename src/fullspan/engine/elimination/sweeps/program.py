"""An order of elimination as a program: for each step what enters its table, with which strides, and where it goes.

Step k sums out one variable v. Its table is over the separator S_k and v, row-major, v fastest; factors and messages
that contain v enter, each with a stride per axis, 0 where it does not have the variable. The message over S_k is stored
in one pool, row-major in the separator's order. Nothing here depends on the numbers in the tables.

The variables and factors of a graph in the order in which elimination meets them.

A sweep over a large graph is limited by memory: factors that enter one step, and steps that follow each other, should
lie next to each other. Everything inside a :class:`ClusterTree` is in this order, a variable being named by the step
that sums it out, and clamped ones last; what goes in and out is in the graph's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fullspan.arrays import Ints
from fullspan.engine.elimination.ordering.order import Order
from fullspan.model.algebra.jit import serial
from fullspan.model.graph import FactorGraph


class Arrangement(NamedTuple):
    """Scopes and tables of a graph, factors sorted by the step at which they enter, constant ones last.

    Attributes
    ----------
    numbers, places : the graph's variable at each place here, and the reverse.
    cards : levels of the variables.
    scope_starts, variables, strides, table_starts : as in the graph, variables by their places here.
    homes : step at which each factor enters, -1 when all its variables are clamped.
    entries : place in the graph's ``values`` of every entry here.
    """

    numbers: Ints
    places: Ints
    cards: Ints
    scope_starts: Ints
    variables: Ints
    strides: Ints
    table_starts: Ints
    homes: Ints
    entries: Ints

    def level_entries(self, levels: Ints) -> Ints:
        """Place in the graph's list of all levels, which begin at ``levels``, of every level here."""
        before = np.cumsum(self.cards) - self.cards
        return np.repeat(levels[self.numbers] - before, self.cards) + np.arange(int(self.cards.sum()))


def arranged(graph: FactorGraph, order: Order, clamped: Ints) -> Arrangement:
    """Sort the factors of a graph by the step of an order at which they enter."""
    numbers = np.concatenate([order.variables, clamped])
    places = np.empty(len(numbers), dtype=np.int64)
    places[numbers] = np.arange(len(numbers))
    parts = _arranged(
        graph.scope_starts, graph.variables, graph.strides, graph.table_starts, places, len(order.variables)
    )
    return Arrangement(numbers, places, graph.cards[numbers], *parts)


@serial
def _arranged(scope_starts, variables, strides, table_starts, place, m):  # type: ignore[no-untyped-def]
    n_factors = len(scope_starts) - 1
    home, first = np.full(n_factors, m, dtype=np.int64), np.zeros(m + 2, dtype=np.int64)
    for f in range(n_factors):
        for e in range(scope_starts[f], scope_starts[f + 1]):
            # A factor enters where the first of its variables is summed out; clamped ones have places behind all steps.
            home[f] = min(home[f], place[variables[e]])
        first[home[f] + 1] += 1
    for k in range(m + 1):
        first[k + 1] += first[k]
    sorted_factors = np.empty(n_factors, dtype=np.int64)
    for f in range(n_factors):
        # A counting sort: linear, and factors of one step keep their order.
        sorted_factors[first[home[f]]] = f
        first[home[f]] += 1
    starts, tables = np.zeros(n_factors + 1, dtype=np.int64), np.zeros(n_factors + 1, dtype=np.int64)
    new_variables, new_strides = np.empty_like(variables), np.empty_like(strides)
    homes, entries = np.empty(n_factors, dtype=np.int64), np.empty(table_starts[n_factors], dtype=np.int64)
    for g in range(n_factors):
        f = sorted_factors[g]
        homes[g] = home[f] if home[f] < m else -1
        starts[g + 1] = starts[g] + scope_starts[f + 1] - scope_starts[f]
        tables[g + 1] = tables[g] + table_starts[f + 1] - table_starts[f]
        for e in range(scope_starts[f + 1] - scope_starts[f]):
            new_variables[starts[g] + e] = place[variables[scope_starts[f] + e]]
            new_strides[starts[g] + e] = strides[scope_starts[f] + e]
        for e in range(table_starts[f + 1] - table_starts[f]):
            entries[tables[g] + e] = table_starts[f] + e
    return starts, new_variables, new_strides, tables, homes, entries


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
    scratch : entries needed next to the pool to hold what flows back into one step.
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
    axes, axis_variables, axis_cards, messages = _axes(factors.cards, order.bounds, order.separator)
    inputs, sources = _inputs(factors.homes, order.bounds, order.separator)
    scopes = factors.scope_starts, factors.variables, factors.strides, factors.cards
    strides, stride_starts, scratch = _strides(
        scopes, axes, axis_variables, inputs, sources, order.bounds, order.separator
    )
    return Program(
        axes, axis_variables, axis_cards, inputs, sources, strides, stride_starts, messages, factors.homes, scratch
    )


def clamps(factors: Arrangement, m: int) -> Clamps:
    """Where the clamped variables, which come after m free ones, occur in factors."""
    clamped = len(factors.cards) - m
    entries = np.flatnonzero(factors.variables >= m) if clamped else np.zeros(0, dtype=np.int64)
    owner = np.searchsorted(factors.scope_starts, entries, side="right") - 1
    return Clamps(owner, factors.variables[entries] - m, factors.strides[entries], factors.cards[m:])


@serial
def _axes(cards, bounds, separator):  # type: ignore[no-untyped-def]
    """The variables of each step's table, its separator first, and where its message begins in the pool."""
    m = len(bounds) - 1
    axes, messages = np.zeros(m + 1, dtype=np.int64), np.zeros(m + 1, dtype=np.int64)
    axis_variables, axis_cards = np.empty(len(separator) + m, np.int64), np.empty(len(separator) + m, np.int64)
    for k in range(m):
        end, size = axes[k], 1
        for e in range(bounds[k], bounds[k + 1]):
            axis_variables[end] = separator[e]
            axis_cards[end] = cards[separator[e]]
            size *= axis_cards[end]
            end += 1
        # The variable of the step itself comes last: it is the fastest axis, and the sum runs along neighbouring
        # entries.
        axis_variables[end], axis_cards[end] = k, cards[k]
        axes[k + 1], messages[k + 1] = end + 1, messages[k] + size
    return axes, axis_variables, axis_cards, messages


@serial
def _inputs(homes, bounds, separator):  # type: ignore[no-untyped-def]
    """What enters each step: the factors at home there, then the messages whose separator ends with its variable."""
    m, n_factors = len(bounds) - 1, len(homes)
    inputs = np.zeros(m + 1, dtype=np.int64)
    for f in range(n_factors):
        if homes[f] >= 0:
            inputs[homes[f] + 1] += 1
    for k in range(m):
        if bounds[k + 1] > bounds[k]:
            inputs[separator[bounds[k + 1] - 1] + 1] += 1
    for k in range(m):
        inputs[k + 1] += inputs[k]
    sources, free = np.empty(inputs[m], np.int64), inputs[:-1].copy()
    for f in range(n_factors):
        if homes[f] >= 0:
            sources[free[homes[f]]] = f
            free[homes[f]] += 1
    for k in range(m):
        if bounds[k + 1] > bounds[k]:
            parent = separator[bounds[k + 1] - 1]
            sources[free[parent]] = -1 - k
            free[parent] += 1
    return inputs, sources


@serial
def _strides(factors, axes, axis_variables, inputs, sources, bounds, separator):  # type: ignore[no-untyped-def]
    """One stride per axis of the step's table for each input, where each begins, and the scratch that a step needs."""
    scope_starts, variables, factor_strides, cards = factors
    m, total, scratch = len(axes) - 1, 0, 1
    stride_starts = np.empty(len(sources) + 1, np.int64)
    for k in range(m):
        for i in range(inputs[k], inputs[k + 1]):
            stride_starts[i] = total
            total += axes[k + 1] - axes[k]
    stride_starts[len(sources)] = total
    strides, axis_of = np.zeros(total, dtype=np.int64), np.zeros(len(cards), dtype=np.int64)
    for k in range(m):
        for a in range(axes[k + 1] - axes[k]):
            axis_of[axis_variables[axes[k] + a]] = a
        held = 0
        for i in range(inputs[k], inputs[k + 1]):
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
                # What flows back to the messages that entered is gathered apart, since the messages are still read
                # meanwhile.
                held += stride
        scratch = max(scratch, held)
    return strides, stride_starts, scratch
