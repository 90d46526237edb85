"""A machine in layers as arrays of a device: inputs of a layer, its means, its draws, and weights of states.

Layers of one parity are independent given those of the other, so that a sweep is two blocks: even layers (the visible
one among them) given odd ones, then odd given even.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullspan.data.space import Space
from fullspan.engine.sampling.layers.arrays import Device
from fullspan.model.layered import LayeredMachine
from fullspan.model.units import Blocks


@dataclass
class Network:
    """Biases and weights on a device; ``states`` below are lists of arrays (m, units), one per layer.

    ``up`` and ``down`` scale the inputs from below and from above. They are 1 but while the layers of a deep machine
    are learned one by one, when a layer must stand for a neighbour that it does not have yet.
    """

    device: Device
    blocks: tuple[Blocks, ...]
    biases: list[Any]
    weights: list[Any]
    up: float = 1.0
    down: float = 1.0

    @classmethod
    def of(cls, machine: LayeredMachine, device: Device) -> Network:
        """The machine's arrays on a device."""
        return cls(
            device, machine.blocks, [device.array(b) for b in machine.biases], [*map(device.array, machine.weights)]
        )

    def machine(self, space: Space, base: Any) -> LayeredMachine:
        """The arrays as a machine."""
        bring = self.device.to_numpy
        return LayeredMachine(space, tuple(map(bring, self.biases)), tuple(map(bring, self.weights)), base)

    def copy(self) -> Network:
        """The same network with arrays of its own."""
        again = [[a + 0 for a in arrays] for arrays in (self.biases, self.weights)]
        return Network(self.device, self.blocks, again[0], again[1], self.up, self.down)

    @property
    def n_layers(self) -> int:
        """Layers, the visible one included."""
        return len(self.biases)

    def raw(self, layer: int, states: Sequence[Any]) -> Any:
        """(m, units) what the neighbours send to a layer, its bias not included."""
        below = self.device.product(states[layer - 1], self.weights[layer - 1]) if layer > 0 else None
        if below is not None and self.up != 1.0:
            below = below * self.up
        if layer == self.n_layers - 1:
            return below
        above = self.device.product(states[layer + 1], self.weights[layer].T)
        if self.down != 1.0:
            above = above * self.down
        return above if below is None else below + above

    def mean(self, layer: int, states: Sequence[Any]) -> Any:
        """Probabilities of the units of a layer, given its neighbours."""
        return self.device.mean(self.blocks[layer], self.raw(layer, states), self.biases[layer])

    def draw(self, layer: int, states: Sequence[Any]) -> Any:
        """Units of a layer, drawn given its neighbours."""
        return self.device.draw(self.blocks[layer], self.raw(layer, states), self.biases[layer])

    def sweep(self, states: list[Any], clamped: Any = None, values: Any = None) -> None:
        """Draw even layers given odd ones, then odd given even, in place.

        ``clamped`` is a mask (m, visible units), true where the visible unit keeps its value in ``values``.
        """
        for parity in (0, 1):
            for layer in range(parity, self.n_layers, 2):
                states[layer] = self.draw(layer, states)
                if layer == 0 and clamped is not None:
                    states[0] = self.device.xp.where(clamped, values, states[0])

    def start(self, n_chains: int, base: Any) -> list[Any]:
        """Chains at the base rates of the visible units, with hidden units of probability 1/2 each."""
        xp = self.device.xp
        states = []
        for layer, bias in enumerate(self.biases):
            zeros = xp.zeros_like(bias)
            raw = xp.broadcast_to(zeros, (n_chains, bias.shape[0])) + 0
            states.append(self.device.draw(self.blocks[layer], raw, base if layer == 0 else zeros))
        return states

    def log_weight(self, x: Any) -> np.ndarray:
        """(m,) ``log sum_h exp(-E(x, h))`` of a machine with one hidden layer: minus the free energy of x."""
        inner = self.device.log_sum(self.blocks[1], self.device.product(x, self.weights[0]), self.biases[1])
        return np.asarray(self.device.to_numpy(inner + x @ self.biases[0]), dtype=np.float64)
