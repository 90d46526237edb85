"""Fused step of the dual table in the 0/1 basis, for any cardinalities.

For ``theta_y <- theta_y + delta`` with ``c = exp(delta) - 1``

    eta'_z = (eta_z + c eta_{y or z}) / (1 + c eta_y),

where ``Phi_y Phi_z = Phi_{y or z}`` if the two agree on the variables they share, and 0 otherwise. All terms that
differ only on the variables of y share one right-hand side: the block with y's own digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from fullspan.algebra.jit import parallel, serial
from fullspan.engine.scan import scan_block


@serial
def _update(row: NDArray[Any], joint: NDArray[Any], d: NDArray[Any], c: Any, scale: Any, bar: Any, l1: Any) -> Any:
    """Update a block and count the events whose bound is above ``bar``."""
    one, zero = row.dtype.type(1), row.dtype.type(0)
    winners = zero
    for j in range(row.size):
        x = scale * (row[j] + c * joint[j])
        row[j] = x
        e = max(abs(d[j] - x) - l1, zero)
        winners += one if e * e > bar * (x * (one - x)) else zero
    return winners


@parallel
def step(
    eta: NDArray[Any],
    d: NDArray[Any],
    c: Any,
    scale: Any,
    floor: float,
    l1: float,
    free_cards: NDArray[np.int64],
    free_strides: NDArray[np.int64],
    fibre: NDArray[np.int64],
    agrees: NDArray[Any],
    top: int,
    source: NDArray[np.int64],
    keep: NDArray[Any],
    block_orders: NDArray[Any],
    block_costs: NDArray[np.float64],
    by_order: NDArray[np.float64],
    least: NDArray[np.float64],
    orders: NDArray[Any],
    costs: NDArray[np.float64],
    best_gain: NDArray[np.float64],
    best_index: NDArray[np.int64],
) -> None:
    """Update and scan, one fibre of blocks at a time.

    ``free_*`` describe the high variables that y leaves alone; ``fibre`` holds the offsets of the blocks that differ
    in y's high variables, ``agrees`` whether such a block's digits are 0 or y's own, ``top`` the offset of y's block.
    Inside a block ``source`` and ``keep`` say where, and whether, Phi_y Phi_z is found.
    """
    size = orders.size
    n_fibres = 1
    for i in range(free_cards.size):
        n_fibres *= free_cards[i]
    n_chunks = best_gain.size
    kind = eta.dtype.type
    for chunk in prange(n_chunks):
        joint = np.empty(size, eta.dtype)
        nothing = np.zeros(size, eta.dtype)
        best, where = floor, np.int64(-1)
        for unit in range(chunk * n_fibres // n_chunks, (chunk + 1) * n_fibres // n_chunks):
            base, rest = 0, unit
            for i in range(free_cards.size):
                base += (rest % free_cards[i]) * free_strides[i]
                rest //= free_cards[i]
            high = eta[(base + top) * size : (base + top + 1) * size]
            for j in range(size):
                joint[j] = high[source[j]] * keep[j]
            for f in range(fibre.size):
                b = base + fibre[f]
                bar = kind(best + least[block_orders[b]] + block_costs[b])
                row, target = eta[b * size : (b + 1) * size], d[b * size : (b + 1) * size]
                winners = _update(row, joint if agrees[f] else nothing, target, c, scale, bar, kind(l1))
                if winners > 0:
                    best, place = scan_block(
                        row, target, best, block_orders[b], block_costs[b], by_order, least, orders, costs, l1, True
                    )
                    if place >= 0:
                        where = b * size + place
        best_gain[chunk] = best
        best_index[chunk] = where
