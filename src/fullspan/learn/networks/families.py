"""How well some variables predict another: the evidence of its conditional table, every row of it Dirichlet.

    log p(x_v | parents) = sum_j [ lnG(a_j) - lnG(a_j + N_j) + sum_k lnG(a_jk + N_jk) - lnG(a_jk) ]

j are the parents' states, k the levels of v, N the counts. ``a_jk`` is the strength of the prior over the cells of the
whole table, which then weighs as many rows whatever the parents (BDeu, Heckerman, Geiger & Chickering 1995), or, with
``each``, over the levels of v for each state of the parents. Strong priors of that kind make further parents cheap:
there, all numbers of parents are equally likely beforehand, and so are all sets of one size (Friedman & Koller 2003);
otherwise all sets are. Sets of parents are bit masks.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.model.algebra.jit import serial
from fullspan.model.algebra.tally import tally

_SLOTS = 1 << 14
"""Scores that are kept; a score whose slots are taken replaces another."""
_PROBES = 4
_EMPTY = -1


class Families(NamedTuple):
    """All families of the variables of counted rows, and the scores that are known.

    Attributes
    ----------
    columns : the states, one variable a row (n, m), with ``counts`` (m,) and ``cards`` (n,).
    strengths : of the prior, which are tried.
    each : whether a strength is that of every state of the parents.
    largest, most : cells of a table, and parents.
    keys, scores : what was asked for, and the answer; walks come back to the same families.
    """

    columns: Ints
    counts: Array
    cards: Ints
    strengths: Array
    each: bool
    largest: int
    most: int
    keys: Ints
    scores: Array

    @classmethod
    def of(
        cls, columns: Ints, counts: Array, cards: Ints, strengths: Array, each: bool, largest: int, most: int
    ) -> Families:
        """The same, with nothing known yet."""
        keys, scores = np.full((_SLOTS, 2), _EMPTY, dtype=np.int64), np.empty(_SLOTS)
        return cls(columns, counts, cards, strengths, each, largest, most, keys, scores)


@serial
def cells_of(cards: Ints, v: int, parents: int) -> float:
    """Cells of the table of v and its parents."""
    cells = float(cards[v])
    for i in range(cards.size):
        if parents >> i & 1:
            cells *= cards[i]
    return cells


@serial
def sets_of_size(n: int, parents: int) -> float:
    """The log of the number of parent sets of this size."""
    size = 0
    for i in range(n):
        size += parents >> i & 1
    return math.lgamma(n) - math.lgamma(size + 1) - math.lgamma(n - size)


@serial
def family_table(columns: Ints, counts: Array, cards: Ints, v: int, parents: int) -> Array:
    """Counts of v (fastest) and its parents, in increasing order; ``columns`` are the states, one variable a row."""
    where = columns[v].copy()
    stride = cards[v]
    for i in range(cards.size):
        if parents >> i & 1:
            for r in range(where.size):
                where[r] += stride * columns[i, r]
            stride *= cards[i]
    table = np.zeros(stride)
    tally(where, counts, table)
    return table


@serial
def add_log_prob(
    columns: Ints,
    counts: Array,
    cards: Ints,
    v: int,
    parents: int,
    strength: float,
    each: bool,
    asked: Ints,
    out: Array,
) -> None:
    """Add ``log p(x_v | parents)`` of other states (n, r) to ``out`` (r,), by the mean of the table."""
    table, levels = family_table(columns, counts, cards, v, parents), cards[v]
    a = strength / levels if each else strength / table.size
    for start in range(0, table.size, levels):
        total = a * levels
        for k in range(levels):
            total += table[start + k]
        for k in range(levels):
            table[start + k] = math.log((table[start + k] + a) / total)
    where = asked[v].copy()
    stride = levels
    for i in range(cards.size):
        if parents >> i & 1:
            for r in range(where.size):
                where[r] += stride * asked[i, r]
            stride *= cards[i]
    for r in range(where.size):
        out[r] += table[where[r]]


@serial
def family_score(
    columns: Ints, counts: Array, cards: Ints, v: int, parents: int, strength: float, each: bool, largest: int
) -> float:
    """The log evidence of v given its parents, and their log prior; minus infinity where the table is too large.

    A variable alone has its table, whatever its levels.
    """
    if parents != 0 and cells_of(cards, v, parents) > largest:
        return -np.inf
    table, levels = family_table(columns, counts, cards, v, parents), cards[v]
    a = strength / levels if each else strength / table.size
    score = -sets_of_size(cards.size, parents) if each else 0.0
    return score + table_evidence(table, levels, a)


@serial
def table_evidence(table: Array, levels: int, a: float) -> float:
    """The log evidence of counts, ``levels`` cells for each state of the parents, with ``a`` pseudo-rows per cell."""
    score, nothing, alone, once = 0.0, math.lgamma(a * levels), math.lgamma(a), math.log(a)
    for start in range(0, table.size, levels):
        total = 0.0
        for k in range(levels):
            n = table[start + k]
            if n > 0:
                total += n
                # Gamma(a + 1) / Gamma(a) = a.
                score += once if n == 1.0 else math.lgamma(a + n) - alone  # most cells of large tables hold one row
        if total > 0:
            score += nothing - math.lgamma(a * levels + total)
    return score


@serial
def score_of(families: Families, v: int, parents: int, which: int) -> float:
    """The score of v and its parents under one of the strengths; minus infinity where there are too many parents."""
    size, slots = 0, families.scores.size
    for i in range(families.cards.size):
        size += parents >> i & 1
    if size > families.most:
        return -np.inf
    asked = np.int64(v * families.strengths.size + which)
    # Fibonacci hashing: the multiplier is 2^64 over the golden ratio, and the high bits are the mixed ones.
    first = (np.uint64(parents * 64 + asked) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    slot = np.int64(first % np.uint64(slots))
    for probe in range(_PROBES):
        at = (slot + probe) % slots
        if families.keys[at, 0] == asked and families.keys[at, 1] == parents:
            return float(families.scores[at])
        # If all probed slots are taken the first one is overwritten: a lost score is computed again.
        if families.keys[at, 0] == _EMPTY:
            slot = at
            break
    score = family_score(
        families.columns,
        families.counts,
        families.cards,
        v,
        parents,
        families.strengths[which],
        families.each,
        families.largest,
    )
    families.keys[slot, 0], families.keys[slot, 1], families.scores[slot] = asked, parents, score
    return score
