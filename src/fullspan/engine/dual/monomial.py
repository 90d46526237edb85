"""Fused step of the dual table in the 0/1 basis, for any cardinalities.

For ``theta_y <- theta_y + delta`` with ``c = exp(delta) - 1``

    eta'_z = (eta_z + c eta_{y or z}) / (1 + c eta_y),

where ``Phi_y Phi_z = Phi_{y or z}`` if the two agree on the variables they share, and 0 otherwise. All terms that
differ only on the variables of y share one right-hand side: the block with y's own digits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.dual.layout import Fibres, count_fibres, first_block
from fullspan.engine.dual.scan import Move, PriceTables, bar_of, scan_block
from fullspan.model.algebra.jit import parallel, prange, serial


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


class Joint(NamedTuple):
    """Where ``Phi_y Phi_z`` is found: per block of a fibre, and per place inside a block.

    ``agrees`` says whether a block's digits are 0 or y's own, ``top`` is the offset of y's block; ``source`` and
    ``keep`` say where in a block, and whether, the product is found.
    """

    agrees: NDArray[np.bool_]
    top: int
    source: NDArray[np.int64]
    keep: NDArray[Any]


@parallel
def step(
    eta: NDArray[Any],
    d: NDArray[Any],
    fibres: Fibres,
    joint: Joint,
    move: Move,
    prices: PriceTables,
    gains: NDArray[np.float64],
    indices: NDArray[np.int64],
) -> None:
    """Update and scan, a fibre of blocks at a time; the best candidate of each chunk: its net gain, its index or -1."""
    size, n_fibres, n_chunks = prices.orders.size, count_fibres(fibres), gains.size
    number = eta.dtype.type
    for chunk in prange(n_chunks):
        product = np.empty(size, eta.dtype)
        nothing = np.zeros(size, eta.dtype)
        best, where = move.floor, np.int64(-1)
        for unit in range(chunk * n_fibres // n_chunks, (chunk + 1) * n_fibres // n_chunks):
            base = first_block(fibres, unit)
            own = eta[(base + joint.top) * size : (base + joint.top + 1) * size]
            for j in range(size):
                # A copy: the block with y's own digits is itself updated below, and the others still need its old
                # values.
                product[j] = own[joint.source[j]] * joint.keep[j]
            for f in range(fibres.offsets.size):
                b = base + fibres.offsets[f]
                bar = number(bar_of(b, best, prices))
                row, target = eta[b * size : (b + 1) * size], d[b * size : (b + 1) * size]
                # Blocks that disagree with y share no state with it: their entries only shrink with the normalisation.
                other = product if joint.agrees[f] else nothing
                winners = _update(row, other, target, move.c, move.scale, bar, number(move.l1))
                if winners > 0:
                    best, place = scan_block(row, target, b, best, prices, move.l1, True)
                    if place >= 0:
                        where = b * size + place
        gains[chunk] = best
        indices[chunk] = where
