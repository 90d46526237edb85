"""The distribution of every variable at once, given what is known: the way depends on the kind of model.

    a table of states that fits     log p(x) of all states is kept; evidence takes a slice of it, and one pass sums that
    a truncated machine             a sum over the states it lists
    any other                       a tree of clusters, one sweep forth and one back

All are exact, and give the log-probability of the evidence as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.model.graph import FactorGraph
from fullspan.query.answer import Oracle
from fullspan.query.averaged import AveragedOracle
from fullspan.query.graph import GraphModel
from fullspan.query.language.boxes import Codes
from fullspan.query.language.events import Event, check_possible, check_probable, codes_of, in_words
from fullspan.query.mixture import MixtureOracle
from fullspan.query.tree import TreeOracle
from fullspan.query.truncated import TruncatedOracle

MAX_STATES = 1 << 22
"""States up to which a table of all of them is kept."""


class Marginals(Protocol):
    """All marginals of one model."""

    space: Space

    def given(self, event: Event | None = None) -> tuple[float, dict[str, Array]]:
        """Log-probability of the evidence, and ``P(x_i | evidence)`` of every variable by name.

        Raises
        ------
        QueryError : a name or level is unknown, or the evidence is impossible.
        """


def marginals_of(oracle: Oracle | TreeOracle | TruncatedOracle | GraphModel | MixtureOracle) -> Marginals:
    """The way that suits a model.

    Examples
    --------
    >>> graph = FactorGraph(Space.of_cards((2, 2)), ((0, 1),), (np.log([[3.0, 1.0], [1.0, 3.0]]),))
    >>> log_prob, found = marginals_of(GraphModel(graph)).given({"x0": 1})
    >>> round(math.exp(log_prob), 6), found["x1"].round(6).tolist()
    (0.5, [0.25, 0.75])
    """
    if isinstance(oracle, TreeOracle):
        return GraphMarginals(GraphModel(oracle.model.graph()), oracle.visible)
    if isinstance(oracle, TruncatedOracle):
        return ListedMarginals(oracle)
    if isinstance(oracle, GraphModel):
        return GraphMarginals(oracle, oracle.space)
    if isinstance(oracle, MixtureOracle):
        return MixtureMarginals(oracle)
    if oracle.model.basis.n_states <= MAX_STATES or isinstance(oracle, AveragedOracle):
        return TableMarginals(oracle)
    return GraphMarginals(GraphModel(FactorGraph.of_loglinear(oracle.model), oracle.max_memory), oracle.model.space)


class MixtureMarginals:
    """By one pass of sums over every component."""

    def __init__(self, oracle: MixtureOracle) -> None:
        self.space, self._oracle = oracle.visible, oracle

    def given(self, event: Event | None = None) -> tuple[float, dict[str, Array]]:
        """See :class:`Marginals`."""
        return self._oracle.marginals_and_log_prob(event)


class TableMarginals:
    """By the table of all states: 2^20 of them take about 15 ms, whatever the evidence."""

    def __init__(self, oracle: Oracle) -> None:
        model = oracle.model
        self.space = model.space
        self._log_p = oracle.log_table().reshape(model.basis.cards[::-1])  # the first variable is the last axis

    def given(self, event: Event | None = None) -> tuple[float, dict[str, Array]]:
        """See :class:`Marginals`."""
        allowed = codes_of(event, self.space)
        check_possible(allowed, self.space)
        codes = [allowed.get(i, tuple(range(card))) for i, card in enumerate(self.space.cards)]
        weights = self._restricted(allowed)
        top = float(weights.max())
        weights = np.exp(weights - top)
        total = float(weights.sum())
        log_prob = top + math.log(total)
        if allowed:
            check_probable(log_prob, f"the condition {in_words(allowed, self.space)}")
        shares = {}
        for i in reversed(range(len(codes))):  # each variable is summed out in turn, so that the table halves
            table = weights.reshape(len(codes[i]), -1)
            shares[i] = np.zeros(self.space.cards[i])
            shares[i][list(codes[i])] = table.sum(axis=1) / total
            weights = table.sum(axis=0)
        found = {name: shares[i] for i, name in enumerate(self.space.names)}
        return min(log_prob, 0.0) if allowed else 0.0, found

    def _restricted(self, allowed: Mapping[int, Codes]) -> Array:
        """The part of the table that an event allows; single levels are views."""
        last = self._log_p.ndim - 1
        view: list[slice] = [slice(None)] * self._log_p.ndim
        for i, own in allowed.items():
            if len(own) == 1:
                view[last - i] = slice(own[0], own[0] + 1)
        part = self._log_p[tuple(view)]
        for i, own in allowed.items():
            if len(own) > 1:
                part = part.take(own, axis=last - i)
        return part


class ListedMarginals:
    """By the list of states of a truncated machine."""

    def __init__(self, oracle: TruncatedOracle) -> None:
        self.oracle, self.space = oracle, oracle.visible

    def given(self, event: Event | None = None) -> tuple[float, dict[str, Array]]:
        """See :class:`Marginals`."""
        return self.oracle.marginals(event)


class GraphMarginals:
    """By sweeps over a tree of clusters: milliseconds for a thousand variables of a sparse model."""

    def __init__(self, graph: GraphModel, space: Space) -> None:
        self.graph, self.space = graph, space
        self._log_z = graph.log_z()

    def given(self, event: Event | None = None) -> tuple[float, dict[str, Array]]:
        """See :class:`Marginals`."""
        log_z, found = self.graph.log_z_and_marginals(event)
        return min(log_z - self._log_z, 0.0) if event else 0.0, {name: found[name] for name in self.space.names}
