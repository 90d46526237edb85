"""One term moved along its own line, number by number, in compiled code; ``learn/search/line.py`` has the arrays.

For ``theta_y + delta`` log Z grows by ``ln(cosh delta + eta sinh delta)`` for spins and by
``ln(1 + eta (e^delta - 1))`` for 0/1 functions, and KL(p_d || p) drops by ``delta d`` less that.
"""

from __future__ import annotations

import math

from fullspan.model.algebra.jit import serial

EDGE = 1e-12
"""How near to never and always an expectation may come."""


def log_cosh(delta: float) -> float:
    """ln cosh, without overflow."""
    size = abs(delta)
    return size + math.log1p(math.exp(-2.0 * size)) - math.log(2.0)


compiled_log_cosh = serial(log_cosh)
"""The compiled twin of :func:`log_cosh`, for kernels: they cannot call plain functions."""


@serial
def step_to(eta: float, target: float, zero_one: bool) -> float:
    """The step that brings an expectation from eta to target, both kept off the boundary."""
    low = EDGE if zero_one else EDGE - 1.0
    q, m = min(max(target, low), 1.0 - EDGE), min(max(eta, low), 1.0 - EDGE)
    if zero_one:
        return math.log(q) - math.log1p(-q) - math.log(m) + math.log1p(-m)
    return math.atanh(q) - math.atanh(m)


@serial
def drop(eta: float, d: float, delta: float, zero_one: bool) -> float:
    """How much KL(p_d || p) falls along a step delta."""
    if zero_one:
        return delta * d - math.log1p(eta * math.expm1(delta))
    return delta * d - (compiled_log_cosh(delta) + math.log1p(eta * math.tanh(delta)))
