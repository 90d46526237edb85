"""Cross-validation of candidates on counted rows: each fold is predicted by what is learned from the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.learn.ensemble.candidates import Learn
from fullspan.learn.ensemble.completion import observed_log_prob
from fullspan.model.algebra.basis import Basis

_FOLDS = ((100, 8), (2000, 5))
"""(rows below, folds); otherwise 3 folds. Few rows need most of them to learn from."""
_FOLDS_OF_MANY = 3


@dataclass(frozen=True)
class Followed:
    """Rows that are followed through all candidates: the state of each, and the weight of the rows it represents.

    Of the ``rows`` (m,) of each state, ``copies`` (m,) are followed. States are followed, and split at random, in the
    given ``order``.
    """

    state: NDArray[np.int64]
    weight: Array
    copies: NDArray[np.int64]
    rows: NDArray[np.int64]
    order: NDArray[np.intp]

    def split(self, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of each state in each fold (m, folds), and the fold that each followed row is in."""
        total = int(self.rows.sum())
        folds = next((folds for rows, folds in _FOLDS if total < rows), _FOLDS_OF_MANY)
        split, first = np.empty((len(self.rows), folds), dtype=np.int64), np.empty(len(self.rows), dtype=np.int64)
        split[self.order] = rng.multinomial(self.rows[self.order], np.full(folds, 1 / folds))
        first[self.order] = np.cumsum(self.copies[self.order]) - self.copies[self.order]
        among = np.arange(len(self.state)) - first[self.state]
        place = (among + 0.5) * (self.rows / self.copies)[self.state]
        return split, np.sum(np.cumsum(split, axis=1)[self.state] <= place[:, None], axis=1)


@dataclass(frozen=True)
class Fold:
    """Which of the followed rows (r,) are in the fold, and the rows outside it; None if there are none."""

    own: NDArray[np.bool_]
    others: Empirical | None


def in_folds(empirical: Empirical, rows: Followed, rng: np.random.Generator) -> list[Fold]:
    """The rows in random folds; folds without a followed row are left out."""
    split, fold = rows.split(rng)
    found = []
    for f in range(split.shape[1]):
        counts = empirical.counts * (1.0 - split[:, f] / rows.rows)
        seen = counts > 0
        others = replace(empirical, states=empirical.states[seen], counts=counts[seen]) if seen.any() else None
        found.append(Fold(fold == f, others))
    return [one for one in found if one.own.any()]


def cross_validated(
    empirical: Empirical, rows: Followed, folds: Sequence[Fold], learn: Learn, basis: Basis, rng: np.random.Generator
) -> Array:
    """``log p`` of every followed row by what is learned from the folds that it is not in."""
    log_prob = np.empty(len(rows.state))
    for fold in folds:
        if fold.others is None:  # all rows are in one fold: without it there is nothing to learn from
            log_prob[fold.own] = _uniform(empirical)[rows.state[fold.own]]
            continue
        candidate = learn(fold.others, basis, rng)
        asked, which = np.unique(rows.state[fold.own], return_inverse=True)
        log_prob[fold.own] = observed_log_prob(candidate, basis, empirical.states[asked])[which]
    return log_prob


def _uniform(empirical: Empirical) -> Array:
    """``log P`` of the observed cells of each counted row if all states are equally likely."""
    observed = (empirical.states >= 0).astype(np.float64)
    return np.asarray(-(observed @ np.log(np.array(empirical.space.cards, dtype=np.float64))))
