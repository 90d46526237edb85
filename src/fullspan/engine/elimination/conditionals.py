"""A product of factors as a product of conditionals: eliminating v leaves p(x_v | x_S), S what it then meets.

    sum_f g_f(x_f) = log Z + sum_v log p(x_v | x_S(v)),      S(v) eliminated after v

The product is a distribution by its form, so a file of it is checked without a sum.
"""

from __future__ import annotations

import math

import numpy as np

from fullspan.arrays import Array
from fullspan.engine.elimination.ordering.order import elimination_order
from fullspan.engine.memory import budget, require
from fullspan.model.graph import FactorGraph

NEVER = -1000.0
"""Log of a probability of 0, finite so that files hold it: far below the least positive number."""


def conditionals(graph: FactorGraph, max_memory: int | None = None) -> tuple[FactorGraph | None, float]:
    """The normalised graph with one factor for each variable, its first, and log Z; None where that is -inf.

    Raises
    ------
    TooLargeError : the tables would not fit; nothing has been allocated.
    """
    order, cards = elimination_order(graph), graph.space.cards
    n_bytes = int(24 * order.total)
    require(n_bytes, budget(max_memory), f"conditionals of width {order.width}", "use fewer or smaller margins")
    alive = dict(enumerate(zip(graph.scopes, graph.tables, strict=True)))
    of: dict[int, set[int]] = {v: set() for v in range(len(cards))}
    for f, (scope, _) in alive.items():
        for v in scope:
            of[v].add(f)
    log_z = math.fsum(float(table) for scope, table in alive.values() if not scope)
    found: list[tuple[tuple[int, ...], Array]] = []
    for v in map(int, order.variables):
        met = sorted({i for f in of[v] for i in alive[f][0]} - {v})
        scope = (v, *met)
        total = _product(scope, [cards[i] for i in scope], [alive.pop(f) for f in sorted(of[v])])
        for i in met:
            of[i] -= of[v]
        below = np.logaddexp.reduce(total, axis=0)
        possible = below > -np.inf
        with np.errstate(invalid="ignore"):
            given = np.where(possible, np.maximum(total - below, NEVER), -math.log(cards[v]))
        found.append((scope, given))
        if not met:
            log_z += float(below)
            continue
        number = len(graph.scopes) + len(found)
        alive[number] = (tuple(met), np.asarray(below))
        for i in met:
            of[i].add(number)
    if log_z == -math.inf:
        return None, log_z
    return FactorGraph(graph.space, tuple(scope for scope, _ in found), tuple(table for _, table in found)), log_z


def _product(scope: tuple[int, ...], shape: list[int], factors: list[tuple[tuple[int, ...], Array]]) -> Array:
    """Log of the product of factors over some of the variables of ``scope``, one axis each."""
    total = np.zeros(shape)
    for own, table in factors:
        among = [n if i in own else 1 for i, n in zip(scope, shape, strict=True)]
        total += np.transpose(table, sorted(range(len(own)), key=lambda k: scope.index(own[k]))).reshape(among)
    return total
