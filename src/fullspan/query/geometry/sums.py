"""The three methods to sum over the states of a model: log Z, expectations and their covariance at theta.

A table over all states, a list of states, or elimination where the model is sparse and has too many states for either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.engine.dual.table import DualTable
from fullspan.engine.elimination.clusters import ClusterTree
from fullspan.engine.sampling.term_tables import TermTables
from fullspan.engine.truncated import TruncatedEngine
from fullspan.errors import FullspanError
from fullspan.learn.base.phase import Phase
from fullspan.learn.likelihood.phases import Free
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.algebra.inclusion import sets_of_states, sets_of_terms


class Sums(Phase, Protocol):
    """The phase of a model over some states, which can be listed where they are few."""

    n_states: int

    def log_p(self) -> Array:
        """Log-probabilities of all states, where they are listed.

        Raises
        ------
        FullspanError : they are too many.
        """

    def features(self) -> Array:
        """(states, k) values of the terms, where the states are listed."""


class TableSums(Free):
    """All states, in a dual table."""

    def __init__(self, basis: Basis, terms: Sequence[Term]) -> None:
        self.basis, self.names = basis, tuple(terms)
        super().__init__(DualTable(basis, np.float64), np.array([basis.index(t) for t in terms], dtype=np.int64))
        self.n_states = basis.n_states

    def log_p(self) -> Array:
        theta = self.table.theta
        return self.basis.energies(list(theta), list(theta.values())) - self.table.log_z

    def features(self) -> Array:
        states = Space.of_cards(self.basis.cards).states(np.arange(self.n_states))
        return self.basis.evaluate(self.names, states).astype(np.float64)


class ListSums:
    """A truncated space: the states listed."""

    is_linear = False

    def __init__(self, states: NDArray[Any], cards: Sequence[int], terms: Sequence[Term]) -> None:
        self.engine = TruncatedEngine.of(sets_of_states(states, cards), sets_of_terms(terms, cards))
        self.n_states = len(states)

    def move(self, theta: Array) -> float:
        return self.engine.move(theta)

    def eta(self) -> Array:
        return self.engine.eta()

    def covariance(self) -> Array:
        return self.engine.covariance()

    def log_p(self) -> Array:
        return self.engine.log_p

    def features(self) -> Array:
        return self.engine.dense()


class EliminationSums:
    """All states, summed variable by variable: for sparse models of any number of variables."""

    is_linear = False

    def __init__(self, space: Space, basis: Basis, terms: Sequence[Term], max_memory: int | None = None) -> None:
        tables = TermTables.of(space, basis, terms)
        self.design, self.tree = tables.design, ClusterTree(tables.graph, max_memory=max_memory)
        self.n_states, self._at = space.n_states, self.tree

    def move(self, theta: Array) -> float:
        self._at = self.tree.reweighted(self.design @ theta)
        return self._at.log_z()

    def eta(self) -> Array:
        return np.asarray(self.design.T @ self._at.beliefs().factors)

    def covariance(self) -> Array:
        used = np.flatnonzero(np.diff(self.design.indptr))
        spread = self.design[used].toarray()
        return np.asarray(spread.T @ self._at.covariances(used.tolist()) @ spread)

    def log_p(self) -> Array:
        raise FullspanError("a model summed by elimination has no list of its states; ask for expectations of rows")

    def features(self) -> Array:
        raise FullspanError("a model summed by elimination has no list of its states; ask for expectations of rows")
