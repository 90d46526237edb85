"""Where the nodes of a small graph go: distances on paper near those in the graph, labels apart from each other.

Stress majorisation (Gansner, Koren & North 2004): minimise ``sum_ij (|z_i - z_j| - d_ij)^2 / d_ij^2`` over positions z,
by moving every node to the weighted mean of where its neighbours want it; the stress never rises.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullspan.arrays import Array

_STEPS, _PUSHES = 200, 120
_MOST_STRETCH = 2.5
"""How much more one direction may be stretched than the other, to fill the box."""


def positions(n: int, edges: Sequence[tuple[int, int]], sizes: Array, aspect: float = 1.6) -> Array:
    """Positions (n, 2) in a box of width ``aspect`` and height 1, scaled to [0, 1]; sizes (n, 2) are of the labels.

    The same graph always gives the same picture. Time O(n^2) per step.

    Examples
    --------
    >>> at = positions(3, [(0, 1), (1, 2)], np.full((3, 2), 0.1))
    >>> bool(np.linalg.norm(at[0] - at[2]) > np.linalg.norm(at[0] - at[1]))
    True
    """
    if n == 0:
        return np.zeros((0, 2))
    distance = _distances(n, edges)
    angle = 2 * np.pi * np.arange(n) / max(n, 1)
    at = np.stack([np.cos(angle), np.sin(angle)], axis=1) * distance.max() / 2
    weight = np.zeros((n, n))
    np.divide(1.0, distance**2, out=weight, where=distance > 0)
    for _ in range(_STEPS):
        gap = at[:, None] - at[None]
        length = np.maximum(np.sqrt((gap**2).sum(axis=2)), 1e-9)
        target = at[None] + gap * (distance / length)[:, :, None]
        at = np.einsum("ij,ijk->ik", weight, target) / np.maximum(weight.sum(axis=1), 1e-9)[:, None]
    return _apart(_turned(at), sizes, aspect)


def _distances(n: int, edges: Sequence[tuple[int, int]]) -> Array:
    """Edges between any two nodes; nodes in different parts are a little farther than the farthest in one."""
    distance = np.full((n, n), np.inf)
    np.fill_diagonal(distance, 0.0)
    for a, b in edges:
        distance[a, b] = distance[b, a] = 1.0
    for k in range(n):
        distance = np.minimum(distance, distance[:, k : k + 1] + distance[k : k + 1, :])
    finite = distance[np.isfinite(distance)]
    distance[~np.isfinite(distance)] = min(finite.max(initial=1.0), 3.0) + 1.0
    return distance


def _turned(at: Array) -> Array:
    """The longest direction across."""
    at = at - at.mean(axis=0)
    _, _, axes = np.linalg.svd(at, full_matrices=False)
    return np.asarray(at @ axes.T if axes.shape == (2, 2) else at)


def _apart(at: Array, sizes: Array, aspect: float) -> Array:
    """Into the unit box, then labels that overlap are pushed apart in the direction that moves them least."""
    span = np.maximum(np.ptp(at, axis=0), 1e-9)
    scale = np.minimum(1 / span, _MOST_STRETCH / span.max())  # a line stays a line
    at = 0.5 + (at - (at.min(axis=0) + at.max(axis=0)) / 2) * scale
    room = np.minimum(sizes / np.array([aspect, 1.0]), 1.0)
    at = room / 2 + at * (1 - room)
    needed = (room[:, None] + room[None]) / 2
    for _ in range(_PUSHES):
        gap = at[:, None] - at[None]
        overlap = needed - np.abs(gap)
        clash = (overlap > 0).all(axis=2)
        np.fill_diagonal(clash, False)
        if not clash.any():
            break
        side = np.where(gap == 0, np.sign(np.subtract.outer(np.arange(len(at)), np.arange(len(at))))[:, :, None], 0)
        push = np.where(clash[:, :, None], overlap * np.sign(gap + side * 1e-9), 0.0)
        wide = overlap[:, :, 0] * aspect > overlap[:, :, 1]
        push[:, :, 0][wide], push[:, :, 1][~wide] = 0.0, 0.0
        at = np.clip(at + 0.55 * push.sum(axis=1), room / 2, 1 - room / 2)
    return np.asarray(at)
