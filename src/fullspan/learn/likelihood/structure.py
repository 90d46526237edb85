"""Which terms a machine has: all up to an order, those of a graph, of margins, or a list.

Structures are given by variable names, and become terms of a basis: a set of variables stands for all products of
their functions, ``prod_i (|X_i| - 1)`` of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullspan.data.space import Space
from fullspan.errors import FullspanError, QueryError
from fullspan.model.algebra.basis import Basis, Term

MAX_TERMS = 20_000
"""Most weights of a machine: Newton's method and the standard errors need the square of their number."""

Scope = tuple[int, ...]


@dataclass(frozen=True)
class Structure:
    """Sets of variables that interact.

    Attributes
    ----------
    scopes : the sets, each increasing; every one stands for its own terms, not for those of its subsets.
    margins : the largest sets whose subsets are all there, or None if the structure is not hierarchical.
    """

    scopes: tuple[Scope, ...]
    margins: tuple[Scope, ...] | None

    def terms(self, basis: Basis, limit: int = MAX_TERMS) -> tuple[Term, ...]:
        """The terms of all scopes, in their order.

        Raises
        ------
        FullspanError : there would be too many.
        """
        number = sum(math.prod(basis.cards[i] - 1 for i in scope) for scope in self.scopes)
        if number > limit:
            raise FullspanError(
                f"the machine would have {number:,} weights; at most {limit:,} are fitted jointly: "
                "lower the order, or give graph=, margins= or terms="
            )
        return tuple(
            tuple(zip(scope, digits, strict=True))
            for scope in self.scopes
            for digits in itertools.product(*(range(1, basis.cards[i]) for i in scope))
        )


def structure(
    space: Space,
    order: int | None = 2,
    graph: Any = None,
    terms: Any = None,
    margins: Any = None,
    limit: int = MAX_TERMS,
) -> Structure:
    """The structure of a machine over ``space``; at most one of ``graph``, ``terms`` and ``margins``.

    Parameters
    ----------
    order : most variables in a term; with a graph, most variables of a clique. Not with ``terms`` or ``margins``.
    graph : edges as pairs of names, ``{name: neighbours}``, a square 0/1 matrix in the order of the variables, or an
        object with ``edges`` such as networkx has. Every variable keeps its main effect.
    terms : sets of names, taken literally: nothing is added.
    margins : sets of names; all their subsets are added (a hierarchical model, as R's loglin has them).

    Raises
    ------
    FullspanError : a name is unknown or repeated, or the choices contradict each other.
    """
    given = [name for name, value in (("graph", graph), ("terms", terms), ("margins", margins)) if value is not None]
    if len(given) > 1:
        raise FullspanError(f"{' and '.join(given)} are given; choose one of them")
    if order is not None and (not isinstance(order, int | np.integer) or isinstance(order, bool) or order < 1):
        raise FullspanError(f"order is {order!r}; a whole number of at least 1 is needed")
    if order not in (None, 2) and (terms is not None or margins is not None):
        raise FullspanError(
            f"order is {order} and {given[0]} are given, which define the terms already; leave out order"
        )
    if terms is not None:
        scopes = _distinct(_scopes(space, terms, "terms"))
        return Structure(scopes, _margins_of(scopes))
    if margins is not None:
        names = _scopes(space, margins, "margins")
        return _hierarchical(names, limit)
    n = len(space)
    if graph is not None:
        pairs = edges_of(space, graph)
        return _hierarchical([*((i,) for i in range(n)), *_cliques(n, pairs, order or n, limit)], limit)
    top = min(order if order is not None else n, n)
    _require(sum(math.comb(n, size) for size in range(1, top + 1)), f"order {top} of {n} variables has", limit)
    return _hierarchical(list(itertools.combinations(range(n), top)), limit)


def _require(number: int, what: str, limit: int) -> None:
    """Refuse too many sets of variables before they are listed."""
    if number > limit:
        beyond = "" if limit > MAX_TERMS else "; solver='pcd' or 'pseudo' takes more"
        raise FullspanError(
            f"{what} {number:,} sets of variables; at most {limit:,} weights are fitted jointly: "
            f"lower the order, or give fewer or smaller sets{beyond}"
        )


def _hierarchical(sets: Iterable[Scope], limit: int) -> Structure:
    scopes: set[Scope] = set()
    for scope in sets:
        _require(2 ** len(scope) - 1, f"a margin of {len(scope)} variables has", limit)
        for size in range(1, len(scope) + 1):
            scopes.update(itertools.combinations(scope, size))
    ordered = tuple(sorted(scopes, key=lambda a: (len(a), a)))
    return Structure(ordered, _margins_of(ordered))


def _margins_of(scopes: Sequence[Scope]) -> tuple[Scope, ...] | None:
    """The maximal scopes, if all their subsets are scopes too."""
    known = set(scopes)
    for scope in scopes:
        if any(part not in known for part in itertools.combinations(scope, len(scope) - 1) if part):
            return None
    covered = {part for scope in scopes for part in itertools.combinations(scope, len(scope) - 1)}
    return tuple(scope for scope in scopes if scope not in covered)


