"""From counts to a fitted model: plan, load the tables, search in each basis, keep the shortest description."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data import Empirical
from fullspan.engine.planner import DEVICES, PRECISIONS, Device, Precision, plan
from fullspan.errors import FullspanError
from fullspan.learn.search import line
from fullspan.learn.search.full import (
    LARGEST_MARGIN,
    MAX_TERMS,
    Grown,
    carry_over,
    description,
    grow,
    names_in_use,
    sift_out,
)
from fullspan.learn.search.paper import paper_search
from fullspan.learn.search.penalty import prices
from fullspan.learn.search.problem import Interrupted, Problem, Step, as_arrays, smoothed_entropy
from fullspan.learn.search.refit import variances
from fullspan.model import Fitted, LogLinear
from fullspan.model.algebra.basis import BASES, Basis, BasisName, is_power_of_two
from fullspan.model.algebra.blas import one_core

SEARCHES = ("full", "paper")
_LAP = 48
"""Moves of the best basis so far from which the others race against it."""
PSEUDO_ROWS = 1.0
"""Rows spread evenly over all states in the full search, so that every optimum is finite."""


@dataclass(frozen=True)
class Options:
    """How to fit; the defaults need no thought.

    Attributes
    ----------
    search : ``"full"`` (margins and terms, joint refit, sifting) or ``"paper"`` (the published algorithm).
    basis : ``"walsh"``, ``"indicator"``, ``"monomial"``, or ``"auto"`` for the one with the shortest description.
    penalty : ``"mdl"``, ``"combinatorial"``, ``"bic"``, or a number of times ``"mdl"``.
    l1 : weight of ``sum |theta|`` in the cost; if positive, terms are searched one at a time.
    epsilon : smallest improvement, in nats per row, for which the one-at-a-time search goes on.
    max_order : most variables in one term.
    dtype : ``"float32"``, ``"float64"``, or ``"auto"``.
    max_memory : bytes the tables may take; most of the free memory by default.
    device : ``"cpu"``, ``"cuda"``, ``"sharded"`` for all devices that JAX sees (Walsh functions only: the basis
        ``"auto"`` is then ``"walsh"``), or ``"auto"`` for a GPU if there is one and the table is large and fits it.
    """

    search: str = "full"
    basis: str = "auto"
    penalty: str | float = "mdl"
    l1: float = 0.0
    epsilon: float = 1e-4
    max_order: int | None = None
    dtype: Precision = "auto"
    max_memory: int | None = None
    device: Device = "auto"

    def __post_init__(self) -> None:
        _one_of("search", self.search, SEARCHES)
        _one_of("basis", self.basis, (*BASES, "auto"))
        _one_of("dtype", self.dtype, PRECISIONS)
        _one_of("device", self.device, DEVICES)
        if not (math.isfinite(self.l1) and self.l1 >= 0):
            raise FullspanError(f"l1 is {self.l1}; a finite number of at least 0 is needed")
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise FullspanError(f"epsilon is {self.epsilon}; a positive number is needed, such as 1e-4")
        if self.max_order is not None and self.max_order < 1:
            raise FullspanError(f"max_order is {self.max_order}; at least 1 is needed, or None for any order")

    @property
    def by_terms(self) -> bool:
        """Whether terms are searched one at a time."""
        return self.search == "paper" or self.l1 > 0


@dataclass(frozen=True)
class Progress:
    """A move of the search as it happens; ``snapshot()`` builds the best model so far."""

    move: str
    n_terms: int
    cost: float
    seconds: float
    snapshot: Callable[[], Fitted]


Watch = Callable[[Progress], None]


def fit(
    empirical: Empirical,
    options: Options | None = None,
    watch: Watch | None = None,
    start: LogLinear | None = None,
    rounds: float = math.inf,
    terms: int = MAX_TERMS,
) -> Fitted:
    """Learn a log-linear model of counted data; missing cells are summed over (see ``incomplete``).

    Parameters
    ----------
    watch : called after every move; may raise ``KeyboardInterrupt`` or :class:`Interrupted` to stop, and the best
        model so far is returned with the status ``"interrupted"``.
    start : continue from this model's terms and weights, in its basis.
    rounds, terms : most rounds of growing of the full search, and terms that it grows to, for each basis.

    Raises
    ------
    TooLargeError : the tables would not fit into memory; nothing has been allocated.
    """
    options = options or Options()
    if not empirical.is_complete:
        from fullspan.learn.search.incomplete import fit_incomplete  # which calls this for completed data

        return fit_incomplete(empirical, options, watch=watch, start=start, rounds=rounds, terms=terms)
    best: Fitted | None = None
    grown: Grown | None = None
    started = time.perf_counter()
    for name in _bases(empirical, options, start):
        try:
            # The matrices are small: threads that spin for each other inside BLAS cost more than they bring.
            with one_core():
                search = _Fit(empirical, options, name, watch, start, best, grown, started, rounds, terms)
                best = search.run()
        except KeyboardInterrupt:  # while the tables were being set up: nothing new to keep
            if best is None:
                raise
            return dataclasses.replace(best, status="interrupted")
        if best.status == "interrupted":
            return best
        grown = search.grown
    assert best is not None
    return best


def described(empirical: Empirical, options: Options, model: LogLinear) -> Fitted:
    """A model that was learned from these data elsewhere, term by term, with standard errors and savings."""
    started = time.perf_counter()
    with one_core():
        return _Fit(empirical, options, model.basis.name, None, model, None, None, started)._fitted("converged")


def _bases(empirical: Empirical, options: Options, start: LogLinear | None) -> tuple[BasisName, ...]:
    if start is not None:
        return (start.basis.name,)
    if options.basis != "auto":
        return (options.basis,)  # type: ignore[return-value]
    if options.device == "sharded":
        return ("walsh",)
    many = any(is_power_of_two(card) and card > 2 for card in empirical.space.cards)
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
        best: Fitted | None,
        grown: Grown | None,
        started: float,
        rounds: float = math.inf,
        terms: int = MAX_TERMS,
    ) -> None:
        self.rounds, self.terms = rounds, terms
        self.empirical, self.options, self.watch, self.best = empirical, options, watch, best
        self.grown = grown
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
        self.problem = Problem(table, tariff, entropy, total, options.l1, watch=self._watch, started=started)
        if start is not None:
            table.set_theta({self.basis.index(term): weight for term, weight in start})
            self.problem.names = 0.0 if options.by_terms else names_in_use(self.problem)
        self._keep()

    def run(self) -> Fitted:
        try:
            status = self._search()
        except (KeyboardInterrupt, Interrupted):
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
        status, self.grown = grow(self.problem, 0 if carried else LARGEST_MARGIN, self.rounds, self.terms)
        sift_out(self.problem)
        return status

    def _race(self) -> str:
        """Search term by term, unless another basis was ahead after a third of its moves: then this one is given up."""
        if self.best is not None and len(self.best.history) >= _LAP:
            lap = len(self.best.history) // 3
            status = paper_search(self.problem, self.options.epsilon, max_steps=lap)
            if status == "converged" or self.problem.cost() > self.best.history[lap - 1].cost:
                return status
        return paper_search(self.problem, self.options.epsilon)

    def _watch(self, problem: Problem, step: Step) -> None:
        self._keep()
        if self.watch is not None:
            self.watch(Progress(step.move, step.n_terms, step.cost, step.seconds, self._snapshot))

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
        surprise = -float(counts @ model.log_prob(self.empirical.states)) / n
        length = n * (surprise + price)
        if self.best is not None and self.best.description_length <= length:
            return self.best
        errors, saved = self._uncertainty(theta)
        entropy = smoothed_entropy(counts, self.basis.n_states, 0.0)
        return Fitted(
            model=model,
            standard_errors=errors,
            nats_saved=saved,
            total=n,
            n_rows=self.empirical.n_rows,
            n_dropped=self.empirical.n_dropped + self.empirical.n_empty,
            divergence=surprise - entropy,
            entropy=entropy,
            description_length=length,
            history=tuple(problem.history),
            status=status,
            drift=problem.drift,
            settings={
                **dataclasses.asdict(self.options),
                "basis_chosen": self.basis.name,
                "device_chosen": self.device,
                **({"device_note": self.note} if self.note else {}),
            },
            fingerprint=self.empirical.fingerprint(),
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


def _one_of(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise FullspanError(f"{name} is {value!r}; choose one of {', '.join(map(repr, known))}")
