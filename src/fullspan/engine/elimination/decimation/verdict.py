"""Whether a machine can be decimated, with the order found or the nodes that block it, and how clamping changes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.elimination.decimation.peeling import peel
from fullspan.engine.elimination.decimation.sweeps import Links
from fullspan.errors import FullspanError, NotDecimatableError
from fullspan.graphs import Graph

_NAMED_NODES = 12
"""Nodes named in a message."""
_MAX_WIDTH_NODES = 5_000
"""Blocking nodes up to which the width of general elimination is worked out."""


@dataclass(frozen=True)
class Verdict:
    """Whether a machine can be decimated, and how or why not; true or false as it stands.

    Attributes
    ----------
    order : the nodes in the order in which they are taken out.
    blocking : the nodes left when no rule applies any more; none if the machine can be decimated.
    width : most neighbours that a node has when it is eliminated: at most 3 with the bias node if the machine can be
        decimated; else those that general elimination would meet, without the bias node. None if too many are left to
        tell.
    """

    order: tuple[Any, ...]
    blocking: tuple[Any, ...]
    width: int | None

    def __bool__(self) -> bool:
        return not self.blocking

    def __str__(self) -> str:
        if self:
            return f"decimatable, in the order {_listed(self.order)}"
        width = "" if self.width is None else f"; general elimination would need width {self.width}"
        return f"not decimatable: no rule applies to {_listed(self.blocking)}{width}"


def is_decimatable(graph: Graph | Any, clamped: Sequence[Any] = ()) -> Verdict:
    """Whether a graph can be decimated once some nodes are clamped, every free node having a bias.

    Parameters
    ----------
    graph : a :class:`fullspan.graphs.Graph`, or edges as pairs of names.
    clamped : names of the nodes that are known.

    Raises
    ------
    FullspanError : a name is unknown, or the edges are no graph.

    Examples
    --------
    >>> ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c"), ("b", "d")]
    >>> print(is_decimatable(ring))
    not decimatable: no rule applies to a, b, c, d; general elimination would need width 3
    >>> print(is_decimatable(ring, clamped=["d"]))
    decimatable, in the order c, b, a
    """
    graph = graph if isinstance(graph, Graph) else Graph.of(graph)
    return verdict(len(graph), graph.pairs(), graph.positions(clamped), names=graph.names)


def verdict(
    n: int,
    edges: NDArray[np.int64],
    clamped: Sequence[int] = (),
    biased: NDArray[np.bool_] | None = None,
    names: Sequence[Any] | None = None,
) -> Verdict:
    """The same for nodes by number."""
    labels = range(n) if names is None else names
    links, own, has_bias = clamp(n, edges, clamped, biased)
    steps, left, among = peel(len(links.free_nodes), own, has_bias)
    order = tuple(labels[i] for i in links.free_nodes[steps.node].tolist())
    if not len(left):
        width = int((steps.into >= 0).sum(axis=1).max(initial=0))
        return Verdict(order, (), width)
    return Verdict(order, tuple(labels[i] for i in links.free_nodes[left].tolist()), width_left(left, among))


def checked_edges(n: int, edges: Any, names: Sequence[Any]) -> NDArray[np.int64]:
    """Edges as an array (k, 2).

    Raises
    ------
    FullspanError : a node is unknown, an edge is a loop or there twice.
    """
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    wrong = (pairs < 0) | (pairs >= n)
    if wrong.any():
        raise FullspanError(f"an edge names node {pairs[wrong][0]}; the nodes are 0 to {n - 1}")
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(loops):
        raise FullspanError(f"node {names[int(pairs[loops[0], 0])]!r} is joined with itself; spins have no loops")
    code = np.sort(pairs.min(axis=1) * n + pairs.max(axis=1))
    twice = np.flatnonzero(code[1:] == code[:-1])
    if len(twice):
        a, b = divmod(int(code[twice[0]]), n)
        raise FullspanError(f"the edge between {names[a]!r} and {names[b]!r} is listed twice; add up its couplings")
    return pairs


def clamp(
    n: int, edges: NDArray[np.int64], clamped: Sequence[int], biased: NDArray[np.bool_] | None
) -> tuple[Links, NDArray[np.int64], NDArray[np.bool_]]:
    """How edges and nodes are used once some nodes are clamped; the free graph, and which of its nodes have a bias.

    A neighbour of a clamped node has one in any case.
    """
    known = np.array(clamped, dtype=np.int64)
    if ((known < 0) | (known >= n)).any():
        raise FullspanError(f"node {known[(known < 0) | (known >= n)][0]} is clamped; the nodes are 0 to {n - 1}")
    if len(np.unique(known)) != len(known):
        raise FullspanError("a node is clamped twice")
    is_free = np.ones(n, dtype=bool)
    is_free[known] = False
    place = np.empty(n, dtype=np.int64)
    place[is_free], place[known] = np.arange(is_free.sum()), np.arange(len(known))
    both = is_free[edges]
    inside, outside = both.all(axis=1), ~both.any(axis=1)
    half = np.flatnonzero(~inside & ~outside)
    turned = np.where(both[half, :1], edges[half], edges[half, ::-1])
    links = Links(
        np.flatnonzero(inside).astype(np.int32),
        np.flatnonzero(is_free).astype(np.int32),
        np.column_stack([half, place[turned]]).astype(np.int32).reshape(-1, 3),
        np.column_stack([np.flatnonzero(outside), place[edges[outside]]]).astype(np.int32).reshape(-1, 3),
        known.astype(np.int32),
    )
    has_bias = np.ones(n, dtype=bool) if biased is None else biased.copy()
    has_bias[turned[:, 0]] = True
    return links, place[edges[inside]], has_bias[is_free]


def width_left(left: NDArray[Any], among: NDArray[Any]) -> int | None:
    """Most neighbours met when the nodes left are eliminated, always the one with fewest first."""
    if len(left) > _MAX_WIDTH_NODES:
        return None
    near: dict[int, set[int]] = {v: set() for v in left.tolist()}
    for a, b in among.tolist():
        near[a].add(b)
        near[b].add(a)
    width = 0
    while near:
        v = min(near, key=lambda u: len(near[u]))
        others = near.pop(v)
        width = max(width, len(others))
        for u in others:
            near[u] |= others
            near[u] -= {u, v}
    return width


def blocked(names: Sequence[Any], width: int | None) -> NotDecimatableError:
    would = "" if width is None else f"; general elimination would need width {width}, tables of 2^{width + 1} cells"
    return NotDecimatableError(
        f"the machine cannot be decimated: each of {_listed(names)} has more than three neighbours, the bias node "
        f"included, when no rule applies any more{would}. "
        "Clamp some of them, leave out edges, or fit a BoltzmannMachine",
        tuple(names),
    )


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(map(str, names[:_NAMED_NODES]))
    return shown if len(names) <= _NAMED_NODES else f"{shown}, ... ({len(names)} nodes)"
