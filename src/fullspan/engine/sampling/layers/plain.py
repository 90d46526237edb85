"""Loops over the units of a layer in NumPy: the readable form of :mod:`.fused`, and what serves a few thousand units.

The functions take the arguments of their twins and fill the same outputs; the random numbers are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullspan.engine.sampling.layers.fused import _FIRST, _GOLDEN, _SECOND, _TINY, _8, _15, _16


def _chances(raw: Any, bias: Any, scale: Any, start: int, stop: int) -> tuple[Any, Any]:
    """Numerator and denominator of ``1 / (1 + exp(-a))``, ``a = scale raw + bias``, which never overflow."""
    a = scale * raw[:, start:stop] + bias[start:stop]
    e = np.exp(-np.abs(a))
    return np.where(a >= 0, a.dtype.type(1), e), 1 + e


def means(raw: Any, bias: Any, scale: Any, start: int, stop: int, out: Any) -> None:
    """``out = 1 / (1 + exp(-(scale raw + bias)))`` in the columns start to stop."""
    up, down = _chances(raw, bias, scale, start, stop)
    np.divide(up, down, out=out[:, start:stop])


def draws(raw: Any, bias: Any, scale: Any, start: int, stop: int, first_key: Any, second_key: Any, out: Any) -> None:
    """1 with that probability, else 0."""
    rows, width = np.arange(len(raw), dtype=np.uint32), np.uint32(raw.shape[1])
    with np.errstate(over="ignore"):  # arithmetic modulo 2^32
        place = (rows * width) * _GOLDEN + first_key
        columns = np.arange(stop - start, dtype=np.uint32) * _GOLDEN
        z = _mixed(_mixed(place[:, None] + columns) + second_key)
    up, down = _chances(raw, bias, scale, start, stop)
    out[:, start:stop] = (z >> _8).astype(np.float32) * _TINY * down < up


def _mixed(z: Any) -> Any:
    z = (z ^ (z >> _16)) * _FIRST
    z = (z ^ (z >> _15)) * _SECOND
    return z ^ (z >> _16)


def soft_pluses(raw: Any, bias: Any, scale: Any, start: int, stop: int, out: Any) -> None:
    """Add ``sum_j log(1 + exp(scale raw + bias))`` to ``out``."""
    a = (scale * raw[:, start:stop] + bias[start:stop]).astype(np.float64)
    out += np.logaddexp(0.0, a).sum(axis=1)


def ascend(
    weights: Any, velocity: Any, gradient: Any, left: Any, right: Any, rate: Any, momentum: Any, decay: Any
) -> None:
    """v ← momentum v + rate (gradient − left right − decay w), w ← w + v, in place."""
    velocity *= momentum
    velocity += rate * (gradient - left @ right - decay * weights)
    weights += velocity
