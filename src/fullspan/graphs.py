"""Graphs of machines that can be decimated: named nodes, edges, and which nodes are inputs, hidden, or outputs.

>>> from fullspan import graphs
>>> graphs.chain(["a", "b", "c"]).edges
(('a', 'b'), ('b', 'c'))
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.errors import FullspanError

Edge = tuple[str, str]


@dataclass(frozen=True)
class Graph:
    """Named nodes, edges between them, and roles; nodes without a role are observed and learned as they are.

    Raises
    ------
    FullspanError : a name is there twice or unknown, a node is joined with itself, an edge is there twice, a node has
    two
        roles.
    """

    names: tuple[str, ...]
    edges: tuple[Edge, ...]
    inputs: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self._place) != len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise FullspanError(f"two nodes are named {twice!r}; rename one")
        seen: set[Edge] = set()
        for a, b in self.edges:
            self.positions((a, b))
            if a == b:
                raise FullspanError(f"the graph joins {a!r} with itself")
            if (a, b) in seen or (b, a) in seen:
                raise FullspanError(f"the graph has the edge between {a!r} and {b!r} twice")
            seen.add((a, b))
        roles: dict[str, str] = {}
        for role in ("inputs", "hidden", "outputs"):
            for name in getattr(self, role):
                self.positions((name,))
                if name in roles:
                    raise FullspanError(f"{name!r} is among the {roles[name]} and the {role}; it can have one role")
                roles[name] = role

    @classmethod
    def of(
        cls,
        edges: Any,
        names: Iterable[str] | None = None,
        inputs: Sequence[str] = (),
        hidden: Sequence[str] = (),
        outputs: Sequence[str] = (),
    ) -> Graph:
        """A graph of edges as pairs of names, ``{name: neighbours}``, or an object with ``edges`` as networkx has.

        ``{name: neighbours}`` may list an edge from both sides. Nodes are in the order of ``names``, or in that in
        which edges and roles name them.
        """
        first: list[str] = []
        if hasattr(edges, "edges"):
            first = [str(v) for v in getattr(edges, "nodes", ())]
            edges = list(edges.edges() if callable(edges.edges) else edges.edges)
        if isinstance(edges, Mapping):
            first = [str(v) for v in edges]
            edges = _once((a, b) for a, near in edges.items() for b in _names(near, a))
        pairs = tuple(_pair(edge) for edge in _iterable(edges))
        if names is None:
            names = dict.fromkeys([*first, *(name for pair in pairs for name in pair), *inputs, *hidden, *outputs])
        return cls(tuple(names), pairs, tuple(inputs), tuple(hidden), tuple(outputs))

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def positions(self, names: Iterable[str]) -> tuple[int, ...]:
        """Numbers of nodes.

        Raises
        ------
        FullspanError : there is no such node.
        """
        out = []
        for name in names:
            if name not in self._place:
                shown = ", ".join(map(str, self.names[:12])) + (", ..." if len(self) > 12 else "")
                raise FullspanError(f"there is no node {name!r} in the graph; its nodes are: {shown}")
            out.append(self._place[name])
        return tuple(out)

    def pairs(self) -> NDArray[np.int64]:
        """Edges (k, 2) as numbers of nodes."""
        flat = [self._place[name] for edge in self.edges for name in edge]
        return np.array(flat, dtype=np.int64).reshape(-1, 2)


def chain(nodes: int | Sequence[str], **roles: Sequence[str]) -> Graph:
    """Nodes in a row, each joined with the next; a number names them x0, x1, ...

    Examples
    --------
    >>> chain(3).names
    ('x0', 'x1', 'x2')
    """
    names = _named(nodes, "x")
    return Graph.of(itertools.pairwise(names), names, **roles)


def tree(edges: Any, **roles: Sequence[str]) -> Graph:
    """A tree or forest, from edges or from ``{child: parent}``.

    Raises
    ------
    FullspanError : the edges close a cycle, which the message names.

    Examples
    --------
    >>> tree({"b": "a", "c": "a"}).edges
    (('a', 'b'), ('a', 'c'))
    """
    if isinstance(edges, Mapping) and all(isinstance(parent, str) for parent in edges.values()):
        edges = [(parent, child) for child, parent in edges.items()]
    graph = Graph.of(edges, **roles)
    above: dict[str, str] = {name: name for name in graph.names}

    def top(name: str) -> str:
        while above[name] != name:
            above[name] = name = above[above[name]]
        return name

    for k, (a, b) in enumerate(graph.edges):
        if top(a) == top(b):
            cycle = " - ".join([*_path(graph.edges[:k], b, a), b])
            raise FullspanError(f"the tree has a cycle: {cycle}; leave out one of its edges")
        above[top(b)] = top(a)
    return graph


def hidden_markov(length: int, per_step: int = 1) -> Graph:
    """A chain of hidden nodes h0, h1, ..., each joined with observed nodes of its own.

    With one observed node at each step these are x0, x1, ...; with several x0_0, x0_1, ...

    Examples
    --------
    >>> hidden_markov(2).edges
    (('h0', 'h1'), ('h0', 'x0'), ('h1', 'x1'))
    """
    _at_least("length", length, 1)
    _at_least("per_step", per_step, 1)
    hidden = _named(length, "h")
    seen = [[f"x{t}" if per_step == 1 else f"x{t}_{k}" for k in range(per_step)] for t in range(length)]
    edges = [*itertools.pairwise(hidden), *((hidden[t], x) for t in range(length) for x in seen[t])]
    return Graph.of(edges, [*(x for step in seen for x in step), *hidden], hidden=hidden)


def factorial(length: int) -> Graph:
    """Two independent hidden chains a0, a1, ... and b0, b1, ... that explain one observed chain x0, x1, ... together.

    Every x_t is joined with a_t and b_t. Two chains are the most that stay decimatable with nothing clamped: a third
    would give x_t four neighbours with the bias node.

    Examples
    --------
    >>> factorial(1).edges
    (('a0', 'x0'), ('b0', 'x0'))
    """
    _at_least("length", length, 1)
    a, b, x = (_named(length, prefix) for prefix in "abx")
    edges = [
        *itertools.pairwise(a),
        *itertools.pairwise(b),
        *(pair for t in range(length) for pair in ((a[t], x[t]), (b[t], x[t]))),
    ]
    return Graph.of(edges, [*x, *a, *b], hidden=[*a, *b])


def _named(nodes: Any, prefix: str) -> list[str]:
    if isinstance(nodes, int | np.integer) and not isinstance(nodes, bool):
        _at_least("nodes", int(nodes), 1)
        return [f"{prefix}{i}" for i in range(int(nodes))]
    return [str(name) for name in _iterable(nodes)]


def _at_least(what: str, value: Any, least: int) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise FullspanError(f"{what} is {value!r}; a whole number of at least {least} is needed")


def _iterable(edges: Any) -> Iterable[Any]:
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise FullspanError(f"the graph is {edges!r}; edges as pairs of names or {{name: neighbours}} are needed")
    return edges


def _names(near: Any, of: Any) -> Iterable[Any]:
    if isinstance(near, str | bytes) or not isinstance(near, Iterable):
        raise FullspanError(f"the graph gives {of!r} the neighbours {near!r}; a list of names is needed")
    return near


def _pair(edge: Any) -> Edge:
    pair = tuple(edge) if not isinstance(edge, str) and isinstance(edge, Iterable) else (edge,)
    if len(pair) != 2:
        raise FullspanError(f"{edge!r} is not an edge; a graph is a list of pairs of names")
    return str(pair[0]), str(pair[1])


def _once(pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Edges listed from both sides, each once."""
    seen: dict[frozenset[Any], tuple[Any, Any]] = {}
    for a, b in pairs:
        seen.setdefault(frozenset((a, b)), (a, b))
    return list(seen.values())


def _path(edges: Sequence[Edge], start: str, goal: str) -> list[str]:
    """The path from one node to another in a forest."""
    near: dict[str, list[str]] = {}
    for a, b in edges:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    paths = [[start]]
    while paths:
        path = paths.pop()
        if path[-1] == goal:
            return path
        paths += [[*path, v] for v in near.get(path[-1], []) if len(path) < 2 or v != path[-2]]
    return [start]
