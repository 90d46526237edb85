"""Latent classes: what the hidden variables of a search without a table are completed with at first.

A mixture of models without interactions, one component for each joint level of the hidden variables,

    p(x) = sum_c p(c) prod_i p(x_i | c),

by em from random rows; cells that are missing say nothing. It explains by classes whatever hangs together, and leaves
it to the search which of that is rather due to interactions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.canonical import canonical_states
from fullspan.engine.elimination.pairs import level_starts
from fullspan.learn.base.em import Expected, Stop, alternate, restarted

_LEAN = 0.3
"""How far a class leans towards its random row at first."""
_PSEUDO_ROWS = 1.0
"""Rows with the shares of all that every class has in addition."""
_MOST_ROWS = 50_000
"""Distinct rows that classes are learned from; those of more are drawn."""
_STEPS, _GAIN_NATS = 100, 1e-4
_AT_ONCE = 1 << 14


@dataclass(frozen=True)
class Classes:
    """Shares (k,) of the classes, and ``log p(x_i = a | c)`` of all levels (sum of levels, k)."""

    cards: tuple[int, ...]
    shares: Array
    log: Array

    def posterior(self, rows: NDArray[np.integer]) -> tuple[Array, Array]:
        """log p of each row, and the probabilities (m, k) of its classes."""
        joint = _seen(rows, self.cards) @ self.log + np.log(self.shares)
        top = joint.max(axis=1)
        weight = np.exp(joint - top[:, None])
        total = weight.sum(axis=1)
        return top + np.log(total), weight / total[:, None]


class _Em:
    """The two steps on weighted rows."""

    def __init__(self, data: Empirical) -> None:
        self.cards, self.rows, self.weights = data.space.cards, data.states, data.counts / data.total
        self.seen = _seen(self.rows, self.cards)
        self.even = _shares(np.asarray(self.seen.T @ self.weights)[:, None] + 1e-9, self.cards)
        self.pseudo = _PSEUDO_ROWS / data.total

    def complete(self, model: Classes) -> Expected[Array]:
        log, posterior = model.posterior(self.rows)
        return Expected(-float(self.weights @ log), posterior * self.weights[:, None])

    def project(self, data: Array, model: Classes) -> Classes:
        shares = data.sum(axis=0) + self.pseudo
        counts = np.asarray(self.seen.T @ data) + self.pseudo * self.even
        return Classes(self.cards, shares / shares.sum(), np.log(_shares(counts, self.cards)))

    def starts(self, k: int, restarts: int, rng: np.random.Generator, order: NDArray[np.intp]) -> Iterator[Classes]:
        """Classes that lean towards random rows."""
        for _ in range(restarts):
            rows = order[rng.choice(len(order), size=k, p=self.weights[order])]
            leaning = np.asarray(self.seen[rows].todense()).T
            yield Classes(self.cards, np.full(k, 1 / k), np.log((1 - _LEAN) * self.even + _LEAN * leaning + 1e-12))


def latent_classes(data: Empirical, k: int, restarts: int, rng: np.random.Generator) -> Classes:
    """The likeliest of a few mixtures of ``k`` classes, the largest class first.

    Raises
    ------
    KeyboardInterrupt : em was interrupted, and there is no model yet.
    """
    order = canonical_states(data)
    if len(order) > _MOST_ROWS:
        kept = np.sort(rng.choice(len(order), _MOST_ROWS, replace=False))
        data = Empirical(data.space, data.states[order[kept]], data.counts[order[kept]], data.n_rows)
        order = np.arange(_MOST_ROWS)
    em = _Em(data)
    stop = Stop(gain=_GAIN_NATS, max_iter=_STEPS)
    runs = restarted(lambda start: alternate(em, start, stop), em.starts(k, max(restarts, 1), rng, order))
    if any(run.status == "interrupted" for run in runs):
        raise KeyboardInterrupt
    best = runs[0].model
    largest = np.argsort(-best.shares, kind="stable")
    return Classes(best.cards, best.shares[largest], best.log[:, largest])


def drawn_classes(classes: Classes, rows: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.int16]:
    """A class of every row, and its missing cells, drawn from their distribution given the row."""
    n, starts = rows.shape[1], level_starts(classes.cards)
    out = np.empty((len(rows), n + 1), dtype=np.int16)
    for first in range(0, len(rows), _AT_ONCE):
        own = rows[first : first + _AT_ONCE].astype(np.int16)
        drawn = (classes.posterior(own)[1].cumsum(axis=1) < rng.random((len(own), 1))).sum(axis=1)
        drawn = np.minimum(drawn, len(classes.shares) - 1)
        for i in range(n):
            chances = np.exp(classes.log[starts[i] : starts[i + 1]]).T.cumsum(axis=1)
            at = np.flatnonzero(own[:, i] < 0)
            level = (chances[drawn[at]] < rng.random((len(at), 1))).sum(axis=1)
            own[at, i] = np.minimum(level, classes.cards[i] - 1)
        out[first : first + _AT_ONCE] = np.column_stack([own, drawn])
    return out


def _seen(rows: NDArray[np.integer], cards: tuple[int, ...]) -> csr_matrix:
    """One column for each level of each variable: 1 where a row has it."""
    starts = level_starts(cards)[:-1]
    at, columns = np.nonzero(rows >= 0)
    places = np.asarray(starts)[columns] + rows[at, columns]
    return csr_matrix((np.ones(len(at)), (at, places)), shape=(len(rows), sum(cards)))


def _shares(counts: Array, cards: tuple[int, ...]) -> Array:
    """Counts of levels (sum of levels, k) as shares of each variable's."""
    starts = level_starts(cards)[:-1]
    totals = np.repeat(np.add.reduceat(counts, starts, axis=0), cards, axis=0)
    return np.asarray(counts / totals)
