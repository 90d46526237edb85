"""Local functions of one variable, and small sums over all states in plain NumPy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.algebra.local_bases import MONOMIAL, WALSH


def local_row(basis: Basis, variable: int, component: int) -> NDArray[np.int8]:
    """``phi_component(x)`` over the levels x of one variable; O(|X_i|), where the whole matrix is quadratic."""
    levels = np.arange(basis.cards[variable])
    kind = basis.kinds[variable]
    if component == 0:
        row = np.ones_like(levels)
    elif kind == WALSH:
        row = 1 - 2 * (np.bitwise_count(levels & component) & 1).astype(np.int64)
    else:
        row = (levels == component) * (1 if kind == MONOMIAL else 2) - (0 if kind == MONOMIAL else 1)
    return row.astype(np.int8)


def small_exponents(basis: Basis, weights: Mapping[Term, float]) -> NDArray[np.float64]:
    """``l(x) = sum_y theta_y Phi_y(x)`` of every state by index, without compiled code.

    One matrix product per variable: O(|X| sum_i |X_i|) time and two tables of |X| numbers.
    """
    table = np.zeros(basis.n_states)
    for term, weight in weights.items():
        table[basis.index(term)] += weight
    for i, (card, stride) in enumerate(zip(basis.cards, basis.strides, strict=True)):
        table = np.matmul(basis.local(i).T.astype(np.float64), table.reshape(-1, card, stride)).ravel()
    return table


def log_sum_exp(table: NDArray[np.float64]) -> float:
    """``log sum exp`` of all entries, without overflow."""
    top = float(table.max())
    return top + float(np.log(np.exp(table - top).sum()))
