"""A Boltzmann machine with given terms, from counts to a fitted model: exact, with hidden units and missing cells.

structure -> terms -> phases -> face (is the maximum finite?) -> solver -> standard errors, measures of fit
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Variable
from fullspan.engine.dual.table import DualTable
from fullspan.engine.memory import budget_for, require
from fullspan.errors import FullspanError
from fullspan.learn.base.counted import margin_cells, observed_entropy
from fullspan.learn.base.descent import Solution
from fullspan.learn.base.information import standard_errors, wald_nats
from fullspan.learn.base.phase import Known, Phase
from fullspan.learn.base.progress import History, Watch
from fullspan.learn.likelihood.boundary import Face, face_of, face_of_the_rest, grew
from fullspan.learn.likelihood.em import INEXACT_SWEEPS, Projection, alternate_phases
from fullspan.learn.likelihood.ipf import Constraint, attainable, sweep
from fullspan.learn.likelihood.options import MachineOptions as MachineOptions
from fullspan.learn.likelihood.phases import Free, Observed, data_moments, distribution
from fullspan.learn.likelihood.restarts import best_of_runs
from fullspan.learn.likelihood.solve import Likelihood, solve
from fullspan.learn.likelihood.solvers import BEYOND_THE_TABLE as BEYOND_THE_TABLE
from fullspan.learn.likelihood.structure import Structure, structure
from fullspan.model import Fitted, LogLinear
from fullspan.model.algebra.basis import Basis, BasisName
from fullspan.model.algebra.blas import one_core
from fullspan.model.goodness import LEAST_EXPECTED, goodness

MAX_SAMPLED_TERMS = 1 << 20
"""Most weights of the solvers that hold no table."""

MAX_NEWTON = 3000
"""Weights up to which Newton's method is the default, and standard errors are computed."""
_NEAR_VIOLATION = 1e-5
"""Difference of expectations from which weights that have grown large may diverge."""


def fit_machine(
    empirical: Empirical,
    options: MachineOptions | None = None,
    hidden: Sequence[Variable] = (),
    watch: Watch | None = None,
    errors: bool = True,
) -> Fitted:
    """Maximum likelihood of a machine over the variables of the data and ``hidden`` ones, which come last.

    Where cells are missing or units are hidden, the likelihood is that of what was observed. Where the maximum lies at
    infinity, the model is the limit: states that cannot occur have probability 0 to rounding, and ``diverging`` says
    which weights grow without bound.

    Parameters
    ----------
    errors : whether standard errors are computed; NaN if not.

    Raises
    ------
    FullspanError : the structure or an option is wrong.
    TooLargeError : the tables would not fit into memory; nothing has been allocated.
    """
    options = options or MachineOptions()
    if options.solver in BEYOND_THE_TABLE:
        return _sampled(empirical, options, hidden, watch)
    if options.shrinkage is not None:
        if hidden:
            raise FullspanError(
                "shrinkage='evidence' does not support hidden variables; leave out hidden= or shrinkage="
            )
        from fullspan.learn.shrinkage.fit import fit_shrunken

        basis = cast(BasisName, options.basis)
        return fit_shrunken(empirical, basis, options.order, options.max_memory, watch, errors=True)
    # The matrices are small: threads that spin for each other inside BLAS cost more than they bring.
    with one_core():
        return _Machine(empirical, options, hidden, watch, errors).run()


def _sampled(empirical: Empirical, o: MachineOptions, hidden: Sequence[Variable], watch: Watch | None) -> Fitted:
    from fullspan.learn.contrastive.machine import fit_sampled

    if hidden:
        raise FullspanError(
            f"solver={o.solver!r} learns machines without hidden units; use an exact solver for a few of them, or "
            "a RestrictedBoltzmannMachine for a layer"
        )
    basis = Basis(cast(BasisName, o.basis), empirical.space.cards)
    found = structure(empirical.space, o.order, o.graph, o.terms, o.margins, MAX_SAMPLED_TERMS)
    return fit_sampled(empirical, found.terms(basis, MAX_SAMPLED_TERMS), o, watch)


