"""log Z in double precision, whatever the table holds, without a table of doubles.

The states are visited in runs over the first variables. With the others fixed at x_high, a term's weight becomes
``theta_y Phi_high(x_high)`` on its low part, so that each run is a small synthesis of its own:

    Z = sum_{x_high} sum_{x_low} exp( sum_y theta_y Phi_{y,high}(x_high) Phi_{y,low}(x_low) ).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.model.algebra.basis import Basis
from fullspan.model.algebra.bits import is_small
from fullspan.model.algebra.elementary import exponential
from fullspan.model.algebra.jit import parallel, prange, serial

_MAXIMA = 256
"""Maxima kept side by side: each place is compared with the one a row before, which vectorises."""


@serial
def _peak(part: NDArray[Any]) -> Any:
    """The largest entry; the last row may overlap the one before."""
    lanes = min(_MAXIMA, part.size)
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
    # The largest exponent becomes 0: no overflow, and Z is at least 1.
    shift = table.max()
    table -= shift
    # Denormal numbers would slow down all arithmetic behind this.
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
    # Only after all chunks: Z is a sum over the table, taken in a fixed order of chunks.
    scale = table.dtype.type(1.0 / z)
    for chunk in prange(n_chunks):
        part = table[chunk * table.size // n_chunks : (chunk + 1) * table.size // n_chunks]
        for j in range(part.size):
            part[j] *= scale
    log_z: float = np.float64(shift) + np.log(z)
    return log_z


_VISITED_STATES = 1 << 20
"""States visited at a time: 8 MiB of doubles."""

Sum = Callable[[Basis, NDArray[np.int64], NDArray[np.float64]], float]
"""log Z over the states of a basis, of weights at some indices that may repeat."""


def log_partition(
    basis: Basis, theta: dict[int, float], sum_run: Sum | None = None, run: int = _VISITED_STATES
) -> float:
    """log Z of a sparse theta: O(|X| n) time, 8 bytes for each of the ``run`` states that are visited at a time.

    Examples
    --------
    >>> round(log_partition(Basis("walsh", (2, 2)), {3: 0.5}), 6)  # log(4 cosh 0.5)
    1.506409
    """
    n_low, size = 0, 1
    while n_low < len(basis.cards) and (n_low == 0 or size * basis.cards[n_low] <= run):
        size *= basis.cards[n_low]
        n_low += 1
    low, high = Basis(basis.name, basis.cards[:n_low]), basis.cards[n_low:]
    y = np.fromiter(theta, dtype=np.int64, count=len(theta))
    weights = np.fromiter(theta.values(), dtype=np.float64, count=len(theta))
    place, rest = y % size, y // size
    local = []
    for i, card in enumerate(high, start=n_low):
        local.append(np.asarray(basis.local(i), dtype=np.float64)[rest % card])
        rest //= card
    parts = []
    for number in range(math.prod(high)):
        factor, digits = weights.copy(), number
        for card, values in zip(high, local, strict=True):
            factor *= values[:, digits % card]
            digits //= card
        parts.append((sum_run or _sum_run)(low, place, factor))
    peak = max(parts)
    # fsum is exact, so that runs of any length give the same digits.
    return peak + math.log(math.fsum(math.exp(part - peak) for part in parts))


def _sum_run(basis: Basis, places: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
    # Of no terms at all bincount makes whole numbers, whatever the type of the weights.
    energies = np.bincount(places, weights, minlength=basis.n_states).astype(np.float64)
    basis.synthesise(energies)
    return float(exp_normalised(energies))
