"""Sums, marginals, modes and samples of a log-linear model that need no table over all states.

    m(x_A; e) = log sum_{x : x agrees with e, x_A} exp( theta . Phi(x) )

The terms are summed into factors, and their variables eliminated one at a time; time and memory follow the widest
table met and not |X|. Variables with one allowed level cost nothing. No probability is ever subtracted, so that results
are right to rounding relative to themselves, however improbable the evidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.engine.memory import budget, require
from fullspan.errors import TooLargeError
from fullspan.model.algebra.basis import local_row
from fullspan.model.graph import FactorGraph, homes
from fullspan.model.loglinear import LogLinear

if TYPE_CHECKING:
    from fullspan.engine.elimination.clusters import ClusterTree

Allowed = Mapping[int, Sequence[int]]
"""Evidence: the codes allowed of each variable that is not free."""

_KEPT_ORDERS = 32
"""Orders that are remembered, each for one set of variables with a single level and one set asked about."""
_SECONDS_TO_BUILD = 2e-5
"""Per variable: what an order of elimination and its program take."""
_ANSWER_COPIES = 6
"""Times that the table of an answer is held: as a factor, scaled, and as a marginal."""
_GROUP_ROWS = 4
"""Rows with the same cells known from which on they are swept together."""


class Sums:
    """Exact answers of one model without a table over all states.

    Parameters
    ----------
    model : the model; its ``log_z`` is not used.
    max_memory : bytes that the tables of one answer may take; most of the free memory unless given.

    Raises
    ------
    TooLargeError : by every answer whose tables would not fit, before they are allocated; names the variables that
        make the model wide.

    Examples
    --------
    >>> from fullspan.model.algebra.basis import Basis
    >>> from fullspan.data.space import Space
    >>> space = Space.of_cards((2, 2))
    >>> model = LogLinear(space, Basis("walsh", (2, 2)), (((0, 1), (1, 1)),), np.array([0.5]), 0.0)
    >>> Sums(model).log_sums((0,), {1: (1,)}).round(9).tolist()
    [-0.5, 0.5]
    """

    def __init__(self, model: LogLinear, max_memory: int | None = None) -> None:
        self.model, self.max_memory = model, max_memory
        self._trees: dict[tuple[tuple[int, ...], tuple[int, ...]], ClusterTree] = {}

    @cached_property
    def graph(self) -> FactorGraph:
        """The model as factors, one for each maximal scope of its terms."""
        widest = max(self.model.terms, key=lambda term: self._cells(i for i, _ in term), default=())
        self._require(self._cells(i for i, _ in widest), "use a model whose terms are of lower order")
        return FactorGraph.of_loglinear(self.model)

    # -- answers ----------------------------------------------------------------------------------------------

    def log_z(self) -> float:
        """``log sum exp(theta . Phi)`` over all states."""
        return float(self.log_sums((), {}))

    def log_sums(self, keep: Sequence[int], allowed: Allowed) -> Array:
        """``log sum exp(theta . Phi)`` over the states that agree with the evidence, for each state of ``keep``.

        One axis per kept variable, in the order given; levels that the evidence excludes hold -inf, as do cells less
        probable than 1e-308 given the evidence.
        """
        asked = tuple(keep)
        tree = self._tree(allowed, asked)
        if not asked:
            return np.asarray(tree.log_z(allowed))
        beliefs = tree.beliefs(allowed)
        cells = beliefs.variable(asked[0]) if len(asked) == 1 else beliefs.factor(-1)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(cells) + beliefs.log_z)

    def log_sums_of_rows(self, rows: Ints) -> Array:
        """``log sum exp(theta . Phi)`` over the completions of each row (m, n), -1 marking cells to be summed out.

        Rows that know the same cells share one order, and many of them one sweep.
        """
        out = np.empty(len(rows))
        kinds, which = np.unique(rows >= 0, axis=0, return_inverse=True)
        for kind, known in enumerate(kinds):
            members, columns = np.flatnonzero(which.ravel() == kind), np.flatnonzero(known)
            # A batch needs an order and a program of its own, which pay only for many rows.
            if len(members) >= _GROUP_ROWS:
                tree = self._clamped_tree(tuple(columns.tolist()), ())
                out[members] = tree.log_z_batch(rows[np.ix_(members, tree.clamped)])
            else:
                for r in members:
                    out[r] = self.log_sums((), {i: (int(rows[r, i]),) for i in columns.tolist()})
        return out

    def marginals(self, allowed: Allowed) -> tuple[Array, ...]:
        """``p(x_i | evidence)`` of every variable, by one sweep forth and one back."""
        return self._tree(allowed, ()).marginals(allowed)

    def expectations(self, allowed: Allowed | None = None) -> Array:
        """``eta_y = <Phi_y | evidence>`` of the model's own terms, in their order: the derivatives of log Z."""
        beliefs = self._tree(allowed or {}, ()).beliefs(allowed or {})
        place = {scope: f for f, scope in enumerate(self.graph.scopes)}
        home = homes([tuple(i for i, _ in term) for term in self.model.terms])
        eta = np.empty(len(self.model.terms))
        for y, term in enumerate(self.model.terms):
            scope = home[tuple(i for i, _ in term)]
            p, weights = beliefs.factor(place[scope]), dict(term)
            for i in reversed(scope):
                p = p @ local_row(self.model.basis, i, weights[i]) if i in weights else p.sum(axis=-1)
            eta[y] = p
        return eta

    def mode(self, allowed: Allowed) -> Ints:
        """A most probable state (n,) that agrees with the evidence."""
        return self._tree(allowed, ()).mode(allowed)

    def sample(self, size: int, rng: np.random.Generator, allowed: Allowed) -> Ints:
        """Independent states (size, n) given the evidence."""
        return self._tree(allowed, ()).sample(size, rng, allowed)

    # -- inside -----------------------------------------------------------------------------------------------

    def _tree(self, allowed: Allowed, keep: tuple[int, ...]) -> ClusterTree:
        """Clusters of what the evidence leaves open, one of them over the variables asked about."""
        clamped = tuple(sorted(i for i, codes in allowed.items() if len(codes) == 1))
        asked = keep if len(keep) > 1 else ()
        # Evidence as a mask over the whole graph: more work in the sweep, none for a new order.
        if clamped and not asked and self._whole is not None:
            return self._whole
        return self._clamped_tree(clamped, asked)

    def _clamped_tree(self, clamped: tuple[int, ...], asked: tuple[int, ...]) -> ClusterTree:
        from fullspan.engine.elimination.clusters import ClusterTree

        tree = self._trees.pop((clamped, asked), None)
        if tree is None:
            tree = ClusterTree(self._with(asked), clamped, max_memory=self.max_memory)
        self._trees[clamped, asked] = tree
        # The one used longest ago: those asked for are put back at the end.
        while len(self._trees) > _KEPT_ORDERS:
            self._trees.pop(next(iter(self._trees)))
        return tree

    @cached_property
    def _whole(self) -> ClusterTree | None:
        """Clusters without evidence, where a sweep over all of them takes less time than a new order would.

        Rows of a wide table mostly differ in which cells they know.
        """
        from fullspan.engine.elimination.clusters import ClusterTree
        from fullspan.engine.elimination.ordering.order import elimination_order

        try:
            order = elimination_order(self.graph)
            if order.seconds > _SECONDS_TO_BUILD * len(self.model.space):
                return None
            return ClusterTree(self.graph, order=order, max_memory=self.max_memory)
        except TooLargeError:
            return None

    def _with(self, keep: tuple[int, ...]) -> FactorGraph:
        """The graph with a factor of ones over the variables asked about, which come together then."""
        if not keep:
            return self.graph
        self._require(self._cells(keep), "ask about fewer variables at once")
        cards = self.model.basis.cards
        # Log of ones: it changes no probability, and forces its variables into one cluster.
        unit = np.zeros([cards[i] for i in keep])
        return FactorGraph(self.model.space, (*self.graph.scopes, keep), (*self.graph.tables, unit))

    def _cells(self, variables: Iterable[int]) -> int:
        return math.prod(self.model.basis.cards[i] for i in variables)

    def _require(self, cells: int, remedy: str) -> None:
        require(
            8 * _ANSWER_COPIES * cells, budget(self.max_memory), f"an exact sum over a table of {cells} cells", remedy
        )
