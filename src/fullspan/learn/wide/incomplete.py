"""The search without a table where cells are missing: complete, search, and em on the weights.

    1. Rows are completed by draws from the model so far, exact given what each row says (at first from the shares of
       the levels), several per row, and the margins and terms are searched for in the completed rows. A few rounds.
    2. The weights of the terms found go to the maximum of the likelihood of what was *observed*, by em: expected counts
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

_ROUNDS, _DRAWS, _STEPS = 3, 4, 25
"""Rounds of searching, completions of a row in each, and most em steps."""
_CELLS = 1 << 13
"""Cells of the elimination, each of which a row with missing cells may visit."""
_GAIN = 1e-4
"""Nats per row that an em step must gain for another one."""


def fit_wide_incomplete(data: Empirical, options: WideOptions, watch: Watch | None = None) -> Fitted:
    """Learn a log-linear model of bounded width from rows with missing cells; see :func:`fit_wide`."""
    rng, started = np.random.default_rng(0), time.perf_counter()
    options = replace(options, cells=options.cells or min(_CELLS, cells_for(data.space.cards, options.max_memory)))
    search = Search(_from_shares(data, rng), options, watch, started)
    fitted = search.run()
    for _ in range(_ROUNDS):
        if fitted.status == "interrupted":
            break
        filled, before = _drawn(data, search, rng), search.history
        search = Search(filled, options, watch, started)
        search.history.steps[:0] = before.steps
        fitted = search.run()
    return Em(data, search, fitted).run()


def _from_shares(data: Empirical, rng: np.random.Generator) -> Empirical:
    """Missing cells drawn from the shares of their variable's levels."""
    rows, weights = _copies(data)
    for i, card in enumerate(data.space.cards):
        seen = data.states[:, i] >= 0
        shares = np.bincount(data.states[seen, i].astype(np.int64), data.counts[seen], card) + 1e-9
        missing = np.flatnonzero(rows[:, i] < 0)
        rows[missing, i] = rng.choice(card, len(missing), p=shares / shares.sum())
    return _counted(data, rows, weights)


def _drawn(data: Empirical, search: Search, rng: np.random.Generator) -> Empirical:
    """Missing cells drawn from the model, given what their row says."""
    rows, weights = _copies(data)
    buckets = Buckets(search.kept.terms)
    return _counted(data, buckets.sweeps.draw(rows, buckets.design @ search.kept.theta, rng), weights)


def _copies(data: Empirical) -> tuple[NDArray[np.int16], Array]:
    """Rows, each incomplete one several times with its share of the weight."""
    times = np.where((data.states < 0).any(axis=1), _DRAWS, 1)
    sources = np.repeat(np.arange(len(times)), times)
    return data.states[sources].astype(np.int16), (data.counts / times)[sources]


def _counted(data: Empirical, rows: NDArray[np.int16], weights: Array) -> Empirical:
    found = Empirical.from_codes(rows, weights, data.space)
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
            self.search.history.record("em", len(theta), cost, snapshot=lambda: self._fitted("interrupted"))
        return Expected(value, d)

    def project(self, d: Array, theta: Array) -> Array:
        """The m-step: a joint refit to the completed rows."""
        return self.weigher.refitted(self.found.terms, theta, d, self.found.prior)

    def run(self) -> Fitted:
        """Em steps until they gain little; Ctrl-C keeps the weights so far."""
        ended = alternate(self, self.theta, Stop(gain=_GAIN, max_iter=_STEPS - 1))
        return self._fitted("interrupted" if ended.status == "interrupted" else self.fitted.status)

    def _fitted(self, status: str) -> Fitted:
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
