"""What counted rows say by themselves: the cells of their margins, and their entropy."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Space


def margin_cells(data: Empirical, variables: Sequence[int]) -> Array:
    """Shares of complete rows in the cells of a margin, flat with the first variable fastest."""
    margin = Space(tuple(data.space.variables[i] for i in variables))
    cells = margin.index(data.states[:, list(variables)])
    shares = np.bincount(cells, weights=data.counts / data.total, minlength=margin.n_states)
    return shares.astype(np.float64)


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
