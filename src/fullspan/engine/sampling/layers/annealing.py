"""The path along which layered machines are annealed, and log Z by it (Salakhutdinov & Murray 2008).

The state is that of the odd layers; even layers, the visible one among them, are summed out. At inverse temperature β

    log f_β(h_odd) = β sum_odd b.h + sum_even log_sum(bias_β + β input),    visible: bias_β = (1 - β) base + β b_0

At β = 0 units are independent and log Z is known: log_sum(base) + log 2 per hidden unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.engine.sampling.annealing import annealed_runs, log_weights
from fullspan.engine.sampling.layers.arrays import Device
from fullspan.engine.sampling.layers.network import Network
from fullspan.model.estimate import Estimate
from fullspan.model.layered import LayeredMachine


def annealed_log_z(machine: LayeredMachine, device: Device, n_chains: int = 100, n_steps: int = 1000) -> Estimate:
    """An estimate of log Z from independent chains, and its standard error.

    A run of half the steps goes before, as :mod:`fullspan.engine.sampling.annealing` says.

    Raises
    ------
    FullspanError : fewer than 2 chains, which show no error, or no step.
    """
    path = LayerPath(Network.of(machine, device), device.array(machine.rates))
    return annealed_runs(lambda steps: log_weights(path, n_chains, steps), n_chains, n_steps).log_z


@dataclass
class _Walk:
    """Units of all layers, and what the odd layers send to the even ones: both the weights and the sweep need it."""

    states: list[Any]
    raws: dict[int, Any]


@dataclass
class LayerPath:
    """A layered machine between units at the rates of ``base`` (visible) or 1/2 (hidden), and its own weights."""

    network: Network
    base: Any

    @cached_property
    def log_z_0(self) -> float:
        device, sizes = self.network.device, [int(bias.shape[0]) for bias in self.network.biases]
        zero = device.array(np.zeros((1, sizes[0])))
        at_zero = float(device.to_numpy(device.log_sum(self.network.blocks[0], zero, self.base))[0])
        return at_zero + math.log(2.0) * sum(sizes[1:])

    def start(self, chains: int) -> _Walk:
        states = self.network.start(chains, self.base)
        return _Walk(states, self._raws(states))

    def log_ratio(self, states: _Walk, low: float, high: float) -> Array:
        return self._log_f(states, high) - self._log_f(states, low)

    def sweep(self, states: _Walk, beta: float) -> None:
        network, units = self.network, states.states
        for layer, raw in states.raws.items():
            units[layer] = network.device.draw(network.blocks[layer], raw, self._bias(layer, beta), beta)
        for layer in range(1, network.n_layers, 2):
            raw = network.raw(layer, units)
            units[layer] = network.device.draw(network.blocks[layer], raw, self._bias(layer, beta), beta)
        states.raws = self._raws(units)

    def _raws(self, units: list[Any]) -> dict[int, Any]:
        return {layer: self.network.raw(layer, units) for layer in range(0, self.network.n_layers, 2)}

    def _bias(self, layer: int, beta: float) -> Any:
        bias = self.network.biases[layer] * beta
        return bias + self.base * (1 - beta) if layer == 0 else bias

    def _log_f(self, walk: _Walk, beta: float) -> Array:
        network, device = self.network, self.network.device
        total: Any = 0.0
        for layer, raw in walk.raws.items():
            total = total + device.log_sum(network.blocks[layer], raw, self._bias(layer, beta), beta)
        for layer in range(1, network.n_layers, 2):
            total = total + (walk.states[layer] @ network.biases[layer]) * beta
        return np.asarray(device.to_numpy(total), dtype=np.float64)
