"""A small network from features of a point to the logits of a tree, with its gradient, for any array library.

    h = silu(f W1 + b1),      g = h + silu(h W2 + b2),      t = g W3 + b3

The gradient is written out: two matrix products for each one of the forward pass.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fullspan.arrays import Array

Parameters = dict[str, Any]


def initial(n_features: int, hidden: int, bias: Array, rng: np.random.Generator) -> dict[str, Array]:
    """Random weights; the outputs differ little from ``bias`` (P,)."""

    def normal(rows: int, columns: int, variance: float) -> Array:
        return np.asarray(rng.normal(scale=math.sqrt(variance / rows), size=(rows, columns)))

    zeros = np.zeros((1, hidden))
    return {
        "w1": normal(n_features, hidden, 2.0),
        "b1": zeros,
        "w2": normal(hidden, hidden, 2.0),
        "b2": zeros.copy(),
        "w3": normal(hidden, len(bias), 1.0),
        "b3": bias[None, :].copy(),
    }


def forward(xp: Any, p: Parameters, f: Any) -> tuple[Any, tuple[Any, ...]]:
    """The outputs (N, P) at features (N, F), and what the backward pass needs."""
    a = f @ p["w1"] + p["b1"]
    gate = 1 / (1 + xp.exp(-a))
    h = a * gate
    a = h @ p["w2"] + p["b2"]
    second_gate = 1 / (1 + xp.exp(-a))
    u = a * second_gate
    g = h + u
    return g @ p["w3"] + p["b3"], (f, gate, h, second_gate, u, g)


def backward(xp: Any, p: Parameters, kept: tuple[Any, ...], slope: Any) -> tuple[Parameters, Any]:
    """Gradients of the parameters and of the features, from that of the outputs (N, P)."""
    f, gate, h, second_gate, u, g = kept
    of_g = slope @ p["w3"].T
    of_second = of_g * (second_gate + u * (1 - second_gate))
    of_first = (of_g + of_second @ p["w2"].T) * (gate + h * (1 - gate))
    found = {
        "w1": f.T @ of_first,
        "b1": xp.sum(of_first, axis=0, keepdims=True),
        "w2": h.T @ of_second,
        "b2": xp.sum(of_second, axis=0, keepdims=True),
        "w3": g.T @ slope,
        "b3": xp.sum(slope, axis=0, keepdims=True),
    }
    return found, of_first @ p["w1"].T
