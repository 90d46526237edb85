"""Expectations under a model without a dual table, of parts of its own terms: one sweep gives them all."""

from __future__ import annotations

import numpy as np

from fullspan.engine.elimination.clusters import Beliefs, ClusterTree
from fullspan.model.algebra.basis import Term, local_row
from fullspan.model.effects.sum_to_zero import Expect
from fullspan.model.graph import FactorGraph
from fullspan.model.loglinear import LogLinear


def expectations(model: LogLinear) -> Expect:
    """``<Phi_y>`` of parts of the model's terms: over its list of states, or from the beliefs of its cluster tree."""
    states = model.listed_states
    if states is not None:
        p = np.exp(model.log_prob(states))
        return lambda terms: p @ model.basis.evaluate(terms, states).astype(np.float64)
    found = _Swept(model)
    return lambda terms: np.array([found.expected(term) for term in terms], dtype=np.float64)


class _Swept:
    """The marginals of all factors, swept when first needed."""

    def __init__(self, model: LogLinear) -> None:
        self.model = model
        self._beliefs: Beliefs | None = None
        self._factors: dict[int, list[int]] = {}
        self._known: dict[Term, float] = {(): 1.0}

    def expected(self, term: Term) -> float:
        """``<Phi_y>``; parts of many terms are the same."""
        if term not in self._known:
            self._known[term] = self._summed(term)
        return self._known[term]

    def _summed(self, term: Term) -> float:
        beliefs = self.beliefs()
        where = [i for i, _ in term]
        f = next(f for f in self._factors[where[0]] if set(where) <= set(beliefs.graph.scopes[f]))
        p = beliefs.factor(f)
        scope = beliefs.graph.scopes[f]
        values = np.ones(())
        for i in scope:
            row = local_row(self.model.basis, i, dict(term).get(i, 0)).astype(np.float64)
            values = np.multiply.outer(values, row)
        return float(np.sum(p * values))

    def beliefs(self) -> Beliefs:
        if self._beliefs is None:
            graph = FactorGraph.of_loglinear(self.model)
            for f, scope in enumerate(graph.scopes):
                for i in scope:
                    self._factors.setdefault(i, []).append(f)
            self._beliefs = ClusterTree(graph).beliefs()
        return self._beliefs
