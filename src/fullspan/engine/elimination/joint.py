"""Questions about several variables at once, answered by conditioning a :class:`ClusterTree`.

    Cov(1[x_f = a], 1[x_g = b]) = p(a) (p(b | a) - p(b))

Each condition costs one forward and one backward sweep, and answers for all variables and factors together. The second
cumulants of factor entries are the second derivatives of log Z with respect to their log values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fullspan.arrays import Array
from fullspan.engine.elimination.prepared import Evidence
from fullspan.errors import QueryError
from fullspan.model.loglinear import checked_codes

if TYPE_CHECKING:
    from fullspan.engine.elimination.clusters import ClusterTree


_GROUP_ROWS = 4
"""Rows with the same cells known from which on an order of their own pays."""


def covariances(tree: ClusterTree, entries: Sequence[int], evidence: Evidence | None = None) -> Array:
    """Covariances (k, k) of the events that factors are in given states, entries counted as in ``graph.values``.

    This is the Hessian of log Z in these log values, ``d^2 log Z / d g_a d g_b``.
    """
    graph, chosen = tree.graph, np.asarray(entries, dtype=np.int64)
    if chosen.ndim != 1 or ((chosen < 0) | (chosen >= len(graph.values))).any():
        raise QueryError(f"entries are numbers from 0 to {len(graph.values) - 1}; {entries!r} was given")
    beliefs = tree.beliefs(evidence)
    p = beliefs.factors[chosen]
    result = np.zeros((len(chosen), len(chosen)))
    for a, entry in enumerate(chosen.tolist()):
        if p[a] > 0.0:
            f = int(np.searchsorted(graph.table_starts, entry, side="right")) - 1
            state = np.unravel_index(entry - int(graph.table_starts[f]), graph.tables[f].shape)
            known = {v: int(x) for v, x in zip(graph.scopes[f], state, strict=True)}
            result[a] = p[a] * (tree.beliefs({**(evidence or {}), **known}).factors[chosen] - p)
    return (result + result.T) / 2


def log_prob(tree: ClusterTree, states: Any) -> Array:
    """``log p`` of the known cells of states (m, n), -1 marking the others: the rest is summed out.

    Rows that know the same cells are swept together, with an order of their own.
    """
    if len(tree.clamped):
        raise QueryError("partial states need a tree without clamped variables; make one for the graph alone")
    rows = checked_codes(states, tree.graph.space, missing=True)
    total = tree.log_z()
    if total == -np.inf:
        raise QueryError("every state of the model has weight zero: its factors contradict each other")
    result = np.empty(len(rows))
    kinds, which = np.unique(rows >= 0, axis=0, return_inverse=True)
    for kind, known in enumerate(kinds):
        members = np.flatnonzero(which.ravel() == kind)
        columns = np.flatnonzero(known)
        if len(members) >= _GROUP_ROWS:
            part = type(tree)(tree.graph, columns.tolist(), max_memory=tree.max_memory).reweighted(tree.values)
            result[members] = part.log_z_batch(rows[np.ix_(members, columns)])
        else:
            for r in members:
                result[r] = tree.log_z(dict(zip(columns.tolist(), rows[r, columns].tolist(), strict=True)))
    return result - total
