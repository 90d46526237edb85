"""Counts of all pairs of variables, and their mutual information, compiled.

I(x_i; x_j) = sum_xy p(x, y) log p(x, y) / (p(x) p(y)),      p from the rows that show both cells
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.engine.memory import budget, require
from fullspan.model.algebra.jit import on_cores, serial

_PLANES = 24
"""Bits of a weight that are counted by planes; larger or fractional weights are summed."""
_PLAIN_PRODUCTS = 1 << 29
"""Products of indicators that matrix products sum in less time than it takes to fetch compiled code."""
_BLOCK_CELLS = 1 << 22
"""Indicators that are multiplied together where weights are summed."""


def pair_counts(states: NDArray[Any], weights: Array, cards: tuple[int, ...], max_memory: int | None = None) -> Array:
    """Weighted counts of every pair of (variable, level) in the rows that show both, shape (S, S), S = sum |X_i|.

    Whole weights are counted bit by bit: columns of indicators packed into words, one set per binary digit of the
    weights, and population counts of their conjunctions. Few rows and other weights are summed by matrix products.

    Raises
    ------
    TooLargeError : the table would not fit into memory.
    """
    size = sum(cards)
    require(24 * size * size, budget(max_memory), f"pairs of {size:,} levels", "leave out variables of many levels")
    offsets = np.concatenate([[0], np.cumsum(cards)[:-1]]).astype(np.int64)
    whole = weights.astype(np.int64)
    counts = np.zeros((size, size))
    few = len(states) * size * size <= _PLAIN_PRODUCTS
    if few or not (whole == weights).all() or int(whole.max()) >> _PLANES:
        for rows in _blocks(len(states), size):
            shown = _indicators(states[rows], offsets, size)
            counts += (shown * weights[rows, None]).T @ shown
        return counts
    for plane in range(int(whole.max()).bit_length()):
        chosen = np.flatnonzero((whole >> plane) & 1)
        if len(chosen):
            bits = _packed(states[chosen], offsets, size)
            on_cores(_add_conjunctions, size, bits, float(1 << plane), counts)
    return counts


def _blocks(rows: int, size: int) -> list[slice]:
    step = max(_BLOCK_CELLS // size, 1)
    return [slice(start, start + step) for start in range(0, rows, step)]


def _indicators(states: NDArray[Any], offsets: NDArray[np.int64], size: int) -> Array:
    shown = np.zeros((len(states), size))
    row, variable = np.nonzero(states >= 0)
    shown[row, offsets[variable] + states[row, variable]] = 1.0
    return shown


def _packed(states: NDArray[Any], offsets: NDArray[np.int64], size: int) -> NDArray[np.uint64]:
    """Bit r of word r // 64 of column (i, x) is whether row r shows x_i = x."""
    bits = np.zeros((size, (len(states) + 63) // 64), dtype=np.uint64)
    _pack(np.ascontiguousarray(states), offsets, bits)
    return bits


@serial
def _pack(states: Any, offsets: Any, bits: Any) -> None:
    for r in range(states.shape[0]):
        for i in range(states.shape[1]):
            if states[r, i] >= 0:
                bits[offsets[i] + states[r, i], r >> 6] |= np.uint64(1) << np.uint64(r & 63)


@serial
def _add_conjunctions(begin: int, end: int, bits: Any, unit: float, counts: Any) -> None:
    """counts[a, b] += unit * (rows in both column a and column b)."""
    one, two, four, last = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
    odd, pairs = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
    nibbles, bytes_ = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
    for a in range(begin, end):
        for b in range(a + 1):
            total = np.uint64(0)
            for w in range(bits.shape[1]):
                v = bits[a, w] & bits[b, w]
                v = v - ((v >> one) & odd)
                v = (v & pairs) + ((v >> two) & pairs)
                total += (((v + (v >> four)) & nibbles) * bytes_) >> last
            counts[a, b] += unit * total
            if a != b:
                counts[b, a] += unit * total


def mutual_information(counts: Array, cards: tuple[int, ...]) -> Array:
    """I(x_i; x_j) in nats of all pairs, from :func:`pair_counts`; shape (n, n), 0 on the diagonal.

    Of the rows that show both cells; 0 where there are none.
    """
    n, starts = len(cards), np.cumsum([0, *cards])
    of = np.repeat(np.arange(n), cards)
    seen = np.add.reduceat(counts, starts[:-1], axis=1)  # (S, n): rows that show the level, and variable j at all
    out = np.zeros((n, n))
    for i in range(n):
        own = slice(starts[i], starts[i + 1])
        table, total = counts[own], seen[own].sum(axis=0)
        expected = seen[own][:, of] * seen[:, i] / np.maximum(total, 1e-300)[of]
        cells = table * np.log(np.where(table > 0, table, 1.0) / np.where(table > 0, expected, 1.0))
        information = np.add.reduceat(cells.sum(axis=0), starts[:-1])
        out[i] = np.maximum(information / np.where(total > 0, total, 1.0), 0.0)
    np.fill_diagonal(out, 0.0)
    return out
