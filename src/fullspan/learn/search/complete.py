"""The search on complete rows: plan, load the tables, search in each basis, keep the shortest description."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullspan.data import Empirical
from fullspan.engine.planner import plan
from fullspan.learn.base.counted import smoothed_entropy
from fullspan.learn.base.progress import STOPPED, History, Watch
from fullspan.learn.search import line
from fullspan.learn.search.full import (
    LARGEST_MARGIN,
    Grown,
    carry_over,
    description,
    grow,
    names_in_use,
    sift_out,
)
from fullspan.learn.search.options import PSEUDO_ROWS, Limits, Options
from fullspan.learn.search.paper import paper_search
from fullspan.learn.search.penalty import prices
from fullspan.learn.search.problem import Problem, as_arrays, variances
from fullspan.model import Fitted, LogLinear
from fullspan.model.algebra.basis import Basis, BasisName, is_power_of_two
from fullspan.model.algebra.blas import one_core

_RACE_MOVES = 48
"""Moves of the best basis so far from which the others race against it."""


def fit_complete(
    empirical: Empirical,
    options: Options | None = None,
    watch: Watch | None = None,
    start: LogLinear | None = None,
    limits: Limits | None = None,
) -> Fitted:
    """Learn a log-linear model of complete rows; see :func:`fullspan.learn.search.fit.fit_search`."""
    options, limits = options or Options(), limits or Limits()
    before = _Before(time.perf_counter())
    for name in _bases(empirical, options, start):
        try:
            # The matrices are small: threads that spin for each other inside BLAS cost more than they bring.
            with one_core():
                search = _Fit(empirical, options, name, watch, start, before, limits)
                best = search.run()
        except KeyboardInterrupt:  # while the tables were being set up: nothing new to keep
            if before.best is None:
                raise
            return dataclasses.replace(before.best, status="interrupted")
        if best.status == "interrupted":
            return best
        before = dataclasses.replace(before, best=best, grown=search.grown)
    assert before.best is not None
    return before.best


@dataclass(frozen=True)
class _Before:
    """What the bases tried before have found, and when the fit began."""

    started: float
    best: Fitted | None = None
    grown: Grown | None = None


def described(empirical: Empirical, options: Options, model: LogLinear) -> Fitted:
    """A model that was learned from these data elsewhere, term by term, with standard errors and savings."""
    with one_core():
        return _Fit(empirical, options, model.basis.name, None, model, _Before(time.perf_counter()))._fitted(
            "converged"
        )


def _bases(empirical: Empirical, options: Options, start: LogLinear | None) -> tuple[BasisName, ...]:
    if start is not None:
        return (start.basis.name,)
    if options.basis != "auto":
        return (options.basis,)  # type: ignore[return-value]
    if options.device == "sharded":
        return ("walsh",)
    many = any(is_power_of_two(card) and card > 2 for card in empirical.space.cards)
    # Of two levels Walsh and indicator functions are the same up to their sign.
    return ("walsh", "indicator", "monomial") if many else ("walsh", "monomial")


class _Fit:
    """One search in one basis, from tables to a fitted model."""

    def __init__(
        self,
        empirical: Empirical,
        options: Options,
        basis: BasisName,
        watch: Watch | None,
        start: LogLinear | None,
        before: _Before,
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.empirical, self.options, self.best, self.grown = empirical, options, before.best, before.grown
        self.basis = Basis(basis, empirical.space.cards)
        total = float(empirical.total)
        planned = plan(self.basis, total, options.dtype, options.max_memory, options.by_terms, options.device)
        self.device, self.note = planned.device, planned.note
        pseudo = 0.0 if options.by_terms else PSEUDO_ROWS
        max_order = None if options.max_order is None else min(options.max_order, len(self.basis.cards))
        tariff = prices(self.basis.cards, total, options.penalty, max_order)
        table = planned.table(self.basis)
        table.set_data(empirical.space.index(empirical.states), empirical.counts, pseudo)
        table.set_prices(tariff)
        entropy = smoothed_entropy(empirical.counts, self.basis.n_states, pseudo)
        history = History(watch, before.started)
        self.problem = Problem(table, tariff, entropy, total, options.l1, history, self._keep, self._snapshot)
        if start is not None:
            table.set_theta({self.basis.index(term): weight for term, weight in start})
            self.problem.names = 0.0 if options.by_terms else names_in_use(self.problem)
        self._keep()

    def run(self) -> Fitted:
        try:
            status = self._search()
        except STOPPED:
            status = "interrupted"
            theta, self.problem.names, self.problem.prior = self.kept
            self.problem.table.set_theta(theta)
        fitted = self._fitted(status)
        if status == "interrupted":
            fitted = dataclasses.replace(fitted, status=status)
        del self.problem  # a watcher may still hold the last snapshot function, and through it two large tables
        return fitted

    def _search(self) -> str:
        if self.options.by_terms:
            status = self._race()
            self.problem.note_drift(self.problem.table.rebuild())
            return status
        carried = self.grown is not None and carry_over(self.grown, self.problem)
        status, self.grown = grow(self.problem, 0 if carried else LARGEST_MARGIN, self.limits.rounds, self.limits.terms)
        sift_out(self.problem)
        return status

    def _race(self) -> str:
        """Search term by term, unless another basis was ahead after a third of its moves: then this one is given up."""
        if self.best is not None and len(self.best.history) >= _RACE_MOVES:
            lap = len(self.best.history) // 3
            status = paper_search(self.problem, self.options.epsilon, max_steps=lap)
            if status == "converged" or self.problem.cost() > self.best.history[lap - 1].cost:
                return status
        return paper_search(self.problem, self.options.epsilon)

    def _keep(self) -> None:
        """Remember the last point whose description is known to be the shortest so far."""
        self.kept = dict(self.problem.table.theta), self.problem.names, self.problem.prior

    def _snapshot(self) -> Fitted:
        return dataclasses.replace(self._fitted("interrupted"), status="interrupted")

    def _fitted(self, status: str) -> Fitted:
        """The best model so far: of this basis, or of one tried before."""
        problem, table, n = self.problem, self.problem.table, self.problem.total
        y, theta = as_arrays(table.theta)
        price = (problem.cost() if self.options.by_terms else description(problem)) - problem.divergence()
        model = LogLinear(
            self.empirical.space, self.basis, tuple(self.basis.term(int(i)) for i in y), theta, table.log_partition()
        )
        counts = self.empirical.counts
        # From the model itself and not from the table, whose float32 sums would be off in the last digits shown.
        surprise = -float(counts @ model.log_prob(self.empirical.states)) / n
        length = n * (surprise + price)
        # The descriptions of different bases are compared by the same rows, in nats over all of them.
        if self.best is not None and self.best.description_length <= length:
            return self.best
        errors, saved = self._uncertainty(theta)
        entropy = smoothed_entropy(counts, self.basis.n_states, 0.0)
        return Fitted(
            model=model,
            standard_errors=errors,
            nats_saved=saved,
            **self.empirical.provenance(),
            divergence=surprise - entropy,
            entropy=entropy,
            description_length=length,
            history=tuple(problem.history.steps),
            status=status,
            drift=problem.drift,
            settings={
                **dataclasses.asdict(self.options),
                "basis_chosen": self.basis.name,
                "device_chosen": self.device,
                **({"device_note": self.note} if self.note else {}),
            },
            prior=None if problem.prior is None else (problem.prior.mean, n * problem.prior.precision),
        )

    def _uncertainty(self, theta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Standard errors, and the nats over all rows that each term saves, approximately."""
        if not theta.size:
            return np.zeros(0), np.zeros(0)
        problem, prior = self.problem, self.problem.prior
        posterior = variances(problem, None if prior is None else prior.precision)
        plain = variances(problem) if prior is not None else posterior
        y, _ = as_arrays(problem.table.theta)
        d, zero_one = problem.d_at(y), self.basis.zero_one
        saved = line.approximate_nats(problem.eta_at(y), d, theta, plain, problem.total, zero_one)
        return np.sqrt(posterior), saved
