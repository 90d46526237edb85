"""Variables as units of 0 and 1: one unit for two levels, a group of which one is on for more.

    two levels       one unit, on for the second level
    C > 2 levels     C units that exclude each other, a softmax group
    one level        no unit

Units of two-level variables come first, then groups by their size, so that units of one kind lie side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.space import Space

Blocks = tuple[tuple[int, int, int], ...]
"""Runs of units of one kind: first unit, end, and units in a group; 1 for units that are on or off by themselves."""

OPEN = -1
"""Code of a missing cell, and value of the units of one."""


def hidden_blocks(n_units: int) -> Blocks:
    """The blocks of a layer of binary units."""
    return ((0, n_units, 1),)


@dataclass(frozen=True)
class Units:
    """The units of a space.

    Examples
    --------
    >>> units = Units(Space.of_cards((3, 2, 1)))
    >>> units.encode(np.array([[2, 1, 0], [0, -1, 0]])).tolist()
    [[1, 0, 0, 1], [-1, 1, 0, 0]]
    """

    space: Space

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """(n,) first unit of each variable."""
        sizes = np.array([0 if c == 1 else 1 if c == 2 else c for c in self.space.cards])
        order = np.argsort(sizes, kind="stable")
        starts = np.zeros(len(sizes), dtype=np.int64)
        starts[order] = np.concatenate([[0], np.cumsum(sizes[order])[:-1]])
        return starts

    @cached_property
    def count(self) -> int:
        """Number of units."""
        return sum(0 if c == 1 else 1 if c == 2 else c for c in self.space.cards)

    @cached_property
    def blocks(self) -> Blocks:
        """Runs of units of one kind."""
        cards = self.space.cards
        runs, start = [], 0
        for size in sorted({1 if c == 2 else c for c in cards if c > 1}):
            length = sum((1 if c == 2 else c) for c in cards if c > 1 and (1 if c == 2 else c) == size)
            runs.append((start, start + length, size))
            start += length
        return tuple(runs)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What each unit stands for, ``variable=level``."""
        names = [""] * self.count
        for variable, start in zip(self.space.variables, self.starts.tolist(), strict=True):
            levels = variable.levels[1:] if variable.card == 2 else variable.levels if variable.card > 2 else ()
            for k, level in enumerate(levels):
                names[start + k] = f"{variable.name}={level}"
        return tuple(names)

    def of_variable(self, i: int) -> slice:
        """The units of a variable."""
        card, start = self.space.cards[i], int(self.starts[i])
        return slice(start, start + (0 if card == 1 else 1 if card == 2 else card))

    def reordered(self, order: Sequence[int]) -> NDArray[np.int64]:
        """Which unit each one is when the variables are in another order: place i holds the one at ``order[i]``."""
        again = Units(self.space.reordered(order))
        which = np.empty(self.count, dtype=np.int64)
        for new, old in enumerate(order):
            here, there = again.of_variable(new), self.of_variable(old)
            which[here] = np.arange(there.start, there.stop)
        return which

    def encode(self, codes: NDArray[Any]) -> NDArray[np.int8]:
        """Units (m, u) of codes (m, n); those of a missing cell are −1."""
        units = np.zeros((len(codes), self.count), dtype=np.int8)
        binary = np.array([c == 2 for c in self.space.cards])
        units[:, self.starts[binary]] = codes[:, binary]
        for i in (i for i, card in enumerate(self.space.cards) if card > 2):
            own, column = self.of_variable(i), codes[:, i]
            part: NDArray[np.int8] = units[:, own.start : own.stop]
            part[np.arange(len(codes)), np.maximum(column, 0)] = 1
            part[column < 0] = OPEN
        return units

    def decode(self, units: NDArray[Any]) -> NDArray[np.int64]:
        """Codes (m, n) of units (m, u) of complete states; of probabilities, the likeliest level of each variable."""
        codes = np.zeros((len(units), len(self.space)), dtype=np.int64)
        for i, card in enumerate(self.space.cards):
            part = units[:, self.of_variable(i)]
            if card == 2:
                codes[:, i] = part[:, 0] > 0.5
            elif card > 2:
                codes[:, i] = part.argmax(axis=1)
        return codes