class _Machine:
    def __init__(
        self,
        empirical: Empirical,
        options: MachineOptions,
        hidden: Sequence[Variable],
        watch: Watch | None,
        errors: bool,
    ) -> None:
        self.seen, self.options, self.n_hidden = empirical, options, len(hidden)
        self.errors = errors
        self.data = empirical.with_hidden(hidden)
        self.space = self.data.space
        self.basis = Basis(cast(BasisName, options.basis), self.space.cards)
        self.structure = self._structure()
        self.terms = self.structure.terms(self.basis)
        self.complete = self.data.is_complete
        self._plan()
        self.y = np.array([self.basis.index(term) for term in self.terms], dtype=np.int64)
        self.history = History(watch)
        self.free = Free(DualTable(self.basis, np.float64), self.y)
        self.phase = self._data_phase()

    def _structure(self) -> Structure:
        o = self.options
        return structure(self.space, o.order, o.graph, o.terms, o.margins)

    def _plan(self) -> None:
        tables = 2 if self.complete else 3
        n_bytes = tables * 8 * self.basis.n_states + 24 * min(len(self.terms), MAX_NEWTON) ** 2
        what = (
            f"{tables} tables of {self.basis.n_states:,} states and the Fisher information of {len(self.terms)} "
            f"weights for {self.seen.n_rows:,} rows"
        )
        other = "use fewer hidden units" if self.n_hidden else "use solver='pseudo' or 'pcd'"
        remedy = f"keep fewer variables with columns=, merge levels, {other}, or allow more with max_memory="
        require(n_bytes, budget_for(self.seen.n_rows, self.options.max_memory), what, remedy)

    def _data_phase(self) -> Phase:
        states, counts = self.data.states, self.data.counts
        if self.complete:
            return Known(data_moments(self.basis, self.y, states, counts))
        return Observed(self.basis, self.y, states, counts)

    # -- fitting ----------------------------------------------------------------------------------------------

    def run(self) -> Fitted:
        face = self._face()
        solution = self._best_of_runs(face)
        if face is not None and not self.complete:
            solution, face = self._limit(solution, face)
        return self._fitted(solution, face)

    def _face(self) -> Face | None:
        """The face of the data, where nothing but the data decides; None where the maximum is finite in any case.

        Of rows with open cells it is the face of all states that agree with them: what they exclude however they are
        completed.
        """
        if self.options.l1 or self.options.l2 or not self.terms:
            return None
        seen = self.phase.clamped.states() if isinstance(self.phase, Observed) else self.space.index(self.data.states)
        return face_of(self.basis, self.y, seen, self.options.max_memory)

    def _best_of_runs(self, face: Face | None) -> Solution:
        start = np.zeros(len(self.y)) if face is None else face.start()
        if not self.n_hidden:
            return self._solve(start)
        return best_of_runs(lambda theta: self._solve(start + theta), self.terms, self.seen, self.options)

    def _limit(self, solution: Solution, face: Face) -> tuple[Solution, Face]:
        """The fit on smaller faces, as long as what was observed is no less likely there."""
        o = self.options
        while solution.status != "interrupted" and solution.violation < _NEAR_VIOLATION and grew(solution.theta, face):
            p, left = distribution(self.basis, self.y, solution.theta), max(o.tol, solution.violation)
            smaller = face_of_the_rest(self.basis, self.y, p, face, left, o.max_memory)
            if smaller is None:
                break
            again = self._solve(solution.theta - face.start() + smaller.start())
            if again.status == "interrupted":
                return dataclasses.replace(solution, status="interrupted"), face
            if not again.point.is_as_good_as(solution.point) or again.violation > max(o.tol, solution.violation):
                break
            iterations = solution.iterations + again.iterations
            solution, face = dataclasses.replace(again, iterations=iterations), smaller
        return solution, face

    def _solve(self, theta: Array) -> Solution:
        o, solver = self.options, self._solver()
        likelihood = Likelihood(self.free, self.phase, o.l2, o.l1)
        if self.complete and solver == "ipf":
            return self._ipf(theta)
        if (self.complete or o.em == "auto") and solver != "ipf":
            return solve(likelihood, theta, solver, o.tol, o.max_iter, self.history.refit)
        if o.em == "inexact":
            projection = Projection("ipf", 0.0, max_sweeps=INEXACT_SWEEPS, restart=True)
        else:
            projection = Projection(solver, o.tol / 10)
        limit = 10_000 if o.max_iter is None else o.max_iter
        return alternate_phases(likelihood, theta, projection, o.tol, limit, self.history.refit)

    def _solver(self) -> Any:
        if self.options.solver != "auto":
            return self.options.solver
        return "newton" if len(self.terms) <= MAX_NEWTON else "gradient" if self.options.l1 else "lbfgs"

    def _ipf(self, theta: Array) -> Solution:
        """IPFP from theta: by whole margins where the structure is hierarchical, else term by term."""
        o, likelihood = self.options, Likelihood(self.free, self.phase)
        return sweep(
            likelihood, self.basis, self.terms, self._constraints(), theta, o.tol, o.max_iter, self.history.refit
        )

    def _constraints(self) -> list[Constraint]:
        if self.structure.margins is not None:
            return [Constraint.of_margin(a, margin_cells(self.data, a)) for a in self.structure.margins]
        d = attainable(self.basis, self.phase.eta())
        return [Constraint.of_term(self.basis, term, float(m)) for term, m in zip(self.terms, d, strict=True)]

    # -- the result -------------------------------------------------------------------------------------------

    def _fitted(self, solution: Solution, face: Face | None) -> Fitted:
        counts, total = self.data.counts, self.data.total
        self.free.move(solution.theta)
        self.phase.move(solution.theta)
        errors = self._errors(solution.theta)
        model = LogLinear(self.space, self.basis, self.terms, solution.theta, self.free.table.log_z)
        log_prob = self._log_prob(model)
        surprise = -float(counts @ log_prob) / total
        entropy = observed_entropy(self.data)
        n_parameters, n_cells = self._sizes(solution.theta, face)
        nominal_df = math.prod(self.seen.space.cards) - 1 - len(self.terms)
        return Fitted(
            model=model,
            standard_errors=errors,
            nats_saved=wald_nats(solution.theta, errors),
            **self.seen.provenance(),
            divergence=surprise - entropy,
            entropy=entropy,
            description_length=total * surprise + 0.5 * n_parameters * math.log(total),
            history=tuple(self.history.steps),
            status=solution.status,
            settings={
                "estimator": "BoltzmannMachine",
                "violation": solution.violation,
                "iterations": solution.iterations,
                **self._sparse(solution.theta),
            },
            goodness=goodness(counts, log_prob, n_parameters, n_cells, nominal_df, self.seen.is_complete),
            diverging=() if face is None else tuple(map(int, face.diverging)),
            n_hidden=self.n_hidden,
        )

    def _sparse(self, theta: Array) -> dict[str, float]:
        """Share of the cells whose expected count is below 5, on which chi-squared p-values depend."""
        if not self.seen.is_complete or self.n_hidden:
            return {}
        expected = self.data.total * distribution(self.basis, self.y, theta)
        return {"sparse_cells": round(float(np.mean(expected < LEAST_EXPECTED)), 6)}

    def _log_prob(self, model: LogLinear) -> Array:
        """Log-probability of what each distinct row says."""
        if self.complete:
            return model.log_prob(self.data.states)
        assert isinstance(self.phase, Observed)
        return self.phase.log_z() - model.log_z

    def _sizes(self, theta: Array, face: Face | None) -> tuple[int, int]:
        """Weights that the data determine, and cells of the observed variables that can be positive."""
        cells = math.prod(self.seen.space.cards)
        if face is not None:
            return face.n_free, cells if self.n_hidden else face.n_states
        return int(np.count_nonzero(theta)) if self.options.l1 else len(theta), cells

    def _errors(self, theta: Array) -> Array:
        if len(theta) > MAX_NEWTON or not self.errors:
            return np.full(len(theta), np.nan)
        used = theta != 0 if self.options.l1 else np.ones(len(theta), dtype=bool)
        information = (self.free.covariance() - self.phase.covariance()) * self.data.total
        information += self.options.l2 * self.data.total * np.eye(len(theta))
        return standard_errors(information, used)
