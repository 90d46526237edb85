"""All completions of rows with missing cells, weighed one row at a time in compiled code, rows in parallel.

Observed cells only change the weights of the terms on the missing ones: a row's terms are collapsed onto the
sub-lattice of its missing variables, and a small transform gives the exponents of all completions. Time per row
O(k + c log c) for k terms and c completions; the rows may miss different cells.

All completions of rows with missing cells, weighed by look-ups in the table of all log weights.

The same answers as of :class:`fullspan.engine.dual.completion.Completer`, which has terms instead of the table. Rows
that miss the same cells are looked up together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.dual.probability_table import last_positive
from fullspan.model.algebra.basis import Basis
from fullspan.model.algebra.bits import is_small
from fullspan.model.algebra.jit import parallel, prange, serial
from fullspan.model.algebra.transform import MONOMIAL, SYNTHESISE, WALSH, _group_tile
from fullspan.model.loglinear import LogLinear

_HELD_COMPLETIONS = 1 << 18
"""Completions that are held at a time."""


class Weighing:
    """Completions of rows under ``p(x) = exp(log_weights[x]) / Z`` over the states of ``basis``."""

    def __init__(self, basis: Basis, log_weights: Array) -> None:
        self.log_weights, self.cards = log_weights, basis.cards
        self.strides = np.array(basis.strides, dtype=np.int64)

    def log_sums(self, rows: Ints) -> Array:
        """``log sum exp(log_weights)`` over the completions of each row."""
        out = np.empty(len(rows))
        for members, weights, peak in self._weighed(rows):
            with np.errstate(divide="ignore"):
                out[members] = peak + np.log(weights.sum(axis=1))
        return out

    def fill(self, rows: Ints, uniforms: Array | None) -> None:
        """Put the most probable completion into each row, or the one its uniform number draws."""
        for members, weights, _ in self._weighed(rows):
            if uniforms is None:
                best = weights.argmax(axis=1)
            else:
                sums = np.cumsum(weights, axis=1)
                aims = uniforms[members] * sums[:, -1]
                best = np.minimum((sums <= aims[:, None]).sum(axis=1), [last_positive(s) for s in sums])
            missing = np.flatnonzero(rows[members[0]] < 0)
            shape = [self.cards[i] for i in missing]
            rows[np.ix_(members, missing)] = np.stack(np.unravel_index(best, shape, order="F"), axis=1)

    def means(self, rows: Ints) -> Array:
        """Probability of every level of every variable (m, sum of levels), one variable after the other."""
        cards = self.cards
        starts = np.cumsum([0, *cards])
        out = np.zeros((len(rows), starts[-1]))
        for i in range(len(cards)):
            seen = np.flatnonzero(rows[:, i] >= 0)
            out[seen, starts[i] + rows[seen, i]] = 1.0
        for members, weights, _ in self._weighed(rows):
            missing = np.flatnonzero(rows[members[0]] < 0)
            shape = tuple(cards[i] for i in missing)
            shares = (weights / weights.sum(axis=1, keepdims=True)).reshape(-1, *shape[::-1])
            for j, i in enumerate(missing.tolist()):
                axis = len(missing) - j
                others = tuple(a for a in range(1, len(missing) + 1) if a != axis)
                out[members, starts[i] : starts[i + 1]] = shares.sum(axis=others)
        return out

    def _weighed(self, rows: Ints) -> Iterator[tuple[NDArray[np.intp], Array, Array]]:
        """Rows that miss the same cells, in blocks, with the weights (rows, completions) of all their completions.

        The largest weight of a row is 1; its logarithm before is returned too. The first missing variable varies
        fastest.
        """
        kinds, which = np.unique(rows < 0, axis=0, return_inverse=True)
        for kind, missing in enumerate(kinds):
            members = np.flatnonzero(which.ravel() == kind)
            base = np.where(missing, 0, rows[members]) @ self.strides
            offsets = np.zeros(1, dtype=np.int64)
            for i in np.flatnonzero(missing):
                steps = np.arange(self.cards[i]) * self.strides[i]
                offsets = (steps[:, None] + offsets).ravel()
            for block in np.array_split(np.arange(len(members)), -(-len(members) * len(offsets) // _HELD_COMPLETIONS)):
                if len(block):
                    found = self.log_weights[base[block, None] + offsets]
                    peak = np.maximum(found.max(axis=1), np.finfo(np.float64).min)  # finite where all are impossible
                    yield members[block], np.exp(found - peak[:, None]), peak


_CHUNKS = 64


@dataclass(frozen=True)
class Completer:
    """The arrays of a model that the kernels take; rows may have up to ``room`` completions."""

    model: LogLinear
    room: int

    @cached_property
    def _arrays(self) -> tuple[Ints, Ints, Array, Ints, Ints]:
        terms, basis = self.model.terms, self.model.basis
        starts = np.cumsum([0, *map(len, terms)], dtype=np.int64)
        factors = np.array([factor for term in terms for factor in term], dtype=np.int64).reshape(-1, 2)
        return starts, factors, self.model.theta, np.array(basis.cards, dtype=np.int64), basis.kinds

    @cached_property
    def _plain(self) -> Weighing | None:
        """Look-ups in the table of all log weights, if that is small: the same answers, and nothing is compiled."""
        basis = self.model.basis
        if not is_small(basis.n_states):
            return None
        log_weights = np.zeros(basis.n_states)
        log_weights[np.array(self.model.indices, dtype=np.int64)] = self.model.theta
        basis.synthesise(log_weights)
        return Weighing(basis, log_weights)

    def log_sums(self, rows: Ints) -> Array:
        """``log sum exp(theta . Phi)`` over the completions of each row."""
        if self._plain is not None:
            return self._plain.log_sums(rows)
        return np.asarray(_log_sums(rows, *self._arrays, self.room))

    def fill(self, rows: Ints, uniforms: Array | None) -> None:
        """Put the most probable completion into each row, or the one its uniform number draws."""
        if self._plain is not None:
            self._plain.fill(rows, uniforms)
            return
        _fill(rows, np.full(len(rows), -1.0) if uniforms is None else uniforms, *self._arrays, self.room)

    def means(self, rows: Ints) -> Array:
        """Probability of every level of every variable (m, sum of levels), one variable after the other."""
        if self._plain is not None:
            return self._plain.means(rows)
        out = np.zeros((len(rows), sum(self.model.basis.cards)))
        _means(rows, out, *self._arrays, self.room)
        return out


@serial
def _phi(kind: int, component: int, level: int) -> float:
    """One local function at one level."""
    if kind == WALSH:
        both, odd = component & level, 0
        while both:
            odd ^= both & 1
            both >>= 1
        return 1.0 - 2.0 * odd
    if kind == MONOMIAL:
        return 1.0 if component == level else 0.0
    return 1.0 if component == level else -1.0


@serial
def _exponents(
    row: Ints,
    starts: Ints,
    factors: Ints,
    theta: Array,
    cards: Ints,
    kinds: Ints,
    work: Array,
    stride: Ints,
) -> int:
    """Fill ``work`` with the exponents of a row's completions, the first missing variable fastest; their number."""
    count, n_missing = 1, 0
    own_cards, own_kinds = np.empty(row.size, np.int64), np.empty(row.size, np.int64)
    for i in range(row.size):
        if row[i] < 0:
            stride[i] = count
            own_cards[n_missing], own_kinds[n_missing] = cards[i], kinds[i]
            count *= cards[i]
            n_missing += 1
    work[:count] = 0.0
    for t in range(theta.size):
        weight, place = theta[t], 0
        for f in range(starts[t], starts[t + 1]):
            i, j = factors[f, 0], factors[f, 1]
            if row[i] < 0:
                place += j * stride[i]
            else:
                weight *= _phi(kinds[i], j, row[i])
        work[place] += weight
    _group_tile(work[:count], count, own_cards[:n_missing], own_kinds[:n_missing], SYNTHESISE, 1)
    return count


