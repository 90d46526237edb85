"""Candidate scan of one block of the dual table: bound before logarithm.

Moving theta_y alone to its optimum lowers KL(p_d || p) by (paper, eqs. 2.18 and 2.19)

    gain(q, m) = q ln(q/m) + (1-q) ln((1-q)/(1-m))  <=  (q-m)^2 / (m (1-m)),

where m and q are the probabilities of the term's event under the model and in the data: for spins
m = (1+eta)/2 and q = (1+d)/2, for 0/1 functions m = eta and q = d. Written with eta and d both bounds are
``(d-eta)^2 / v(eta)``, with v = 1-eta^2 or eta(1-eta): the variance of the term.

A block is compared with the champion through the bound alone, without division and with the smallest penalty
of the block. For spins ``|d - eta| <= max |d - eta_0| + |eta - eta_0|`` comes first, with eta_0 of the uniform
distribution (for Walsh functions 0) and the maximum of the block known beforehand, so that one comparison of
|eta - eta_0| shows it: most blocks need not read d at all. A block that might hold a winner is
compared once more through

    gain(q, m)  <=  (q-m)^2 / (2 min(m (1-m), q (1-q))),

half the first where q is near m, and only if it passes is it looked at term by term.

The penalty of a term is ``by_order[order] + cost``, where ``order`` and ``cost`` are sums of a part of the
block and a part of the place inside the block.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.model.algebra.jit import parallel, prange, serial


class PriceTables(NamedTuple):
    """Penalties as the kernels look them up; ``least[o]`` is the smallest of a block whose high digits have order o."""

    block_orders: NDArray[np.int32]
    block_costs: NDArray[np.float64]
    by_order: NDArray[np.float64]
    least: NDArray[np.float64]
    orders: NDArray[np.int32]
    costs: NDArray[np.float64]


class Move(NamedTuple):
    """``eta <- scale (eta + c Phi_y eta)``, and what a candidate must exceed: ``floor``, under an L1 penalty."""

    c: Any
    scale: Any
    floor: float
    l1: float


@serial
def gain(q: float, m: float) -> float:
    """KL divergence of a coin with bias q from one with bias m, m kept inside (0, 1)."""
    value = 0.0
    if q > 0.0:
        # m may round to 0 or below; the gain is then large, not infinite or NaN.
        value += q * math.log(q / max(m, 1e-300))
    if q < 1.0:
        value += (1.0 - q) * math.log((1.0 - q) / max(1.0 - m, 1e-300))
    return value


@serial
def term_gain(d: float, eta: float, l1: float, zero_one: bool) -> float:
    """Gain of moving one term from eta to d, or under an L1 penalty to d moved back by ``l1`` towards eta."""
    target = max(d - l1, eta) if d > eta else min(d + l1, eta)
    if zero_one:
        return gain(min(max(target, 0.0), 1.0), eta)
    return gain(min(max((1.0 + target) / 2, 0.0), 1.0), (1.0 + eta) / 2)


@serial
def _survivors(eta: NDArray[Any], d: NDArray[Any], bar: float, l1: float, zero_one: bool) -> Any:
    """How many terms have both bounds above ``bar``, or so little below it that rounding might hide it."""
    number = eta.dtype.type
    one, zero, two, least, back = number(1), number(0), number(2), number(0.99 * bar), number(l1)
    # What float32 loses in 1 - x^2 near x = 1, where a bound that is a little too low would hide a winner.
    slack = number(1e-5)
    centre = number(0.5) if zero_one else zero
    width = number(0.25) if zero_one else one
    survivors = zero
    for j in range(eta.size):
        x = eta[j]
        e = max(abs(d[j] - x) - back, zero)
        model = width - (x - centre) * (x - centre)
        data = width - (d[j] - centre) * (d[j] - centre)
        # A sum of ones instead of a branch, and no early end: this is the loop that must vectorise.
        survivors += one if e * e > least * (max(model, two * min(model, data)) - slack) else zero
    return survivors


@serial
def bar_of(block: int, best: float, prices: PriceTables) -> Any:
    """What a gain in this block must exceed at the very least."""
    return best + prices.least[prices.block_orders[block]] + prices.block_costs[block]


@serial
def scan_block(
    eta: NDArray[Any], d: NDArray[Any], block: int, best: float, prices: PriceTables, l1: float, zero_one: bool
) -> tuple[float, int]:
    """Best net gain above ``best`` and its place in the block, or (best, -1)."""
    place = -1
    # The block's cheapest price stands for all: a look at single terms only where one of them could win with it.
    if not _survivors(eta, d, bar_of(block, best, prices), l1, zero_one):
        return best, place
    order, cost = prices.block_orders[block], prices.block_costs[block]
    for j in range(eta.size):
        x = np.float64(eta[j])
        target = np.float64(d[j])
        e = abs(target - x) - l1
        penalty = prices.by_order[order + prices.orders[j]] + cost + prices.costs[j]
        variance = x * (1.0 - x) if zero_one else 1.0 - x * x
        # Multiplied out: no division, and a variance of 0 at the boundary does no harm.
        if e > 0.0 and e * e > (best + penalty) * variance:
            net = term_gain(target, x, l1, zero_one) - penalty
            # Only larger: of equal gains the lowest index wins, whatever the number of cores.
            if net > best:
                best = net
                place = j
    return best, place


@serial
def _spin_winners(row: NDArray[Any], d: NDArray[Any], bar: Any, l1: Any) -> Any:
    """How many spins of the block have a bound above ``bar``."""
    one, zero = row.dtype.type(1), row.dtype.type(0)
    winners = zero
    for j in range(row.size):
        x = row[j]
        e = max(abs(d[j] - x) - l1, zero)
        winners += one if e * e > bar * (one - x * x) else zero
    return winners


@serial
def scan_spins(
    eta: NDArray[Any], d: NDArray[Any], block: int, best: float, where: int, prices: PriceTables, l1: float
) -> tuple[float, int]:
    """The best net gain and its index after a look at a block that might hold a winner."""
    size = prices.orders.size
    row, target = eta[block * size : (block + 1) * size], d[block * size : (block + 1) * size]
    bar = eta.dtype.type(bar_of(block, best, prices))
    if _spin_winners(row, target, bar, eta.dtype.type(l1)) > 0:
        best, place = scan_block(row, target, block, best, prices, l1, False)
        if place >= 0:
            where = block * size + place
    return best, where


@serial
def reach(peak: Any, bar: Any, centre: Any) -> Any:
    """How far eta may be from eta_0 before a spin might have a bound above ``bar``; -1 if any spin might.

    Given ``|d - eta_0| <= peak`` and ``|eta_0| <= centre``, u = |eta - eta_0| makes a candidate possible only if
    ``(peak + u)^2 > bar (1 - (centre + u)^2)``. That grows with u, so one root decides for all; a little less allows
    for rounding.
    """
    least = peak * peak - bar * (1.0 - centre * centre)
    if least >= 0.0:
        return -1.0
    # The root in the form without cancellation: least is negative here, so that both parts of the sum are positive.
    half = peak + bar * centre
    return -0.9999 * least / (half + math.sqrt(half * half - (1.0 + bar) * least))


@serial
def possible_spins(row: NDArray[Any], least: Any) -> Any:
    """How many spins of a block lie beyond ``least``, see :func:`reach`: d itself is not read."""
    one, zero = row.dtype.type(1), row.dtype.type(0)
    possible = zero
    for j in range(row.size):
        possible += one if abs(row[j]) > least else zero
    return possible


@serial
def update_possible_spins(row: NDArray[Any], partner: NDArray[Any], c: Any, scale: Any, least: Any) -> Any:
    """Update a block, and :func:`possible_spins` of it, in one visit."""
    one, zero = row.dtype.type(1), row.dtype.type(0)
    possible = zero
    for j in range(row.size):
        x = scale * (row[j] + c * partner[j])
        row[j] = x
        possible += one if abs(x) > least else zero
    return possible


@serial
def update_possible_pair(a: NDArray[Any], b: NDArray[Any], c: Any, scale: Any, least: Any) -> Any:
    """Two blocks that are each other's partner, in one visit; ``least`` serves both."""
    one, zero = a.dtype.type(1), a.dtype.type(0)
    possible = zero
    for j in range(a.size):
        x = scale * (a[j] + c * b[j])
        y = scale * (b[j] + c * a[j])
        a[j] = x
        b[j] = y
        possible += one if abs(x) > least else zero
        possible += one if abs(y) > least else zero
    return possible


class Base(NamedTuple):
    """The uniform distribution's eta_0, a part per block times a part per place: where the bounds are measured from."""

    blocks: NDArray[Any]
    places: NDArray[Any]


@parallel
def block_peaks(d: NDArray[Any], base: Base) -> NDArray[Any]:
    """Largest |d - eta_0| of each block."""
    size = base.places.size
    peaks = np.empty(base.blocks.size, d.dtype)
    for b in prange(peaks.size):
        peak = d.dtype.type(0)
        for j in range(size):
            peak = max(peak, abs(d[b * size + j] - base.blocks[b] * base.places[j]))
        peaks[b] = peak
    return peaks
