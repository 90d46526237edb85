"""States that vanish during the fit: a maximum at infinity that the data do not show beforehand.

The face of module ``face`` follows from the states seen. Margins without rows, hidden units and missing cells may
exclude further states, which is only known once the weights have grown and the probabilities of these states have
fallen to nothing. Then the face of the states that are left is tried in place of the larger one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.learn.likelihood.boundary.face import Face, face_of
from fullspan.model.algebra.basis import Basis

_LARGE = 12.0
"""Change of a weight beyond which it may diverge."""


def grew(theta: Array, face: Face) -> bool:
    """Whether a weight has grown so much from its start on the face that it may diverge."""
    return bool(np.abs(theta - face.start()).max(initial=0.0) > _LARGE)


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
