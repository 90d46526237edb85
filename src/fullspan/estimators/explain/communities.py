"""Communities of variables: groups that are joined more strongly inside than strengths alone would make likely.

With strengths w_ij, k_i = sum_j w_ij and 2m = sum_i k_i, the partition c maximises the modularity (Newman 2004)

    Q = 1/2m sum_ij ( w_ij - k_i k_j / 2m ) [c_i = c_j]

by moves of single nodes and then of whole communities, until none gains (Blondel et al. 2008). Time: a few sweeps over
the edges. Nodes are visited in their order, so that the same graph always has the same communities.
"""

from __future__ import annotations

from collections.abc import Iterable

_LEAST_GAIN = 1e-12
_MAX_SWEEPS = 100

Near = list[dict[int, float]]
"""Strengths by neighbour, of each node; a node's own entry counts both ends of the edges inside it."""


def communities(n_nodes: int, edges: Iterable[tuple[int, int, float]]) -> list[int]:
    """The community of each node, numbered by size, the largest 0; a node without edges is alone.

    Examples
    --------
    >>> communities(5, [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (3, 4, 1.0), (2, 3, 0.1)])
    [0, 0, 0, 1, 1]
    """
    near: Near = [{} for _ in range(n_nodes)]
    for a, b, strength in edges:
        near[a][b] = near[a].get(b, 0.0) + strength
        near[b][a] = near[b].get(a, 0.0) + strength
    of = list(range(n_nodes))
    while True:
        merged = _moved(near)
        if len(set(merged)) == len(near):
            return _by_size(of)
        names = {c: k for k, c in enumerate(dict.fromkeys(merged))}
        groups = [names[c] for c in merged]
        of, near = [groups[c] for c in of], _joined(near, groups, len(names))


def _moved(near: Near) -> list[int]:
    """The community of each node after moves of single nodes, of which none gains any more."""
    degree = [sum(own.values()) for own in near]
    total = sum(degree)
    of, weight = list(range(len(near))), list(degree)
    for _ in range(_MAX_SWEEPS if total > 0 else 0):
        moved = False
        for i, own in enumerate(near):
            to: dict[int, float] = {of[i]: 0.0}
            for j, strength in own.items():
                if j != i:
                    to[of[j]] = to.get(of[j], 0.0) + strength
            weight[of[i]] -= degree[i]
            gain = {c: w - degree[i] * weight[c] / total for c, w in to.items()}
            best = max(gain, key=gain.__getitem__)
            if gain[best] > gain[of[i]] + _LEAST_GAIN * total:
                of[i], moved = best, True
            weight[of[i]] += degree[i]
        if not moved:
            break
    return of


def _joined(near: Near, groups: list[int], n_groups: int) -> Near:
    """The graph whose nodes are communities."""
    found: Near = [{} for _ in range(n_groups)]
    for i, own in enumerate(near):
        for j, strength in own.items():
            row = found[groups[i]]
            row[groups[j]] = row.get(groups[j], 0.0) + strength
    return found


def _by_size(of: list[int]) -> list[int]:
    size: dict[int, int] = {}
    for c in of:
        size[c] = size.get(c, 0) + 1
    order = {c: k for k, c in enumerate(sorted(size, key=lambda c: -size[c]))}
    return [order[c] for c in of]
