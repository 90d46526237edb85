"""One Bayesian network with its tables, and the log-linear model that it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.model import LogLinear
from fullspan.model.algebra.basis import Basis, BasisName, Term
from fullspan.model.algebra.modes import modewise
from fullspan.model.graph import FactorGraph


@dataclass(frozen=True, eq=False)
class Network:
    """A network learned from counted rows; a table's rows are means, ``(N_jk + a) / (N_j + a |X_v|)``.

    Attributes
    ----------
    parents : of every variable, increasing; there is no directed circle.
    tables : log p(x_v | parents) of every variable, flat: x_v fastest, then its parents in order.
    strength : pseudo-rows spread over each table.
    evidence : log evidence of the rows under the network with this prior, and that of the network itself, in nats.
    cells : entries of all tables that its elimination meets.
    is_finished : False where the search was interrupted.
    """

    space: Space
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Array, ...]
    strength: float
    evidence: float
    cells: float
    is_finished: bool = True

    @cached_property
    def families(self) -> list[tuple[int, ...]]:
        """Every variable, and its parents after it."""
        return [(v, *parents) for v, parents in enumerate(self.parents)]

    def log_prob(self, states: NDArray[np.integer] | Ints) -> Array:
        """``log p`` of complete states (m, n) -> (m,)."""
        rows = np.asarray(states)
        out = np.zeros(len(rows))
        for family, table in zip(self.families, self.tables, strict=True):
            out += table[_places(rows, family, self.space.cards)]
        return out

    def graph(self) -> FactorGraph:
        """The same distribution as a product of its tables, parents before their child."""
        scopes = tuple(tuple(reversed(family)) for family in self.families)
        cards = self.space.cards
        tables = [t.reshape([cards[i] for i in scope]) for t, scope in zip(self.tables, scopes, strict=True)]
        return FactorGraph(self.space, scopes, tuple(tables))

    def log_linear(self, basis: BasisName = "walsh") -> LogLinear:
        """The same distribution as a log-linear model: its terms lie inside the families; weights of 0 are kept.

        Closed form: the terms of log p(x_v | parents), summed over the variables. Time and memory follow the tables.
        """
        whole = Basis(basis, self.space.cards)
        inverse = [np.linalg.inv(whole.local(i).T.astype(np.float64)) for i in range(len(self.space))]
        weights: dict[Term, float] = {}
        for family, table in zip(self.families, self.tables, strict=True):
            found = modewise(table, [inverse[i] for i in family])
            for term, weight in zip(_terms(family, self.space.cards), found.tolist(), strict=True):
                weights[term] = weights.get(term, 0.0) + weight
        constant = weights.pop(())
        terms = sorted(weights, key=whole.index)
        theta = np.array([weights[term] for term in terms])
        return LogLinear(self.space, whole, tuple(terms), theta, -constant)


def fitted_tables(data: Empirical, parents: Sequence[tuple[int, ...]], strength: float) -> tuple[Array, ...]:
    """The tables of a network from counted rows."""
    tables = []
    for v, own in enumerate(parents):
        family, card = (v, *own), data.space.cards[v]
        size = math.prod(data.space.cards[i] for i in family)
        rows = np.bincount(_places(data.states, family, data.space.cards), data.counts, size)
        counts = np.asarray(rows.reshape(-1, card) + strength / size, dtype=np.float64)
        tables.append(np.log(counts / counts.sum(axis=1, keepdims=True)).ravel())
    return tuple(tables)


def _places(rows: NDArray[np.integer], family: tuple[int, ...], cards: tuple[int, ...]) -> Ints:
    """Where each row is in the table of a family, its first variable fastest."""
    place, stride = np.zeros(len(rows), dtype=np.int64), 1
    for i in family:
        place += stride * rows[:, i].astype(np.int64)
        stride *= cards[i]
    return place


def _terms(family: tuple[int, ...], cards: tuple[int, ...]) -> list[Term]:
    """Terms inside a family in the order of its table, the first variable fastest."""
    shape = [cards[i] for i in reversed(family)]
    return [
        tuple(sorted((i, j) for i, j in zip(reversed(family), digits, strict=True) if j))
        for digits in np.ndindex(*shape)
    ]
