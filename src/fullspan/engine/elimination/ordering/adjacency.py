"""The interaction graph of a factor graph: two free variables are neighbours when a factor has both.

Clamped variables are constants and take no part. Compiled, O(sum of squared scopes).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Ints
from fullspan.model.algebra.jit import serial
from fullspan.model.graph import FactorGraph


class Adjacency(NamedTuple):
    """Neighbours of variable v: ``neighbours[starts[v] : starts[v + 1]]``, each once; none of a clamped one."""

    starts: Ints
    neighbours: Ints
    free: NDArray[np.bool_]


def adjacency(graph: FactorGraph, clamped: Ints) -> Adjacency:
    """The interaction graph of the variables that are not clamped."""
    free = np.ones(len(graph.space), dtype=np.bool_)
    free[clamped] = False
    starts, neighbours = _adjacency(graph.scope_starts, graph.variables, free)
    return Adjacency(starts, neighbours, free)


@serial
def _adjacency(scope_starts, variables, free):  # type: ignore[no-untyped-def]
    n = len(free)
    bounds = np.zeros(n + 1, dtype=np.int64)
    for f in range(len(scope_starts) - 1):
        live = 0
        for e in range(scope_starts[f], scope_starts[f + 1]):
            live += free[variables[e]]
        for e in range(scope_starts[f], scope_starts[f + 1]):
            if free[variables[e]]:
                # An upper bound: neighbours that share several factors are listed several times, and once after
                # `_once`.
                bounds[variables[e] + 1] += live - 1
    for v in range(n):
        bounds[v + 1] += bounds[v]
    raw = np.empty(bounds[n], dtype=np.int64)
    place = bounds[:-1].copy()
    for f in range(len(scope_starts) - 1):
        for e in range(scope_starts[f], scope_starts[f + 1]):
            v = variables[e]
            if not free[v]:
                continue
            for other in range(scope_starts[f], scope_starts[f + 1]):
                u = variables[other]
                if u != v and free[u]:
                    raw[place[v]] = u
                    place[v] += 1
    return _once(bounds, raw)


@serial
def _once(bounds, raw):  # type: ignore[no-untyped-def]
    """Drop repeated neighbours, in place."""
    n = len(bounds) - 1
    starts = np.zeros(n + 1, dtype=np.int64)
    seen = np.full(n, -1, dtype=np.int64)
    kept = 0
    for v in range(n):
        for e in range(bounds[v], bounds[v + 1]):
            u = raw[e]
            # A stamp per variable: the list need not be sorted or cleared.
            if seen[u] != v:
                seen[u] = v
                raw[kept] = u
                kept += 1
        starts[v + 1] = kept
    return starts, raw[:kept].copy()


def renumbered(near: Adjacency) -> tuple[Ints, Adjacency]:
    """The same graph with its variables numbered depth first, so that neighbours lie near each other in memory.

    Returns the old number of each new one, and the graph in new numbers.
    """
    numbers, starts, neighbours = _depth_first(near.starts, near.neighbours)
    return numbers, Adjacency(starts, neighbours, near.free[numbers])


@serial
def _depth_first(starts, neighbours):  # type: ignore[no-untyped-def]
    n, done, depth = len(starts) - 1, 0, 0
    numbers, new = np.empty(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    stack = np.empty(len(neighbours) + 1, dtype=np.int64)
    for root in range(n):
        stack[0], depth = root, 1
        while depth > 0:
            depth -= 1
            v = stack[depth]
            if new[v] >= 0:
                continue
            numbers[done], new[v] = v, done
            done += 1
            for e in range(starts[v], starts[v + 1]):
                if new[neighbours[e]] < 0:
                    stack[depth] = neighbours[e]
                    depth += 1
    bounds, ends = np.zeros(n + 1, dtype=np.int64), np.empty(len(neighbours), dtype=np.int64)
    for k in range(n):
        start, place = starts[numbers[k]], bounds[k]
        bounds[k + 1] = place + starts[numbers[k] + 1] - start
        for e in range(bounds[k + 1] - place):
            ends[place + e] = new[neighbours[start + e]]
    return numbers, bounds, ends
