"""Growing: pairs as long as the graph takes them, then terms of higher order inside its cliques.

Each round reads off what every candidate would gain from the calibrated model (module ``candidates``), adds the best
ones that hardly interfere and that keep elimination within its budget (module ``width``), and refits all weights
jointly. A round that does not shorten the description is taken back.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fullspan.engine.elimination.pairs import pair_cells
from fullspan.learn.wide.candidates import (
    Candidate,
    CliqueTerms,
    apart,
    forest,
    longer_candidates,
    pair_candidates,
)
from fullspan.learn.wide.reached import Reached, Weigher
from fullspan.learn.wide.tariff import Tariff
from fullspan.learn.wide.width import Width
from fullspan.model.algebra.basis import Basis, BasisName, Term

_COMPETING_SHARE = 0.3
"""A candidate waits for another round unless it is worth this share of the best one that it competes with."""
_CHEAP_SHARE = 0.01
"""Share of the budget up to which the cells that a pair adds hardly count against it."""
_AT_ONCE = 40
_FORCED_PAIRS = 8
"""Refused pairs in a round for which an order is looked for anew."""
_ROUNDS = 60
MAX_TERMS = 4096
"""Most terms: their information is a matrix of as many rows and columns."""
Tell = Callable[[str, Reached], None]


def growing_cost(reached: Reached, tariff: Tariff) -> float:
    """Nats of data, names and one per weight."""
    return reached.nats + tariff.of(reached.terms.terms) + len(reached.theta)


@dataclass
class Growth:
    """A model that grows; ``reached`` is the best one so far, on the order of ``width``."""

    weigher: Weigher
    width: Width
    tariff: Tariff
    reached: Reached
    tell: Tell

    def pairs(self) -> None:
        """Add pairs until none pays that the graph can take."""
        if len(self.tariff.by_order) < 3:
            return
        for _ in range(_ROUNDS):
            tables = self.reached.terms.tables(self.reached.theta)
            p = pair_cells(self.reached.terms.cliques, tables)
            found = pair_candidates(self.weigher.counts, p, self.weigher.basis, self.reached.weights, self._prices)
            if not self._accepted("margin", found, self._pairs_that_fit):
                return

    def longer_terms(self) -> None:
        """Add products of a term in use and a further variable until none pays that the graph can take."""
        for _ in range(_ROUNDS):
            terms, theta = self.reached.terms, self.reached.theta
            moments = self.weigher.information(terms, theta) + np.outer(self.reached.eta, self.reached.eta)
            found = longer_candidates(self.weigher.counts, self.weigher.basis, terms.terms, moments, self._prices)
            if not self._accepted("append", found, self._terms_that_fit):
                return

    def inside_cliques(self) -> None:
        """Add terms of order three and more inside the cliques until none pays."""
        if len(self.tariff.by_order) < 4:
            return
        terms = self.reached.terms
        inside = CliqueTerms(self.weigher.counts, terms.cliques, self.weigher.basis)
        for _ in range(_ROUNDS):
            found = inside.candidates(self.reached.terms.tables(self.reached.theta), self.reached.weights, self._prices)
            if not self._accepted("append", found, lambda found: apart(found, _COMPETING_SHARE, _AT_ONCE)):
                return

    def choose_basis(self, names: Sequence[BasisName]) -> None:
        """Go on in the basis whose terms inside the cliques would save most in the next round."""
        best, most = self.weigher.basis.name, -np.inf
        tables = self.reached.terms.tables(self.reached.theta)
        for name in names:
            basis = Basis(name, self.weigher.space.cards)
            inside = CliqueTerms(self.weigher.counts, self.reached.terms.cliques, basis)
            saved = sum(c.net for c in apart(inside.candidates(tables, (), self._prices), 0.0, _AT_ONCE))
            if saved > most * (1 + 1e-9):
                best, most = name, saved
        if best != self.weigher.basis.name:
            weights = in_basis(self.reached, Basis(best, self.weigher.space.cards))
            self.weigher = Weigher(self.weigher.counts, self.weigher.space, Basis(best, self.weigher.space.cards))
            self.reached = self.weigher.weighed(self.weigher.laid_out(weights, self.width), weights)

    def _terms_that_fit(self, found: Sequence[Candidate]) -> list[Candidate]:
        """Terms that share little and that the graph takes."""
        return [c for c in apart(found, _COMPETING_SHARE, _AT_ONCE) if self.width.join(c.variables)]

    @property
    def _prices(self) -> Tariff:
        """Of what comes next to the terms in use."""
        return self.tariff.next_to(self.reached.terms.terms)

    # -- inside -----------------------------------------------------------------------------------------------

    def _pairs_that_fit(self, found: Sequence[Candidate]) -> list[Candidate]:
        """A forest of pairs within the budget; those refused are offered again under a better order."""
        unit = _CHEAP_SHARE * self.width.budget
        scores = [c.net / math.sqrt(1.0 + self.width.added(*c.variables) / unit) for c in found]
        ranked = [found[k] for k in np.argsort(-np.array(scores), kind="stable")]
        taken, refused = forest(ranked, self.width.join, _COMPETING_SHARE)
        if refused and self.width.reorder():
            more, refused = forest([*taken, *refused], self.width.join, 0.0)
            taken = more
        forced = [c for c in refused[:_FORCED_PAIRS] if self.width.force(c.variables)] if not taken else []
        return taken + forced

    def _accepted(
        self, move: str, found: Sequence[Candidate], choose: Callable[[Sequence[Candidate]], list[Candidate]]
    ) -> bool:
        """Add a batch and refit; False, and nothing changed, if no batch shortens the description."""
        cost, room = growing_cost(self.reached, self.tariff), MAX_TERMS - len(self.reached.theta)
        most = len(found)
        while found and most:
            before = copy.deepcopy(self.width)
            batch = list[Candidate]()
            for candidate in choose(found[:most]):
                if sum(len(c.terms) for c in batch) + len(candidate.terms) <= room:
                    batch.append(candidate)
            if not batch:
                self.width = before  # the model stays laid out on its order
                return False
            weights = self.reached.weights
            weights.update((term, 0.0) for candidate in batch for term in candidate.terms)
            grown = self.weigher.weighed(self.weigher.laid_out(weights, self.width), weights)
            if growing_cost(grown, self.tariff) < cost:
                self.reached = grown
                self.tell(move, grown)
                return True
            self.width, most = before, min(most, len(batch)) // 2
        return False


def in_basis(reached: Reached, basis: Basis) -> dict[Term, float]:
    """The same distribution with terms of another basis: all inside the same scopes, as far as they are not 0."""
    terms, weights = reached.terms, dict[Term, float]()
    values = terms.design @ reached.theta
    start = 0
    for scope in terms.scopes:
        shape = [terms.space.cards[i] for i in scope]
        table = values[start : start + int(np.prod(shape))].reshape(shape)
        start += table.size
        size = float(np.abs(table).max(initial=0.0))
        for axis, i in enumerate(scope):
            inverse = np.linalg.inv(basis.local(i).T.astype(np.float64))
            table = np.moveaxis(np.tensordot(inverse, table, (1, axis)), 0, axis)
        for place in np.argwhere(np.abs(table) > 1e-12 * size):
            term = tuple((scope[axis], int(j)) for axis, j in enumerate(place) if j)
            if term:
                weights[term] = weights.get(term, 0.0) + float(table[tuple(place)])
    for i, card in enumerate(terms.space.cards):  # main effects always stay
        weights.update({((i, j),): weights.get(((i, j),), 0.0) for j in range(1, card)})
    return weights
