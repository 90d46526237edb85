"""Compiled loops over the units of a layer, for NumPy's arrays: input, probability and draw in one pass.

Random numbers are a function of a key and a position, so that the result does not depend on the number of threads:
u(k, i) = mix(mix(g i + k_1) + k_2), with a mixture of 32-bit integers that vectorises (Wellons' lowbias32). The upper
24 bits are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullspan.model.algebra.elementary import exponential
from fullspan.model.algebra.jit import inlined, parallel, prange

_GOLDEN, _FIRST, _SECOND = np.uint32(0x9E3779B1), np.uint32(0x7FEB352D), np.uint32(0x846CA68B)
_8, _15, _16 = np.uint32(8), np.uint32(15), np.uint32(16)
_TINY = np.float32(2.0**-24)


@inlined
def _mixed(z: Any) -> Any:
    z = np.uint32((z ^ (z >> _16)) * _FIRST)
    z = np.uint32((z ^ (z >> _15)) * _SECOND)
    return np.uint32(z ^ (z >> _16))


@parallel
def means(raw: Any, bias: Any, scale: Any, start: int, stop: int, out: Any) -> None:
    """``out = 1 / (1 + exp(-(scale raw + bias)))`` in the columns start to stop."""
    one, offset = raw.dtype.type(1), bias[start:stop]
    for i in prange(raw.shape[0]):
        inputs, chances = raw[i, start:stop], out[i, start:stop]
        for j in range(offset.shape[0]):
            a = scale * inputs[j] + offset[j]
            e = exponential(-abs(a))
            chances[j] = (one if a >= 0 else e) / (one + e)


@parallel
def draws(raw: Any, bias: Any, scale: Any, start: int, stop: int, first_key: Any, second_key: Any, out: Any) -> None:
    """1 with that probability, else 0."""
    width, one, offset = raw.shape[1], raw.dtype.type(1), bias[start:stop]
    for i in prange(raw.shape[0]):
        inputs, units = raw[i, start:stop], out[i, start:stop]
        place = np.uint32(np.uint32(i * width) * _GOLDEN + first_key)
        for j in range(offset.shape[0]):
            a = scale * inputs[j] + offset[j]
            e = exponential(-abs(a))
            z = _mixed(np.uint32(_mixed(np.uint32(place + np.uint32(np.uint32(j) * _GOLDEN))) + second_key))
            u = np.float32(np.int32(z >> _8)) * _TINY
            units[j] = u * (one + e) < (one if a >= 0 else e)


@parallel
def soft_pluses(raw: Any, bias: Any, scale: Any, start: int, stop: int, out: Any) -> None:
    """Add ``sum_j log(1 + exp(scale raw + bias))`` to ``out``; logarithms are of products of a few factors."""
    offset = bias[start:stop]
    for i in prange(raw.shape[0]):
        inputs = raw[i, start:stop]
        total = 0.0
        for first in range(0, offset.shape[0], 64):
            some, own = inputs[first : first + 64], offset[first : first + 64]
            product, linear = 1.0, 0.0
            for j in range(own.shape[0]):
                a = np.float64(scale * some[j] + own[j])
                product *= 1.0 + exponential(-abs(a))
                linear += max(a, 0.0)
            total += linear + np.log(product)
        out[i] += total


@parallel
def ones(x: Any, out: Any) -> None:
    """``out[i]``, whole numbers, = how often unit i is 1."""
    for part in prange((x.shape[1] + 255) // 256):
        counts = out[256 * part : 256 * part + 256]
        counts[:] = 0
        for r in range(x.shape[0]):
            row = x[r, 256 * part : 256 * part + 256]
            for i in range(counts.shape[0]):
                counts[i] += row[i]


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
