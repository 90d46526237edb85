"""What counted rows say by themselves: the cells of their margins, and their entropy.

Bootstrap samples of counted rows: as many rows as there are, with replacement, multinomial on the distinct states.

Rows are counted once for all samples, and drawn in an order of their own (module ``data.canonical``), whatever that of
the columns and levels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.canonical import canonical_states
from fullspan.data.space import Space
from fullspan.errors import DataError


def margin_cells(data: Empirical, variables: Sequence[int]) -> Array:
    """Shares of complete rows in the cells of a margin, flat with the first variable fastest."""
    margin = Space(tuple(data.space.variables[i] for i in variables))
    cells = margin.index(data.states[:, list(variables)])
    shares = np.bincount(cells, weights=data.counts / data.total, minlength=margin.n_states)
    return shares.astype(np.float64)


def refuse_open_inputs(empirical: Empirical, inputs: Sequence[int], remedy: str) -> None:
    """Refuse rows in which an input is missing; ``remedy`` is another than to fill or to drop them."""
    for i in inputs:
        n = int((empirical.states[:, i] < 0).sum())
        if n:
            raise DataError(
                f"the input {empirical.space.names[i]!r} is missing in {n} distinct rows; conditional learning needs "
                f"all inputs: impute them first, drop these rows, or {remedy}"
            )


def observed_entropy(data: Empirical) -> float:
    """Entropy of the rows among those that leave the same cells open, in nats per row.

    Then ``-mean log p(row) - entropy`` is the mean over patterns of KL(data || model) on the cells they observe: it is
    KL(p_d || p) for complete rows, and D(P || B_v) with hidden units.
    """
    if data.is_complete:
        share = data.counts / data.total
        return -float(share @ np.log(share))
    return (
        sum(-float(pattern.counts @ np.log(pattern.counts / pattern.counts.sum())) for pattern in data.patterns())
        / data.total
    )


def smoothed_entropy(weights: Array, n_states: int, pseudo: float) -> float:
    """Entropy of ``(counts + pseudo / |X|) / (N + pseudo)``, unseen states included."""
    total = float(weights.sum()) + pseudo
    seen = (weights + pseudo / n_states) / total
    entropy = -float(np.sum(seen * np.log(seen)))
    rest = (n_states - len(weights)) * (pseudo / n_states / total)
    return entropy - (rest * math.log(pseudo / n_states / total) if rest > 0 else 0.0)


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
