"""Greedy elimination of a large sparse graph: always a variable whose table is smallest.

Leaves, chains and variables whose neighbours all know each other go first; that loses nothing. A bucket queue over the
logarithm of the table size keeps each step at the cost of its own neighbours, so a tree of a million nodes is ordered
in about a second. Neighbour lists live in one pool; entries of eliminated variables are dropped when they are met.
"""

from __future__ import annotations

import numpy as np

from fullspan.model.algebra.jit import serial

_BUCKETS = 1024
_BUCKETS_PER_DOUBLING = 4
"""Buckets per factor of two in the table size."""
_LEVELS_PREFERENCE = 0.25
"""Of tables of about one size, that of the variable with more levels comes first: it leaves the smaller message."""


@serial
def reduced(starts, neighbours, free, log2_cards, core, limit):  # type: ignore[no-untyped-def]
    """Eliminate until what is left has at most ``core`` variables, none of which can go without loss.

    Returns
    -------
    order : the variables eliminated, first to last.
    pool, place, length : neighbour lists of what is left, with entries of eliminated variables among them.
    alive : which variables are left.
    blocked : a variable whose smallest table exceeds ``2**limit`` entries, or -1.
    """
    place, length, room = starts[:-1].copy(), np.diff(starts), np.diff(starts)
    # Lists that outgrow their place are moved to the end; doubling keeps the copies linear in the entries ever made.
    pool = np.empty(2 * len(neighbours) + 64, dtype=np.int64)
    pool[: len(neighbours)] = neighbours
    end = len(neighbours)
    alive, left = free.copy(), int(free.sum())
    size, head, after, before, bucket = _queue(starts, neighbours, free, log2_cards)
    order, near = np.empty(left, dtype=np.int64), np.empty(len(free), dtype=np.int64)
    done, lowest, blocked = 0, 0, -1
    while done < len(order):
        while head[lowest] < 0:
            lowest += 1
        v = head[lowest]
        if size[v] > limit:
            blocked = v
            break
        d = _still_near(v, pool, place, length, alive, near)
        if d > 2 and left <= core and not _complete(near[:d], pool, place, length, alive):
            break
        _leave(v, head, after, before, bucket)
        alive[v], order[done] = False, v
        done, left = done + 1, left - 1
        for a in range(d):
            size[near[a]] -= log2_cards[v]
        lists = place, length, room, alive
        pool, end = _join(near[:d], pool, end, lists, size, log2_cards)
        for a in range(d):
            u = near[a]
            _move(u, size[u] - _LEVELS_PREFERENCE * log2_cards[u], head, after, before, bucket)
            lowest = min(lowest, bucket[u])
    return order[:done].copy(), pool, place, length, alive, blocked


@serial
def _queue(starts, neighbours, free, log2_cards):  # type: ignore[no-untyped-def]
    """log2 of the table that each free variable would leave, and the buckets that they wait in by it."""
    n = len(free)
    size, head = np.zeros(n), np.full(_BUCKETS, -1, dtype=np.int64)
    after, before, bucket = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.int64)
    # Backwards, since a bucket gives back first what entered it last: ties go to the variable listed first.
    for v in range(n - 1, -1, -1):
        if free[v]:
            size[v] = log2_cards[v] + log2_cards[neighbours[starts[v] : starts[v + 1]]].sum()
            _enter(v, size[v] - _LEVELS_PREFERENCE * log2_cards[v], head, after, before, bucket)
    return size, head, after, before, bucket


@serial
def _still_near(v, pool, place, length, alive, near):  # type: ignore[no-untyped-def]
    """List the neighbours of v that are left, and return how many they are."""
    d = 0
    for e in range(place[v], place[v] + length[v]):
        if alive[pool[e]]:
            near[d] = pool[e]
            d += 1
    return d


@serial
def _join(near, pool, end, lists, size, log2_cards):  # type: ignore[no-untyped-def]
    """Make all of these neighbours of each other, as the elimination of a variable between them does."""
    place, length, room, alive = lists
    for a in range(len(near)):
        for b in range(a):
            u, w = near[a], near[b]
            # Adjacency is symmetric: the shorter of the two lists is searched.
            if length[u] > length[w]:
                u, w = w, u
            if not _adjacent(u, w, pool, place, length, alive):
                # Both halves of the new edge. The pool may have moved, which is why it is handed on.
                pool, end = _append(u, w, pool, place, length, room, end)
                pool, end = _append(w, u, pool, place, length, room, end)
                size[u] += log2_cards[w]
                size[w] += log2_cards[u]
    return pool, end


@serial
def _complete(near, pool, place, length, alive):  # type: ignore[no-untyped-def]
    """Whether all of these are neighbours of each other."""
    for a in range(len(near)):
        for b in range(a):
            u, w = near[a], near[b]
            if length[u] > length[w]:
                u, w = w, u
            if not _adjacent(u, w, pool, place, length, alive):
                return False
    return True


@serial
def _enter(v, score, head, after, before, bucket):  # type: ignore[no-untyped-def]
    # Tables beyond 2^256 entries share the last bucket: no order that has one can be run anyway.
    b = min(max(np.int64(_BUCKETS_PER_DOUBLING * score + 0.5), 0), _BUCKETS - 1)
    bucket[v], before[v], after[v] = b, -1, head[b]
    if head[b] >= 0:
        before[head[b]] = v
    head[b] = v


@serial
def _leave(v, head, after, before, bucket):  # type: ignore[no-untyped-def]
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        head[bucket[v]] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]


@serial
def _move(v, score, head, after, before, bucket):  # type: ignore[no-untyped-def]
    _leave(v, head, after, before, bucket)
    _enter(v, score, head, after, before, bucket)


@serial
def _adjacent(u, w, pool, place, length, alive):  # type: ignore[no-untyped-def]
    """Whether w is in the list of u, searched from its end, where a hit is moved to; the dead are dropped."""
    e = place[u] + length[u] - 1
    while e >= place[u]:
        x = pool[e]
        last = place[u] + length[u] - 1
        if not alive[x]:
            pool[e] = pool[last]
            length[u] -= 1
        elif x == w:
            # What was asked for is likely to be asked for again: at the end of the list it is found at once.
            pool[e], pool[last] = pool[last], x
            return True
        e -= 1
    return False


@serial
def _append(u, w, pool, place, length, room, end):  # type: ignore[no-untyped-def]
    """Put w into the list of u, which moves to the end of the pool when it is full."""
    if length[u] == room[u]:
        room[u] = 2 * length[u] + 2
        if end + room[u] > len(pool):
            larger = np.empty(2 * (end + room[u]), dtype=np.int64)
            larger[:end] = pool[:end]
            pool = larger
        pool[end : end + length[u]] = pool[place[u] : place[u] + length[u]]
        place[u] = end
        end += room[u]
    pool[place[u] + length[u]] = w
    length[u] += 1
    return pool, end
