"""Hidden units make several maxima: the best of a few runs from random weights is kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.canonical import canonical_columns, canonical_levels
from fullspan.learn.base.descent import Solution
from fullspan.learn.base.em import restarted
from fullspan.learn.likelihood.options import MachineOptions
from fullspan.model.algebra.basis import Term

_START_DEVIATION = 1.0
"""Standard deviation of the weights of hidden units at the start of a run."""


def best_of_runs(
    run: Callable[[Array], Solution], terms: Sequence[Term], seen: Empirical, options: MachineOptions
) -> Solution:
    """The best of several runs from random weights on all terms of hidden units, and 0 on the others.

    The random numbers go to the terms in canonical order of the columns ``seen``: another order of the table's columns
    begins with the same weights. Their signs follow the two levels of a column: where functions are spins, swapped
    levels begin at the same distribution.
    """
    rng, n_seen = np.random.default_rng(options.seed), len(seen.space)
    place = {old: new for new, old in enumerate(canonical_columns(seen))}
    hidden = [k for k, term in enumerate(terms) if any(i >= n_seen for i, _ in term)]
    hidden.sort(key=lambda k: sorted((place.get(i, i), j) for i, j in terms[k]))

    swapped = {i for i, order in enumerate(canonical_levels(seen)) if len(order) == 2 and order[0] == 1}
    signs = np.array([(-1.0) ** sum(i in swapped for i, _ in terms[k]) for k in hidden])

    def start() -> Array:
        theta = np.zeros(len(terms))
        theta[hidden] = signs * rng.normal(0.0, _START_DEVIATION, len(hidden))
        return theta

    starts = (start() for _ in range(options.restarts))
    runs = restarted(run, starts)
    ended = [found.status for found in runs]
    return dataclasses.replace(runs[0], status="interrupted") if "interrupted" in ended else runs[0]
