"""Symmetric matrices over the terms of a chordal graph: sums of one block for each family, factored without fill.

A block couples the terms inside one family {v} + S(v). Every term belongs to the last of its variables, in the order of
growing: the R terms of v contain it, the Q terms lie inside S(v), and S(v) lies inside the family of its own last
variable. So factoring variable by variable, the last one first, meets blocks of that size and no others:

    L_RR L_RR' = J_RR,    L_QR = J_QR L_RR^-T,    J_QQ - L_QR L_QR'  goes to the parent.

The same path back gives those entries of the inverse that lie inside the families:

    W = L_QR L_RR^-1,    C_QR = - C_QQ W,    C_RR = (L_RR L_RR')^-1 + W' C_QQ W.

Time: the sum of (terms of a family)^3, a few milliseconds for a thousand terms.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.model.algebra.jit import serial

_LARGE = 48
"""Terms of a family from which on LAPACK is faster than loops."""


@dataclass(frozen=True, eq=False)
class Fronts:
    """Where the terms of the families are.

    Attributes
    ----------
    order : variables in the order of growing.
    members, starts : terms of family v, R before Q: ``members[starts[v] : starts[v + 1]]``.
    own : number of R terms of each variable.
    parent : the last variable of S(v), -1 for none; ``places`` are the Q terms among the parent's members.
    blocks : where the block of each family begins in a flat array.
    """

    order: Ints
    members: Ints
    starts: Ints
    own: Ints
    parent: Ints
    places: Ints
    blocks: Ints

    @classmethod
    def of(
        cls, order: tuple[int, ...], parents: tuple[tuple[int, ...], ...], members: list[tuple[Ints, Ints]]
    ) -> Fronts:
        """From the R and Q terms of every variable."""
        when = {v: t for t, v in enumerate(order)}
        parent = np.array([max(s, key=when.__getitem__) if s else -1 for s in parents], dtype=np.int64)
        flat = [np.concatenate(pair) for pair in members]
        sizes = np.array([len(terms) for terms in flat], dtype=np.int64)
        places = []
        for v, (own, rest) in enumerate(members):
            where = {int(y): t for t, y in enumerate(flat[parent[v]])} if len(rest) else {}
            places.append([-1] * len(own) + [where[int(y)] for y in rest])
        return cls(
            np.array(order, dtype=np.int64),
            np.concatenate(flat).astype(np.int64),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.array([len(own) for own, _ in members], dtype=np.int64),
            parent,
            np.array([place for some in places for place in some], dtype=np.int64),
            np.concatenate([[0], np.cumsum(sizes**2)]).astype(np.int64),
        )

    def times(self, matrix: Array, x: Array) -> Array:
        """A matrix, given by the sum of its blocks, times a vector."""
        out = np.zeros(len(x))
        _times(self.members, self.starts, self.blocks, matrix, x, out)
        return out

    def dense(self, matrix: Array, k: int) -> Array:
        """The matrix itself (k, k), for tests."""
        return np.stack([self.times(matrix, row) for row in np.eye(k)], axis=1)


class Solver:
    """``(G + D)^-1`` of a matrix G given by blocks and a diagonal D >= 0.

    Near-singular blocks get the least ridge, relative to the diagonal, that makes them definite.

    Raises
    ------
    LinAlgError : G is not finite.
    """

    def __init__(self, fronts: Fronts, matrix: Array, variance: Array) -> None:
        if not np.isfinite(matrix).all():
            raise np.linalg.LinAlgError("the inverse information is not finite")
        self.fronts, self.matrix, self.variance = fronts, matrix, variance
        f, ridge = fronts, 1e-10
        scale = np.maximum(variance + _diagonal(fronts, matrix, len(variance)), 1e-300)
        while True:
            self.factor = matrix.copy()
            diagonal = variance + ridge * scale
            with contextlib.suppress(np.linalg.LinAlgError):
                if _factor(f.order, f.members, f.starts, f.own, f.parent, f.places, f.blocks, diagonal, self.factor):
                    break
            ridge *= 10

    def solve(self, b: Array) -> Array:
        """``(G + D)^-1 b``."""
        f, x = self.fronts, np.array(b, dtype=np.float64)
        _solve(f.order, f.members, f.starts, f.own, f.blocks, self.factor, x)
        return x

    def posterior_variances(self) -> Array:
        """Diagonal of ``(F + D^-1)^-1 = D (G + D)^-1 G``, F the inverse of G; 0 for terms of variance 0."""
        f, inverse = self.fronts, np.zeros(len(self.factor))
        _inverse(f.order, f.starts, f.own, f.parent, f.places, f.blocks, self.factor, inverse)
        out = np.zeros(len(self.variance))
        _traces(f.members, f.starts, f.blocks, inverse, self.matrix, out)
        return np.maximum(self.variance * out, 0.0)


def _diagonal(fronts: Fronts, matrix: Array, k: int) -> Array:
    out = np.zeros(k)
    sizes = np.diff(fronts.starts)
    place = np.concatenate([b + np.arange(m) * (m + 1) for b, m in zip(fronts.blocks, sizes, strict=False)])
    np.add.at(out, fronts.members, matrix[place.astype(np.int64)])
    return out


@serial
def _times(members: Any, starts: Any, blocks: Any, matrix: Any, x: Any, out: Any) -> None:
    for v in range(len(starts) - 1):
        lo, m = starts[v], starts[v + 1] - starts[v]
        for a in range(m):
            row = blocks[v] + a * m
            total = 0.0
            for b in range(m):
                total += matrix[row + b] * x[members[lo + b]]
            out[members[lo + a]] += total


@serial
def _factor(
    order: Any, members: Any, starts: Any, own: Any, parent: Any, places: Any, blocks: Any, diagonal: Any, out: Any
) -> bool:
    """Factor in place, the last variable first; False if a pivot is not positive."""
    for t in range(len(order) - 1, -1, -1):
        v = order[t]
        lo, m, r = starts[v], starts[v + 1] - starts[v], own[v]
        front = out[blocks[v] : blocks[v + 1]].reshape(m, m)
        for j in range(r):
            front[j, j] += diagonal[members[lo + j]]
        if m > _LARGE:
            _factor_large(front, r)
            if r < m:
                _to_parent(front, out, r, lo, v, starts, parent, places, blocks)
            continue
        for j in range(r):
            for i in range(j, m):
                total = front[i, j]
                for c in range(j):
                    total -= front[i, c] * front[j, c]
                if i == j:
                    if not total > 0.0:
                        return False
                    front[j, j] = np.sqrt(total)
                else:
                    front[i, j] = total / front[j, j]
        for i in range(r, m):
            for j in range(r, i + 1):
                for c in range(r):
                    front[i, j] -= front[i, c] * front[j, c]
                front[j, i] = front[i, j]
        if r < m:
            _to_parent(front, out, r, lo, v, starts, parent, places, blocks)
    return True


@serial
def _factor_large(front: Any, r: int) -> None:
    """The same of one front by LAPACK, which pays for the large ones."""
    lower = np.linalg.cholesky(np.ascontiguousarray(front[:r, :r]))
    front[:r, :r] = lower
    if r < len(front):
        right = np.linalg.solve(lower, np.ascontiguousarray(front[:r, r:]))
        front[r:, :r] = right.T
        front[r:, r:] -= right.T @ right


@serial
def _to_parent(
    front: Any, out: Any, r: int, lo: int, v: int, starts: Any, parent: Any, places: Any, blocks: Any
) -> None:
    """Add what is left of a front to that of its parent."""
    u = parent[v]
    width = starts[u + 1] - starts[u]
    above = out[blocks[u] : blocks[u + 1]].reshape(width, width)
    for i in range(r, len(front)):
        for j in range(r, len(front)):
            above[places[lo + i], places[lo + j]] += front[i, j]


@serial
def _solve(order: Any, members: Any, starts: Any, own: Any, blocks: Any, factor: Any, x: Any) -> None:
    for t in range(len(order) - 1, -1, -1):
        v = order[t]
        lo, m, r = starts[v], starts[v + 1] - starts[v], own[v]
        front = factor[blocks[v] : blocks[v + 1]].reshape(m, m)
        for j in range(r):
            x[members[lo + j]] /= front[j, j]
            value = x[members[lo + j]]
            for i in range(j + 1, m):
                x[members[lo + i]] -= front[i, j] * value
    for t in range(len(order)):
        v = order[t]
        lo, m, r = starts[v], starts[v + 1] - starts[v], own[v]
        front = factor[blocks[v] : blocks[v + 1]].reshape(m, m)
        for j in range(r - 1, -1, -1):
            total = x[members[lo + j]]
            for i in range(j + 1, m):
                total -= front[i, j] * x[members[lo + i]]
            x[members[lo + j]] = total / front[j, j]


@serial
def _inverse(order: Any, starts: Any, own: Any, parent: Any, places: Any, blocks: Any, factor: Any, out: Any) -> None:
    """Entries of the inverse inside every family, the first variable first; row by row from the last R term up."""
    for t in range(len(order)):
        v = order[t]
        lo, m, r = starts[v], starts[v + 1] - starts[v], own[v]
        front = factor[blocks[v] : blocks[v + 1]].reshape(m, m)
        here = out[blocks[v] : blocks[v + 1]].reshape(m, m)
        if r < m:
            u = parent[v]
            width = starts[u + 1] - starts[u]
            above = out[blocks[u] : blocks[u + 1]].reshape(width, width)
            for i in range(r, m):
                for j in range(r, m):
                    here[i, j] = above[places[lo + i], places[lo + j]]
        if m > _LARGE:
            lower = np.linalg.inv(np.ascontiguousarray(front[:r, :r]))
            here[:r, :r] = lower.T @ lower
            if r < m:
                w = np.ascontiguousarray(front[r:, :r]) @ lower
                below = np.ascontiguousarray(here[r:, r:]) @ w
                here[r:, :r] = -below
                here[:r, r:] = -below.T
                here[:r, :r] += w.T @ below
            continue
        for j in range(r - 1, -1, -1):  # C_ij = [i = j] / L_jj^2 - sum_{c > j} C_ic L_cj / L_jj
            for i in range(m - 1, j, -1):
                total = 0.0
                for c in range(j + 1, m):
                    total += here[i, c] * front[c, j]
                here[i, j] = -total / front[j, j]
                here[j, i] = here[i, j]
            total = 1.0 / front[j, j]
            for c in range(j + 1, m):
                total -= here[j, c] * front[c, j]
            here[j, j] = total / front[j, j]


@serial
def _traces(members: Any, starts: Any, blocks: Any, a: Any, b: Any, out: Any) -> None:
    """Add the diagonal of ``A B``, B the sum of its blocks, from the entries of A inside the families."""
    for v in range(len(starts) - 1):
        lo, m = starts[v], starts[v + 1] - starts[v]
        for i in range(m):
            row = blocks[v] + i * m
            total = 0.0
            for j in range(m):
                total += a[row + j] * b[row + j]
            out[members[lo + i]] += total
