"""Conditional learning: p(outputs | inputs) by the information gain (Rueger 1997, eq. 2).

    f(theta) = sum_r q_r [ log Z(inputs_r) - log Z(inputs_r, outputs_r) ]

Only what happens given the inputs is learned: terms of inputs alone cancel, and are left out. The sums run over the
states of outputs and hidden units for the inputs that occur, so the number of inputs does not matter, only the number
of outputs and hidden units does. Without hidden units f is convex; logistic regression is the case of one output and
``order=2``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Space, Variable
from fullspan.engine.elimination.sums import Sums
from fullspan.engine.memory import budget, require
from fullspan.errors import FullspanError
from fullspan.learn.base.counted import refuse_open_inputs
from fullspan.learn.base.descent import Solution
from fullspan.learn.base.information import standard_errors, wald_nats
from fullspan.learn.base.phase import Known, Phase
from fullspan.learn.base.progress import History, Watch
from fullspan.learn.likelihood.boundary import separating
from fullspan.learn.likelihood.machine import MAX_NEWTON
from fullspan.learn.likelihood.options import MachineOptions
from fullspan.learn.likelihood.phases import Features
from fullspan.learn.likelihood.restarts import best_of_runs
from fullspan.learn.likelihood.solve import Likelihood, solve
from fullspan.learn.likelihood.solvers import BEYOND_THE_TABLE
from fullspan.learn.likelihood.structure import structure
from fullspan.model import Fitted, LogLinear
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.algebra.blas import one_core
from fullspan.model.goodness import goodness

if TYPE_CHECKING:
    from fullspan.learn.likelihood.multinomial import Choice

_PRECISE, _MAX_STEPS = 1e-8, 5000
"""Largest derivative left, and steps, of the fit of all rows at the chosen penalty."""


_JOINT = "learn the joint distribution with missing='em'"


@dataclass(frozen=True)
class Roles:
    """Positions of the variables that are given, and of those whose distribution is learned."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @classmethod
    def of(cls, space: Space, inputs: Sequence[str] | None, outputs: Sequence[str]) -> Roles:
        """Roles by name; all variables that are no outputs are inputs unless these are named.

        Raises
        ------
        FullspanError : a name is unknown or has two roles, a variable has none, or there are no outputs.
        """
        learned = tuple(space.position(name) for name in outputs)
        for i in learned:
            if learned.count(i) > 1:
                raise FullspanError(f"{space.names[i]!r} is named twice among the outputs; once is enough")
        given = (
            tuple(i for i in range(len(space)) if i not in learned)
            if inputs is None
            else tuple(space.position(name) for name in inputs)
        )
        if not learned:
            raise FullspanError("there are no outputs; name at least one, or fit a BoltzmannMachine instead")
        for i in learned:
            if i in given:
                raise FullspanError(f"{space.names[i]!r} is both an input and an output; it can be one of them")
        for i in range(len(space)):
            if i not in given and i not in learned:
                raise FullspanError(
                    f"{space.names[i]!r} is neither input nor output; name its role, or leave it out with columns="
                )
        if not given:
            raise FullspanError("there are no inputs; to learn p(outputs) itself, fit a BoltzmannMachine")
        return cls(given, learned)


def fit_conditional(
    empirical: Empirical,
    outputs: Sequence[str],
    inputs: Sequence[str] | None = None,
    options: MachineOptions | None = None,
    hidden: Sequence[Variable] = (),
    watch: Watch | None = None,
    choose: Sequence[int] = (),
) -> Fitted:
    """Learn p(outputs | inputs), with hidden units if wanted; outputs may be missing in some rows, inputs may not.

    ``choose`` are orders, one of which is chosen together with a ridge by held-out likelihood
    (:mod:`fullspan.learn.likelihood.multinomial`); the order and ridge of the options are then not used. The model
    returned is a joint one in form; only its conditionals given all inputs were learned.

    Raises
    ------
    FullspanError : roles, structure or an option are wrong.
    DataError : an input is missing in some row.
    TooLargeError : the states of outputs and hidden units are too many.
    """
    roles = Roles.of(empirical.space, inputs, outputs)
    with one_core():
        if choose:
            return _Chosen(empirical, roles, options or MachineOptions(), choose, watch).run()
        return _Conditional(empirical, roles, options or MachineOptions(), hidden, watch).run()


