"""What rows say about terms with hidden variables: less than complete rows would, by what the hidden levels vary.

    F_observed = F - sum_r q_r Cov(Phi | r)

is the information at the maximum (Louis 1982). A term without hidden variables is known given the row, so that only the
block of the others is reduced.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.model.algebra.basis import Basis, Term

_HELD_NUMBERS = 1 << 22


def missing_information(
    basis: Basis, terms: Sequence[Term], theta: Array, rows: NDArray[np.int16], counts: Array, n_hidden: int
) -> Array:
    """(k, k) the second part per row; the last ``n_hidden`` columns of ``rows`` are hidden, whatever they hold."""
    n = rows.shape[1]
    first = n - n_hidden
    at = [k for k, term in enumerate(terms) if term[-1][0] >= first]
    own, out = [terms[k] for k in at], np.zeros((len(terms), len(terms)))
    if not own:
        return out
    block, levels = np.zeros((len(own), len(own))), [range(card) for card in basis.cards[first:]]
    step = max(1, _HELD_NUMBERS // (len(own) * math.prod(basis.cards[first:])))
    for begin in range(0, len(rows), step):
        some = rows[begin : begin + step].astype(np.int64)
        weights = counts[begin : begin + step] / counts.sum()
        functions = []
        for joint in itertools.product(*levels):
            some[:, first:] = joint
            functions.append(basis.evaluate(own, some).astype(np.float64))
        log = np.array([function @ theta[at] for function in functions])
        chances = np.exp(log - np.logaddexp.reduce(log, axis=0)) * weights
        mean = sum(f * c[:, None] for f, c in zip(functions, chances, strict=True)) / weights[:, None]
        for function, chance in zip(functions, chances, strict=True):
            centred = function - mean
            block += (centred * chance[:, None]).T @ centred
    out[np.ix_(at, at)] = block
    return out


def definite(information: Array) -> Array:
    """Without its negative eigenvalues: em ends a little before the maximum, where there may be some."""
    try:
        np.linalg.cholesky(information)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(information)
        return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
    return information
