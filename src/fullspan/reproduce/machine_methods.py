"""The methods that are compared on samples: each turns a sample into features, and a row of the table is one.

    f_i = |theta_i| + sum_j |theta_ij|

for weights on given patterns; of a restricted machine, over its hidden units. A further method is a further
:class:`Method`: what it is called, where it can be used, and how it learns.
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
from fullspan.engine.sampling.target import Base
from fullspan.learn.contrastive.ascent import Ascent, Climb
from fullspan.learn.contrastive.form import Walk, form_of
from fullspan.learn.contrastive.machine import independent
from fullspan.learn.likelihood.phases import Free, Known, data_moments
from fullspan.learn.likelihood.solve import Likelihood, solve
from fullspan.learn.truncated.fit import Truncation
from fullspan.learn.truncated.train import PUBLISHED_STEPS, train
from fullspan.reproduce.restricted_features import restricted_features
from fullspan.space import Space

Array = NDArray[np.float64]
Learn = Callable[[NDArray[np.uint8], tuple[Term, ...], int], Array]
"""Rows of bits, patterns and the steps of iterative methods to weights on the patterns, or to features."""

MAX_EXACT = 20
"""Variables up to which all states are summed."""
MAX_DESCENT = 1000
"""Pairs up to which the published descent and sampled machines are run: their time grows with the weights."""
RATE, CHAINS = 0.01, 20
MAX_VISIBLE = 100
"""Variables up to which a fully visible machine is sampled: 10,000 sweeps over 784 of them take minutes a sample."""


@dataclass(frozen=True)
class Method:
    """A way to learn weights on given patterns, or features at once."""

    name: str
    learn: Learn
    fits: Callable[[int, int], bool]
    """Whether it can be used for so many variables and pairs."""
    has_features: bool = False
    """Whether it learns features, one per variable, and always has biases."""

    def timed(self, rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> tuple[Array, float]:
        """What it learns, and the seconds that it took, with the model matrix."""
        began = time.perf_counter()
        learned = self.learn(rows, terms, steps)
        return learned, time.perf_counter() - began

    def features(self, rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> tuple[Array, float]:
        """Features (n,) of the machine of a sample, and the seconds that learning took."""
        learned, seconds = self.timed(rows, terms, steps)
        if self.has_features:
            return learned, seconds
        found = np.zeros(rows.shape[1])
        for weight, term in zip(np.abs(learned), terms, strict=True):
            for i, _ in term:
                found[i] += weight
        return found, seconds


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


def _visible(rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> Array:
    data, rng = _counted(rows), np.random.default_rng(0)
    basis = Basis("monomial", data.space.cards)
    base = Base.of_states(np.array(data.space.cards), data.states, data.counts)
    how = Ascent(RATE, steps, CHAINS, sweeps=1, restart=False, average=False)
    walk, start = Walk(form_of(data.space, basis, terms)), independent(basis, terms, base)
    return Climb(walk, data.states, data.counts, start, how, rng, lambda done, theta: None).run().theta


def _restricted(rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> Array:
    pairs = sum(len(term) == 2 for term in terms)
    return restricted_features(rows, pairs, steps)[0]


METHODS = (
    Method("truncated", _truncated, lambda n, pairs: True),
    Method("truncated, published descent", _descent, lambda n, pairs: pairs <= MAX_DESCENT),
    Method("exact, all states, l2=1e-4", _exact, lambda n, pairs: n <= MAX_EXACT),
    Method("fully visible, PCD", _visible, lambda n, pairs: n <= MAX_VISIBLE),
    Method("restricted, PCD", _restricted, lambda n, pairs: pairs <= MAX_DESCENT, has_features=True),
)

__all__ = ["METHODS", "PUBLISHED_STEPS", "Method"]
