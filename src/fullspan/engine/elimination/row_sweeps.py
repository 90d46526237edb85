"""Rows with missing values under a decomposable graph, one factor per family: sums, expected counts, draws.

Every family {v} + S(v) has a log table g_v, and S(v) lies inside the family of its own last variable, the parent. Given
what a row says, messages go up, the last variable first, and beliefs come down:

    m_v(x_S) = log sum_{x_v} exp( g_v(x_v, x_S) + sum_{children u} m_u(x_S(u)) ),      log Z(row) = sum_{roots} m_v,
    b_v(x_v, x_S) = b(x_S) exp( g_v + sum_u m_u - m_v(x_S) ).

Only cells that agree with the row are visited, so a row costs little more than its missing cells.
All in the log domain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.model.algebra.jit import on_cores, serial

_CHUNKS = 8
"""Parts of the rows that are swept side by side, each with tables of its own; fixed, so that sums are."""


class Sweeps(NamedTuple):
    """The families of a graph as a sweep over a row reads them.

    Attributes
    ----------
    order : variables in the order of growing, parents first.
    cards : levels of every variable.
    family, bounds : members of family v are ``family[bounds[v] : bounds[v + 1]]``; ``strides`` are theirs in its table.
    starts : where the table of each family begins.
    messages : where the message of each family begins; ``inner`` are the strides of the members in it, 0 for v.
    children, child_bounds : families whose parent is v; ``routes`` leads from the parent's cell to the child's message.
    """

    order: Ints
    cards: Ints
    family: Ints
    bounds: Ints
    strides: Ints
    starts: Ints
    inner: Ints
    messages: Ints
    children: Ints
    child_bounds: Ints
    routes: Ints
    route_starts: Ints

    @classmethod
    def of(
        cls, cards: Sequence[int], order: Sequence[int], families: Sequence[Sequence[int]], strides: Sequence[Ints]
    ) -> Sweeps:
        """From the members and strides of every variable's family, which may stand in any order."""
        when, n = {v: t for t, v in enumerate(order)}, len(order)
        sizes = [math.prod(cards[i] for i in members) for members in families]
        inner, parent, lengths = [], [], []
        for v, members in enumerate(families):
            own, stride = [], 1
            for i in members:
                own.append(0 if i == v else stride)
                stride *= 1 if i == v else cards[i]
            inner.append(own)
            lengths.append(stride)
            # The member that was grown last: its family holds all the others, as in any decomposable graph.
            parent.append(max((i for i in members if i != v), key=when.__getitem__, default=-1))
        below: list[list[int]] = [[] for _ in range(n)]
        for u, v in enumerate(parent):
            if v >= 0:
                below[v].append(u)
        routes = [
            _way(cards, families[v], strides[v], sizes[v], dict(zip(families[u], inner[u], strict=True)))
            for v in range(n)
            for u in below[v]
        ]
        return cls(
            np.array(order, dtype=np.int64),
            np.array(cards, dtype=np.int64),
            _flat(families),
            _starts([len(members) for members in families]),
            np.concatenate([np.asarray(s, dtype=np.int64) for s in strides]),
            _starts(sizes),
            _flat(inner),
            _starts(lengths),
            _flat(below),
            _starts([len(some) for some in below]),
            np.concatenate([np.zeros(0, dtype=np.int64), *routes]),
            _starts([len(route) for route in routes]),
        )

    def log_z(self, rows: NDArray[np.int16], values: Array) -> Array:
        """``log sum exp`` of the factors over the completions of each row (m, n), -1 marking a missing cell."""
        log, _ = self.expected(rows, np.zeros(len(rows)), values)
        return log

    def expected(self, rows: NDArray[np.int16], weights: Array, values: Array) -> tuple[Array, Array]:
        """The same, and the expected counts of all families' cells, each row with its weight; 0 for no counts."""
        # A set of counts for each part of the rows, added up in order: the sums do not depend on the number of cores.
        log, counts = np.empty(len(rows)), np.zeros((_CHUNKS, len(values)))
        # Writable: a kernel is compiled again for a read-only array.
        on_cores(_expected, len(counts), self, rows, np.require(weights, requirements="W"), values, log, counts)
        return log, np.asarray(counts.sum(axis=0))

    def draw(self, rows: NDArray[np.int16], values: Array, rng: np.random.Generator) -> NDArray[np.int16]:
        """The rows with their missing cells drawn from their joint distribution given the observed ones."""
        out = np.ascontiguousarray(rows).copy()
        # Complete rows have nothing to draw, and need no random numbers.
        open_rows = np.flatnonzero((out < 0).any(axis=1))
        some = out[open_rows]
        on_cores(_draw, _CHUNKS, self, some, values, rng.random(some.shape))
        out[open_rows] = some
        return out


