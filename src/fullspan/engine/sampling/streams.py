"""Random numbers inside compiled loops: one stream per chain, so that results do not depend on the number of cores.

SplitMix64 (Steele, Lea & Flood 2014): a counter that goes up by an odd constant, and a hash of it. The counters start
where a ``numpy.random.Generator`` says.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullspan.model.algebra.jit import inlined

Streams = NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _33, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(33), np.uint64(11)
_UNIT = 1.0 / (1 << 53)
_HALF, _SINGLE = np.float32(0.5), np.float32(2.0**-31)


def streams(size: int, rng: np.random.Generator) -> Streams:
    """Counters (size,) of as many streams."""
    return rng.integers(0, 2**64, size=size, dtype=np.uint64)


@inlined
def advanced(counter: np.uint64) -> np.uint64:
    """The next counter of a stream."""
    return counter + _STEP


@inlined
def _mixed(counter: np.uint64) -> np.uint64:
    """The 64 random bits that belong to a counter."""
    z = (counter ^ (counter >> _30)) * _FIRST
    z = (z ^ (z >> _27)) * _SECOND
    return z ^ (z >> _31)


@inlined
def uniform(counter: np.uint64) -> float:
    """The number in [0, 1) that belongs to a counter."""
    return float(_mixed(counter) >> _11) * _UNIT


@inlined
def uniform_single(counter: np.uint64) -> np.float32:
    """The number in (0, 1] that belongs to a counter, in single precision: of 31 bits, finest near 0."""
    return (np.float32(np.int32(_mixed(counter) >> _33)) + _HALF) * _SINGLE
