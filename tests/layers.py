"""Machines in layers with generic weights, and all their states one by one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Space
from fullspan.engine.sampling import Device, colouring, pairwise_of
from fullspan.engine.sampling.layers.device import device
from fullspan.model import FactorGraph, LayeredMachine
from fullspan.model.units import Units


def machine_of(cards: Sequence[int], sizes: Sequence[int], seed: int = 0, scale: float = 0.8) -> LayeredMachine:
    """A machine with normal weights and biases, and a base of its own."""
    rng = np.random.default_rng(seed)
    space = Space.of_cards(cards)
    widths = [Units(space).count, *sizes]
    biases = tuple(rng.normal(0, scale, n) for n in widths)
    weights = tuple(rng.normal(0, scale, pair) for pair in itertools.pairwise(widths))
    return LayeredMachine(space, biases, weights, rng.normal(0, 0.5, widths[0]))


def restricted_of(graph: FactorGraph) -> tuple[LayeredMachine, float]:
    """The restricted machine of a bipartite graph of pairs, and what must be added to its log Z."""
    pairs = pairwise_of(graph)
    assert pairs is not None
    first, second = (np.flatnonzero(colouring(pairs.coupling) == k) for k in (0, 1))
    weights = pairs.coupling[np.ix_(first, second)]
    space = Space.of_cards((2,) * len(first))
    return LayeredMachine(space, (pairs.bias[first], pairs.bias[second]), (weights,)), pairs.constant


def cpu(seed: int = 0, dtype: str = "float64") -> Device:
    """The processor with seeded random numbers."""
    return device("cpu", dtype, np.random.default_rng(seed))


def all_codes(cards: Sequence[int]) -> NDArray[np.int64]:
    """All states of variables, one per row."""
    return np.array(list(itertools.product(*(range(c) for c in cards))), dtype=np.int64).reshape(-1, len(cards))


def joint(machine: LayeredMachine) -> tuple[NDArray[np.int64], list[Array], Array]:
    """Codes of all joint states, their units per layer, and the energies' negatives, summed term by term."""
    codes = all_codes((*machine.space.cards, *(2 for _ in range(sum(machine.sizes[1:])))))
    n = len(machine.space)
    layers, first = [machine.units.encode(codes[:, :n]).astype(float)], n
    for size in machine.sizes[1:]:
        layers.append(codes[:, first : first + size].astype(float))
        first += size
    log = sum(layer @ bias for layer, bias in zip(layers, machine.biases, strict=True))
    for k, w in enumerate(machine.weights):
        log = log + np.einsum("si,ij,sj->s", layers[k], w, layers[k + 1])
    return codes, layers, np.asarray(log)


def log_sum(values: Array) -> float:
    """log of the sum of exponentials."""
    return float(np.logaddexp.reduce(values))
