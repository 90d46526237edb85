"""Joint refits of the terms inside the cliques of a decomposable graph, exact and sparse.

All distributions that are Markov on the graph satisfy ``log p = sum_v log p(x_C(v)) - log p(x_S(v))``, with C(v) the
family of v and S(v) its parents. Their weights are therefore sums of local ones, and so is the *inverse* of the Fisher
information of all terms inside the cliques:

    G = F^-1 = sum_v F_C(v)^-1 - F_S(v)^-1,      [F_A^-1]_yz = sum_x A_yx A_zx / p(x_A),      theta_A = A log p_A,

a sparse matrix with a closed form. Under normal priors of precision 1/D (per row), D = 0 for terms that were dropped,

    (F + D^-1)^-1 = D - D (G + D)^-1 D,

so that a Newton step on any subset of the terms, and their standard errors, take one factorisation along the graph
(module ``multifrontal``); log Z and the expectations come from elimination along it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from fullspan.arrays import Array, Ints
from fullspan.data.space import Space
from fullspan.engine.elimination.clusters import ClusterTree
from fullspan.engine.elimination.multifrontal import Fronts, Solver
from fullspan.engine.elimination.row_sweeps import Sweeps
from fullspan.learn.base.descent import Descent, Point
from fullspan.learn.base.newton import Newton
from fullspan.learn.decomposable.grow import Shape
from fullspan.model.algebra.basis import Basis, BasisName, Term
from fullspan.model.graph import FactorGraph

_LEAST = 1e-14
"""Least probability of a cell in the inverse information."""
_LONGEST = 16.0
"""Longest change of one weight in a Newton step."""
_TRIES = 12
"""Times a Newton step is cut to a quarter before it is given up."""


class Chordal:
    """All terms inside the cliques of a graph, and sums over the distributions that they span.

    Attributes
    ----------
    terms : in increasing order; ``orders`` are their numbers of variables.
    families : each variable and its parents, sorted: the scopes of the factors of ``graph``.
    """

    def __init__(self, space: Space, shape: Shape, basis: BasisName = "walsh") -> None:
        self.space, self.shape, self.basis = space, shape, Basis(basis, space.cards)
        self._inverses: dict[tuple[int, ...], Array] = {}
        self._sorted: dict[tuple[tuple[int, ...], int], Array] = {}
        self.families = [tuple(sorted((v, *shape.parents[v]))) for v in range(len(space))]
        found: dict[Term, tuple[int, int]] = {}
        for f, family in enumerate(self.families):
            for place, term in enumerate(self._terms(family)):
                if term and term not in found:
                    found[term] = f, place
        self.terms = tuple(sorted(found))
        self.place = {term: k for k, term in enumerate(self.terms)}
        self.orders = np.array([len(term) for term in self.terms], dtype=np.int64)
        self._homes = [found[term] for term in self.terms]
        self.graph = self._graph(np.zeros(self._starts[-1]))
        self.tree = ClusterTree(self.graph, order=list(reversed(shape.order)))

    @cached_property
    def _starts(self) -> Ints:
        sizes = [math.prod(self.space.cards[i] for i in family) for family in self.families]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def _graph(self, values: Array) -> FactorGraph:
        bounds = np.concatenate([[0], np.cumsum([len(f) for f in self.families])])
        return FactorGraph.of_arrays(self.space, bounds, [i for f in self.families for i in f], values)

    def _terms(self, variables: tuple[int, ...]) -> list[Term]:
        """Terms inside a set, the constant first, in the order of a table whose last axis is fastest."""
        shape = [self.space.cards[i] for i in variables]
        return [tuple((i, j) for i, j in zip(variables, digits, strict=True) if j) for digits in np.ndindex(*shape)]

    def _functions(self, variables: tuple[int, ...]) -> Array:
        """``Phi_y(x)`` for the terms (rows) and states (columns) of a few variables."""
        out: Array = np.ones((1, 1))
        for i in variables:
            out = np.asarray(np.kron(out, self.basis.local(i).astype(np.float64)), dtype=np.float64)
        return out

    @cached_property
    def fronts(self) -> Fronts:
        """Where the terms of the families are in blocks."""
        members = []
        for v, family in enumerate(self.families):
            terms = self._terms(family)[1:]
            of_v = [self.place[term] for term in terms if any(i == v for i, _ in term)]
            rest = [self.place[term] for term in terms if all(i != v for i, _ in term)]
            members.append((np.array(of_v, dtype=np.int64), np.array(rest, dtype=np.int64)))
        return Fronts.of(self.shape.order, self.shape.parents, members)

    @cached_property
    def sweeps(self) -> Sweeps:
        """The families as sweeps over rows with missing values read them; factors are ``design theta``."""
        shapes = [[self.space.cards[i] for i in family] for family in self.families]
        strides = [np.cumprod([1, *reversed(shape)])[-2::-1] for shape in shapes]
        return Sweeps.of(self.space.cards, self.shape.order, self.families, strides)

    def _inverse(self, variables: tuple[int, ...]) -> Array:
        """``A`` with ``theta = A log p`` for a few variables; it depends on their numbers of levels alone."""
        key = tuple(self.space.cards[i] for i in variables)
        if key not in self._inverses:
            self._inverses[key] = np.asarray(np.linalg.inv(self._functions(variables).T), dtype=np.float64)
        return self._inverses[key]

    @cached_property
    def design(self) -> Any:
        """Sparse (entries, terms): ``values = design theta`` are the factors, and ``eta = design' p`` expectations."""
        nothing = np.empty(0, dtype=np.int64)  # where all variables are constant there is no term
        rows, columns, data = [nothing], [nothing], [np.empty(0)]
        functions = [self._functions(family) for family in self.families]
        for k, (f, place) in enumerate(self._homes):
            row = functions[f][place]
            rows.append(self._starts[f] + np.arange(len(row)))
            columns.append(np.full(len(row), k))
            data.append(row)
        shape = int(self._starts[-1]), len(self.terms)
        return csr_matrix((np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))), shape=shape)

    def beliefs(self, theta: Array) -> tuple[float, Array]:
        """log Z, and the probabilities of all families' states, flat."""
        found = self.tree.reweighted(self.design @ theta).beliefs()
        return found.log_z, found.factors

    def log_z(self, theta: Array) -> float:
        """``log sum exp(theta . Phi)``."""
        return self.tree.reweighted(self.design @ theta).log_z()

    # -- closed forms -----------------------------------------------------------------------------------------

    def saturated(self, p: Array) -> Array:
        """Weights of the distribution with these probabilities of the families, which must agree with each other."""
        theta = np.zeros(len(self.terms))
        for sign, variables, cells in self._parts(p):
            inverse = self._inverse(variables)
            coefficients = inverse @ np.log(cells)
            for term, value in zip(self._terms(variables)[1:], coefficients[1:], strict=True):
                theta[self.place[term]] += sign * value
        return theta

    def inverse_information(self, p: Array) -> Array:
        """``G``, per row, at the probabilities of the families: one block for each (module ``multifrontal``)."""
        out = np.empty(int(self.fronts.blocks[-1]))
        for v, family in enumerate(self.families):
            cells = self._cells(p, v)
            inverse = self._rows_first(family, family.index(v))
            block = (inverse / cells.ravel()) @ inverse.T
            if len(family) > 1:
                rest = tuple(i for i in family if i != v)
                parents, own = self._inverse(rest)[1:], int(self.fronts.own[v])
                block[own:, own:] -= (parents / cells.sum(axis=family.index(v)).ravel()) @ parents.T
            out[self.fronts.blocks[v] : self.fronts.blocks[v + 1]] = block.ravel()
        return out

    def solver(self, p: Array, variance: Array) -> Solver:
        """``(G + D)^-1`` at the probabilities of the families."""
        return Solver(self.fronts, self.inverse_information(p), variance)

    def _rows_first(self, family: tuple[int, ...], axis: int) -> Array:
        """``A`` of a family, the terms that contain the variable of one axis first, without the constant."""
        key = tuple(self.space.cards[i] for i in family), axis
        if key not in self._sorted:
            digits = np.array(list(np.ndindex(*key[0])))[1:]
            first = np.concatenate([np.flatnonzero(digits[:, axis] > 0), np.flatnonzero(digits[:, axis] == 0)])
            self._sorted[key] = self._inverse(family)[1:][first]
        return self._sorted[key]

    def _cells(self, p: Array, v: int) -> Array:
        """Probabilities of family v's states, one axis per variable, none below the least."""
        cells = np.maximum(p[self._starts[v] : self._starts[v + 1]], _LEAST)  # before the parents are summed from it
        return np.asarray(cells.reshape([self.space.cards[i] for i in self.families[v]]))

    def _parts(self, p: Array) -> list[tuple[float, tuple[int, ...], Array]]:
        """(+1, family, its cells) and (-1, parents, theirs) of every variable."""
        parts: list[tuple[float, tuple[int, ...], Array]] = []
        for v, family in enumerate(self.families):
            cube = self._cells(p, v)
            parts.append((1.0, family, cube.ravel()))
            if len(family) > 1:
                rest = tuple(i for i in family if i != v)
                parts.append((-1.0, rest, cube.sum(axis=family.index(v)).ravel()))
        return parts

    @property
    def work(self) -> float:
        """Multiplications of a Newton step: the cubes of the families' cells."""
        return float(np.sum(np.diff(self._starts).astype(np.float64) ** 3))


