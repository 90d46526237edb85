"""Rows completed by Gibbs chains with their observed cells clamped: samples, and cells filled in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.sampling.layers.arrays import Device
from fullspan.engine.sampling.layers.network import Network
from fullspan.model.layered import LayeredMachine
from fullspan.model.units import OPEN

_CHAINS = 4096
"""Chains that run together."""


def sampled(machine: LayeredMachine, codes: NDArray[Any], n_sweeps: int, device: Device) -> NDArray[np.int64]:
    """Rows of codes (m, n) with −1 filled in: the state of one chain per row after ``n_sweeps``."""
    filled = np.empty(codes.shape, dtype=np.int64)
    for some, walk in _walks(machine, codes, n_sweeps, device):
        drawn = machine.units.decode(device.to_numpy(walk.states[0]))
        filled[some] = np.where(codes[some] == OPEN, drawn, codes[some])
    return filled


def completed_means(
    machine: LayeredMachine, codes: NDArray[Any], n_sweeps: int, device: Device
) -> dict[str, NDArray[np.float64]]:
    """Probabilities (m, levels) of each variable, given what its row says, by name; 0 and 1 of cells that are known.

    They are means over ``n_sweeps`` sweeps of one chain per row, after as many that are not counted.
    """
    space, units = machine.space, machine.units
    out = {v.name: np.ones((len(codes), v.card)) for v in space.variables}
    for some, walk in _walks(machine, codes, n_sweeps, device):
        means = device.to_numpy(walk.means(n_sweeps))
        for i, (name, card) in enumerate(zip(space.names, space.cards, strict=True)):
            own = means[:, units.of_variable(i)]
            if card > 1:
                out[name][some] = np.concatenate([1 - own, own], axis=1) if card == 2 else own
            known = codes[some, i] != OPEN
            out[name][some][known] = np.eye(card)[codes[some, i][known]]
    return out


@dataclass
class _Walk:
    """Chains whose visible units keep their ``values`` where they are ``known``."""

    network: Network
    states: list[Any]
    known: Any
    values: Any

    def sweep(self) -> None:
        self.network.sweep(self.states, self.known, self.values)

    def means(self, n_sweeps: int) -> Any:
        """Means of the visible units over ``n_sweeps`` sweeps, each given the hidden ones."""
        total = self.states[0] * 0
        for _ in range(n_sweeps):
            self.sweep()
            total = total + self.network.mean(0, self.states)
        return total / n_sweeps


def _walks(
    machine: LayeredMachine, codes: NDArray[Any], n_sweeps: int, device: Device
) -> Iterator[tuple[slice, _Walk]]:
    """Chains of some rows after another, each ``n_sweeps`` sweeps from the base rates."""
    network, base = Network.of(machine, device), device.array(machine.rates)
    for start in range(0, len(codes), _CHAINS):
        some = slice(start, start + _CHAINS)
        units = machine.units.encode(codes[some])
        known, values = device.index(units != OPEN), device.states(device.index(np.maximum(units, 0)))
        states = network.start(len(units), base)
        states[0] = device.xp.where(known, values, states[0])
        for layer in range(1, network.n_layers):
            states[layer] = network.draw(layer, states)
        walk = _Walk(network, states, known, values)
        for _ in range(n_sweeps):
            walk.sweep()
        yield some, walk
