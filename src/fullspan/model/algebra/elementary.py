"""Exponentials and hyperbolic functions as arithmetic alone, so that loops vectorise (ten times the library's speed).

``exp(x) = 2^k exp(r)`` with k the nearest integer to x / ln 2 and a polynomial for exp(r), |r| <= ln(2) / 2. ln 2 is
taken off in two parts, the first so short that k times it is exact: the order of these operations must stand. The
relative error is at most 2e-7 in single and 1e-15 in double precision. Below -87 (single) or -700 (double) the value is
that of the limit, about 1e-38 or 1e-304: never zero. Arguments above 0 are not needed here, and work up to 80.

What hyperbolic functions are made of:

    decay(x) = exp(-2x), 1 - exp(-2x)      for x >= 0: both right to rounding relative to themselves
    log_1p(y) = log(1 + y)                 for y >= 0, likewise
    tanh(x)                                for any x

With q = exp(-2|x|), tanh |x| = (1 - q) / (1 + q) and log 2 cosh x = |x| + log(1 + q): nothing overflows, and
nothing that is nearly equal is subtracted. Relative errors are a few 1e-16. Beyond x = 350 the decay is that of 350,
about 1e-304.
"""

from __future__ import annotations

import math
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
def _behind_linear(r: Any) -> Any:
    """``(exp(r) - 1 - r) / r^2`` by its series up to 1/13!, below a unit in the last place for |r| <= ln(2)/2."""
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
    return p


@ordered
def _double(x: Any) -> Any:
    # exp(-700) is about 1e-304: below it k + 1023 would leave the exponent's range and wrap round.
    x = max(x, -700.0)
    k = np.floor(x * 1.4426950408889634 + 0.5)
    # ln 2 in two parts (Cody and Waite): k times the first is exact, so that r loses nothing by cancellation.
    r = (x - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6
    p = (_behind_linear(r) * r + 1.0) * r + 1.0
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


_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_SHIFT = 6755399441055744.0
"""1.5 * 2^52: a small number that is added to it is rounded to a whole one, which then stands in the lowest bits."""
_ROOT = 0x3FE6A09E667F3BCD
"""Bits of sqrt(1/2)."""


@ordered
def decay(x: float) -> tuple[float, float]:
    """``exp(-2x)`` and ``1 - exp(-2x)`` of x >= 0.

    exp(y) = 2^k (1 + p) with a polynomial p = exp(r) - 1, |r| <= ln(2)/2, so that 1 - exp(y) = (1 - 2^k) - 2^k p.
    """
    # As above: 2^k is built from its bits, and must be a normal number.
    y = max(-2.0 * x, -700.0)
    shifted = y * 1.4426950408889634 + _SHIFT
    k = shifted - _SHIFT
    r = (y - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6
    p = _behind_linear(r) * (r * r) + r
    scale = np.uint64((np.float64(shifted).view(np.uint64) + np.uint64(1023)) << np.uint64(52)).view(np.float64)
    return scale * p + scale, (1.0 - scale) - scale * p


@ordered
def log_1p(y: float) -> float:
    """``log(1 + y)`` of y >= 0.

    1 + y = 2^k (1 + f) with sqrt(1/2) < 1 + f < sqrt(2); log(1 + f) by its series in s = f / (2 + f), and what 1 + y
    has lost by rounding is added back.
    """
    w = 1.0 + y
    lost = y - (w - 1.0) if y < 1.0 else 1.0 - (w - y)
    bits = np.float64(w).view(np.uint64) + np.uint64(0x3FF0000000000000 - _ROOT)
    k = np.uint64((bits >> np.uint64(52)) | np.uint64(0x4330000000000000)).view(np.float64) - (
        4503599627370496.0 + 1023.0
    )
    f = np.uint64((bits & np.uint64(0x000FFFFFFFFFFFFF)) + np.uint64(_ROOT)).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    r = 1.479819860511658591e-01
    r = r * z + 1.531383769920937332e-01
    r = r * z + 1.818357216161805012e-01
    r = r * z + 2.222219843214978396e-01
    r = r * z + 2.857142874366239149e-01
    r = r * z + 3.999999999940941908e-01
    r = r * z + 6.666666666666735130e-01
    half = 0.5 * f * f
    return k * _LN2_HIGH - ((half - (s * (half + r * z) + (k * _LN2_LOW + lost / w))) - f)


@ordered
def tanh(x: float) -> float:
    """``tanh(x)``."""
    q, rest = decay(abs(x))
    return math.copysign(rest / (1.0 + q), x)
