"""The conditional tables of a decomposable model, each level of detail smoothed by the one before.

With the parents of v in the order t_1, t_2, ... of their information about it,

    p_j(x | t_1 .. t_j) = (n(x, t_1 .. t_j) + s p_{j-1}(x | t_1 .. t_{j-1})) / (n(t_1 .. t_j) + s),

p_0 being the shares of the levels, smoothed by s rows of equal shares. Where the rows are many, the table is the
maximum of the likelihood; where they are few, it says what is known without the last parent; nothing is impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.learn.decomposable.grow import Shape
from fullspan.learn.decomposable.rows import WideRows
from fullspan.model.algebra.jit import on_cores, serial
from fullspan.model.algebra.tally import tally

_BLOCK_ROWS = 256
"""Rows whose log-probabilities are added up together."""


class Families(NamedTuple):
    """Every variable with its parents, as kernels read them.

    Attributes
    ----------
    members, bounds : variable v and its parents are ``members[bounds[v] : bounds[v + 1]]``, v first.
    strides : of each of them in v's table.
    starts : v's table is ``tables[starts[v] : starts[v + 1]]``, x_v fastest.
    """

    members: Ints
    bounds: Ints
    strides: Ints
    starts: Ints


@dataclass(frozen=True, eq=False)
class Conditionals:
    """A decomposable model: its graph, the families of it, and log p(x_v | parents) of all of them, flat."""

    shape: Shape
    families: Families
    tables: Array

    def log_prob(self, columns: NDArray[np.integer[Any]]) -> Array:
        """Log-probabilities (m,) of rows by columns (n, m)."""
        out = np.empty(columns.shape[1])
        on_cores(_log_prob, -(-len(out) // _BLOCK_ROWS), columns, self.families, self.tables, out)
        return out

    def family(self, v: int) -> tuple[list[int], Array]:
        """A variable with its parents, and its table."""
        members, bounds, _, starts = self.families
        return members[bounds[v] : bounds[v + 1]].tolist(), self.tables[starts[v] : starts[v + 1]]


@serial
def _log_prob(begin: int, end: int, columns: Any, families: Families, tables: Any, out: Any) -> None:
    members, bounds, strides, starts = families
    for b in range(begin, end):
        lo, hi = b * _BLOCK_ROWS, min((b + 1) * _BLOCK_ROWS, len(out))
        for r in range(lo, hi):
            out[r] = 0.0
        for v in range(len(bounds) - 1):
            for r in range(lo, hi):
                place = starts[v]
                for j in range(bounds[v], bounds[v + 1]):
                    place += strides[j] * columns[members[j], r]
                out[r] += tables[place]


def conditionals(rows: WideRows, weights: Array, shape: Shape, smoothing: float) -> Conditionals:
    """The model of a graph with smoothed tables, from weighted rows."""
    families = [(v, *shape.parents[v]) for v in range(len(rows.cards))]
    return refilled(rows, weights, blank(rows.cards, shape.order, families), smoothing)


def blank(cards: Ints, order: tuple[int, ...], families: Sequence[tuple[int, ...]]) -> Conditionals:
    """A model whose tables are to be filled in."""
    shape = Shape(order, tuple(family[1:] for family in families))
    bounds = np.concatenate([[0], np.cumsum([len(f) for f in families])])
    sizes = [np.concatenate([[1], np.cumprod(cards[list(f)])]) for f in families]
    strides = np.concatenate([size[:-1] for size in sizes]).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum([size[-1] for size in sizes])]).astype(np.int64)
    members = np.array([i for f in families for i in f], dtype=np.int64)
    return Conditionals(shape, Families(members, bounds.astype(np.int64), strides, starts), np.zeros(int(starts[-1])))


def refilled(rows: WideRows, weights: Array, model: Conditionals, smoothing: float) -> Conditionals:
    """The same graph with tables from other weights of the rows."""
    tables = np.zeros(len(model.tables))
    count_families(rows.columns, weights, model.families, tables)
    return smoothed(rows.cards, model, tables, smoothing)


def smoothed(cards: Ints, model: Conditionals, counts: Array, smoothing: float) -> Conditionals:
    """The same graph with the tables of these counts of its families, which are overwritten."""
    smooth_all(cards, model.families, smoothing, counts)
    return replace(model, tables=counts)


@serial
def places(columns: Any, families: Families, v: int, start: int, where: Any) -> None:
    """The cell of v's table that every row is in, counted from ``start``."""
    where[:] = start
    for j in range(families.bounds[v], families.bounds[v + 1]):
        column, stride = columns[families.members[j]], np.int32(families.strides[j])
        for r in range(where.size):
            where[r] += stride * column[r]


@serial
def count_families(columns: Any, weights: Any, families: Families, out: Any) -> None:
    """Add the rows' weights to the cells of all families; rows of weight 0 are left out."""
    kept = np.flatnonzero(weights > 0.0)
    # Of a mixture's component most rows weigh nothing: what is left is copied once and read for every family.
    own, theirs, where = weights[kept], columns[:, kept], np.empty(kept.size, np.int32)
    for v in range(families.bounds.size - 1):
        places(theirs, families, v, 0, where)
        tally(where, own, out[families.starts[v] : families.starts[v + 1]])


@serial
def smooth_all(cards: Any, families: Families, s: float, tables: Any) -> None:
    """Turn counts into logarithms of smoothed conditionals, in place."""
    members, bounds, _, starts = families
    for v in range(len(bounds) - 1):
        counts = tables[starts[v] : starts[v + 1]]
        card = cards[v]
        before = np.full(card, 1.0 / card)
        size = card
        for j in range(bounds[v], bounds[v + 1]):
            if j > bounds[v]:
                size *= cards[members[j]]
            part = np.zeros(size)
            for i in range(len(counts)):
                part[i % size] += counts[i]
            for c in range(0, size, card):
                total = s
                for x in range(card):
                    total += part[c + x]
                for x in range(card):
                    # The table before is over the first parents, which are the fastest digits: it repeats along the new
                    # one.
                    prior = before[(c + x) % len(before)]
                    part[c + x] = (part[c + x] + s * prior) / total if total > 0.0 else prior
            before = part
        for i in range(len(counts)):
            # Without smoothing a cell may be empty; its logarithm must stay a number, since messages subtract.
            counts[i] = np.log(max(before[i], 1e-300))
