"""The fits of an average, and what each says of rows that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.learn.base.counted import Sample
from fullspan.learn.ensemble.out_of_bag import OutOfBagRows, log_prob_of
from fullspan.model import Fitted


@dataclass(frozen=True)
class Member:
    """One of the fits, and the rows that it is of."""

    number: int
    sample: Sample
    fitted: Fitted

    @property
    def is_whole(self) -> bool:
        """Whether nobody interrupted it."""
        return self.fitted.status != "interrupted"


@dataclass(frozen=True)
class Seen:
    """The rows followed through the members, and ``log p`` of all states under their average and under the first."""

    rows: OutOfBagRows
    mean: Array
    first: Array


def seen_by(empirical: Empirical, members: Sequence[Member], seeds: Sequence[int]) -> Seen:
    """What the members say of the rows that each has not seen; the seeds decide which of equal rows these are."""
    rows, mean, each = OutOfBagRows(empirical), np.full(len(empirical.states), -np.inf), list[Array]()
    for member, seed in zip(members, seeds, strict=True):
        log_prob = log_prob_of(member.fitted.model, empirical.states, member.fitted.n_hidden)
        each = each or [log_prob]
        np.logaddexp(mean, log_prob, out=mean)
        rows.add(member.sample.drawn, log_prob, np.random.default_rng(seed))
    return Seen(rows, mean - np.log(len(members)), each[0])
