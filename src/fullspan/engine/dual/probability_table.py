"""Answers from the table of all probabilities p(x): for distributions that are no log-linear model of few terms.

    P(x_A, e) = sum_{x : x agrees with e, x_A} p(x)

Nothing is subtracted, so that sums are right to rounding relative to themselves. The same questions as of
:class:`fullspan.engine.elimination.sums.Sums`, with log Z = 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.dual.partition import exp_normalised
from fullspan.engine.dual.table import DualTable
from fullspan.engine.memory import budget, require
from fullspan.model.algebra.basis import Basis
from fullspan.model.averaged import AveragedLogLinear

Allowed = Mapping[int, Sequence[int]]
_SUMMED_STATES = 1 << 18
"""Probabilities whose entropy is summed at a time."""


class ProbabilityTable:
    """Probabilities of all states in a table.

    Parameters
    ----------
    basis : the variables' numbers of levels, and the functions of the dual table.
    p : (|X|,) float64 probabilities, which sum to 1.
    """

    def __init__(self, basis: Basis, p: Array) -> None:
        self.basis, self.p = basis, p
        self.cube = p.reshape(basis.cards, order="F")
        self._strides = np.array(basis.strides, dtype=np.int64)

    @classmethod
    def mean_of(cls, model: AveragedLogLinear, max_memory: int | None = None) -> ProbabilityTable:
        """The average of the members' distributions, each normalised anew. O(k |X| n) time, two tables.

        Raises
        ------
        TooLargeError : the tables would not fit into memory; nothing has been allocated.
        """
        basis = model.basis
        remedy = "give more with max_memory=, or fit with average=1"
        require(16 * basis.n_states, budget(max_memory), f"the average over {basis.n_states:,} states", remedy)
        p, table = np.zeros(basis.n_states), np.empty(basis.n_states)
        for share, member in model.parts:
            table[:] = 0.0
            table[np.array(member.indices, dtype=np.int64)] = member.theta
            basis.synthesise(table)
            exp_normalised(table)
            table *= share
            p += table
        return cls(basis, p)

    def dual_table(self) -> DualTable:
        """The expectations eta of all basis functions."""
        table = DualTable(self.basis, np.float64)
        table.eta[:] = self.p
        self.basis.analyse(table.eta)
        table.eta[0] = 1
        return table

    def log_prob(self, states: NDArray[np.integer]) -> Array:
        """``log p(x)`` of complete states (m, n): one look-up each."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.p[states.astype(np.int64) @ self._strides]))

    def entropy(self) -> float:
        """``-sum p ln p`` in nats."""
        parts = np.array_split(self.p, -(-self.p.size // _SUMMED_STATES))
        # A distribution on one state would have -0.0, or a rounding below it.
        return max(-math.fsum(float(np.sum(q * np.log(q, out=np.zeros_like(q), where=q > 0))) for q in parts), 0.0)

    # -- sums over the evidence -------------------------------------------------------------------------------

    def log_sums(self, keep: Sequence[int], allowed: Allowed) -> Array:
        """``log P(x_keep, evidence)``, one axis per kept variable in the order given; -inf where that is 0."""
        part = self._restricted(allowed)
        asked = tuple(keep)
        cells = part.sum(axis=tuple(i for i in range(part.ndim) if i not in asked))
        # The sum leaves the kept axes in ascending order; they are asked for in any.
        cells = np.moveaxis(cells, np.argsort(np.argsort(asked)), range(len(asked))) if asked else np.asarray(cells)
        out = np.zeros([self.basis.cards[i] for i in asked])
        out[np.ix_(*(allowed.get(i, range(self.basis.cards[i])) for i in asked))] = cells
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(out))

    def log_sums_of_rows(self, rows: Ints) -> Array:
        """``log P`` of the observed cells of rows (m, n), -1 marking cells to be summed out."""
        known = [{i: (int(x),) for i, x in enumerate(row) if x >= 0} for row in rows]
        return np.array([float(self.log_sums((), evidence)) for evidence in known])

    def marginals(self, allowed: Allowed) -> tuple[Array, ...]:
        """``p(x_i | evidence)`` of every variable."""
        found = [np.exp(self.log_sums((i,), allowed)) for i in range(len(self.basis.cards))]
        return tuple(cells / cells.sum() for cells in found)

    def mode(self, allowed: Allowed) -> Ints:
        """A most probable state (n,) that agrees with the evidence."""
        part = self._restricted(allowed)
        place = np.unravel_index(int(part.argmax()), part.shape)
        return np.array([self._levels(i, allowed)[int(place[i])] for i in range(part.ndim)], dtype=np.int64)

    def sample(self, size: int, rng: np.random.Generator, allowed: Allowed) -> Ints:
        """Independent states (size, n) given the evidence: the inverse of the cumulated probabilities."""
        part = self._restricted(allowed)
        sums = np.cumsum(part.ravel(order="F"))
        # `right`, so that a number that falls on a bound goes to the cell after it: cells of probability 0 have no
        # width.
        drawn = np.searchsorted(sums, rng.random(size) * sums[-1], side="right")
        places = np.unravel_index(np.minimum(drawn, last_positive(sums)), part.shape, order="F")
        columns = [np.asarray(self._levels(i, allowed))[places[i]] for i in range(part.ndim)]
        return np.stack(columns, axis=1).astype(np.int64) if columns else np.zeros((size, 0), dtype=np.int64)

    def _levels(self, i: int, allowed: Allowed) -> Sequence[int]:
        return allowed.get(i, range(self.basis.cards[i]))

    def _restricted(self, allowed: Allowed) -> Array:
        """The cells that the evidence allows; every axis stays."""
        part = self.cube
        for i, codes in allowed.items():
            chosen = slice(codes[0], codes[0] + 1) if len(codes) == 1 else list(codes)
            part = part[(slice(None),) * i + (chosen,)]
        return part


def last_positive(sums: Array) -> int:
    """Where cumulated weights first reach their end: rounding must not draw what has weight 0."""
    return int(np.searchsorted(sums, sums[-1]))
