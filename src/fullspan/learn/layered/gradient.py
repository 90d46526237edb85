"""The gradient of the likelihood of a layered machine, from units in two phases, and steps along it.

The learning equations ask that expectations agree between data (hidden units given the rows) and model:

    mean over rows of x_i = eta_i,    of p(h_j | x) = eta_j,    of x_i p(h_j | x) = eta_ij

Their differences d_l (of units) and G_l (of products) are the gradient. Centred on offsets m_l (Montavon & Müller 2012)
it becomes, in the same parameters,

    dW_l = G_l - m_{l-1} d_l' - d_{l-1} m_l',        db_l = d_l - dW_{l+1} m_{l+1} - dW_l' m_{l-1}

and standardised, both are multiplied by 1/(4 var) of the units, as if these had been divided by their deviations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from fullspan.engine.sampling.layers.network import Network

_NEW_SHARE = 0.01
"""Share of a new batch in the running means of hidden units."""
_LARGEST_STRETCH = 5.0
"""Largest factor by which standardising may stretch a unit."""


@dataclass
class Moments:
    """Differences between the phases: of units per layer, and of products per pair of layers."""

    units: list[Any]
    products: list[Any]


def moments(network: Network, positive: list[Any], negative: list[Any], row_weights: Any = None) -> Moments:
    """Differences of means over rows between two phases, each a list of arrays (rows, units).

    ``row_weights`` of the positive phase sum to its number of rows.
    """
    device, xp = network.device, network.device.xp
    n, m = positive[0].shape[0], negative[0].shape[0]
    if row_weights is not None:
        w = xp.reshape(row_weights, (n, 1))
        weighted = [p * w for p in positive]
    else:
        weighted = positive
    units = [device.totals(p) / n - device.totals(q) / m for p, q in zip(weighted, negative, strict=True)]
    products = [
        device.contrast(positive[k], weighted[k + 1], negative[k], negative[k + 1]) for k in range(len(positive) - 1)
    ]
    return Moments(units, products)


@dataclass
class Ascent:
    """Steps of gradient ascent with momentum; ``offsets`` are running means of the units of each layer."""

    network: Network
    kind: str
    offsets: list[Any]
    momentum: float
    weight_decay: float
    masks: list[Any] | None = None
    """1 for weights that are learned and 0 for those that stay 0; None for all."""
    velocities: list[Any] = field(init=False)
    bias_velocities: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        xp = self.network.device.xp
        self.velocities = [xp.zeros_like(w) for w in self.network.weights]
        self.bias_velocities = [xp.zeros_like(b) for b in self.network.biases]

    def slide(self, positive: list[Any]) -> None:
        """Move the offsets of hidden layers towards the means of a batch."""
        for layer in range(1, len(positive)):
            mean = self.network.device.xp.mean(positive[layer], axis=0)
            # Slowly: a jump of the offset would change the bias that the same gradient stands for.
            self.offsets[layer] = self.offsets[layer] * (1 - _NEW_SHARE) + mean * _NEW_SHARE

    def directions(self, difference: Moments) -> tuple[list[Any], list[tuple[Any, Any]], list[Any]]:
        """The directions of ascent of the chosen kind: products P and pairs (L, R), of which P − L R is that of the
        weights, and that of the biases."""
        xp, units = self.network.device.xp, difference.units
        if self.kind == "plain":
            join = self.network.device.joined
            none = [_outer(xp, u * 0, xp.zeros_like(u[:1])) for u in units]
            pairs = [(join([a, a]), join([b, b]).T) for a, b in pairwise(none)]
            return difference.products, pairs, units
        offsets = self.offsets
        lowered = [
            (xp.stack((offsets[k], units[k]), axis=1), xp.stack((units[k + 1], offsets[k + 1])))
            for k in range(len(units) - 1)
        ]
        products, biases = difference.products, list(units)
        if self.kind == "standardised":
            factors = [self._factor(m) for m in offsets]
            products = [p * _outer(xp, factors[k], factors[k + 1]) for k, p in enumerate(products)]
            lowered = [
                (a * xp.reshape(factors[k], (-1, 1)), b * xp.reshape(factors[k + 1], (1, -1)))
                for k, (a, b) in enumerate(lowered)
            ]
            biases = [d * f for d, f in zip(biases, factors, strict=True)]
        for k, (product, (left, right)) in enumerate(zip(products, lowered, strict=True)):
            biases[k] = biases[k] - product @ offsets[k + 1] + left @ (right @ offsets[k + 1])
            biases[k + 1] = biases[k + 1] - offsets[k] @ product + (offsets[k] @ left) @ right
        return products, lowered, biases

    def _factor(self, mean: Any) -> Any:
        xp = self.network.device.xp
        variance = 4 * mean * (1 - mean)
        # A unit that hardly ever changes has variance 0.
        return 1 / xp.maximum(variance, variance * 0 + 1 / _LARGEST_STRETCH)

    def step(self, difference: Moments, rate: float) -> None:
        """Move the network's parameters."""
        products, lowered, biases = self.directions(difference)
        network, ascend = self.network, self.network.device.ascend
        for k, product in enumerate(products):
            network.weights[k], self.velocities[k] = ascend(
                network.weights[k], self.velocities[k], product, lowered[k], rate, self.momentum, self.weight_decay
            )
            if self.masks is not None:
                network.weights[k] = network.weights[k] * self.masks[k]
        for k, b in enumerate(biases):
            self.bias_velocities[k] = self.bias_velocities[k] * self.momentum + b * rate
            network.biases[k] = network.biases[k] + self.bias_velocities[k]


def _outer(xp: Any, a: Any, b: Any) -> Any:
    return xp.reshape(a, (-1, 1)) * xp.reshape(b, (1, -1))
