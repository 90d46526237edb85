"""Empty cells of the margins that a model fits: the plainest reason for a maximum at infinity.

If all terms inside a set A of variables are in the model, the indicator of a cell of the margin of A is a combination
of them. A cell in which no row fell has fitted probability 0, so minus its indicator is a direction to infinity.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.model.algebra.basis import Basis

Variables = tuple[int, ...]

_MAX_ORDER = 8
"""Largest set of variables that is looked at; it has at most 2^8 subsets to compare."""
_MAX_CELLS = 4096


def empty_margins(basis: Basis, terms: Ints, seen: Ints) -> Array:
    """Coefficients (k,) of minus the number of empty margin cells that a state lies in, up to a constant."""
    v = np.zeros(terms.size)
    place = {int(y): i for i, y in enumerate(terms)}
    strides = np.array(basis.strides, dtype=np.int64)
    for variables in complete_sets(basis, terms):
        cards = [basis.cards[i] for i in variables]
        codes = [seen // strides[i] % basis.cards[i] for i in variables]
        empty = np.bincount(np.ravel_multi_index(codes, cards), minlength=math.prod(cards)) == 0
        if empty.any():
            weights = _coefficients(basis, variables, empty.reshape(cards).astype(np.float64))
            for digits in zip(*np.nonzero(weights), strict=True):
                if y := int(strides[list(variables)] @ digits):
                    v[place[y]] -= weights[digits]
    return v


def complete_sets(basis: Basis, terms: Ints) -> list[Variables]:
    """The largest sets of variables all of whose terms are given, of at most 8 variables and 4,096 cells."""
    count = Counter(tuple(i for i, _ in basis.term(int(y))) for y in terms)
    full = {a for a, n in count.items() if n == math.prod(basis.cards[i] - 1 for i in a)}
    found: list[Variables] = []
    covered: set[Variables] = set()
    for a in sorted(full, key=lambda a: (-len(a), a)):
        if a in covered or len(a) > _MAX_ORDER or math.prod(basis.cards[i] for i in a) > _MAX_CELLS:
            continue
        inside = {s for size in range(1, len(a) + 1) for s in itertools.combinations(a, size)}
        if inside <= full:
            found.append(a)
            covered |= inside
    return found


def _coefficients(basis: Basis, variables: Variables, values: Array) -> Array:
    """Coefficients w with ``sum_y w_y Phi_y(x_A) = values[x_A]``, one mode at a time."""
    for mode, i in enumerate(variables):
        inverse = np.linalg.inv(basis.local(i).astype(np.float64).T)
        values = np.moveaxis(np.tensordot(inverse, values, axes=(1, mode)), 0, mode)
    return values
