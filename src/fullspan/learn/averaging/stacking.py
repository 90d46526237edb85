"""Shares of several ways to predict: those that make rows likeliest which none of the ways has seen.

    shares = argmax_w  sum_r n_r log( sum_i w_i p_i(x_r | without r) ) + sum_i b_i log w_i

b_i rows speak for each way beforehand, so that few rows do not rule a good one out. The maximum is unique, and
expectation maximisation finds it. What is learned from the rows directly, such as networks or a shrunken model, is
learned once more without each fifth of them to predict that fifth; fits of bootstrap samples have rows of their own
that they lack. Rows with gaps count for what they say, and are completed, where that is needed, by what is learned from
the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fullspan.algebra.basis import Basis
from fullspan.data import Empirical
from fullspan.learn.averaging.gaps import observed_log_prob
from fullspan.model import LogLinear

Array = NDArray[np.float64]
_FOLDS = 5
_ROUNDS, _SETTLED = 1000, 1e-6


class Way(Protocol):
    """Something that was learned from rows: it predicts states, and is some log-linear models with their shares."""

    def log_prob(self, states: NDArray[Any]) -> Array:
        """``log p`` of complete states."""

    def models(self) -> Sequence[tuple[float, LogLinear]]:
        """Log-linear models and their shares, whose mean is the same distribution."""


Learn = Callable[[Empirical, Basis, np.random.Generator], Way]
"""A way to predict, from counted rows; its models are in the basis given."""


@dataclass(frozen=True)
class Followed:
    """Rows that are followed through all ways: the state that each is of, and the weight of what it stands for.

    ``copies`` (m,) of the rows of each state are followed, which has ``rows`` (m,).
    """

    state: NDArray[np.int64]
    weight: Array
    copies: NDArray[np.int64]
    rows: NDArray[np.int64]

    def fifths(self, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of each state in each fifth of all (m, 5), and the fifth that each followed row is in."""
        split = rng.multinomial(self.rows, np.full(_FOLDS, 1 / _FOLDS))
        first = np.cumsum(self.copies) - self.copies
        among = np.arange(len(self.state)) - first[self.state]
        place = (among + 0.5) * (self.rows / self.copies)[self.state]
        return split, np.sum(np.cumsum(split, axis=1)[self.state] <= place[:, None], axis=1)


def best_shares(log_prob: Array, weight: Array, before: Array | float = 1.0) -> Array:
    """The shares (w,) of the ways whose ``log p`` of rows (r, w) they have not seen is given; they sum to 1.

    ``before`` are rows that speak for each way beforehand.
    """
    n_ways = log_prob.shape[1]
    before = np.broadcast_to(np.asarray(before, dtype=np.float64), n_ways)
    likelihood = np.exp(log_prob - log_prob.max(axis=1, keepdims=True))
    shares = np.full(n_ways, 1.0 / n_ways)
    for _ in range(_ROUNDS):
        responsible = likelihood * shares
        responsible /= responsible.sum(axis=1, keepdims=True)
        last, shares = shares, (weight @ responsible + before) / (weight.sum() + before.sum())
        if np.abs(shares - last).max() < _SETTLED:
            break
    return shares


def mixed(log_prob: Array, shares: Array) -> Array:
    """``log p`` of rows (r, w) under all ways together."""
    return np.asarray(np.logaddexp.reduce(log_prob + np.log(shares), axis=1))


@dataclass(frozen=True)
class Fifth:
    """Which of the followed rows (r,) are in it, and the rows that are not; None if there are none."""

    own: NDArray[np.bool_]
    others: Empirical | None


def in_fifths(empirical: Empirical, rows: Followed, rng: np.random.Generator) -> list[Fifth]:
    """The rows in fifths, by chance; those without a followed row are left out."""
    split, fifth = rows.fifths(rng)
    found = []
    for f in range(_FOLDS):
        counts = empirical.counts * (1.0 - split[:, f] / rows.rows)
        seen = counts > 0
        others = replace(empirical, states=empirical.states[seen], counts=counts[seen]) if seen.any() else None
        found.append(Fifth(fifth == f, others))
    return [part for part in found if part.own.any()]


def without_each_fifth(
    empirical: Empirical, rows: Followed, parts: Sequence[Fifth], learn: Learn, basis: Basis, rng: np.random.Generator
) -> Array:
    """``log p`` of every followed row by what is learned from the other four fifths of them."""
    log_prob = np.empty(len(rows.state))
    for part in parts:
        if part.others is None:  # all rows are in one fifth: nothing is known without it
            log_prob[part.own] = _even(empirical)[rows.state[part.own]]
            continue
        way = learn(part.others, basis, rng)
        asked, which = np.unique(rows.state[part.own], return_inverse=True)
        log_prob[part.own] = observed_log_prob(way, basis, empirical.states[asked])[which]
    return log_prob


def _even(empirical: Empirical) -> Array:
    """``log P`` of the observed cells of each counted row if all states are as likely."""
    observed = (empirical.states >= 0).astype(np.float64)
    return np.asarray(-(observed @ np.log(np.array(empirical.space.cards, dtype=np.float64))))
