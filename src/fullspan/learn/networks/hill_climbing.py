"""A tabu search over networks whose elimination stays within a number of cells.

A move adds an arc, removes one, or turns one around. The best one that closes no circle and keeps the cost is made,
also where it loses evidence, as long as it leads to the best network yet, or changes no pair that was changed lately
and leads to a new one. After some moves without a better network the search ends with the best (Glover 1990; no search
was better in the comparison of Scutari, Graafland & Gutierrez 2019).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.learn.networks.evidence import Evidence, Parents
from fullspan.learn.networks.moral import Family, MoralGraph

TABU, PATIENCE = 30, 40
"""Moves that a pair of variables rests after it was changed, and moves without a better network that end the search."""
_EQUAL_NATS = 1e-9
"""Nats below which two networks are equally good."""
Report = Callable[["HillClimbing"], None]


class Move(NamedTuple):
    """New parents of one variable or two, and the evidence that they add."""

    gain: float
    pair: tuple[int, int]
    changes: tuple[tuple[int, Parents], ...]


class HillClimbing:
    """One search; ``best`` are the parents of the best network so far, and ``best_score`` its evidence;
    ``best_order`` is an order of elimination with ``best_cells`` entries.

    Parameters
    ----------
    max_cells : most entries of all tables that the elimination may meet.
    report : called after each better network.
    order : of elimination, to begin with.
    """

    def __init__(
        self,
        evidence: Evidence,
        parents: list[Parents],
        max_cells: float,
        report: Report | None = None,
        order: Ints | None = None,
    ) -> None:
        self.evidence, self.parents, self.max_cells, self.report = evidence, list(parents), max_cells, report
        n = len(parents)
        self.moral = MoralGraph(evidence.cards, [self._family(v) for v in range(n)], order)
        self._gain = np.full((n, n), -np.inf)
        self._is_parent = np.zeros((n, n), dtype=bool)
        self._too_dear: set[tuple[tuple[int, Parents], ...]] = set()
        self._seen: set[tuple[Parents, ...]] = {tuple(parents)}
        for v in range(n):
            self._refresh(v)
        self.best, self.best_score = list(parents), self.score
        self.best_cells, self.best_order = self.moral.cells, self.moral.order

    @property
    def score(self) -> float:
        """The log evidence of the network as it stands."""
        return float(sum(self.evidence.of(v, parents) for v, parents in enumerate(self.parents)))

    def run(self) -> None:
        """Search until nothing better is found, also among parents that are no candidates at first."""
        while True:
            self._search()
            if not any([self.evidence.widened(v, self.best[v]) for v in range(len(self.best))]):
                return
            self._return_to_best()

    def _search(self) -> None:
        recent: deque[tuple[int, int]] = deque(maxlen=min(TABU, len(self.parents) - 2) if len(self.parents) > 2 else 0)
        worse = 0
        while worse < PATIENCE:
            move = next(self._legal(recent), None)
            if move is None:
                return
            # Before anything is given up for lack of cells, a better order of elimination may make room.
            if move.gain <= _EQUAL_NATS and worse == 0 and self._too_dear:
                self._too_dear.clear()  # they were tried on other orders of elimination
                self.moral.reorder()
                move = next(self._legal(recent), move)
            self._make(move)
            recent.append(move.pair)
            # Counted before it is known whether the move was better, which sets it back.
            worse += 1
            if self.score > self.best_score + _EQUAL_NATS and self.moral.cells <= self.max_cells:
                self.best, self.best_score = list(self.parents), self.score
                self.best_cells, self.best_order = self.moral.cells, self.moral.order
                worse = 0
                if self.report is not None:
                    self.report(self)

    def _return_to_best(self) -> None:
        changed = [v for v in range(len(self.best)) if self.best[v] != self.parents[v]]
        self._make(Move(0.0, (0, 0), tuple((v, self.best[v]) for v in changed)))
        for v in range(len(self.best)):
            self._refresh(v)

    # -- moves ------------------------------------------------------------------------------------------------

    def _legal(self, recent: deque[tuple[int, int]]) -> Iterator[Move]:
        """Moves that may be made, the best first."""
        ancestors, score = self._ancestors(), self.score
        for move in self._sorted(ancestors):
            is_better = score + move.gain > self.best_score + _EQUAL_NATS
            if move.changes in self._too_dear or (not is_better and (move.pair in recent or self._is_seen(move))):
                continue
            if self._cells(move) <= self.max_cells:
                yield move
            else:
                self._too_dear.add(move.changes)

    def _sorted(self, ancestors: list[int]) -> Iterator[Move]:
        """Moves that close no circle, by the evidence that they add."""
        n, is_parent = len(self.parents), self._is_parent
        # Of two variables one arc at the most.
        joined = np.where(is_parent | is_parent.T, -np.inf, self._gain)
        left = np.where(is_parent, self._gain, -np.inf)
        # The gain of taking the arc out plus that of the opposite one.
        turned = np.where(is_parent, self._gain + self._gain.T, -np.inf)
        gains = np.concatenate([joined.ravel(), left.ravel(), turned.ravel()])
        for place in _from_the_largest(gains):
            kind, rest = divmod(place, n * n)
            v, u = divmod(rest, n)
            move = self._move(float(gains[place]), kind, v, u, ancestors)
            if move is not None:
                yield move

    def _move(self, gain: float, kind: int, v: int, u: int, ancestors: list[int]) -> Move | None:
        """Join u to the parents of v (0), take it out (1), or turn the arc around (2)."""
        pair = (min(u, v), max(u, v))
        if kind == 0:
            return None if ancestors[u] >> v & 1 else Move(gain, pair, ((v, _with(self.parents[v], u)),))
        rest = tuple(p for p in self.parents[v] if p != u)
        if kind == 1:
            return Move(gain, pair, ((v, rest),))
        # u is above v by another path as well: the turned arc would close a circle.
        if any(ancestors[p] >> u & 1 for p in rest):
            return None
        return Move(gain, pair, ((v, rest), (u, _with(self.parents[u], v))))

    def _is_seen(self, move: Move) -> bool:
        after = list(self.parents)
        for v, parents in move.changes:
            after[v] = parents
        return tuple(after) in self._seen

    def _cells(self, move: Move) -> float:
        return self.moral.cells_with(*self._families(move), self.max_cells)

    def _families(self, move: Move) -> tuple[list[Family], list[Family]]:
        """What a move takes out and puts in."""
        return [self._family(v) for v, _ in move.changes], [(v, *parents) for v, parents in move.changes]

    def _make(self, move: Move) -> None:
        self.moral.replace(*self._families(move))
        for v, parents in move.changes:
            self.parents[v] = parents
            self._refresh(v)
        self._seen.add(tuple(self.parents))

    # -- what is known of the network as it stands ------------------------------------------------------------

    def _family(self, v: int) -> Family:
        return v, *self.parents[v]

    def _refresh(self, v: int) -> None:
        """What each change of the parents of v adds."""
        parents, own = self.parents[v], self.evidence.of(v, self.parents[v])
        gain: Array = self.evidence.joined(v, parents) - own
        for u in parents:
            gain[u] = self.evidence.of(v, tuple(p for p in parents if p != u)) - own
        self._gain[v], self._is_parent[v] = gain, False
        self._is_parent[v, list(parents)] = True

    def _ancestors(self) -> list[int]:
        """The ancestors of each variable and itself, as bits."""
        found = [0] * len(self.parents)
        children: list[list[int]] = [[] for _ in self.parents]
        waiting = [len(parents) for parents in self.parents]
        for v, parents in enumerate(self.parents):
            for p in parents:
                children[p].append(v)
        ready = [v for v, number in enumerate(waiting) if not number]
        while ready:
            p = ready.pop()
            found[p] |= 1 << p
            for v in children[p]:
                found[v] |= found[p]
                waiting[v] -= 1
                if not waiting[v]:
                    ready.append(v)
        return found


_SORTED_MOVES = 256
"""Moves that are sorted at first."""


def _from_the_largest(gains: Array) -> Iterator[int]:
    """Places of finite numbers, the largest first; equal ones in their order."""
    places = np.flatnonzero(np.isfinite(gains))
    if len(places) > _SORTED_MOVES:
        finite = gains[places]
        is_first = finite > np.partition(finite, len(finite) - _SORTED_MOVES)[len(finite) - _SORTED_MOVES]
        first, places = places[is_first], places[~is_first]
        yield from first[np.argsort(-gains[first], kind="stable")].tolist()
    yield from places[np.argsort(-gains[places], kind="stable")].tolist()


def _with(parents: Parents, u: int) -> Parents:
    return tuple(sorted((*parents, u)))
