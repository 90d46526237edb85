"""The factors of a graph in the order in which elimination meets them.

A sweep over a large graph is limited by memory: factors that enter one step, and steps that follow each other, should
lie beside each other. Everything inside a :class:`ClusterTree` is in this order; what goes in
and out is in the graph's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fullspan.algebra.jit import serial
from fullspan.engine.elimination.order import Ints, Order
from fullspan.model.graph import FactorGraph


class Arrangement(NamedTuple):
    """Scopes and tables of a graph, factors sorted by the step at which they enter, constant ones last.

    Attributes
    ----------
    scope_starts, variables, strides, table_starts : as in the graph.
    homes : step at which each factor enters, -1 when all its variables are clamped.
    entries : place in the graph's ``values`` of every entry here.
    """

    scope_starts: Ints
    variables: Ints
    strides: Ints
    table_starts: Ints
    homes: Ints
    entries: Ints


def arranged(graph: FactorGraph, order: Order) -> Arrangement:
    """Sort the factors of a graph by the step of an order at which they enter."""
    parts = _arranged(
        graph.scope_starts, graph.variables, graph.strides, graph.table_starts, order.variables, len(graph.space)
    )
    return Arrangement(*parts)


@serial
def _arranged(scope_starts, variables, strides, table_starts, order, n):  # type: ignore[no-untyped-def]
    m, n_factors = len(order), len(scope_starts) - 1
    place = np.full(n, m, dtype=np.int64)
    for k in range(m):
        place[order[k]] = k
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
            new_variables[starts[g] + e] = variables[scope_starts[f] + e]
            new_strides[starts[g] + e] = strides[scope_starts[f] + e]
        for e in range(table_starts[f + 1] - table_starts[f]):
            entries[tables[g] + e] = table_starts[f] + e
    return starts, new_variables, new_strides, tables, homes, entries
