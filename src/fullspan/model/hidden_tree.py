"""A tree of hidden nodes with one observed variable on each: the hidden Chow–Liu tree, and the tree of Chow and Liu.

    p(x) = sum_z pi(z_r) prod_{i != r} A_i[z_parent(i), z_i] prod_i E_i[z_i, x_i]

Every node has K states. The tree is normalised by construction, so that log Z = 0. The Chow–Liu tree is the case in
which a node is its variable: z_i = x_i, and every E_i is the identity. A chain with equal tables along it is a hidden
Markov model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.space import Space, Variable
from fullspan.errors import FullspanError
from fullspan.model.graph import FactorGraph
from fullspan.model.loglinear import checked_codes
from fullspan.model.record import FitRecord

_HELD_NUMBERS = 1 << 23
"""Numbers in the messages of a block of rows."""
_TOLERANCE, _ROUNDING = 1e-6, 1e-13
"""How far the probabilities of a table may be from summing to one; they are then divided by their sum."""


@dataclass(frozen=True, eq=False)
class HiddenTree:
    """A normalised tree over K-valued nodes, one for each variable.

    Parameters
    ----------
    space : the observed variables.
    parents : (n,) the parent of each node, −1 for the one root.
    prior : (K,) of the root's state.
    transitions : (n, K, K), ``[i, z of the parent, z of i]``; rows sum to one, or are all zero for states that do not
        occur. Those of the root are zero.
    emissions : (n, K, C), ``[i, z, x]``, C the largest number of levels; zero beyond the levels of a variable.
    is_observed : whether every node is its variable, as in a Chow–Liu tree.

    Raises
    ------
    FullspanError : shapes disagree, the parents are no tree, or a table holds no probabilities.
    """

    kind: ClassVar[str] = "tree"
    space: Space
    parents: NDArray[np.int64]
    prior: Array
    transitions: Array
    emissions: Array
    is_observed: bool = False

    def __post_init__(self) -> None:
        n, c = len(self.space), max(self.space.cards)
        parents = np.array(self.parents, dtype=np.int64)
        tables = {name: np.array(getattr(self, name), dtype=np.float64) for name in _TABLES}
        k = tables["prior"].size
        shapes = {"prior": (k,), "transitions": (n, k, k), "emissions": (n, k, c)}
        for name, shape in (("parents", (n,)), *shapes.items()):
            found = (parents if name == "parents" else tables[name]).shape
            if found != shape or k == 0:
                raise FullspanError(f"{name} of a tree of {n} variables has the shape {found}; {shape} is expected")
        object.__setattr__(self, "parents", parents)
        object.__setattr__(self, "order", _topological(parents))
        for name, table in tables.items():
            object.__setattr__(self, name, _normalised(name, table))
        if self.is_observed and not np.array_equal(self.emissions, _identities(self.space.cards, k)):
            raise FullspanError("a tree whose nodes are its variables has identities as emissions, in K = C states")
        for name in ("parents", "order", *_TABLES):
            getattr(self, name).flags.writeable = False

    order: NDArray[np.int64] = field(init=False, repr=False)

    @classmethod
    def of_tables(cls, space: Space, parents: Any, prior: Array, transitions: Array) -> HiddenTree:
        """A tree whose nodes are its variables: ``transitions[i]`` is p(x_i | x_parent), zero-padded to (C, C)."""
        return cls(space, parents, prior, transitions, _identities(space.cards, max(space.cards)), is_observed=True)

    @property
    def n_states(self) -> int:
        """K, the number of states of a node."""
        return len(self.prior)

    @property
    def log_z(self) -> float:
        """Zero: the tree is normalised."""
        return 0.0

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Parent and child by name, parents first."""
        names = self.space.names
        return tuple((names[self.parents[i]], names[i]) for i in self.order[1:])

    @property
    def n_parameters(self) -> int:
        """Free probabilities, those of states that do not occur left out."""
        free = [int((t > 0).sum() - t.any(axis=-1).sum()) for t in (self.prior, self.transitions)]
        return sum(free) + (0 if self.is_observed else self.n_states * sum(c - 1 for c in self.space.cards))

    @property
    def approach(self) -> str:
        """How the model does without the table of all states, in words."""
        return "a tree, width 1" if self.is_observed else f"a tree of hidden nodes with {self.n_states} states"

    @property
    def width(self) -> int:
        """1: a tree."""
        return 1

    def log_weight(self, states: Any) -> Array:
        """``log p(x)`` of complete states (m, n) -> (m,), by one pass up the tree: n products (m, K) by (K, K)."""
        rows, n = checked_codes(states, self.space), len(self.space)
        out, step = np.empty(len(rows)), max(_HELD_NUMBERS // (n * self.n_states), 1)
        with np.errstate(divide="ignore"):
            for start in range(0, len(rows), step):
                out[start : start + step] = self._log_weight(rows[start : start + step])
        return out

    def _log_weight(self, rows: NDArray[Any]) -> Array:
        below = [np.ascontiguousarray(self.emissions[i][:, rows[:, i]].T) for i in range(len(self.space))]
        log = np.zeros(len(rows))
        for i in self.order[:0:-1]:
            above = below[self.parents[i]]
            above *= below[i] @ self.transitions[i].T
            scale = above.max(axis=1)
            log += np.log(scale)
            above /= np.where(scale > 0, scale, 1.0)[:, None]
        return np.asarray(log + np.log(below[self.order[0]] @ self.prior))

    def reordered(self, order: Sequence[int]) -> HiddenTree:
        """The same tree of the variables in another order."""
        own = list(order)
        place = np.append(np.argsort(own), -1)  # the root's parent, -1, stays
        parents, space = place[self.parents[own]], self.space.reordered(order)
        tables = self.transitions[own], self.emissions[own]
        return HiddenTree(space, parents, self.prior, *tables, is_observed=self.is_observed)

    def graph(self) -> FactorGraph:
        """The tree as a product of log factors over the observed and, behind them, the hidden variables."""
        n, cards = len(self.space), self.space.cards
        with np.errstate(divide="ignore"):
            prior, transitions, emissions = (np.log(getattr(self, name)) for name in _TABLES)
        root, rest = int(self.order[0]), self.order[1:].tolist()
        if self.is_observed:
            tables = [prior[: cards[root]], *(transitions[i][: cards[self.parents[i]], : cards[i]] for i in rest)]
            return FactorGraph(self.space, ((root,), *((int(self.parents[i]), i) for i in rest)), tuple(tables))
        hidden = tuple(Variable(f"hidden {name}", tuple(range(self.n_states))) for name in self.space.names)
        scopes = [(n + root,), *((n + int(self.parents[i]), n + i) for i in rest), *((n + i, i) for i in range(n))]
        tables = [prior, *(transitions[i] for i in rest), *(emissions[i][:, : cards[i]] for i in range(n))]
        return FactorGraph(Space((*self.space.variables, *hidden)), tuple(scopes), tuple(tables))

    def factors_alone(self) -> FactorGraph | None:
        """:meth:`graph` where the nodes are the variables; None where they are hidden."""
        return self.graph() if self.is_observed else None


_TABLES = ("prior", "transitions", "emissions")


def _topological(parents: NDArray[np.int64]) -> NDArray[np.int64]:
    """All nodes, parents before their children."""
    n = len(parents)
    roots = np.flatnonzero(parents == -1)
    if len(roots) != 1 or parents.min() < -1 or parents.max() >= n:
        raise FullspanError(
            f"a tree of {n} nodes has one root, of parent -1, and parents below {n}; got {len(roots)} roots"
        )
    children: list[list[int]] = [[] for _ in range(n)]
    for i, p in enumerate(parents.tolist()):
        if p >= 0:
            children[p].append(i)
    order = [int(roots[0])]
    for i in order:
        order += children[i]
    if len(order) < n:
        lost = sorted(set(range(n)) - set(order))
        raise FullspanError(f"the parents of nodes {lost[:6]} form a cycle; a tree has none")
    return np.array(order, dtype=np.int64)


def _normalised(name: str, table: Array) -> Array:
    """Rows divided by their sums, which must be one or zero up to rounding."""
    sums = table.sum(axis=-1, keepdims=True)
    if not (table >= 0).all() or not ((np.abs(sums - 1) <= _TOLERANCE) | (sums == 0)).all():
        raise FullspanError(f"the {name} of a tree are probabilities that sum to 1 along the last axis, or all 0")
    if name == "prior" and sums[0] == 0:
        raise FullspanError("the prior of a tree sums to 0")
    exact = np.abs(sums - 1) <= _ROUNDING  # a table that was normalised once stays as it is, and so do files
    return np.asarray(table / np.where(exact | (sums == 0), 1.0, sums))


def _identities(cards: tuple[int, ...], k: int) -> Array:
    eye = np.zeros((len(cards), k, max(cards)))
    for i, card in enumerate(cards):
        eye[i, np.arange(min(card, k)), np.arange(min(card, k))] = 1.0
    return eye


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedTree(FitRecord[HiddenTree]):
    """A tree together with what was learned about it.

    Attributes
    ----------
    log_likelihood : mean over the rows learned from, in nats, of what they say.
    validation : the same over the rows held out, NaN without any.
    mutual_information : (n,) between each variable and its parent in the rows learned from, in nats; 0 for the root.

    And those of :class:`fullspan.model.record.FitRecord`.
    """

    log_likelihood: float
    validation: float
    mutual_information: Array

    def reordered(self, order: Sequence[int]) -> FittedTree:
        """The same fit of the variables in another order."""
        return replace(self, model=self.model.reordered(order), mutual_information=self.mutual_information[list(order)])
