"""What complete rows say: marginals of all pairs and of cliques, expectations of terms, one pseudo-row included."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.engine.elimination.pairs import all_cells, level_starts
from fullspan.learn.search.options import PSEUDO_ROWS
from fullspan.model.algebra.basis import Basis, Term

_HELD_NUMBERS = 1 << 23
"""Numbers of the rows' events that are held at once."""
_EXACT = float(1 << 22)
"""Whole weights are summed in single precision as long as their sum stays below this."""


class Counts:
    """Shares of weighted complete rows, with one pseudo-row spread evenly over all states."""

    def __init__(self, data: Empirical) -> None:
        self.cards, self.total = data.space.cards, data.total
        self.columns, self.weights = np.ascontiguousarray(data.states.T), data.counts
        self._expected: dict[tuple[str, Term], float] = {}

    @cached_property
    def pairs(self) -> Array:
        """``p(x_i = a, x_j = b)`` of all pairs of levels; see :mod:`fullspan.engine.elimination.pairs`."""
        starts = level_starts(self.cards)
        k = int(starts[-1]) - len(self.cards)
        found, m = np.zeros((k, k)), len(self.weights)
        step = max(1, min(m, _HELD_NUMBERS // max(1, k)))
        for first in range(0, m, step):
            rows = slice(first, first + step)
            weights = self.weights[rows]
            single = bool((weights == np.floor(weights)).all()) and float(weights.sum()) < _EXACT
            events = np.zeros((len(weights), k), dtype=np.float32 if single else np.float64)
            at = 0
            for column, card in zip(self.columns, self.cards, strict=True):
                for level in range(1, card):
                    events[:, at] = column[rows] == level
                    at += 1
            found += (events * weights.astype(events.dtype)[:, None]).T @ events
        counts = all_cells(self.cards, found, self.total)
        cells = np.repeat(np.array(self.cards, dtype=np.float64), self.cards)
        out = self._smoothed(counts, np.outer(cells, cells))
        for i, card in enumerate(self.cards):  # a variable with itself has as many cells as levels
            own = slice(starts[i], starts[i + 1])
            out[own, own] = np.diag(self._smoothed(np.diag(counts[own, own]), float(card)))
        return out

    def table(self, variables: Sequence[int]) -> Array:
        """``p(x_C)`` of a few variables, shaped as their levels."""
        shape = [self.cards[i] for i in variables]
        index = np.zeros(len(self.weights), dtype=np.int64)
        for i, card in zip(variables, shape, strict=True):
            index *= card
            index += self.columns[i]
        size = math.prod(shape)
        return self._smoothed(np.bincount(index, self.weights, size).astype(np.float64), float(size)).reshape(shape)

    def expectations(self, basis: Basis, terms: Sequence[Term]) -> Array:
        """``d_y`` of terms; each is counted once."""
        local = [basis.local(i).astype(np.float64) for i in range(len(self.cards))]
        for term in terms:
            if (basis.name, term) not in self._expected:
                values = self.weights
                for i, j in term:
                    values = values * local[i][j][self.columns[i]]
                share = (float(values.sum()) + PSEUDO_ROWS * basis.even(term)) / (self.total + PSEUDO_ROWS)
                self._expected[basis.name, term] = share
        return np.array([self._expected[basis.name, term] for term in terms])

    def products(self, basis: Basis, terms: Sequence[Term], others: Sequence[Term]) -> Array:
        """``<Phi_y Phi_z>`` in the data, (terms, others), for terms that share no variable."""
        m = len(self.weights)
        step = max(1, min(m, _HELD_NUMBERS // max(1, len(terms) + len(others))))
        found = np.zeros((len(terms), len(others)))
        for first in range(0, m, step):
            states = self.columns[:, first : first + step].T
            weights = self.weights[first : first + step].astype(np.float32)
            left = basis.evaluate(terms, states).astype(np.float32) * weights[:, None]
            found += left.T @ basis.evaluate(others, states).astype(np.float32)
        even = np.outer(*(np.array([basis.even(term) for term in some]) for some in (terms, others)))
        return np.asarray((found + PSEUDO_ROWS * even) / (self.total + PSEUDO_ROWS))

    def _smoothed(self, counts: Array, cells: Array | float) -> Array:
        return np.asarray((counts + PSEUDO_ROWS / cells) / (self.total + PSEUDO_ROWS))
