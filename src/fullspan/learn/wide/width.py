"""Which edges a graph can take before elimination costs too much: an order kept up to date edge by edge.

Cost is counted in cells, the sum over all steps of the levels of a variable times those of its separator. With the
order fixed, an edge (u, v), u first, puts v into the separators along the path from u towards the root, until one holds
it already: a few set operations. When edges are refused, the order is looked for anew (greedy, several rules and ties).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.engine.elimination.ordering.fill import FEWEST_EDGES, SMALLEST, SWEEP, greedy

_RANDOM_ORDERS = 6
"""Orders with random ties that are tried in addition to the rules."""


class Width:
    """A graph with an order of elimination whose cells stay within a budget.

    Parameters
    ----------
    cards : levels of the variables.
    cells : most cells of all tables together.
    max_width : most variables in one separator; any number by default.
    """

    def __init__(self, cards: Sequence[int], cells: float, max_width: int | None = None) -> None:
        self.cards, self.budget, self.max_width = tuple(cards), cells, max_width or len(cards)
        self.log2 = np.log2(np.array(cards, dtype=np.float64))
        n = len(cards)
        self.rows = np.zeros((n, (n + 63) // 64), dtype=np.uint64)
        self.order = list(range(n))
        self.sizes: Array = np.zeros(n)
        self._later, self._place = list[int](), dict[int, int]()
        self._symbolic()

    @classmethod
    def around(cls, cards: Sequence[int], scopes: Iterable[Sequence[int]], like: Width) -> Width:
        """The graph of some scopes, with the budget of another one and an order of its own."""
        width = cls(cards, like.budget, like.max_width)
        for scope in scopes:
            width._mark(scope)
        width.order = like.order
        width._symbolic()
        width.reorder()
        return width

    # -- what it is -------------------------------------------------------------------------------------------

    @property
    def cells(self) -> float:
        """Cells of all tables together."""
        return float(np.exp2(self.sizes).sum())

    @property
    def width(self) -> int:
        """Most variables in one separator."""
        return max(s.bit_count() for s in self._later)

    def separators(self) -> list[list[int]]:
        """The separator of each step of ``order``."""
        return [[self.order[k] for k in _bits(later)] for later in self._later]

    def holds(self, variables: Iterable[int]) -> bool:
        """Whether some table holds all of these variables, so that a term on them costs nothing."""
        places = sorted(self._place[i] for i in variables)
        rest = sum(1 << k for k in places[1:])
        return rest & ~self._later[places[0]] == 0

    # -- edges ------------------------------------------------------------------------------------------------

    def added(self, u: int, v: int) -> float:
        """Cells that an edge would add under the order as it is."""
        before: dict[int, int] = {}
        self._add(u, v, before)
        cells = sum(2.0 ** self._size(k) - 2.0 ** self.sizes[k] for k in before)
        for k, later in before.items():
            self._later[k] = later
        return float(cells)

    def join(self, variables: Sequence[int]) -> bool:
        """Connect a few variables with each other, unless that costs too much under the order as it is."""
        before: dict[int, int] = {}
        for u, v in itertools.combinations(variables, 2):
            self._add(u, v, before)
        changed = list(before)
        sizes = [self._size(k) for k in changed]
        cells = self.cells + sum(2.0**new - 2.0 ** self.sizes[k] for k, new in zip(changed, sizes, strict=True))
        wide = any(self._later[k].bit_count() > self.max_width for k in changed)
        if cells > self.budget or wide:
            for k, later in before.items():
                self._later[k] = later
            return False
        self.sizes[changed] = sizes
        self._mark(variables)
        return True

    def force(self, variables: Sequence[int]) -> bool:
        """The same under the best order that can be found, which takes longer."""
        if self.join(variables):
            return True
        kept = self.rows.copy(), self.order, list(self._later), self.sizes.copy(), self._place
        self._mark(variables)
        if self.reorder(self.budget, 0):
            return True
        self.rows, self.order, self._later, self.sizes, self._place = kept
        return False

    def reorder(self, ceiling: float | None = None, ties: int = _RANDOM_ORDERS) -> bool:
        """Look for an order of fewer cells than the ceiling, by default those of the present one."""
        least, best = (self.cells * (1 - 1e-9) if ceiling is None else ceiling), None
        n, rng = len(self.cards), np.random.default_rng(0)
        noises = [np.arange(n) / n] * 3 + [rng.random(n) for _ in range(ties)]
        rules = [FEWEST_EDGES, SMALLEST, SWEEP] + [FEWEST_EDGES] * ties
        for rule, noise in zip(rules, noises, strict=True):
            order, total, _ = greedy(self.rows, self.log2, noise, rule, least)
            if total <= least and self._narrow(order):
                best, least = order, total
        if best is None:
            return False
        self.order = best.tolist()
        self._symbolic()
        return True

    # -- inside -----------------------------------------------------------------------------------------------

    def _narrow(self, order: Ints) -> bool:
        if self.max_width >= len(self.cards):
            return True
        kept = self.order, self._later, self.sizes, self._place
        self.order = order.tolist()
        self._symbolic()
        width = self.width
        self.order, self._later, self.sizes, self._place = kept
        return width <= self.max_width

    def _mark(self, variables: Sequence[int]) -> None:
        for u, v in itertools.permutations(variables, 2):
            self.rows[u, v >> 6] |= np.uint64(1 << (v & 63))

    def _symbolic(self) -> None:
        """Separators of the order as bits by place, and log2 of the cells of each step."""
        n = len(self.order)
        self._place = {v: k for k, v in enumerate(self.order)}
        permuted = np.zeros((n, n), dtype=bool)
        bits = np.unpackbits(self.rows.view(np.uint8), axis=1, bitorder="little")[:, :n].astype(bool)
        permuted[:] = bits[np.ix_(self.order, self.order)]
        packed = np.packbits(permuted, axis=1, bitorder="little")
        self._later = [int.from_bytes(row.tobytes(), "little") >> (k + 1) << (k + 1) for k, row in enumerate(packed)]
        for later in self._later:
            if later:
                parent = _lowest(later)
                self._later[parent] |= later & ~(1 << parent)
        self.sizes = np.array([self._size(k) for k in range(n)])

    def _add(self, u: int, v: int, before: dict[int, int]) -> None:
        """Put an edge into the separators; ``before`` are those that it changes."""
        k, second = sorted((self._place[u], self._place[v]))
        new = 1 << second
        while new & ~self._later[k]:
            before.setdefault(k, self._later[k])
            self._later[k] |= new
            parent = _lowest(self._later[k])
            new, k = self._later[k] & ~(1 << parent), parent

    def _size(self, k: int) -> float:
        return float(self.log2[self.order[k]] + sum(self.log2[self.order[j]] for j in _bits(self._later[k])))


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _bits(bits: int) -> list[int]:
    found = []
    while bits:
        found.append(_lowest(bits))
        bits &= bits - 1
    return found
