"""Rows completed by Gibbs chains with their observed cells clamped: samples, and cells filled in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.layers.device import Device
from fullspan.engine.layers.network import Network
from fullspan.model.layered import LayeredMachine
from fullspan.model.units import OPEN

_CHAINS = 4096
"""Chains that run together."""


def sampled(
    machine: LayeredMachine, codes: NDArray[Any], n_sweeps: int, device: Device, average: bool = False
) -> NDArray[np.int64]:
    """Rows of codes (m, n) with −1 filled in: the state of one chain per row after ``n_sweeps``.

    With ``average``, the likeliest level of each open cell by its means over ``n_sweeps`` further sweeps.
    """
    network, base = Network.of(machine, device), device.array(machine.rates)
    filled = np.empty(codes.shape, dtype=np.int64)
    for start in range(0, len(codes), _CHAINS):
        some = codes[start : start + _CHAINS]
        units = machine.units.encode(some)
        known, values = device.index(units != OPEN), device.states(device.index(np.maximum(units, 0)))
        states = network.start(len(some), base)
        states[0] = device.xp.where(known, values, states[0])
        for layer in range(1, network.n_layers):
            states[layer] = network.draw(layer, states)
        for _ in range(n_sweeps):
            network.sweep(states, known, values)
        result = _averaged(network, states, known, values, n_sweeps) if average else states[0]
        drawn = machine.units.decode(device.to_numpy(result))
        filled[start : start + _CHAINS] = np.where(some == OPEN, drawn, some)
    return filled


def _averaged(network: Network, states: list[Any], known: Any, values: Any, n_sweeps: int) -> Any:
    total = states[0] * 0
    for _ in range(n_sweeps):
        network.sweep(states, known, values)
        total = total + network.mean(0, states)
    return total / n_sweeps
