"""The cliques of an order of elimination, and second moments of any functions that live in them.

Given what a clique P shares with a child c, all that lies below c is independent of the rest. So conditional
expectations E_c[x_S, y] = E[f_y | x_S] of all functions f_y below c travel towards the root,

    E_P[x_S', y] = sum over P \\ S' of p(x_P | x_S') E_c[x_S, y],
    <f_y f_z> = sum over x_S of p(x_S) E[f_z | x_S] E_c[x_S, y]     for z in P or below another child.

All second moments, of neighbours or not, take one sweep: O(cells x functions) time. With the levels of all variables as
functions these are the marginals of all pairs; with the terms of a model, its Fisher information.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fullspan.arrays import Array, Ints


@dataclass(frozen=True)
class Cliques:
    """The maximal cliques of an order of elimination, each after its parent.

    Attributes
    ----------
    cards : levels of all variables.
    members : the variables of each clique, ascending.
    parents : the clique before that holds the separator; -1 for the first.
    separators : the variables that a clique shares with its parent, ascending.
    """

    cards: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]
    parents: tuple[int, ...]
    separators: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, cards: Sequence[int], order: Sequence[int], separators: Sequence[Sequence[int]]) -> Cliques:
        """Merge the tables of an order: step k sums out ``order[k]``, next to the variables ``separators[k]``."""
        place = {v: k for k, v in enumerate(order)}
        clique_of, members, parents, shared = [-1] * len(order), list[set[int]](), list[int](), list[set[int]]()
        for k in reversed(range(len(order))):
            separator = set(separators[k])
            above = clique_of[min(place[u] for u in separator)] if separator else len(members) - 1
            if above >= 0 and separator == members[above]:
                members[above].add(order[k])
                clique_of[k] = above
                continue
            clique_of[k] = len(members)
            members.append(separator | {order[k]})
            parents.append(above)
            shared.append(separator)
        return cls(
            tuple(cards),
            tuple(tuple(sorted(m)) for m in members),
            tuple(parents),
            tuple(tuple(sorted(s)) for s in shared),
        )

    def shape(self, k: int) -> tuple[int, ...]:
        """Levels of the variables of a clique: the shape of its table."""
        return tuple(self.cards[i] for i in self.members[k])

    @cached_property
    def sizes(self) -> Ints:
        """Cells of each clique."""
        return np.array([math.prod(self.shape(k)) for k in range(len(self.members))], dtype=np.int64)

    @cached_property
    def homes(self) -> dict[int, list[int]]:
        """The cliques that hold each variable."""
        found: dict[int, list[int]] = {}
        for k, members in enumerate(self.members):
            for i in members:
                found.setdefault(i, []).append(k)
        return found

    def home(self, variables: Sequence[int]) -> int:
        """The first clique that holds all of these variables; -1 if none does."""
        if not variables:
            return 0
        common = set(self.homes[variables[0]]).intersection(*(self.homes[i] for i in variables[1:]))
        return min(common, default=-1)

    def second_moments(self, tables: Sequence[Array], functions: Sequence[Array]) -> Array:
        """``<f_y f_z>`` of functions given as columns (cells, k) at their home cliques, numbered clique by clique.

        Parameters
        ----------
        tables : ``p(x_C)`` of every clique, shaped as its levels.
        functions : for every clique its functions, over its flat cells.
        """
        starts = np.concatenate([[0], np.cumsum([f.shape[1] for f in functions])]).astype(np.int64)
        out = np.zeros((starts[-1], starts[-1]))
        arrived: dict[int, list[tuple[int, Ints, Array]]] = {}
        for k in reversed(range(len(tables))):
            p, f = tables[k], functions[k]
            numbers = np.arange(starts[k], starts[k + 1])
            weighted = f * p.reshape(-1, 1)
            out[np.ix_(numbers, numbers)] = weighted.T @ f
            weighted = weighted.reshape(*p.shape, -1)
            for child, below, expected in arrived.pop(k, ()):
                gone, shape = self._onto(k, child)
                if len(numbers):
                    at_separator = weighted.sum(axis=gone).reshape(len(expected), -1)
                    block = at_separator.T @ expected
                    out[np.ix_(numbers, below)] = block
                    out[np.ix_(below, numbers)] = block.T
                numbers = np.concatenate([numbers, below])
                spread = p[..., None] * expected.reshape(*shape, len(below))
                weighted = np.concatenate([weighted, spread], axis=-1) if weighted.shape[-1] else spread
            if k and len(numbers):
                arrived.setdefault(self.parents[k], []).append((k, numbers, self._above(k, p, weighted)))
        return out

    def _above(self, k: int, p: Array, weighted: Array) -> Array:
        """Expectations given the separator, (its cells, functions), from ``p(x_C) E[f | x_C]``."""
        inside = set(self.separators[k])
        gone = tuple(axis for axis, i in enumerate(self.members[k]) if i not in inside)
        below = p.sum(axis=gone).reshape(-1, 1)
        total = weighted.sum(axis=gone).reshape(len(below), -1)
        return np.asarray(np.divide(total, below, out=total, where=below > 0))

    def _onto(self, k: int, child: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Axes of a clique that its child does not share, and the shape of their separator within the clique."""
        inside = set(self.separators[child])
        gone = tuple(axis for axis, i in enumerate(self.members[k]) if i not in inside)
        return gone, tuple(self.cards[i] if i in inside else 1 for i in self.members[k])
