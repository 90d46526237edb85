"""Compiled loops over the units of a layer, for NumPy's arrays: input, probability and draw in one pass.

Random numbers are those of SplitMix64 as a function of a key and a position, so that the result does not depend on the
number of threads: u(k, i) = mix(k + (i + 1) g), of which the upper 24 bits are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from fullspan.algebra.exponential import exponential
from fullspan.algebra.jit import inlined, parallel

_GOLDEN, _FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _40 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(40)
_TINY = np.float32(2.0**-24)


@inlined
def _uniform(key: Any, position: Any) -> Any:
    """A number of [0, 1) in single precision."""
    z = key + (np.uint64(position) + np.uint64(1)) * _GOLDEN
    z = (z ^ (z >> _30)) * _FIRST
    z = (z ^ (z >> _27)) * _SECOND
    z = z ^ (z >> _31)
    return np.float32(np.int64(z >> _40)) * _TINY


@parallel
def means(raw: Any, bias: Any, scale: Any, start: int, stop: int, out: Any) -> None:
    """``out = 1 / (1 + exp(-(scale raw + bias)))`` in the columns start to stop."""
    one = raw.dtype.type(1)
    for i in prange(raw.shape[0]):
        for j in range(start, stop):
            a = scale * raw[i, j] + bias[j]
            e = exponential(-abs(a))
            out[i, j] = (one if a >= 0 else e) / (one + e)


@parallel
def draws(raw: Any, bias: Any, scale: Any, start: int, stop: int, key: Any, out: Any) -> None:
    """1 with that probability, else 0."""
    width, one, zero = raw.shape[1], raw.dtype.type(1), raw.dtype.type(0)
    for i in prange(raw.shape[0]):
        for j in range(start, stop):
            a = scale * raw[i, j] + bias[j]
            e = exponential(-abs(a))
            u = _uniform(key, i * width + j)
            out[i, j] = one if u * (one + e) < (one if a >= 0 else e) else zero


@parallel
def soft_pluses(raw: Any, bias: Any, scale: Any, start: int, stop: int, out: Any) -> None:
    """Add ``sum_j log(1 + exp(scale raw + bias))`` to ``out``; logarithms are of products of a few factors."""
    for i in prange(raw.shape[0]):
        total = 0.0
        for first in range(start, stop, 64):
            product, linear = 1.0, 0.0
            for j in range(first, min(first + 64, stop)):
                a = np.float64(scale * raw[i, j] + bias[j])
                product *= 1.0 + exponential(-abs(a))
                linear += max(a, 0.0)
            total += linear + np.log(product)
        out[i] += total


@inlined
def _add_rows(where: Any, values: Any, count: int, table: Any, out: Any) -> None:
    """``out += sum_k values[k] table[where[k]]``, four rows at a time, so that ``out`` is read and written less."""
    k = 0
    while k + 4 <= count:
        a, b, c, d = where[k], where[k + 1], where[k + 2], where[k + 3]
        p, q, r, s = values[k], values[k + 1], values[k + 2], values[k + 3]
        for j in range(out.shape[0]):
            out[j] += (p * table[a, j] + q * table[b, j]) + (r * table[c, j] + s * table[d, j])
        k += 4
    while k < count:
        a, p = where[k], values[k]
        for j in range(out.shape[0]):
            out[j] += p * table[a, j]
        k += 1


@parallel
def sparse_product(x: Any, weights: Any, out: Any) -> None:
    """``out = x weights``, time in proportion to the entries of x that are not zero."""
    n = x.shape[1]
    for r in prange(x.shape[0]):
        where, values, count = np.empty(n, dtype=np.int64), np.empty(n, dtype=x.dtype), 0
        for i in range(n):
            where[count], values[count] = i, x[r, i]
            count += x[r, i] != 0
        out[r, :] = 0
        _add_rows(where, values, count, weights, out[r])


@parallel
def sparse_correlation(x: Any, h: Any, scale: Any, out: Any) -> None:
    """``out += scale x' h``, time in proportion to the entries of x that are not zero."""
    m, n = x.shape
    for chunk in prange((n + 15) // 16):
        first, last = 16 * chunk, min(16 * chunk + 16, n)
        where, values = np.empty((16, m), dtype=np.int64), np.empty((16, m), dtype=x.dtype)
        counts = np.zeros(16, dtype=np.int64)
        for r in range(m):
            for i in range(first, last):
                k = i - first
                where[k, counts[k]], values[k, counts[k]] = r, scale * x[r, i]
                counts[k] += x[r, i] != 0
        for i in range(first, last):
            _add_rows(where[i - first], values[i - first], counts[i - first], h, out[i])


@parallel
def ascend(
    weights: Any, velocity: Any, gradient: Any, left: Any, right: Any, rate: Any, momentum: Any, decay: Any
) -> None:
    """v ← momentum v + rate (gradient − left right − decay w), w ← w + v, in place."""
    for i in prange(weights.shape[0]):
        a, b = left[i, 0], left[i, 1]
        for j in range(weights.shape[1]):
            w = weights[i, j]
            g = gradient[i, j] - a * right[0, j] - b * right[1, j]
            v = momentum * velocity[i, j] + rate * (g - decay * w)
            velocity[i, j] = v
            weights[i, j] = w + v
