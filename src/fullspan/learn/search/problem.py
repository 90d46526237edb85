"""The learning problem on a dual table: data, prices, the description length, and the record of the way."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.protocol import Engine, Prices

if TYPE_CHECKING:
    from fullspan.learn.search.refit import Prior

Move = Literal["start", "append", "adjust", "remove", "margin", "refit", "prune"]


@dataclass(frozen=True)
class Step:
    """One move of the search: what was done, with how many terms afterwards, and the cost in nats per row."""

    move: Move
    n_terms: int
    cost: float
    seconds: float


class Interrupted(Exception):
    """Raised inside a search when it is asked to stop; the best model so far stands."""


@dataclass
class Problem:
    """Minimise ``cost = KL(p_d || p) + sum_{y in B} r_y`` on a table that holds d.

    Attributes
    ----------
    entropy : entropy of the empirical distribution (pseudo-rows included), so that KL is an absolute number.
    total : number of rows N.
    names : price of naming what the full search has appended, in nats per row.
    prior : normal prior on the weights in use, once the full search has fitted one.
    l1 : weight of an L1 penalty ``l1 * sum |theta|`` added to the cost.
    watch : called after every move with the problem and the step; may raise :class:`Interrupted`.
    """

    table: Engine
    prices: Prices
    entropy: float
    total: float
    l1: float = 0.0
    watch: Callable[[Problem, Step], None] | None = None
    history: list[Step] = field(default_factory=list)
    drift: float = 0.0
    prior: Prior | None = None
    names: float = 0.0
    started: float = field(default_factory=time.perf_counter)
    _prices: dict[int, float] = field(default_factory=dict)
    _supports: dict[int, frozenset[int]] = field(default_factory=dict)

    @property
    def weight_price(self) -> float:
        """One nat, per row: what an estimated weight costs in prediction, or its price if that is lower."""
        return min(self.prices.weight, 1.0 / self.total)

    def price(self, index: int) -> float:
        """r_y of the term at an index."""
        if index not in self._prices:
            self._prices[index] = self.prices(self.table.basis.term(index))
        return self._prices[index]

    def support(self, index: int) -> frozenset[int]:
        """Variables of the term at an index."""
        if index not in self._supports:
            self._supports[index] = frozenset(i for i, _ in self.table.basis.term(index))
        return self._supports[index]

    def note_drift(self, drift: float) -> None:
        """Remember the largest rounding error that a rebuild has removed."""
        self.drift = max(self.drift, drift)

    def divergence(self) -> float:
        """KL(p_d || p) at the current point: ``log Z - theta . d - H(p_d)``."""
        theta = self.table.theta
        indices = np.fromiter(theta, dtype=np.int64, count=len(theta))
        weights = np.fromiter(theta.values(), dtype=np.float64, count=len(theta))
        return self.table.log_z - float(weights @ self.d_at(indices)) - self.entropy

    def cost(self) -> float:
        """KL plus the prices of all terms, plus the L1 norm if asked for; nats per row."""
        theta = self.table.theta
        prices = sum(self.price(y) for y in theta)
        return self.divergence() + prices + self.l1 * sum(map(abs, theta.values()))

    def d_at(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Data expectations of terms, in double precision."""
        return self.table.d_at(indices)

    def eta_at(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Model expectations of terms, in double precision."""
        return self.table.eta_at(indices)

    def record(self, move: Move, cost: float) -> None:
        """Note a move, and tell whoever watches."""
        step = Step(move, len(self.table.theta), cost, time.perf_counter() - self.started)
        self.history.append(step)
        if self.watch is not None:
            self.watch(self, step)


def smoothed_entropy(weights: NDArray[np.float64], n_states: int, pseudo: float) -> float:
    """Entropy of ``(counts + pseudo / |X|) / (N + pseudo)``, unseen states included."""
    total = float(weights.sum()) + pseudo
    seen = (weights + pseudo / n_states) / total
    entropy = -float(np.sum(seen * np.log(seen)))
    rest = (n_states - len(weights)) * (pseudo / n_states / total)
    return entropy - (rest * math.log(pseudo / n_states / total) if rest > 0 else 0.0)


def as_arrays(theta: dict[int, float]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Indices and weights of a sparse theta, sorted by index."""
    indices = np.array(sorted(theta), dtype=np.int64)
    return indices, np.array([theta[int(y)] for y in indices], dtype=np.float64)


def as_theta(indices: NDArray[np.int64], weights: NDArray[Any]) -> dict[int, float]:
    """The inverse of :func:`as_arrays`."""
    return {int(y): float(w) for y, w in zip(indices, weights, strict=True)}
