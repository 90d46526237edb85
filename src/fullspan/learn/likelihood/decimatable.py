"""Learning decimatable Boltzmann machines by the information gain (Rueger 1997, eqs. 2 and 3), with hidden nodes.

    f(w) = sum_r q_r [ log Z(inputs_r) - log Z(what the row says) ]

Both phases are decimated: a step costs time linear in nodes times distinct rows, however many nodes are hidden.
Without inputs f is the mean of -log p(row); missing cells and hidden nodes are summed out. f is minimised directly, or
by em: the second phase is replaced by its tangent at the present weights, the likelihood of completed rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Space, Variable
from fullspan.engine.elimination.decimation import Decimation, verdict
from fullspan.engine.elimination.sums import Sums
from fullspan.errors import DataError, FullspanError, require_one_of
from fullspan.graphs import Graph
from fullspan.learn.base.counted import observed_entropy, refuse_open_inputs
from fullspan.learn.base.descent import Solution
from fullspan.learn.base.information import standard_errors, wald_nats
from fullspan.learn.base.progress import History, Watch
from fullspan.learn.likelihood.decimated import Decimated
from fullspan.learn.likelihood.em import Projection, alternate_phases
from fullspan.learn.likelihood.options import MachineOptions
from fullspan.learn.likelihood.restarts import best_of_runs
from fullspan.learn.likelihood.solve import Likelihood, solve
from fullspan.model import Fitted, LogLinear
from fullspan.model.goodness import goodness
from fullspan.model.ising import Ising, walsh_terms, walsh_weights

SOLVERS = ("lbfgs", "newton", "gradient", "em")
_EM_STEPS = 10_000
"""Most steps of em unless the caller says."""
_ERROR_STEPS = 1 << 26
"""Steps of decimation up to which standard errors are worked out: some seconds."""
_ERROR_WEIGHTS = 1500
"""Weights up to which the same holds: their information is a dense matrix, and its eigenvectors take k^3 steps."""


@dataclass(frozen=True)
class DecimatableOptions:
    """How to learn; see :class:`fullspan.DecimatableBoltzmannMachine`."""

    solver: str = "lbfgs"
    l2: float = 0.0
    restarts: int = 5
    tol: float = 1e-6
    max_iter: int | None = None
    seed: Any = None

    def machine(self) -> MachineOptions:
        """The same as options of a machine, checked.

        Raises
        ------
        FullspanError : an option is out of range.
        """
        require_one_of(SOLVERS, solver=self.solver)
        return MachineOptions(
            basis="walsh",
            solver="lbfgs" if self.solver == "em" else self.solver,
            l2=self.l2,
            restarts=self.restarts,
            tol=self.tol,
            max_iter=self.max_iter,
            seed=self.seed,
        )


def fit_decimatable(
    empirical: Empirical,
    graph: Graph,
    options: DecimatableOptions | None = None,
    watch: Watch | None = None,
) -> Fitted:
    """Learn p(outputs | inputs), or the joint distribution where the graph has no inputs; hidden nodes come last.

    Raises
    ------
    FullspanError : a node is no column, a column no node, or an option is wrong.
    DataError : a column has not two levels, or an input is missing.
    NotDecimatableError : the machine cannot be decimated with the nodes that are clamped.
    """
    return _Learner(empirical, graph, options or DecimatableOptions(), watch).run()


def phases(empirical: Empirical, graph: Graph) -> tuple[Decimated, Decimated] | None:
    """The phases of a machine, what is given and what the rows say; None where their covariances would take long."""
    learner = _Learner(empirical, graph, DecimatableOptions(), None)
    if len(learner.terms) > _ERROR_WEIGHTS or learner.given.passes() + learner.observed.passes() > _ERROR_STEPS:
        return None
    return learner.given, learner.observed


class _Learner:
    def __init__(
        self,
        empirical: Empirical,
        graph: Graph,
        options: DecimatableOptions,
        watch: Watch | None,
    ) -> None:
        self.seen, self.options = empirical, options.machine()
        self.em = options.solver == "em"
        self.graph = ordered(graph, empirical.space)
        data = empirical.with_hidden([Variable(name, (0, 1)) for name in self.graph.hidden])
        self.space, self.rows, self.total = data.space, data.states.astype(np.int64), data.total
        self.inputs = self.graph.positions(self.graph.inputs)
        refuse_open_inputs(empirical, self.inputs, "learn the joint distribution without inputs")
        self.shares = data.counts / data.total
        pairs = self.graph.pairs()
        self.edges = pairs[~np.isin(pairs, self.inputs).all(axis=1)]  # what inputs have alone cancels
        self.biased = [i for i in range(len(self.space)) if i not in self.inputs]
        self.observed = self._phase(self.rows, self.shares)
        self.given = self._given()
        self.terms = walsh_terms(self.edges, self.biased)
        self.history = History(watch)

    def _phase(self, rows: NDArray[np.int64], shares: Array) -> Decimated:
        return Decimated(len(self.space), self.edges, rows, shares, self.biased, self.space.names)

    def _given(self) -> Decimated:
        """Inputs clamped and all else open; equal inputs are one row."""
        rows = np.full_like(self.rows, -1)
        rows[:, list(self.inputs)] = self.rows[:, list(self.inputs)]
        distinct, which = np.unique(rows, axis=0, return_inverse=True)
        shares = np.bincount(which.ravel(), weights=self.shares).astype(np.float64)
        return self._phase(distinct, shares)

    def run(self) -> Fitted:
        likelihood = Likelihood(self.given, self.observed, self.options.l2)
        o = self.options

        def run(theta: Array) -> Solution:
            if self.em:
                limit = _EM_STEPS if o.max_iter is None else o.max_iter
                projection = Projection("lbfgs", o.tol / 10)
                return alternate_phases(likelihood, theta, projection, o.tol, limit, self.history.refit)
            return solve(likelihood, theta, o.solver, o.tol, o.max_iter, self.history.refit)  # type: ignore[arg-type]

        if not self.graph.hidden:
            return self._fitted(likelihood, run(np.zeros(len(self.terms))))
        return self._fitted(likelihood, best_of_runs(run, self.terms, self.seen, o))

    def _fitted(self, likelihood: Likelihood, solution: Solution) -> Fitted:
        gain = likelihood.move(solution.theta) - likelihood.penalty(solution.theta)
        errors = self._errors(len(solution.theta))
        entropy = self._entropy()
        k = len(solution.theta)
        log_prob = self.observed.log_z() - float(self.given.log_z()[0]) if not self.inputs else np.array([-gain])
        counts = self.seen.counts if not self.inputs else np.array([self.total])
        cells = self.seen.space.n_states if not self.inputs and len(self.seen.space) < 63 else 0
        return Fitted(
            model=self._model(solution.theta),
            standard_errors=errors,
            nats_saved=wald_nats(solution.theta, errors),
            **self.seen.provenance(),
            divergence=gain - entropy,
            entropy=entropy,
            description_length=self.total * gain + 0.5 * k * math.log(self.total),
            history=tuple(self.history.steps),
            status=solution.status,
            settings={
                "graph": [list(edge) for edge in self.graph.edges],
                "inputs": list(self.graph.inputs),
                "hidden": list(self.graph.hidden),
                "outputs": list(self.graph.outputs),
                "violation": solution.violation,
                "iterations": solution.iterations,
            },
            goodness=goodness(counts, log_prob, k, cells, cells - 1 - k, complete=False),
            n_hidden=len(self.graph.hidden),
        )

    def _model(self, theta: Array) -> LogLinear:
        """The model, with the log Z of nothing clamped; by general elimination where only clamped phases decimate."""
        k, fields = len(self.edges), np.zeros(len(self.space))
        turned = walsh_weights(theta[:k], theta[k:])
        fields[self.biased] = turned[k:]
        machine = Ising(len(self.space), self.edges, turned[:k], fields)
        if not verdict(machine.n, self.edges):
            log_z = Sums(machine.loglinear(self.space, 0.0, self.biased)).log_z()
            return machine.loglinear(self.space, log_z, self.biased)
        free = Decimation(machine.n, self.edges)
        return machine.loglinear(self.space, free.log_z(machine.couplings, machine.fields), self.biased)

    def _errors(self, k: int) -> Array:
        """Standard errors, unless they would take long."""
        if k > _ERROR_WEIGHTS or self.given.passes() + self.observed.passes() > _ERROR_STEPS:
            return np.full(k, np.nan)
        information = self.given.covariance() - self.observed.covariance() + self.options.l2 * np.eye(k)
        return standard_errors(self.total * information)

    def _entropy(self) -> float:
        """Entropy of what was learned: of the rows, less that of the inputs."""
        whole = observed_entropy(self.seen)
        if not self.inputs:
            return whole
        _, which = np.unique(self.rows[:, list(self.inputs)], axis=0, return_inverse=True)
        q = np.bincount(which.ravel(), weights=self.shares)
        return whole + float(q @ np.log(q))


def ordered(graph: Graph, space: Space) -> Graph:
    """The graph with its nodes in the order of the columns, hidden ones last.

    Raises
    ------
    FullspanError : a node that is not hidden is no column, a hidden one is, or a column is no node.
    DataError : a column has not two levels.
    """
    for name in graph.hidden:
        if name in space.names:
            raise FullspanError(f"the node {name!r} is hidden, but the table has a column of that name")
    for name in graph.names:
        if name not in space.names and name not in graph.hidden:
            shown = ", ".join(space.names[:12]) + (", ..." if len(space) > 12 else "")
            raise FullspanError(
                f"the node {name!r} is not a column of the table and not hidden; the columns are: {shown}"
            )
    for variable in space.variables:
        if variable.name not in graph.names:
            raise FullspanError(
                f"the column {variable.name!r} is not a node of the graph; add it, or leave it out with columns="
            )
        if variable.card != 2:
            raise DataError(
                f"{variable.name!r} has {variable.card} levels; a machine of spins needs two: use bins or merge levels"
            )
    if graph.inputs and not graph.outputs:
        learned: Sequence[str] = [v for v in space.names if v not in graph.inputs]
        if not learned:
            raise FullspanError("every column is an input; there is nothing to learn")
        return Graph((*space.names, *graph.hidden), graph.edges, graph.inputs, graph.hidden, tuple(learned))
    return Graph((*space.names, *graph.hidden), graph.edges, graph.inputs, graph.hidden, graph.outputs)
