"""Rows of a machine of spins, many at a time, by decimation: log-probabilities, means and draws given inputs.

Rows that observe the same cells are clamped together; one order, found once, serves them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data.patterns import same_pattern
from fullspan.engine.elimination.decimation import Decimation
from fullspan.model.ising import Ising, levels_of, spins_of

_ORDERS = 256
"""Orders remembered."""


class ClampedRows:
    """Answers about rows of codes (m, n), -1 where a cell is open; orders are kept for the next question.

    Parameters
    ----------
    machine : the machine.
    names : of its nodes, for messages.

    All methods raise ``NotDecimatableError`` if the nodes that a row leaves open cannot be decimated.
    """

    def __init__(self, machine: Ising, names: Sequence[str]) -> None:
        self.machine, self.names = machine, names
        self._orders: dict[bytes, Decimation] = {}

    def log_sums(self, rows: NDArray[Any]) -> Array:
        """``log Z(row)``: over all states that agree with a row."""
        out = np.empty(len(rows))
        for engine, spins, members in self._groups(rows):
            out[members] = engine.log_z_batch(self.machine.couplings, self.machine.fields, spins)
        return out

    def log_prob(self, rows: NDArray[Any], inputs: Sequence[int] = ()) -> Array:
        """``log p(what the row says | its inputs)``."""
        given = np.full_like(rows, -1)
        given[:, list(inputs)] = rows[:, list(inputs)]
        distinct, which = np.unique(given, axis=0, return_inverse=True)
        return np.minimum(self.log_sums(rows) - self.log_sums(distinct)[which.ravel()], 0.0)

    def means(self, rows: NDArray[Any]) -> Array:
        """``P(level 1)`` of every node (m, n), given what the row says."""
        out = np.empty(rows.shape)
        for engine, spins, members in self._groups(rows):
            found = engine.expectations_batch(self.machine.couplings, self.machine.fields, spins)
            out[members] = (1.0 + found.nodes) / 2.0
        return np.clip(out, 0.0, 1.0)

    def draw(self, rows: NDArray[Any], rng: np.random.Generator) -> Ints:
        """Rows with their open cells drawn, given what they say."""
        out = np.empty(rows.shape, dtype=np.int64)
        for engine, spins, members in self._groups(rows):
            same = spins[:1] if len(spins) == 0 or (spins == spins[:1]).all() else spins
            drawn = engine.sample(self.machine.couplings, self.machine.fields, len(members), rng, same)
            out[members] = levels_of(drawn)
        return out

    def _groups(self, rows: NDArray[Any]) -> Iterator[tuple[Decimation, NDArray[np.int8], NDArray[np.intp]]]:
        if not len(rows):
            return
        for members in same_pattern(rows):
            is_known = rows[members[0]] >= 0
            key = is_known.tobytes()
            if key not in self._orders:
                if len(self._orders) >= _ORDERS:
                    self._orders.clear()
                known = np.flatnonzero(is_known).tolist()
                self._orders[key] = Decimation(self.machine.n, self.machine.edges, known, names=self.names)
            yield self._orders[key], spins_of(rows[members][:, is_known]), members
