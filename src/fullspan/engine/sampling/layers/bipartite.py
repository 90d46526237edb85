"""A factor graph of two-level variables in two layers as a restricted machine."""

from __future__ import annotations

import numpy as np

from fullspan.data.space import Space
from fullspan.errors import FullspanError
from fullspan.model.graph import FactorGraph
from fullspan.model.layered import LayeredMachine


def restricted_of(graph: FactorGraph) -> tuple[LayeredMachine, float]:
    """The restricted machine of a pairwise bipartite graph, and what must be added to its log Z.

    The layer with the first variable becomes the visible one.

    Raises
    ------
    FullspanError : a variable has not two levels, a factor more than two variables or a zero, or the graph is not
        bipartite.
    """
    if set(graph.space.cards) != {2} or max(map(len, graph.scopes)) > 2 or not np.isfinite(graph.values).all():
        raise FullspanError("a restricted machine has two-level variables and finite factors of one or two of them")
    side = _sides(graph)
    place = np.where(side == 0, np.cumsum(side == 0), np.cumsum(side == 1)) - 1
    biases, constant = np.zeros(len(side)), 0.0
    weights = np.zeros((int((side == 0).sum()), int((side == 1).sum())))
    for scope, table in zip(graph.scopes, graph.tables, strict=True):
        constant += float(table.ravel()[0])
        if len(scope) == 1:
            biases[scope[0]] += table[1] - table[0]
        elif len(scope) == 2:
            i, j = scope
            biases[i] += table[1, 0] - table[0, 0]
            biases[j] += table[0, 1] - table[0, 0]
            a, b = (i, j) if side[i] == 0 else (j, i)
            weights[place[a], place[b]] += table[1, 1] - table[1, 0] - table[0, 1] + table[0, 0]
    visible = Space(tuple(v for v, s in zip(graph.space.variables, side, strict=True) if s == 0))
    return LayeredMachine(visible, (biases[side == 0], biases[side == 1]), (weights,)), constant


def _sides(graph: FactorGraph) -> np.ndarray:
    """0 or 1 for each variable such that no factor joins two of a kind."""
    near: list[list[int]] = [[] for _ in graph.space.variables]
    for scope in graph.scopes:
        if len(scope) == 2:
            near[scope[0]].append(scope[1])
            near[scope[1]].append(scope[0])
    side = np.full(len(near), -1)
    for root in range(len(near)):
        if side[root] >= 0:
            continue
        side[root], stack = 0, [root]
        while stack:
            i = stack.pop()
            for j in near[i]:
                if side[j] == side[i]:
                    raise FullspanError("the graph is not bipartite: its variables cannot be put into two layers")
                if side[j] < 0:
                    side[j] = 1 - side[i]
                    stack.append(j)
    return side
