"""Shares of several ways to predict: those that make rows likeliest which none of the ways has seen.

    shares = argmax_w  sum_r n_r log( sum_i w_i p_i(x_r | without r) ) + sum_i b_i log w_i

b_i rows speak for each way beforehand, so that few rows do not rule a good one out. The maximum is unique, and a few
steps of Newton's method find it. What is learned from the rows directly, such as networks or a shrunken model, is
learned once more without each part of them to predict that part; fits of bootstrap samples have rows of their own
that they lack. Rows with gaps count for what they say, and are completed, where that is needed, by what is learned from
the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.learn.averaging.gaps import observed_log_prob
from fullspan.model import LogLinear
from fullspan.model.algebra.basis import Basis

_PARTS = ((100, 8), (2000, 5))
"""Fewer rows than so many are in so many parts; more are in three, two thirds of which tell the ways apart as well."""
_PARTS_OF_MANY = 3
_ROUNDS, _HALVINGS, _SETTLED = 200, 30, 1e-9
_FAINT = 0.1
"""Rows that speak beforehand for each way, where it is asked what some are worth."""


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

    ``copies`` (m,) of the rows of each state are followed, which has ``rows`` (m,). The states are followed, and split
    by chance, in the given ``order``.
    """

    state: NDArray[np.int64]
    weight: Array
    copies: NDArray[np.int64]
    rows: NDArray[np.int64]
    order: NDArray[np.intp]

    def parts(self, rng: np.random.Generator, parts: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of each state in each part of all (m, parts), and the part that each followed row is in."""
        total = int(self.rows.sum())
        parts = parts or next((parts for rows, parts in _PARTS if total < rows), _PARTS_OF_MANY)
        split, first = np.empty((len(self.rows), parts), dtype=np.int64), np.empty(len(self.rows), dtype=np.int64)
        split[self.order] = rng.multinomial(self.rows[self.order], np.full(parts, 1 / parts))
        first[self.order] = np.cumsum(self.copies[self.order]) - self.copies[self.order]
        among = np.arange(len(self.state)) - first[self.state]
        place = (among + 0.5) * (self.rows / self.copies)[self.state]
        return split, np.sum(np.cumsum(split, axis=1)[self.state] <= place[:, None], axis=1)


def best_shares(log_prob: Array, weight: Array, before: Array | float = 1.0) -> Array:
    """The shares (w,) of the ways whose ``log p`` of rows (r, w) they have not seen is given; they sum to 1.

    ``before`` are rows that speak for each way beforehand, more than none.

    Notes
    -----
    The sum of the shares is free if all rows, N of them and B beforehand, ask ``N + B`` for it: it is 1 at the maximum.
    A step is in proportion to each share, and leaves at least a tenth of it.
    """
    n_ways = log_prob.shape[1]
    before = np.broadcast_to(np.asarray(before, dtype=np.float64), n_ways)
    likelihood = np.exp(log_prob - log_prob.max(axis=1, keepdims=True))
    total = float(weight.sum() + before.sum())

    def value(shares: Array) -> float:
        return float(weight @ np.log(likelihood @ shares) + before @ np.log(shares) - total * shares.sum())

    shares = np.full(n_ways, 1.0 / n_ways)
    reached = value(shares)
    for _ in range(_ROUNDS):
        responsible = likelihood * shares
        responsible /= responsible.sum(axis=1, keepdims=True)
        slope = weight @ responsible + before - total * shares
        curvature = (responsible.T * weight) @ responsible + np.diag(before)
        step = cho_solve(cho_factor(curvature), slope)
        step *= min(1.0, 0.9 / max(float(-step.min()), 1e-300))
        expected = float(slope @ step)
        for _ in range(_HALVINGS):
            moved = shares * (1.0 + step)
            if (now := value(moved)) >= reached + 1e-4 * expected:
                break
            step, expected = step / 2, expected / 2
        last, shares, reached = shares, moved, now
        if np.abs(shares - last).max() < _SETTLED:
            break
    return np.asarray(shares / shares.sum())


def worth(log_prob: Array, weight: Array, of: Sequence[int]) -> float:
    """Nats that some of the ways add to the likelihood of rows (r, w) that none has seen, all at their best shares."""
    rest = [i for i in range(log_prob.shape[1]) if i not in set(of)]
    with_all, without = (
        float(weight @ mixed(some, best_shares(some, weight, _FAINT))) for some in (log_prob, log_prob[:, rest])
    )
    return with_all - without


def mixed(log_prob: Array, shares: Array) -> Array:
    """``log p`` of rows (r, w) under all candidates together; those with a share of 0 are left out."""
    kept = shares > 0
    return np.asarray(np.logaddexp.reduce(log_prob[:, kept] + np.log(shares[kept]), axis=1))


@dataclass(frozen=True)
class Part:
    """Which of the followed rows (r,) are in it, and the rows that are not; None if there are none."""

    own: NDArray[np.bool_]
    others: Empirical | None


def in_parts(empirical: Empirical, rows: Followed, rng: np.random.Generator, parts: int | None = None) -> list[Part]:
    """The rows in parts, by chance, as many as their number asks for; those without a followed row are left out."""
    split, part = rows.parts(rng, parts)
    found = []
    for f in range(split.shape[1]):
        counts = empirical.counts * (1.0 - split[:, f] / rows.rows)
        seen = counts > 0
        others = replace(empirical, states=empirical.states[seen], counts=counts[seen]) if seen.any() else None
        found.append(Part(part == f, others))
    return [one for one in found if one.own.any()]


def without_each_part(
    empirical: Empirical, rows: Followed, parts: Sequence[Part], learn: Learn, basis: Basis, rng: np.random.Generator
) -> Array:
    """``log p`` of every followed row by what is learned from the other parts of them."""
    log_prob = np.empty(len(rows.state))
    for part in parts:
        if part.others is None:  # all rows are in one part: nothing is known without it
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
