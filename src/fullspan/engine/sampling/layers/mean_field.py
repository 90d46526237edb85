"""The mean-field posterior of the hidden layers given visible units, and the bound on log p that it gives.

    log p(x) >= b_0.x + sum_l (b_l.m_l + m_{l-1}' W_l m_l) + H(m) - log Z,      m_0 = x

Layers are updated one after the other, each to its optimum, so that the bound never falls. With one hidden layer the
first update is the posterior itself and the bound an equation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.engine.sampling.layers.network import Network


@dataclass(frozen=True)
class MeanField:
    """Means of all layers (the visible one as given), the sweeps taken, and the largest change in the last of them."""

    means: list[Any]
    n_sweeps: int
    change: float
    converged: bool


def mean_field(network: Network, x: Any, max_sweeps: int = 50, tol: float = 1e-4) -> MeanField:
    """Means of the hidden units given visible ones (m, u), until a sweep changes none by more than ``tol``."""
    device, xp = network.device, network.device.xp
    means: list[Any] = [x]
    for layer in range(1, network.n_layers):  # upwards, doubled for the layer above that is not known yet
        raw = device.product(means[layer - 1], network.weights[layer - 1])
        twice = 2.0 if layer < network.n_layers - 1 else 1.0
        means.append(device.mean(network.blocks[layer], raw, network.biases[layer], twice * network.up))
    if network.n_layers == 2:
        return MeanField(means, 1, 0.0, True)
    change = np.inf
    for sweep in range(1, max_sweeps + 1):
        change = 0.0
        for layer in range(1, network.n_layers):
            new = network.mean(layer, means)
            change = max(change, float(xp.max(xp.abs(new - means[layer]))))
            means[layer] = new
        if change <= tol:
            return MeanField(means, sweep, change, True)
    return MeanField(means, max_sweeps, change, False)


def bound(network: Network, means: list[Any]) -> Array:
    """(m,) the lower bound on ``log p(x) + log Z`` of mean-field posteriors."""
    xp = network.device.xp
    total = means[0] @ network.biases[0]
    for layer in range(1, network.n_layers):
        m = means[layer]
        total = total + xp.sum((means[layer - 1] @ network.weights[layer - 1]) * m, axis=1) + m @ network.biases[layer]
        total = total + xp.sum(_entropy(xp, m), axis=1)
    return np.asarray(network.device.to_numpy(total), dtype=np.float64)


def _entropy(xp: Any, m: Any) -> Any:
    inside = xp.where(m <= 0, m * 0 + 1, m)
    outside = xp.where(m >= 1, m * 0 + 1, 1 - m)
    return -(m * xp.log(inside) + (1 - m) * xp.log(outside))
