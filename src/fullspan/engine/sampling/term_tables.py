"""Terms of any order as factor tables: ``g = A theta``, and expectations of terms as ``A^t`` of the tables' margins.

One table for each set of variables that some term joins; A holds the value of every term in every cell of its table.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fullspan.arrays import Array, Ints
from fullspan.data.space import Space
from fullspan.engine.sampling.factors import Factors
from fullspan.model.algebra.basis import Basis, Term, local_row
from fullspan.model.algebra.jit import serial
from fullspan.model.graph import FactorGraph


@dataclass(frozen=True, eq=False)
class TermTables:
    """The tables of given terms, whose weights are still to come.

    Attributes
    ----------
    graph : the scopes, with empty tables.
    design : A, (entries, terms).
    """

    graph: FactorGraph
    design: Any

    @classmethod
    def of(cls, space: Space, basis: Basis, terms: Sequence[Term]) -> TermTables:
        rows: list[NDArray[Any]] = []
        columns: list[NDArray[Any]] = []
        cells: list[NDArray[Any]] = []
        start, scopes, tables = 0, [], []
        places = {term: k for k, term in enumerate(terms)}
        for scope, group in itertools.groupby(sorted(terms, key=_scope), key=_scope):
            shape = tuple(basis.cards[i] for i in scope)
            size = int(np.prod(shape))
            for term in group:
                phi: NDArray[Any] = np.ones(1, dtype=np.int64)
                for i, j in term:
                    phi = np.multiply.outer(phi, local_row(basis, i, j)).reshape(-1)
                used = np.flatnonzero(phi)
                rows.append(start + used)
                columns.append(np.full(len(used), places[term]))
                cells.append(phi[used])
            scopes.append(scope)
            tables.append(np.zeros(shape))
            start += size
        none = [np.zeros(0, dtype=np.int64)]
        data, where = np.concatenate(none + cells).astype(np.float64), np.concatenate(none + rows)
        design = csr_array((data, (where, np.concatenate(none + columns))), shape=(start, len(terms)))
        return cls(FactorGraph(space, tuple(scopes), tuple(tables)), design)

    @property
    def size(self) -> int:
        """Number of terms."""
        return int(self.design.shape[1])

    def target(self, theta: Array) -> Factors:
        """The factors with these weights."""
        return Factors(self.graph, self.design @ theta)

    def moments(self, states: NDArray[Any], weights: Array | None = None) -> Array:
        """Mean of every term over states (m, n)."""
        share = np.full(len(states), 1 / len(states)) if weights is None else weights / weights.sum()
        graph = self.graph
        margins = np.zeros(len(graph.values))
        _count(
            np.require(states, requirements=["C", "W", "E"]),
            share,
            graph.variables,
            graph.strides,
            graph.scope_starts,
            graph.table_starts,
            margins,
        )
        return np.asarray(self.design.T @ margins)


def _scope(term: Term) -> tuple[int, ...]:
    return tuple(i for i, _ in term)


@serial
def _count(
    states: NDArray[Any],
    share: Array,
    variables: Ints,
    strides: Ints,
    scope_starts: Ints,
    table_starts: Ints,
    margins: Array,
) -> None:
    """Add the share of every state to the cell it falls into, table by table."""
    for f in range(scope_starts.size - 1):
        for c in range(len(states)):
            place = table_starts[f]
            for e in range(scope_starts[f], scope_starts[f + 1]):
                place += strides[e] * np.int64(states[c, variables[e]])
            margins[place] += share[c]
