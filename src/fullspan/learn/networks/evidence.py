"""The log evidence of families in tables of any number of columns, with each further parent at once.

The score is that of module ``families`` for whole tables (BDeu); here parents are tuples, since masks of bits end at 62
columns, and all further parents of a variable are scored in one pass over the rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.data import Empirical
from fullspan.data.merging import code_dtype
from fullspan.learn.networks.families import table_evidence
from fullspan.model.algebra.jit import serial

Parents = tuple[int, ...]
"""Positions of variables, increasing."""


class Evidence:
    """Scores of families in counted, complete rows.

    Parameters
    ----------
    strength : pseudo-rows of a table, spread over its cells.
    name : nats for naming one parent.
    largest : most cells of a table; a variable alone has its table, whatever its levels.
    candidates : (n, k) further parents that are looked at; all where None.
    """

    def __init__(
        self, data: Empirical, strength: float, name: float, largest: int, candidates: list[Ints] | None = None
    ) -> None:
        self.cards = np.array(data.space.cards, dtype=np.int64)
        self.columns = np.require(data.states.T, code_dtype(data.space.cards), ["C", "W"])
        self.weights = np.ascontiguousarray(data.counts)
        self.strength, self.name, self.largest = strength, name, largest
        self.candidates = candidates
        self._known: dict[tuple[int, Parents], float] = {}
        self._joined: dict[tuple[int, Parents], Array] = {}

    def of(self, v: int, parents: Parents) -> float:
        """The score of a variable and its parents; minus infinity where the table would be too large."""
        if (v, parents) not in self._known:
            self._known[v, parents] = float(self._scores(v, parents, np.array([-1]))[0])
        return self._known[v, parents]

    def joined(self, v: int, parents: Parents) -> Array:
        """(n,) the scores with each further parent; minus infinity for those that are no candidates."""
        if (v, parents) not in self._joined:
            out = np.full(len(self.cards), -np.inf)
            asked = np.arange(len(self.cards)) if self.candidates is None else self.candidates[v]
            asked = asked[(asked != v) & ~np.isin(asked, parents)]
            out[asked] = self._scores(v, parents, asked)
            self._joined[v, parents] = out
        return self._joined[v, parents]

    def widened(self, v: int, parents: Parents) -> bool:
        """Score all variables as further parents, candidates or not; whether one that is none would add evidence."""
        if self.candidates is None:
            return False
        others = np.setdiff1d(np.arange(len(self.cards)), [v, *parents, *self.candidates[v]])
        # More than rounding: otherwise equal scores would widen the candidates for ever.
        better = others[self._scores(v, parents, others) > self.of(v, parents) + 1e-9]
        if len(better):
            self.candidates[v] = np.union1d(self.candidates[v], better)
            for key in [key for key in self._joined if key[0] == v]:
                del self._joined[key]
        return len(better) > 0

    def with_strength(self, strength: float) -> Evidence:
        """The same with another prior, and nothing known yet."""
        other = object.__new__(Evidence)
        other.__dict__.update(self.__dict__, strength=strength, _known={}, _joined={})
        return other

    def _scores(self, v: int, parents: Parents, others: Ints) -> Array:
        out = np.empty(len(others))
        held = np.array(parents, dtype=np.int64)
        _joined_evidence(self.columns, self.weights, self.cards, v, held, others, self.strength, self.largest, out)
        return out - self.name * (len(parents) + (others >= 0))


@serial
def _joined_evidence(
    columns: Any, weights: Any, cards: Any, v: int, parents: Any, others: Any, strength: float, largest: int, out: Any
) -> None:
    """The evidence of v given its parents and each of the others; -1 is none."""
    m = weights.size
    where = np.empty(m, dtype=np.int64)
    stride = cards[v]
    for r in range(m):
        where[r] = columns[v, r]
    # The cell of the parents' table once for all further parents, which each add one digit.
    for j in range(parents.size):
        p = parents[j]
        for r in range(m):
            where[r] += stride * columns[p, r]
        stride *= cards[p]
    for a in range(others.size):
        u = others[a]
        size = stride if u < 0 else stride * cards[u]
        # A variable alone must have a table, or it could not be in any network.
        if size > largest and (u >= 0 or parents.size > 0):
            out[a] = -math.inf
            continue
        table = np.zeros(size)
        if u < 0:
            for r in range(m):
                table[where[r]] += weights[r]
        else:
            for r in range(m):
                table[where[r] + stride * columns[u, r]] += weights[r]
        out[a] = table_evidence(table, cards[v], strength / size)
