"""What chains walk on: an unnormalised distribution over finitely many states, joined to a simple one by a path.

    f_beta(x) = f_0(x)^(1 - beta) f(x)^beta,      f_0(x) = prod_i b_i(x_i),      0 <= beta <= 1

At beta = 1 it is the target, at beta = 0 a product of independent variables, whose partition function is known.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.sampling.streams import Streams

States = NDArray[np.uint8] | NDArray[np.uint16]
"""Codes (chains, n)."""


class Target(Protocol):
    """Log weights and their conditionals, compiled for many chains at once."""

    @property
    def cards(self) -> Ints:
        """(n,) numbers of levels."""

    def log_weight(self, states: NDArray[Any]) -> Array:
        """``log f(x)`` of states (m, n) -> (m,)."""

    def sweep(
        self, states: NDArray[Any], streams: Streams, sweeps: int, free: Ints, beta: Array, base: Base | None = None
    ) -> None:
        """Draw each of the ``free`` variables in turn from ``f_beta(x_i | rest)``, ``sweeps`` times, in place.

        ``beta`` has an entry per chain. Without a base, f_0 is constant.

        Law: f_beta, restricted to the values of the variables that are not free, stays as it is.
        """


class Base:
    """Independent variables: ``log b_i(x)``, flat, variable after variable, each normalised.

    log Z of the base is 0 then.
    """

    def __init__(self, cards: Ints, log_levels: Array) -> None:
        self.cards = cards
        self.starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(cards)])
        self.log_levels = np.asarray(log_levels, dtype=np.float64).copy()
        for a, b in zip(self.starts[:-1], self.starts[1:], strict=True):
            part = self.log_levels[a:b]
            part -= np.logaddexp.reduce(part)

    @classmethod
    def uniform(cls, cards: Ints) -> Base:
        """Every level as likely as the others."""
        return cls(cards, np.zeros(int(cards.sum())))

    @classmethod
    def of_states(cls, cards: Ints, states: NDArray[Any], weights: Array | None = None) -> Base:
        """The frequencies of the levels in states, with one more state spread evenly."""
        weights = np.ones(len(states)) if weights is None else weights
        out = np.empty(int(cards.sum()))
        start = 0
        for i, card in enumerate(cards.tolist()):
            counts = np.bincount(states[:, i], weights=weights, minlength=card)
            out[start : start + card] = np.log(counts + 1.0 / card)
            start += card
        return cls(cards, out)

    def log_prob(self, states: NDArray[Any]) -> Array:
        """``log f_0`` of states (m, n)."""
        return np.asarray(self.log_levels[self.starts[:-1] + states].sum(axis=1))

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Independent states (size, n)."""
        states = np.zeros((size, len(self.cards)), dtype=code_type(self.cards))
        for i, (a, b) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            cumulative = np.cumsum(np.exp(self.log_levels[a:b]))
            states[:, i] = np.searchsorted(cumulative[:-1], rng.random(size), side="right")
        return states


def code_type(cards: Ints) -> type[np.uint8] | type[np.uint16]:
    """The smallest type of codes that compiled sweeps know."""
    return np.uint8 if int(cards.max(initial=1)) <= 256 else np.uint16
