"""Learning from margins instead of rows: the distribution of largest entropy that has them, found as for data.

The margins A_1, A_2, ... fix the expectations d of all terms inside them, and nothing else enters the likelihood

    L(theta) / N = theta . d - log Z(theta),

so the solvers of a machine serve. A cell of probability 0 in a margin excludes its states: the face is what is left. If
the margins exclude further states without saying so (three pairwise margins may), the weights grow until their
probabilities vanish; then the face of the others is tried, and kept if the fit on it has all margins.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.tables.margin_counts import MarginCounts
from fullspan.engine.dual.table import DualTable
from fullspan.engine.memory import budget, require
from fullspan.errors import DataError
from fullspan.learn.base.descent import Solution
from fullspan.learn.base.information import standard_errors, wald_nats
from fullspan.learn.base.phase import Known
from fullspan.learn.base.progress import History, Watch
from fullspan.learn.likelihood.boundary import Face, face_of, face_of_the_rest, grew
from fullspan.learn.likelihood.ipf import Constraint, sweep
from fullspan.learn.likelihood.machine import MAX_NEWTON
from fullspan.learn.likelihood.options import MachineOptions
from fullspan.learn.likelihood.phases import Free, distribution
from fullspan.learn.likelihood.solve import Likelihood, solve
from fullspan.learn.likelihood.structure import structure
from fullspan.model import Fitted, LogLinear
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.goodness import Goodness

_CHECKED_STATES = 1 << 12
"""States up to which a linear program decides whether any distribution has the margins."""
_POSSIBLE_DIFFERENCE = 1e-6
"""Largest difference that is put down to rounding by that linear program."""


def fit_margins(margins: MarginCounts, options: MachineOptions, watch: Watch | None = None) -> Fitted:
    """The machine of largest entropy with these margins; its terms are all those inside them.

    Raises
    ------
    DataError : no distribution has these margins.
    TooLargeError : the tables would not fit into memory; nothing has been allocated.
    """
    return _Raking(margins, options, watch).run()


class _Raking:
    def __init__(self, margins: MarginCounts, options: MachineOptions, watch: Watch | None) -> None:
        self.options, self.space = options, margins.space
        self.shares = {tuple(sorted(where)): t.transpose(np.argsort(where)) for where, t in margins.shares().items()}
        self.total = None if margins.are_shares else margins.total
        self.basis = Basis(options.basis, self.space.cards)  # type: ignore[arg-type]
        shape = structure(self.space, margins=[[self.space.names[i] for i in scope] for scope in self.shares])
        self.terms, self.scopes = shape.terms(self.basis), shape.margins or ()
        n_bytes = 3 * 8 * self.basis.n_states + 24 * min(len(self.terms), MAX_NEWTON) ** 2
        require(n_bytes, budget(options.max_memory), f"three tables of {self.basis.n_states:,} states", "merge levels")
        self.y = np.array([self.basis.index(term) for term in self.terms], dtype=np.int64)
        self.history = History(watch)
        self.means = self._means()
        self.d = np.array([self.means[term] for term in self.terms])
        self.free = Free(DualTable(self.basis, np.float64), self.y)
        self.likelihood = Likelihood(self.free, Known(self.d), options.l2, options.l1)

    def _means(self) -> dict[Term, float]:
        """Expectations of all terms, averaged over the margins that hold them."""
        found: dict[Term, list[float]] = {}
        for scope, shares in self.shares.items():
            small = Basis(self.basis.name, shares.shape)
            moments = shares.ravel(order="F").copy()
            small.analyse(moments)
            for term, mean in zip(self.basis.subterms(scope), moments.tolist(), strict=True):
                found.setdefault(term, []).append(mean)
        return {term: math.fsum(values) / len(values) for term, values in found.items()}

    def run(self) -> Fitted:
        face = None if self.options.l1 or self.options.l2 else self._face(self._allowed())
        solution = self._solve(face)
        if face is not None:
            if solution.status != "converged":
                self._refuse_impossible()
            if solution.status != "converged" or grew(solution.theta, face):
                solution, face = self._smaller(solution, face)
        return self._fitted(solution, face)

    def _allowed(self) -> NDArray[np.int64]:
        """States with no cell of probability 0."""
        allowed = np.ones(self.space.cards[::-1], dtype=bool)  # the first variable is fastest
        n = len(self.space)
        for scope, shares in self.shares.items():
            shape = [shares.shape[scope.index(i)] if i in scope else 1 for i in reversed(range(n))]
            allowed &= (shares > 0).transpose().reshape(shape)
        if not allowed.any():
            raise DataError("contradictory margins: their zeros exclude every state, and no distribution has them all")
        return np.flatnonzero(allowed.ravel()).astype(np.int64)

    def _face(self, states: NDArray[np.int64]) -> Face:
        return face_of(self.basis, self.y, states, self.options.max_memory)

    def _solve(self, face: Face | None) -> Solution:
        o, theta = self.options, np.zeros(len(self.y)) if face is None else face.start()
        if o.solver == "ipf":
            constraints = [Constraint.of_margin(a, _cells(self.basis, a, self.means)) for a in self.scopes]
            likelihood, basis, terms = self.likelihood, self.basis, self.terms
            return sweep(likelihood, basis, terms, constraints, theta, o.tol, o.max_iter, self.history.refit)
        few = "newton" if len(self.y) <= MAX_NEWTON else "gradient" if o.l1 else "lbfgs"
        solver = few if o.solver == "auto" else o.solver
        return solve(self.likelihood, theta, solver, o.tol, o.max_iter, self.history.refit)  # type: ignore[arg-type]

    def _smaller(self, solution: Solution, face: Face) -> tuple[Solution, Face]:
        """The fit on a smaller face, if the states on it suffice."""
        o = self.options
        p, left = distribution(self.basis, self.y, solution.theta), max(o.tol, solution.violation)
        smaller = face_of_the_rest(self.basis, self.y, p, face, left, o.max_memory)
        if smaller is None:
            return solution, face
        again = self._solve(smaller)
        return (again, smaller) if again.status == "converged" else (solution, face)

    def _refuse_impossible(self) -> None:
        """Refuse margins that no distribution has, where a linear program can tell."""
        if self.basis.n_states > _CHECKED_STATES:
            return
        from scipy.optimize import linprog

        states = self.space.states(np.arange(self.basis.n_states))
        phi = self.basis.evaluate(self.terms, states).astype(np.float64).T
        off = -np.ones((len(self.y), 1))
        solved = linprog(
            np.r_[np.zeros(self.basis.n_states), 1.0],
            A_ub=np.block([[phi, off], [-phi, off]]),
            b_ub=np.r_[self.d, -self.d],
            A_eq=np.r_[np.ones(self.basis.n_states), 0.0][None],
            b_eq=[1.0],
            method="highs",
        )
        if solved.status == 0 and solved.fun > _POSSIBLE_DIFFERENCE:
            raise DataError(
                "contradictory margins: each two agree on the variables they share, but no distribution has them all; "
                f"the nearest one misses an expectation by {solved.fun:.3g}"
            )

    # -- the result -------------------------------------------------------------------------------------------

    def _fitted(self, solution: Solution, face: Face | None) -> Fitted:
        self.likelihood.move(solution.theta)
        log_z, total = self.free.table.log_z, self.total
        model = LogLinear(self.space, self.basis, self.terms, solution.theta, log_z)
        surprise = log_z - float(solution.theta @ self.d)
        errors = self._errors(solution.theta)
        measures = None if total is None else self._goodness(-surprise * total, solution.theta, face)
        return Fitted(
            model=model,
            standard_errors=errors,
            nats_saved=wald_nats(solution.theta, errors),
            total=1.0 if total is None else total,
            n_rows=0 if total is None else round(total),
            n_dropped=0,
            divergence=math.nan,
            entropy=math.nan,
            description_length=math.nan if measures is None else measures.bic / 2,
            history=tuple(self.history.steps),
            status=solution.status,
            settings={"violation": solution.violation, "iterations": solution.iterations, "from_margins": True},
            goodness=measures,
            diverging=() if face is None else tuple(map(int, face.diverging)),
        )

    def _errors(self, theta: Array) -> Array:
        if self.total is None or len(theta) > MAX_NEWTON:
            return np.full(len(theta), np.nan)
        information = self.free.covariance() + self.options.l2 * np.eye(len(theta))
        return standard_errors(information * self.total, theta != 0 if self.options.l1 else None)

    def _goodness(self, log_likelihood: float, theta: Array, face: Face | None) -> Goodness:
        """What the margins determine: the cells themselves were not seen, so there is no deviance."""
        k = int(np.count_nonzero(theta)) if self.options.l1 else len(theta) if face is None else face.n_free
        cells = self.basis.n_states if face is None else face.n_states
        assert self.total is not None
        return Goodness(
            log_likelihood=log_likelihood,
            n_parameters=k,
            aic=2 * k - 2 * log_likelihood,
            bic=k * math.log(self.total) - 2 * log_likelihood,
            g2=math.nan,
            pearson=math.nan,
            df=cells - 1 - k,
            nominal_df=self.basis.n_states - 1 - len(theta),
            p_value=math.nan,
            pearson_p_value=math.nan,
            n_cells=cells,
        )


def _cells(basis: Basis, variables: Sequence[int], means: Mapping[Term, float]) -> Array:
    """p(x_A), flat with the first variable fastest, from the expectations of all terms inside A."""
    cells = np.array([means[term] if term else 1.0 for term in basis.subterms(variables)])
    Basis(basis.name, tuple(basis.cards[i] for i in variables)).invert(cells)
    cells[cells < 1e-14] = 0.0  # what is left of a zero is rounding
    return cells
