"""Decimation with complex couplings: the characteristic function, and second derivatives to rounding.

The rules hold for complex couplings as they stand (any branch of the logarithms will do, since v_ij and log F are made
from the same four). Fields w_0 + i x give the characteristic function Z(w_0 + i x) / Z(w_0) (Rueger 1997, Corollary
3.2); a step of i 1e-20 in one coupling gives the derivative of every expectation with respect to it, free of
differences.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Spins
from fullspan.engine.elimination.decimation.peeling import Steps
from fullspan.engine.elimination.decimation.sweeps import Links, load
from fullspan.model.algebra.jit import serial

Complex = NDArray[np.complex128]

_IMAGINARY_STEP = 1e-20


@serial
def _log_2cosh(a: complex) -> complex:
    """``log 2 cosh a``; its real part is -inf where the cosh is 0 to rounding."""
    a = -a if a.real < 0 else a
    rest = 1.0 + np.exp(-2.0 * a)
    if abs(rest) < 1e-14:
        return complex(-np.inf, 0.0)
    return complex(a + np.log(rest))


@serial
def _tanh(a: complex) -> complex:
    q = np.exp(-2.0 * a) if a.real >= 0 else np.exp(2.0 * a)
    t = (1.0 - q) / (1.0 + q)
    return complex(t) if a.real >= 0 else complex(-t)


@serial
def forward(steps: Steps, x: Complex) -> complex:
    """Fill all slots; log Z."""
    log_z = 0j
    for t in range(steps.node.size):
        into, out = steps.into[t], steps.out[t]
        a = x[into[0]] if into[0] >= 0 else 0j
        b = x[into[1]] if into[1] >= 0 else 0j
        c = x[into[2]] if into[2] >= 0 else 0j
        l0, l3 = _log_2cosh(a + b + c), _log_2cosh(a + b - c)
        l1, l2 = (_log_2cosh(b + c - a), _log_2cosh(a + c - b)) if into[2] >= 0 else (_log_2cosh(a - b), 0j)
        if into[2] >= 0:
            log_z += 0.25 * (l0 + l1 + l2 + l3)
            x[out[0]] += 0.25 * (l0 + l3 - l1 - l2)
            x[out[1]] += 0.25 * (l0 + l2 - l1 - l3)
            x[out[2]] += 0.25 * (l0 + l1 - l2 - l3)
        elif into[1] >= 0:
            log_z += 0.5 * (l0 + l1)
            x[out[0]] += 0.5 * (l0 - l1)
        else:
            log_z += l0
    return log_z


@serial
def backward(steps: Steps, x: Complex, g: Complex) -> None:
    """Derivatives of log Z with respect to all slots."""
    for t in range(steps.node.size - 1, -1, -1):
        into, out = steps.into[t], steps.out[t]
        if into[0] < 0:
            continue
        a = x[into[0]]
        if into[1] < 0:
            g[into[0]] = _tanh(a)
            continue
        b = x[into[1]]
        if into[2] < 0:
            same, other = 0.5 * (1.0 + g[out[0]]) * _tanh(a + b), 0.5 * (1.0 - g[out[0]]) * _tanh(a - b)
            g[into[0]], g[into[1]] = same + other, same - other
            continue
        c, ab, ac, bc = x[into[2]], g[out[0]], g[out[1]], g[out[2]]
        t0 = 0.25 * (1.0 + ab + ac + bc) * _tanh(a + b + c)
        t1 = 0.25 * (1.0 - ab - ac + bc) * _tanh(b + c - a)
        t2 = 0.25 * (1.0 - ab + ac - bc) * _tanh(a + c - b)
        t3 = 0.25 * (1.0 + ab - ac - bc) * _tanh(a + b - c)
        g[into[0]], g[into[1]], g[into[2]] = t0 - t1 + t2 + t3, t0 + t1 - t2 + t3, t0 + t1 + t2 - t3


@serial
def shifted_log_z(steps: Steps, links: Links, couplings: Array, fields: Array, spins: Spins, shift: Array) -> complex:
    """log Z of the free nodes with i times ``shift`` (free nodes,) added to their fields, without the constant."""
    x, constant, known = np.empty((steps.n_slots, 1)), np.zeros(1), np.empty((links.clamped.size, 1))
    load(x, constant, known, couplings, fields, links, spins)
    z = x[:, 0].astype(np.complex128)
    for i in range(shift.size):
        z[links.free_edges.size + i] += 1j * shift[i]
    return forward(steps, z)


@serial
def covariances(steps: Steps, links: Links, couplings: Array, fields: Array, spins: Spins, weights: Array) -> Array:
    """Weighted sum over patterns of the covariance of all s_i s_j along edges, then all s_i: (edges + nodes) squared.

    One forward and backward pass for every pattern and every free edge and node.
    """
    n_edges, n_first = couplings.size, links.free_edges.size
    n_own = n_first + links.free_nodes.size
    slot, sign = np.full(n_edges + fields.size, -1, np.int64), np.zeros(n_edges + fields.size)
    for e in range(n_first):
        slot[links.free_edges[e]] = e
    for i in range(links.free_nodes.size):
        slot[n_edges + links.free_nodes[i]] = n_first + i
    for k in range(links.half.shape[0]):
        slot[links.half[k, 0]] = n_first + links.half[k, 1]
    total, own = np.zeros((slot.size, slot.size)), np.empty((n_own, n_own))
    x, constant, g = np.empty((steps.n_slots, 1)), np.zeros(1), np.zeros(steps.n_slots, np.complex128)
    sign[:], known = 1.0, np.empty((links.clamped.size, 1))
    for p in range(spins.shape[0]):
        load(x, constant, known, couplings, fields, links, spins[p : p + 1])
        for k in range(links.half.shape[0]):
            sign[links.half[k, 0]] = spins[p, links.half[k, 2]]
        for j in range(n_own):
            z = x[:, 0].astype(np.complex128)
            z[j] += 1j * _IMAGINARY_STEP
            forward(steps, z)
            backward(steps, z, g)
            for i in range(n_own):
                own[i, j] = g[i].imag / _IMAGINARY_STEP
        for k in range(slot.size):
            if slot[k] >= 0:
                for m in range(slot.size):
                    if slot[m] >= 0:
                        total[k, m] += weights[p] * sign[k] * sign[m] * own[slot[k], slot[m]]
    return total
