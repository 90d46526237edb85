"""The likelihood of rows under a layered machine: exact, or with log Z by annealing and its error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.sampling.layers.annealing import annealed_log_z
from fullspan.engine.sampling.layers.arrays import Device
from fullspan.engine.sampling.layers.exact import AUTO_STATES, log_z, n_enumerated
from fullspan.engine.sampling.layers.mean_field import bound, mean_field
from fullspan.engine.sampling.layers.network import Network
from fullspan.errors import FullspanError
from fullspan.model.estimate import Estimate
from fullspan.model.layered import LayeredMachine

METHODS = ("auto", "exact", "ais")
_CHUNK = 4096
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
    if method not in METHODS:
        raise FullspanError(f"log_z is {method!r}; {', '.join(map(repr, METHODS))} are possible")
    if method == "exact" or (method == "auto" and n_enumerated(machine) <= most):
        return log_z(machine)
    return annealed_log_z(machine, on, n_chains, n_steps)


def log_weights(machine: LayeredMachine, units: NDArray[np.int8], on: Device) -> NDArray[np.float64]:
    """(m,) ``log p(x) + log Z`` of complete rows of units; with several hidden layers, its mean-field lower bound."""
    network = Network.of(machine, on)
    out = np.empty(len(units))
    for start in range(0, len(units), _CHUNK):
        x = on.array(units[start : start + _CHUNK])
        if machine.n_layers == 1:
            out[start : start + _CHUNK] = network.log_weight(x)
        else:
            out[start : start + _CHUNK] = bound(network, mean_field(network, x, _SWEEPS, _TOL).means)
    return out
