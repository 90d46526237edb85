"""The levels of a column that nobody has listed: those that enough rows show to survive noise and a threshold.

One row can bring one level into each column. A level is released if its noisy count reaches

    t = 1 + sigma z,      P(N(0, 1) > z) = delta / (2 columns),

so that a level of a single row passes with a probability within delta, and noise of sigma hides how many there are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Level
from fullspan.learn.private.accountant import Ledger, Privacy


def common_levels(
    columns: Mapping[str, tuple[Sequence[Level], Array]],
    privacy: Privacy,
    cost: float,
    delta: float,
    rng: np.random.Generator,
    ledger: Ledger,
) -> dict[str, list[Level]]:
    """Of each column, given as its levels and their counts, the levels that may be released, in their order."""
    from scipy.special import ndtri

    ledger.spend(f"the levels of {len(columns)} columns", cost)
    sigma = privacy.row_length * math.sqrt(len(columns) / (2 * cost))
    threshold = 1.0 - sigma * float(ndtri(delta / (2 * len(columns))))
    kept = {}
    for name, (levels, counts) in columns.items():
        noisy = counts + rng.normal(0.0, sigma, len(counts))
        kept[name] = [level for level, seen in zip(levels, noisy, strict=True) if seen >= threshold]
    return kept
