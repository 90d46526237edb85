"""Factor graphs of every shape for tests, small enough to enumerate, and their exact sums by enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fullspan.data import Space
from fullspan.model import FactorGraph

Edges = list[tuple[int, ...]]


def grid(rows: int, columns: int) -> Edges:
    right = [(r * columns + c, r * columns + c + 1) for r in range(rows) for c in range(columns - 1)]
    return right + [(r * columns + c, (r + 1) * columns + c) for r in range(rows - 1) for c in range(columns)]


def tree(n: int, seed: int = 0) -> Edges:
    rng = np.random.default_rng(seed)
    return [(int(rng.integers(v)), v) for v in range(1, n)]


def k_tree(n: int, k: int, seed: int = 0) -> Edges:
    rng = np.random.default_rng(seed)
    edges: Edges = list(itertools.combinations(range(k), 2))
    cliques = [tuple(range(k))]
    for v in range(k, n):
        clique = cliques[rng.integers(len(cliques))]
        edges += [(u, v) for u in clique]
        cliques += [(*clique[:i], *clique[i + 1 :], v) for i in range(k)]
    return edges


SHAPES: dict[str, tuple[int, Edges]] = {
    "chain": (7, [(i, i + 1) for i in range(6)]),
    "tree": (8, tree(8, 3)),
    "star": (7, [(0, i) for i in range(1, 7)]),
    "cycle": (7, [(i, (i + 1) % 7) for i in range(7)]),
    "2-tree": (7, k_tree(7, 2, 1)),
    "3-regular": (8, [*((i, (i + 1) % 8) for i in range(8)), *((i, i + 4) for i in range(4))]),
    "grid": (9, grid(3, 3)),
    "complete": (6, list(itertools.combinations(range(6), 2))),
    "disconnected": (7, [(0, 1), (1, 2), (4, 5)]),
    "isolated": (4, []),
    "one": (1, [(0,)]),
    "higher order": (7, [(0, 1, 2), (2, 3, 4, 5), (5, 6), (6,), (1, 4, 6)]),
    "duplicates": (5, [(0, 1), (1, 0), (0, 1), (2, 3), (1, 2), (4,), (4,), ()]),
}


def cards_of(kind: str, n: int, seed: int = 0) -> list[int]:
    """All binary, or 1 to 5 levels."""
    if kind == "binary":
        return [2] * n
    return np.random.default_rng(seed + 17).integers(2, 6, size=n).clip(2, 5 if n < 7 else 3).tolist()


def weighted(
    edges: Edges, cards: list[int], seed: int = 0, scale: float = 0.8, forbidden: float = 0.0, unary: bool = True
) -> FactorGraph:
    """Normal log tables on the edges and on single variables; a share of the entries is -inf, never the first state."""
    rng = np.random.default_rng(seed)
    scopes = [*edges, *(((i,) for i in range(len(cards))) if unary else ())]
    tables = []
    for scope in scopes:
        table = np.asarray(rng.normal(scale=scale, size=[cards[i] for i in scope]))
        closed = np.asarray(rng.random(table.shape) < forbidden)
        closed[(0,) * table.ndim] = False
        tables.append(np.where(closed, -np.inf, table))
    return FactorGraph(Space.of_cards(cards), tuple(scopes), tuple(tables))


class Enumerated:
    """A graph's distribution by listing all states."""

    def __init__(self, graph: FactorGraph, agrees: Callable[[NDArray[np.int64]], NDArray[np.bool_]] | None = None):
        self.graph = graph
        states = np.array(list(itertools.product(*map(range, graph.space.cards))), dtype=np.int64)
        self.states = states if agrees is None else states[agrees(states)]
        self.weights = graph.log_weight(self.states)
        top = self.weights.max()
        self.log_z = float(top + np.log(np.exp(self.weights - top).sum()))
        self.p = np.exp(self.weights - self.log_z)

    def marginal(self, scope: tuple[int, ...]) -> NDArray[np.float64]:
        cards = [self.graph.space.cards[i] for i in scope]
        places = (
            np.ravel_multi_index(tuple(self.states[:, i] for i in scope), cards) if scope else 0 * self.states[:, 0]
        )
        return np.bincount(places, self.p, minlength=int(np.prod(cards))).reshape(cards)
