"""The compiled twin of the em of module ``mixture``, for complete rows of few variables and no rows held out.

An ensemble learns hundreds of small mixtures, for which the calls of an iteration would take longer than its sums. So
all iterations are one compiled loop. Growing, counting and smoothing are the kernels of the original.
"""

from __future__ import annotations

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.learn.decomposable.grow import Shape, grow_graph
from fullspan.learn.decomposable.mixture import GROW_AT, LEAST_SHARE, MixedConditionals
from fullspan.learn.decomposable.rows import Listed, WideRows
from fullspan.learn.decomposable.tables import Conditionals, Families, count_families, places, smooth_all
from fullspan.model.algebra.jit import serial

_WARM_ITERATIONS = 6
"""Iterations of independent components at the start."""
_ITERATIONS = 40
"""Most iterations, the first ones included."""
_SETTLED_NATS = 2e-4
"""Nats per row that an iteration must win, once the graphs stay, for another to follow."""
_MOST_CELLS = 1 << 10
"""Most cells of the table of a variable and its parents; a variable alone has its table, whatever its levels."""


def learn_mixture(
    rows: WideRows,
    share: Array,
    width: int,
    smoothing: float,
    price: float,
    most: int = _ITERATIONS,
    warm: int = _WARM_ITERATIONS,
) -> MixedConditionals:
    """A mixture of decomposable models of weighted rows.

    Parameters
    ----------
    share : of each component in every row (k, m), where em starts; overwritten.
    width : most parents of a variable.
    smoothing : pseudo-rows of every table, spread as without the least telling parent.
    price : nats for each weight that a graph has.
    most, warm : iterations, and those of independent components at the start.
    """
    components, n = len(share), len(rows.cards)
    order, parents = np.empty((components, n), dtype=np.int64), np.full((components, n, width), -1, dtype=np.int64)
    cells = int(np.maximum(rows.cards, _MOST_CELLS).sum())
    tables, log_shares = np.empty((components, cells)), np.empty(components)
    members, strides = np.zeros((2, components, n * (width + 1)), dtype=np.int64)
    bounds, starts = np.zeros((2, components, n + 1), dtype=np.int64)
    weights = np.require(rows.weights, requirements="W")  # a kernel is compiled again for a read-only array
    layout = Families(members, bounds, strides, starts)
    # Counted from the end of the warm iterations, as in the original.
    grow_at = warm + np.array(GROW_AT)
    _em(rows.listed, weights, share, smoothing, price, most, grow_at, order, parents, layout, tables, log_shares)
    found = []
    for h in range(components):
        used, cells = bounds[h, n], starts[h, n]
        families = Families(members[h, :used], bounds[h], strides[h, :used], starts[h])
        found.append(Conditionals(Shape.of_arrays(order[h], parents[h]), families, tables[h, :cells].copy()))
    return MixedConditionals(tuple(found), log_shares)


@serial
def _lay_out(parents: Ints, cards: Ints, families: Families) -> None:
    """The families of a graph one after the other, as module ``tables`` has them."""
    members, bounds, strides, starts = families
    bounds[0] = starts[0] = place = 0
    for v in range(cards.size):
        members[place], strides[place], size = v, 1, cards[v]
        place += 1
        for u in parents[v]:
            if u >= 0:
                members[place], strides[place] = u, size
                size *= cards[u]
                place += 1
        bounds[v + 1], starts[v + 1] = place, starts[v] + size


@serial
def _em(
    rows: Listed,
    weights: Array,
    share: Array,
    smoothing: float,
    price: float,
    most: int,
    grow_at: Ints,
    order: Ints,
    parents: Ints,
    layout: Families,
    tables: Array,
    log_shares: Array,
) -> None:
    """Run em from the shares (k, m) of the rows; the model is what the last iteration learned."""
    n, (k, m), total, before = rows.cards.size, share.shape, weights.sum(), -np.inf
    where, own, grown = np.empty(m, np.int32), np.empty(m), 0
    for h in range(k):
        order[h] = np.arange(n)
    for i in range(most):
        grows = grown < grow_at.size and i == grow_at[grown]
        grown += grows
        for h in range(k):
            families = Families(layout.members[h], layout.bounds[h], layout.strides[h], layout.starts[h])
            for r in range(m):
                own[r] = share[h, r] * weights[r] if share[h, r] > LEAST_SHARE else 0.0
            log_shares[h] = np.log((weights @ share[h] + 1.0) / (total + k))
            if grows:
                grow_graph(rows, own, price, _MOST_CELLS, order[h], parents[h])
            _lay_out(parents[h], rows.cards, families)
            filled = tables[h, : families.starts[n]]
            filled[:] = 0.0
            count_families(rows.columns, own, families, filled)
            smooth_all(rows.cards, families, smoothing, filled)
            log_prob = share[h]
            log_prob[:] = log_shares[h]
            for v in range(n):
                places(rows.columns, families, v, families.starts[v], where)
                for r in range(m):
                    log_prob[r] += filled[where[r]]
        value = 0.0
        for r in range(m):
            top, mass = share[:, r].max(), 0.0
            for h in range(k):
                share[h, r] = np.exp(share[h, r] - top)
                mass += share[h, r]
            for h in range(k):
                share[h, r] /= mass
            value += weights[r] * (top + np.log(mass))
        # A new graph may cost likelihood at first, so nothing is judged before the last one.
        if i > grow_at[-1] and value < before + _SETTLED_NATS * total:
            return
        before = value
