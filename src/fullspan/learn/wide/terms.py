"""A set of log-linear terms on a graph of bounded width: sums, expectations, and the information in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.engine.elimination.cliques import Cliques, Columns
from fullspan.engine.elimination.clusters import ClusterTree
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.graph import FactorGraph, homes


class Terms:
    """Terms whose scopes lie inside the tables of an order of elimination.

    Parameters
    ----------
    order, separators : the order, and what each step leaves behind.

    Attributes
    ----------
    cliques : the maximal tables of the order.
    """

    def __init__(
        self,
        space: Space,
        basis: Basis,
        terms: Sequence[Term],
        order: Sequence[int],
        separators: Sequence[Sequence[int]],
    ) -> None:
        self.space, self.basis, self.terms = space, basis, tuple(terms)
        self.order, self.separators = list(order), separators
        self.cliques = Cliques.of(space.cards, order, separators)
        self.supports = [tuple(i for i, _ in term) for term in self.terms]
        self._home = homes(self.supports)
        self.scopes = tuple(dict.fromkeys(self._home[support] for support in self.supports))

    def function(self, term: Term, variables: Sequence[int]) -> Array:
        """``Phi_y`` over the flat cells of a table of some variables, the last fastest."""
        digits, out = dict(term), np.ones(1)
        for i in variables:
            local = self.basis.local(i)[digits.get(i, 0)].astype(np.float64)
            out = np.outer(out, local).ravel()
        return out

    @cached_property
    def design(self) -> Any:
        """Sparse (entries, terms): ``values = design theta`` are the factors, and ``eta = design' p`` expectations."""
        sizes = [math.prod(self.space.cards[i] for i in scope) for scope in self.scopes]
        starts = dict(zip(self.scopes, np.concatenate([[0], np.cumsum(sizes)])[:-1].tolist(), strict=True))
        rows, columns, data = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)], [np.empty(0)]
        for k, (term, support) in enumerate(zip(self.terms, self.supports, strict=True)):
            scope = self._home[support]
            function = self.function(term, scope)
            at = np.flatnonzero(function)
            rows.append(starts[scope] + at)
            columns.append(np.full(len(at), k))
            data.append(function[at])
        shape = int(sum(sizes)), len(self.terms)
        return csr_matrix((np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))), shape=shape)

    @cached_property
    def tree(self) -> ClusterTree:
        """The factors of the terms, made ready for sums."""
        return ClusterTree(self._graph(self.scopes), order=self.order)

    @cached_property
    def _calibrated(self) -> ClusterTree:
        """The same with all maximal tables as factors."""
        return ClusterTree(self._graph((*self.scopes, *self.cliques.members)), order=self.order)

    def _graph(self, scopes: Sequence[tuple[int, ...]]) -> FactorGraph:
        bounds = np.concatenate([[0], np.cumsum([len(s) for s in scopes])])
        size = sum(math.prod(self.space.cards[i] for i in s) for s in scopes)
        return FactorGraph.of_arrays(self.space, bounds, [i for s in scopes for i in s], np.zeros(size))

    # -- answers ----------------------------------------------------------------------------------------------

    def log_z(self, theta: Array) -> float:
        """``log sum exp(theta . Phi)``."""
        return self.tree.reweighted(self.design @ theta).log_z()

    def expectations(self, theta: Array) -> tuple[float, Array]:
        """log Z and ``eta``."""
        found = self.tree.reweighted(self.design @ theta).beliefs()
        return found.log_z, np.asarray(self.design.T @ found.factors)

    def tables(self, theta: Array) -> list[Array]:
        """``p(x_C)`` of every clique, shaped as its levels."""
        tree = self._calibrated
        values = np.zeros(len(tree.values))
        values[: self.design.shape[0]] = self.design @ theta
        found = tree.reweighted(values).beliefs()
        return [found.factor(len(self.scopes) + k) for k in range(len(self.cliques.members))]

    def _columns(self, places: Sequence[int], variables: Sequence[int], size: int) -> Columns:
        """Some terms over the cells of a table, (cells, terms), a byte for each: values are -1, 0 and 1."""
        found = np.empty((len(places), size), dtype=np.int8)
        for row, y in zip(found, places, strict=True):
            row[:] = self.function(self.terms[y], variables)
        return found.T

    def fisher(self, tables: Sequence[Array]) -> Array:
        """Covariance of all terms under the calibrated tables, neighbours or not."""
        places: list[list[int]] = [[] for _ in tables]
        for y, support in enumerate(self.supports):
            places[self.cliques.home(support)].append(y)
        functions = [
            self._columns(at, members, size)
            for at, members, size in zip(places, self.cliques.members, self.cliques.sizes.tolist(), strict=True)
        ]
        number = np.array([y for at in places for y in at], dtype=np.int64)
        eta = np.empty(len(number))
        eta[number] = self.cliques.first_moments(tables, functions)
        moments = np.empty((len(number), len(number)))
        moments[np.ix_(number, number)] = self.cliques.second_moments(tables, functions)
        return moments - np.outer(eta, eta)
