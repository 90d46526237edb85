"""The rules of decimation as loops over patterns that lie side by side, written so that they vectorise.

A compiler vectorises a loop only if it can check, with few comparisons, that the arrays it writes do not overlap
those it reads. So every loop here writes one array or two, and intermediate numbers wait in the rows of ``work``.
"""

from __future__ import annotations

import math

from fullspan.arrays import Array
from fullspan.engine.elimination.decimation.rules import STRONG_COUPLING, head, leaf, side, star
from fullspan.model.algebra.elementary import decay, log_1p, tanh
from fullspan.model.algebra.jit import serial


@serial
def leaves(x: Array, part: Array) -> None:
    """Nodes with one neighbour."""
    for p in range(x.size):
        part[p] += leaf(x[p])


@serial
def chains(x: Array, y: Array, out: Array, part: Array, product: Array, work: Array) -> None:
    """Nodes with two neighbours: the coupling they leave, the factor in two parts (see ``rules.series``)."""
    size = work[0]
    for p in range(x.size):
        a, b = abs(x[p]), abs(y[p])
        excess = max(min(a, b) - STRONG_COUPLING, 0.0)
        q1, u1 = decay(a - excess)
        q2, u2 = decay(b - excess)
        size[p] = excess + 0.5 * log_1p(u1 * u2 / (q1 + q2))
    for p in range(x.size):
        out[p] += math.copysign(size[p], x[p]) * math.copysign(1.0, y[p])
    for p in range(x.size):
        part[p] += abs(x[p]) + abs(y[p]) - size[p]
    for p in range(x.size):
        product[p] *= head(abs(x[p]) + abs(y[p]))


@serial
def stars(
    x: Array, y: Array, z: Array, xy: Array, xz: Array, yz: Array, part: Array, product: Array, work: Array
) -> None:
    """Nodes with three neighbours."""
    strongest = 0.0
    for p in range(x.size):
        strongest = max(strongest, abs(x[p]) + abs(y[p]) + abs(z[p]))
    for p in range(x.size):
        product[p] *= head(abs(x[p]) + abs(y[p]) + abs(z[p]))
    if strongest > STRONG_COUPLING:
        _strong_stars(x, y, z, xy, xz, yz, part)
        return
    _decays(x, work[0], work[1])
    _decays(y, work[2], work[3])
    _decays(z, work[4], work[5])
    _sides(work[0], work[2], work[4], work[1], work[3], work[6])
    _sides(work[0], work[4], work[2], work[1], work[5], work[7])
    _sides(work[2], work[4], work[0], work[3], work[5], work[8])
    for p in range(x.size):
        part[p] += abs(x[p]) + abs(y[p]) + abs(z[p])
    for p in range(x.size):
        part[p] -= work[6, p] + work[7, p] + work[8, p]
    _add_signed(work[6], x, y, xy)
    _add_signed(work[7], x, z, xz)
    _add_signed(work[8], y, z, yz)


@serial
def _strong_stars(x: Array, y: Array, z: Array, xy: Array, xz: Array, yz: Array, part: Array) -> None:
    for p in range(x.size):
        a, b, c, rest = star(x[p], y[p], z[p])
        part[p] += rest
        xy[p] += a
        xz[p] += b
        yz[p] += c


@serial
def _decays(x: Array, q: Array, u: Array) -> None:
    """``q = exp(-2|x|)`` and ``u = 1 - q^2``."""
    for p in range(x.size):
        a, b = decay(abs(x[p]))
        q[p] = a
        u[p] = b * (1.0 + a)


@serial
def _sides(q1: Array, q2: Array, q3: Array, u1: Array, u2: Array, out: Array) -> None:
    for p in range(out.size):
        out[p] = side(q1[p], q2[p], q3[p], u1[p], u2[p])


@serial
def _add_signed(size: Array, a: Array, b: Array, out: Array) -> None:
    for p in range(out.size):
        out[p] += math.copysign(size[p], a[p]) * math.copysign(1.0, b[p])


@serial
def leaves_back(x: Array, g: Array) -> None:
    """Reversed: the expectation of the only edge."""
    for p in range(x.size):
        g[p] = tanh(x[p])


@serial
def chains_back(x: Array, y: Array, xy: Array, gx: Array, gy: Array, work: Array) -> None:
    """Reversed: expectations of both edges, from that of the one they left (see ``rules.reversed_series``)."""
    same, other = work[0], work[1]
    for p in range(x.size):
        same[p] = 0.5 * (1.0 + xy[p]) * tanh(x[p] + y[p])
    for p in range(x.size):
        other[p] = 0.5 * (1.0 - xy[p]) * tanh(x[p] - y[p])
    for p in range(x.size):
        gx[p] = same[p] + other[p]
    for p in range(x.size):
        gy[p] = same[p] - other[p]


@serial
def stars_back(
    x: Array, y: Array, z: Array, xy: Array, xz: Array, yz: Array, gx: Array, gy: Array, gz: Array, work: Array
) -> None:
    """Reversed: expectations of the three edges, from those of the triangle they left (see ``rules.reversed_star``)."""
    for p in range(x.size):
        work[0, p] = 0.25 * (1.0 + xy[p] + xz[p] + yz[p]) * tanh(x[p] + y[p] + z[p])
    for p in range(x.size):
        work[1, p] = 0.25 * (1.0 - xy[p] - xz[p] + yz[p]) * tanh(y[p] + z[p] - x[p])
    for p in range(x.size):
        work[2, p] = 0.25 * (1.0 - xy[p] + xz[p] - yz[p]) * tanh(x[p] + z[p] - y[p])
    for p in range(x.size):
        work[3, p] = 0.25 * (1.0 + xy[p] - xz[p] - yz[p]) * tanh(x[p] + y[p] - z[p])
    for p in range(x.size):
        gx[p] = work[0, p] - work[1, p] + work[2, p] + work[3, p]
    for p in range(x.size):
        gy[p] = work[0, p] + work[1, p] - work[2, p] + work[3, p]
    for p in range(x.size):
        gz[p] = work[0, p] + work[1, p] + work[2, p] - work[3, p]


@serial
def add(scale: float, a: Array, out: Array) -> None:
    """``out += scale a``."""
    for p in range(out.size):
        out[p] += scale * a[p]


@serial
def add_product(scale: float, a: Array, b: Array, out: Array) -> None:
    """``out += scale a b``."""
    for p in range(out.size):
        out[p] += scale * a[p] * b[p]


@serial
def dot(a: Array, b: Array) -> float:
    """``sum a b``."""
    total = 0.0
    for p in range(a.size):
        total += a[p] * b[p]
    return total


@serial
def dot3(a: Array, b: Array, c: Array) -> float:
    """``sum a b c``."""
    total = 0.0
    for p in range(a.size):
        total += a[p] * b[p] * c[p]
    return total
