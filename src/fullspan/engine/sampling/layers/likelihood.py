"""The likelihood of rows under a layered machine: exact, or with log Z by annealing and its error.

Exact log Z of a layered machine: its even and its odd layers are two layers, one of which is enumerated.

    Z = sum_{odd layers} exp(b.h) prod_{even layers} prod_{units} (1 + exp(input))      and the same with even and odd
                                                                                        exchanged

A restricted machine needs the states of its smaller layer only. See :mod:`fullspan.engine.sampling.two_layers`.

The mean-field posterior of the hidden layers given visible units, and the bound on log p that it gives.

    log p(x) >= b_0.x + sum_l (b_l.m_l + m_{l-1}' W_l m_l) + H(m) - log Z,      m_0 = x

Layers are updated one after the other, each to its optimum, so that the bound never falls. With one hidden layer the
first update is the posterior itself and the bound an equation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.sampling.layers.annealing import annealed_log_z
from fullspan.engine.sampling.layers.arrays import Device
from fullspan.engine.sampling.layers.network import Network
from fullspan.engine.sampling.two_layers import MAX_STATES, n_states, two_layers
from fullspan.errors import TooLargeError, require_one_of
from fullspan.model.estimate import Estimate
from fullspan.model.layered import LayeredMachine

METHODS = ("auto", "exact", "ais")
AUTO_STATES = 1 << 22
"""Most states that are enumerated without being asked to."""
_CHUNK_ROWS = 4096
_SWEEPS, _TOL = 200, 1e-6
"""Of the mean-field posterior that scores rows."""


def log_partition(
    machine: LayeredMachine,
    method: str,
    on: Device,
    n_chains: int = 200,
    n_steps: int = 2000,
    most: int = AUTO_STATES,
) -> Estimate:
    """Log Z: exact if asked for or if ``"auto"`` finds at most ``most`` states to sum over, else by annealing.

    Raises
    ------
    FullspanError, TooLargeError : the method is unknown; or an exact sum is asked for that is too large.
    """
    require_one_of(METHODS, log_z=method)
    if method == "exact" or (method == "auto" and n_enumerated(machine) <= most):
        return log_z(machine)
    return annealed_log_z(machine, on, n_chains, n_steps)


def log_weights(machine: LayeredMachine, units: NDArray[np.int8], on: Device) -> NDArray[np.float64]:
    """(m,) ``log p(x) + log Z`` of complete rows of units; with several hidden layers, its mean-field lower bound."""
    network = Network.of(machine, on)
    out = np.empty(len(units))
    for start in range(0, len(units), _CHUNK_ROWS):
        x = on.array(units[start : start + _CHUNK_ROWS])
        if machine.n_layers == 1:
            out[start : start + _CHUNK_ROWS] = network.log_weight(x)
        else:
            out[start : start + _CHUNK_ROWS] = bound(network, mean_field(network, x, _SWEEPS, _TOL).means)
    return out


def n_enumerated(machine: LayeredMachine) -> int:
    """States of the smaller parity."""
    return min(n_states(_groups(machine, parity)) for parity in (0, 1))


def log_z(machine: LayeredMachine) -> Estimate:
    """Log of the partition function, exact to rounding.

    Raises
    ------
    TooLargeError : both parities have more than 2^30 states.
    """
    if n_enumerated(machine) > MAX_STATES:
        raise TooLargeError(
            f"log Z of layers of {' and '.join(map(str, machine.sizes))} units would need a sum over "
            f"2^{n_enumerated(machine).bit_length() - 1} states; 2^{MAX_STATES.bit_length() - 1} are possible: "
            "estimate it with log_z='ais'"
        )
    even, odd = (np.concatenate(machine.biases[parity::2]) for parity in (0, 1))
    groups = (_groups(machine, parity) for parity in (0, 1))
    return Estimate.known(two_layers(_between_parities(machine), even, odd, *groups))


def _groups(machine: LayeredMachine, parity: int) -> Ints:
    """Sizes of the groups of units in the layers of one parity; 1 for units that are on or off by themselves."""
    sizes = [
        np.full((stop - start) // size, size)
        for layer in range(parity, len(machine.sizes), 2)
        for start, stop, size in machine.blocks[layer]
    ]
    return np.concatenate([np.zeros(0, dtype=np.int64), *sizes])


def _between_parities(machine: LayeredMachine) -> Array:
    """Weights (units of even layers, units of odd layers): those of each pair of neighbours in a block of its own."""
    starts = [sum(machine.sizes[layer % 2 : layer : 2]) for layer in range(len(machine.sizes))]
    joint = np.zeros((sum(machine.sizes[::2]), sum(machine.sizes[1::2])))
    for layer, weights in enumerate(machine.weights):
        even, odd = (layer, layer + 1) if layer % 2 == 0 else (layer + 1, layer)
        rows = slice(starts[even], starts[even] + machine.sizes[even])
        columns = slice(starts[odd], starts[odd] + machine.sizes[odd])
        joint[rows, columns] = weights if layer % 2 == 0 else weights.T
    return joint


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
        # What comes from below stands for the layer above as well, which will agree with it (Salakhutdinov & Hinton
        # 2009).
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
    # 0 ln 0 = 0: the logarithm is taken of 1 instead.
    inside = xp.where(m <= 0, m * 0 + 1, m)
    outside = xp.where(m >= 1, m * 0 + 1, 1 - m)
    return -(m * xp.log(inside) + (1 - m) * xp.log(outside))
