"""The full-span search without a table of states: a sparse set of terms whose elimination stays within a budget.

    1. Plan: the budget of cells follows from predicted time and memory (module ``plan``).
    2. Start from the graph of a network, or, where that is shorter, from all terms of its families (module ``start``).
    3. Grow: pairs, then terms of any order inside the cliques of their graph (module ``grow``).
    4. Sift: drop what does not pay, shrink the rest by the code of its weights, refit (module ``sift``); what was
       dropped makes room, so that growing starts again, as long as the description gets shorter.

One pseudo-row, spread evenly over all states, keeps every optimum finite, as in the search on the dual table, and the
prices are the same. The result is an ordinary log-linear model.
"""

from __future__ import annotations

import copy
import dataclasses
import time
from dataclasses import dataclass

import numpy as np

from fullspan.data import Empirical
from fullspan.errors import FullspanError
from fullspan.learn.base.counted import smoothed_entropy
from fullspan.learn.base.progress import STOPPED, History, Interrupted, Watch
from fullspan.learn.networks.network import Network
from fullspan.learn.search.line import approximate_nats
from fullspan.learn.search.options import refuse_bic
from fullspan.learn.search.penalty import prices
from fullspan.learn.wide.candidates import MAX_ORDER
from fullspan.learn.wide.counts import Counts
from fullspan.learn.wide.grow import MAX_TERMS, Growth, growing_cost
from fullspan.learn.wide.plan import cells_for
from fullspan.learn.wide.reached import Reached, Weigher
from fullspan.learn.wide.sift import Described, described, sifted
from fullspan.learn.wide.start import edges_of, moral_start, weights_of
from fullspan.learn.wide.tariff import Tariff
from fullspan.learn.wide.width import Width
from fullspan.model.algebra.basis import Basis, BasisName, is_power_of_two
from fullspan.model.fitted import Fitted
from fullspan.model.loglinear import LogLinear
from fullspan.model.record import Step

_MAX_CYCLES = 3
"""Most times that growing and sifting follow each other."""
_WORTH_NATS = 1e-4
"""Nats per row that another cycle must have saved for a further one."""
_CLEAR_NATS = 0.01
"""Nats per row that all terms of a network's families must save to be taken in place of a sparser model."""


@dataclass(frozen=True)
class WideOptions:
    """How to search without a table.

    Attributes
    ----------
    max_width : most variables in a separator of the elimination; by default what time and memory allow.
    penalty : prices as in the search on the dual table.
    basis : of the terms; ``"auto"`` is the one whose terms of higher order save most.
    max_order : most variables in a term.
    max_memory : bytes that the search may take.
    cells : cells of the tables of the elimination, in place of what is planned.
    """

    max_width: int | None = None
    penalty: str | float = "mdl"
    basis: str = "auto"
    max_order: int | None = None
    max_memory: int | None = None
    cells: int | None = None

    def __post_init__(self) -> None:
        if self.max_width is not None and self.max_width < 1:
            raise FullspanError(f"max_width is {self.max_width}; at least 1, a tree, is needed, such as 4")
        refuse_bic(self.penalty)

    def bases(self, cards: tuple[int, ...]) -> tuple[BasisName, ...]:
        """The bases to choose from."""
        if self.basis != "auto":
            return (self.basis,)  # type: ignore[return-value]
        many = any(is_power_of_two(card) and card > 2 for card in cards)
        return ("walsh", "indicator", "monomial") if many else ("walsh", "monomial")

    def tariff(self, cards: tuple[int, ...], total: float) -> Tariff:
        """What names cost, in nats of all rows."""
        found = prices(cards, total, self.penalty)
        most = min(len(cards), MAX_ORDER if self.max_order is None else min(self.max_order, MAX_ORDER))
        by_order = total * np.maximum(found.by_order[: most + 1] - found.weight, 0.0)
        factor = float(self.penalty) if isinstance(self.penalty, int | float) else 1.0
        return Tariff(by_order, total * found.by_variable, factor)


