"""Em for a mixture of decomposable models of complete rows, one compiled loop from a random start.

    p(x) = sum_h pi_h prod_v p_h(x_v | x_S_h(v)),      w_h(x) = n(x) p(h | x)

An iteration weighs every row by ``p(h | x)`` and fills every component's tables from the rows so weighed, smoothed; the
graphs are grown again after some iterations. It is module ``mixture`` without rows held out, for tables of few
variables, of which the same is learned again and again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.learn.decomposable.compiled_growth import grow_graph
from fullspan.learn.decomposable.grow import Shape
from fullspan.learn.decomposable.mixture import MixedConditionals
from fullspan.learn.decomposable.tables import Conditionals, smooth_all
from fullspan.model.algebra.jit import serial
from fullspan.model.algebra.tally import tally

_WARM = 6
"""Iterations of independent components at the start."""
_GROW_AT = np.array([_WARM, _WARM + 3, _WARM + 7, _WARM + 12, _WARM + 20])
_ITERATIONS = 40
"""Most iterations, the first ones included."""
_SETTLED = 2e-4
"""Nats per row that an iteration must win, once the graphs stay, for another to follow."""
_LEAST = 1e-3
"""Share of a row below which it does not count for a component."""
_CELLS = 1 << 10
"""Most cells of the table of a variable and its parents; a variable alone has its table, whatever its levels."""


def learn_mixture(
    columns: NDArray[Any],
    weights: Array,
    cards: Ints,
    components: int,
    width: int,
    smoothing: float,
    price: float,
    rng: np.random.Generator,
) -> MixedConditionals:
    """A mixture of decomposable models, from rows by columns (n, m) with weights (m,).

    Parameters
    ----------
    width : most parents of a variable.
    smoothing : pseudo-rows of every table, spread as without the least telling parent.
    price : nats for each weight that a graph has.
    """
    n, weights = len(cards), np.require(weights, requirements="W")  # a kernel is compiled again for a read-only array
    share = np.ascontiguousarray(rng.dirichlet(np.full(components, 0.3), size=len(weights)).T)
    order, parents = np.empty((components, n), dtype=np.int64), np.full((components, n, width), -1, dtype=np.int64)
    tables, log_shares = np.empty((components, int(np.maximum(cards, _CELLS).sum()))), np.empty(components)
    family, strides = np.zeros((2, components, n * (width + 1)), dtype=np.int64)
    bounds, starts = np.zeros((2, components, n + 1), dtype=np.int64)
    layout = (family, bounds, strides, starts)
    _em(columns, weights, cards, share, smoothing, price, order, parents, layout, tables, log_shares)
    found = []
    for h in range(components):
        used, cells = bounds[h, n], starts[h, n]
        shape = Shape(tuple(order[h].tolist()), tuple(tuple(i for i in own if i >= 0) for own in parents[h].tolist()))
        found.append(
            Conditionals(shape, family[h, :used], bounds[h], strides[h, :used], tables[h, :cells].copy(), starts[h])
        )
    return MixedConditionals(tuple(found), log_shares)


@serial
def _lay_out(parents: Ints, cards: Ints, family: Ints, bounds: Ints, strides: Ints, starts: Ints) -> None:
    """The families of a graph one after the other, as module ``tables`` reads them."""
    bounds[0] = starts[0] = place = 0
    for v in range(cards.size):
        family[place], strides[place], size = v, 1, cards[v]
        place += 1
        for u in parents[v]:
            if u >= 0:
                family[place], strides[place] = u, size
                size *= cards[u]
                place += 1
        bounds[v + 1], starts[v + 1] = place, starts[v] + size


@serial
def _place(columns: Any, family: Ints, strides: Ints, first: int, last: int, start: int, where: Any) -> None:
    """The cell of a family's table that every row is in."""
    where[:] = start
    for j in range(first, last):
        column, stride = columns[family[j]], np.int32(strides[j])
        for r in range(where.size):
            where[r] += stride * column[r]


@serial
def _count(
    columns: Any, weights: Array, family: Ints, bounds: Ints, strides: Ints, starts: Ints, tables: Array, where: Any
) -> None:
    """Add the weights of the rows to the cells of all families."""
    for v in range(bounds.size - 1):
        _place(columns, family, strides, bounds[v], bounds[v + 1], 0, where)
        tally(where, weights, tables[starts[v] : starts[v + 1]])


@serial
def _log_prob(
    columns: Any, family: Ints, bounds: Ints, strides: Ints, starts: Ints, tables: Array, where: Any, out: Array
) -> None:
    """``log p`` of every row is added to ``out``."""
    for v in range(bounds.size - 1):
        _place(columns, family, strides, bounds[v], bounds[v + 1], starts[v], where)
        for r in range(where.size):
            out[r] += tables[where[r]]


@serial
def _em(
    columns: Any,
    weights: Array,
    cards: Ints,
    share: Array,
    smoothing: float,
    price: float,
    order: Ints,
    parents: Ints,
    layout: tuple[Ints, Ints, Ints, Ints],
    tables: Array,
    log_shares: Array,
) -> None:
    """Run em from the shares (k, m) of the rows; the model is what the last iteration learned."""
    n, (k, m), total, before = cards.size, share.shape, weights.sum(), -np.inf
    width, where = parents.shape[2], np.empty(m, np.int32)
    family, bounds, strides, starts = layout
    for h in range(k):
        order[h] = np.arange(n)
        _lay_out(parents[h], cards, family[h], bounds[h], strides[h], starts[h])
    for i in range(_ITERATIONS):
        for h in range(k):
            log_shares[h] = np.log((weights @ share[h] + 1.0) / (total + k))
            kept = np.flatnonzero(share[h] * weights > _LEAST * weights)
            own, its_columns = (share[h] * weights)[kept], columns[:, kept]
            if np.any(i == _GROW_AT):
                grow_graph(its_columns, own, cards, width, price, _CELLS, order[h], parents[h])
                _lay_out(parents[h], cards, family[h], bounds[h], strides[h], starts[h])
            filled = tables[h, : starts[h, n]]
            filled[:] = 0.0
            _count(its_columns, own, family[h], bounds[h], strides[h], starts[h], filled, where[: kept.size])
            smooth_all(cards, family[h], bounds[h], starts[h], smoothing, filled)
            share[h] = log_shares[h]
            _log_prob(columns, family[h], bounds[h], strides[h], starts[h], filled, where, share[h])
        value = 0.0
        for r in range(m):
            top, mass = share[:, r].max(), 0.0
            for h in range(k):
                share[h, r] = np.exp(share[h, r] - top)
                mass += share[h, r]
            for h in range(k):
                share[h, r] /= mass
            value += weights[r] * (top + np.log(mass))
        if i > _GROW_AT[-1] and value < before + _SETTLED * total:
            return
        before = value