def _distinct(scopes: Sequence[Scope]) -> tuple[Scope, ...]:
    return tuple(sorted(set(scopes), key=lambda a: (len(a), a)))


def _scopes(space: Space, sets: Any, what: str) -> list[Scope]:
    _refuse_iterator(sets, what)
    if isinstance(sets, str | bytes | Mapping) or not isinstance(sets, Iterable):
        raise FullspanError(f"{what} is {sets!r}; a list of lists of variable names is needed")
    out = []
    for names in sets:
        if not isinstance(names, Iterable):
            raise FullspanError(f"{names!r} in {what} is not a list of variable names")
        names = [names] if isinstance(names, str) else list(names)
        chosen = [position_of(space, name, what) for name in names]
        if not chosen:
            raise FullspanError(f"{what} has an empty set of variables; leave it out")
        for i in chosen:
            if chosen.count(i) > 1:
                raise FullspanError(f"{what} names {space.names[i]!r} twice in one set: {names!r}")
        out.append(tuple(sorted(chosen)))
    if not out:
        raise FullspanError(f"{what} is empty; give at least one set of variables")
    return out


def _refuse_iterator(given: Any, what: str) -> None:
    if isinstance(given, Iterator):
        raise FullspanError(f"{what} is {given!r}, which can be read only once; give a list")


def position_of(space: Space, name: Any, what: str) -> int:
    """Position of a variable given by name, or by number where no name is the number's text."""
    if isinstance(name, int | np.integer) and not isinstance(name, bool) and str(name) not in space.names:
        if 0 <= name < len(space):
            return int(name)
        raise FullspanError(f"{what} names variable {name}, but there are {len(space)}, counted from 0")
    try:
        return space.position(name if isinstance(name, str) else str(name))
    except QueryError as error:
        raise FullspanError(f"{what} names {name!r}: {error}") from error


def edges_of(space: Space, graph: Any) -> set[Scope]:
    """Pairs of positions, the lower one first, of a graph given in any of the forms of :func:`structure`.

    Raises
    ------
    FullspanError : it is none, or names an unknown variable.
    """
    _refuse_iterator(graph, "graph")
    if hasattr(graph, "edges"):
        graph = list(graph.edges() if callable(graph.edges) else graph.edges)
    if isinstance(graph, Mapping):
        graph = _of_neighbours(space, graph)
    elif isinstance(graph, np.ndarray) and graph.ndim == 2 and (graph.shape[1] != 2 or len(graph) == len(space) == 2):
        graph = _of_matrix(graph, len(space))
    edges: set[Scope] = set()
    for edge in _pairs(graph):
        a, b = (position_of(space, name, "graph") for name in edge)
        if a == b:
            raise FullspanError(f"the graph joins {space.names[a]!r} with itself")
        edges.add((min(a, b), max(a, b)))
    return edges


def _of_neighbours(space: Space, graph: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    out = []
    for a, neighbours in graph.items():
        position_of(space, a, "graph")
        if isinstance(neighbours, str) or not isinstance(neighbours, Iterable):
            raise FullspanError(f"the graph gives {a!r} the neighbours {neighbours!r}; a list of names is needed")
        out += [(a, b) for b in neighbours]
    return out


def _of_matrix(matrix: Any, n: int) -> list[tuple[int, int]]:
    if matrix.shape != (n, n):
        raise FullspanError(f"the graph is a matrix of shape {matrix.shape}; ({n}, {n}) is needed")
    if (matrix != matrix.T).any():
        i, j = map(int, np.argwhere(matrix != matrix.T)[0])
        raise FullspanError(f"the matrix of the graph is not symmetric: entries ({i}, {j}) and ({j}, {i}) differ")
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(matrix, 1) != 0)]


def _pairs(graph: Any) -> list[tuple[Any, Any]]:
    if isinstance(graph, str | bytes) or not isinstance(graph, Iterable):
        raise FullspanError(f"graph is {graph!r}; edges as pairs of names, {{name: neighbours}} or a matrix are needed")
    out = []
    for edge in graph:
        pair = tuple(edge) if not isinstance(edge, str) and isinstance(edge, Iterable) else (edge,)
        if len(pair) != 2:
            raise FullspanError(f"{edge!r} is not an edge; a graph is a list of pairs of variable names")
        out.append(pair)
    return out


def _cliques(n: int, edges: set[Scope], order: int, limit: int) -> list[Scope]:
    """All complete sets of 2 to ``order`` vertices."""
    level: list[Scope] = sorted(edges) if order >= 2 else []
    found = list(level)
    for _ in range(3, order + 1):
        level = [
            (*clique, v) for clique in level for v in range(clique[-1] + 1, n) if all((u, v) in edges for u in clique)
        ]
        if not level:
            break
        found += level
        _require(len(found), "the graph has at least", limit)
    return found
