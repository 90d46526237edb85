"""Shares of a mixture of given models: those that make held-out rows likeliest.

    shares = argmax_w  sum_r n_r log( sum_i w_i p_i(x_r) ) + sum_i b_i log w_i

b_i is the pseudo-count of model i, so that few rows do not rule a good one out. The objective is concave, its maximum
unique. It serves stacked ensembles and mixtures of several runs alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullspan.arrays import Array
from fullspan.learn.base.descent import Descent, Point
from fullspan.learn.base.information import Cholesky
from fullspan.learn.base.newton import Newton

_MAX_STEPS, _TOLERANCE = 200, 1e-10
"""Newton steps at most, and the slope of a share, relative to all rows, at which they end."""
_LEFT_PART = 0.1
"""Part of a share that a step leaves at least: shares stay positive, and a model can come back."""
_FAINT_COUNT = 0.1
"""Pseudo-count of each model where it is asked what some of them add."""


def best_shares(log_prob: Array, weight: Array, pseudo_count: Array | float = 1.0) -> Array:
    """The shares (w,) of models whose ``log p`` of rows (r, w) is given, by Newton's method; they sum to 1.

    Parameters
    ----------
    weight : of the rows (r,).
    pseudo_count : of each model, in rows, above 0.
    """
    n_models = log_prob.shape[1]
    before = np.broadcast_to(np.asarray(pseudo_count, dtype=np.float64), n_models)
    objective = _Surprise(log_prob, weight, before)
    descent = Descent(objective, np.full(n_models, 1.0 / n_models), _TOLERANCE, _MAX_STEPS)
    Newton().run(descent, objective)
    return np.asarray(descent.best.theta / descent.best.theta.sum())


class _Surprise:
    """Minus the logarithm of the held-out likelihood per row and pseudo-row, as a function of the shares.

    The constraint needs no multiplier: with ``sum_i w_i`` added, the free minimum has the sum 1. Slope and curvature
    are those of ``log w``, so that a step is relative to each share, however small.
    """

    polishes = False

    def __init__(self, log_prob: Array, weight: Array, before: Array) -> None:
        # Relative to the likeliest model of each row: that adds a constant, and no row is 0 under all of them.
        self.likelihood = np.exp(log_prob - log_prob.max(axis=1, keepdims=True))
        self.total = float(weight.sum() + before.sum())
        self.weight, self.before = weight / self.total, before / self.total

    def move(self, theta: Array) -> float:
        self.shares, mixture = theta, self.likelihood @ theta
        self.responsible = self.likelihood * theta / mixture[:, None]
        # Weights and pseudo-counts sum to 1 here, so that the minimum along a multiple of the shares is at the sum 1.
        return float(theta.sum() - self.weight @ np.log(mixture) - self.before @ np.log(theta))

    def gradient(self) -> Array:
        return self._slope() / self.shares

    def violation(self) -> float:
        return float(np.abs(self._slope()).max())

    def newton_step(self, point: Point) -> Array:
        curvature = (self.responsible.T * self.weight) @ self.responsible + np.diag(self.before)
        # Two models that say the same of every row make the curvature singular along their difference.
        step = -Cholesky.of(curvature, ridge=1e-15).solve(self._slope())
        return np.asarray(self.shares * step * min(1.0, (1 - _LEFT_PART) / max(float(-step.min()), 1e-300)))

    def _slope(self) -> Array:
        return np.asarray(self.shares - self.weight @ self.responsible - self.before)


def mixed(log_prob: Array, shares: Array) -> Array:
    """``log p`` of rows (r, w) under the mixture; models with a share of 0 are left out."""
    # log 0 = -inf is what the sum of exponentials would take, at the price of a warning.
    kept = shares > 0
    return np.asarray(np.logaddexp.reduce(log_prob[:, kept] + np.log(shares[kept]), axis=1))


def added_by(log_prob: Array, weight: Array, some: Sequence[int]) -> float:
    """Nats that some of the models add to the likelihood of held-out rows (r, w), all at their best shares."""
    rest = [i for i in range(log_prob.shape[1]) if i not in set(some)]
    with_all, without = (
        float(weight @ mixed(logs, best_shares(logs, weight, _FAINT_COUNT))) for logs in (log_prob, log_prob[:, rest])
    )
    return with_all - without
