"""A Boltzmann machine beyond the table, from counts to a fitted model whose likelihood is known with an error.

terms -> form -> ascent or pseudo-likelihood -> log Z, exact or annealed -> learning curve, divergence
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.engine.sampling.annealing import MAX_STEPS, annealed
from fullspan.engine.sampling.partition import exact_log_z, log_z
from fullspan.engine.sampling.target import Base
from fullspan.errors import FullspanError
from fullspan.learn.base.column_order import ColumnOrder
from fullspan.learn.base.progress import STOPPED, History, Watch
from fullspan.learn.contrastive.ascent import Ascent, AscentResult, AscentRun, Walk, form_of
from fullspan.learn.contrastive.pseudo import PseudoLikelihood, fit_pseudo
from fullspan.model import Fitted, LogLinear, Step
from fullspan.model.algebra.basis import Basis, BasisName, Term, expand
from fullspan.model.estimate import Estimate

UPDATES, PSEUDO_ITERATIONS = 10_000, 1_000
"""Updates of an ascent, and iterations of L-BFGS, unless ``max_iter`` says otherwise."""
MINIMAL_SLOPE = 1e-6
"""Largest slope of the pseudo-likelihood at which it counts as minimal, unless ``tol`` is larger."""
CURVE_POINTS = 10
"""Points of the learning curve."""
_CURVE_CHAINS, _CURVE_STEPS = 100, 500
_FINAL_CHAINS, _FINAL_STEPS = 200, 6_400
"""Chains and temperatures of annealing along the curve; chains for the fitted model, and temperatures at most."""


def fit_sampled(
    empirical: Empirical,
    terms: Sequence[Term],
    options: Any,
    watch: Watch | None = None,
) -> Fitted:
    """Learn the weights of given terms by ``options.solver``: ``"pcd"``, ``"cd"`` or ``"pseudo"``.

    ``options`` is a :class:`fullspan.learn.likelihood.machine.MachineOptions`.

    Raises
    ------
    FullspanError : cells are missing.
    """
    columns = ColumnOrder(empirical)
    place = {old: new for new, old in enumerate(columns.columns)}
    own = [tuple(sorted((place[i], j) for i, j in term)) for term in terms]
    return columns.restored(_Sampled(columns.data(empirical), own, options, columns.watch(watch)).run())


class _Sampled:
    def __init__(self, empirical: Empirical, terms: Sequence[Term], options: Any, watch: Watch | None) -> None:
        if not empirical.is_complete:
            raise FullspanError(
                f"solver={options.solver!r} needs complete rows, but cells are missing; use missing='drop' or "
                "'level', or an exact solver with missing='em'"
            )
        self.data, self.options = empirical, options
        self.space, self.terms = empirical.space, tuple(terms)
        self.basis = Basis(cast(BasisName, options.basis), self.space.cards)
        self.rng = np.random.default_rng(options.seed)
        self.walk = Walk(form_of(self.space, self.basis, self.terms))
        self.base = Base.of_states(np.array(self.space.cards), empirical.states, empirical.counts)
        self.history, self.last = History(watch), math.nan
        self.curve: list[dict[str, Any]] = []

    def run(self) -> Fitted:
        start = independent(self.basis, self.terms, self.base)
        self._note_curve(0, start)
        reached = self._pseudo(start) if self.options.solver == "pseudo" else self._ascent(start)
        return self._fitted(reached)

    def _ascent(self, start: Array) -> AscentResult:
        o = self.options
        how = Ascent(
            o.learning_rate,
            UPDATES if o.max_iter is None else o.max_iter,
            o.n_chains,
            o.n_sweeps,
            o.solver == "cd",
            o.mean_weights,
            o.l1,
            o.l2,
        )
        spacing = max(1, how.updates // CURVE_POINTS)

        def check(done: int, theta: Array) -> None:
            if done >= spacing * len(self.curve) and done < how.updates:
                self._note_curve(done, theta)
            self._report()

        return AscentRun(self.walk, self.data.states, self.data.counts, start, how, self.rng, check).run()

    def _pseudo(self, start: Array) -> AscentResult:
        o = self.options
        limit = PSEUDO_ITERATIONS if o.max_iter is None else o.max_iter
        best, done = start, 0

        def note(theta: Array, value: float) -> None:
            nonlocal best, done
            best, done = theta, done + 1
            self._report()

        likelihood = PseudoLikelihood(self.walk.form, self.data.states, self.data.counts)
        try:
            theta, violation, iterations, ended = fit_pseudo(
                likelihood, start, o.l2, max(o.tol, MINIMAL_SLOPE), limit, note
            )
        except STOPPED:
            return AscentResult(best, done, math.nan, "interrupted")
        return AscentResult(theta, iterations, violation, "converged" if ended else "iteration limit")

    # -- the likelihood while learning -------------------------------------------------------------------------

    def _model(self, theta: Array, log_z: float = 0.0) -> LogLinear:
        return LogLinear(self.space, self.basis, self.terms, theta, log_z)

    def _log_z(self, theta: Array, chains: int, steps: int | None, most: int = MAX_STEPS) -> Estimate:
        if self._can_be_summed:
            return log_z(self._model(theta), self.rng, chains, steps, self.base)
        return annealed(self.walk.form.target(theta), self.rng, chains, steps, self.base, most).log_z

    @cached_property
    def _can_be_summed(self) -> bool:
        """Whether log Z can be had exactly, wherever the weights are."""
        return exact_log_z(self._model(np.full(len(self.terms), 0.01))) is not None

    def _mean_weight(self, theta: Array) -> float:
        """Mean of ``theta . Phi`` over the rows."""
        weights = self.walk.at(theta).log_weight(self.data.states)
        return float(self.data.counts @ weights) / self.data.total

    def _note_curve(self, done: int, theta: Array, found: Estimate | None = None) -> None:
        found = self._log_z(theta, _CURVE_CHAINS, _CURVE_STEPS) if found is None else found
        value = self._mean_weight(theta) - found.value
        seconds = self.history.seconds
        self.last = -value
        self.curve.append(
            {"update": done, "log_likelihood": value, "error": found.error, "exact": found.exact, "seconds": seconds}
        )
        self.history.steps.append(Step(self.options.solver, len(self.terms), -value, seconds))

    def _report(self) -> None:
        self.history.report(Step(self.options.solver, len(self.terms), self.last, self.history.seconds))

    # -- the result -------------------------------------------------------------------------------------------

    def _fitted(self, reached: AscentResult) -> Fitted:
        found = self._log_z(reached.theta, _FINAL_CHAINS, None, _FINAL_STEPS)
        self._note_curve(reached.updates, reached.theta, found)
        share = self.data.counts / self.data.total
        entropy, surprise = -float(share @ np.log(share)), self.last
        unknown = np.full(len(self.terms), np.nan)
        settings: dict[str, Any] = {
            "estimator": "BoltzmannMachine",
            "iterations": reached.updates,
            "log_z": _noted(found),
            "learning_curve": self.curve,
        }
        if not math.isnan(reached.violation):
            settings["violation"] = reached.violation
        return Fitted(
            model=self._model(reached.theta, found.value),
            standard_errors=unknown,
            nats_saved=unknown,
            **self.data.provenance(),
            divergence=surprise - entropy,
            entropy=entropy,
            description_length=self.data.total * surprise + 0.5 * len(self.terms) * math.log(self.data.total),
            history=tuple(self.history.steps),
            status=reached.status,
            settings=settings,
        )


def _noted(found: Estimate) -> dict[str, Any]:
    """log Z as the settings of a fit keep it."""
    known = {"value": found.value, "error": found.error, "exact": found.exact}
    return known if found.exact else {**known, "freedom": found.freedom, "skewness": found.skewness}


def independent(basis: Basis, terms: Sequence[Term], base: Base) -> Array:
    """Weights of the terms of one variable so that the levels have the frequencies of ``base``, and 0 on all others."""
    given, weights = set(terms), dict[Term, float]()
    for i, logs in enumerate(np.split(base.log_levels, base.starts[1:-1])):
        single: list[Term] = [((i, j),) for j in range(1, basis.cards[i])]
        if given.issuperset(single):
            weights |= dict(zip(single, map(float, expand(basis, [i], logs)[1:]), strict=True))
    return np.array([weights.get(term, 0.0) for term in terms])
