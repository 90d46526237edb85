"""Growing a decomposable model of bounded width, one variable at a time.

A decomposable model is a product of conditionals whose parents always lie inside one clique of what came before:

    p(x) = prod_v p(x_v | x_S(v)),      S(v) a subset of {u} + S(u) for some earlier u,   |S(v)| <= width.

Its cliques are {v} + S(v), elimination in the reverse order meets no other table, and its likelihood is closed form:
joining v to S gains N I(x_v; x_S) nats over leaving it alone. So the search needs counts only, never a refit. From
each new clique C the counts of C with every other variable (module ``rows``) give the gain of every subset of C for
every variable that is still outside; the variable whose best choice shortens the description most is next. The price
of a choice is that of the margin's name, ln n and ln(|X| - 1) for every member of S, and one weight for each
conditional distribution that the data show and each level but one.

In the end the parents of each variable are put in the order in which their tables are smoothed (module ``tables``):
the one without which least is known comes first, the least telling one last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array, Ints, Mask
from fullspan.learn.decomposable.rows import Listed, WideRows, count_cells
from fullspan.model.algebra.jit import serial

_SHOWN_WEIGHT = 1e-9
"""Weight from which on the rows show a state of the parents."""


@dataclass(frozen=True)
class Shape:
    """The graph of a decomposable model: variables in order, and the parents of each, most informative first."""

    order: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    """By variable, not by place in the order."""

    @classmethod
    def alone(cls, n: int) -> Shape:
        """Independent variables."""
        return cls(tuple(range(n)), ((),) * n)

    @classmethod
    def of_arrays(cls, order: Ints, parents: Ints) -> Shape:
        """From what :func:`grow_graph` fills in."""
        return cls(tuple(order.tolist()), tuple(tuple(i for i in own if i >= 0) for own in parents.tolist()))

    @property
    def width(self) -> int:
        """Most parents of a variable: the width of its elimination."""
        return max(map(len, self.parents), default=0)


@dataclass(frozen=True)
class GrowOptions:
    """What may be joined, and what it costs.

    Attributes
    ----------
    width : most parents of a variable.
    weight : nats for each weight.
    max_cells : most cells of a family's table.
    """

    width: int = 4
    weight: float = 1.0
    max_cells: int = 1 << 12


def grow(rows: WideRows, weights: Array, options: GrowOptions) -> tuple[Shape, float]:
    """A decomposable model of weighted rows, and what its description saves over independent variables, in nats."""
    n = len(rows.cards)
    order, parents = np.empty(n, dtype=np.int64), np.empty((n, options.width), dtype=np.int64)
    weights = np.require(weights, np.float64, "W")  # a kernel is compiled again for a read-only array
    saved = grow_graph(rows.listed, weights, options.weight, options.max_cells, order, parents)
    return Shape.of_arrays(order, parents), float(saved)


@serial
def grow_graph(rows: Listed, weights: Array, price: float, max_cells: int, order: Ints, parents: Ints) -> float:
    """Fill in the order of the variables (n,) and the parents of each (n, width), -1 for none; the nats saved.

    ``price`` is nats for each weight. Time: one pass over the rows' unusual cells for each variable, and
    ``3^width n^2`` logarithms.
    """
    n, width = parents.shape
    parents[:] = -1
    best, chosen = np.zeros(n), np.full((n, width), -1)
    outside, entropy = np.ones(n, dtype=np.bool_), _entropies(rows, weights)
    # The variable with the largest entropy has most to tell others.
    newest, saved = int(np.argmax(entropy)), 0.0
    for t in range(n):
        order[t] = newest
        outside[newest] = False
        _copy(chosen[newest], parents[newest])
        saved += best[newest]
        if t + 1 < n:
            clique = _family(parents[newest], newest)
            _offer_subsets(rows, weights, clique, price, max_cells, entropy, outside, best, chosen)
            top = -1.0
            for u in range(n):
                # Ties go to the first column.
                if outside[u] and best[u] > top:
                    top, newest = best[u], u
    for v in range(n):
        _sort_parents(rows, weights, v, parents[v])
    return saved


@serial
def _copy(source: Ints, target: Ints) -> None:
    """Copy the beginning of an array. A loop compiles in a tenth of the time of an assignment to a slice."""
    for j in range(source.size):
        target[j] = source[j]


@serial
def _family(parents: Ints, v: int) -> Ints:
    """The parents that are there, -1 being none, and behind them v."""
    count = 0
    for parent in parents:
        count += parent >= 0
    out, place = np.empty(count + 1, dtype=np.int64), 0
    for parent in parents:
        if parent >= 0:
            out[place] = parent
            place += 1
    out[place] = v
    return out


@serial
def _but(members: Ints, j: int) -> Ints:
    """All members but one."""
    out = np.empty(members.size - 1, dtype=np.int64)
    for k in range(out.size):
        out[k] = members[k + (k >= j)]
    return out


@serial
def _xlogx(x: float) -> float:
    # Differences of weighted counts may leave a rest of rounding size, or below 0.
    return x * np.log(x) if x > 1e-12 else 0.0


@serial
def _entropies(rows: Listed, weights: Array) -> Array:
    """Entropy of every variable times the number of rows."""
    counts, none = np.zeros((1, rows.features[-1] + 1)), np.zeros(0, dtype=np.int64)
    count_cells(rows, none, none, weights, counts)
    total, n = counts[0, -1], rows.cards.size
    out = np.empty(n)
    for u in range(n):
        rest, out[u] = total, _xlogx(total)
        for f in range(rows.features[u], rows.features[u + 1]):
            out[u] -= _xlogx(counts[0, f])
            rest -= counts[0, f]
        out[u] -= _xlogx(rest)
    return out


@serial
def _strides(cards: Ints, members: Ints) -> Ints:
    """Of the joint state of some variables, the first the fastest; the last number is how many states there are."""
    out = np.ones(members.size + 1, dtype=np.int64)
    for j in range(members.size):
        out[j + 1] = out[j] * cards[members[j]]
    return out


@serial
def _without(table: Array, stride: int, card: int) -> Array:
    """Sum one digit of the rows' index out."""
    out = np.zeros((table.shape[0] // card, table.shape[1]))
    for c in range(table.shape[0]):
        d = c % stride + stride * (c // (stride * card))
        for f in range(table.shape[1]):
            out[d, f] += table[c, f]
    return out


@serial
def _offer_subsets(
    rows: Listed,
    weights: Array,
    clique: Ints,
    price: float,
    max_cells: int,
    entropy: Array,
    outside: Mask,
    best: Array,
    chosen: Ints,
) -> None:
    """Offer every subset of a clique that holds its newest member, the last one, to all variables outside.

    The rows are counted once, for the whole clique; every subset has the sums of a larger one's table.
    """
    n, width = chosen.shape
    strides = _strides(rows.cards, clique)
    table = np.zeros((strides[-1], rows.features[-1] + 1))
    count_cells(rows, clique, strides, weights, table)
    pending = [(clique, table, 0)]
    while len(pending) > 0:
        members, counts, first = pending.pop()
        strides = _strides(rows.cards, members)
        if members.size <= width:
            name = members.size * np.log(max(n, 2))
            for i in members:
                name += np.log(max(rows.cards[i] - 1, 1))
            _offer(counts, members, rows.features, name, price, max_cells, entropy, outside, best, chosen)
        # The last member is the newest, which every subset must hold: without it the subset was offered before.
        for j in range(first, members.size - 1):  # each subset once: members go from left to right
            pending.append((_but(members, j), _without(counts, strides[j], rows.cards[members[j]]), j))


@serial
def _offer(
    table: Array,
    members: Ints,
    features: Ints,
    name: float,
    price: float,
    max_cells: int,
    entropy: Array,
    outside: Mask,
    best: Array,
    chosen: Ints,
) -> None:
    """Compare what joining each outside variable to this subset saves with its best so far."""
    n_cells, last = table.shape[0], table.shape[1] - 1
    shown, base = 0, 0.0
    for c in range(n_cells):
        if table[c, last] > _SHOWN_WEIGHT:
            shown += 1
            base += _xlogx(table[c, last])
    for u in range(outside.size):
        lo, hi = features[u], features[u + 1]
        # One level of each variable, the usual one, is not counted: its rows are the rest.
        if not outside[u] or n_cells * (hi - lo + 1) > max_cells:
            continue
        # A weight for each level but one and each state of the parents that the rows show; the marginal has one
        # already.
        gain = entropy[u] - base - name - price * (hi - lo) * (shown - 1)
        for c in range(n_cells):
            rest = table[c, last]
            if rest > _SHOWN_WEIGHT:
                for f in range(lo, hi):
                    gain += _xlogx(table[c, f])
                    rest -= table[c, f]
                gain += _xlogx(rest)
        if gain > best[u]:
            best[u] = gain
            chosen[u] = -1
            _copy(members, chosen[u])


@serial
def _sort_parents(rows: Listed, weights: Array, v: int, own: Ints) -> None:
    """Put the parents of v in order: the one without which most is still known goes last, and so on with the rest."""
    left = _family(own, v)[:-1]
    if left.size < 2:
        return
    strides = _strides(rows.cards, left)
    counts = np.zeros((strides[-1], rows.cards[v]))
    for r in range(weights.size):
        if weights[r] > 0.0:
            place = 0
            for j in range(left.size):
                place += strides[j] * rows.columns[left[j], r]
            counts[place, rows.columns[v, r]] += weights[r]
    while left.size > 1:
        most, last = -np.inf, 0
        for j in range(left.size):
            known = _information(_without(counts, _strides(rows.cards, left)[j], rows.cards[left[j]]))
            if known > most:
                most, last = known, j
        own[left.size - 1] = left[last]
        counts = _without(counts, _strides(rows.cards, left)[last], rows.cards[left[last]])
        left = _but(left, last)
    own[0] = left[0]


@serial
def _information(counts: Array) -> float:
    """``sum n ln n`` of a variable (columns) with some parents (rows), less that of the parents."""
    total = 0.0
    for c in range(counts.shape[0]):
        given = 0.0
        for x in range(counts.shape[1]):
            total += _xlogx(counts[c, x])
            given += counts[c, x]
        total -= _xlogx(given)
    return total
