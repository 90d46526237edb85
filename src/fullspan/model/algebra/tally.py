"""Sums of the weights of rows by cell, in compiled code.

Where cells are few, rows that follow one another often add to the same one, and each addition would wait for the last.
So four tables take turns and are added up at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.model.algebra.jit import serial

_LANES, _FEW = 4, 256


@serial
def tally(where: Any, weights: Array, out: Array) -> None:
    """Add the weight of every row (m,) to the cell of ``out`` that it is in."""
    m, size = weights.size, out.size
    done = 0
    if size <= _FEW and m >= _LANES * size:
        lanes = np.zeros(_LANES * size)
        a, b, c, d = lanes[:size], lanes[size : 2 * size], lanes[2 * size : 3 * size], lanes[3 * size :]
        done = m - m % _LANES
        for r in range(0, done, _LANES):
            a[where[r]] += weights[r]
            b[where[r + 1]] += weights[r + 1]
            c[where[r + 2]] += weights[r + 2]
            d[where[r + 3]] += weights[r + 3]
        for cell in range(size):
            out[cell] += (a[cell] + b[cell]) + (c[cell] + d[cell])
    for r in range(done, m):
        out[where[r]] += weights[r]
