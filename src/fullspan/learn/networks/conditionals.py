"""A product of conditional tables as a log-linear model: ``log p(x) = sum_v log p(x_v | parents)``, in any basis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from fullspan.algebra.basis import Basis
from fullspan.learn.shrinkage.contrasts import modewise
from fullspan.model import LogLinear
from fullspan.space import Space

Array = NDArray[np.float64]


def log_linear(space: Space, basis: Basis, families: Iterable[tuple[Sequence[int], Array]]) -> LogLinear:
    """The model with the terms inside the families; log Z is 0, but for the constant of the basis.

    Parameters
    ----------
    families : of every variable, itself and its parents, and the logarithms of its table, flat, the first fastest.
    """
    inverse = [np.linalg.inv(basis.local(i).T.astype(np.float64)) for i in range(len(space))]
    places, weights = [], []
    for scope, log in families:
        where = np.zeros(1, dtype=np.int64)
        for i in scope:
            where = (np.arange(space.cards[i])[:, None] * basis.strides[i] + where).ravel()
        places.append(where)
        weights.append(modewise(log, [inverse[i] for i in scope]))
    found, which = np.unique(np.concatenate(places), return_inverse=True)
    theta: Array = np.bincount(which, np.concatenate(weights)).astype(np.float64)
    terms = tuple(basis.term(int(y)) for y in found[1:])
    return LogLinear(space, basis, terms, theta[1:], -float(theta[0]))
