"""Walks over networks: to the best one nearby, and at random with the posterior as the limit.

A move toggles one arc or turns one around. Both change families one at a time, so that a table of what toggling u -> v
gains, ``gain[v, u]``, serves all moves; only the row of a variable whose parents changed is computed anew, and an entry
only when it is asked for; what was asked for once is known (module ``families``).
"""

from __future__ import annotations

import math

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.learn.networks.families import Families, score_of
from fullspan.model.algebra.jit import serial


@serial
def is_ancestor(parents: Ints, a: int, b: int) -> bool:
    """Whether a path along the arcs leads from a to b; true of a and itself."""
    ahead, seen = np.int64(1) << b, np.int64(0)
    while ahead:
        for v in range(parents.size):
            if ahead >> v & 1:
                if v == a:
                    return True
                seen |= np.int64(1) << v
                ahead = (ahead | parents[v]) & ~seen
                break
    return False


@serial
def gain_of(gain: Array, families: Families, parents: Ints, scores: Array, v: int, u: int, which: int) -> float:
    """What toggling the arc u -> v adds to the log evidence; minus infinity where v would have too many parents."""
    if np.isnan(gain[v, u]):
        gain[v, u] = score_of(families, v, parents[v] ^ (np.int64(1) << u), which) - scores[v]
    return float(gain[v, u])


@serial
def toggle(gain: Array, parents: Ints, scores: Array, v: int, u: int) -> None:
    """Toggle the arc u -> v, whose gain is known."""
    scores[v] += gain[v, u]
    parents[v] ^= np.int64(1) << u
    gain[v] = np.nan


@serial
def turns(parents: Ints, v: int, u: int) -> bool:
    """Whether the arc u -> v can be turned around without closing a circle."""
    parents[v] ^= np.int64(1) << u
    open_ = not is_ancestor(parents, u, v)
    parents[v] ^= np.int64(1) << u
    return open_


@serial
def start(families: Families, parents: Ints, which: int) -> tuple[Array, Array]:
    """The scores of the families of a network, and a table of gains that are not known yet."""
    n = parents.size
    scores = np.empty(n)
    for v in range(n):
        scores[v] = score_of(families, v, parents[v], which)
    return scores, np.full((n, n), np.nan)


@serial
def hill_climb(families: Families, parents: Ints, which: int) -> None:
    """Make the best move, in place, until none is left that adds to the evidence."""
    scores, gain = start(families, parents, which)
    n = parents.size
    while True:
        best, best_v, best_u, turned = 1e-9, -1, -1, False
        for v in range(n):
            for u in range(n):
                if u == v or parents[u] >> v & 1:
                    continue
                own = gain_of(gain, families, parents, scores, v, u, which)
                if parents[v] >> u & 1:
                    if own > best:
                        best, best_v, best_u, turned = own, v, u, False
                    back = own + gain_of(gain, families, parents, scores, u, v, which)
                    if back > best and turns(parents, v, u):
                        best, best_v, best_u, turned = back, v, u, True
                elif own > best and not is_ancestor(parents, v, u):
                    best, best_v, best_u, turned = own, v, u, False
        if best_v < 0:
            return
        toggle(gain, parents, scores, best_v, best_u)
        if turned:
            toggle(gain, parents, scores, best_u, best_v)


@serial
def wander(
    families: Families, parents: Ints, which: int, pairs: Ints, chances: Array, kept: Ints, kept_strength: Ints
) -> None:
    """A Metropolis walk over networks and strengths of the prior; ``kept`` gets the networks at equal distances.

    ``pairs`` (steps, 2) are the variables v and u that a step looks at, ``chances`` (steps, 2) uniform numbers. Every
    n^2 / 2-th step tries another strength instead.
    """
    n, steps, done = parents.size, len(pairs), 0
    scores, gain = start(families, parents, which)
    for t in range(steps):
        v, u = pairs[t]
        log_chance = math.log(chances[t, 0])
        if t % (n * n // 2 + 1) == 0:
            other = int(chances[t, 1] * families.strengths.size)
            new, fresh = start(families, parents, other)
            if other != which and log_chance < new.sum() - scores.sum():
                which, scores, gain = other, new, fresh
        elif u != v and not parents[u] >> v & 1:
            has, turned = parents[v] >> u & 1, chances[t, 1] < 0.5
            if has or not turned:
                more = gain_of(gain, families, parents, scores, v, u, which)
                if turned:
                    more += gain_of(gain, families, parents, scores, u, v, which)
                legal = log_chance < more
                if legal and turned:
                    legal = turns(parents, v, u)
                elif legal and not has:
                    legal = not is_ancestor(parents, v, u)
                if legal:
                    toggle(gain, parents, scores, v, u)
                    if turned:
                        toggle(gain, parents, scores, u, v)
        if (t + 1) * len(kept) // steps > done:
            for i in range(n):  # assigning an array to a row takes two seconds longer to compile
                kept[done, i] = parents[i]
            kept_strength[done] = which
            done += 1
