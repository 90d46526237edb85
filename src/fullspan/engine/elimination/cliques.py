"""The cliques of an order of elimination, and second moments of any functions that live in them.

Given what a clique P shares with a child c, all that lies below c is independent of the rest. So conditional
expectations E_c[x_S, y] = E[f_y | x_S] of all functions f_y below c travel towards the root,

    E_P[x_S', y] = sum over P \\ S' of p(x_P | x_S') E_c[x_S, y],
    <f_y f_z> = sum over x_S of p(x_S) E[f_z | x_S] E_c[x_S, y]     for z in P or below another child.

All second moments, of neighbours or not, take one sweep: O(cells x functions) time. Expectations are carried from
separator to separator, never spread over a whole clique. With the levels of all variables as functions these
are the marginals of all pairs; with the terms of a model, its Fisher information.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints

Columns = NDArray[np.int8] | NDArray[np.float64]
"""Functions over the cells of a clique, (cells, k)."""
_BLOCK = 1 << 22
"""Numbers of a clique's functions that are held in floating point at a time, 32 MiB."""


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
            # The message goes to the first variable of the separator to be eliminated. A new component hangs on any
            # clique, with nothing in common.
            above = clique_of[min(place[u] for u in separator)] if separator else len(members) - 1
            # The clique above adds just this variable: not maximal, so the two are one.
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

    def first_moments(self, tables: Sequence[Array], functions: Sequence[Columns]) -> Array:
        """``<f_y>`` of the functions of :meth:`second_moments`."""
        parts = [
            p.ravel() @ f[:, some].astype(np.float64, copy=False)
            for p, f in zip(tables, functions, strict=True)
            for some in _blocks(f)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def second_moments(self, tables: Sequence[Array], functions: Sequence[Columns]) -> Array:
        """``<f_y f_z>`` of functions given as columns (cells, k) at their home cliques, numbered clique by clique.

        A few columns at a time are taken as floating-point numbers, so that whole numbers in a byte each may be given.

        Parameters
        ----------
        tables : ``p(x_C)`` of every clique, shaped as its levels.
        functions : for every clique its functions, over its flat cells.
        """
        starts = np.concatenate([[0], np.cumsum([f.shape[1] for f in functions])]).astype(np.int64)
        out = np.zeros((starts[-1], starts[-1]))
        arrived: dict[int, dict[tuple[int, ...], list[tuple[Ints, Array]]]] = {}

        def write(a: Ints, b: Ints, block: Array) -> None:
            out[np.ix_(a, b)] = block
            out[np.ix_(b, a)] = block.T

        for k in reversed(range(len(tables))):
            p, f, own = tables[k], functions[k], np.arange(starts[k], starts[k + 1])
            for a in _blocks(f):
                weighted = f[:, a] * p.reshape(-1, 1)
                for b in _blocks(f):
                    out[np.ix_(own[a], own[b])] = weighted.T @ f[:, b].astype(np.float64, copy=False)
            parts: list[_Part] = []
            for separator, below in arrived.pop(k, {}).items():
                for numbers, expected in below:
                    if len(own):
                        write(own, numbers, self._weighted_onto(k, p, f, separator).T @ expected)
                    for other in parts:
                        for some in _blocks(other.expected):
                            block = self._carried(k, p, other.some(some), separator)
                            write(other.numbers[some], numbers, block.T @ expected)
                    parts.append(_Part(separator, numbers, expected))
            numbers = np.concatenate([own, *(part.numbers for part in parts)])
            if k and len(numbers):
                to = self.separators[k]
                below_k = arrived.setdefault(self.parents[k], {}).setdefault(to, [])
                below_k.append((numbers, self._given(k, p, self._joint(k, p, f, parts))))
        return out

    def _joint(self, k: int, p: Array, f: Columns, parts: Sequence[_Part]) -> Array:
        """``sum p(x_C) f`` of all functions at and below a clique onto its separator, a few columns at a time."""
        to, n = self.separators[k], f.shape[1] + sum(part.expected.shape[1] for part in parts)
        joint = np.empty((math.prod(self.cards[i] for i in to), n))
        joint[:, : f.shape[1]] = self._weighted_onto(k, p, f, to)
        start = f.shape[1]
        for part in parts:
            for some in _blocks(part.expected):
                block = self._carried(k, p, part.some(some), to)
                joint[:, start : start + block.shape[1]] = block
                start += block.shape[1]
        return joint

    def _given(self, k: int, p: Array, joint: Array) -> Array:
        """Expectations given the separator, (its cells, functions), from ``sum p(x_C) f`` over the rest."""
        below = self._onto(k, p.reshape(-1, 1), self.separators[k])
        # A state of the separator without probability: its expectations are multiplied by 0 above, whatever they are.
        return np.asarray(np.divide(joint, below, out=joint, where=below > 0))

    def _weighted_onto(self, k: int, p: Array, f: Columns, variables: Sequence[int]) -> Array:
        """``sum p(x_C) f`` onto the cells of some variables, (their cells, functions)."""
        parts = [self._onto(k, f[:, some] * p.reshape(-1, 1), variables) for some in _blocks(f)]
        return np.concatenate(parts, axis=1) if parts else np.zeros((math.prod(self.cards[i] for i in variables), 0))

    def _onto(self, k: int, weighted: Array, variables: Sequence[int]) -> Array:
        """Columns over the cells of a clique, summed onto those of some of its variables."""
        inside = set(variables)
        gone = tuple(axis for axis, i in enumerate(self.members[k]) if i not in inside)
        shaped = weighted.reshape(*self.shape(k), weighted.shape[1])
        return np.asarray(shaped.sum(axis=gone).reshape(math.prod(self.cards[i] for i in variables), weighted.shape[1]))

    def _carried(self, k: int, p: Array, part: _Part, to: Sequence[int]) -> Array:
        """``sum p(x_C) E[f | x_S]`` onto the cells of ``to``: one product of matrices for each state that both share.

        No array is larger than the variables of both separators, or than their functions.
        """
        source, n = set(part.separator), part.expected.shape[1]
        shared = [i for i in to if i in source]
        new, old = [i for i in to if i not in source], [i for i in part.separator if i not in set(to)]
        sizes = [math.prod(self.cards[i] for i in some) for some in (shared, new, old)]
        both = set(to) | source
        q = p.sum(axis=tuple(axis for axis, i in enumerate(self.members[k]) if i not in both))
        places = {i: axis for axis, i in enumerate(sorted(both))}
        q = q.transpose([places[i] for i in (*shared, *new, *old)]).reshape(sizes)
        at = {i: axis for axis, i in enumerate(part.separator)}
        e = part.expected.reshape(*(self.cards[i] for i in part.separator), n)
        e = e.transpose([*(at[i] for i in (*shared, *old)), len(at)]).reshape(sizes[0], sizes[2], n)
        found = (q @ e).reshape(*(self.cards[i] for i in (*shared, *new)), n)
        back = {i: axis for axis, i in enumerate((*shared, *new))}
        return np.asarray(found.transpose([*(back[i] for i in to), len(back)]).reshape(sizes[0] * sizes[1], n))


def _blocks(f: Columns) -> list[slice]:
    """Columns to take at a time."""
    step = max(1, _BLOCK // max(len(f), 1))
    return [slice(start, start + step) for start in range(0, f.shape[1], step)]


class _Part(NamedTuple):
    """Expectations of some functions given a separator, (its cells, functions)."""

    separator: tuple[int, ...]
    numbers: Ints
    expected: Array

    def some(self, columns: slice) -> _Part:
        """The part of some of its functions."""
        return self._replace(numbers=self.numbers[columns], expected=self.expected[:, columns])
