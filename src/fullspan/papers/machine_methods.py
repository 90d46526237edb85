"""The methods that are compared on samples: each turns a sample into features, and a row of the table is one.

    f_i = |theta_i| + sum_j |theta_ij|

for weights on given patterns; of a restricted machine, over its hidden units. A further method is a further
:class:`Method`: what it is called, where it can be used, and how it learns.

Restricted machines on small samples of bits: the features by which Sugiyama, Tsuda and Nakahara tell samples apart.

    f_i = |b_i| + sum_j |W_ij|

Learned by persistent contrastive divergence with one sweep and batches of 20 rows; a given number of weights,
chosen at random, are not zero.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.engine.dual.table import DualTable
from fullspan.engine.sampling.pairwise import PairTerms
from fullspan.engine.sampling.target import Base
from fullspan.errors import FullspanError
from fullspan.learn.base.phase import Known
from fullspan.learn.contrastive.ascent import Ascent, AscentRun, Walk
from fullspan.learn.contrastive.machine import independent
from fullspan.learn.contrastive.sparse_pairs import SparsePairs
from fullspan.learn.likelihood.phases import Free, data_moments
from fullspan.learn.likelihood.solve import Likelihood, solve
from fullspan.learn.truncated.fit import Truncation
from fullspan.learn.truncated.train import PUBLISHED_STEPS, train
from fullspan.model.algebra.basis import Basis, Term

BATCH, RESTRICTED_RATE = 20, 0.05
RESTRICTED_STEPS = 10_000


def restricted_features(
    rows: NDArray[np.uint8], n_weights: int, steps: int = RESTRICTED_STEPS, seed: int = 0
) -> tuple[NDArray[np.float64], float]:
    """Features (d,) of the machine of rows (m, d) of bits, and the seconds it took.

    ``n_weights`` of the weights between the d bits and ⌈n_weights / d⌉ hidden units are learned; the seed chooses them,
    and machines of several samples with one seed have the same ones.

    Raises
    ------
    FullspanError : fewer than one weight or step.
    """
    if n_weights < 1 or steps < 1:
        raise FullspanError(f"{n_weights} weights and {steps} steps were asked for; at least 1 of each is needed")
    started = time.perf_counter()
    d = rows.shape[1]
    hidden = math.ceil(n_weights / d)
    rng = np.random.default_rng(seed)
    bit, unit = np.divmod(np.sort(rng.choice(d * hidden, n_weights, replace=False)), hidden)
    machine = SparsePairs(d, d + hidden, np.ones(d + hidden, dtype=np.bool_), bit, d + unit)
    biases, weights = machine.ascend(rows, RESTRICTED_RATE, steps, BATCH, rng)
    features = np.abs(biases[:d])
    np.add.at(features, bit, np.abs(weights))
    return features, time.perf_counter() - started


Learn = Callable[[NDArray[np.uint8], tuple[Term, ...], int], Array]
"""Rows of bits, patterns and the steps of iterative methods to weights on the patterns, or to features."""

MAX_EXACT = 20
"""Variables up to which all states are summed."""
MAX_DESCENT = 1000
"""Pairs up to which the published descent is run: its time grows with the weights."""
MAX_MATRIX = 100
"""The same for chains on the full matrix: their time does not depend on the pairs, so that few are enough to see it."""
RATE, CHAINS = 0.01, 20


@dataclass(frozen=True)
class Method:
    """A method that learns weights on given patterns, or features directly."""

    name: str
    learn: Learn
    fits: Callable[[int, int], bool]
    """Whether it can be used for n variables and a number of pairs."""
    has_features: bool = False
    """Whether it learns features, one per variable, and always has biases."""
    rival: bool = True
    """Whether it is only there to be compared with, and may be run on fewer samples."""
    only_timed: bool = False
    """Whether one sample must do, with biases, since each takes minutes."""

    def takes(self, n: int, pairs: int, biases: bool) -> bool:
        """Whether it is run for ``n`` variables and ``pairs`` pairs, with or without biases."""
        return self.fits(n, pairs) and (biases or not (self.has_features or self.only_timed))

    def timed(self, rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> tuple[Array, float]:
        """What it learns, and the processor's seconds that it took, with the model matrix."""
        began = time.process_time()
        learned = self.learn(rows, terms, steps)
        return learned, time.process_time() - began

    def features(self, rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> tuple[Array, float]:
        """Features (n,) of the machine of a sample, and the seconds that learning took."""
        learned, seconds = self.timed(rows, terms, steps)
        if self.has_features:
            return learned, seconds
        return intensity(learned, terms, rows.shape[1]), seconds


def intensity(theta: Array, terms: tuple[Term, ...], n: int) -> Array:
    """``f_i``, the sum of the sizes of all weights with variable i, (n,)."""
    found = np.zeros(n)
    for weight, term in zip(np.abs(theta), terms, strict=True):
        for i, _ in term:
            found[i] += weight
    return found


@cache
def _bits(n: int) -> Space:
    return Space.of_cards((2,) * n)


def _counted(rows: NDArray[np.uint8]) -> Empirical:
    return Empirical.from_codes(rows, space=_bits(rows.shape[1]))


def truncation(rows: NDArray[np.uint8], terms: tuple[Term, ...]) -> Truncation:
    """The truncated space of rows of bits and patterns, with the rows on it."""
    return Truncation.of(_counted(rows), terms)


def _truncated(rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> Array:
    t = truncation(rows, terms)
    return train(t.engine, t.q).solution.theta


def _descent(rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> Array:
    t = truncation(rows, terms)
    return train(t.engine, t.q, "gradient", max_iter=steps).solution.theta


def _exact(rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> Array:
    data = _counted(rows)
    basis = Basis("monomial", data.space.cards)
    y = np.array([basis.index(term) for term in terms], dtype=np.int64)
    likelihood = Likelihood(Free(DualTable(basis), y), Known(data_moments(basis, y, data.states, data.counts)), l2=1e-4)
    return solve(likelihood, np.zeros(len(y)), "newton", 1e-8).theta


def _visible(rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> Array:
    n = rows.shape[1]
    single = np.array([term[0][0] for term in terms if len(term) == 1], dtype=np.int64)
    ends = np.array([(i, j) for (i, _), (j, _) in (term for term in terms if len(term) == 2)], dtype=np.int64)
    left, right = ends.reshape(-1, 2).T
    machine = SparsePairs(n, n, np.isin(np.arange(n), single), left, right)
    biases, weights = machine.ascend(rows, RATE, steps, CHAINS, np.random.default_rng(0))
    return np.concatenate([biases[single], weights])  # terms are sorted by order


def _restricted(rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> Array:
    pairs = sum(len(term) == 2 for term in terms)
    return restricted_features(rows, pairs, steps)[0]


def _dense(rows: NDArray[np.uint8], terms: tuple[Term, ...], steps: int) -> Array:
    data, rng = _counted(rows), np.random.default_rng(0)
    basis = Basis("monomial", data.space.cards)
    base = Base.of_states(np.array(data.space.cards), data.states, data.counts)
    how = Ascent(RATE, steps, CHAINS, sweeps=1, restart=False, average=False)
    form = PairTerms.of(basis, terms)
    assert form is not None
    start = independent(basis, terms, base)
    return AscentRun(Walk(form), data.states, data.counts, start, how, rng, lambda done, theta: None).run().theta


def _always(n: int, pairs: int) -> bool:
    return True


METHODS = (
    Method("truncated", _truncated, _always, rival=False),
    Method("truncated, published descent", _descent, lambda n, pairs: pairs <= MAX_DESCENT),
    Method("exact, all states, l2=1e-4", _exact, lambda n, pairs: n <= MAX_EXACT),
    Method("fully visible, PCD", _visible, _always),
    Method("restricted, PCD", _restricted, _always, has_features=True),
    Method("fully visible, PCD, full matrix", _dense, lambda n, pairs: pairs <= MAX_MATRIX, only_timed=True),
)

__all__ = ["METHODS", "PUBLISHED_STEPS", "Method", "intensity", "truncation"]
