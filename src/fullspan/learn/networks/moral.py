"""The moral graph of a network, and what its elimination costs: all variables of a family are neighbours.

The cost is the number of entries of all tables that an order of elimination meets. A move is tried on the order that
was found before, which takes microseconds and never says yes wrongly; a better order is looked for when the cost grew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fullspan.arrays import Ints
from fullspan.engine.elimination.ordering.fill import FEWEST_EDGES, SMALLEST, greedy
from fullspan.model.algebra.jit import serial

Family = tuple[int, ...]
_COST_GROWTH = 1.1
"""Factor by which the cost grows before a better order is looked for."""


class MoralGraph:
    """The moral graph of families, with an order of elimination and its cost.

    Attributes
    ----------
    order, cells : an order of all variables, and the entries of all its tables.
    """

    def __init__(self, cards: Sequence[int] | Ints, families: Iterable[Family] = (), order: Ints | None = None) -> None:
        self.log2_cards = np.log2(np.asarray(cards, dtype=np.float64))
        n = len(self.log2_cards)
        self._shared, self.order = np.zeros((n, n), dtype=np.int32), np.arange(n) if order is None else order
        self._rows, self._ordered_cells = np.zeros((n, (n + 63) // 64), dtype=np.uint64), 0.0
        self.replace((), families)

    def cells_with(self, removed: Iterable[Family], added: Iterable[Family], ceiling: float) -> float:
        """Entries of all tables with other families, by the order as it stands; infinity beyond a ceiling."""
        removed, added = list(removed), list(added)
        self._count(removed, added)
        cells = _cells_of_order(self._rows, self.log2_cards, self.order, ceiling)
        self._count(added, removed)
        return float(cells)

    def replace(self, removed: Iterable[Family], added: Iterable[Family]) -> None:
        """Take families out and others in; where the cost grew much, look for a better order."""
        self._count(removed, added)
        self.cells = float(_cells_of_order(self._rows, self.log2_cards, self.order, np.inf))
        if self.cells > _COST_GROWTH * self._ordered_cells:
            self.reorder()

    def reorder(self) -> None:
        """Look for a better order of the graph as it stands."""
        rows, ties = self._rows, np.arange(len(self.order)) / len(self.order)
        for rule in (SMALLEST, FEWEST_EDGES):
            order, cells, _ = greedy(rows, self.log2_cards, ties, rule, self.cells)
            if cells < self.cells:
                self.order, self.cells = order, float(cells)
        self._ordered_cells = self.cells

    def _count(self, removed: Iterable[Family], added: Iterable[Family]) -> None:
        for families, sign in ((removed, -1), (added, 1)):
            for family in families:
                _count_family(self._shared, self._rows, np.array(family, dtype=np.int64), sign)


@serial
def _count_family(shared: Any, rows: Any, family: Any, by: int) -> None:
    """Count a family among those that hold each pair of its variables, and renew these pairs in the rows of bits."""
    for i in range(family.size):
        for j in range(family.size):
            a, b = family[i], family[j]
            if a != b:
                shared[a, b] += by
                bit = np.uint64(1) << np.uint64(b & 63)
                if shared[a, b] > 0:
                    rows[a, b >> 6] |= bit
                else:
                    rows[a, b >> 6] &= ~bit


@serial
def _cells_of_order(rows: Any, log2_cards: Any, order: Any, ceiling: float) -> float:
    """Entries of all tables of an order; infinity as soon as they are more than the ceiling. ``rows`` are not kept."""
    n, words = rows.shape
    near = rows.copy()
    members = np.empty(n, dtype=np.int64)
    total = 0.0
    for step in range(n):
        v = order[step]
        d, size = 0, log2_cards[v]
        for j in range(words):
            if near[v, j]:
                for b in range(64 * j, min(64 * j + 64, n)):
                    if near[v, j] >> np.uint64(b & 63) & np.uint64(1):
                        members[d] = b
                        size += log2_cards[b]
                        d += 1
        total += 2.0**size
        if total > ceiling:
            return np.inf
        for a in range(d):
            u = members[a]
            for j in range(words):
                near[u, j] |= near[v, j]
            near[u, u >> 6] &= ~(np.uint64(1) << np.uint64(u & 63))
            near[u, v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))
    return total
