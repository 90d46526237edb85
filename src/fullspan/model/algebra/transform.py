"""Fast transforms between a table over states and its coordinates, in place, mode by mode.

With ``T[y, x] = Phi_y(x) = prod_i phi_{y_i}(x_i)`` three linear maps are needed:

    ANALYSE     eta = T p        expectations of a distribution
    INVERT      p   = T^-1 eta   the distribution with these expectations
    SYNTHESISE  l   = T^t theta  the function with these coefficients

``T`` is a Kronecker product, so each map is applied one variable at a time, in O(|X_i|) per fibre for the
monomial and indicator bases and O(|X_i| log |X_i|) for Walsh: O(|X| n) in all. Variables are taken in groups
whose joint size fits the cache, so that a table in main memory is read and written only once per group.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.model.algebra.bits import is_small, transform_bits
from fullspan.model.algebra.jit import on_cores, serial
from fullspan.model.algebra.local_bases import inverse_functions, local_functions

WALSH, MONOMIAL, INDICATOR = 0, 1, 2
ANALYSE, INVERT, SYNTHESISE = 0, 1, 2

_SHARED_ENTRIES = 1 << 16
"""Entries of a table from which on several cores transform it."""
GROUP_STATES = 1024
"""Joint size up to which neighbouring variables are transformed in one visit."""
_BIT = {
    (WALSH, ANALYSE): ((1, 1), (1, -1)),
    (WALSH, INVERT): ((0.5, 0.5), (0.5, -0.5)),
    (WALSH, SYNTHESISE): ((1, 1), (1, -1)),
    (MONOMIAL, ANALYSE): ((1, 1), (0, 1)),
    # Rows of T^-1: p(0) = 1 - eta_1, p(1) = eta_1.
    (MONOMIAL, INVERT): ((1, -1), (0, 1)),
    (MONOMIAL, SYNTHESISE): ((1, 0), (1, 1)),
    (INDICATOR, ANALYSE): ((1, 1), (-1, 1)),
    (INDICATOR, INVERT): ((0.5, -0.5), (0.5, 0.5)),
    (INDICATOR, SYNTHESISE): ((1, -1), (1, 1)),
}
"""The three maps on a variable of two levels."""
_VISITED_BYTES = 512
"""Bytes of two-level columns that are visited together: with a group of rows half of the second-level cache."""
_MATRIX_STATES = 32
"""Joint size up to which NumPy transforms neighbouring variables by one matrix."""
PAIRWISE_NUMBERS = 1 << 13
"""Numbers beyond which sums over pairs are faster than products with matrices."""
_VISITED_COLUMNS = 32
"""Columns of a group that are visited together: one or two cache lines."""


@serial
def _walsh_line(work: NDArray[Any], card: int, step: int) -> None:
    """Walsh transform of ``card`` rows of ``step`` neighbouring entries."""
    half = step
    while half < card * step:
        for start in range(0, card * step, 2 * half):
            a, b = work[start : start + half], work[start + half : start + 2 * half]
            for i in range(half):
                u = a[i]
                v = b[i]
                a[i] = u + v
                b[i] = u - v
        half *= 2


@serial
def _dummy_line(line: NDArray[Any], card: int, step: int, kind: int, op: int) -> None:
    """Monomial and indicator fibres: one sum over the levels, then one affine map per level."""
    # The level 0 stands for the constant: it holds the sum over all levels after ANALYSE, the offset in SYNTHESISE.
    first = line[:step]
    if op == SYNTHESISE:
        if kind == INDICATOR:
            for k in range(1, card):
                _subtract(first, line[k * step : (k + 1) * step])
        for k in range(1, card):
            _combine(line[k * step : (k + 1) * step], first, 2 if kind == INDICATOR else 1, 1)
        return
    if kind == INDICATOR and op == INVERT:
        for k in range(1, card):
            _halve_sum(line[k * step : (k + 1) * step], first)
    for k in range(1, card):
        if op == ANALYSE:
            _combine(first, line[k * step : (k + 1) * step], 1, 1)
        else:
            _subtract(first, line[k * step : (k + 1) * step])
    if kind == INDICATOR and op == ANALYSE:
        for k in range(1, card):
            _combine(line[k * step : (k + 1) * step], first, 2, -1)


@serial
def _combine(target: NDArray[Any], source: NDArray[Any], a: int, b: int) -> None:
    u, v = target.dtype.type(a), target.dtype.type(b)
    for i in range(target.size):
        target[i] = u * target[i] + v * source[i]


@serial
def _subtract(target: NDArray[Any], source: NDArray[Any]) -> None:
    for i in range(target.size):
        target[i] -= source[i]


@serial
def _halve_sum(target: NDArray[Any], source: NDArray[Any]) -> None:
    half = target.dtype.type(0.5)
    for i in range(target.size):
        target[i] = half * (target[i] + source[i])


@serial
def _mode(work: NDArray[Any], size: int, stride: int, card: int, kind: int, op: int, width: int) -> None:
    """Transform one variable of a group held in ``work[size, width]``, row-major."""
    step = stride * width
    for outer in range(0, size * width, card * step):
        line = work[outer : outer + card * step]
        if kind == WALSH:
            _walsh_line(line, card, step)
        else:
            _dummy_line(line, card, step, kind, op)


@serial
def _group_tile(work: NDArray[Any], size: int, cards: NDArray[Any], kinds: NDArray[Any], op: int, width: int) -> None:
    inner = 1
    for i in range(cards.size):
        _mode(work, size, inner, cards[i], kinds[i], op, width)
        inner *= cards[i]


@serial
def _copy(target: NDArray[Any], source: NDArray[Any], factor: Any) -> None:
    for i in range(target.size):
        target[i] = factor * source[i]


@serial
def _copy_strided(target: NDArray[Any], a: int, source: NDArray[Any], b: int, count: int, factor: Any) -> None:
    for i in range(count):
        target[i * a] = factor * source[i * b]


@serial
def _group(
    begin: int,
    end: int,
    chunks: int,
    table: NDArray[Any],
    stride: int,
    size: int,
    width: int,
    cards: NDArray[Any],
    kinds: NDArray[Any],
    op: int,
) -> None:
    """Transform the neighbouring variables ``cards``, whose first digit has weight ``stride``, in some chunks."""
    scale = 1.0
    for i in range(cards.size):
        if kinds[i] == WALSH and op == INVERT:
            scale /= cards[i]
    one, factor = table.dtype.type(1), table.dtype.type(scale)
    across = stride == 1 and width > 1  # columns are whole blocks: transposed when read and when written
    # Else a tile is `size` rows of `width` neighbouring entries, `stride` apart.
    columns = 1 if across else stride // width
    tiles = table.size // (size * width)
    work = np.empty(size * width, table.dtype)
    for chunk in range(begin, end):
        for tile in range(chunk * tiles // chunks, (chunk + 1) * tiles // chunks):
            origin = (tile // columns) * columns * size * width + (tile % columns) * width
            if stride == 1 and width == 1:
                line = table[origin : origin + size]
                _group_tile(line, size, cards, kinds, op, 1)
                for c in range(size):
                    line[c] *= factor
                continue
            if across:
                for c in range(width):
                    _copy_strided(work[c:], width, table[origin + c * size :], 1, size, one)
                _group_tile(work, size, cards, kinds, op, width)
                for c in range(width):
                    _copy_strided(table[origin + c * size :], 1, work[c:], width, size, factor)
                continue
            for r in range(size):
                _copy(work[r * width :][:width], table[origin + r * stride :][:width], one)
            _group_tile(work, size, cards, kinds, op, width)
            for r in range(size):
                _copy(table[origin + r * stride :][:width], work[r * width :][:width], factor)


def transform_plain(tables: NDArray[Any], cards: NDArray[np.int64], kinds: NDArray[np.int64], op: int) -> None:
    """The same in NumPy, for one table or several in a row: products with a matrix for each group of variables.

    In large tables a variable of two levels is a group of its own, and its matrix is written out as sums.
    """
    # A product with a 2 x 2 matrix is dear in BLAS once the table leaves the cache.
    many = tables.size > PAIRWISE_NUMBERS
    stride, matrices = (
        1,
        list(_group_matrices(tuple(cards.tolist()), tuple(kinds.tolist()), op, 2 if many else _MATRIX_STATES)),
    )
    while matrices:
        matrix = matrices.pop(0)
        size = len(matrix)
        if many and size == 2 and matrices and matrices[0].all() and np.array_equal(matrix, matrices[0]):
            size, _ = 4, matrices.pop(0)
            _quadruples(tables.reshape(-1, 4, stride), matrix)
        elif many and size == 2:
            _pairs(tables.reshape(-1, 2, stride), matrix)
        elif stride == 1:
            rows = tables.reshape(-1, size)
            rows[:] = rows @ matrix.astype(tables.dtype, copy=False).T
        else:
            blocks = tables.reshape(-1, size, stride)
            blocks[:] = matrix.astype(tables.dtype, copy=False) @ blocks
        stride *= size


def _pairs(pairs: NDArray[Any], matrix: NDArray[np.float64]) -> None:
    """Map ``pairs`` (m, 2, stride) by a 2 x 2 matrix of 0, 1, -1 or their halves, in place."""
    left, right = pairs[:, 0], pairs[:, 1]
    (a, b), (c, d) = np.sign(matrix).tolist()
    # Of both outputs the second still needs the first input.
    old = left.copy() if c else left
    if b:
        _combined(a, left, b, right, left)
    if c:
        _combined(c, old, d, right, right)
    if abs(matrix[0, 0]) != 1.0:
        pairs *= pairs.dtype.type(abs(matrix[0, 0]))


def _quadruples(quads: NDArray[Any], matrix: NDArray[np.float64]) -> None:
    """Map two neighbouring variables by a matrix without zeros: half as many visits of the table."""
    (a, b), (c, d) = np.sign(matrix).tolist()
    half = np.empty((4, len(quads), quads.shape[2]), dtype=quads.dtype)
    for k in (0, 2):
        _combined(a, quads[:, k], b, quads[:, k + 1], half[k])
        _combined(c, quads[:, k], d, quads[:, k + 1], half[k + 1])
    for k in (0, 1):
        _combined(a, half[k], b, half[k + 2], quads[:, k])
        _combined(c, half[k], d, half[k + 2], quads[:, k + 2])
    if abs(matrix[0, 0]) != 1.0:
        quads *= quads.dtype.type(matrix[0, 0] ** 2)


def _combined(a: float, u: NDArray[Any], b: float, v: NDArray[Any], out: NDArray[Any]) -> None:
    """``a u + b v`` with signs a and b, not both negative."""
    if a == b:
        np.add(u, v, out=out)
    else:
        np.subtract(*((u, v) if a > 0 else (v, u)), out=out)


@cache
def _group_matrices(
    cards: tuple[int, ...], kinds: tuple[int, ...], op: int, largest: int
) -> tuple[NDArray[np.float64], ...]:
    """The map of neighbouring variables as one matrix for each group, a Kronecker product of the local ones."""
    matrices: list[NDArray[Any]] = [np.eye(1)]
    for card, kind in zip(cards, kinds, strict=True):
        local = _local_matrix(card, kind, op)
        if len(matrices[-1]) * card > largest:
            matrices.append(np.eye(1))
        matrices[-1] = np.kron(local, matrices[-1])
    return tuple(matrix for matrix in matrices if len(matrix) > 1)


def _local_matrix(card: int, kind: int, op: int) -> NDArray[np.float64]:
    """The map of one variable."""
    phi = local_functions(card, kind).astype(np.float64)
    return phi if op == ANALYSE else phi.T if op == SYNTHESISE else inverse_functions(card, kind)


def transform_in_place(table: NDArray[Any], cards: NDArray[np.int64], kinds: NDArray[np.int64], op: int) -> None:
    """Apply ANALYSE, INVERT or SYNTHESISE to a flat table of ``prod(cards)`` entries.

    Time O(|X| n); memory one group per core, besides the table.
    """
    if is_small(table.size):
        transform_plain(table, cards, kinds, op)
        return
    stride = 1
    for own, own_kinds in _groups(tuple(cards.tolist()), tuple(kinds.tolist()), GROUP_STATES):
        size = int(own.prod())
        if (own == 2).all() and (own_kinds == own_kinds[0]).all():
            matrix = np.array(_BIT[int(own_kinds[0]), op], dtype=table.dtype)
            width = 1 if stride == 1 else _column_width(stride, _VISITED_BYTES // table.itemsize)
            _in_chunks(transform_bits, table, size * width, stride, len(own), width, matrix, op == SYNTHESISE)
        else:
            width = _column_width(table.size // size if stride == 1 else stride, 2 * _VISITED_COLUMNS)
            _in_chunks(_group, table, size * width, stride, size, width, own, own_kinds, op)
        stride *= size


def _in_chunks(kernel: Any, table: NDArray[Any], tile: int, *arguments: Any) -> None:
    """Call a kernel on all tiles of a table; threads are woken for a large one only."""
    chunks = min(table.size // tile, 256)
    if table.size < _SHARED_ENTRIES:
        kernel(0, chunks, chunks, table, *arguments)
    else:
        on_cores(kernel, chunks, chunks, table, *arguments)


@cache
def _groups(
    cards: tuple[int, ...], kinds: tuple[int, ...], largest: int
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]:
    """Levels and kinds of neighbouring variables of at most ``largest`` joint states.

    A Walsh variable of 2^k levels is k of two levels: its index is bit-packed. One level is no variable.
    """
    groups: list[list[tuple[int, int]]] = []
    size = largest
    for card, kind in zip(cards, kinds, strict=True):
        for part in [2] * (card.bit_length() - 1) if kind == WALSH else [card] * (card > 1):
            if not groups or size * part > largest:
                groups.append([])
                size = 1
            groups[-1].append((part, kind))
            size *= part
    pairs = [np.array(group, dtype=np.int64) for group in groups]
    return tuple((np.ascontiguousarray(p[:, 0]), np.ascontiguousarray(p[:, 1])) for p in pairs)


@cache
def _column_width(stride: int, most: int) -> int:
    """The largest divisor of ``stride`` up to ``most``; strides are products of cardinalities."""
    return max(w for w in range(1, min(stride, most) + 1) if stride % w == 0)
