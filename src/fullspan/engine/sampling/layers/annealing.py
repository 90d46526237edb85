"""Log Z by annealed importance sampling (Neal 2001; Salakhutdinov & Murray 2008), with its standard error.

The state is that of the odd layers; even layers, the visible one among them, are summed out. At inverse temperature β

    log p*_β(h_odd) = β sum_odd b.h + sum_even log_sum(bias_β + β input),    visible: bias_β = (1 - β) base + β b_0

At β = 0 units are independent and log Z is known: log_sum(base) + log 2 per hidden unit. A chain that climbs
0 = β_0 < ... < β_K = 1 has the weight prod_k p*_{β_k}(s_k) / p*_{β_{k-1}}(s_k), whose mean is Z / Z_0 for every
schedule and number of steps; the spread of the weights gives the error, with the distance from a shorter run.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.engine.sampling.layers.arrays import Device
from fullspan.engine.sampling.layers.network import Network
from fullspan.engine.sampling.runs import annealed_runs
from fullspan.model.estimate import Estimate
from fullspan.model.layered import LayeredMachine


def annealed_log_z(machine: LayeredMachine, device: Device, n_chains: int = 100, n_steps: int = 1000) -> Estimate:
    """An estimate of log Z from independent chains, and its standard error.

    A run of half the steps goes before, as :mod:`fullspan.engine.sampling.runs` has it.

    Raises
    ------
    FullspanError : fewer than 2 chains, which tell no error, or no step.
    """
    network = Network.of(machine, device)
    base = device.array(machine.rates)
    zero = device.array(np.zeros((1, machine.sizes[0])))
    at_zero = float(device.to_numpy(device.log_sum(machine.blocks[0], zero, base))[0])
    log_z_0 = at_zero + math.log(2.0) * sum(machine.sizes[1:])

    def run(steps: int) -> Array:
        return log_z_0 + log_weights(network, base, n_chains, schedule(steps))

    return annealed_runs(run, n_chains, n_steps).log_z


def schedule(n_steps: int) -> Array:
    """β_0 = 0 to β_K = 1, evenly spaced."""
    return np.linspace(0.0, 1.0, n_steps + 1)


def log_weights(network: Network, base: Any, n_chains: int, betas: Array) -> Array:
    """(chains,) log weights of chains that climb the schedule."""
    device = network.device
    states = network.start(n_chains, base)
    weights = np.zeros(n_chains)
    for before, beta in zip(betas[:-1].tolist(), betas[1:].tolist(), strict=True):
        raws = {layer: network.raw(layer, states) for layer in range(0, network.n_layers, 2)}
        weights += _log_p(network, base, states, raws, beta) - _log_p(network, base, states, raws, before)
        for layer, raw in raws.items():
            states[layer] = device.draw(network.blocks[layer], raw, _bias(network, base, layer, beta), beta)
        for layer in range(1, network.n_layers, 2):
            raw = network.raw(layer, states)
            states[layer] = device.draw(network.blocks[layer], raw, network.biases[layer] * beta, beta)
    return weights


def _bias(network: Network, base: Any, layer: int, beta: float) -> Any:
    bias = network.biases[layer] * beta
    return bias + base * (1 - beta) if layer == 0 else bias


def _log_p(network: Network, base: Any, states: list[Any], raws: dict[int, Any], beta: float) -> Array:
    device = network.device
    total: Any = 0.0
    for layer, raw in raws.items():
        total = total + device.log_sum(network.blocks[layer], raw, _bias(network, base, layer, beta), beta)
    for layer in range(1, network.n_layers, 2):
        total = total + (states[layer] @ network.biases[layer]) * beta
    return np.asarray(device.to_numpy(total), dtype=np.float64)