@serial
def _exp_shifted(work: Array, count: int) -> float:
    """Replace exponents by ``exp(w - max)``; returns the maximum."""
    top = work[0]
    for t in range(count):
        top = max(top, work[t])
    for t in range(count):
        work[t] = np.exp(work[t] - top)
    return float(top)


@parallel
def _log_sums(rows: Ints, starts: Ints, factors: Ints, theta: Array, cards: Ints, kinds: Ints, room: int) -> Array:
    out = np.empty(rows.shape[0])
    for chunk in prange(_CHUNKS):
        work, stride = np.empty(room), np.empty(rows.shape[1], np.int64)
        for r in range(chunk * out.size // _CHUNKS, (chunk + 1) * out.size // _CHUNKS):
            count = _exponents(rows[r], starts, factors, theta, cards, kinds, work, stride)
            top = _exp_shifted(work, count)
            out[r] = top + np.log(work[:count].sum())
    return out


@serial
def _chosen(work: Array, count: int, uniform: float) -> int:
    """Place of the largest entry, or the place drawn by a uniform number; never one of weight 0."""
    best, last = 0, 0
    total = 0.0
    for t in range(count):
        if work[t] > work[best]:
            best = t
        if work[t] > 0.0:
            last = t
        total += work[t]
    if uniform < 0.0:
        return best
    target = uniform * total
    for t in range(last):
        target -= work[t]
        if target < 0.0:
            return t
    return last


@parallel
def _fill(
    rows: Ints, uniforms: Array, starts: Ints, factors: Ints, theta: Array, cards: Ints, kinds: Ints, room: int
) -> None:
    for chunk in prange(_CHUNKS):
        work, stride = np.empty(room), np.empty(rows.shape[1], np.int64)
        for r in range(chunk * rows.shape[0] // _CHUNKS, (chunk + 1) * rows.shape[0] // _CHUNKS):
            count = _exponents(rows[r], starts, factors, theta, cards, kinds, work, stride)
            _exp_shifted(work, count)
            place = _chosen(work, count, uniforms[r])
            for i in range(rows.shape[1]):
                if rows[r, i] < 0:
                    rows[r, i] = place // stride[i] % cards[i]


@parallel
def _means(
    rows: Ints, out: Array, starts: Ints, factors: Ints, theta: Array, cards: Ints, kinds: Ints, room: int
) -> None:
    for chunk in prange(_CHUNKS):
        work, stride = np.empty(room), np.empty(rows.shape[1], np.int64)
        for r in range(chunk * rows.shape[0] // _CHUNKS, (chunk + 1) * rows.shape[0] // _CHUNKS):
            count = _exponents(rows[r], starts, factors, theta, cards, kinds, work, stride)
            _exp_shifted(work, count)
            total = work[:count].sum()
            first = 0
            for i in range(rows.shape[1]):
                if rows[r, i] < 0:
                    for t in range(count):
                        out[r, first + t // stride[i] % cards[i]] += work[t] / total
                else:
                    out[r, first + rows[r, i]] = 1.0
                first += cards[i]
