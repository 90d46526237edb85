"""Rows with missing cells: the log-weights of all their completions, many rows at a time.

Observed cells only change the weights of the terms on the missing ones, so the exponents of all completions of all
rows with the same cells missing are one matrix product, (rows, terms left) by (terms left, completions).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fullspan.algebra.basis import Basis, Term
from fullspan.model.local import local_row
from fullspan.model.loglinear import LogLinear

MAX_COMPLETIONS = 1 << 10
"""Completions of one row up to which all of them are weighed."""
_ROOM = 1 << 21
"""Entries of the matrices for one batch of rows."""

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


def patterns(rows: Rows) -> Iterator[tuple[tuple[int, ...], NDArray[np.intp]]]:
    """Pairs (variables missing, rows that miss just these), in a fixed order."""
    if not len(rows):
        return
    missing = rows < 0
    packed = np.packbits(missing, axis=1)
    _, first, inverse = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    bounds = np.cumsum(np.bincount(inverse.ravel()))[:-1]
    for start, members in zip(first, np.split(order, bounds), strict=True):
        yield tuple(map(int, np.flatnonzero(missing[start]))), members


def n_completions(basis: Basis, missing: tuple[int, ...]) -> int:
    return math.prod(basis.cards[i] for i in missing)


def batches(model: LogLinear, rows: Rows, missing: tuple[int, ...]) -> Iterator[tuple[slice, Array]]:
    """Exponents ``theta . Phi`` (rows, completions) of rows that miss these variables, batch by batch.

    The first missing variable is the fastest digit of a completion. Time O(rows x (k + terms left x completions)).
    """
    basis = model.basis
    inner: dict[Term, int] = {}
    for term in model.terms:
        inner.setdefault(_inside(term, missing), len(inner))
    part = Basis(basis.name, tuple(basis.cards[i] for i in missing))
    local = [tuple((missing.index(i), j) for i, j in term) for term in inner]
    phi = part.evaluate(local, completions(basis, missing)).T.astype(np.float64)
    step = max(1, _ROOM // max(len(inner) + 1, phi.shape[1]))
    for start in range(0, len(rows), step):
        part_of_rows = slice(start, min(start + step, len(rows)))
        yield part_of_rows, _coefficients(model, rows[part_of_rows], missing, inner) @ phi


def completions(basis: Basis, missing: tuple[int, ...]) -> Rows:
    """Codes (completions, missing variables), the first variable fastest."""
    place = np.arange(n_completions(basis, missing))
    columns = []
    for i in missing:
        place, digit = np.divmod(place, basis.cards[i])
        columns.append(digit)
    return np.stack(columns, axis=1)


def _coefficients(model: LogLinear, rows: Rows, missing: tuple[int, ...], inner: dict[Term, int]) -> Array:
    """Weights of the terms left on the missing variables, per row."""
    values: dict[tuple[int, int], NDArray[np.int8]] = {}
    out = np.zeros((len(inner), len(rows)))
    for term, weight in model:
        phi = np.ones(len(rows), dtype=np.int8)
        for i, j in term:
            if i not in missing:
                if (i, j) not in values:
                    values[i, j] = local_row(model.basis, i, j)[rows[:, i]]
                phi *= values[i, j]
        out[inner[_inside(term, missing)]] += weight * phi
    return out.T


def _inside(term: Term, missing: tuple[int, ...]) -> Term:
    return tuple(factor for factor in term if factor[0] in missing)
