"""The same function in another basis: ``sum_y theta_y Phi_y = constant + sum_z theta'_z Phi'_z``.

A local function of one basis is a short sum of those of another, ``phi_j = sum_k C[j, k] phi'_k`` with
``C = phi phi'^-1``, so that a term becomes a sum of terms on its own variables or fewer. All terms inside a set of
variables span the same functions in every basis.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from fullspan.model.algebra.basis import Basis, Term


def exchanged(theta: dict[int, float], old: Basis, new: Basis, most: int) -> dict[int, float] | None:
    """Weights in the basis ``new`` of the function that has the weights ``theta`` in ``old``, up to a constant.

    Terms that cancel are kept with the weight 0. None if there would be more than ``most``: a term of m two-level
    variables may become 2^m - 1.

    Examples
    --------
    >>> cards = (2, 2)
    >>> exchanged({3: 0.5}, Basis("walsh", cards), Basis("monomial", cards), 10)  # (1 - 2 x)(1 - 2 x') / 2
    {1: -1.0, 2: -1.0, 3: 2.0}
    """
    local = [coefficients(old, new, i) for i in range(len(old.cards))]
    found: dict[int, float] = {}
    for y, weight in theta.items():
        parts = _parts(old.term(y), local, new.strides)
        if np.prod([len(part) for part in parts], dtype=float) - 1 > most:
            return None
        for chosen in itertools.product(*parts):
            z, value = 0, weight
            for place, coefficient in chosen:
                z += place
                value *= coefficient
            found[z] = found.get(z, 0.0) + value
        if len(found) > most + 1:
            return None
    found.pop(0, None)
    return dict(sorted(found.items()))


def coefficients(old: Basis, new: Basis, variable: int) -> NDArray[np.float64]:
    """``C[j, k]``, multiples of 1 / |X_i|."""
    card = old.cards[variable]
    c = np.linalg.solve(new.local(variable).T.astype(float), old.local(variable).T.astype(float)).T
    return np.asarray(np.round(c * 2 * card) / (2 * card))


def _parts(term: Term, local: list[NDArray[np.float64]], strides: tuple[int, ...]) -> list[list[tuple[int, float]]]:
    """For each variable of a term the places and coefficients of its sum."""
    return [[(k * strides[i], float(c)) for k, c in enumerate(local[i][j]) if c] for i, j in term]
