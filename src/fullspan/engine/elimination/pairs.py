"""Marginals of all pairs of variables, of a model by one sweep and of counted rows, as one matrix of levels.

    cells[starts[i] + a, starts[j] + b] = p(x_i = a, x_j = b)

Moments of all levels but the first of each variable, and of the constant 1, determine it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from fullspan.arrays import Array, Ints
from fullspan.engine.elimination.cliques import Cliques
from fullspan.engine.elimination.clusters import ClusterTree
from fullspan.model.graph import FactorGraph


def level_starts(cards: Sequence[int]) -> Ints:
    """Where the levels of each variable begin, and their number."""
    return np.concatenate([[0], np.cumsum(cards)]).astype(np.int64)


def all_cells(cards: Sequence[int], moments: Array, constant: float = 1.0) -> Array:
    """The matrix of levels from ``moments`` of the events x_i = a, a > 0, sorted by variable and level."""
    starts, places = level_starts(cards), _of_levels(cards)
    k = len(places)
    first = np.repeat(starts[:-1], np.array(cards) - 1)
    rows = np.concatenate([places, first, starts[:-1]])
    columns = np.concatenate([np.arange(k), np.arange(k), np.full(len(cards), k)])
    signs = np.concatenate([np.ones(k), -np.ones(k), np.ones(len(cards))])
    spread: Any = csr_matrix((signs, (rows, columns)), shape=(int(starts[-1]), k + 1))
    eta = np.diag(moments)
    full = np.block([[moments, eta[:, None]], [eta[None, :], np.full((1, 1), constant)]])
    return np.asarray(spread @ np.asarray(spread @ full).T)


def _of_levels(cards: Sequence[int]) -> Ints:
    """Places of all levels but the first of each variable."""
    starts = level_starts(cards)
    return np.setdiff1d(np.arange(starts[-1]), starts[:-1])


def pair_cells(cliques: Cliques, tables: Sequence[Array]) -> Array:
    """All pairs under a model, exactly, from ``p(x_C)`` of its cliques."""
    return all_cells(cliques.cards, _moments(cliques, tables, 1))


def all_pairs(tree: ClusterTree, limit: float) -> Array | None:
    """All pairs under a graph, exactly; None if their expectations take more than ``limit`` numbers at once.

    Its cliques are calibrated once, and expectations of all levels are carried over them (module ``cliques``): no level
    is clamped, and nothing is found by a difference.
    """
    graph, order = tree.graph, tree.order
    places, bounds = order.variables.tolist(), order.bounds.tolist()
    separators = [[places[k] for k in order.separator[a:b].tolist()] for a, b in pairwise(bounds)]
    levels = sum(graph.space.cards)
    if len(tree.clamped) or levels * max((2.0**size for size in order.messages), default=1.0) > limit:
        return None
    cliques = Cliques.of(graph.space.cards, places, separators)
    scopes, values = [*graph.scopes, *cliques.members], np.zeros(len(graph.values) + int(cliques.sizes.sum()))
    values[: len(graph.values)] = graph.values
    starts = np.cumsum([0, *map(len, scopes)])
    whole = FactorGraph.of_arrays(graph.space, starts, [i for scope in scopes for i in scope], values)
    found = ClusterTree(whole, order=places, max_memory=tree.max_memory).beliefs()
    tables = [found.factor(len(graph.scopes) + k) for k in range(len(cliques.members))]
    return _moments(cliques, tables, 0)


def _moments(cliques: Cliques, tables: Sequence[Array], first: int) -> Array:
    """``p(x_i = a, x_j = b)`` of all levels from the ``first`` one on, sorted by variable and level."""
    cards, functions, numbers = cliques.cards, [], list[int]()
    starts, seen = level_starts(cards), set[int]()
    for k, members in enumerate(cliques.members):
        columns = [np.zeros((int(cliques.sizes[k]), 0))]
        for axis, i in enumerate(members):
            if i not in seen:
                seen.add(i)
                before, after = _around(cliques.shape(k), axis)
                hit = np.eye(cards[i])[:, first:]
                columns.append(np.tile(np.repeat(hit, after, axis=0), (before, 1)))
                numbers += range(starts[i] + first, starts[i + 1])
        functions.append(np.concatenate(columns, axis=1))
    order = np.argsort(numbers)
    return np.asarray(cliques.second_moments(tables, functions)[np.ix_(order, order)])


def _around(shape: Sequence[int], axis: int) -> tuple[int, int]:
    return int(np.prod(shape[:axis], dtype=np.int64)), int(np.prod(shape[axis + 1 :], dtype=np.int64))


def misfits(q: Array, p: Array, cards: Sequence[int]) -> Array:
    """``KL(q(x_i, x_j) || p(x_i, x_j))`` of all pairs."""
    starts = level_starts(cards)[:-1]
    each = q * np.log(np.maximum(q, 1e-300) / np.maximum(p, 1e-12))
    return np.asarray(np.add.reduceat(np.add.reduceat(each, starts, 0), starts, 1))
