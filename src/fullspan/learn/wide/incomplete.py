"""The search without a table where cells are missing or variables hidden: complete, search, and em on the weights.

    1. Incomplete rows are completed by one exact draw each from a small network, learned from the rows completed before
       (at first from the shares of the levels). A few rounds; a network takes about a second. Hidden variables are
       completed by latent classes instead: a small network would forget them.
    2. Margins and terms are searched for once, in the rows that were completed.
    3. The weights of the terms found go to the maximum of the likelihood of what was *observed*, by em: expected counts
       of all families by elimination, summed over what each row leaves open, then a joint refit. It never falls.

A standard error counts the rows that show all observed variables of its term, and what these say about the hidden ones.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Variable
from fullspan.learn.base.counted import observed_entropy
from fullspan.learn.base.em import Expected, Stop, alternate
from fullspan.learn.base.information import Cholesky
from fullspan.learn.base.progress import STOPPED, Interrupted, Watch
from fullspan.learn.search.options import PSEUDO_ROWS
from fullspan.learn.wide.buckets import Buckets
from fullspan.learn.wide.classes import drawn_classes, latent_classes
from fullspan.learn.wide.hidden import definite, missing_information
from fullspan.learn.wide.plan import cells_for
from fullspan.learn.wide.reached import Weigher
from fullspan.learn.wide.search import Search, WideOptions
from fullspan.model.fitted import Fitted

_ROUNDS, _STEPS = 3, 25
"""Networks that complete the rows one after the other, and most em steps."""
_VISITED_CELLS = 1 << 13
"""Cells of the elimination that em may visit for a row, on average."""
_MOST_CELLS = 1 << 17
"""Most cells of the elimination by default: an eighth of those for complete rows leaves time for em."""
_FIRST_CELLS = 1 << 12
"""Cells of the elimination of a network that completes rows."""
_COPIES = 16
"""Most equal rows that are completed one by one; more share these completions."""
_GAIN_NATS = 1e-4
"""Nats per row that an em step must gain for another one."""


def fit_wide_incomplete(
    seen: Empirical,
    options: WideOptions,
    watch: Watch | None = None,
    hidden: Sequence[Variable] = (),
    restarts: int = 1,
    seed: int | np.random.Generator | None = 0,
) -> Fitted:
    """Learn a log-linear model of bounded width where cells are missing or variables hidden; see :func:`fit_wide`."""
    return _Completions(seen, options, watch, hidden, np.random.default_rng(seed if hidden else 0)).run(restarts)


class _Completions:
    """Rows are completed, and completed anew by small networks, and searched; ``search`` is the latest one."""

    def __init__(
        self,
        seen: Empirical,
        options: WideOptions,
        watch: Watch | None,
        hidden: Sequence[Variable],
        rng: np.random.Generator,
    ) -> None:
        self.seen, self.hidden, self.data = seen, hidden, seen.with_hidden(hidden)
        self.watch, self.rng, self.started = watch, rng, time.perf_counter()
        cards = self.data.space.cards
        cells = options.cells or visits(
            self.data, min(_MOST_CELLS, cells_for(cards, self.data.total, options.max_memory))
        )
        self.options = replace(options, cells=cells)
        self.small = replace(options, cells=min(max(_FIRST_CELLS, max(cards) ** 2 * len(cards)), cells))
        self.search: Search | None = None

    def run(self, restarts: int) -> Fitted:
        """Complete, search, and move the weights by em; Ctrl-C keeps what there is."""
        filled = first_completion(self.seen, self.hidden, restarts, self.rng)
        try:
            search = self._next(filled if self.hidden else self._by_networks(filled), self.options)
            em = Em(self.seen, self.hidden, search, search.run())
            return em.ended("interrupted") if em.fitted.status == "interrupted" else em.run()
        except STOPPED:
            if self.search is None:
                raise
            return Em(self.seen, self.hidden, self.search, self.search.fitted("interrupted")).ended("interrupted")

    def _next(self, rows: Empirical, options: WideOptions) -> Search:
        """A search that goes on with the history of the one before."""
        before = [] if self.search is None else self.search.history.steps
        found = Search(rows, options, self.watch, self.started)
        found.history.steps[:0] = before
        self.search = found
        return found

    def _by_networks(self, filled: Empirical) -> Empirical:
        """Missing cells drawn from small networks, each learned from the rows that the one before completed."""
        for _ in range(_ROUNDS):
            search = self._next(filled, self.small)
            if not search.begin():
                raise Interrupted
            filled = _drawn(self.data, Buckets(search.kept.terms), search.kept.theta, self.rng)
        return filled


def visits(data: Empirical, cells: int) -> int:
    """The most cells, a power of two below ``cells``, of which em visits at most ``_VISITED_CELLS`` for an average row.

    A row visits those that agree with what it says: of every table at most the states of its missing cells.
    """
    cards = np.log2(np.array(data.space.cards, dtype=np.float64))
    each = np.exp2(np.minimum((data.states < 0) @ cards, 60.0)) * len(data.space)
    while cells > _VISITED_CELLS and np.minimum(each, cells).mean() > _VISITED_CELLS:
        cells //= 2
    return cells


def first_completion(seen: Empirical, hidden: Sequence[Variable], restarts: int, rng: np.random.Generator) -> Empirical:
    """Missing cells and hidden variables drawn from latent classes; without hidden variables there is one class."""
    levels = [len(variable.levels) for variable in hidden]
    classes = latent_classes(seen, math.prod(levels), restarts if hidden else 1, rng)
    data = seen.with_hidden(hidden)
    rows, counts = _copies(data)
    drawn = drawn_classes(classes, rows[:, : len(seen.space)], rng)
    joint = np.unravel_index(drawn[:, -1], levels) if hidden else ()
    return _counted(data, np.column_stack([drawn[:, :-1], *joint]).astype(np.int16), counts)


def _drawn(data: Empirical, buckets: Buckets, theta: Array, rng: np.random.Generator) -> Empirical:
    """Missing cells drawn from the model, given what their row says."""
    rows, counts = _copies(data)
    return _counted(data, buckets.sweeps.draw(rows, buckets.design @ theta, rng), counts)


def _copies(data: Empirical) -> tuple[NDArray[np.int16], Array]:
    """Rows to be completed one by one: equal incomplete ones stay apart, up to ``_COPIES`` of them."""
    whole = (data.states >= 0).all(axis=1) | (data.counts != np.floor(data.counts))
    copies = np.where(whole, 1, np.minimum(data.counts, _COPIES)).astype(np.int64)
    return np.repeat(data.states.astype(np.int16), copies, axis=0), np.repeat(data.counts / copies, copies)


def _counted(data: Empirical, rows: NDArray[np.int16], counts: Array) -> Empirical:
    found = Empirical.from_codes(rows, counts, data.space)
    return replace(found, n_rows=data.n_rows, n_dropped=data.n_dropped, n_empty=data.n_empty)


class Em:
    """Em for the weights of the terms that a search found: to the maximum of the likelihood of what was observed.

    Attributes
    ----------
    theta, log_z, surprise : the best weights so far, and the nats per row that the observed cells take under them.
    """

    def __init__(self, seen: Empirical, hidden: Sequence[Variable], search: Search, fitted: Fitted) -> None:
        self.seen, self.hidden, self.data = seen, tuple(hidden), seen.with_hidden(hidden)
        data = self.data
        self.search, self.fitted, self.found = search, fitted, search.kept
        self.weigher = Weigher(search.weigher.counts, data.space, self.found.terms.basis)
        self.buckets = Buckets(self.found.terms)
        self.rows, self.total = data.states.astype(np.int16), data.total
        self.entropy = observed_entropy(data)
        self.price = fitted.description_length - fitted.total * (fitted.divergence + fitted.entropy)
        self.theta, self.log_z, self.surprise = self.found.theta, self.found.log_z, math.nan
        self.value = math.inf

    def expected(self, theta: Array) -> tuple[float, Array]:
        """``sum_r n_r log Z(row)``, and the mean expectations of the terms, one pseudo-row included."""
        log, counts = self.buckets.sweeps.expected(self.rows, self.data.counts, self.buckets.design @ theta)
        expected = self.buckets.design.T @ counts + PSEUDO_ROWS * self.buckets.even
        return float(self.data.counts @ log), expected / (self.total + PSEUDO_ROWS)

    def complete(self, theta: Array) -> Expected[Array]:
        """The e-step: the objective per row, and the mean expectations of the terms."""
        log_z = self.found.terms.log_z(theta)
        log, d = self.expected(theta)
        surprise = log_z - log / self.total
        value = surprise + self.found.prior.penalty(theta)
        if value < self.value:
            self.theta, self.log_z, self.surprise, self.value = theta, log_z, surprise, value
            cost = surprise - self.entropy + self.price / self.total
            self.search.history.record("em", len(theta), cost, snapshot=lambda: self.ended("interrupted"))
        return Expected(value, d)

    def project(self, d: Array, theta: Array) -> Array:
        """The m-step: a joint refit to the completed rows."""
        return self.weigher.refitted(self.found.terms, theta, d, self.found.prior)

    def run(self) -> Fitted:
        """Em steps until they gain little; Ctrl-C keeps the weights so far."""
        ended = alternate(self, self.theta, Stop(gain=_GAIN_NATS, max_iter=_STEPS - 1))
        try:
            return self.ended("interrupted" if ended.status == "interrupted" else "converged")
        except STOPPED:
            return self.ended("interrupted")

    def ended(self, status: str) -> Fitted:
        """The model of the best weights so far."""
        fitted = self.fitted
        if math.isnan(self.surprise):  # interrupted before the first step
            self.surprise = self.log_z - self.expected(self.theta)[0] / self.total
        visible = range(len(self.seen.space))
        shown = np.array([_shown(self.data, [i for i, _ in term if i in visible]) for term in fitted.model.terms])
        errors = fitted.standard_errors * np.sqrt(self._information_lost(status))
        variables = self.data.space.variables
        return dataclasses.replace(
            fitted,
            model=replace(fitted.model, theta=self.theta, log_z=self.log_z),
            standard_errors=errors * np.sqrt(self.total / np.maximum(shown, 1.0)),
            nats_saved=fitted.nats_saved * (fitted.standard_errors / errors) ** 2 * shown / self.total,
            total=self.total,
            divergence=self.surprise - self.entropy,
            entropy=self.entropy,
            description_length=self.total * self.surprise + self.price,
            history=tuple(self.search.history.steps),
            status=status,
            fingerprint=self.seen.fingerprint(),
            n_hidden=len(self.hidden),
            settings={**fitted.settings, "hidden": {v.name: list(v.levels) for v in variables[len(visible) :]} or 0},
        )

    def _information_lost(self, status: str) -> Array:
        """By how much the variances of the weights grow because hidden variables are not seen."""
        terms, k = self.found.terms, len(self.theta)
        if not self.hidden or not k or status == "interrupted":
            return np.ones(k)
        rows = self.buckets.sweeps.draw(self.rows, self.buckets.design @ self.theta, np.random.default_rng(0))
        basis, counts, prior = terms.basis, self.data.counts, np.diag(self.found.prior.precision)
        fisher = self.weigher.information(terms, self.theta)
        missing = missing_information(basis, terms.terms, self.theta, rows, counts, len(self.hidden))
        seen, complete = (Cholesky.of(part + prior).inverse_diagonal() for part in (definite(fisher - missing), fisher))
        return np.asarray(seen / complete)


def _shown(data: Empirical, variables: list[int]) -> float:
    """Rows that show all of these variables."""
    return float(data.counts[(data.states[:, variables] >= 0).all(axis=1)].sum())
