"""Layered machines: restricted (one hidden layer) and deep (several) Boltzmann machines.

    log p(x, h_1, ..., h_L) = b_0.x + sum_l b_l.h_l + x' W_1 h_1 + sum_l h_l' W_{l+1} h_{l+1} - log Z

x are the units of the visible variables (:mod:`fullspan.model.units`), h_l those of the l-th hidden layer, 0 or 1.
Units of one layer are not joined, so that they are independent given the layers next to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Space, Variable
from fullspan.errors import FullspanError
from fullspan.model.estimate import Estimate
from fullspan.model.graph import FactorGraph
from fullspan.model.record import FitRecord
from fullspan.model.units import Blocks, Units, hidden_blocks


@dataclass(frozen=True, eq=False)
class LayeredMachine:
    """Weights and biases of a layered machine.

    Parameters
    ----------
    space : the visible variables.
    biases : one array per layer, the visible units first.
    weights : ``weights[l]`` of shape (units of layer l, units of layer l + 1).
    base : (visible units,) biases of the independent units from which annealing starts, log odds of the data's base
        rates; zeros where nothing is known.

    Raises
    ------
    FullspanError : a layer has no unit, a shape is wrong, or a number is not finite.
    """

    kind: ClassVar[str] = "layers"
    space: Space
    biases: tuple[Array, ...]
    weights: tuple[Array, ...]
    base: Array | None = None

    def __post_init__(self) -> None:
        biases = tuple(_frozen(b) for b in self.biases)
        weights = tuple(_frozen(w) for w in self.weights)
        base = _frozen(np.zeros(self.units.count) if self.base is None else self.base)
        sizes = [b.size for b in biases]
        if len(biases) < 2 or len(weights) != len(biases) - 1:
            raise FullspanError(
                f"{len(biases)} layers and {len(weights)} weights were given; at least 2 and 1 are needed"
            )
        check_sizes(sizes[1:])
        if sizes[0] != self.units.count or base.shape != biases[0].shape:
            raise FullspanError(f"{sizes[0]} visible biases were given; the variables have {self.units.count} units")
        for layer, w in enumerate(weights):
            if w.shape != (sizes[layer], sizes[layer + 1]):
                raise FullspanError(
                    f"weights {layer} have the shape {w.shape}; {(sizes[layer], sizes[layer + 1])} is expected"
                )
        if not all(np.isfinite(a).all() for a in (*biases, *weights, base)):
            raise FullspanError("a weight or bias of a machine is not finite")
        for name, value in (("biases", biases), ("weights", weights), ("base", base)):
            object.__setattr__(self, name, value)

    @property
    def rates(self) -> Array:
        """The biases of the base, :attr:`base`, which is always an array once the machine is made."""
        assert self.base is not None
        return self.base

    @cached_property
    def units(self) -> Units:
        """The visible units."""
        return Units(self.space)

    @property
    def n_layers(self) -> int:
        """Number of hidden layers."""
        return len(self.weights)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Units of each layer, the visible one first."""
        return tuple(b.size for b in self.biases)

    @property
    def blocks(self) -> tuple[Blocks, ...]:
        """Runs of units of one kind, for each layer."""
        return (self.units.blocks, *(hidden_blocks(n) for n in self.sizes[1:]))

    @property
    def n_parameters(self) -> int:
        """Numbers that are learned."""
        return sum(a.size for a in (*self.biases, *self.weights))

    @property
    def approach(self) -> str:
        """How the model does without the table of all states, in words."""
        return "a layered machine, learned by sampling"

    def reordered(self, order: Sequence[int]) -> LayeredMachine:
        """The same machine with its visible variables in another order."""
        which = self.units.reordered(order)
        biases, weights = (self.biases[0][which], *self.biases[1:]), (self.weights[0][which], *self.weights[1:])
        return LayeredMachine(self.space.reordered(order), biases, weights, self.rates[which])

    def graph(self) -> FactorGraph:
        """The machine as factors over the visible and, behind them, the hidden variables ``h1_0, h1_1, ...``."""
        n, offsets = len(self.space), np.cumsum([len(self.space), *self.sizes[1:]])
        hidden = [Variable(f"h{k}_{j}", (0, 1)) for k, size in enumerate(self.sizes[1:], 1) for j in range(size)]
        scopes: list[tuple[int, ...]] = []
        tables: list[Array] = []
        for i in range(n):
            own = self.units.of_variable(i)
            scopes.append((i,))
            tables.append(_by_level(self.biases[0][own, None], self.space.cards[i])[:, 0])
            rows = _by_level(self.weights[0][own], self.space.cards[i])
            for j in range(self.sizes[1]):
                scopes.append((i, n + j))
                tables.append(np.stack([np.zeros(len(rows)), rows[:, j]], axis=1))
        for k, size in enumerate(self.sizes[1:], 1):
            for j in range(size):
                scopes.append((int(offsets[k - 1]) + j,))
                tables.append(np.array([0.0, self.biases[k][j]]))
        for k, w in enumerate(self.weights[1:], 1):
            for (i, j), value in np.ndenumerate(w):
                scopes.append((int(offsets[k - 1]) + i, int(offsets[k]) + j))
                tables.append(np.array([[0.0, 0.0], [0.0, value]]))
        return FactorGraph(Space((*self.space.variables, *hidden)), tuple(scopes), tuple(tables))


def _by_level(units: Array, card: int) -> Array:
    """Values (levels, k) of a variable from those of its units (u, k)."""
    if card == 1:
        return np.zeros((1, units.shape[1]))
    return np.concatenate([np.zeros_like(units), units]) if card == 2 else units


def _frozen(values: Any) -> Array:
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


def check_sizes(sizes: Any) -> tuple[int, ...]:
    """Numbers of hidden units, one per layer.

    Raises
    ------
    FullspanError : there is none, or one is no whole number of at least 1.
    """
    listed = list(sizes) if isinstance(sizes, list | tuple | np.ndarray) else [sizes]
    for size in listed:
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise FullspanError(f"a hidden layer of {size!r} units was asked for; a layer has at least 1 unit")
    if not listed:
        raise FullspanError("no hidden layer was given; at least one is needed, such as layers=[64, 32]")
    return tuple(int(size) for size in listed)


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedLayers(FitRecord[LayeredMachine]):
    """A layered machine with what was learned about it.

    Attributes
    ----------
    log_z : log of the partition function, exact or with its error.
    status : ``"epoch limit"`` at the end of all epochs, ``"converged"`` where early stopping saw no more progress,
        ``"interrupted"`` or ``"diverged"``.
    curve : (epoch, held-out mean log-likelihood, its standard error) of each check.

    And those of :class:`fullspan.model.record.FitRecord`; the history has one step per epoch.
    """

    log_z: Estimate
    curve: tuple[tuple[int, float, float], ...] = ()
