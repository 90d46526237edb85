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
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data import Empirical
from fullspan.data.patterns import same_pattern
from fullspan.engine.elimination.clusters import ClusterTree
from fullspan.learn.likelihood.machine import observed_entropy
from fullspan.learn.search.fit import PSEUDO_ROWS, Watch
from fullspan.learn.wide.chordal import Chordal, refit
from fullspan.learn.wide.fit import Search, WideOptions
from fullspan.model.fitted import Fitted
from fullspan.model.graph import FactorGraph
from fullspan.model.loglinear import LogLinear

Array = NDArray[np.float64]
_ROUNDS, _DRAWS, _STEPS = 3, 4, 25
"""Rounds of searching, completions of a row in each, and most em steps."""
_TOGETHER = 64
"""Rows with the same cells known from which on they are swept together."""


def fit_wide_incomplete(data: Empirical, options: WideOptions, watch: Watch | None = None) -> Fitted:
    """Learn a log-linear model of bounded width from rows with missing cells; see :func:`fit_wide`."""
    rng = np.random.default_rng(0)
    filled = _from_shares(data, rng)
    search = Search(filled, options, watch)
    for _ in range(_ROUNDS):
        fitted = search.run()
        if fitted.status == "interrupted":
            break
        filled = _drawn(data, fitted.model, rng)
        search = Search(filled, options, watch)
    fitted = search.run() if fitted.status != "interrupted" else fitted
    return _observed(data, search, fitted)


def _from_shares(data: Empirical, rng: np.random.Generator) -> Empirical:
    """Missing cells drawn from the shares of their variable's levels."""
    rows, weights, _ = _copies(data)
    for i, card in enumerate(data.space.cards):
        seen = data.states[:, i] >= 0
        shares = np.bincount(data.states[seen, i].astype(np.int64), data.counts[seen], card) + 1e-9
        gaps = np.flatnonzero(rows[:, i] < 0)
        rows[gaps, i] = rng.choice(card, len(gaps), p=shares / shares.sum())
    return _counted(data, rows, weights)


def _drawn(data: Empirical, model: LogLinear, rng: np.random.Generator) -> Empirical:
    """Missing cells drawn from the model, given what their row says."""
    rows, weights, sources = _copies(data)
    tree = ClusterTree(FactorGraph.of_loglinear(model))
    ends = np.cumsum(np.bincount(sources, minlength=len(data.states)))
    for r in np.flatnonzero((data.states < 0).any(axis=1)):
        rows[ends[r] - _DRAWS : ends[r]] = tree.sample(_DRAWS, rng, _evidence(data.states[r]))
    return _counted(data, rows, weights)


def _evidence(row: NDArray[Any]) -> dict[int, int]:
    """What a row says."""
    return {i: int(row[i]) for i in np.flatnonzero(row >= 0).tolist()}


def _copies(data: Empirical) -> tuple[NDArray[np.int64], Array, NDArray[np.int64]]:
    """Rows, each incomplete one several times with its share of the weight; and where they come from."""
    times = np.where((data.states < 0).any(axis=1), _DRAWS, 1)
    sources = np.repeat(np.arange(len(times)), times)
    return data.states[sources].astype(np.int64), (data.counts / times)[sources], sources


def _counted(data: Empirical, rows: NDArray[np.int64], weights: Array) -> Empirical:
    found = Empirical.from_codes(rows, weights, data.space)
    return replace(found, n_rows=data.n_rows, n_dropped=data.n_dropped, n_empty=data.n_empty)


class Observed:
    """Expected counts of the families of a graph, given what the rows say.

    Rows that know the same cells are swept together if they are many; the others go one by one through the whole graph.
    """

    def __init__(self, data: Empirical, chordal: Chordal) -> None:
        self.chordal, self.total = chordal, data.total
        self.groups, self.single = [], []
        for members in same_pattern(data.states):
            if len(members) < _TOGETHER:
                self.single += [(_evidence(data.states[r]), float(data.counts[r])) for r in members]
                continue
            tree = ClusterTree(chordal.graph, np.flatnonzero(data.states[members[0]] >= 0).tolist())
            rows = data.states[np.ix_(members, tree.clamped)].astype(np.int64)
            self.groups.append((tree, rows, data.counts[members]))
        self.even = np.concatenate([np.full(size, PSEUDO_ROWS / size) for size in np.diff(chordal.graph.table_starts)])

    def expected(self, theta: Array) -> tuple[float, Array]:
        """``sum_r n_r log Z(row)``, and the mean probabilities of all families' states, one pseudo-row included."""
        log, tables, values = 0.0, self.even.copy(), self.chordal.design @ theta
        for tree, rows, counts in self.groups:
            sums, part = tree.reweighted(values).expected_tables(rows, counts)
            log += float(counts @ sums)
            tables += part
        whole = self.chordal.tree.reweighted(values)
        for evidence, count in self.single:
            beliefs = whole.beliefs(evidence)
            log += count * beliefs.log_z
            tables += count * beliefs.factors
        return log, tables / (self.total + PSEUDO_ROWS)


def _observed(data: Empirical, search: Search, fitted: Fitted) -> Fitted:
    """The terms that were found at the maximum of the observed likelihood, and its measures."""
    chordal, found = search.found
    observed, theta, before = Observed(data, chordal), found.theta, -math.inf
    log_z, total = found.log_z, data.total
    for _ in range(_STEPS):
        log, p = observed.expected(theta)
        reached = log - total * log_z - total * found.slack.penalty(theta)
        if reached < before + 1e-4 * total:
            break
        before = reached
        theta = refit(chordal, theta, chordal.design.T @ p, found.slack, 0.02 / total)
        log_z = chordal.log_z(theta)
    log, _ = observed.expected(theta)
    surprise, entropy, kept = log_z - log / total, observed_entropy(data), found.slack.kept
    price = fitted.description_length - fitted.total * (fitted.divergence + fitted.entropy)
    shown = np.array([_shown(data, [i for i, _ in term]) for term in fitted.model.terms])
    errors = fitted.standard_errors * np.sqrt(total / np.maximum(shown, 1.0))
    return dataclasses.replace(
        fitted,
        model=replace(fitted.model, theta=theta[kept], log_z=log_z),
        standard_errors=errors,
        nats_saved=fitted.nats_saved * shown / total,
        total=total,
        divergence=surprise - entropy,
        entropy=entropy,
        description_length=total * surprise + price,
        fingerprint=data.fingerprint(),
    )


def _shown(data: Empirical, variables: list[int]) -> float:
    """Rows that show all of these variables."""
    return float(data.counts[(data.states[:, variables] >= 0).all(axis=1)].sum())
