"""Fast transforms of two-level variables: one 2 x 2 matrix for every bit of the index, whatever the basis.

Bits whose pairs lie far apart are taken two at a time, row against row. The lowest bits of an index, whose pairs lie
inside one vector of the processor, are transformed by turns: a turn transforms the lowest bit and makes it the highest,

    out[i] = m00 w[2i] + m01 w[2i+1],      out[i + L/2] = m10 w[2i] + m11 w[2i+1],

so that every turn reads and writes in order, and as many turns as there are bits bring each place home.

Up to which size NumPy serves a table instead of compiled kernels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.model.algebra.jit import serial


@serial
def _turn(out: NDArray[Any], line: NDArray[Any], m: NDArray[Any]) -> None:
    m00, m01, m10, m11 = m[0, 0], m[0, 1], m[1, 0], m[1, 1]
    half = line.size // 2
    a, b = out[:half], out[half:]
    for i in range(half):
        u, v = line[2 * i], line[2 * i + 1]
        a[i] = m00 * u + m01 * v
        b[i] = m10 * u + m11 * v


@serial
def _double_turn(out: NDArray[Any], line: NDArray[Any], m: NDArray[Any]) -> None:
    """Two turns in one visit."""
    m00, m01, m10, m11 = m[0, 0], m[0, 1], m[1, 0], m[1, 1]
    q = line.size // 4
    a, b, c, d = out[:q], out[q : 2 * q], out[2 * q : 3 * q], out[3 * q :]
    for i in range(q):
        w0, w1, w2, w3 = line[4 * i], line[4 * i + 1], line[4 * i + 2], line[4 * i + 3]
        u0, v0 = m00 * w0 + m01 * w1, m10 * w0 + m11 * w1
        u1, v1 = m00 * w2 + m01 * w3, m10 * w2 + m11 * w3
        a[i] = m00 * u0 + m01 * u1
        b[i] = m00 * v0 + m01 * v1
        c[i] = m10 * u0 + m11 * u1
        d[i] = m10 * v0 + m11 * v1


@serial
def _double_walsh_turn(out: NDArray[Any], line: NDArray[Any]) -> None:
    """The same for sums and differences, which need no multiplication."""
    q = line.size // 4
    a, b, c, d = out[:q], out[q : 2 * q], out[2 * q : 3 * q], out[3 * q :]
    for i in range(q):
        w0, w1, w2, w3 = line[4 * i], line[4 * i + 1], line[4 * i + 2], line[4 * i + 3]
        u0, v0, u1, v1 = w0 + w1, w0 - w1, w2 + w3, w2 - w3
        a[i] = u0 + u1
        b[i] = v0 + v1
        c[i] = u0 - u1
        d[i] = v0 - v1


@serial
def _is_walsh(m: NDArray[Any]) -> bool:
    return bool(m[0, 0] == 1 and m[0, 1] == 1 and m[1, 0] == 1 and m[1, 1] == -1)


@serial
def _line(line: NDArray[Any], work: NDArray[Any], n_bits: int, m: NDArray[Any]) -> None:
    """All bits of a line of neighbours, in an even number of visits if there are two bits, so as to end at home."""
    # Every visit writes into the other buffer, so that an odd number of them would end in the scratch.
    doubles, singles = n_bits // 2, n_bits % 2
    if (doubles + singles) % 2 and doubles:
        doubles, singles = doubles - 1, singles + 2
    here, there, walsh = line, work, _is_walsh(m)
    for visit in range(doubles + singles):
        if visit < doubles and walsh:
            _double_walsh_turn(there, here)
        elif visit < doubles:
            _double_turn(there, here, m)
        else:
            _turn(there, here, m)
        here, there = there, here
    if n_bits == 1:
        line[0], line[1] = work[0], work[1]


@serial
def _two_rows(a: NDArray[Any], b: NDArray[Any], m: NDArray[Any]) -> None:
    m00, m01, m10, m11 = m[0, 0], m[0, 1], m[1, 0], m[1, 1]
    for i in range(a.size):
        u, v = a[i], b[i]
        a[i] = m00 * u + m01 * v
        b[i] = m10 * u + m11 * v


@serial
def _four_rows(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], d: NDArray[Any], m: NDArray[Any]) -> None:
    """Two bits at once: a and b, c and d differ in the lower one, a and c, b and d in the higher one."""
    m00, m01, m10, m11 = m[0, 0], m[0, 1], m[1, 0], m[1, 1]
    for i in range(a.size):
        u0, v0 = m00 * a[i] + m01 * b[i], m10 * a[i] + m11 * b[i]
        u1, v1 = m00 * c[i] + m01 * d[i], m10 * c[i] + m11 * d[i]
        a[i] = m00 * u0 + m01 * u1
        b[i] = m00 * v0 + m01 * v1
        c[i] = m10 * u0 + m11 * u1
        d[i] = m10 * v0 + m11 * v1


@serial
def _four_walsh_rows(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], d: NDArray[Any]) -> None:
    for i in range(a.size):
        u0, v0, u1, v1 = a[i] + b[i], a[i] - b[i], c[i] + d[i], c[i] - d[i]
        a[i] = u0 + u1
        b[i] = v0 + v1
        c[i] = u0 - u1
        d[i] = v0 - v1


@serial
def _rows(work: NDArray[Any], width: int, m: NDArray[Any]) -> None:
    """All bits of the row number of ``work[rows, width]``, row-major."""
    step, walsh = width, _is_walsh(m)
    while 2 * step < work.size:
        for s in range(0, work.size, 4 * step):
            t = s + 2 * step
            a, b, c, d = work[s : s + step], work[s + step : t], work[t : t + step], work[t + step : t + 2 * step]
            if walsh:
                _four_walsh_rows(a, b, c, d)
            else:
                _four_rows(a, b, c, d, m)
        step *= 4
    if step < work.size:
        _two_rows(work[:step], work[step:], m)


@serial
def _is_zero(line: NDArray[Any]) -> bool:
    total = line.dtype.type(0)
    for i in range(line.size):
        # A sum instead of an early end, which would not vectorise.
        total += abs(line[i])
    return bool(total == 0)


@serial
def transform_bits(
    begin: int,
    end: int,
    chunks: int,
    table: NDArray[Any],
    stride: int,
    n_bits: int,
    width: int,
    m: NDArray[Any],
    sparse: bool,
) -> None:
    """Apply ``m`` to ``n_bits`` bits of the index, from the one of weight ``stride`` on, in some of ``chunks`` parts.

    Above the lowest bits, ``width`` neighbouring columns are visited together, ``width`` a divisor of ``stride``. In a
    ``sparse`` table lines of zeros, which stay as they are, are passed over.
    """
    size = 1 << n_bits
    tiles, columns = table.size // (size * width), stride // width
    work = np.empty(size * width, table.dtype)
    for chunk in range(begin, end):
        for tile in range(chunk * tiles // chunks, (chunk + 1) * tiles // chunks):
            if stride == 1:
                line = table[tile * size : (tile + 1) * size]
                # theta has a few thousand entries in a table of billions: most lines of a synthesis are zero.
                if not (sparse and _is_zero(line)):
                    _line(line, work, n_bits, m)
                continue
            origin = (tile // columns) * columns * size * width + (tile % columns) * width
            for r in range(size):
                _copy(work[r * width :][:width], table[origin + r * stride :][:width])
            _rows(work, width, m)
            for r in range(size):
                _copy(table[origin + r * stride :][:width], work[r * width :][:width])


@serial
def _copy(target: NDArray[Any], source: NDArray[Any]) -> None:
    for i in range(target.size):
        target[i] = source[i]


SMALL, MIDDLE = 1 << 12, 1 << 17
"""Numbers in a table up to which NumPy serves instead of kernels, always and where no kernels are kept."""


def is_small(n_numbers: int) -> bool:
    """Whether NumPy serves a table: its passes cost less than compiling a kernel would.

    Kernels of the dual table have a twin in NumPy, which is the readable form of them. Up to 2^12 numbers NumPy serves
    always. Up to 2^17 it serves where no compiled code is kept, until it has taken as long as compiling would have.
    The two differ by rounding alone.
    """
    if n_numbers <= SMALL or n_numbers > MIDDLE:
        return n_numbers <= SMALL
    # Every table uses this kernel: where it is kept, the others are.
    return bool(transform_bits.serves_plain(n_numbers, MIDDLE))  # type: ignore[attr-defined]