@dataclass(frozen=True)
class Slack:
    """A normal prior on every term: mean, and variance times rows; a term of variance 0 is dropped."""

    mean: Array
    variance: Array

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which terms are in the model."""
        return np.asarray(self.variance > 0)

    def penalty(self, theta: Array) -> float:
        """``sum (theta - mean)^2 / (2 variance)``, per row."""
        kept = self.kept
        return float(np.sum((theta - self.mean)[kept] ** 2 / self.variance[kept])) / 2


def objective(chordal: Chordal, theta: Array, d: Array, slack: Slack) -> float:
    """``log Z - theta . d`` plus the prior's part, per row: what :func:`refit` minimises."""
    return chordal.log_z(theta) - float(theta @ d) + slack.penalty(theta)


class _Joint:
    """What :func:`refit` minimises; weights of dropped terms stay where they are."""

    polishes = False

    def __init__(self, chordal: Chordal, d: Array, slack: Slack) -> None:
        self.chordal, self.d, self.slack = chordal, d, slack

    def move(self, theta: Array) -> float:
        log_z, self.p = self.chordal.beliefs(theta)
        self.theta = theta
        return log_z - float(theta @ self.d) + self.slack.penalty(theta)

    def gradient(self) -> Array:
        kept = self.slack.kept
        gradient = self.chordal.design.T @ self.p - self.d
        gradient[kept] += (self.theta - self.slack.mean)[kept] / self.slack.variance[kept]
        gradient[~kept] = 0.0
        return np.asarray(gradient)

    def violation(self) -> float:
        return float(np.abs(self.gradient()).max(initial=0.0))

    def newton_step(self, point: Point) -> Array:
        return newton_step(self.chordal, self.p, self.slack.variance, -self.gradient())


def refit(chordal: Chordal, theta: Array, d: Array, slack: Slack, tolerance: float, max_iterations: int = 30) -> Array:
    """Weights that minimise ``log Z - theta . d`` plus the prior's part, by Newton's method; it never rises.

    Weights of dropped terms are 0.
    """
    joint = _Joint(chordal, d, slack)
    descent = Descent(joint, np.where(slack.kept, theta, 0.0), 0.0, max_iterations, slack=lambda *_: 0.0)
    # An interruption must reach the search, which knows the best model: it is not caught here.
    Newton(_LONGEST, _TRIES, tolerance, damped=True).run(descent, joint)
    return descent.point.theta


def newton_step(chordal: Chordal, p: Array, variance: Array, gradient: Array) -> Array:
    """``(F + D^-1)^-1 g = D (G + D)^-1 G g``."""
    solver = chordal.solver(p, variance)
    return np.asarray(variance * solver.solve(chordal.fronts.times(solver.matrix, gradient)))
