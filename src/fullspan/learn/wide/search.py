"""The full-span search without a table of states: margins of bounded width, then the terms inside them.

    1. Plan: the memory of the search is predicted, and refused if it does not fit.
    2. Grow a decomposable graph (module ``grow``); its margins' weights are closed form.
    3. Sift: drop the terms that do not pay, refit the others jointly (modules ``sift``, ``chordal``).

One pseudo-row, spread evenly over all states, keeps every optimum finite, as in the search on the dual table, and the
prices are the same. The result is an ordinary log-linear model, whose elimination has the width of the graph.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.errors import FullspanError
from fullspan.learn.base.counted import smoothed_entropy
from fullspan.learn.base.progress import Interrupted, Progress, Watch
from fullspan.learn.decomposable.grow import GrowOptions, Shape, entropies, grow
from fullspan.learn.decomposable.rows import WideRows, single_counts
from fullspan.learn.decomposable.tables import family_counts
from fullspan.learn.search.line import approximate_nats
from fullspan.learn.search.options import PSEUDO_ROWS, refuse_bic
from fullspan.learn.search.penalty import prices
from fullspan.learn.wide.chordal import Chordal
from fullspan.learn.wide.plan import require_wide
from fullspan.learn.wide.sift import Sift, Weighed, weighed, wide_prior
from fullspan.model.algebra.basis import BasisName
from fullspan.model.fitted import Fitted
from fullspan.model.loglinear import LogLinear
from fullspan.model.record import Step

MAX_WORK = 1e10
"""Multiplications of a Newton step up to which terms are sifted; beyond, all terms inside the margins stay."""


@dataclass(frozen=True)
class WideOptions:
    """How to search without a table.

    Attributes
    ----------
    max_width : most variables that a variable is joined to at once: the width of the elimination.
    penalty : prices as in the search on the dual table.
    basis : of the terms; ``"auto"`` is ``"walsh"``: all terms inside a margin span the same functions in every basis.
    max_order : most variables in a margin.
    max_memory : bytes that the search may take.
    """

    max_width: int = 4
    penalty: str | float = "mdl"
    basis: str = "auto"
    max_order: int | None = None
    max_memory: int | None = None

    def __post_init__(self) -> None:
        if self.max_width < 1:
            raise FullspanError(f"max_width is {self.max_width}; at least 1, a tree, is needed, such as 4")
        refuse_bic(self.penalty)

    @property
    def width(self) -> int:
        """Most parents: one less than the variables of a margin."""
        return self.max_width if self.max_order is None else min(self.max_width, max(self.max_order - 1, 0))

    @property
    def basis_chosen(self) -> BasisName:
        """The basis of the terms."""
        return "walsh" if self.basis == "auto" else self.basis  # type: ignore[return-value]

    def growth(self, cards: tuple[int, ...], total: float) -> GrowOptions:
        """The prices of this search, in nats of all rows."""
        tariff = prices(cards, total, self.penalty)
        sizes = min(self.width, len(cards) - 1)
        names = [0.0, *(total * float(tariff.by_order[k] - tariff.weight) for k in range(1, sizes + 1))]
        return GrowOptions(sizes, min(total * tariff.weight, 1.0), tuple(names), basis=self.basis_chosen)


class Search:
    """One search, from rows to a fitted model."""

    def __init__(
        self, empirical: Empirical, options: WideOptions, watch: Watch | None, started: float | None = None
    ) -> None:
        self.data, self.options, self.watch = empirical, options, watch
        self.total, self.started = empirical.total, time.perf_counter() if started is None else started
        self.basis = options.basis_chosen
        self.rows = WideRows.of(empirical)
        self.growth = options.growth(empirical.space.cards, self.total)
        require_wide(self.rows, self.growth, options.max_memory)
        self.history: list[Step] = []
        self.shape = Shape.alone(len(empirical.space))
        counts = single_counts(self.rows, self.rows.weights)
        free = sum(card - 1 for card in empirical.space.cards)
        self.alone = float(entropies(counts, self.rows.features).sum()) + self.growth.weight * free
        self.entropy = smoothed_entropy(empirical.counts, 1, 0.0)

    def run(self) -> Fitted:
        """Grow, sift, and describe what was found."""
        status = "converged"
        try:
            self.shape, _ = grow(self.rows, self.rows.weights, self.growth, self._told)
        except (KeyboardInterrupt, Interrupted):
            status = "interrupted"
        return self._fitted(status, sift=status == "converged")

    def _told(self, shape: Shape, saved: float) -> None:
        self.shape = shape
        cost = (self.alone - saved) / self.total - self.entropy
        joined = sum(1 for parents in shape.parents if parents)
        self.record("margin", len(shape.parents) + joined, cost)

    def _told_of_terms(self, found: Weighed) -> None:
        cost = (found.nats + self._names()) / self.total - self.entropy
        self.record("prune", int(found.slack.kept.sum()), cost)

    def record(self, move: str, n_terms: int, cost: float, snapshot: Callable[[], Fitted] | None = None) -> None:
        """Remember a move and tell it; ``snapshot`` is the model so far, that of the graph unless given."""
        step = Step(move, n_terms, cost, time.perf_counter() - self.started)
        self.history.append(step)
        if self.watch is not None:
            best = snapshot or (lambda: self._fitted("interrupted", sift=False))
            self.watch(Progress(move, n_terms, cost, step.seconds, snapshot=best))

    def _fitted(self, status: str, *, sift: bool) -> Fitted:
        chordal = Chordal(self.data.space, self.shape, self.basis)
        p = np.concatenate([self._shares(family) for family in chordal.families])
        theta, d = chordal.saturated(p), chordal.design.T @ p
        found = weighed(chordal, theta, d, wide_prior(len(theta), self.total), self.total)
        if sift and chordal.work <= MAX_WORK:
            sifting = Sift(chordal, d, self.total, found, self._told_of_terms)
            try:
                sifting.run()
            except (KeyboardInterrupt, Interrupted):
                status = "interrupted"
            found = sifting.best
        self.found = chordal, found
        return self._described(chordal, found, status)

    def _shares(self, family: tuple[int, ...]) -> Array:
        """Probabilities of a family's states in the data, one pseudo-row spread over all states."""
        counts = family_counts(self.rows, self.rows.weights, family)
        return np.asarray((counts + PSEUDO_ROWS / counts.size) / (self.total + PSEUDO_ROWS)).ravel()

    def _names(self) -> float:
        """Nats for naming all margins."""
        cards = self.data.space.cards
        sizes = sum(self.growth.name(len(cards), len(parents)) for parents in self.shape.parents)
        levels = sum(math.log(max(cards[i] - 1, 1)) for parents in self.shape.parents for i in parents)
        return sizes + levels

    def _saved(self, chordal: Chordal, found: Weighed) -> Array:
        """Nats over all rows that each kept term saves, approximately."""
        kept, zero_one = found.slack.kept, chordal.basis.zero_one
        eta = chordal.design.T @ chordal.beliefs(found.theta)[1]
        p = np.concatenate([self._shares(family) for family in chordal.families])
        d, theta, plain = chordal.design.T @ p, found.theta[kept], found.plain[kept]
        return approximate_nats(eta[kept], d[kept], theta, plain, self.total, zero_one)

    def _described(self, chordal: Chordal, found: Weighed, status: str) -> Fitted:
        kept = found.slack.kept
        terms = tuple(term for term, is_kept in zip(chordal.terms, kept, strict=True) if is_kept)
        model = LogLinear(self.data.space, chordal.basis, terms, found.theta[kept], found.log_z)
        surprise = -float(self.data.counts @ model.log_prob(self.data.states)) / self.total
        return Fitted(
            model=model,
            standard_errors=np.sqrt(found.variances[kept]),
            nats_saved=self._saved(chordal, found),
            total=self.total,
            n_rows=self.data.n_rows,
            n_dropped=self.data.n_dropped + self.data.n_empty,
            divergence=surprise - self.entropy,
            entropy=self.entropy,
            description_length=self.total * surprise + found.effective * self.growth.weight + self._names(),
            history=tuple(self.history),
            status=status,
            settings={
                **dataclasses.asdict(self.options),
                "engine_chosen": "elimination",
                "basis_chosen": self.basis,
                "width": self.shape.width,
                "pruned": chordal.work <= MAX_WORK,
            },
            fingerprint=self.data.fingerprint(),
            prior=(found.slack.mean[kept], self.total / found.slack.variance[kept]),
        )
