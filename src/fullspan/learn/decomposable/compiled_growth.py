"""Growing a decomposable graph from weighted rows, one variable at a time, in compiled code.

The rule is that of the wide search (module ``grow``): a variable joins a subset S of the newest clique if that
saves most, ``N I(x_v; x_S)`` less the price of naming S and of the weights that the rows show. Parents are then put in
the order of their information about the variable, in which their tables are smoothed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.learn.decomposable.grow import xlogx
from fullspan.model.algebra.jit import serial
from fullspan.model.algebra.tally import tally

_SEEN = 1e-9
"""Weight from which on a state of the parents is shown by the rows."""


@serial
def sum_xlogx(counts: Any) -> float:
    """``sum n ln n`` of some counts."""
    total = 0.0
    for n in counts:
        total += xlogx(n)
    return total


@serial
def column_counts(column: Any, weights: Array, card: int) -> Array:
    """Weights of the levels of one variable."""
    out = np.zeros(card)
    tally(column, weights, out)
    return out


@serial
def place_of(columns: Any, members: Ints, size: int, cards: Ints, where: Any) -> int:
    """The joint state of the first ``size`` members in every row, the first fastest; how many there may be."""
    stride = 1
    where[:] = 0
    for j in range(size):
        column, step = columns[members[j]], np.int32(stride)
        for r in range(where.size):
            where[r] += step * column[r]
        stride *= cards[members[j]]
    return stride


@serial
def joint_counts(where: Any, n_places: int, column: Any, card: int, weights: Array, cells: Any) -> Array:
    """Weights by place and level of another variable, the level slowest; ``cells`` (m,) is written to."""
    table = np.zeros(n_places * card)
    stride = np.int32(n_places)
    for r in range(weights.size):
        cells[r] = where[r] + stride * column[r]
    tally(cells, weights, table)
    return table


@serial
def grow_graph(
    columns: Any, weights: Array, cards: Ints, width: int, price: float, max_cells: int, order: Ints, parents: Ints
) -> None:
    """Fill in the order of the variables (n,) and the parents of each (n, width), -1 for none.

    ``price`` is nats for each weight. Time: one pass over the rows for every subset of a new clique, at most
    ``2^width``, and variable that is still outside.
    """
    n = cards.size
    parents[:] = -1
    best, chosen = np.zeros(n), np.full((n, width), -1)
    outside, entropy = np.ones(n, dtype=np.bool_), np.empty(n)
    for u in range(n):
        counts = column_counts(columns[u], weights, cards[u])
        entropy[u] = xlogx(counts.sum()) - sum_xlogx(counts)
    newest = int(np.argmax(entropy))
    for t in range(n):
        order[t] = newest
        outside[newest] = False
        parents[newest] = chosen[newest]
        if t + 1 < n:
            _offer(columns, weights, cards, width, price, max_cells, newest, parents, outside, entropy, best, chosen)
            top = -1.0
            for u in range(n):
                if outside[u] and best[u] > top:
                    top, newest = best[u], u
    for v in range(n):
        _sort_by_information(columns, weights, cards, v, parents[v])


@serial
def _offer(
    columns: Any,
    weights: Array,
    cards: Ints,
    width: int,
    price: float,
    max_cells: int,
    v: int,
    parents: Ints,
    outside: Any,
    entropy: Array,
    best: Array,
    chosen: Ints,
) -> None:
    """Offer v with every subset of its parents to all variables outside.

    The rows are counted once for each of these, with v and all its parents; subsets have the sums of that table. Where
    it would have more cells than there are rows, or than are allowed, the rows are counted for every subset.
    """
    n, n_parents = cards.size, 0
    while n_parents < width and parents[v, n_parents] >= 0:
        n_parents += 1
    everyone = np.empty(n_parents + 1, dtype=np.int64)
    everyone[0] = v
    everyone[1:] = parents[v, :n_parents]
    where, cells = np.empty(weights.size, dtype=np.int32), np.empty(weights.size, dtype=np.int32)
    n_all = 1.0
    for i in everyone:
        n_all *= cards[i]
    whole = n_all <= max_cells and n_all <= weights.size
    if whole:
        given_all = column_counts(where, weights, place_of(columns, everyone, everyone.size, cards, where))
        tables = np.empty((n, min(int(n_all) * cards.max(), weights.size)))
        for u in range(n):
            if outside[u] and n_all * cards[u] <= weights.size:
                both = joint_counts(where, given_all.size, columns[u], cards[u], weights, cells)
                tables[u, : both.size] = both
    members = np.empty(width + 1, dtype=np.int64)
    for subset in range(1 << n_parents):
        size, members[0] = 1, v
        for j in range(n_parents):
            if subset >> j & 1:
                members[size] = parents[v, j]
                size += 1
        if size > width:
            continue
        n_places, name = 1.0, size * np.log(max(n, 2))
        for j in range(size):
            n_places *= cards[members[j]]
            name += np.log(max(cards[members[j]] - 1, 1))
        if 2 * n_places > max_cells:
            continue
        counted, inside = not whole, np.zeros(0, dtype=np.int64)
        if whole:
            inside = _places_inside(everyone, subset, cards)
            given = _summed(given_all, inside, int(n_places), 1)
        else:
            given = column_counts(where, weights, place_of(columns, members, size, cards, where))
        base, shown = sum_xlogx(given), int(np.sum(given > _SEEN))
        for u in range(n):
            if not outside[u] or n_places * cards[u] > max_cells:
                continue
            if whole and n_all * cards[u] <= weights.size:
                both = _summed(tables[u, : int(n_all) * cards[u]], inside, given.size, cards[u])
            else:
                if not counted:
                    place_of(columns, members, size, cards, where)
                    counted = True
                both = joint_counts(where, given.size, columns[u], cards[u], weights, cells)
            gain = entropy[u] - base + sum_xlogx(both) - name - price * (cards[u] - 1) * (shown - 1)
            if gain > best[u]:
                best[u] = gain
                chosen[u] = -1
                chosen[u, :size] = members[:size]


@serial
def _places_inside(everyone: Ints, subset: int, cards: Ints) -> Ints:
    """The joint state of the first variable and of a subset of the others, for every joint state of all."""
    inside, stride = np.zeros(1, dtype=np.int64), 1
    for j in range(everyone.size):
        card = cards[everyone[j]]
        step = stride if j == 0 or subset >> (j - 1) & 1 else 0
        longer = np.empty(inside.size * card, dtype=np.int64)
        for level in range(card):
            longer[level * inside.size : (level + 1) * inside.size] = inside + step * level
        inside = longer
        if step > 0:
            stride *= card
    return inside


@serial
def _summed(table: Array, inside: Ints, n_places: int, levels: int) -> Array:
    """The sums of a table over the states of all variables that are not inside."""
    out = np.zeros(n_places * levels)
    for level in range(levels):
        for place in range(inside.size):
            out[level * n_places + inside[place]] += table[level * inside.size + place]
    return out


@serial
def _sort_by_information(columns: Any, weights: Array, cards: Ints, v: int, own: Ints) -> None:
    """Put the parents of v in the order of their mutual information with it, the largest first."""
    size = int(np.sum(own >= 0))
    if size < 2:
        return
    information, cells = np.empty(size), np.empty(weights.size, dtype=np.int32)
    for j in range(size):
        both = joint_counts(columns[own[j]], cards[own[j]], columns[v], cards[v], weights, cells)
        information[j] = sum_xlogx(both) - sum_xlogx(column_counts(columns[own[j]], weights, cards[own[j]]))
    by_information = own[np.argsort(-information, kind="mergesort")]
    own[:size] = by_information