class _Conditional:
    def __init__(
        self,
        empirical: Empirical,
        roles: Roles,
        options: MachineOptions,
        hidden: Sequence[Variable],
        watch: Watch | None,
    ) -> None:
        if options.solver in ("ipf", *BEYOND_THE_TABLE) or options.em != "auto":
            raise FullspanError("conditional learning has the solvers 'newton', 'lbfgs' and 'gradient', and em='auto'")
        self.seen, self.roles, self.options, self.n_hidden = empirical, roles, options, len(hidden)
        refuse_open_inputs(empirical, roles.inputs, _JOINT)
        data = empirical.with_hidden(hidden)
        self.space, self.states, self.total = data.space, data.states.astype(np.int64), data.total
        self.shares = data.counts / data.total
        self.basis = Basis(options.basis, self.space.cards)  # type: ignore[arg-type]
        self.terms = self._terms()
        self._plan()
        self.given = self._given()
        self.observed: Phase = self._observed_phase(data.is_complete)
        self.history = History(watch)

    def _terms(self) -> tuple[Term, ...]:
        """The terms that do not cancel: those with an output or a hidden unit."""
        o = self.options
        found = structure(self.space, o.order, o.graph, o.terms, o.margins).terms(self.basis)
        inputs = set(self.roles.inputs)
        # A term of inputs alone has the same value in Z(inputs) and in Z(inputs, outputs).
        kept = tuple(term for term in found if any(i not in inputs for i, _ in term))
        if not any(i in self.roles.outputs for term in kept for i, _ in term):
            names = ", ".join(repr(self.space.names[i]) for i in self.roles.outputs)
            raise FullspanError(f"no term has an output, so nothing would be learned about {names}; name it in a term")
        return kept

    def _plan(self) -> None:
        n_open = math.prod(card for i, card in enumerate(self.space.cards) if i not in self.roles.inputs)
        # One byte of features per open state, for the rows with inputs clamped and for those with outputs clamped too.
        n_bytes = 2 * len(self.states) * n_open * len(self.terms)
        what = f"{len(self.states):,} rows times {n_open:,} states of outputs and hidden units, {len(self.terms)} terms"
        require(n_bytes, budget(self.options.max_memory), what, "use fewer outputs, hidden units or terms")

    def _given(self) -> Features:
        """Inputs clamped, all else open; rows with equal inputs are one."""
        rows = np.full_like(self.states, -1)
        rows[:, self.roles.inputs] = self.states[:, self.roles.inputs]
        distinct, which = np.unique(rows, axis=0, return_inverse=True)
        shares = np.bincount(which.ravel(), weights=self.shares).astype(np.float64)
        return Features(self.basis, self.terms, distinct, shares)

    def _observed_phase(self, complete: bool) -> Phase:
        if not complete:
            return Features(self.basis, self.terms, self.states, self.shares)
        return Known(self.shares @ self.basis.evaluate(self.terms, self.states).astype(np.float64))

    def run(self) -> Fitted:
        o = self.options
        likelihood = Likelihood(self.given, self.observed, o.l2, o.l1)
        solver: Any = "newton" if o.solver == "auto" else o.solver

        def run(theta: Array) -> Solution:
            return solve(likelihood, theta, solver, o.tol, o.max_iter, self.history.refit)

        if not self.n_hidden:
            return self._fitted(likelihood, run(np.zeros(len(self.terms))))
        return self._fitted(likelihood, best_of_runs(run, self.terms, self.seen, o))

    def _ridge(self) -> Array:
        """Second derivative of the penalty."""
        return np.asarray(self.options.l2 * np.eye(len(self.terms)))

    def _fitted(self, likelihood: Likelihood, solution: Solution) -> Fitted:
        gain = likelihood.move(solution.theta) - likelihood.penalty(solution.theta)
        used = solution.theta != 0 if self.options.l1 else np.ones(len(solution.theta), dtype=bool)
        errors = np.full(len(solution.theta), np.nan)
        if len(solution.theta) <= MAX_NEWTON:
            information = self.given.covariance() - self.observed.covariance() + self._ridge()
            errors = standard_errors(self.total * information, used)
        entropy = self._entropy()
        k = int(np.count_nonzero(used))
        names = self.space.names
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
                "roles": {
                    "inputs": [names[i] for i in self.roles.inputs],
                    "outputs": [names[i] for i in self.roles.outputs],
                },
                "violation": solution.violation,
                "iterations": solution.iterations,
            },
            goodness=self._goodness(gain, k),
            diverging=self._diverging(solution),
            n_hidden=self.n_hidden,
        )

    def _model(self, theta: Array) -> LogLinear:
        model = LogLinear(self.space, self.basis, self.terms, theta, 0.0)
        log_z = Sums(model, self.options.max_memory).log_z()
        return LogLinear(self.space, self.basis, self.terms, theta, log_z)

    def _goodness(self, gain: float, k: int) -> Any:
        """Measures of the conditional likelihood; there is no table to be saturated."""
        return goodness(np.array([self.total]), np.array([-gain]), k, n_cells=0, nominal_df=0, complete=False)

    def _entropy(self) -> float:
        """Mean entropy of the outputs given the inputs in the data: what no model can save.

        Where outputs are missing, that of the observed ones, among the rows that observe the same.
        """
        given = np.concatenate([self.states[:, self.roles.inputs], self.states[:, self.roles.outputs] < 0], axis=1)
        _, which = np.unique(given, axis=0, return_inverse=True)
        # -sum q(x, y) ln q(y | x), the shares of equal inputs in the denominator.
        inputs = np.bincount(which.ravel(), weights=self.shares)
        return -float(self.shares @ np.log(self.shares / inputs[which.ravel()]))

    def _diverging(self, solution: Solution) -> tuple[int, ...]:
        """Terms whose weights grow without bound because the inputs separate the outputs."""
        o = self.options
        if o.l1 or o.l2 or not self.observed.is_linear:
            return ()
        return tuple(separating(self.basis, self.terms, self.states, self.roles.outputs).tolist())


