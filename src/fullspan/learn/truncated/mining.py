"""Frequent patterns: all sets of items, up to an order, that enough rows contain.

Every item is a column of bits, one per distinct row. The patterns of order k + 1 join two of order k that differ in
their last item; their columns are intersected and counted, 64 rows at a time. No pattern is looked at whose parts are
not frequent (Agrawal and Srikant 1994).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.memory import budget, require
from fullspan.model.algebra.basis import Term
from fullspan.model.algebra.inclusion import item_offsets
from fullspan.model.algebra.jit import on_cores, serial


def frequent_patterns(
    states: NDArray[Any],
    counts: Array,
    cards: tuple[int, ...],
    min_count: float,
    max_order: int,
    max_memory: int | None = None,
) -> list[Term]:
    """Terms of order 1 to ``max_order`` whose items stand together in rows of total weight ``min_count`` or more.

    Sorted by order, then by items. Time: one pass over the packed columns for each candidate.

    Parameters
    ----------
    states, counts : distinct rows (m, n) and their weights.
    min_count : positive.

    Raises
    ------
    TooLargeError : the candidates of an order would not fit into memory.
    """
    columns = packed_columns(states, cards)
    units = np.zeros(0) if (counts == 1.0).all() else np.array(counts, dtype=np.float64)
    variable = np.repeat(np.arange(len(cards)), np.asarray(cards) - 1)
    level = np.arange(len(variable)) - item_offsets(cards)[variable] + 1
    found = np.arange(len(columns), dtype=np.int64)[:, None]
    supports = np.zeros(len(columns))
    on_cores(_supports, len(found), columns, found, units, supports)
    found = found[supports >= min_count]
    terms: list[Term] = []
    for order in range(1, max_order + 1):
        terms += [tuple((int(variable[a]), int(level[a])) for a in pattern) for pattern in found.tolist()]
        if order == max_order or len(found) < 2:
            break
        candidates = _joined(found, variable, max_memory)
        supports = np.zeros(len(candidates))
        on_cores(_supports, len(candidates), columns, candidates, units, supports)
        found = candidates[supports >= min_count]
    return terms


def packed_columns(states: NDArray[Any], cards: tuple[int, ...]) -> NDArray[np.uint64]:
    """(items, words): bit r of an item's column is whether row r has it."""
    words = (len(states) + 63) // 64
    columns = np.zeros((int(item_offsets(cards)[-1]), words * 64 // 8), dtype=np.uint8)
    item = 0
    if max(cards) == 2 and min(cards) == 2:
        packed = np.packbits(np.ascontiguousarray(states.T, dtype=np.uint8), axis=1)
        columns[:, : packed.shape[1]] = packed
        return columns.view(np.uint64)
    for i, card in enumerate(cards):
        for level in range(1, card):
            packed = np.packbits(states[:, i] == level)
            columns[item, : len(packed)] = packed
            item += 1
    return columns.view(np.uint64)


def _joined(found: Ints, variable: Ints, max_memory: int | None) -> Ints:
    """Candidates of the next order: pairs of patterns that agree in all but the last item, of another variable."""
    k = found.shape[1]
    same = np.all(found[1:, :-1] == found[:-1, :-1], axis=1)
    group = np.concatenate([[0], np.cumsum(~same)])
    sizes = np.bincount(group)
    later = np.concatenate([np.arange(size - 1, -1, -1) for size in sizes]) if len(sizes) else np.zeros(0, np.int64)
    total = int(later.sum())
    require(
        8 * total * (k + 4),
        budget(max_memory),
        f"{total:,} candidate patterns of order {k + 1}",
        "raise min_support= or lower max_order=",
    )
    first = np.repeat(np.arange(len(found)), later)
    second = first + 1 + np.arange(total) - np.repeat(np.cumsum(later) - later, later)
    differ = variable[found[first, -1]] != variable[found[second, -1]]
    first, second = first[differ], second[differ]
    return np.concatenate([found[first], found[second, -1:]], axis=1)


@serial
def _supports(begin: int, end: int, columns: Any, patterns: Any, weights: Any, out: Any) -> None:
    """Weight of the rows that contain each pattern; rows count 1 where ``weights`` is empty."""
    one, two, four, last = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
    odd, pairs = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
    nibbles, bytes_ = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
    k, words = patterns.shape[1], columns.shape[1]
    for c in range(begin, end):
        total, count = 0.0, np.uint64(0)
        for w in range(words):
            v = columns[patterns[c, 0], w]
            for j in range(1, k):
                v &= columns[patterns[c, j], w]
            if len(weights):
                while v:
                    low = v & (~v + one)
                    # packbits fills bytes from the top, and words hold their first byte lowest
                    bit = 0
                    while (low >> np.uint64(bit)) != one:
                        bit += 1
                    total += weights[64 * w + (bit & 56) + 7 - (bit & 7)]
                    v ^= low
            else:
                v = v - ((v >> one) & odd)
                v = (v & pairs) + ((v >> two) & pairs)
                count += (((v + (v >> four)) & nibbles) * bytes_) >> last
        out[c] = total + count
