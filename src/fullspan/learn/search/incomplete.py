"""The search for terms with missing cells and hidden variables: complete the data, search, and again.

A round completes the rows with the model of the round before (Byrne 1992, eq. 16), lets the search of complete rows
choose terms for the completed data, as if they had been counted, and then moves the weights of these terms to the
maximum of the likelihood of what was *observed*, under the prior and the pseudo-count of the search (module
``complete``). Rounds go on while they shorten

    -sum_rows log p(observed cells) + names and weights of the terms,

the description length of the observed data, so it never rises, and the shortest one is kept.

The first completion needs a model: with missing cells only, the pairwise machine of maximum likelihood (or independent
variables where that has too many weights); with hidden variables, machines whose hidden variables have random weights
to all others, several times. The model without the hidden variables is a candidate too.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fullspan.data import Empirical
from fullspan.data.space import Variable
from fullspan.engine.dual.clamped import Clamped
from fullspan.engine.dual.table import DualTable
from fullspan.engine.memory import budget, completed_bytes, require
from fullspan.learn.base.counted import observed_entropy
from fullspan.learn.base.em import Alternated, Expected, Stop, alternate, restarted
from fullspan.learn.base.information import standard_errors
from fullspan.learn.base.progress import STOPPED, History, Interrupted, Progress, Watch
from fullspan.learn.likelihood.machine import fit_machine
from fullspan.learn.likelihood.options import MachineOptions
from fullspan.learn.likelihood.phases import Free, Observed, Smoothed
from fullspan.learn.likelihood.solve import Likelihood, solve
from fullspan.learn.search.complete import fit_complete
from fullspan.learn.search.options import PSEUDO_ROWS, Limits, Options
from fullspan.model import Fitted, LogLinear
from fullspan.model.algebra.basis import Basis


class _Round(NamedTuple):
    """The model that completes the rows; and its fit, None of a first completion, which was not searched for."""

    model: LogLinear
    fitted: Fitted | None = None


"""A model that a round has found, or that makes the first completion."""
_WORTH_NATS = 0.1
"""Nats that a round must save for another to follow."""
_PAIRWISE = 1000
"""Weights up to which the first completion is by a pairwise machine."""
_STEPS, _HIDDEN_STEPS = 15, 30
"""Steps of a machine before its completion is searched, and of one with random hidden weights: some would take
hundreds, and change little."""


def fit_incomplete(
    empirical: Empirical,
    options: Options | None = None,
    hidden: Sequence[Variable] = (),
    restarts: int = 5,
    seed: int | np.random.Generator | None = None,
    watch: Watch | None = None,
    start: LogLinear | None = None,
    limits: Limits | None = None,
) -> Fitted:
    """Learn terms and weights from rows with missing cells, and with ``hidden`` variables, which come last.

    Parameters
    ----------
    restarts : random first completions, where there are hidden variables.
    watch, start : as for :func:`fullspan.learn.search.fit.fit_search`; ``start`` gives the first completion.

    Raises
    ------
    TooLargeError : the tables would not fit into memory; nothing has been allocated.
    """
    options = options or Options()
    search = _Rounds(empirical, options, hidden, limits or Limits(), watch)
    return search.run(restarts, seed, start)


class _Rounds:
    def __init__(
        self, seen: Empirical, options: Options, hidden: Sequence[Variable], limits: Limits, watch: Watch | None
    ) -> None:
        self.data, self.seen, self.n_hidden = seen.with_hidden(hidden), seen, len(hidden)
        self.options, self.limits, self.watch = options, limits, watch
        self.history = History()
        self.best: Fitted | None = None
        n_states = self.data.space.n_states
        require(
            completed_bytes(n_states),
            budget(options.max_memory),
            f"a search on completed data: five tables of {n_states:,} states",
            "keep fewer variables with columns=, merge levels, or use missing='drop' without hidden variables",
        )

    def run(self, restarts: int, seed: int | np.random.Generator | None, start: LogLinear | None) -> Fitted:
        try:
            if self.n_hidden:
                # Hidden variables must pay for their weights like all others.
                self._offer(self._without_hidden())
            ended = [found.status for found in restarted(self._follow, self._first(restarts, seed, start))]
        except STOPPED:
            ended = ["interrupted"]
        if self.best is None:
            raise KeyboardInterrupt
        return self._result("interrupted" if "interrupted" in ended else "converged")

    def _result(self, status: str) -> Fitted:
        assert self.best is not None
        with_errors = self.best if status == "interrupted" else self._with_errors(self.best)
        settings = {
            **dataclasses.asdict(self.options),
            "basis_chosen": self.best.model.basis.name,
            "hidden": {v.name: list(v.levels) for v in self.data.space.variables[len(self.seen.space) :]} or 0,
        }
        return dataclasses.replace(with_errors, status=status, history=tuple(self.history.steps), settings=settings)

    # -- first completions ------------------------------------------------------------------------------------

    def _first(
        self, restarts: int, seed: int | np.random.Generator | None, start: LogLinear | None
    ) -> Iterator[LogLinear]:
        if start is not None:
            yield start
            return
        if not self.n_hidden:
            yield _whole(fit_machine(self.data, self._machine(order=self._order(), max_iter=_STEPS), errors=False))
            return
        first = len(self.data.space) - self.n_hidden
        edges = [(i, j) for j in range(first, len(self.data.space)) for i in range(first)]
        names, rng = self.data.space.names, np.random.default_rng(seed)
        for _ in range(restarts):
            graph = [(names[i], names[j]) for i, j in edges]
            machine = self._machine(graph=graph, restarts=1, seed=rng, max_iter=_HIDDEN_STEPS)
            yield _whole(fit_machine(self.seen, machine, self.data.space.variables[first:], errors=False))

    def _machine(self, **choices: object) -> MachineOptions:
        """A machine with a weak ridge, one pseudo-row's worth: its maximum is finite."""
        # Without it weights of pairs that never meet would diverge, and completions with them.
        ridge = 1.0 / self.data.total
        return MachineOptions(basis="walsh", l2=ridge, tol=1e-6, max_memory=self.options.max_memory, **choices)  # type: ignore[arg-type]

    def _order(self) -> int:
        free = [card - 1 for card in self.data.space.cards]
        pairs = (sum(free) ** 2 - sum(f * f for f in free)) // 2
        return 2 if pairs + sum(free) <= _PAIRWISE and self.options.max_order != 1 else 1

    def _without_hidden(self) -> Fitted:
        """The model of the visible variables alone, in the larger space."""
        if self.seen.is_complete:
            fitted = fit_complete(self.seen, self.options, self._watched, limits=self.limits)
        else:
            fitted = fit_incomplete(self.seen, self.options, watch=self._watched, limits=self.limits)
        model, basis = fitted.model, Basis(fitted.model.basis.name, self.data.space.cards)
        # Every level of a hidden variable that nothing depends on multiplies Z.
        log_z = model.log_z + sum(math.log(card) for card in self.data.space.cards[len(self.seen.space) :])
        return dataclasses.replace(
            fitted, model=LogLinear(self.data.space, basis, model.terms, model.theta, log_z), n_hidden=self.n_hidden
        )

    # -- rounds -----------------------------------------------------------------------------------------------

    def _follow(self, model: LogLinear) -> Alternated[_Round, LogLinear]:
        """Rounds from a first completion until they no longer help."""
        return alternate(self, _Round(model), Stop(gain=_WORTH_NATS, max_iter=self.limits.completions), self._report)

    def complete(self, model: _Round) -> Expected[LogLinear]:
        """The description length of the observed data; the rows are completed by the search that needs them."""
        return Expected(math.inf if model.fitted is None else model.fitted.description_length, model.model)

    def project(self, data: LogLinear, model: _Round) -> _Round:
        """Search the rows that a model completes; in its basis, once one was chosen."""
        searched = model.fitted is not None
        chosen = dataclasses.replace(self.options, basis=data.basis.name) if searched else self.options
        found = self._refined(fit_complete(completed(self.data, data), chosen, self._watched, limits=self.limits))
        return _Round(found.model, found)

    def _report(self, model: _Round, expected: Expected[LogLinear], done: int) -> None:
        if model.fitted is not None:
            self._offer(model.fitted)

    def _offer(self, fitted: Fitted) -> None:
        """Keep a model if its description is the shortest so far.

        Raises
        ------
        Interrupted : its search was.
        """
        if self.best is None or fitted.description_length < self.best.description_length:
            self.best = fitted
            cost = fitted.description_length / self.data.total - fitted.entropy
            self.history.record("refit", len(fitted.model.terms), cost)
        if fitted.status == "interrupted":
            raise Interrupted

    def _watched(self, progress: Progress) -> None:
        """Report a step of a search, with the best model of the observed data as its snapshot."""
        if self.watch is not None:
            snapshot = progress.snapshot
            assert snapshot is not None
            self.watch(dataclasses.replace(progress, snapshot=lambda: self.best or self._refined(snapshot())))

    def _refined(self, fitted: Fitted) -> Fitted:
        """The same terms with weights at the maximum of the observed likelihood, and measures of the observed data."""
        total = self.data.total
        # What the terms cost: the description length without the surprise of the rows, which is measured anew.
        price = fitted.description_length - total * (fitted.divergence + fitted.entropy)
        likelihood, observed = self._likelihood(fitted)
        solution = solve(likelihood, fitted.model.theta.copy(), "newton", 1e-7, 200)
        log_z = likelihood.free.move(solution.theta)
        surprise = log_z - observed.move(solution.theta)
        entropy = observed_entropy(self.data)
        return dataclasses.replace(
            fitted,
            model=dataclasses.replace(fitted.model, theta=solution.theta, log_z=log_z),
            status="interrupted" if solution.status == "interrupted" else fitted.status,
            **self.seen.provenance(),
            divergence=surprise - entropy,
            entropy=entropy,
            description_length=total * surprise + price,
            settings={**fitted.settings, **dataclasses.asdict(self.options)},
            n_hidden=self.n_hidden,
        )

    def _likelihood(self, fitted: Fitted) -> tuple[Likelihood, Observed]:
        basis, y = fitted.model.basis, np.array(fitted.model.indices, dtype=np.int64)
        observed = Observed(basis, y, self.data.states, self.data.counts)
        mean, precision = fitted.prior or (np.zeros(len(y)), np.zeros(len(y)))
        free, total = Free(DualTable(basis, np.float64), y), self.data.total
        # The published search has no pseudo-row; its boundary is the half row of the table.
        pseudo = 0.0 if self.options.by_terms else PSEUDO_ROWS
        data = Smoothed(observed, basis, fitted.model.terms, total, pseudo)
        return Likelihood(free, data, precision / total, self.options.l1, mean), observed

    def _with_errors(self, fitted: Fitted) -> Fitted:
        """Standard errors from the information in the observed cells: what is missing says nothing."""
        likelihood, observed = self._likelihood(fitted)
        likelihood.move(fitted.model.theta)
        information = likelihood.free.covariance() - observed.covariance()
        information += np.diag(np.broadcast_to(likelihood.l2, fitted.model.theta.shape))
        errors = standard_errors(self.data.total * information)
        share = (fitted.standard_errors / errors) ** 2  # of the completed data's information
        return dataclasses.replace(fitted, standard_errors=errors, nats_saved=fitted.nats_saved * share)


def _whole(fitted: Fitted) -> LogLinear:
    """The model of a fit that was not interrupted.

    Raises
    ------
    KeyboardInterrupt : it was; its machine is no first completion, and the search must end.
    """
    if fitted.status == "interrupted":
        raise KeyboardInterrupt
    return fitted.model


def completed(data: Empirical, model: LogLinear) -> Empirical:
    """The data with every open cell filled in with all its levels, each with its probability under the model."""
    basis, counts = model.basis, np.zeros(model.basis.n_states)
    Clamped(basis, data.states, data.counts).complete(basis.energies(model.indices, model.theta), counts)
    seen = np.flatnonzero(counts)
    return Empirical(data.space, data.space.states(seen), counts[seen], data.n_rows, data.n_dropped)
