"""From log-weights to probabilities: ``p(x) = exp(l(x)) / Z``, in place, and log Z."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.model.algebra.bits import is_small
from fullspan.model.algebra.elementary import exponential
from fullspan.model.algebra.jit import parallel, prange, serial

_LANES = 256
"""Maxima kept side by side: each place is compared with the one a row before, which vectorises."""


@serial
def _peak(part: NDArray[Any]) -> Any:
    """The largest entry; the last row may overlap the one before."""
    lanes = min(_LANES, part.size)
    top = part[:lanes].copy()
    for start in range(lanes, part.size, lanes):
        row = part[min(start, part.size - lanes) :]
        for j in range(lanes):
            top[j] = row[j] if row[j] > top[j] else top[j]
    return top.max()


def exp_normalised(table: NDArray[Any]) -> float:
    """Replace l(x) by p(x) = exp(l(x)) / Z, with sums in double precision; returns log Z."""
    return exp_normalised_plain(table) if is_small(table.size) else float(exp_normalised_kernel(table))


def exp_normalised_plain(table: NDArray[Any]) -> float:
    """The same in NumPy; as in the kernel, no probability is less than exp(-700), or exp(-87) in single precision."""
    shift = table.max()
    table -= shift
    np.maximum(table, -700.0 if table.dtype == np.float64 else -87.0, out=table)
    np.exp(table, out=table)
    z = float(table.sum(dtype=np.float64))
    table *= table.dtype.type(1.0 / z)
    return float(shift) + math.log(z)


@parallel
def exp_normalised_kernel(table: NDArray[Any]) -> float:
    """The same, compiled."""
    n_chunks = min(256, table.size)
    partial = np.empty(n_chunks)
    for chunk in prange(n_chunks):
        partial[chunk] = _peak(table[chunk * table.size // n_chunks : (chunk + 1) * table.size // n_chunks])
    peak = partial.max()
    shift = table.dtype.type(peak)
    for chunk in prange(n_chunks):
        part = table[chunk * table.size // n_chunks : (chunk + 1) * table.size // n_chunks]
        total = 0.0
        for j in range(part.size):
            value = exponential(part[j] - shift)
            part[j] = value
            total += value
        partial[chunk] = total
    z = partial.sum()
    scale = table.dtype.type(1.0 / z)
    for chunk in prange(n_chunks):
        part = table[chunk * table.size // n_chunks : (chunk + 1) * table.size // n_chunks]
        for j in range(part.size):
            part[j] *= scale
    log_z: float = np.float64(shift) + np.log(z)
    return log_z