class _Chosen(_Conditional):
    """One output and no hidden units, with the order and the ridge of the largest held-out likelihood."""

    def __init__(
        self,
        empirical: Empirical,
        roles: Roles,
        options: MachineOptions,
        orders: Sequence[int],
        watch: Watch | None,
    ) -> None:
        from fullspan.learn.likelihood.multinomial import n_features

        refuse_open_inputs(empirical, roles.inputs, _JOINT)
        inputs, self.output = list(roles.inputs), roles.outputs[0]
        self.cards = [empirical.space.cards[i] for i in inputs]
        known = empirical.states[:, self.output] >= 0
        states = empirical.states[known].astype(np.int64)
        self.inputs, which = np.unique(states[:, inputs], axis=0, return_inverse=True)
        self.counts = np.zeros((len(self.inputs), empirical.space.cards[self.output]))
        np.add.at(self.counts, (which.ravel(), states[:, self.output]), empirical.counts[known])
        self.choice = self._choice(orders, History(watch))
        self.scales = np.ones(n_features(self.cards, self.choice.order))
        super().__init__(empirical, roles, replace(options, order=self.choice.order, l2=0.0), (), watch)

    def _choice(self, orders: Sequence[int], history: History) -> Choice:
        """The smallest of several orders is always tried, larger ones where they are small enough."""
        from fullspan.learn.likelihood.multinomial import MAX_CELLS, MAX_WEIGHTS, choose, n_features

        def small(order: int) -> bool:
            n = n_features(self.cards, order)
            return n * (self.counts.shape[1] - 1) <= MAX_WEIGHTS and n * len(self.inputs) <= MAX_CELLS

        for order in orders[:1]:
            n = n_features(self.cards, order)
            what = f"{len(self.inputs):,} rows of {n:,} features"
            require(32 * n * len(self.inputs), budget(None), what, "use a smaller order, or fewer or shorter inputs")
        tried = [order for order in orders if order == orders[0] or (order <= len(self.cards) + 1 and small(order))]
        return choose(self.inputs, self.cards, self.counts, tried, lambda t, k: history.record("refit", k, t.log_loss))

    def _terms(self) -> tuple[Term, ...]:
        """All terms of the output and up to ``order - 1`` inputs."""
        from fullspan.learn.likelihood.multinomial import sets_of

        found: list[Term] = []
        for s in sets_of(len(self.roles.inputs), self.choice.order):
            variables = sorted((*(self.roles.inputs[i] for i in s), self.output))
            components = itertools.product(*(range(1, self.space.cards[i]) for i in variables))
            found += [tuple(zip(variables, own, strict=True)) for own in components]
        return tuple(found)

    def run(self) -> Fitted:
        from fullspan.learn.likelihood.multinomial import Multinomial, features, scales, weights_of_terms

        order, penalty, scaled_by = self.choice.order, self.choice.penalty, self.choice.scaled_by
        fit = Multinomial(features(self.inputs, self.cards, order), self.counts)
        start = np.zeros((fit.x.shape[1], self.counts.shape[1] - 1))
        if scaled_by is not None:
            start = fit.fit(scaled_by, start, _PRECISE, _MAX_STEPS)[0]
            self.scales = fit.scales = scales(start, self.cards, order)
        weights, steps, converged = fit.fit(penalty, start, _PRECISE, self.options.max_iter or _MAX_STEPS)
        theta = weights_of_terms(self.basis, self.roles.inputs, self.output, order, weights, self.terms)
        value, gradient = fit.objective(weights.ravel(), penalty)
        self.history.refit(theta, value, 0.0)
        status: Any = "converged" if converged else "iteration limit"
        solution = Solution(theta, value, float(np.abs(gradient).max(initial=0.0)), steps, status)
        fitted = self._fitted(Likelihood(self.given, self.observed, 0.0, 0.0), solution)
        tried = [list(t) for t in self.choice.tried]
        chosen = {"order": order, "penalty": penalty, "adaptive": scaled_by is not None, "tried": tried}
        return replace(fitted, settings={**fitted.settings, "chosen": chosen})

    def _ridge(self) -> Array:
        from fullspan.learn.likelihood.multinomial import matrix_of_terms

        inputs, order = self.roles.inputs, self.choice.order
        each = matrix_of_terms(self.basis, inputs, self.output, order, self.terms)
        free = self.counts.shape[1] - 1
        own = np.repeat(self.scales, free)[free:]
        ridge = (each[:, free:] * own) @ each[:, free:].T
        return np.asarray(self.choice.penalty / self.total * ridge)

    def _diverging(self, solution: Solution) -> tuple[int, ...]:
        return ()
