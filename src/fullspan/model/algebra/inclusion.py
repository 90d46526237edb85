"""States and terms as sets of items, and which terms a state contains: a sparse 0/1 matrix.

An item is a variable at a level other than its first: ``item = offset_i + x_i - 1``. A state is the set of its items,
the state 0 the empty set, and a term of the monomial basis is 1 where its items are among those of the state:

    F[x, b] = 1 if items(b) is a subset of items(x), else 0            (Sugiyama, Tsuda and Nakahara, eq. 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Ints
from fullspan.model.algebra.basis import Term
from fullspan.model.algebra.jit import serial

_TERMS_PER_LOOKUP = 8
"""Terms read through in the time of one look-up."""
_DENSE_ENTRIES = 1 << 22
"""Entries of a dense matrix, with those of its factors, up to which NumPy finds the sparse one."""


@dataclass(frozen=True)
class ItemSets:
    """Sets of items one after the other: set r is ``items[start[r]:start[r + 1]]``, increasing."""

    start: Ints
    items: Ints
    n_items: int

    def __len__(self) -> int:
        return len(self.start) - 1


def item_offsets(cards: Sequence[int]) -> Ints:
    """(n + 1,) where the items of each variable begin; the last is their number."""
    return np.concatenate([[0], np.cumsum(np.asarray(cards, dtype=np.int64) - 1)]).astype(np.int64)


def sets_of_states(states: NDArray[Any], cards: Sequence[int]) -> ItemSets:
    """The items of states (m, n)."""
    offsets = item_offsets(cards)
    rows, variables = np.nonzero(states)
    items = offsets[variables] + states[rows, variables].astype(np.int64) - 1
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(states)))])
    return ItemSets(start.astype(np.int64), items.astype(np.int64), int(offsets[-1]))


def sets_of_terms(terms: Sequence[Term], cards: Sequence[int]) -> ItemSets:
    """The items of terms."""
    offsets = item_offsets(cards)
    start = np.concatenate([[0], np.cumsum([len(term) for term in terms])]).astype(np.int64)
    numbers = chain.from_iterable(chain.from_iterable(terms))
    flat = np.fromiter(numbers, dtype=np.int64, count=2 * int(start[-1])).reshape(-1, 2)
    return ItemSets(start, offsets[flat[:, 0]] + flat[:, 1] - 1, int(offsets[-1]))


def empty_set(n_items: int) -> ItemSets:
    """One set without items: the state 0."""
    return ItemSets(np.zeros(2, dtype=np.int64), np.zeros(0, dtype=np.int64), n_items)


def joined(*parts: ItemSets) -> ItemSets:
    """All sets of several lists, one list after the other."""
    sizes = np.concatenate([np.diff(part.start) for part in parts])
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return ItemSets(start, np.concatenate([part.items for part in parts]), parts[0].n_items)


def states_of_terms(terms: Sequence[Term], n: int, dtype: Any = np.uint8) -> NDArray[Any]:
    """The smallest state that contains each term: its items and no others, shape (k, n)."""
    states = np.zeros((len(terms), n), dtype=dtype)
    for row, term in enumerate(terms):
        for i, level in term:
            states[row, i] = level
    return states


def inclusion(states: ItemSets, terms: ItemSets) -> tuple[Ints, NDArray[np.int32]]:
    """The matrix F by rows: terms ``indices[start[x]:start[x + 1]]`` are in state x, in increasing order.

    For each item of a state either the terms whose first item it is are read through, or those that go on with another
    item of the state are looked up, whichever is less; no dense matrix is made. A small matrix is, without compiling.
    """
    if (len(states) + states.n_items) * (len(terms) + states.n_items) <= _DENSE_ENTRIES:
        return _small_inclusion(states, terms)
    sizes = np.diff(terms.start)
    first = terms.items[terms.start[:-1]]
    second = np.where(sizes > 1, terms.items[np.minimum(terms.start[:-1] + 1, len(terms.items) - 1)], -1)
    order = np.lexsort((second, first)).astype(np.int64)
    begin = np.searchsorted(first[order], np.arange(terms.n_items + 1)).astype(np.int64)
    counts = np.zeros(len(states), dtype=np.int64)
    none = np.zeros(0, dtype=np.int32)
    arrays = (states.start, states.items, states.n_items, terms.start, terms.items, order, second[order], begin)
    _include(*arrays, np.zeros(1, dtype=np.int64), counts, none, False)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    indices = np.empty(int(start[-1]), dtype=np.int32)
    _include(*arrays, start, counts, indices, True)
    return start, indices


def _small_inclusion(states: ItemSets, terms: ItemSets) -> tuple[Ints, NDArray[np.int32]]:
    """The same by a product of dense matrices: a term is in a state that has as many of its items as there are."""
    has, of = np.zeros((len(states), states.n_items), np.float32), np.zeros((states.n_items, len(terms)), np.float32)
    has[np.repeat(np.arange(len(states)), np.diff(states.start)), states.items] = 1
    of[terms.items, np.repeat(np.arange(len(terms)), np.diff(terms.start))] = 1
    rows, indices = np.nonzero(has @ of == np.diff(terms.start))
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(states)))])
    return start.astype(np.int64), indices.astype(np.int32)


@serial
def _contained(b: int, skip: int, t_start: Any, t_items: Any, present: Any) -> bool:
    """Whether all items of term b but the first ``skip`` are present."""
    t = t_start[b] + skip
    while t < t_start[b + 1] and present[t_items[t]]:
        t += 1
    return bool(t == t_start[b + 1])


@serial
def _include(
    s_start: Any,
    s_items: Any,
    n_items: int,
    t_start: Any,
    t_items: Any,
    order: Any,
    second: Any,
    begin: Any,
    start: Any,
    counts: Any,
    indices: Any,
    fill: bool,
) -> None:
    present = np.zeros(n_items, dtype=np.bool_)
    for x in range(len(counts)):
        last = s_start[x + 1]
        for a in range(s_start[x], last):
            present[s_items[a]] = True
        found = 0
        for a in range(s_start[x], last):
            low, high = begin[s_items[a]], begin[s_items[a] + 1]
            if high - low > _TERMS_PER_LOOKUP * (
                last - a
            ):  # terms go on with -1, for none, or an item that is further on
                for other in range(a, last):
                    goal = -1 if other == a else s_items[other]
                    c = low + np.searchsorted(second[low:high], goal)
                    while c < high and second[c] == goal:
                        if goal < 0 or _contained(order[c], 2, t_start, t_items, present):
                            if fill:
                                indices[start[x] + found] = order[c]
                            found += 1
                        c += 1
            else:
                for c in range(low, high):
                    if _contained(order[c], 1, t_start, t_items, present):
                        if fill:
                            indices[start[x] + found] = order[c]
                        found += 1
        counts[x] = found
        if fill:
            indices[start[x] : start[x] + found].sort()
        for a in range(s_start[x], last):
            present[s_items[a]] = False