class Search:
    """One search, from rows to a fitted model."""

    def __init__(
        self, empirical: Empirical, options: WideOptions, watch: Watch | None, started: float | None = None
    ) -> None:
        self.data, self.options = empirical, options
        self.history = History(watch, started if started is not None else time.perf_counter())
        cards = empirical.space.cards
        cells = options.cells or cells_for(cards, empirical.total, options.max_memory)
        self.tariff = options.tariff(cards, empirical.total)
        self.entropy = smoothed_entropy(empirical.counts, 1, 0.0)
        self.weigher = Weigher(Counts(empirical), empirical.space, Basis(options.bases(cards)[0], cards))
        self.width = Width(cards, cells, options.max_width)
        self.kept: Reached = self.weigher.independent(self.width)

    def run(self) -> Fitted:
        """Grow, sift, and describe what was found; an interruption while it is described does not lose it."""
        try:
            self._search()
            return self.fitted("converged")
        except STOPPED:
            return self.fitted("interrupted")

    def begin(self) -> bool:
        """Learn the network alone and keep what of it can be weighed; False if interrupted."""
        try:
            network = self._start()
            if network is not None and network.is_finished:
                self._keep(network)
        except STOPPED:
            return False
        return True

    def _start(self) -> Network | None:
        """The network whose graph the search begins with. If it is interrupted, the best network so far is kept."""
        options = self.options
        self.width, network = moral_start(self.data, self.width, options.penalty, options.max_order, self._report)
        if network is not None and not network.is_finished:
            self._keep(network)
            raise Interrupted
        return network

    def _keep(self, network: Network) -> None:
        """The model so far is the network; only the pairs of its edges where its tables are too many to be weighed."""
        weights = weights_of(network, self.weigher.basis.name, len(self.tariff.by_order) - 1)
        if weights is None:
            weights = edges_of(network, self.weigher.counts, self.kept.weights, MAX_TERMS)
        self.kept = self.weigher.weighed(self.weigher.laid_out(weights, self.width), weights, tolerance=1.0)
        self._tell("margin", self.kept)

    def _search(self) -> None:
        network = self._start()
        moral = copy.deepcopy(self.width)
        start = self.weigher.independent(self.width)
        growth = Growth(self.weigher, self.width, self.tariff, start, self._tell)
        best: Described | None = None
        for cycle in range(_MAX_CYCLES):
            growth.pairs()
            growth.longer_terms()
            if cycle == 0:
                growth.choose_basis(self.options.bases(self.data.space.cards))
            growth.inside_cliques()
            self.weigher = growth.weigher
            grown = described(growth.weigher, self.tariff, growth.reached, growth.width)
            found = sifted(growth.weigher, self.tariff, grown)
            if cycle == 0 and network is not None and (whole := self._whole(network, moral)) is not None:
                found = whole if whole.length < found.length - _CLEAR_NATS * self.data.total else found
            saved = np.inf if best is None else best.length - found.length
            if saved > 0:
                best = found
                self.kept, self.width = found.reached, found.width
                self._record("prune", found.reached, found.length)
            if saved <= _WORTH_NATS * self.data.total:
                break
            growth = self._again(found)
        assert best is not None

    def _whole(self, network: Network, width: Width) -> Described | None:
        """All terms inside the families of the network, sifted; None if they are too many to be weighed at once."""
        weights = weights_of(network, self.weigher.basis.name, len(self.tariff.by_order) - 1)
        if weights is None:
            return None
        reached = self.weigher.weighed(self.weigher.laid_out(weights, width), weights)
        return sifted(self.weigher, self.tariff, described(self.weigher, self.tariff, reached, width))

    def _again(self, found: Described) -> Growth:
        """Growing goes on from what was found, all main effects included and under the wide prior."""
        weights = found.reached.weights
        for i, card in enumerate(self.data.space.cards):
            for j in range(1, card):
                weights.setdefault(((i, j),), 0.0)
        width = copy.deepcopy(found.width)
        reached = self.weigher.weighed(self.weigher.laid_out(weights, width), weights)
        return Growth(self.weigher, width, self.tariff, reached, self._tell_again)

    def _tell(self, move: str, reached: Reached) -> None:
        self.kept = reached
        self._record(move, reached, growing_cost(reached, self.tariff))

    def _tell_again(self, move: str, reached: Reached) -> None:
        self._record(move, reached, growing_cost(reached, self.tariff))

    def _report(self, step: Step) -> None:
        self.history.report(step, lambda: self.fitted("interrupted"))

    def _record(self, move: str, reached: Reached, length: float) -> None:
        cost = length / self.data.total - self.entropy
        self.history.record(move, len(reached.theta), cost, snapshot=lambda: self.fitted("interrupted"))

    def fitted(self, status: str) -> Fitted:
        """The best model so far, with standard errors and savings."""
        reached, total = self.kept, self.data.total
        weigher = Weigher(self.weigher.counts, self.data.space, reached.terms.basis)
        own = describing_width(reached)
        found = described(weigher, self.tariff, reached, own)
        posterior, plain = weigher.posterior_variances(reached)
        zero_one = reached.terms.basis.zero_one
        model = LogLinear(self.data.space, reached.terms.basis, reached.terms.terms, reached.theta, reached.log_z)
        surprise = -float(self.data.counts @ model.log_prob(self.data.states)) / total
        return Fitted(
            model=model,
            standard_errors=np.sqrt(posterior),
            nats_saved=approximate_nats(reached.eta, reached.d, reached.theta, plain, total, zero_one),
            **self.data.provenance(),
            divergence=surprise - self.entropy,
            entropy=self.entropy,
            description_length=total * surprise + found.effective + found.names,
            history=tuple(self.history.steps),
            status=status,
            settings={
                **dataclasses.asdict(self.options),
                "engine_chosen": "elimination",
                "basis_chosen": reached.terms.basis.name,
                "width": own.width,
                "cells": round(own.cells),
            },
            prior=(reached.prior.mean, total * reached.prior.precision),
        )


def describing_width(reached: Reached) -> Width:
    """The elimination of the terms that are left."""
    cards = reached.terms.space.cards
    like = Width(cards, np.inf)
    like.order = list(reached.terms.order)
    return Width.around(cards, reached.terms.supports, like)
