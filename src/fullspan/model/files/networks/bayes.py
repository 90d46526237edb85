"""Bayesian networks as factors: each the distribution of its last variable, given the others before it.

p(x) = prod_i p(x_i | x_parents(i)),      the parents making an acyclic graph
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.data.space import Space, cell_in_words

Scope = tuple[int, ...]
MAX_SCOPE = 32
"""Most variables of one factor: those with more than one level fill any memory before."""
ROUNDING = 1e-3
"""How far a conditional distribution may be from summing to 1; published tables are rounded."""


class Flaw(NamedTuple):
    """Why factors are no Bayesian network, and the factor where it shows (-1: none alone)."""

    factor: int
    problem: str


def flaw(space: Space, scopes: Sequence[Scope], tables: Sequence[NDArray[np.float64]]) -> Flaw | None:
    """What keeps factors from being a Bayesian network, child last; None if they are one.

    Parameters
    ----------
    tables : conditional probabilities, not their logarithms, with one axis per variable of the scope.
    """
    if len(scopes) != len(space):
        return Flaw(-1, f"{len(scopes)} factors for {len(space)} variables; a Bayesian network has one for each")
    owner: dict[int, int] = {}
    for k, scope in enumerate(scopes):
        if not scope:
            return Flaw(k, f"factor {k} has no variable; a Bayesian network has one distribution for each")
        if scope[-1] in owner:
            first, name = owner[scope[-1]], space.names[scope[-1]]
            return Flaw(k, f"factors {first} and {k} both end with {name!r}, which has one distribution")
        owner[scope[-1]] = k
    for k, (scope, table) in enumerate(zip(scopes, tables, strict=True)):
        if problem := unnormalised(space, scope, table):
            return Flaw(k, problem)
    if loop := cycle(scopes):
        return Flaw(owner[loop[0]], f"the network has a cycle: {' -> '.join(space.names[i] for i in loop)}")
    return None


def unnormalised(space: Space, scope: Scope, table: NDArray[np.float64]) -> str | None:
    """Which conditional distribution of the last variable does not sum to 1, in words; None if all do."""
    sums = np.asarray(table.sum(axis=-1))
    wrong = np.argwhere(~(np.abs(sums - 1.0) <= ROUNDING))
    if not len(wrong):
        return None
    state = tuple(map(int, wrong[0]))
    parents = cell_in_words([space.variables[i] for i in scope[:-1]], state)
    of = f"P({space.names[scope[-1]]}{' | ' + parents if parents else ''})"
    return f"{of} sums to {float(sums[state]):.6g}, not to 1"


def cycle(scopes: Sequence[Scope]) -> list[int] | None:
    """Variables around a directed cycle, the first one repeated at the end; None if there is none."""
    parents = {scope[-1]: scope[:-1] for scope in scopes}
    waiting = {i: len(of) for i, of in parents.items()}
    children: dict[int, list[int]] = {}
    for i, of in parents.items():
        for j in of:
            children.setdefault(j, []).append(i)
    free = [i for i, n in waiting.items() if n == 0]
    while free:
        for i in children.get(free.pop(), ()):
            waiting[i] -= 1
            if waiting[i] == 0:
                free.append(i)
    left = {i for i, n in waiting.items() if n}
    if not left:
        return None
    path = [min(left)]
    while path.index(path[-1]) == len(path) - 1:
        path.append(next(j for j in parents[path[-1]] if j in left))
    return path[path.index(path[-1]) :][::-1]
