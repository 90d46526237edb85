"""The search without a table where cells are missing: complete, search, and em on the weights.

    1. Incomplete rows are completed by one exact draw each from a small network, learned from the rows completed before
       (at first from the shares of the levels). A few rounds; a network takes about a second.
    2. Margins and terms are searched for once, in the rows that the last network completed.
    3. The weights of the terms found go to the maximum of the likelihood of what was *observed*, by em: expected counts
       of all families by elimination, summed over what each row leaves open, then a joint refit. It never falls.

A standard error counts the rows that show all variables of its term.
"""

from __future__ import annotations

import dataclasses
import math
import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.learn.base.counted import observed_entropy
from fullspan.learn.base.em import Expected, Stop, alternate
from fullspan.learn.base.progress import Watch
from fullspan.learn.search.options import PSEUDO_ROWS
from fullspan.learn.wide.buckets import Buckets
from fullspan.learn.wide.plan import cells_for
from fullspan.learn.wide.reached import Weigher
from fullspan.learn.wide.search import Search, WideOptions
from fullspan.model.fitted import Fitted
from fullspan.model.record import Step

_ROUNDS, _STEPS = 3, 25
"""Networks that complete the rows one after the other, and most em steps."""
_VISITED_CELLS = 1 << 13
"""Cells of the elimination that em may visit for a row, on average."""
_MOST_CELLS = 1 << 17
"""Most cells of the elimination by default: an eighth of those for complete rows leaves time for em."""
_FIRST_CELLS = 1 << 12
"""Cells of the elimination of a network that completes rows."""
_GAIN_NATS = 1e-4
"""Nats per row that an em step must gain for another one."""


def fit_wide_incomplete(data: Empirical, options: WideOptions, watch: Watch | None = None) -> Fitted:
    """Learn a log-linear model of bounded width from rows with missing cells; see :func:`fit_wide`."""
    rng, started = np.random.default_rng(0), time.perf_counter()
    cards = data.space.cards
    cells = options.cells or visits(data, min(_MOST_CELLS, cells_for(cards, options.max_memory)))
    options = replace(options, cells=cells)
    small = replace(options, cells=min(max(_FIRST_CELLS, max(cards) ** 2 * len(cards)), cells))
    filled, history = _from_shares(data, rng), list[Step]()
    for _ in range(_ROUNDS):
        first = Search(filled, small, watch, started)
        first.history.steps[:0] = history
        history = first.history.steps
        if not first.begin():
            return Em(data, first, first.fitted("interrupted")).ended("interrupted")
        filled = _drawn(data, first, rng)
    search = Search(filled, options, watch, started)
    search.history.steps[:0] = history
    return Em(data, search, search.run()).run()


def visits(data: Empirical, cells: int) -> int:
    """The most cells, a power of two below ``cells``, of which em visits at most ``_VISITED_CELLS`` for an average row.

    A row visits those that agree with what it says: of every table at most the states of its missing cells.
    """
    cards = np.log2(np.array(data.space.cards, dtype=np.float64))
    each = np.exp2(np.minimum((data.states < 0) @ cards, 60.0)) * len(data.space)
    while cells > _VISITED_CELLS and np.minimum(each, cells).mean() > _VISITED_CELLS:
        cells //= 2
    return cells


def _from_shares(data: Empirical, rng: np.random.Generator) -> Empirical:
    """Missing cells drawn from the shares of their variable's levels."""
    rows = data.states.astype(np.int16)
    for i, card in enumerate(data.space.cards):
        seen = data.states[:, i] >= 0
        shares = np.bincount(data.states[seen, i].astype(np.int64), data.counts[seen], card) + 1e-9
        missing = np.flatnonzero(rows[:, i] < 0)
        rows[missing, i] = rng.choice(card, len(missing), p=shares / shares.sum())
    return _counted(data, rows)


def _drawn(data: Empirical, search: Search, rng: np.random.Generator) -> Empirical:
    """Missing cells drawn from the model, given what their row says."""
    buckets = Buckets(search.kept.terms)
    return _counted(data, buckets.sweeps.draw(data.states.astype(np.int16), buckets.design @ search.kept.theta, rng))


def _counted(data: Empirical, rows: NDArray[np.int16]) -> Empirical:
    found = Empirical.from_codes(rows, data.counts, data.space)
    return replace(found, n_rows=data.n_rows, n_dropped=data.n_dropped, n_empty=data.n_empty)


class Em:
    """Em for the weights of the terms that a search found: to the maximum of the likelihood of what was observed.

    Attributes
    ----------
    theta, log_z, surprise : the best weights so far, and the nats per row that the observed cells take under them.
    """

    def __init__(self, data: Empirical, search: Search, fitted: Fitted) -> None:
        self.data, self.search, self.fitted, self.found = data, search, fitted, search.kept
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
        return self.ended("interrupted" if ended.status == "interrupted" else self.fitted.status)

    def ended(self, status: str) -> Fitted:
        """The model of the best weights so far."""
        fitted = self.fitted
        if math.isnan(self.surprise):  # interrupted before the first step
            self.surprise = self.log_z - self.expected(self.theta)[0] / self.total
        shown = np.array([_shown(self.data, [i for i, _ in term]) for term in fitted.model.terms])
        return dataclasses.replace(
            fitted,
            model=replace(fitted.model, theta=self.theta, log_z=self.log_z),
            standard_errors=fitted.standard_errors * np.sqrt(self.total / np.maximum(shown, 1.0)),
            nats_saved=fitted.nats_saved * shown / self.total,
            total=self.total,
            divergence=self.surprise - self.entropy,
            entropy=self.entropy,
            description_length=self.total * self.surprise + self.price,
            history=tuple(self.search.history.steps),
            status=status,
            fingerprint=self.data.fingerprint(),
        )


def _shown(data: Empirical, variables: list[int]) -> float:
    """Rows that show all of these variables."""
    return float(data.counts[(data.states[:, variables] >= 0).all(axis=1)].sum())
