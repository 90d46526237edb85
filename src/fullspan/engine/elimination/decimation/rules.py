"""The rules of decimation (Rueger 1997, Theorem 4.1): a node with at most three neighbours is summed out exactly.

A spin s = +-1 with effective couplings v_1, v_2, v_3 to its neighbours (the bias node, whose spin is always +1, may
be one of them) leaves couplings between the neighbours and a factor:

    sum_s exp(s (v_1 s_1 + v_2 s_2 + v_3 s_3)) = F exp(v_12 s_1 s_2 + v_13 s_1 s_3 + v_23 s_2 s_3)

With q_i = exp(-2|v_i|), c_0 = 1 + q_1 q_2 q_3 and c_i = q_i + q_j q_k, which are the cosh of eqs. 8-11 less a common
factor,

    star-triangle   |v_12| = log(c_0 c_3 / (c_1 c_2)) / 4 = log1p(q_3 (1 - q_1^2)(1 - q_2^2) / (c_1 c_2)) / 4
    series          |v_12| = log1p((1 - q_1)(1 - q_2) / (q_1 + q_2)) / 2           tanh v_12 = tanh v_1 tanh v_2
    factor          log F  = sum |v_i| + log c_0 - sum |v_ij|                       any number of neighbours
    parallel        couplings between the same two nodes add

and v_ij has the sign of v_i v_j. No difference of nearly equal numbers is taken, so results are right to rounding
relative to themselves at couplings of 1e-12 as at 50. Where couplings are so strong that the c_i underflow, the linear
parts are taken out first.

Reversed, a rule gives the expectations of the node's own edges from those of the edges it leaves: the four patterns of
agreement between three spins have probabilities (1 +- <s_1 s_2> +- <s_1 s_3> +- <s_2 s_3>)/4, and in each of them <s |
s_1, s_2, s_3> is a tanh.
"""

from __future__ import annotations

import math

from fullspan.model.algebra.elementary import decay, log_1p, tanh
from fullspan.model.algebra.jit import serial

STRONG_COUPLING = 300.0
"""Sum of couplings beyond which exponentials might underflow."""


@serial
def leaf(v: float) -> float:
    """log F of a node with one neighbour: ``log 2 cosh v``."""
    x = abs(v)
    return x + log_1p(decay(x)[0])


@serial
def series(v1: float, v2: float) -> tuple[float, float]:
    """Coupling v_12 that a node with two neighbours leaves (eq. 13), and log F less the logarithm of what follows.

    Returns
    -------
    v_12, and |v_1| + |v_2| - |v_12|; log F is the latter plus ``log(1 + exp(-2(|v_1| + |v_2|)))``, which callers gather
    in products so that many steps share one logarithm: see :func:`head`.
    """
    x, y = abs(v1), abs(v2)
    # Where both are strong the result is the smaller one plus a term that does not depend on the excess.
    excess = max(min(x, y) - STRONG_COUPLING, 0.0)
    q1, u1 = decay(x - excess)
    q2, u2 = decay(y - excess)
    size = excess + 0.5 * log_1p(u1 * u2 / (q1 + q2))
    return math.copysign(size, v1) * math.copysign(1.0, v2), x + y - size


@serial
def head(total: float) -> float:
    """``c_0 = 1 + exp(-2 sum |v_i|)``, between 1 and 2."""
    return 1.0 + decay(total)[0]


@serial
def star(v1: float, v2: float, v3: float) -> tuple[float, float, float, float]:
    """Couplings v_12, v_13, v_23 that a node with three neighbours leaves (eqs. 8-10), and log F less ``log c_0``."""
    x, y, z = abs(v1), abs(v2), abs(v3)
    if x + y + z > STRONG_COUPLING:
        return _strong_star(v1, v2, v3)
    q1, u1 = decay(x)
    q2, u2 = decay(y)
    q3, u3 = decay(z)
    # 1 - q^2 = (1 - q)(1 + q), with 1 - q known without cancellation.
    u1, u2, u3 = u1 * (1.0 + q1), u2 * (1.0 + q2), u3 * (1.0 + q3)
    v12, v13, v23 = side(q1, q2, q3, u1, u2), side(q1, q3, q2, u1, u3), side(q2, q3, q1, u2, u3)
    rest = x + y + z - (v12 + v13 + v23)
    s1, s2, s3 = math.copysign(1.0, v1), math.copysign(1.0, v2), math.copysign(1.0, v3)
    return s1 * s2 * v12, s1 * s3 * v13, s2 * s3 * v23, rest


@serial
def side(q1: float, q2: float, q3: float, u1: float, u2: float) -> float:
    """|v_12| of a triangle, with u_i = 1 - q_i^2."""
    return 0.25 * log_1p(q3 * u1 * u2 / ((q1 + q2 * q3) * (q2 + q1 * q3)))


@serial
def _strong_star(v1: float, v2: float, v3: float) -> tuple[float, float, float, float]:
    """The same where exponentials underflow: linear parts exactly, plus quarters of logarithms between 0 and log 2."""
    x, y, z = abs(v1), abs(v2), abs(v3)
    l0, l1, l2, l3 = _tail(x + y + z), _tail(y + z - x), _tail(x + z - y), _tail(x + y - z)
    v12 = _linear(x, y, z) + 0.25 * (l0 + l3 - l1 - l2)
    v13 = _linear(x, z, y) + 0.25 * (l0 + l2 - l1 - l3)
    v23 = _linear(y, z, x) + 0.25 * (l0 + l1 - l2 - l3)
    rest = x + y + z - (v12 + v13 + v23)
    s1, s2, s3 = math.copysign(1.0, v1), math.copysign(1.0, v2), math.copysign(1.0, v3)
    return s1 * s2 * v12, s1 * s3 * v13, s2 * s3 * v23, rest


@serial
def _tail(a: float) -> float:
    """``log 2 cosh a - |a|``."""
    return log_1p(math.exp(-2.0 * abs(a)))


@serial
def _linear(x: float, y: float, z: float) -> float:
    """``(|x+y+z| + |x+y-z| - |x-y+z| - |x-y-z|) / 4`` of numbers >= 0."""
    small, large = min(x, y), max(x, y)
    # The case distinction takes the absolute values apart, so that large couplings cancel exactly.
    if z <= large - small:
        return small
    return 0.5 * max(small + (large - z), 0.0)


@serial
def reversed_series(v1: float, v2: float, g12: float) -> tuple[float, float]:
    """``<s s_1>`` and ``<s s_2>`` from ``g12 = <s_1 s_2>``."""
    same, other = 0.5 * (1.0 + g12) * tanh(v1 + v2), 0.5 * (1.0 - g12) * tanh(v1 - v2)
    return same + other, same - other


@serial
def reversed_star(v1: float, v2: float, v3: float, g12: float, g13: float, g23: float) -> tuple[float, float, float]:
    """``<s s_1>``, ``<s s_2>`` and ``<s s_3>`` from the expectations of the triangle."""
    # Of all neighbours equal; t1, t2, t3 of the first, second and third one apart from the other two.
    t0 = 0.25 * (1.0 + g12 + g13 + g23) * tanh(v1 + v2 + v3)
    t1 = 0.25 * (1.0 - g12 - g13 + g23) * tanh(v2 + v3 - v1)
    t2 = 0.25 * (1.0 - g12 + g13 - g23) * tanh(v1 + v3 - v2)
    t3 = 0.25 * (1.0 + g12 - g13 - g23) * tanh(v1 + v2 - v3)
    return t0 - t1 + t2 + t3, t0 + t1 - t2 + t3, t0 + t1 + t2 - t3
