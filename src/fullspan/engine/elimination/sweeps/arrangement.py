"""The variables and factors of a graph in the order in which elimination meets them.

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
            home[f] = min(home[f], place[variables[e]])
        first[home[f] + 1] += 1
    for k in range(m + 1):
        first[k + 1] += first[k]
    sorted_factors = np.empty(n_factors, dtype=np.int64)
    for f in range(n_factors):
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