def _way(cards: Sequence[int], members: Sequence[int], strides: Ints, size: int, inner: dict[int, int]) -> Ints:
    """Of every cell of a family, the place in the message of a child whose members have these strides."""
    cells, out = np.arange(size), np.zeros(size, dtype=np.int64)
    for i, stride in zip(members, strides, strict=True):
        out += inner.get(i, 0) * (cells // int(stride) % cards[i])
    return out


def _starts(sizes: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).astype(np.int64)


def _flat(lists: Sequence[Sequence[int]]) -> Ints:
    return np.array([i for some in lists for i in some], dtype=np.int64)


@serial
def _cells(row: Any, v: int, tree: Any, cell: Any, to: Any) -> int:
    """Cells of a family that agree with a row, and their places in its message; how many there are."""
    cards, family, bounds, strides, inner = tree.cards, tree.family, tree.bounds, tree.strides, tree.inner
    count = 1
    cell[0], to[0] = 0, 0
    for j in range(bounds[v], bounds[v + 1]):
        x = row[family[j]]
        if x >= 0:
            for c in range(count):
                cell[c] += x * strides[j]
                to[c] += x * inner[j]
        else:
            card = cards[family[j]]
            for level in range(1, card):
                for c in range(count):
                    cell[level * count + c] = cell[c] + level * strides[j]
                    to[level * count + c] = to[c] + level * inner[j]
            count *= card
    return count


@serial
def _up(
    row: Any,
    tree: Any,
    values: Any,
    cell: Any,
    to: Any,
    joint: Any,
    top: Any,
    message: Any,
) -> float:
    """Fill ``joint`` (by table cell) and ``message`` with logarithms, where they agree with the row; log Z."""
    order, bounds, starts, messages = tree.order, tree.bounds, tree.starts, tree.messages
    children, child_bounds, routes, route_starts = tree.children, tree.child_bounds, tree.routes, tree.route_starts
    log_z = 0.0
    for t in range(len(order) - 1, -1, -1):
        v = order[t]
        count = _cells(row, v, tree, cell, to)
        for c in range(count):
            message[messages[v] + to[c]] = 0.0
            top[messages[v] + to[c]] = -np.inf
        for c in range(count):
            value = values[starts[v] + cell[c]]
            for j in range(child_bounds[v], child_bounds[v + 1]):
                value += message[messages[children[j]] + routes[route_starts[j] + cell[c]]]
            joint[starts[v] + cell[c]] = value
            top[messages[v] + to[c]] = max(top[messages[v] + to[c]], value)
        if count == 1:
            message[messages[v] + to[0]] = joint[starts[v] + cell[0]]
        else:
            for c in range(count):
                place = messages[v] + to[c]
                if top[place] > -np.inf:
                    message[place] += np.exp(joint[starts[v] + cell[c]] - top[place])
            for c in range(count):
                place = messages[v] + to[c]
                if row[v] >= 0 or cell[c] == _lowest(cell[c], v, tree):
                    message[place] = top[place] + np.log(message[place]) if top[place] > -np.inf else -np.inf
        if bounds[v + 1] - bounds[v] == 1:
            log_z += message[messages[v]]
    return log_z


@serial
def _lowest(cell: int, v: int, tree: Any) -> int:
    """The cell with the same parents and v at its first level: one for every place of the message."""
    cards, family, bounds, strides = tree.cards, tree.family, tree.bounds, tree.strides
    for j in range(bounds[v], bounds[v + 1]):
        if family[j] == v:
            return int(cell - (cell // strides[j] % cards[v]) * strides[j])
    return cell


@serial
def _expected(
    begin: int,
    end: int,
    tree: Any,
    rows: Any,
    weights: Any,
    values: Any,
    log: Any,
    counts: Any,
) -> None:
    order, bounds, starts, messages = tree.order, tree.bounds, tree.starts, tree.messages
    children, child_bounds, routes, route_starts = tree.children, tree.child_bounds, tree.routes, tree.route_starts
    n_chunks, m = counts.shape[0], rows.shape[0]
    for chunk in range(begin, end):
        most = 1
        for v in range(len(order)):
            most = max(most, starts[v + 1] - starts[v])
        cell, to = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
        joint, belief = np.zeros(starts[-1]), np.zeros(messages[-1])
        top, message = np.zeros(messages[-1]), np.zeros(messages[-1])
        for r in range(chunk * m // n_chunks, (chunk + 1) * m // n_chunks):
            row = rows[r]
            log[r] = _up(row, tree, values, cell, to, joint, top, message)
            if weights[r] == 0.0 or log[r] == -np.inf:
                continue
            for t in range(len(order)):
                v = order[t]
                count = _cells(row, v, tree, cell, to)
                is_root = bounds[v + 1] - bounds[v] == 1
                for j in range(child_bounds[v], child_bounds[v + 1]):
                    for c in range(count):
                        belief[messages[children[j]] + routes[route_starts[j] + cell[c]]] = 0.0
                for c in range(count):
                    place = messages[v] + to[c]
                    before = 1.0 if is_root else belief[place]
                    b = before * np.exp(joint[starts[v] + cell[c]] - message[place]) if before > 0.0 else 0.0
                    counts[chunk, starts[v] + cell[c]] += weights[r] * b
                    for j in range(child_bounds[v], child_bounds[v + 1]):
                        belief[messages[children[j]] + routes[route_starts[j] + cell[c]]] += b


@serial
def _draw(
    begin: int,
    end: int,
    tree: Any,
    rows: Any,
    values: Any,
    uniform: Any,
) -> None:
    order, cards, starts, messages = tree.order, tree.cards, tree.starts, tree.messages
    m = rows.shape[0]
    for chunk in range(begin, end):
        most = 1
        for v in range(len(order)):
            most = max(most, starts[v + 1] - starts[v])
        cell, to = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
        joint = np.zeros(starts[-1])
        top, message = np.zeros(messages[-1]), np.zeros(messages[-1])
        for r in range(chunk * m // _CHUNKS, (chunk + 1) * m // _CHUNKS):
            row = rows[r]
            _up(row, tree, values, cell, to, joint, top, message)
            for t in range(len(order)):
                v = order[t]
                if row[v] >= 0:
                    continue
                _cells(row, v, tree, cell, to)  # parents are known: one cell a level
                left, level = uniform[r, v], cards[v] - 1
                for x in range(cards[v]):
                    left -= np.exp(joint[starts[v] + cell[x]] - message[messages[v] + to[x]])
                    if left <= 0.0:
                        level = x
                        break
                row[v] = level
