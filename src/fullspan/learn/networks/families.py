"""How well a variable is told by some others: the evidence of its conditional table, every row of it Dirichlet.

    log p(x_v | parents) = sum_j [ lnG(a_j) - lnG(a_j + N_j) + sum_k lnG(a_jk + N_jk) - lnG(a_jk) ]

j are the parents' states, k the levels of v, N the counts. ``a_jk`` is the strength of the prior over the cells of the
whole table, which then weighs as many rows whatever the parents (BDeu, Heckerman, Geiger & Chickering 1995), or, with
``each``, over the levels of v for each state of the parents. Strong priors of that kind make further parents cheap:
there, all numbers of parents are equally likely beforehand, and so are all sets of one size (Friedman & Koller 2003);
otherwise all sets are. Sets of parents are bit masks.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fullspan.algebra.jit import serial

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


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
    """The log of how many sets of so many parents a variable can have."""
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
    for r in range(where.size):
        table[where[r]] += counts[r]
    return table


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
    score, nothing, alone = -sets_of_size(cards.size, parents) if each else 0.0, math.lgamma(a * levels), math.lgamma(a)
    for start in range(0, table.size, levels):
        total = 0.0
        for k in range(levels):
            n = table[start + k]
            if n > 0:
                total += n
                score += math.lgamma(a + n) - alone
        if total > 0:
            score += nothing - math.lgamma(a * levels + total)
    return score
