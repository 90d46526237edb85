"""How strongly the variables of a mixture go together in pairs: within its components, and through the hidden variable.

    q(x_i, x_j) = sum_h pi_h { p_h(x_i, x_j)      where component h joins i and j in a factor,
                             { p_h(x_i) p_h(x_j)  elsewhere

The mutual information of q is what two variables share directly or by the hidden variable, and not through other
variables: the edges of a graph that a person can read. It takes one sweep over each component, whatever the pairs.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.engine.elimination.clusters import Beliefs
from fullspan.model.graph import FactorGraph
from fullspan.query.distributions.mixture import MixtureDistribution

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class DirectPairs:
    """All pairs i < j of the variables of a mixture, in the order of ``np.triu_indices``.

    Attributes
    ----------
    information : (n (n - 1) / 2,) mutual information under q, in nats.
    covariance : of the codes under q: its sign says whether two binary variables go together.
    """

    information: Array
    covariance: Array

    @classmethod
    def of(cls, distribution: MixtureDistribution) -> DirectPairs:
        """Every pair of a mixture.

        Examples
        --------
        >>> from fullspan.model.graph import FactorGraph
        >>> from fullspan.model.mixture import Mixture
        >>> from fullspan.data.space import Space
        >>> space = Space.of_cards((2, 2))
        >>> both = [FactorGraph(space, ((0,), (1,)), (np.log([p, 1 - p]),) * 2) for p in (0.1, 0.9)]
        >>> found = DirectPairs.of(MixtureDistribution(Mixture(space, np.array([0.5, 0.5]), tuple(both))))
        >>> found.information.round(4).tolist(), found.covariance.round(4).tolist()
        ([0.2218], [0.16])
        """
        shares, joined = distribution.model.shares, dict[Pair, Array]()
        alone = np.zeros((len(shares), sum(distribution.visible.cards)))
        for h, (component, part) in enumerate(zip(distribution.model.components, distribution.parts, strict=True)):
            alone[h] = np.concatenate(part.marginals())
            if component.kind != FactorGraph.kind:  # what its variables share goes through what is hidden in it
                continue
            beliefs: Beliefs = part.beliefs()  # type: ignore[attr-defined]
            for pair, beyond in _beyond_product(beliefs).items():
                joined[pair] = joined.get(pair, 0.0) + shares[h] * beyond
        found = _rows(shares, alone, np.array(distribution.visible.cards), joined)
        return cls(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _rows(
    shares: Array, alone: Array, cards: NDArray[np.int64], joined: dict[Pair, Array]
) -> list[tuple[Array, Array]]:
    """Information and covariance of each variable with those after it; ``alone`` has all levels side by side."""
    starts = np.concatenate([[0], np.cumsum(cards)])
    beyond: list[list[tuple[int, Array]]] = [[] for _ in cards]
    for (i, j), table in joined.items():
        beyond[i].append((j, table))
    found = []
    for i, end in enumerate(starts[1:]):
        q = (shares[:, None] * alone[:, starts[i] : end]).T @ alone[:, end:]
        for j, table in beyond[i]:
            q[:, starts[j] - end : starts[j + 1] - end] += table
        found.append(_shared(np.maximum(q, 0.0), cards[i + 1 :]))
    return found


def _shared(q: Array, cards: NDArray[np.int64]) -> tuple[Array, Array]:
    """Mutual information and covariance of the codes under tables (a, b) that stand side by side -> (m,), (m,)."""
    starts = np.cumsum(cards) - cards
    rows, columns = np.add.reduceat(q, starts, axis=1), q.sum(axis=0)
    apart = np.repeat(rows, cards, axis=1) * columns
    ratio = np.divide(q, apart, out=np.ones_like(q), where=apart > 0)
    nats = np.multiply(q, np.log(ratio, out=ratio, where=ratio > 0), out=ratio).sum(axis=0)
    x, y = np.arange(len(q), dtype=np.float64), np.arange(len(columns)) - np.repeat(starts, cards)
    means = (x @ rows) * np.add.reduceat(columns * y, starts)
    covariance = np.asarray(np.add.reduceat((x @ q) * y, starts) - means, dtype=np.float64)
    return np.maximum(np.add.reduceat(nats, starts), 0.0), covariance


def _beyond_product(beliefs: Beliefs) -> dict[Pair, Array]:
    """``p(x_i, x_j) - p(x_i) p(x_j)`` of every pair i < j that shares a factor."""
    graph, shapes, found = beliefs.graph, dict[tuple[int, ...], list[int]](), dict[Pair, Array]()
    for f, table in enumerate(graph.tables):
        shapes.setdefault(table.shape, []).append(f)
    for shape, members in shapes.items():
        tables = np.stack([beliefs.factor(f) for f in members])
        for a, b in itertools.combinations(range(len(shape)), 2):
            p = tables.sum(axis=tuple(1 + k for k in range(len(shape)) if k not in (a, b)))
            p = p - p.sum(axis=2, keepdims=True) * p.sum(axis=1, keepdims=True)
            for f, beyond in zip(members, p, strict=True):
                i, j = graph.scopes[f][a], graph.scopes[f][b]
                found[min(i, j), max(i, j)] = beyond if i < j else beyond.T
    return found
