"""The conditional tables of a decomposable model, each level of detail smoothed by the one before.

With the parents of v in the order t_1, t_2, ... of their information about it,

    p_j(x | t_1 .. t_j) = (n(x, t_1 .. t_j) + s p_{j-1}(x | t_1 .. t_{j-1})) / (n(t_1 .. t_j) + s),

p_0 being the shares of the levels, smoothed by s rows of equal shares. Where the rows are many, the table is the
maximum of the likelihood; where they are few, it says what is known without the last parent; nothing is impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.learn.decomposable.grow import Shape
from fullspan.learn.decomposable.rows import WideRows
from fullspan.model.algebra.jit import parallel, prange, serial


@dataclass(frozen=True, eq=False)
class Conditionals:
    """A decomposable model as arrays.

    Attributes
    ----------
    shape : its graph.
    family, bounds : variable v and its parents are ``family[bounds[v] : bounds[v + 1]]``, v first.
    strides : of each of them in v's table.
    tables, starts : log p(x_v | parents) of v are ``tables[starts[v] : starts[v + 1]]``, x_v fastest.
    """

    shape: Shape
    family: Ints
    bounds: Ints
    strides: Ints
    tables: Array
    starts: Ints

    def log_prob(self, columns: NDArray[np.integer[Any]]) -> Array:
        """Log-probabilities (m,) of rows by columns (n, m)."""
        out = np.empty(columns.shape[1])
        _log_prob(columns, self.family, self.bounds, self.strides, self.tables, self.starts, out)
        return out


@parallel
def _log_prob(columns: Any, family: Any, bounds: Any, strides: Any, tables: Any, starts: Any, out: Any) -> None:
    size = 256
    n_blocks = (len(out) + size - 1) // size
    for b in prange(n_blocks):
        lo, hi = b * size, min((b + 1) * size, len(out))
        for r in range(lo, hi):
            out[r] = 0.0
        for v in range(len(bounds) - 1):
            for r in range(lo, hi):
                place = starts[v]
                for j in range(bounds[v], bounds[v + 1]):
                    place += strides[j] * columns[family[j], r]
                out[r] += tables[place]


@serial
def _count(columns: Any, family: Any, strides: Any, weights: Any, out: Any) -> None:
    for r in range(len(weights)):
        if weights[r] > 0.0:
            place = 0
            for j in range(len(family)):
                place += strides[j] * columns[family[j], r]
            out[place] += weights[r]


def family_counts(rows: WideRows, weights: Array, family: tuple[int, ...]) -> Array:
    """Counts of a variable and its parents, one axis each."""
    cards = rows.cards[list(family)]
    strides = np.concatenate([[1], np.cumprod(cards)[:-1]]).astype(np.int64)
    out = np.zeros(int(np.prod(cards)))
    _count(rows.columns, np.array(family), strides, weights, out)
    return out.reshape(cards, order="F")


def conditionals(rows: WideRows, weights: Array, shape: Shape, smoothing: float) -> Conditionals:
    """The model of a graph with smoothed tables, from weighted rows; parents are sorted by their information."""
    families = []
    for v in range(len(rows.cards)):
        by_telling: tuple[int, ...] = (1,)
        if len(shape.parents[v]) > 1:
            by_telling = telling_order(family_counts(rows, weights, (v, *shape.parents[v])))
        families.append((v, *(shape.parents[v][j - 1] for j in by_telling[: len(shape.parents[v])])))
    return refilled(rows, weights, blank(rows.cards, shape.order, families), smoothing)


def blank(cards: Ints, order: tuple[int, ...], families: Sequence[tuple[int, ...]]) -> Conditionals:
    """A model whose tables are to be filled in."""
    shape = Shape(order, tuple(family[1:] for family in families))
    bounds = np.concatenate([[0], np.cumsum([len(f) for f in families])])
    sizes = [np.concatenate([[1], np.cumprod(cards[list(f)])]) for f in families]
    strides = np.concatenate([size[:-1] for size in sizes]).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum([size[-1] for size in sizes])]).astype(np.int64)
    family = np.array([i for f in families for i in f], dtype=np.int64)
    return Conditionals(shape, family, bounds.astype(np.int64), strides, np.zeros(int(starts[-1])), starts)


def refilled(rows: WideRows, weights: Array, model: Conditionals, smoothing: float) -> Conditionals:
    """The same graph with tables from other weights of the rows."""
    tables = np.zeros(len(model.tables))
    _count_all(rows.columns, weights, model.family, model.bounds, model.strides, model.starts, tables)
    return smoothed(rows.cards, model, tables, smoothing)


def smoothed(cards: Ints, model: Conditionals, counts: Array, smoothing: float) -> Conditionals:
    """The same graph with the tables of these counts of its families, which are overwritten."""
    smooth_all(cards, model.family, model.bounds, model.starts, smoothing, counts)
    return replace(model, tables=counts)


@serial
def _count_all(columns: Any, weights: Any, family: Any, bounds: Any, strides: Any, starts: Any, out: Any) -> None:
    """Counts of all families; rows of weight 0 are left out."""
    rows = np.flatnonzero(weights > 0.0)
    for v in range(len(bounds) - 1):
        for t in range(len(rows)):
            r = rows[t]
            place = starts[v]
            for j in range(bounds[v], bounds[v + 1]):
                place += strides[j] * columns[family[j], r]
            out[place] += weights[r]


@serial
def smooth_all(cards: Any, family: Any, bounds: Any, starts: Any, s: float, tables: Any) -> None:
    """Turn counts into logarithms of smoothed conditionals, in place."""
    for v in range(len(bounds) - 1):
        counts = tables[starts[v] : starts[v + 1]]
        card = cards[v]
        before = np.full(card, 1.0 / card)
        size = card
        for j in range(bounds[v], bounds[v + 1]):
            if j > bounds[v]:
                size *= cards[family[j]]
            part = np.zeros(size)
            for i in range(len(counts)):
                part[i % size] += counts[i]
            for c in range(0, size, card):
                total = s
                for x in range(card):
                    total += part[c + x]
                for x in range(card):
                    prior = before[(c + x) % len(before)]
                    part[c + x] = (part[c + x] + s * prior) / total if total > 0.0 else prior
            before = part
        for i in range(len(counts)):
            counts[i] = np.log(max(before[i], 1e-300))


def telling_order(counts: Array) -> tuple[int, ...]:
    """Axes of the parents, the one without which least is known first; the least telling last."""
    left, last = list(range(1, counts.ndim)), []
    while len(left) > 1:
        kept = [_information(counts, [a for a in left if a != axis]) for axis in left]
        last.append(left.pop(int(np.argmax(kept))))
    return (*left, *reversed(last))


def _information(counts: Array, axes: list[int]) -> float:
    """``sum n ln n`` of the variable with some parents, less that of the parents: larger is more informative."""
    others = tuple(a for a in range(1, counts.ndim) if a not in axes)
    both = counts.sum(axis=others)
    return _sum_xlogx(both) - _sum_xlogx(both.sum(axis=0))


def _sum_xlogx(counts: Array) -> float:
    return float(np.sum(counts * np.log(np.maximum(counts, 1e-300))))
