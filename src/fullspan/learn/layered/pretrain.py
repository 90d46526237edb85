"""Layers of a deep machine learned one by one, from below (Salakhutdinov & Hinton 2009).

While layer l is learned by itself it lacks the layer above it, or below it, that will send it as much again. So inputs
are doubled on the side that lacks one: upwards at the bottom, downwards at the top, in both directions in between.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fullspan.data.space import Space
from fullspan.engine.sampling.layers.device import Device
from fullspan.engine.sampling.layers.network import Network
from fullspan.learn.layered.fit import Data, divergence_limit, rebuilding
from fullspan.learn.layered.options import LayerOptions
from fullspan.learn.layered.train import Rows, Trainer
from fullspan.model.layered import LayeredMachine


def pretrained(
    machine: LayeredMachine, data: Data, options: LayerOptions, device: Device, rng: np.random.Generator
) -> tuple[LayeredMachine, bool]:
    """The machine with every pair of neighbouring layers learned by contrastive divergence in turn, and whether it is.

    Where a pair diverges the machine is returned as it was given.
    """
    biases, weights = [b.copy() for b in machine.biases], [w.copy() for w in machine.weights]
    last = machine.n_layers - 1
    units, row_weights = data.units, data.weights
    for layer in range(machine.n_layers):
        space = machine.space if layer == 0 else Space.of_cards((2,) * machine.sizes[layer])
        base = machine.rates if layer == 0 else np.zeros(machine.sizes[layer])
        pair = LayeredMachine(space, (biases[layer], biases[layer + 1]), (weights[layer],), base)
        trainer = Trainer.start(pair, replace(options, solver="cd"), device, rng)
        trainer.network.up = 2.0 if layer < last else 1.0
        trainer.network.down = 2.0 if layer > 0 else 1.0
        rows = Rows.of(units, row_weights, device)
        for epoch in range(options.max_iter):
            trainer.epoch(rows, options.learning_rate * (1 - epoch / options.max_iter))
        if not rebuilding(trainer.network, units[:1000]) <= divergence_limit(pair, units):
            return machine, False
        learned = trainer.network.machine(space, base)
        weights[layer], biases[layer + 1] = learned.weights[0], learned.biases[1]
        if layer == 0:
            biases[0] = learned.biases[0]
        units = _drawn(trainer.network, units, device)
    return LayeredMachine(machine.space, tuple(biases), tuple(weights), machine.rates), True


def _drawn(network: Network, units: np.ndarray, device: Device) -> np.ndarray:
    """Hidden units drawn given visible ones: the data of the next pair."""
    x = device.array(np.maximum(units, 0))
    return np.asarray(device.to_numpy(network.draw(1, [x, None])), dtype=np.int8)
