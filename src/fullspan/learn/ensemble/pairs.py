"""The pairwise model with a ridge as a candidate of an ensemble: many small effects, too small for a search.

    theta = argmax  sum_x n(x) log p(x) - r/2 |theta|^2,      all terms of one and two variables

r counts rows. What the ridge pulls towards is a matter of the functions: with signs to even odds for everything, with
0s and 1s to the first level's, which lets a few rows say more of what is common among them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.engine.dual.table import DualTable
from fullspan.learn.base.descent import Descent, Point
from fullspan.learn.base.information import Cholesky
from fullspan.learn.base.newton import Newton, factor
from fullspan.learn.base.phase import Known, Phase
from fullspan.learn.likelihood.phases import Free, Observed, data_moments
from fullspan.learn.likelihood.solve import Likelihood, solve
from fullspan.learn.likelihood.structure import structure
from fullspan.learn.networks.conditionals import Writer
from fullspan.model import LogLinear
from fullspan.model.algebra.basis import Basis, BasisName
from fullspan.model.algebra.modes import modewise

RIDGES: tuple[tuple[float, BasisName], ...] = ((0.1, "walsh"), (1.0, "monomial"), (30.0, "walsh"))
"""Rows that the ridge is worth, and the functions whose weights it holds."""
MAX_STATES, MAX_TERMS = 1 << 18, 600
"""States and weights up to which all pairs are fitted: each step takes some passes over a table, and a matrix."""
_TOL, _STEPS = 1e-4, 20
_LEFT_ERRORS = 0.005
"""Standard errors that expectations may be off where some rows are left out: leaving them out moves them far more."""


@dataclass(frozen=True)
class Pairs:
    """A pairwise model that was learned from rows."""

    basis: Basis
    machine: LogLinear

    def log_prob(self, states: NDArray[Any]) -> Array:
        """``log p`` of complete states (m, n)."""
        return self.machine.log_prob(states)

    def models(self) -> tuple[tuple[float, LogLinear], ...]:
        """The machine in the basis asked for."""
        writer = Writer(self.machine.space, self.basis)
        parts = itertools.chain([((), np.array([-self.machine.log_z]))], _functions(self.machine))
        return ((1.0, writer.model(writer.family(scope, values) for scope, values in parts)),)


def n_pair_terms(space: Space) -> int:
    """Weights of the pairwise model."""
    levels = np.array(space.cards) - 1
    return int(levels.sum() + (levels.sum() ** 2 - (levels**2).sum()) // 2)


class PairsLearner:
    """How the machine is learned from counted rows; what is missing in them is summed over.

    The maximum is unique where nothing is missing. That of the first rows is where Newton's method starts the next
    times: rows of which some are left out have theirs nearby, where the curvature is much the same.
    """

    def __init__(self, ridge: float, functions: BasisName) -> None:
        self.ridge, self.functions = ridge, functions
        self._first: tuple[Array, Cholesky, Array] | None = None

    def __call__(self, data: Empirical, basis: Basis, rng: np.random.Generator) -> Pairs:
        own = Basis(self.functions, data.space.cards)
        terms = structure(data.space, 2).terms(own)
        y = np.array([own.index(term) for term in terms], dtype=np.int64)
        rows: Phase
        if data.is_complete:
            rows = Known(data_moments(own, y, data.states, data.counts))
        else:
            rows = Observed(own, y, data.states, data.counts)
        table = DualTable(own, np.float64)
        likelihood = Likelihood(Free(table, y), rows, self.ridge / data.total)
        if self._first is None:
            theta = solve(likelihood, np.zeros(len(y)), "newton", _TOL).theta
            hessian = likelihood.hessian()
            self._first = theta, factor(hessian), np.sqrt(np.diag(hessian))
        else:
            theta, curvature, deviations = self._first
            theta = _from_nearby(likelihood, theta, curvature, deviations / math.sqrt(data.total))
        return Pairs(basis, LogLinear(data.space, own, terms, theta, table.log_z))


class _Chords:
    """A likelihood near a maximum that is known: Newton's steps by the curvature there, while these serve.

    A step serves that halves the largest difference of expectations, in standard ``errors`` of these; after one that
    does not, the curvature is that of the point reached.
    """

    polishes = False

    def __init__(self, likelihood: Likelihood, curvature: Cholesky, errors: Array) -> None:
        self.likelihood, self.curvature, self.errors = likelihood, curvature, errors
        self._before = math.inf

    def move(self, theta: Array) -> float:
        return self.likelihood.move(theta)

    def gradient(self) -> Array:
        return self.likelihood.gradient()

    def violation(self) -> float:
        return float(np.abs(self.gradient() / self.errors).max())

    def newton_step(self, point: Point) -> Array:
        # Chords serve while they halve the slope; else the curvature is that of another place.
        if point.violation > self._before / 2:
            self.curvature = factor(self.likelihood.hessian())
        self._before = point.violation
        return -self.curvature.solve(self.gradient())


def _from_nearby(likelihood: Likelihood, theta: Array, curvature: Cholesky, errors: Array) -> Array:
    """The maximum from one nearby, whose factored curvature is given."""
    chords = _Chords(likelihood, curvature, errors)
    descent = Descent(chords, theta, _LEFT_ERRORS, _STEPS)
    Newton().run(descent, chords)
    if descent.status == "converged":
        return descent.best.theta
    return solve(likelihood, descent.best.theta, "newton", _TOL).theta


def _functions(model: LogLinear) -> Iterator[tuple[tuple[int, ...], Array]]:
    """The functions whose sum the exponent is, by the variables of their terms; flat, the first variable fastest."""
    weights: dict[tuple[int, ...], Array] = {}
    cards = model.space.cards
    for term, theta in zip(model.terms, model.theta, strict=True):
        scope = tuple(i for i, _ in term)
        table = weights.setdefault(scope, np.zeros([cards[i] for i in scope], order="F"))
        table[tuple(component for _, component in term)] = theta
    for scope, table in weights.items():
        values = modewise(table.ravel(order="F"), [model.basis.local(i).T.astype(np.float64) for i in scope])
        yield scope, values
