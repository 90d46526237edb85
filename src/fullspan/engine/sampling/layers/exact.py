"""Exact log Z of a machine in layers: enumerate the layers of one parity, sum the others out in closed form.

    Z = sum_{odd layers} exp(b.h) prod_{even layers} prod_{units} (1 + exp(input))      and the same with even and odd
                                                                                        exchanged

A restricted machine needs the states of its smaller layer only. States are taken in blocks, so that the memory is that
of one block; sums are in the log domain and in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.engine.sampling.layers.arrays import Device
from fullspan.engine.sampling.layers.network import Network
from fullspan.errors import TooLargeError
from fullspan.model.estimate import Estimate
from fullspan.model.layered import LayeredMachine
from fullspan.model.units import Units

MAX_STATES = 1 << 30
"""Most states that are enumerated."""
AUTO_STATES = 1 << 22
"""Most states that are enumerated without being asked to."""
_BLOCK = 1 << 13


def n_enumerated(machine: LayeredMachine) -> int:
    """States of the smaller parity."""
    return min(_states(machine, 0), _states(machine, 1))


def _states(machine: LayeredMachine, parity: int) -> int:
    hidden = 1 << sum(n for layer, n in enumerate(machine.sizes) if layer % 2 == parity and layer > 0)
    return hidden * (machine.space.n_states if parity == 0 else 1)


def log_z(machine: LayeredMachine, device: Device) -> Estimate:
    """Log of the partition function, exact to rounding.

    Parameters
    ----------
    device : one of double precision.

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
    parity = 1 if _states(machine, 1) <= _states(machine, 0) else 0
    network = Network.of(machine, device)
    total = -math.inf
    for states in _enumerated(machine, parity, network):
        total = float(np.logaddexp(total, _log_sum_exp(log_weights(network, states, parity))))
    return Estimate.known(total)


def log_weights(network: Network, states: list[Any], parity: int) -> Array:
    """(m,) log of the sum over the layers of the other parity, of states whose layers of ``parity`` are given."""
    total: Any = 0.0
    for layer, bias in enumerate(network.biases):
        if layer % 2 == parity:
            total = total + states[layer] @ bias
        else:
            total = total + network.device.log_sum(network.blocks[layer], network.raw(layer, states), bias)
    return np.asarray(network.device.to_numpy(total), dtype=np.float64)


def _enumerated(machine: LayeredMachine, parity: int, network: Network) -> Iterator[list[Any]]:
    """Blocks of states of the layers of one parity; None for the other layers."""
    layers = range(parity, len(machine.sizes), 2)
    spaces = [machine.space if layer == 0 else Space.of_cards((2,) * machine.sizes[layer]) for layer in layers]
    cards = [card for space in spaces for card in space.cards]
    for start in range(0, math.prod(cards), _BLOCK):
        codes = digits(np.arange(start, min(start + _BLOCK, math.prod(cards))), cards)
        states: list[Any] = [None] * len(machine.sizes)
        first = 0
        for layer, space in zip(layers, spaces, strict=True):
            own = codes[:, first : first + len(space)]
            states[layer] = network.device.array(Units(space).encode(own))
            first += len(space)
        yield states


def digits(index: NDArray[np.int64], cards: list[int]) -> NDArray[np.int64]:
    """(m, n) mixed-radix digits, the first the least significant."""
    out = np.empty((len(index), len(cards)), dtype=np.int64)
    for i, card in enumerate(cards):
        index, out[:, i] = np.divmod(index, card)
    return out


def _log_sum_exp(values: Array) -> float:
    top = float(values.max())
    return top + math.log(float(np.exp(values - top).sum()))
