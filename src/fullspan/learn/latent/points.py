"""Points that fill a torus evenly: shifted Kronecker lattices, and smooth functions at them."""

from __future__ import annotations

import math

import numpy as np

from fullspan.arrays import Array


def lattice(n: int, dimensions: int) -> Array:
    """Points (n, d) of [0, 1)^d, ``i alpha mod 1`` with alpha from the generalised golden ratio.

    The ratio g solves ``g^(d+1) = g + 1``, and ``alpha_j = g^-j``.
    """
    ratio = 2.0
    for _ in range(64):
        ratio = (1.0 + ratio) ** (1.0 / (dimensions + 1))
    return np.asarray(np.arange(n)[:, None] * ratio ** -np.arange(1.0, dimensions + 1) % 1.0)


def waves(points: Array, frequencies: int) -> Array:
    """``cos`` and ``sin`` of points (n, d) of the torus at the frequencies 1 to k, shape (n, 2 d k)."""
    turns = (2 * math.pi * points[:, :, None] * np.arange(1, frequencies + 1)).reshape(len(points), -1)
    return np.concatenate([np.cos(turns), np.sin(turns)], axis=1)
