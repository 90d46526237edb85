"""Bootstrap samples of counted rows: as many rows as there are, with replacement, multinomial on the distinct states.

Rows are counted once for all samples, and drawn in an order of their own (module ``data.canonical``), whatever that of
the columns and levels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.canonical import canonical_states


@dataclass(frozen=True)
class Sample:
    """Counted rows to be fitted, and how often each state of the data was drawn (m,); infinity if no row lacks."""

    data: Empirical
    drawn: Array

    @classmethod
    def whole(cls, empirical: Empirical) -> Sample:
        """The rows as they are."""
        return cls(empirical, np.full(len(empirical.counts), np.inf))


def bootstrap(empirical: Empirical, rng: np.random.Generator) -> Sample:
    """Draw as many rows as there are with replacement; rows of fractional weight are drawn in proportion to it."""
    counts, total, order = empirical.counts, empirical.total, canonical_states(empirical)
    n, drawn = n_draws(empirical), np.empty(len(counts))
    drawn[order] = rng.multinomial(n, counts[order] / total)
    seen = drawn > 0
    sample = replace(empirical, states=empirical.states[seen], counts=drawn[seen] * (total / n))
    return Sample(sample, drawn)


def n_draws(empirical: Empirical) -> int:
    """Rows of one sample: the total if that is a number of rows, or else the rows that were read."""
    whole = bool((empirical.counts == np.floor(empirical.counts)).all())
    read = empirical.n_rows - empirical.n_dropped - empirical.n_empty
    return int(empirical.total) if whole else max(read, 1)
