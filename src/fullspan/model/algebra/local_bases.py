"""Functions of one variable as matrices: the three local bases (:mod:`fullspan.model.algebra.basis`), and contrasts."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

WALSH, MONOMIAL, INDICATOR = 0, 1, 2
"""Kinds of local bases, as :attr:`fullspan.model.algebra.basis.Basis.kinds` numbers them."""


def local_functions(card: int, kind: int) -> NDArray[np.int64]:
    """Matrix ``phi[y, x]`` of one variable."""
    x = np.arange(card)
    if kind == WALSH:
        odd = np.bitwise_count(x[:, None] & x[None, :]).astype(np.int64) & 1
        return np.asarray(1 - 2 * odd)
    hit = np.eye(card, dtype=np.int64)
    phi = hit if kind == MONOMIAL else 2 * hit - 1
    phi[0] = 1
    return phi


def inverse_functions(card: int, kind: int) -> NDArray[np.float64]:
    """The inverse of :func:`local_functions`, exact: ``p(x) = sum_y inverse[x, y] eta_y``."""
    if kind == WALSH:
        return local_functions(card, kind) / card
    inverse = np.eye(card)
    inverse[0, 1:] = -1.0
    if kind == INDICATOR:  # 1[x = j] = (1 + phi_j) / 2, and the rest is level 0
        inverse = inverse / 2
        inverse[1:, 0], inverse[0, 0] = 0.5, 1.0 - (card - 1) / 2
    return inverse


@lru_cache(maxsize=256)
def contrasts(card: int) -> NDArray[np.float64]:
    """Orthonormal (card, card): the first row constant, row k the first k levels against the next (Helmert)."""
    rows = np.zeros((card, card))
    rows[0] = 1 / math.sqrt(card)
    for k in range(1, card):
        rows[k, :k], rows[k, k] = 1.0, -k
        rows[k] /= math.sqrt(k * (k + 1))
    rows.flags.writeable = False  # one array for all who ask
    return rows
