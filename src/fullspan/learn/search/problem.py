"""The learning problem on a dual table: data, prices, the description length, and the history of its moves.

Joint refit: Newton's method on all terms in use, the Fisher information by look-up in the dual table.

Minimises ``f(theta) = log Z(theta) - theta . d + sum_y w_y (theta_y - m_y)^2 / 2``, whose gradient is ``eta - d``
and whose Hessian is the Fisher information, plus the parts of a normal prior (mean m, precision N w) if there is one.
One iteration costs k^2 look-ups, a Cholesky factorisation and one rebuild of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.engine.protocol import Engine, Prices
from fullspan.learn.base.descent import Descent, Point
from fullspan.learn.base.information import Cholesky
from fullspan.learn.base.newton import Newton
from fullspan.learn.base.phase import Known
from fullspan.learn.base.progress import History
from fullspan.learn.likelihood.phases import Free
from fullspan.learn.likelihood.solve import Likelihood
from fullspan.model.fitted import Fitted

Move = Literal["start", "append", "adjust", "remove", "margin", "refit", "prune"]


@dataclass(frozen=True)
class Prior:
    """Normal prior on the weights in use, sorted by index: mean, and precision per row of data."""

    mean: NDArray[np.float64]
    precision: NDArray[np.float64]

    @classmethod
    def flat(cls, k: int) -> Prior:
        """No prior on k weights."""
        return cls(np.zeros(k), np.zeros(k))


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
    history : the moves so far.
    keep : called before a move is reported: the point is the best so far.
    snapshot : builds the best model so far, for whoever watches.
    """

    table: Engine
    prices: Prices
    entropy: float
    total: float
    l1: float = 0.0
    history: History = field(default_factory=History)
    keep: Callable[[], None] | None = None
    snapshot: Callable[[], Fitted] | None = None
    drift: float = 0.0
    prior: Prior | None = None
    names: float = 0.0
    _prices: dict[int, float] = field(default_factory=dict)
    _supports: dict[int, frozenset[int]] = field(default_factory=dict)

    @property
    def weight_price(self) -> float:
        """One nat, per row: what an estimated weight costs in prediction, or its price if that is lower."""
        # Akaike's cost of an estimated weight: half a nat for fitting noise, and half for being wrong on new rows.
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
        """Store a move and report it; whoever watches may end the search."""
        if self.keep is not None:
            self.keep()
        self.history.record(move, len(self.table.theta), cost, snapshot=self.snapshot)


def as_arrays(theta: dict[int, float]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Indices and weights of a sparse theta, sorted by index."""
    indices = np.array(sorted(theta), dtype=np.int64)
    return indices, np.array([theta[int(y)] for y in indices], dtype=np.float64)


def as_theta(indices: NDArray[np.int64], weights: NDArray[Any]) -> dict[int, float]:
    """The inverse of :func:`as_arrays`."""
    return {int(y): float(w) for y, w in zip(indices, weights, strict=True)}


_LONGEST_STEP = 16.0
"""Longest change of one weight in a single Newton step: a guard for weights of which the data say nothing."""
_STEP_CUTS = 12
"""Times a Newton step is cut to a quarter before it is given up."""


class _Joint(Likelihood):
    """The likelihood of the terms in use, under their prior."""

    polishes = False

    def newton_step(self, point: Point) -> Array:
        return -Cholesky.of(self.hessian()).solve(self.gradient())


def refit(problem: Problem, tolerance: float, max_iterations: int = 50, prior: Prior | None = None) -> bool:
    """Move all weights in use to their joint optimum; whether the promised drop fell below ``tolerance``.

    The objective never rises by more than the rounding of the table: a step that would raise it is shortened.
    """
    table = problem.table
    if not table.theta:
        return True
    y, theta = as_arrays(table.theta)
    prior = prior or Prior.flat(len(y))
    # log Z of a float32 table: below this a rise of the objective is rounding, and no step is cut for it.
    rounding = 32 * float(np.finfo(table.dtype).eps)
    joint = _Joint(Free(table, y, theta), Known(problem.d_at(y)), prior.precision, centre=prior.mean)
    descent = Descent(joint, theta, 0.0, max_iterations, slack=lambda *_: rounding)
    # An interruption must reach the search, which knows the best point: it is not caught here.
    Newton(_LONGEST_STEP, _STEP_CUTS, max(tolerance, rounding), damped=True).run(descent, joint)
    return descent.status == "converged"


def variances(problem: Problem, precision: Array | None = None) -> Array:
    """Variances of the weights in use, the diagonal of ``(N (F + precision))^-1``."""
    y, _ = as_arrays(problem.table.theta)
    fisher = problem.table.fisher(y)
    if precision is not None:
        fisher = fisher + np.diag(precision)
    return Cholesky.of(fisher).inverse_diagonal() / problem.total
