"""One move of one small model in compiled code: the twin of ``learn/search/line.py``, number by number.

The table of a small model lies in the first-level cache, so that nothing is cut into blocks; the bound before the
logarithm is that of ``engine/dual/scan.py``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fullspan.arrays import Array, Ints
from fullspan.engine.dual.scan import term_gain
from fullspan.model.algebra.jit import serial
from fullspan.model.algebra.transform import ANALYSE, SYNTHESISE, WALSH, _group_tile


class Shape(NamedTuple):
    """The table all models share: levels, places and local basis of each variable, and eta at theta = 0.

    ``packed`` is 1 if every variable is a Walsh one: the product of two terms is then the exclusive or of places.
    """

    cards: Ints
    strides: Ints
    kinds: Ints
    uniform: Array
    packed: int


@serial
def best_candidate(eta: Array, d: Array, price: Array, least: float) -> tuple[float, int]:
    """The largest gain less price of all terms, in use or not, and its index; -1 if none is above ``least``."""
    best, where = least, -1
    for y in range(1, eta.size):
        e = d[y] - eta[y]
        if e * e > (best + price[y]) * (1.0 - eta[y] * eta[y]):
            net = term_gain(d[y], eta[y], 0.0, False) - price[y]
            if net > best:
                best, where = net, y
    return best, where


@serial
def multiply(target: Array, source: Array, y: int, shape: Shape) -> None:
    """``target_z = <Phi_y Phi_z>`` from ``source_z = <Phi_z>``, one variable of the term after the other."""
    if shape.packed:
        for z in range(target.size):
            target[z] = source[z ^ y]
        return
    target[:] = source
    for i in range(shape.cards.size):
        j = y // shape.strides[i] % shape.cards[i]
        if j:
            _multiply_mode(target, j, shape.strides[i], shape.cards[i], shape.kinds[i])


@serial
def _multiply_mode(table: Array, j: int, stride: int, card: int, kind: int) -> None:
    """Multiply by one local function: ``phi_j phi_k`` is ``phi_{j xor k}``, or ``-1 - phi_j - phi_k``."""
    for outer in range(0, table.size, card * stride):
        for place in range(outer, outer + stride):
            if kind == WALSH:
                for k in range(card):
                    if k < k ^ j:
                        a, b = place + k * stride, place + (k ^ j) * stride
                        table[a], table[b] = table[b], table[a]
            else:
                first, own = table[place], table[place + j * stride]
                for k in range(1, card):
                    table[place + k * stride] = -first - own - table[place + k * stride]
                table[place], table[place + j * stride] = own, first


@serial
def update(eta: Array, work: Array, y: int, delta: float, shape: Shape) -> None:
    """``theta_y <- theta_y + delta``: ``eta <- (eta + c Phi_y eta) / (1 + c eta_y)``, c = tanh delta."""
    c = math.tanh(delta)
    scale = math.exp(-math.log1p(c * eta[y]))
    multiply(work, eta, y, shape)
    for z in range(eta.size):
        eta[z] = scale * (eta[z] + c * work[z])
    eta[0] = 1.0


@serial
def expectations(counts: Array, places: Ints, total: float, shape: Shape, d: Array) -> None:
    """``d = T p_d`` of one model's counts; what never or always happens counts as half a row in N + 1."""
    d[:] = 0.0
    for k in range(counts.size):
        d[places[k]] += counts[k]
    _group_tile(d, d.size, shape.cards, shape.kinds, ANALYSE, 1)
    least = 0.5 / (total + 1.0)
    part = 1.0 / total
    for y in range(d.size):
        d[y] = min(max(d[y] * part, 2.0 * least - 1.0), 1.0 - 2.0 * least)
    d[0] = 1.0


@serial
def exponents(y: Ints, theta: Array, work: Array, shape: Shape) -> float:
    """``l(x) = theta . Phi(x)`` of all states in ``work``; returns log Z."""
    work[:] = 0.0
    for k in range(y.size):
        work[y[k]] = theta[k]
    _group_tile(work, work.size, shape.cards, shape.kinds, SYNTHESISE, 1)
    peak, total = work[0], 0.0
    for x in range(work.size):
        peak = max(peak, work[x])
    for x in range(work.size):
        total += math.exp(work[x] - peak)
    return float(peak + math.log(total))


@serial
def rebuild(eta: Array, y: Ints, theta: Array, work: Array, shape: Shape) -> float:
    """Recompute eta from theta; returns how far it had drifted."""
    log_z = exponents(y, theta, work, shape)
    for x in range(work.size):
        work[x] = math.exp(work[x] - log_z)
    _group_tile(work, work.size, shape.cards, shape.kinds, ANALYSE, 1)
    work[0] = 1.0
    drift = 0.0
    for z in range(eta.size):
        drift = max(drift, abs(work[z] - eta[z]))
        eta[z] = work[z]
    return drift
