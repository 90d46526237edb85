"""Greedy elimination of a small hard graph, its rows of neighbours held as bits.

The edges that eliminating v would add, ``sum_u |N(v) - N(u)| / 2`` over its neighbours u, are counted a machine word at
a time, so an order of a few hundred variables takes about a millisecond and many can be tried.
"""

from __future__ import annotations

import numpy as np

from fullspan.model.algebra.jit import serial

SMALLEST, FEWEST_EDGES, SWEEP = 0, 1, 2
"""Rules: the smallest new table first; the fewest new edges first; the smallest new table among the neighbours of what
is eliminated already, so that one front sweeps over the graph, which is far better on lattices."""


@serial
def core_rows(members, pool, place, length, alive):  # type: ignore[no-untyped-def]
    """Neighbours of each member as a row of bits, members numbered as listed."""
    m = len(members)
    number = np.full(len(alive), -1, dtype=np.int64)
    for a in range(m):
        number[members[a]] = a
    rows = np.zeros((m, (m + 63) // 64), dtype=np.uint64)
    for a in range(m):
        v = members[a]
        for e in range(place[v], place[v] + length[v]):
            b = number[pool[e]]
            if b >= 0 and alive[pool[e]]:
                rows[a, b >> 6] |= np.uint64(1) << np.uint64(b & 63)
    return rows


@serial
def greedy(rows, log2_cards, noise, rule, ceiling):  # type: ignore[no-untyped-def]
    """One order of the whole graph.

    Parameters
    ----------
    rows : (m, words) bits of the neighbours; not changed.
    noise : (m,) numbers in [0, 1) that decide between variables that score alike.
    ceiling : give up as soon as the tables have more entries than this.

    Returns
    -------
    order, total, work : the order (m,), entries of all its tables (inf when given up), words looked at.
    """
    m, words = rows.shape
    near = rows.copy()
    left, front = np.ones(m, dtype=np.bool_), np.zeros(m, dtype=np.bool_)
    order = np.empty(m, dtype=np.int64)
    edges, sizes = np.empty(m), np.empty(m)
    members, touched = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    reach = np.empty(words, dtype=np.uint64)
    total, work = 0.0, 0
    for v in range(m):
        edges[v], sizes[v], looked = _score(v, near, log2_cards, members)
        work += looked
    for step in range(m):
        v = -1
        for u in range(m):
            if left[u] and (v < 0 or _precedes(u, v, edges, sizes, log2_cards, front, noise, rule)):
                v = u
        work += m
        total += 2.0 ** sizes[v]
        if total > ceiling:
            return order, np.inf, work
        order[step] = v
        left[v] = False
        _eliminate(v, near, edges[v] > 0, front, members, reach)
        for a in range(_unpack(reach, touched)):
            u = touched[a]
            edges[u], sizes[u], looked = _score(u, near, log2_cards, members)
            work += looked
    return order, total, work


@serial
def _eliminate(v, near, adds_edges, front, members, reach):  # type: ignore[no-untyped-def]
    """Join the neighbours of v and take v out; ``reach`` are the variables whose scores may have changed.

    Without new edges these are the neighbours of v alone, else their neighbours too.
    """
    reach[:] = 0
    for a in range(_unpack(near[v], members)):
        u = members[a]
        front[u] = True
        for j in range(len(reach)):
            near[u, j] |= near[v, j]
        near[u, u >> 6] &= ~(np.uint64(1) << np.uint64(u & 63))
        near[u, v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))
        if adds_edges:
            for j in range(len(reach)):
                reach[j] |= near[u, j]
        else:
            reach[u >> 6] |= np.uint64(1) << np.uint64(u & 63)


@serial
def _precedes(v, u, edges, sizes, log2_cards, front, noise, rule):  # type: ignore[no-untyped-def]
    if rule == SWEEP and front[v] != front[u]:
        return front[v]
    if rule != FEWEST_EDGES:
        # Sums of logarithms of the same cardinalities in another order differ by rounding; they are ties.
        if abs(sizes[v] - sizes[u]) > 1e-9:
            return sizes[v] < sizes[u]
        if edges[v] != edges[u]:
            return edges[v] < edges[u]
    else:
        if edges[v] != edges[u]:
            return edges[v] < edges[u]
        if abs(sizes[v] - sizes[u]) > 1e-9:
            return sizes[v] < sizes[u]
    if log2_cards[v] != log2_cards[u]:
        return log2_cards[v] > log2_cards[u]
    return noise[v] < noise[u]


@serial
def _score(v, near, log2_cards, members):  # type: ignore[no-untyped-def]
    """Edges that eliminating v adds, log2 of its table's entries, words looked at."""
    words = near.shape[1]
    d = _unpack(near[v], members)
    missing, size = 0, log2_cards[v]
    for a in range(d):
        u = members[a]
        size += log2_cards[u]
        for j in range(words):
            missing += _ones(near[v, j] & ~near[u, j])
    # N(v) holds u itself, which N(u) does not: each of the d neighbours was counted as missing once too often. Every
    # other missing pair was met from both sides.
    return (missing - d) / 2.0, size, (d + 1) * words


@serial
def _unpack(row, members):  # type: ignore[no-untyped-def]
    """Places of the ones of a row, in order; their number."""
    d = 0
    for j in range(len(row)):
        word = row[j]
        while word:
            # The lowest one of the word; the number of ones below it is its place.
            low = word & (~word + np.uint64(1))
            members[d] = 64 * j + _ones(low - np.uint64(1))
            d += 1
            word ^= low
    return d


@serial
def _ones(x):  # type: ignore[no-untyped-def]
    """Number of ones of a 64-bit word."""
    # Sums of neighbouring bits, pairs, and nibbles; the product adds the eight bytes up in the highest one.
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
