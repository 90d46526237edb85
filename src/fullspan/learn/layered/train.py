"""Contrastive divergence, plain or with persistent chains, for machines with one hidden layer or several.

Each step compares a batch of rows, with hidden units given the rows, to chains of the model. With one hidden layer the
former is exact; with several it is the mean-field posterior. Missing cells are drawn by Gibbs sweeps with the observed
ones clamped, from where the row's last visit left them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.sampling.layers.device import Device
from fullspan.engine.sampling.layers.likelihood import mean_field
from fullspan.engine.sampling.layers.network import Network
from fullspan.learn.layered.gradient import Ascent, moments
from fullspan.learn.layered.options import LayerOptions
from fullspan.model.layered import LayeredMachine
from fullspan.model.units import OPEN

_MEAN_FIELD_SWEEPS, _MEAN_FIELD_TOL = 10, 1e-2
"""Of the posterior in a step; it need not be exact to learn from."""


@dataclass
class Rows:
    """Rows as units on a device, −1 where a cell is missing, and their weights (mean 1) unless all count the same."""

    units: Any
    n_rows: int
    weights: Any = None
    observed: Any = None
    """1 where a unit is observed; None if all are."""

    @classmethod
    def of(cls, units: NDArray[np.int8], weights: NDArray[np.float64] | None, device: Device) -> Rows:
        """Put rows on a device; missing units start at 0."""
        known = units != OPEN
        observed = None if known.all() else device.bits(known.astype(np.int8))
        # Drawn before their first use; what stands there is the row's last visit.
        filled = np.where(known, units, 0).astype(np.int8) if observed is not None else units
        even = weights is None or float(np.ptp(weights)) == 0.0
        scaled = None if even or weights is None else device.array(weights / weights.mean())
        return cls(device.bits(filled), len(units), scaled, observed)


@dataclass
class Trainer:
    """A network while it is learned."""

    network: Network
    options: LayerOptions
    rng: np.random.Generator
    base: Any
    offsets: list[Any]
    chains: list[Any] | None = None
    ascent: Ascent = field(init=False)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        o = self.options
        self.ascent = Ascent(self.network, o.gradient, self.offsets, o.momentum, o.weight_decay)

    @classmethod
    def start(cls, machine: LayeredMachine, options: LayerOptions, device: Device, rng: np.random.Generator) -> Trainer:
        """A trainer of a machine; offsets begin at the base rates and at 1/2."""
        network = Network.of(machine, device)
        base = device.array(machine.rates)
        zero = device.array(np.zeros((1, machine.sizes[0])))
        visible = device.mean(machine.blocks[0], zero, base)[0, :]
        offsets = [visible, *(device.array(np.full(n, 0.5)) for n in machine.sizes[1:])]
        return cls(network, options, rng, base, offsets)

    def copy(self) -> Trainer:
        """The same trainer with a network, chains and momentum of its own; random numbers come from the same source."""
        chains = None if self.chains is None else [c + 0 for c in self.chains]
        again = Trainer(self.network.copy(), self.options, self.rng, self.base, list(self.offsets), chains)
        again.seconds, again.ascent.masks = self.seconds, self.ascent.masks
        again.ascent.velocities = [v + 0 for v in self.ascent.velocities]
        again.ascent.bias_velocities = [v + 0 for v in self.ascent.bias_velocities]
        return again

    def epoch(self, rows: Rows, rate: float) -> None:
        """One pass over all rows in random order."""
        started = time.perf_counter()
        for batch in _batches(rows.n_rows, self.options.batch_size, self.rng):
            self._step(rows, self.network.device.index(batch), rate)
        self.network.device.synchronise()
        self.seconds += time.perf_counter() - started

    def _step(self, rows: Rows, batch: Any, rate: float) -> None:
        device, xp = self.network.device, self.network.device.xp
        x = device.states(xp.take(rows.units, batch, axis=0))
        if rows.observed is not None:
            x = self._complete(rows, batch, x)
        positive = mean_field(self.network, x, _MEAN_FIELD_SWEEPS, _MEAN_FIELD_TOL).means
        negative = self._negative(positive)
        weights = None if rows.weights is None else xp.take(rows.weights, batch, axis=0)
        self.ascent.slide(positive)
        self.ascent.step(moments(self.network, positive, negative, weights), rate)

    def _negative(self, positive: list[Any]) -> list[Any]:
        """Even layers drawn and odd ones expected, after the sweeps of the chains."""
        network, options = self.network, self.options
        persistent = options.solver == "pcd"
        if self.chains is None and persistent:
            self.chains = network.start(options.n_chains or options.batch_size, self.base)
        chains = self.chains if persistent and self.chains is not None else self._from_data(positive)
        for _ in range(options.gibbs_steps - 1):
            network.sweep(chains)
        for layer in range(0, network.n_layers, 2):
            # Even layers given the odd ones: all of them are independent of each other then, and drawn at once.
            chains[layer] = network.draw(layer, chains)
        states = list(chains)
        for layer in range(1, network.n_layers, 2):
            raw = network.raw(layer, chains)
            states[layer] = network.device.mean(network.blocks[layer], raw, network.biases[layer])
            if persistent:
                chains[layer] = network.device.draw(network.blocks[layer], raw, network.biases[layer])
        return states

    def _from_data(self, positive: list[Any]) -> list[Any]:
        """Chains that begin at the rows, with hidden units drawn from their posterior."""
        return [positive[0], *(self.network.device.coins(p) for p in positive[1:])]

    def _complete(self, rows: Rows, batch: Any, x: Any) -> Any:
        """Draw missing units given the observed ones, and remember them."""
        network, device, xp = self.network, self.network.device, self.network.device.xp
        known = xp.take(rows.observed, batch, axis=0) != 0
        states = mean_field(network, x, _MEAN_FIELD_SWEEPS, _MEAN_FIELD_TOL).means
        states = self._from_data(states)
        for _ in range(self.options.gibbs_steps):
            network.sweep(states, known, x)
        rows.units[batch] = device.cast(states[0], xp.int8)
        return states[0]


def _batches(n_rows: int, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    order = rng.permutation(n_rows)
    for start in range(0, n_rows, size):
        yield order[start : start + size]
