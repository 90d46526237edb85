"""Expected contrasts by a table of all states, for :mod:`fullspan.learn.private.evidence`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.learn.private.measured import Scope
from fullspan.model.algebra.local_bases import contrasts

MOST_CONTRASTS = 1500
"""Contrasts up to which their covariance is worked out: solving with it takes their cube."""


class DenseOracle:
    """A transform and its inverse, O(|X| sum_i |X_i|) whatever the number of interactions."""

    def __init__(self, scopes: Sequence[Scope], cards: Sequence[int]) -> None:
        self.cards = tuple(cards)
        inside = [_places(scope, self.cards) for scope in scopes]
        roots = [math.sqrt(math.prod(c for i, c in enumerate(cards) if i not in scope)) for scope in scopes]
        self._places = np.concatenate(inside)
        self._starts = np.cumsum([0, *map(len, inside)])
        self._scopes = list(scopes)
        self._roots = np.repeat(roots, [len(place) for place in inside])

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """log Z and the expected contrasts."""
        log_z, p = self.table(theta)
        return log_z, _transformed(p, self.cards, back=False)[self._places] * self._roots

    def fisher(self, theta: Array) -> Array | None:
        """The covariance of all contrasts: of two-level variables, their products are contrasts too."""
        if len(self._places) > MOST_CONTRASTS or any(card != 2 for card in self.cards):
            return None
        _, p = self.table(theta)
        every = _transformed(p, self.cards, back=False)
        # contrasts of margins are 2^(-|A|/2) times products of signs
        signs = every * math.sqrt(len(every))
        sizes = np.array([0.5 ** (len(scope) / 2) for scope in self._scopes])
        products = signs[self._places[:, None] ^ self._places[None, :]]
        alone = signs[self._places]
        covariance: Array = (products - np.outer(alone, alone)) * np.outer(sizes, sizes)
        return covariance

    def table(self, theta: Array) -> tuple[float, Array]:
        """log Z and the probability of every state, the last variable fastest."""
        coefficients = np.zeros(math.prod(self.cards))
        coefficients[self._places] = theta * self._roots
        log_p = _transformed(coefficients, self.cards, back=True)
        top = float(log_p.max())
        p = np.exp(log_p - top)
        z = float(p.sum())
        return top + math.log(z), p / z


def _places(scope: Scope, cards: Sequence[int]) -> Ints:
    """Where the contrasts of an interaction stand among those of all."""
    place = np.zeros(1, dtype=np.int64)
    for i in scope:
        stride = math.prod(cards[i + 1 :])
        place = (place[:, None] + stride * np.arange(1, cards[i])).reshape(-1)
    return place


def _transformed(table: Array, cards: Sequence[int], *, back: bool) -> Array:
    """The contrasts of a flat table along every axis, or the table of its contrasts."""
    left, out = 1, table
    for card in cards:
        if card == 2:
            pair = out.reshape(left, 2, -1)
            out = np.empty_like(pair)
            np.add(pair[:, 0], pair[:, 1], out=out[:, 0])
            np.subtract(pair[:, 0], pair[:, 1], out=out[:, 1])
        else:
            out = np.matmul(contrasts(card).T if back else contrasts(card), out.reshape(left, card, -1))
        left *= card
    return out.reshape(-1) * math.sqrt(0.5) ** sum(card == 2 for card in cards)
