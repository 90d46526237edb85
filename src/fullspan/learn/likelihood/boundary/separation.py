"""Whether the inputs separate the outputs, so that conditional maximum likelihood lies at infinity.

A direction v separates if ``v . Phi(i, o) >= v . Phi(i, o')`` for every row (i, o) seen and every other output o', with
inequality somewhere: the likelihood rises for ever along v. A linear program finds one, or shows that there is none.

States that vanish during the fit: a maximum at infinity that the data do not show beforehand.

The face of module ``face`` follows from the states seen. Margins without rows, hidden units and missing cells may
exclude further states, which is only known once the weights have grown and the probabilities of these states have
fallen to nothing. Then the face of the states that are left is tried in place of the larger one.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.errors import FullspanError
from fullspan.learn.likelihood.boundary.face import Face, face_of
from fullspan.model.algebra.basis import Basis, Term

_ZERO_TOLERANCE = 1e-7


def separating(basis: Basis, terms: Sequence[Term], states: NDArray[Any], outputs: Sequence[int]) -> NDArray[np.intp]:
    """Positions of the terms in a separating direction; empty if the maximum is finite.

    Raises
    ------
    FullspanError : the linear program does not end.
    """
    differences = _differences(basis, terms, states, outputs)
    nothing = np.zeros(0, dtype=np.intp)
    if not len(differences):
        return nothing
    # The sum over all rows: if any row can be separated, the minimum is below 0.
    direction = _minimised(differences.sum(axis=0), differences, np.zeros(len(differences)), (-1, 1))
    apart = differences @ direction < -_ZERO_TOLERANCE
    if not apart.any():
        return nothing
    # The smallest direction, in the sum of its sizes, that keeps them apart: it has no part that does nothing.
    both = np.hstack([differences, -differences])
    parts = _minimised(np.ones(both.shape[1]), both, -apart.astype(np.float64), (0, None))
    return np.flatnonzero(np.abs(parts[: len(terms)] - parts[len(terms) :]) > _ZERO_TOLERANCE)


def _minimised(
    cost: NDArray[np.float64], rows: NDArray[np.float64], limits: NDArray[np.float64], bounds: tuple[int, int | None]
) -> NDArray[np.float64]:
    from scipy.optimize import linprog

    found = linprog(cost, A_ub=rows, b_ub=limits, bounds=bounds)
    if found.status != 0:
        raise FullspanError(f"the search for a separating direction did not end: {found.message}; use l2= > 0")
    return np.asarray(found.x)


def _differences(
    basis: Basis, terms: Sequence[Term], states: NDArray[Any], outputs: Sequence[int]
) -> NDArray[np.float64]:
    """Distinct rows ``Phi(i, o') - Phi(i, o)`` over all rows seen and all other outputs."""
    # Values are -1, 0 and 1, their differences at most 2: a byte holds them.
    own = basis.evaluate(terms, states).astype(np.int8)
    found = []
    for codes in itertools.product(*(range(basis.cards[i]) for i in outputs)):
        other = states.copy()
        other[:, outputs] = codes
        found.append(np.unique(basis.evaluate(terms, other) - own, axis=0))
    rows = np.unique(np.concatenate(found), axis=0)
    return np.asarray(rows[np.any(rows != 0, axis=1)], dtype=np.float64)


_LARGE_CHANGE = 12.0
"""Change of a weight beyond which it may diverge."""


def grew(theta: Array, face: Face) -> bool:
    """Whether a weight has grown so much from its start on the face that it may diverge."""
    return bool(np.abs(theta - face.start()).max(initial=0.0) > _LARGE_CHANGE)


def face_of_the_rest(
    basis: Basis, terms: NDArray[np.int64], p: Array, face: Face, tol: float, max_memory: int | None = None
) -> Face | None:
    """The face of the states that have kept a probability p of 100 tolerances, if it is smaller than ``face``.

    Raises
    ------
    FullspanError, TooLargeError : see :func:`fullspan.learn.likelihood.boundary.face.face_of`.
    """
    left = np.flatnonzero(p > 100 * tol).astype(np.int64)
    if not left.size:
        return None
    smaller = face_of(basis, terms, left, max_memory)
    return smaller if smaller.n_states < face.n_states else None
