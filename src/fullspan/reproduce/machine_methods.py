"""The methods that are compared on samples: each learns weights on given patterns, and a row of the table is one.

A further method is a further :class:`Method`: what it is called, where it can be used, and how it learns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullspan.algebra.basis import Basis, Term
from fullspan.data import Empirical
from fullspan.engine.dual.table import DualTable
from fullspan.learn.likelihood.phases import Free, Known, data_moments
from fullspan.learn.likelihood.solve import Likelihood, solve
from fullspan.learn.truncated.fit import Truncation
from fullspan.learn.truncated.train import PUBLISHED_STEPS, train
from fullspan.space import Space

Array = NDArray[np.float64]
Learn = Callable[[NDArray[np.uint8], tuple[Term, ...], int], Array]
"""Rows of bits, patterns and the steps of iterative methods to weights."""

MAX_EXACT = 20
"""Variables up to which all states are summed."""
MAX_DESCENT = 1000
"""Pairs up to which the published descent is run: its time grows with both states and weights."""


@dataclass(frozen=True)
class Method:
    """A way to learn weights on given patterns."""

    name: str
    learn: Learn
    fits: Callable[[int, int], bool]
    """Whether it can be used for so many variables and pairs."""

    def timed(self, rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> tuple[Array, float]:
        """Weights, and the seconds that they took, with the model matrix."""
        began = time.perf_counter()
        theta = self.learn(rows, terms, steps)
        return theta, time.perf_counter() - began


def _counted(rows: NDArray[np.uint8]) -> Empirical:
    return Empirical.from_codes(rows, space=Space.of_cards((2,) * rows.shape[1]))


def _truncated(rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> Array:
    t = Truncation.of(_counted(rows), terms)
    return train(t.engine, t.q).solution.theta


def _descent(rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> Array:
    t = Truncation.of(_counted(rows), terms)
    return train(t.engine, t.q, "gradient", max_iter=steps).solution.theta


def _exact(rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> Array:
    data = _counted(rows)
    basis = Basis("monomial", data.space.cards)
    y = np.array([basis.index(term) for term in terms], dtype=np.int64)
    likelihood = Likelihood(Free(DualTable(basis), y), Known(data_moments(basis, y, data.states, data.counts)), l2=1e-4)
    return solve(likelihood, np.zeros(len(y)), "newton", 1e-8).theta


METHODS = (
    Method("truncated", _truncated, lambda n, pairs: True),
    Method("truncated, published descent", _descent, lambda n, pairs: pairs <= MAX_DESCENT),
    Method("exact, all states, l2=1e-4", _exact, lambda n, pairs: n <= MAX_EXACT),
)

__all__ = ["METHODS", "PUBLISHED_STEPS", "Method"]
