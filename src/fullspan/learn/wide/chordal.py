"""Joint refits of the terms inside the cliques of a decomposable graph, exact and sparse.

All distributions that are Markov on the graph satisfy ``log p = sum_v log p(x_C(v)) - log p(x_S(v))``, with C(v) the
family of v and S(v) its parents. Their weights are therefore sums of local ones, and so is the *inverse* of the Fisher
information of all terms inside the cliques:

    G = F^-1 = sum_v F_C(v)^-1 - F_S(v)^-1,      [F_A^-1]_yz = sum_x A_yx A_zx / p(x_A),      theta_A = A log p_A,

a sparse matrix with a closed form. Under normal priors of precision 1/D (per row), D = 0 for terms that were dropped,

    (F + D^-1)^-1 = D - D (G + D)^-1 D,

so that a Newton step on any subset of the terms, and their standard errors, take one sparse factorisation; log Z and
the expectations come from elimination along the same graph.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix, diags, identity
from scipy.sparse.linalg import splu

from fullspan.algebra.basis import Basis, BasisName, Term
from fullspan.engine.elimination.clusters import ClusterTree
from fullspan.learn.likelihood.cholesky import Cholesky
from fullspan.learn.wide.grow import Shape
from fullspan.model.graph import FactorGraph
from fullspan.space import Space

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
_COLUMNS = 256
"""Columns of an inverse that are held at a time."""
DENSE = 4096
"""Terms up to which matrices are dense."""
_LEAST = 1e-14
"""Least probability of a cell in the inverse information."""
_LONGEST = 16.0
"""Longest change of one weight in a Newton step."""


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

    def _inverse(self, variables: tuple[int, ...]) -> Array:
        """``A`` with ``theta = A log p`` for a few variables; it depends on their numbers of levels alone."""
        key = tuple(self.space.cards[i] for i in variables)
        if key not in self._inverses:
            self._inverses[key] = np.asarray(np.linalg.inv(self._functions(variables).T), dtype=np.float64)
        return self._inverses[key]

    @cached_property
    def design(self) -> Any:
        """Sparse (entries, terms): ``values = design theta`` are the factors, and ``eta = design' p`` expectations."""
        rows, columns, data = [], [], []
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

    def inverse_information(self, p: Array) -> Any:
        """``G``, per row, at the probabilities of the families."""
        rows, columns, data = [], [], []
        for sign, variables, cells in self._parts(p):
            inverse = self._inverse(variables)[1:]
            where = np.array([self.place[term] for term in self._terms(variables)[1:]], dtype=np.int64)
            rows.append(np.repeat(where, len(where)))
            columns.append(np.tile(where, len(where)))
            data.append(sign * ((inverse / cells) @ inverse.T).ravel())
        k = len(self.terms)
        return coo_matrix((np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))), (k, k)).tocsc()

    def _parts(self, p: Array) -> list[tuple[float, tuple[int, ...], Array]]:
        """(+1, family, its cells) and (-1, parents, theirs) of every variable."""
        parts: list[tuple[float, tuple[int, ...], Array]] = []
        for v, family in enumerate(self.families):
            cells = np.maximum(
                p[self._starts[v] : self._starts[v + 1]], _LEAST
            )  # before the parents are summed from it
            cube = cells.reshape([self.space.cards[i] for i in family])
            parts.append((1.0, family, cube.ravel()))
            if len(family) > 1:
                rest = tuple(i for i in family if i != v)
                parts.append((-1.0, rest, cube.sum(axis=family.index(v)).ravel()))
        return parts

    def entries(self) -> int:
        """Numbers that ``inverse_information`` is summed from: what a refit costs."""
        return int(np.sum(np.diff(self._starts).astype(np.float64) ** 2))


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


def refit(chordal: Chordal, theta: Array, d: Array, slack: Slack, tolerance: float, max_iterations: int = 30) -> Array:
    """Weights that minimise ``log Z - theta . d`` plus the prior's part, by Newton's method; it never rises.

    Weights of dropped terms are 0.
    """
    kept = slack.kept
    theta = np.where(kept, theta, 0.0)
    log_z, p = chordal.beliefs(theta)
    value = log_z - float(theta @ d) + slack.penalty(theta)
    for _ in range(max_iterations):
        eta = chordal.design.T @ p
        gradient = d - eta
        gradient[kept] -= (theta - slack.mean)[kept] / slack.variance[kept]
        gradient[~kept] = 0.0
        try:
            step = newton_step(chordal.inverse_information(p), slack.variance, gradient)
        except np.linalg.LinAlgError:  # beyond double precision: what was reached stands
            break
        promised = float(gradient @ step) / 2
        if not promised > tolerance:
            break
        length = math.sqrt(2 * promised)
        step *= min(math.log1p(length) / length if length > 1 else 1.0, _LONGEST / float(np.abs(step).max()))
        for _ in range(12):
            log_z, p = chordal.beliefs(theta + step)
            new = log_z - float((theta + step) @ d) + slack.penalty(theta + step)
            if new <= value:
                break
            step /= 4
        else:
            break
        theta, value = theta + step, new
    return theta


def newton_step(inverse: Any, variance: Array, gradient: Array) -> Array:
    """``(F + D^-1)^-1 g = D (G + D)^-1 G g``."""
    return np.asarray(variance * Solver(inverse, variance).solve(inverse @ gradient))


class _Scaled:
    """A sparse factorisation with the diagonal brought to 1, and the least ridge that makes it regular."""

    def __init__(self, matrix: Any) -> None:
        self.scale = 1.0 / np.sqrt(np.maximum(matrix.diagonal(), 1e-300))
        scaled = diags(self.scale) @ matrix @ diags(self.scale)
        for power in range(-10, 1):
            try:
                self._factored = splu((scaled + 10.0**power * identity(len(self.scale))).tocsc())
                return
            except RuntimeError:  # singular to rounding
                continue
        raise np.linalg.LinAlgError("the inverse information is not finite")

    def solve(self, b: Array) -> Array:
        """The matrix's inverse times b."""
        scale = self.scale if b.ndim == 1 else self.scale[:, None]
        return np.asarray(scale * self._factored.solve(scale * b))


class Solver:
    """``(G + D)^-1``, by a dense factorisation where there are few terms, else by a sparse one."""

    def __init__(self, inverse: Any, variance: Array) -> None:
        self.inverse, self.variance = inverse, variance
        self._dense = len(variance) <= DENSE
        if self._dense:
            self._factored: Any = Cholesky.of(inverse.toarray() + np.diag(variance))
        else:
            self._factored = _Scaled(inverse + diags(variance))

    def solve(self, b: Array) -> Array:
        """``(G + D)^-1 b``."""
        return np.asarray(self._factored.solve(b))

    def posterior_variances(self) -> Array:
        """Diagonal of ``(F + D^-1)^-1 = D (G + D)^-1 G = D - D (G + D)^-1 D``; 0 for dropped terms.

        Of many thousand terms the bound ``G_yy D_y / (G_yy + D_y)``: known of y without the other priors.
        """
        if not self._dense:
            alone = np.maximum(self.inverse.diagonal(), 1e-300)
            return np.asarray(alone * self.variance / (alone + self.variance))
        kept = np.flatnonzero(self.variance > 0)
        out = np.zeros(len(self.variance))
        for start in range(0, len(kept), _COLUMNS):
            some = kept[start : start + _COLUMNS]
            solved = self.solve(self.inverse[:, some].toarray())
            out[some] = self.variance[some] * solved[some, np.arange(len(some))]
        return np.maximum(out, 0.0)
