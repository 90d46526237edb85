"""The exponential function as arithmetic alone, so that loops over tables vectorise (ten times the library's speed).

``exp(x) = 2^k exp(r)`` with k the nearest integer to x / ln 2 and a polynomial for exp(r), |r| <= ln(2) / 2. ln 2 is
taken off in two parts, the first so short that k times it is exact: the order of these operations must stand. The
relative error is at most 2e-7 in single and 1e-15 in double precision. Below -87 (single) or -700 (double) the value is
that of the limit, about 1e-38 or 1e-304: never zero. Arguments above 0 are not needed here, and work up to 80.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullspan.model.algebra.jit import Deferred, ordered


@ordered
def _single(x: Any) -> Any:
    x = max(x, np.float32(-87.0))
    k = np.floor(x * np.float32(1.4426950408889634) + np.float32(0.5))
    r = (x - k * np.float32(0.693359375)) - k * np.float32(-2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    p = p * r * r + r + np.float32(1)
    return p * np.int32((np.int32(k) + np.int32(127)) << np.int32(23)).view(np.float32)


@ordered
def _double(x: Any) -> Any:
    x = max(x, -700.0)
    k = np.floor(x * 1.4426950408889634 + 0.5)
    r = (x - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6
    p = 1 / 6227020800.0
    p = p * r + 1 / 479001600.0
    p = p * r + 1 / 39916800.0
    p = p * r + 1 / 3628800.0
    p = p * r + 1 / 362880.0
    p = p * r + 1 / 40320.0
    p = p * r + 1 / 5040.0
    p = p * r + 1 / 720.0
    p = p * r + 1 / 120.0
    p = p * r + 1 / 24.0
    p = p * r + 1 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * np.int64((np.int64(k) + np.int64(1023)) << np.int64(52)).view(np.float64)


def _exp(x: Any) -> Any:
    return np.exp(x)


def _with_overload() -> Any:
    from numba import types
    from numba.extending import overload

    single, double = _single.ready(), _double.ready()  # type: ignore[attr-defined]

    @overload(_exp)
    def _choose(x):  # type: ignore[no-untyped-def]  # numba compares the signatures, annotations included
        if x == types.float32:
            return lambda x: single(x)
        return lambda x: double(x)

    return _exp


exponential: Any = Deferred(_with_overload, _exp)
"""exp(x) of one number, for use inside compiled loops; outside of them NumPy's."""
