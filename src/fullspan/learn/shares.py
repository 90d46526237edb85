"""Shares of a mixture of given models: those that make held-out rows likeliest.

    shares = argmax_w  sum_r n_r log( sum_i w_i p_i(x_r) ) + sum_i b_i log w_i

b_i is the pseudo-count of model i, so that few rows do not rule a good one out. The objective is concave, its maximum
unique. It serves stacked ensembles and mixtures of several runs alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from fullspan.arrays import Array

_MAX_STEPS, _MAX_HALVINGS, _TOLERANCE = 200, 30, 1e-9
_FAINT = 0.1
"""Pseudo-count of each model where it is asked what some of them add."""


def best_shares(log_prob: Array, weight: Array, pseudo_count: Array | float = 1.0) -> Array:
    """The shares (w,) of models whose ``log p`` of rows (r, w) is given, by Newton's method; they sum to 1.

    Parameters
    ----------
    weight : of the rows (r,).
    pseudo_count : of each model, in rows, above 0.

    Notes
    -----
    The constraint needs no multiplier: with ``- (N + B) sum_i w_i`` added, N rows and B pseudo-counts in all, the free
    maximum has the sum 1. A step is relative to each share, and leaves at least a tenth of it.
    """
    n_models = log_prob.shape[1]
    before = np.broadcast_to(np.asarray(pseudo_count, dtype=np.float64), n_models)
    likelihood = np.exp(log_prob - log_prob.max(axis=1, keepdims=True))
    total = float(weight.sum() + before.sum())

    def value(shares: Array) -> float:
        return float(weight @ np.log(likelihood @ shares) + before @ np.log(shares) - total * shares.sum())

    shares = np.full(n_models, 1.0 / n_models)
    reached = value(shares)
    for _ in range(_MAX_STEPS):
        responsible = likelihood * shares
        responsible /= responsible.sum(axis=1, keepdims=True)
        slope = weight @ responsible + before - total * shares
        curvature = (responsible.T * weight) @ responsible + np.diag(before)
        step = cho_solve(cho_factor(curvature), slope)
        step *= min(1.0, 0.9 / max(float(-step.min()), 1e-300))
        expected = float(slope @ step)
        for _ in range(_MAX_HALVINGS):
            moved = shares * (1.0 + step)
            if (now := value(moved)) >= reached + 1e-4 * expected:
                break
            step, expected = step / 2, expected / 2
        last, shares, reached = shares, moved, now
        if np.abs(shares - last).max() < _TOLERANCE:
            break
    return np.asarray(shares / shares.sum())


def mixed(log_prob: Array, shares: Array) -> Array:
    """``log p`` of rows (r, w) under the mixture; models with a share of 0 are left out."""
    kept = shares > 0
    return np.asarray(np.logaddexp.reduce(log_prob[:, kept] + np.log(shares[kept]), axis=1))


def added_by(log_prob: Array, weight: Array, some: Sequence[int]) -> float:
    """Nats that some of the models add to the likelihood of held-out rows (r, w), all at their best shares."""
    rest = [i for i in range(log_prob.shape[1]) if i not in set(some)]
    with_all, without = (
        float(weight @ mixed(logs, best_shares(logs, weight, _FAINT))) for logs in (log_prob, log_prob[:, rest])
    )
    return with_all - without
