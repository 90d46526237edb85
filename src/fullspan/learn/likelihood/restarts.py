"""Hidden units make several maxima: the best of a few runs from random weights is kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from fullspan.arrays import Array
from fullspan.learn.base.descent import Solution
from fullspan.learn.base.em import restarted
from fullspan.learn.likelihood.options import MachineOptions
from fullspan.model.algebra.basis import Term

_SPREAD = 1.0
"""Standard deviation of the weights of hidden units at the start of a run."""


def best_of_runs(
    run: Callable[[Array], Solution], terms: Sequence[Term], first_hidden: int, options: MachineOptions
) -> Solution:
    """The best of several runs from random weights on all terms of hidden units, and 0 on the others."""
    rng = np.random.default_rng(options.seed)
    hidden = np.array([any(i >= first_hidden for i, _ in term) for term in terms])
    starts = (np.where(hidden, rng.normal(0.0, _SPREAD, len(terms)), 0.0) for _ in range(options.restarts))
    runs = restarted(run, starts)
    ended = [found.status for found in runs]
    return dataclasses.replace(runs[0], status="interrupted") if "interrupted" in ended else runs[0]
