"""All completions of rows with missing cells, weighed by look-ups in the table of all log weights.

The same answers as of :class:`fullspan.engine.dual.completion.Completer`, which has terms instead of the table. Rows
that miss the same cells are looked up together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.dual.probability_table import last_positive
from fullspan.model.algebra.basis import Basis

_BLOCK = 1 << 18
"""Completions that are held at a time."""


class Weighing:
    """Completions of rows under ``p(x) = exp(log_weights[x]) / Z`` over the states of ``basis``."""

    def __init__(self, basis: Basis, log_weights: Array) -> None:
        self.log_weights, self.cards = log_weights, basis.cards
        self.strides = np.array(basis.strides, dtype=np.int64)

    def log_sums(self, rows: Ints) -> Array:
        """``log sum exp(log_weights)`` over the completions of each row."""
        out = np.empty(len(rows))
        for members, weights, peak in self._weighed(rows):
            with np.errstate(divide="ignore"):
                out[members] = peak + np.log(weights.sum(axis=1))
        return out

    def fill(self, rows: Ints, uniforms: Array | None) -> None:
        """Put the most probable completion into each row, or the one its uniform number draws."""
        for members, weights, _ in self._weighed(rows):
            if uniforms is None:
                best = weights.argmax(axis=1)
            else:
                sums = np.cumsum(weights, axis=1)
                aims = uniforms[members] * sums[:, -1]
                best = np.minimum((sums <= aims[:, None]).sum(axis=1), [last_positive(s) for s in sums])
            missing = np.flatnonzero(rows[members[0]] < 0)
            shape = [self.cards[i] for i in missing]
            rows[np.ix_(members, missing)] = np.stack(np.unravel_index(best, shape, order="F"), axis=1)

    def means(self, rows: Ints) -> Array:
        """Probability of every level of every variable (m, sum of levels), one variable after the other."""
        cards = self.cards
        starts = np.cumsum([0, *cards])
        out = np.zeros((len(rows), starts[-1]))
        for i in range(len(cards)):
            seen = np.flatnonzero(rows[:, i] >= 0)
            out[seen, starts[i] + rows[seen, i]] = 1.0
        for members, weights, _ in self._weighed(rows):
            missing = np.flatnonzero(rows[members[0]] < 0)
            shape = tuple(cards[i] for i in missing)
            shares = (weights / weights.sum(axis=1, keepdims=True)).reshape(-1, *shape[::-1])
            for j, i in enumerate(missing.tolist()):
                axis = len(missing) - j
                others = tuple(a for a in range(1, len(missing) + 1) if a != axis)
                out[members, starts[i] : starts[i + 1]] = shares.sum(axis=others)
        return out

    def _weighed(self, rows: Ints) -> Iterator[tuple[NDArray[np.intp], Array, Array]]:
        """Rows that miss the same cells, in blocks, with the weights (rows, completions) of all their completions.

        The largest weight of a row is 1; its logarithm before is returned too. The first missing variable varies
        fastest.
        """
        kinds, which = np.unique(rows < 0, axis=0, return_inverse=True)
        for kind, missing in enumerate(kinds):
            members = np.flatnonzero(which.ravel() == kind)
            base = np.where(missing, 0, rows[members]) @ self.strides
            offsets = np.zeros(1, dtype=np.int64)
            for i in np.flatnonzero(missing):
                steps = np.arange(self.cards[i]) * self.strides[i]
                offsets = (steps[:, None] + offsets).ravel()
            for block in np.array_split(np.arange(len(members)), -(-len(members) * len(offsets) // _BLOCK)):
                if len(block):
                    found = self.log_weights[base[block, None] + offsets]
                    peak = np.maximum(found.max(axis=1), np.finfo(np.float64).min)  # finite where all are impossible
                    yield members[block], np.exp(found - peak[:, None]), peak
