"""Rows with missing cells under a restricted machine, exactly: sums over what is missing, in closed form on one side.

    log sum_{x_M, h} exp(-E) = log sum_{x_M} exp(b_M.x_M + sum_j softplus(a_j + x_M.W_Mj))
                             = log sum_h exp(a.h + log_sum_M(b_M + W_M h)),                     a = c + x_obs W_obs

Rows with the same missing cells share the states of these, or the hidden ones, whichever are fewer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.merging import same_pattern
from fullspan.data.space import Space
from fullspan.engine.sampling.layers.arrays import Device
from fullspan.engine.sampling.layers.network import Network
from fullspan.errors import TooLargeError
from fullspan.model.algebra.basis import softmax
from fullspan.model.layered import LayeredMachine
from fullspan.model.units import OPEN, Units

MAX_STATES = 1 << 20
"""Most states that are summed over for a row."""
_HELD_CELLS = 1 << 22


@dataclass(frozen=True)
class Completed:
    """What is expected of rows given their observed cells.

    Attributes
    ----------
    log_weight : (m,) log of the sum over everything not observed.
    visible : (m, units) expected units; those of observed cells as they are.
    hidden : (m, hidden) expected hidden units.
    """

    log_weight: Array
    visible: Array
    hidden: Array


def completed(machine: LayeredMachine, codes: NDArray[np.integer]) -> Completed:
    """Expectations of rows of codes (m, n), −1 where a cell is missing, under a machine with one hidden layer.

    Raises
    ------
    TooLargeError : a row leaves more than 2^20 states open, and there are more than 20 hidden units.
    """
    m, n_hidden = len(codes), machine.sizes[1]
    out = Completed(np.empty(m), np.empty((m, machine.sizes[0])), np.empty((m, n_hidden)))
    for rows in same_pattern(codes) if m else ():
        missing = np.flatnonzero(codes[rows[0]] < 0)
        for some, log_weight, visible, hidden in _of_pattern(machine, codes, rows, missing):
            out.log_weight[some], out.visible[some], out.hidden[some] = log_weight, visible, hidden
    return out


def n_open(space: Space, missing: NDArray[np.intp]) -> int:
    """States of the variables that are missing."""
    return Space(tuple(space.variables[i] for i in missing)).n_states


def _of_pattern(
    machine: LayeredMachine, codes: NDArray[np.integer], rows: NDArray[np.intp], missing: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], Array, Array, Array]]:
    open_states, hidden_states = n_open(machine.space, missing), 2 ** machine.sizes[1]
    fewer = min(open_states, hidden_states)
    if fewer > MAX_STATES:
        raise TooLargeError(
            f"row {rows[0] + 1} leaves {len(missing)} cells missing: a sum over 2^{fewer.bit_length() - 1} states; "
            f"2^{MAX_STATES.bit_length() - 1} are possible: fill them in first (impute), or leave the row out"
        )
    of_each = [np.arange(s.start, s.stop) for s in map(machine.units.of_variable, missing)]
    own = np.concatenate([np.zeros(0, dtype=np.intp), *of_each])
    inside = Space(tuple(machine.space.variables[i] for i in missing))
    size = max(1, _HELD_CELLS // (fewer * (machine.sizes[1] if fewer == open_states else 1)))
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        x = np.maximum(machine.units.encode(codes[some]), 0).astype(np.float64)
        x[:, own] = 0.0
        inputs = x @ machine.weights[0] + machine.biases[1]
        fixed = x @ machine.biases[0]
        sums = _over_open if fewer == open_states else _over_hidden
        log_weight, visible, hidden = sums(machine, inputs, own, inside)
        x[:, own] = visible
        yield some, fixed + log_weight, x, hidden


def _over_open(
    machine: LayeredMachine, inputs: Array, own: NDArray[np.intp], inside: Space
) -> tuple[Array, Array, Array]:
    """Sum over the open cells' states; hidden units in closed form."""
    states = _unit_states(inside, len(own))
    a = inputs[:, None, :] + (states @ machine.weights[0][own])[None]
    log = states @ machine.biases[0][own] + np.logaddexp(0.0, a).sum(axis=2)
    chance, total = softmax(log)
    means = 0.5 * np.tanh(0.5 * a) + 0.5
    return total, chance @ states, np.einsum("ms,msj->mj", chance, means)


def _over_hidden(
    machine: LayeredMachine, inputs: Array, own: NDArray[np.intp], inside: Space
) -> tuple[Array, Array, Array]:
    """Sum over the hidden states; open units in closed form, the same for all rows."""
    n = machine.sizes[1]
    states = Space.of_cards((2,) * n).states(np.arange(2**n)).astype(np.float64)
    raw = states @ machine.weights[0][own].T + machine.biases[0][own]
    units = Units(inside)
    place = _places(inside)
    log_open, means = np.zeros(len(states)), np.zeros_like(raw)
    for i, card in enumerate(inside.cards):
        part = raw[:, place[units.of_variable(i)]]
        if card == 2:
            log_open += np.logaddexp(0.0, part[:, 0])
            means[:, place[units.of_variable(i)]] = 0.5 * np.tanh(0.5 * part) + 0.5
        elif card > 2:
            chance, total = softmax(part)
            log_open += total
            means[:, place[units.of_variable(i)]] = chance
    chance, total = softmax(inputs @ states.T + log_open)
    return total, chance @ means, chance @ states


def _places(inside: Space) -> NDArray[np.intp]:
    """Where the units of the open variables, in the order that these have by themselves, stand variable by variable."""
    units = Units(inside)
    order = [np.arange(s.start, s.stop) for s in map(units.of_variable, range(len(inside)))]
    places = np.empty(units.count, dtype=np.intp)
    if units.count:
        places[np.concatenate(order)] = np.arange(units.count)
    return places


def _unit_states(inside: Space, n_units: int) -> Array:
    """(states, open units) all states of the open variables, units variable by variable."""
    out = np.zeros((inside.n_states, n_units))
    if n_units:
        codes = inside.states(np.arange(inside.n_states))
        out[:, _places(inside)] = Units(inside).encode(codes)
    return out


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
