"""Exact answers about products of factors over any number of variables, as long as the clusters are small.

    p(x | e) = exp( sum_f g_f(x_f) ) / Z(e),     Z(e) the same sum over all states that agree with the evidence e

Every answer is a ratio of such sums, taken in the log domain over a tree of clusters.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.engine.elimination.clusters import ClusterTree
from fullspan.engine.elimination.ordering.order import elimination_order
from fullspan.engine.elimination.pairs import all_pairs
from fullspan.engine.elimination.sweeps.boxes import Boxes
from fullspan.engine.memory import budget, require
from fullspan.errors import QueryError, TooLargeError
from fullspan.model.estimate import Estimate
from fullspan.model.graph import FactorGraph
from fullspan.model.loglinear import checked_codes
from fullspan.query.distribution import PAIR_WORK, Distribution, Factors, Marginals, distinct_rows
from fullspan.query.language.boxes import Codes, both
from fullspan.query.language.events import IMPOSSIBLE, Event, in_words, log_uniform
from fullspan.query.questions import Mode, entropy

Allowed = Mapping[int, Codes]
"""Codes allowed of the variables that an event names."""

_QUICK_SECONDS = 0.02
"""Seconds up to which a sweep with nothing clamped is quick: a new order would save little."""
_KEPT_TREES = 4
"""Trees of clusters that are kept, each for one set of clamped variables."""
MAX_ENTROPY_CELLS = 1 << 16
"""Most cells of a table from which an entropy is read: each is a sum."""


class GraphDistribution(Distribution):
    """The distribution of a factor graph, exact up to rounding.

    Parameters
    ----------
    graph : the factors.
    max_memory : bytes that tables may take; most of the free memory unless given.

    Raises
    ------
    QueryError : by every question with an unknown name or level, or with evidence of probability 0.
    TooLargeError : by every question whose clusters are too large, before anything is allocated.
    """

    def __init__(self, graph: FactorGraph, max_memory: int | None = None) -> None:
        self.graph, self.space, self.max_memory = graph, graph.space, max_memory
        self._trees: dict[tuple[int, ...], ClusterTree] = {}

    @property
    def tree(self) -> ClusterTree:
        """The clusters with nothing clamped."""
        return self._tree({})

    # -- sums -------------------------------------------------------------------------------------------------

    @cached_property
    def _log_norm(self) -> float:
        return self._log_sum({})

    @property
    def log_z(self) -> Estimate:
        """log of the sum of the products of the factors over all states."""
        return Estimate.known(self._log_norm)

    def log_z_given(self, given: Event | None = None) -> float:
        """``log Z(e)`` in nats; of a normalised network, such as a Bayesian one, the log-probability of e."""
        return self._log_sum(self.allowed(given))

    def reweighed(self, factors: Factors) -> FactorGraph:
        """The graph with the factors added, which need not be normalised."""
        scopes, tables = self.graph.scopes, self.graph.tables
        return FactorGraph(self.space, (*scopes, *factors), (*tables, *factors.values()))

    def renewed(self, factors: Factors) -> Distribution:
        """The distribution of the graph with the factors."""
        return GraphDistribution(self.reweighed(factors), self.max_memory)

    def marginals(self, given: Event | None = None) -> Marginals:
        """By one sweep forth and one back: milliseconds for a thousand variables of a sparse network."""
        allowed = self.allowed(given)
        with self._naming(allowed):
            beliefs = self._tree(allowed).beliefs(allowed)
        shares = {name: beliefs.variable(i) for i, name in enumerate(self.space.names)}
        return Marginals(beliefs.log_z, shares)

    def _tree(self, allowed: Allowed, asked: Sequence[int] = ()) -> ClusterTree:
        """Clusters of the variables that an event and what is asked leave open; the last few are kept."""
        clamped = (*asked, *(i for i, codes in allowed.items() if len(codes) == 1 and i not in asked))
        # Taken out and put back, so that the dictionary is in order of use, and the one unused longest goes first.
        tree = self._trees.pop(clamped, None) or ClusterTree(self.graph, clamped, max_memory=self.max_memory)
        self._trees[clamped] = tree
        while len(self._trees) > _KEPT_TREES:
            self._trees.pop(next(iter(self._trees)))
        return tree

    @cached_property
    def _whole(self) -> ClusterTree | None:
        """Clusters with nothing clamped, where one sweep over them is quick."""
        try:
            order = elimination_order(self.graph)
            return (
                None
                if order.seconds > _QUICK_SECONDS
                else ClusterTree(self.graph, order=order, max_memory=self.max_memory)
            )
        except TooLargeError:
            return None

    def _log_sum(self, allowed: Allowed) -> float:
        log_z = self._tree(allowed).log_z(allowed)
        if log_z == -math.inf:
            raise self._impossible(allowed)
        if allowed and self._may_exclude and log_z - self._log_norm < IMPOSSIBLE + log_uniform(allowed, self.space):
            raise self._impossible(allowed)
        return log_z

    @cached_property
    def _may_exclude(self) -> bool:
        """Whether a factor makes a state as good as impossible, as margins of 0 do."""
        return any(float(table.min(initial=0.0, where=np.isfinite(table))) < IMPOSSIBLE for table in self.graph.tables)

    @contextmanager
    def _naming(self, allowed: Allowed) -> Iterator[None]:
        """Name the evidence where it has probability 0."""
        if allowed and self._may_exclude:
            self._log_sum(allowed)
        try:
            yield
        except QueryError as error:
            raise self._impossible(allowed) from error

    def _impossible(self, allowed: Allowed) -> QueryError:
        if not allowed:
            return QueryError("the factors of this network forbid every state: it has no distribution")
        return QueryError(
            f"the evidence {in_words(allowed, self.space)} has probability 0 in this network, and no question can be "
            "answered given it"
        )

    def log_prob_of_boxes(self, boxes: Sequence[Allowed]) -> Array:
        """``log P(box)`` of many events by one order of elimination, as far as one serves all."""
        out = np.full(len(boxes), -np.inf)
        possible = [b for b, box in enumerate(boxes) if all(box.values())]
        some = [boxes[b] for b in possible]
        if self._whole is None:
            out[possible] = [self._tree(box).log_z(box) for box in some]
        else:
            out[possible] = self._whole.log_z_boxes(Boxes.of(some, self.space))
        return np.minimum(out - self._log_norm, 0.0)

    def box_probability(self, event: Allowed, given: Allowed) -> float:
        """``P(event | given)`` of boxes, by the clusters with nothing clamped where that is quick."""
        if given or self._whole is None:
            return super().box_probability(event, given)
        return math.exp(float(self.log_prob_of_boxes([event])[0]))

    # -- questions --------------------------------------------------------------------------------------------

    def entropy_of(self, where: tuple[int, ...], given: Allowed) -> float:
        """Entropy of some variables by position, given an event, from the table of their states.

        Raises
        ------
        TooLargeError : the table has more than 2^16 cells, each of which is a sum.
        """
        n_cells = math.prod(self.space.variables[i].card for i in where)
        if n_cells > MAX_ENTROPY_CELLS:
            raise TooLargeError(
                f"the entropy of {len(where)} variables of a network is a sum over {n_cells:,} states; "
                f"{MAX_ENTROPY_CELLS:,} are possible: ask for fewer variables"
            )
        return entropy(self.cells(where, {}, given))

    def cells(self, where: tuple[int, ...], event: Allowed, given: Allowed) -> Array:
        """``P(where, event | given)``, one axis per variable: a sum for each cell, with the variables clamped to it."""
        shape = tuple(self.space.variables[i].card for i in where)
        require(
            8 * math.prod(shape),
            budget(self.max_memory),
            f"a table of {math.prod(shape):,} cells",
            "ask about fewer variables at once",
        )
        norm, joint, out = self._log_sum(given), both(given, event), np.zeros(shape)
        if not all(joint.values()):
            return out
        # The variables asked about are clamped in the tree: its clusters are no larger for being asked.
        tree = self._tree(joint, where)
        for cell in itertools.product(*(joint.get(i, range(n)) for i, n in zip(where, shape, strict=True))):
            log_sum = tree.log_z({**joint, **{i: (x,) for i, x in zip(where, cell, strict=True)}})
            out[cell] = math.exp(min(log_sum - norm, 0.0))
        return out

    def pairs(self, work: float = PAIR_WORK) -> Array | None:
        """By one sweep over the clusters."""
        return all_pairs(self.tree, work)

    def by_chains(self, rng: np.random.Generator) -> Distribution:
        """The same factors, asked by Gibbs chains."""
        from fullspan.query.distributions.sampled import SampledDistribution

        return SampledDistribution(self.graph, rng, summed=self)

    # -- states -----------------------------------------------------------------------------------------------

    def mode(self, given: Event | None = None) -> Mode:
        """The most probable state given the evidence, and its log-probability given it."""
        allowed = self.allowed(given)
        norm = self._log_sum(allowed)
        with self._naming(allowed):
            state = self._tree(allowed).mode(allowed)
        return Mode(state, float(self.graph.log_weight(state[None, :])[0]) - norm)

    def sample(self, size: int, rng: np.random.Generator, given: Event | None = None) -> Ints:
        """Independent states (size, n) given the evidence, exact."""
        n, allowed = self.checked_size(size), self.allowed(given)
        with self._naming(allowed):
            return self._tree(allowed).sample(n, rng, allowed)

    def log_prob(self, rows: Any) -> Array:
        """``log P(observed cells)``: complete rows by look-up, others by a sum for each distinct one.

        -inf where a factor forbids what a row says.
        """
        known = checked_codes(rows, self.space, missing=True).astype(np.int64)
        complete, out = (known >= 0).all(axis=1), np.empty(len(known))
        out[complete] = self.graph.log_weight(known[complete])
        for evidence, members in distinct_rows(known, np.flatnonzero(~complete)):
            out[members] = self._tree(evidence).log_z(evidence)
        return np.asarray(out - self._log_norm)
