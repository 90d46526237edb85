"""An order of counted data that does not depend on how the table was written down.

Learners that draw at random, or choose between equals, must go through the states in some order. Taken from the table,
it would make the result depend on the order of the columns, or on the labels of the levels. Here the counts decide:
with n_r rows of state r, n_j(a) rows of level a of column j and

    s_r = sum_j n_j(x_rj),      t_j(a) = sum of n_r s_r over the states r with x_rj = a,      u_r = sum_j t_j(x_rj)

states go by (u_r, s_r, n_r), levels by (n_j(a), t_j(a)), and columns by (levels, the sorted pairs of these). Only what
is equal in all of that goes by the names of columns, and by the levels as they stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.empirical import Empirical

_BITS = 36
"""Significant bits of sums of weights that are compared: the order of the sum changes those beyond."""


@dataclass(frozen=True)
class _Statistics:
    """Of each column, rows (levels,) and pair sums (levels,), missing cells last; of each state, the two sums (m,)."""

    rows: list[NDArray[np.float64]]
    pairs: list[NDArray[np.float64]]
    first: NDArray[np.float64]
    second: NDArray[np.float64]


def canonical_states(data: Empirical) -> NDArray[np.intp]:
    """(m,) the states of counted data in an order that does not depend on that of columns, rows or levels."""
    found = _statistics(data)
    by_name = sorted(range(len(data.space)), key=lambda j: data.space.names[j])
    codes = [data.states[:, j] for j in reversed(by_name)]
    return np.lexsort([*codes, _rounded(data.counts), found.first, found.second])


def canonical_columns(data: Empirical) -> list[int]:
    """The columns in such an order."""
    found = _statistics(data)

    def key(j: int) -> tuple[Any, ...]:
        return data.space.cards[j], sorted(zip(found.rows[j], found.pairs[j], strict=True)), data.space.names[j]

    return sorted(range(len(data.space)), key=key)


def canonical_levels(data: Empirical) -> list[NDArray[np.intp]]:
    """The levels of each column in such an order."""
    found = _statistics(data)
    return [np.lexsort([found.pairs[j][:card], found.rows[j][:card]]) for j, card in enumerate(data.space.cards)]


def canonical_index(data: Empirical) -> NDArray[np.int64]:
    """(|X|,) where each state of the space, flat with the first variable fastest, stands in such an order."""
    index, stride = np.zeros(1, dtype=np.int64), 1
    strides: dict[int, int] = {}
    for j in canonical_columns(data):
        strides[j] = stride
        stride *= data.space.cards[j]
    for j, order in enumerate(canonical_levels(data)):
        index = (strides[j] * np.argsort(order)[:, None] + index).ravel()
    return index


def _statistics(data: Empirical) -> _Statistics:
    columns = [data.states[:, j].astype(np.int64) % (card + 1) for j, card in enumerate(data.space.cards)]

    def sums(weights: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        return [
            _rounded(np.bincount(column, weights, card + 1).astype(np.float64))
            for column, card in zip(columns, data.space.cards, strict=True)
        ]

    def along(values: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        return _rounded(np.sum([value[column] for value, column in zip(values, columns, strict=True)], axis=0))

    rows = sums(data.counts)
    first = along(rows)
    pairs = sums(data.counts * first)
    return _Statistics(rows, pairs, first, along(pairs))


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values to some significant bits; whole numbers stay as they are."""
    mantissa, exponent = np.frexp(values)
    rounded = np.ldexp(np.round(mantissa * 2.0**_BITS) / 2.0**_BITS, exponent)
    return np.where(values == np.floor(values), values, rounded)
