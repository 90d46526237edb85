"""Growing a decomposable model of bounded width, one variable at a time.

A decomposable model is a product of conditionals whose parents always lie inside one clique of what came before:

    p(x) = prod_v p(x_v | x_S(v)),      S(v) a subset of {u} + S(u) for some earlier u,   |S(v)| <= width.

Its cliques are {v} + S(v), elimination in the reverse order meets no other table, and its likelihood is closed form:
joining v to S gains N I(x_v; x_S) nats over leaving it alone. So the search needs counts only, never a refit. From
each new clique C the counts of C with every other variable (module ``rows``) give the gain of every subset of C for
every variable that is still outside; the variable whose best choice shortens the description most is next. The price
of a choice is that of the margin's name, ln n and ln(|X| - 1) for every member of S, and one weight for each
conditional distribution that the data show and each level but one. A margin that is too dear as a whole is also joined
for the best single term in it (module ``singles``); what else is in it is weighed afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.learn.decomposable.rows import WideRows, count_cells, single_counts
from fullspan.learn.decomposable.singles import LARGEST, Singles
from fullspan.model.algebra.basis import BasisName
from fullspan.model.algebra.jit import serial


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
    names : nats for naming the parents, by their number, from 0 to ``width`` of them; None for ln n each.
    max_cells : most cells of a family's table.
    basis : of the single terms that are offered next to whole margins (module ``singles``); None for none.
    """

    width: int = 4
    weight: float = 1.0
    names: tuple[float, ...] | None = None
    max_cells: int = 1 << 12
    basis: BasisName | None = None

    def name(self, n: int, size: int) -> float:
        """Nats for naming ``size`` of ``n`` variables."""
        return size * math.log(max(n, 2)) if self.names is None else self.names[size]


@serial
def _collapse(table: Any, stride: int, card: int, out: Any) -> None:
    """Sum one digit of the rows' index out."""
    out[:] = 0.0
    for c in range(table.shape[0]):
        low = c % stride
        high = c // (stride * card)
        d = low + stride * high
        for f in range(table.shape[1]):
            out[d, f] += table[c, f]


@serial
def xlogx(x: float) -> float:
    """``x ln x``."""
    return x * np.log(x) if x > 1e-12 else 0.0


@serial
def _offers(
    table: Any,
    entropy: Any,
    features: Any,
    price_name: float,
    price_weight: float,
    max_cells: int,
    place: int,
    outside: Any,
    best: Any,
    chosen: Any,
) -> None:
    """Compare what joining each outside variable to this subset saves with its best so far."""
    n_cells, last = table.shape[0], table.shape[1] - 1
    shown, base = 0, 0.0
    for c in range(n_cells):
        if table[c, last] > 1e-9:
            shown += 1
            base += xlogx(table[c, last])
    for t in range(len(outside)):
        u = outside[t]
        lo, hi = features[u], features[u + 1]
        if n_cells * (hi - lo + 1) > max_cells:
            continue
        gain = entropy[u] - base - price_name - price_weight * (hi - lo) * (shown - 1)
        for c in range(n_cells):
            rest = table[c, last]
            if rest > 1e-9:
                for f in range(lo, hi):
                    gain += xlogx(table[c, f])
                    rest -= table[c, f]
                gain += xlogx(rest)
        if gain > best[u]:
            best[u] = gain
            chosen[u] = place


def grow(
    rows: WideRows, weights: Array, options: GrowOptions, tell: Callable[[Shape, float], None] | None = None
) -> tuple[Shape, float]:
    """A decomposable model of weighted rows, and what its description saves over independent variables, in nats.

    Time: one pass over the rows' unusual cells for each variable, and ``3^width n^2`` logarithms. ``tell`` hears the
    graph so far, the variables not yet reached standing alone, and the nats saved.
    """
    n = len(rows.cards)
    entropy = entropies(single_counts(rows, weights), rows.features)
    root = int(np.argmax(entropy))
    outside = np.array([u for u in range(n) if u != root], dtype=np.int64)
    best, chosen = np.zeros(n), np.full(n, -1, dtype=np.int64)
    places: list[tuple[int, ...]] = []
    order, saved, v = [root], 0.0, root
    parents: list[tuple[int, ...]] = [()] * n
    singles = None if options.basis is None else Singles.of(rows, weights, options.basis)
    while len(outside):
        clique = (*parents[v], v)
        _offer_subsets(rows, weights, clique, options, entropy, singles, outside, best, chosen, places)
        v = int(outside[np.argmax(best[outside])])
        parents[v] = places[chosen[v]] if chosen[v] >= 0 else ()
        saved += max(float(best[v]), 0.0)
        order.append(v)
        outside = outside[outside != v]
        if tell is not None:
            tell(Shape((*order, *map(int, outside)), tuple(parents)), saved)
    return Shape(tuple(order), tuple(parents)), saved


def entropies(counts: Array, features: Ints) -> Array:
    """Entropy of every variable times the number of rows, from the counts of its features."""
    whole = xlogx(float(counts[-1]))
    out = np.empty(len(features) - 1)
    for u in range(len(out)):
        own = counts[features[u] : features[u + 1]]
        out[u] = whole - sum(xlogx(float(x)) for x in own) - xlogx(float(counts[-1] - own.sum()))
    return out


def _offer_subsets(
    rows: WideRows,
    weights: Array,
    clique: tuple[int, ...],
    options: GrowOptions,
    entropy: Array,
    singles: Singles | None,
    outside: Ints,
    best: Array,
    chosen: Ints,
    places: list[tuple[int, ...]],
) -> None:
    """Offer every subset of a clique that holds its newest member, the last one, to all variables outside."""
    cards = rows.cards[list(clique)]
    strides = np.concatenate([[1], np.cumprod(cards)[:-1]]).astype(np.int64)
    table = np.zeros((int(np.prod(cards)), rows.n_features + 1))
    count_cells(rows.columns, np.array(clique), strides, weights, rows.starts, rows.cells, table)
    pending: list[tuple[tuple[int, ...], Array, int]] = [(clique, table, 0)]
    while pending:
        members, table, first = pending.pop()
        own = rows.cards[list(members)]
        if len(members) <= options.width:
            places.append(members)
            price = options.name(len(rows.cards), len(members)) + float(np.log(np.maximum(own - 1, 1)).sum())
            limits = price, options.weight, options.max_cells, len(places) - 1
            _offers(table, entropy, rows.features, *limits, outside, best, chosen)
            if singles is not None and 2 < 2 * len(table) <= LARGEST:
                single = singles.offers(members, table, float(weights.sum())) - price - options.weight
                better = outside[single[outside] > best[outside]]
                best[better], chosen[better] = single[better], len(places) - 1
        for j in range(first, len(members) - 1):  # each subset once: members go from left to right
            stride = int(np.prod(own[:j]))
            out = np.empty((len(table) // int(own[j]), table.shape[1]))
            _collapse(table, stride, int(own[j]), out)
            pending.append(((*members[:j], *members[j + 1 :]), out, j))
