"""Expected contrasts by elimination, for :mod:`fullspan.learn.private.evidence`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.engine.elimination import ClusterTree
from fullspan.learn.private.measured import Scope, of_margin, to_table
from fullspan.model.graph import FactorGraph


class WideOracle:
    """One sweep forward and one backward over the clusters of a graph of bounded width."""

    def __init__(self, scopes: Sequence[Scope], cards: Sequence[int], max_memory: int | None = None) -> None:
        self.scopes = list(scopes)
        self.shapes = [[cards[i] for i in scope] for scope in scopes]
        sizes = [math.prod(card - 1 for card in shape) for shape in self.shapes]
        self._ends = np.cumsum([0, *sizes])
        graph = FactorGraph(Space.of_cards(cards), tuple(scopes), [np.zeros(shape) for shape in self.shapes])
        self._tree = ClusterTree(graph, max_memory=max_memory)

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """log Z and the expected contrasts."""
        values = np.concatenate([table.reshape(-1) for table in self.tables(theta)])
        beliefs = self._tree.reweighted(values).beliefs()
        return beliefs.log_z, np.concatenate([of_margin(beliefs.factor(f)) for f in range(len(self.scopes))])

    def fisher(self, theta: Array) -> None:
        """Too many contrasts for their covariance."""

    def tables(self, theta: Array) -> list[Array]:
        """The weights as one table for each interaction."""
        parts = zip(self._ends, self._ends[1:], self.shapes, strict=False)
        return [to_table(theta[a:b], shape) for a, b, shape in parts]


def cells_of(scopes: Sequence[Scope], cards: Sequence[int]) -> int:
    """Cells of the tables that an elimination of these interactions meets, smallest table first."""
    near: dict[int, set[int]] = {i: set() for scope in scopes for i in scope}
    for scope in scopes:
        for i in scope:
            near[i].update(j for j in scope if j != i)
    cells = 0
    while near:
        sizes = {i: cards[i] * math.prod(cards[j] for j in others) for i, others in near.items()}
        first = min(sizes, key=lambda i: (sizes[i], i))
        cells += sizes[first]
        others = near.pop(first)
        for j in others:
            near[j] |= others
            near[j] -= {first, j}
    return cells
