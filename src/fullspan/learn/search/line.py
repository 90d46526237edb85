"""One term moved along its own line: everything is closed form because a term takes only two values.

For ``theta_y + delta``, with eta the term's expectation before,

    spins:  log Z grows by  ln(cosh delta + eta sinh delta),    the optimum is  delta = atanh d - atanh eta
    0/1:    log Z grows by  ln(1 + eta (e^delta - 1)),          the optimum is  delta = logit d - logit eta

and the divergence KL(p_d || p) drops by ``delta d - growth``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.model.algebra.one_term import EDGE


def step_to(eta: Array, target: Array, zero_one: bool) -> Array:
    """The step delta that brings the expectation from eta to target, both kept off the boundary."""
    if zero_one:
        # At the boundary the optimum is infinite; half a row in N + 1 keeps data inside, rounding may not keep the
        # model.
        q, m = (np.clip(v, EDGE, 1 - EDGE) for v in (target, eta))
        return np.log(q) - np.log1p(-q) - np.log(m) + np.log1p(-m)
    q, m = (np.clip(v, -1 + EDGE, 1 - EDGE) for v in (target, eta))
    return np.arctanh(q) - np.arctanh(m)


def growth(eta: Array, delta: Array, zero_one: bool) -> Array:
    """How much log Z grows along a step delta."""
    if zero_one:
        return np.log1p(eta * np.expm1(delta))
    size = np.abs(delta)
    # cosh(delta) = e^|delta| (1 + e^(-2 |delta|)) / 2, whose logarithm does not overflow.
    log_cosh = size + np.log1p(np.exp(-2 * size)) - np.log(2)
    return np.asarray(log_cosh + np.log1p(eta * np.tanh(delta)))


def drop(eta: Array, d: Array, delta: Array, zero_one: bool) -> Array:
    """How much KL(p_d || p) falls along a step delta."""
    return delta * d - growth(eta, delta, zero_one)


def shrunk(eta: Array, d: Array, l1: float) -> Array:
    """Where an unused term's expectation goes under an L1 penalty: towards d, but short of it by l1."""
    return np.where(d > eta, np.maximum(d - l1, eta), np.minimum(d + l1, eta))


def after(eta_z: Array, product: Array, eta_y: float, delta: float, zero_one: bool) -> Array:
    """Expectations of other terms after the step, from ``product = <Phi_y Phi_z>`` before it."""
    c: Any = np.expm1(delta) if zero_one else np.tanh(delta)
    return np.asarray((eta_z + c * product) / (1 + c * eta_y))


def best_in_use(
    eta: Array, d: Array, theta: Array, price: Array, l1: float, zero_one: bool
) -> tuple[int, float, float, int, float]:
    """Among terms in use, the best to adjust (which, how far, gain) and the best to remove (which, gain).

    An L1 penalty has a slope on each side of zero: the optimum on this side if it stays there, else the one beyond if
    it lies beyond.
    """
    target = d - l1 * np.sign(theta)
    delta = step_to(eta, target, zero_one)
    gain = drop(eta, target, delta, zero_one)
    if l1 > 0.0 and (crossing := theta * (theta + delta) <= 0.0).any():
        beyond = step_to(eta, d + l1 * np.sign(theta), zero_one)
        longer = np.abs(theta + beyond) - np.abs(theta)
        gain_beyond = drop(eta, d, beyond, zero_one) - l1 * longer
        # An optimum computed with the slope of the other side that lies on this side is none.
        gain_beyond[theta * (theta + beyond) >= 0.0] = -np.inf
        delta, gain = np.where(crossing, beyond, delta), np.where(crossing, gain_beyond, gain)
    saved = drop(eta, target, -theta, zero_one) + price
    # The first of equal ones: terms in use are in the order in which they came.
    a, r = int(np.argmax(gain)), int(np.argmax(saved))
    return a if gain[a] > -np.inf else -1, float(delta[a]), float(gain[a]), r, float(saved[r])


def approximate_nats(eta: Array, d: Array, theta: Array, variances: Array, total: float, zero_one: bool) -> Array:
    """Nats over all rows that each term saves, approximately.

    Removing a term alone has a closed form; refitting the others wins part of that back, to second order all but the
    share ``1 / (F_yy [F^-1]_yy)``.

    Parameters
    ----------
    eta, d : expectations of the terms under the model and in the data.
    variances : of the weights under no prior to speak of, ``[F^-1]_yy / N``.
    zero_one : whether the functions take the values 0 and 1.
    """
    alone = -drop(eta, d, -theta, zero_one)
    variance = eta * (1 - eta) if zero_one else 1 - eta**2
    inflation = np.maximum(total * variance * variances, 1.0)
    return np.maximum(total * alone / inflation, 0.0)
