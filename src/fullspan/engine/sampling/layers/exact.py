"""Exact log Z of a layered machine: its even and its odd layers are two layers, one of which is enumerated.

    Z = sum_{odd layers} exp(b.h) prod_{even layers} prod_{units} (1 + exp(input))      and the same with even and odd
                                                                                        exchanged

A restricted machine needs the states of its smaller layer only. See :mod:`fullspan.engine.sampling.two_layers`.
"""

from __future__ import annotations

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.engine.sampling.two_layers import MAX_STATES, n_states, two_layers
from fullspan.errors import TooLargeError
from fullspan.model.estimate import Estimate
from fullspan.model.layered import LayeredMachine

AUTO_STATES = 1 << 22
"""Most states that are enumerated without being asked to."""


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
