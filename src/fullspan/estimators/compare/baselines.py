"""Distributions that a model should beat: the columns independent, their best tree, the table itself smoothed.

    independent    p(x) = prod_i (n_i(x_i) + 1/|X_i|) / (N_i + 1)
    Chow–Liu       the best tree, :mod:`fullspan.learn.trees.chow_liu`
    saturated      p(x) = (n(x) + a/|X|) / (N + a),    a the best for predicting each row from the others

Each is learned in milliseconds, and sums out what a row does not say.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.learn.trees.chow_liu import fit_chow_liu
from fullspan.query.distributions.tree import TreeDistribution

_STRENGTHS = np.exp(np.linspace(math.log(1e-3), math.log(1e6), 181))
"""Pseudo-rows of the saturated table that are tried."""
_KEPT_MARGINS = 16
"""Sets of columns whose counts the saturated table keeps."""


class Baseline(Protocol):
    """What is asked of a baseline."""

    n_parameters: int

    def log_prob(self, codes: NDArray[Any]) -> Array:
        """Log-probabilities (m,) of rows of codes (m, n), -1 where a cell is not observed."""


class Independent:
    """Every column by itself."""

    def __init__(self, data: Empirical) -> None:
        self.tables = []
        for own in data.level_counts():
            counts = own + 1.0 / len(own)
            self.tables.append(np.append(np.log(counts / counts.sum()), 0.0))  # code -1: nothing is said
        self.n_parameters = sum(card - 1 for card in data.space.cards)

    def log_prob(self, codes: NDArray[Any]) -> Array:
        """See :class:`Baseline`."""
        out = np.zeros(len(codes))
        for column, table in zip(codes.T, self.tables, strict=True):
            out += table[column]
        return out


class ChowLiu:
    """The best tree over the columns."""

    def __init__(self, data: Empirical) -> None:
        self._tree = TreeDistribution(fit_chow_liu(data).model)
        self.n_parameters = self._tree.model.n_parameters

    def log_prob(self, codes: NDArray[Any]) -> Array:
        """See :class:`Baseline`."""
        return self._tree.log_prob(codes)


class Saturated:
    """The counts of complete rows, smoothed by ``strength`` rows spread evenly over all states."""

    def __init__(self, data: Empirical) -> None:
        complete = (data.states >= 0).all(axis=1)
        self.states, self.counts = data.states[complete].astype(np.int32), data.counts[complete]
        self._tables: dict[bytes, dict[bytes, float]] = {}
        self.cards, self.total = np.array(data.space.cards), float(self.counts.sum())
        self._log_states = float(np.log(self.cards).sum())
        self.n_parameters = data.space.n_states - 1
        self.strength = float(max(_STRENGTHS, key=self._left_out))

    def _left_out(self, strength: float) -> float:
        """Log-likelihood of every row under the others: ``sum n log((n - 1 + a/|X|) / (N - 1 + a))``."""
        others = np.maximum(self.counts - 1.0, 0.0)
        flat = math.exp(max(math.log(strength) - self._log_states, -700.0))
        return float(self.counts @ (np.log(others + flat) - math.log(max(self.total - 1.0, 0.0) + strength)))

    def log_prob(self, codes: NDArray[Any]) -> Array:
        """See :class:`Baseline`."""
        known = np.asarray(codes) >= 0
        flat = math.log(self.strength) - known @ np.log(self.cards)
        seen, rows = np.zeros(len(codes)), np.ascontiguousarray(codes, dtype=np.int32)
        patterns: dict[bytes, list[int]] = {}
        for r, pattern in enumerate(known):
            patterns.setdefault(pattern.tobytes(), []).append(r)
        for key, members in patterns.items():
            shown = np.frombuffer(key, dtype=np.bool_)
            table = self._table(key, shown)
            seen[members] = [table.get(row.tobytes(), 0.0) for row in rows[members][:, shown]]
        with np.errstate(divide="ignore"):
            return np.asarray(np.logaddexp(np.log(seen), flat) - math.log(self.total + self.strength))

    def _table(self, key: bytes, shown: NDArray[np.bool_]) -> dict[bytes, float]:
        """How many of the rows learned from have which cells in some columns; tables of a few sets are kept."""
        if key not in self._tables:
            if len(self._tables) >= _KEPT_MARGINS:
                self._tables.clear()
            table: dict[bytes, float] = {}
            for row, count in zip(self.states[:, shown], self.counts.tolist(), strict=True):
                cells = row.tobytes()
                table[cells] = table.get(cells, 0.0) + count
            self._tables[key] = table
        return self._tables[key]


BASELINES: dict[str, Callable[[Empirical], Baseline]] = {
    "independent": Independent,
    "Chow–Liu tree": ChowLiu,
    "saturated, smoothed": Saturated,
}
"""The baselines by name: each learns from counts."""
