"""Log-probabilities of rows under the models of their groups, all rows at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.dual.completion import _phi
from fullspan.model.algebra.jit import on_cores, serial
from fullspan.model.loglinear import checked_codes
from fullspan.model.many import ManyModels


def log_prob(models: ManyModels, positions: NDArray[Any], states: NDArray[Any]) -> Array:
    """``log p_g(x)`` of states (m, n) under the models at ``positions`` (m,), in nats.

    Time O(k n) per row for k terms, rows in parallel; no table.

    Raises
    ------
    DataError : the states have the wrong shape or type, or a code is out of range.
    """
    rows = np.ascontiguousarray(checked_codes(states, models.space), dtype=np.int64)
    cards, strides = (np.array(v, dtype=np.int64) for v in (models.basis.cards, models.basis.strides))
    digits = models.indices[:, None] // strides % cards
    out = np.empty(len(rows))
    on_cores(
        _log_prob,
        len(rows),
        rows,
        np.asarray(positions, np.int64),
        models.starts,
        digits,
        models.theta,
        models.log_z,
        models.basis.kinds,
        out,
    )
    return out


@serial
def _log_prob(
    begin: int,
    end: int,
    rows: Ints,
    positions: Ints,
    starts: Ints,
    digits: Ints,
    theta: Array,
    log_z: Array,
    kinds: Ints,
    out: Array,
) -> None:
    for r in range(begin, end):
        g = positions[r]
        total = -log_z[g]
        for k in range(starts[g], starts[g + 1]):
            phi = theta[k]
            for i in range(rows.shape[1]):
                if digits[k, i]:
                    phi *= _phi(kinds[i], digits[k, i], rows[r, i])
            total += phi
        out[r] = total
