"""How much each variable takes part in a machine: the sum of the sizes of its weights.

    f_i = sum_{b with i in b} |theta_b|            (f_i = |lambda_i| + sum_j |lambda_ij| for pairs)

Sugiyama, Tsuda and Nakahara describe a learned distribution by this vector, one for a machine. Of a single row the same
sum goes over the terms that the row contains.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.model.algebra.inclusion import inclusion, sets_of_states, sets_of_terms
from fullspan.model.loglinear import LogLinear


def intensities(model: LogLinear) -> Array:
    """(n,) intensity of every variable."""
    return np.asarray(np.abs(model.theta) @ _incidence(model)).ravel()


def row_intensities(model: LogLinear, states: NDArray[Any]) -> Array:
    """(m, n) intensity of every variable in every state, which need not be in a truncated space."""
    from scipy.sparse import csr_matrix

    cards = model.space.cards
    start, indices = inclusion(sets_of_states(states, cards), sets_of_terms(model.terms, cards))
    sizes = csr_matrix((np.abs(model.theta)[indices], indices, start), shape=(len(states), len(model.terms)))
    return np.asarray((sizes @ _incidence(model)).toarray())


def _incidence(model: LogLinear) -> Any:
    """(k, n) whether a variable is in a term."""
    from scipy.sparse import csr_matrix

    lengths = [len(term) for term in model.terms]
    rows, columns = np.repeat(np.arange(len(lengths)), lengths), [i for term in model.terms for i, _ in term]
    return csr_matrix((np.ones(len(columns)), (rows, columns)), shape=(len(lengths), len(model.space)))
