"""Whether the log Z that a file states belongs to its weights: recomputed where that is cheap."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.files.strict_json import Node, shown
from fullspan.model.local import log_sum_exp, small_exponents

_CHECKED_STATES, _CHECKED_LEVELS = 1 << 16, 1 << 10
"""Sizes up to which log Z is recomputed on reading."""
_LOG_Z_TOLERANCE = 1e-4
"""A table in single precision leaves log Z with an error of about 1e-6."""


def check_log_z(node: Node, basis: Basis, weights: Mapping[Term, float]) -> None:
    """Recompute log Z where that is cheap.

    Raises
    ------
    ModelFileError : the file states another one.
    """
    if basis.n_states > _CHECKED_STATES or max(basis.cards) > _CHECKED_LEVELS:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        expected = log_sum_exp(small_exponents(basis, weights))
    if not abs(expected - node.value) <= _LOG_Z_TOLERANCE * (1 + abs(expected)):
        raise node.refuse(f"{shown(node.value)} does not belong to the weights, whose log Z is {expected:.6g}")
