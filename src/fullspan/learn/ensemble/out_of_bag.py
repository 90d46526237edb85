"""The likelihood of the rows that bootstrap samples leave out.

A row of a state with c rows of which a sample drew m copies is not in it with probability (1 - 1/c)^m. The out-of-bag
likelihood predicts every row by the average of the fits that have not seen it:

    oob = 1/N sum_r log( sum_{b : r not in b} p_b(x_r) / #{b : r not in b} )

It is an honest estimate of the likelihood of new rows, and a cautious one, since only about 37 % of the fits take part
in each prediction.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.canonical import canonical_states
from fullspan.engine.elimination.sums import Sums
from fullspan.learn.base.counted import n_draws
from fullspan.learn.ensemble.completion import MAX_STATES, log_sums, log_table
from fullspan.learn.ensemble.folds import Followed
from fullspan.model import LogLinear
from fullspan.model.fitted import OutOfBag

_FOLLOWED_COPIES = 32
"""Rows of one state that are followed through the samples; more of them each stand for several."""


class OutOfBagRows:
    """The rows followed through the samples, one fit after the other."""

    def __init__(self, empirical: Empirical) -> None:
        rows = empirical.counts * (n_draws(empirical) / empirical.total)
        whole = np.maximum(np.rint(rows), 1).astype(np.int64)
        # A state with a thousand rows is not followed a thousand times; its copies share its weight.
        copies = np.minimum(whole, _FOLLOWED_COPIES)
        order = canonical_states(empirical)
        self.state = np.repeat(order, copies[order])
        self.weight = (empirical.counts / copies)[self.state]
        self.followed = Followed(self.state, self.weight, copies, whole, order)
        self.missed = 1.0 - 1.0 / np.maximum(rows, 1.0)
        self._fits = np.zeros(len(self.state))
        self._log_sum, self._log_square = np.full((2, len(self.state)), -np.inf)

    def add(self, drawn: Array, log_prob: Array, rng: np.random.Generator) -> None:
        """A fit: how often its sample drew each state, and ``log p`` of each state under it."""
        # The fit of the rows as they are has seen every row: it is drawn "infinitely often".
        chance = np.where(drawn > 0, np.where(np.isinf(drawn), 0.0, self.missed**drawn), 1.0)[self.state]
        out = rng.random(len(self.state)) < chance
        log_p = log_prob[self.state[out]]
        self._log_sum[out] = np.logaddexp(self._log_sum[out], log_p)
        self._log_square[out] = np.logaddexp(self._log_square[out], 2 * log_p)
        self._fits += out

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which of the followed rows some fit has not seen."""
        return np.asarray(self._fits > 0)

    @property
    def known_weight(self) -> Array:
        """Weights of the known rows: those of one state also stand for the others of it, so that it keeps its own."""
        known = np.bincount(self.state[self.known], minlength=len(self.followed.copies))
        return np.asarray((self.weight * (self.followed.copies / np.maximum(known, 1))[self.state])[self.known])

    def log_prob(self) -> Array:
        """``log p`` of the known rows by the fits that have not seen them."""
        return np.asarray(self._log_sum[self.known] - np.log(self._fits[self.known]))

    def expected(self, k: int) -> Array:
        """The same as of an average of k fits, to second order: ``log p + v/2 (1/m - 1/k)``.

        The logarithm of a mean of m numbers falls short of that of a mean of many by half their relative variance v
        over m; m is the number of fits that have not seen the row.
        """
        m, log_mean = self._fits[self.known], self.log_prob()
        possible = np.isfinite(log_mean)
        relative = np.exp(np.where(possible, self._log_square[self.known], 0.0) - 2 * np.where(possible, log_mean, 0.0))
        # sum p^2 / mean^2 - m over m - 1: the variance relative to the mean; rounding may leave it below 0.
        variance = np.maximum(relative - m, 0.0) / np.maximum(m - 1, 1)
        return np.asarray(log_mean + variance / 2 * np.maximum(1 / m - 1 / k, 0.0))

    def score(self, log_prob: Array | None = None) -> OutOfBag:
        """What the fits so far, or the whole stack, say of the known rows."""
        if not self.known.any():
            return OutOfBag(math.nan, math.nan, 0.0)
        log_prob, weight = self.log_prob() if log_prob is None else log_prob, self.known_weight
        mean = float(weight @ log_prob / weight.sum())
        spread = float(weight @ (log_prob - mean) ** 2 / weight.sum()) if math.isfinite(mean) else math.nan
        share = float(self.weight[self.known].sum() / self.weight.sum())
        return OutOfBag(mean, math.sqrt(spread / float(weight.sum())), share)


def log_prob_of(model: LogLinear, states: NDArray[Any], n_hidden: int = 0, max_states: int = MAX_STATES) -> Array:
    """``log P`` of the observed cells of visible states, -1 marking the others; hidden variables are summed out.

    Models of at most ``max_states`` are summed over a table of all states, others by elimination.
    """
    rows = np.full((len(states), len(model.space)), -1, dtype=np.int64)
    rows[:, : rows.shape[1] - n_hidden] = states
    complete = (rows >= 0).all(axis=1)
    out = np.empty(len(rows))
    out[complete] = model.log_prob(rows[complete])
    if not complete.all():
        out[~complete] = _log_sums(model, rows[~complete], max_states)
    return out


def _log_sums(model: LogLinear, rows: NDArray[np.int64], max_states: int) -> Array:
    """``log P`` of different rows with missing values, by the table of all states or, if that is large, elimination."""
    parts = model.parts
    if model.basis.n_states <= max_states:
        return log_sums(model.basis, log_table(model.basis, parts), rows)
    each = [math.log(share) + Sums(part).log_sums_of_rows(rows) - part.log_z for share, part in parts]
    return np.asarray(np.logaddexp.reduce(each, axis=0))
