"""Exact log Z of two layers: one is enumerated, the other summed in closed form (every unit of it by itself).

Z = sum_v exp(a.v) prod_j (1 + exp(c_j + sum_i v_i W_ij)),      v over the 2^m states of the smaller layer
"""

from __future__ import annotations

import numpy as np

from fullspan.arrays import Array
from fullspan.engine.sampling.blocks import colouring
from fullspan.engine.sampling.pairwise import Pairwise
from fullspan.errors import FullspanError, TooLargeError
from fullspan.model.algebra.jit import parallel, prange

MAX_LAYER = 28
"""Units of the smaller layer up to which it is enumerated."""
_WALK = 12
"""2^12 states are visited by flipping one unit after the other, before the fields are summed afresh."""


def two_layers(weights: Array, a: Array, c: Array) -> float:
    """log Z of ``log f(v, h) = a.v + c.h + v.W.h`` with 0/1 units; the smaller layer is enumerated.

    Time 2^min(m, k) max(m, k), memory next to none.

    Raises
    ------
    FullspanError : the shapes do not fit, or a weight is not finite.
    TooLargeError : both layers have more than 28 units.

    Examples
    --------
    >>> round(float(two_layers(np.zeros((2, 3)), np.zeros(2), np.zeros(3)) / np.log(2)), 12)
    5.0
    """
    weights, a, c = (np.asarray(part, dtype=np.float64) for part in (weights, a, c))
    if weights.shape != (a.size, c.size):
        raise FullspanError(f"layers of {a.size} and {c.size} units do not fit weights of shape {weights.shape}")
    if not all(np.isfinite(part).all() for part in (weights, a, c)):
        raise FullspanError("a weight is infinite or not a number; log Z needs finite weights")
    if a.size > c.size:
        weights, a, c = weights.T, c, a
    if a.size > MAX_LAYER:
        raise TooLargeError(
            f"both layers have more than {MAX_LAYER} units ({a.size} and {c.size}): too many states to enumerate; "
            "use annealed importance sampling"
        )
    if not a.size:
        return float(np.logaddexp(0.0, c).sum())
    tops, sums = _walks(np.ascontiguousarray(weights), a, c)
    top = float(tops.max())
    return top + float(np.log((sums * np.exp(tops - top)).sum()))


def layer_log_z(machine: Pairwise) -> float | None:
    """log Z of a machine whose units have two colours, the smaller class being small enough; else None."""
    if (np.count_nonzero(machine.coupling, axis=1) > len(machine.bias) - 1).any():
        return None
    colours = colouring(machine.coupling)
    if colours.max(initial=0) > 1:
        return None
    first, second = np.flatnonzero(colours == 0), np.flatnonzero(colours == 1)
    if min(first.size, second.size) > MAX_LAYER:
        return None
    coupling = machine.coupling[np.ix_(first, second)]
    return machine.constant + two_layers(coupling, machine.bias[first], machine.bias[second])


@parallel
def _walks(weights: Array, a: Array, c: Array) -> tuple[Array, Array]:
    """Sums over the states of the first layer, as ``exp(top) * sum``: walks of 2^12 states in Gray's order."""
    m, k = weights.shape
    low = min(m, _WALK)
    blocks = 1 << (m - low)
    tops, sums = np.empty(blocks), np.empty(blocks)
    for block in prange(blocks):
        fields, linear = c.copy(), 0.0
        for i in range(m - low):
            if (block >> i) & 1:
                linear += a[low + i]
                for j in range(k):
                    fields[j] += weights[low + i, j]
        top, total, state = -np.inf, 0.0, 0
        for step in range(1 << low):
            if step:
                i = 0
                while not (step >> i) & 1:
                    i += 1
                state ^= 1 << i
                sign = 1.0 if (state >> i) & 1 else -1.0
                linear += sign * a[i]
                for j in range(k):
                    fields[j] += sign * weights[i, j]
            value, product = linear, 1.0
            for j in range(k):
                value += max(fields[j], 0.0)
                product *= 1.0 + np.exp(-abs(fields[j]))
                if product > 1e250:
                    value += np.log(product)
                    product = 1.0
            value += np.log(product)
            if value > top:
                total = total * np.exp(top - value) + 1.0
                top = value
            else:
                total += np.exp(value - top)
        tops[block], sums[block] = top, total
    return tops, sums
