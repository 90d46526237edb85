"""Noisy interactions of a table: what one row moves least, measured with Gaussian noise.

The margin over variables A splits into orthogonal parts, one for each subset: the part of A itself is what is left of
the counts after all sums over fewer variables are known. In orthonormal contrasts U_i, first row constant,

    r_A = (U_i without its first row, i in A)  applied to the counts of A,     prod_{i in A} (|X_i| - 1) numbers,

and one row moves them by ``prod_{i in A} (1 - 1/|X_i|)`` in squared length: a pair of two-level columns costs a quarter
of what its four cells cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array
from fullspan.model.algebra.local_bases import contrasts

Scope = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Measured:
    """The noisy contrasts of one interaction, in rows, and the standard deviation of the noise in each of them."""

    scope: Scope
    contrasts: Array
    sigma: float


def squared_length(cards: Sequence[int]) -> float:
    """How far one row moves the contrasts of an interaction of variables with these numbers of levels, squared."""
    return math.prod(1 - 1 / card for card in cards)


def part_of(scope: Scope) -> float:
    """Precision of an interaction relative to a pair: a triple is in one margin of three columns, a pair in many."""
    return 1.0 if len(scope) == 2 else 0.2


def price(scope: Scope, cards: Sequence[int]) -> float:
    """rho of an interaction measured with noise of 1 / sqrt(its part)."""
    return 0.5 * part_of(scope) * squared_length([cards[i] for i in scope])


def of_margin(margin: Array) -> Array:
    """The contrasts (k,) of a margin's own interaction, the last variable fastest."""
    for axis, card in enumerate(margin.shape):
        margin = np.moveaxis(np.tensordot(contrasts(card)[1:], margin, (1, axis)), 0, axis)
    return margin.reshape(-1)


def to_table(values: Array, cards: Sequence[int]) -> Array:
    """The table whose contrasts are ``values`` and that sums to zero along every axis: the adjoint of ``of_margin``."""
    table = values.reshape([card - 1 for card in cards])
    for axis, card in enumerate(cards):
        table = np.moveaxis(np.tensordot(contrasts(card)[1:].T, table, (1, axis)), 0, axis)
    return table
