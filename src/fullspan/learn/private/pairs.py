"""Which pairs of a wide table are measured: by noisy strengths alone, so that the choice costs nothing.

A pair is strong where its margin is far from independence, in rows. What follows from pairs that are chosen already is
worth little: of two columns that repeat each other, one brings all that both say, and the other costs cells. Along a
chain i - k - j of chosen pairs, strengths are taken to multiply, each as its part of what it could be at most:

    implied(i, j) = r(i, k) r(k, j) most(i, j),     r = strength / most,     most(i, j) = min(m_i, m_j),
    m_i = 2 N (1 - sum of squared shares of i), the strength of a pair that determines i.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from fullspan.arrays import Array
from fullspan.learn.private.clusters import cells_of
from fullspan.learn.private.measured import Scope, price

WORTH_OF_NOISE = 0.5
"""Part of its noise that a pair must be as strong as; priors take most of the noise out again."""
IMPLIED_WORTH = 1e-3
"""Part of its strength that a pair keeps in the order of choice, however much of it chosen pairs imply."""


def worthwhile(
    strengths: Mapping[Scope, float], known: Sequence[Array], total: float, unit: float, max_cells: int
) -> list[Scope]:
    """The pairs that lose no more to noise than they bring, and whose elimination meets ``max_cells`` at most.

    Parameters
    ----------
    known : shares of the levels of every column.
    unit : noise in a cell of a margin measured at the price of one.
    """
    cards = [len(shares) for shares in known]
    most = [2 * total * (1 - float(shares @ shares)) for shares in known]
    chains = _Chains(strengths, most)
    chosen: list[Scope] = []
    cost, alone, waiting = 0.0, [(i,) for i in range(len(cards))], set(strengths)
    while waiting:
        pair = max(waiting, key=lambda pair: (chains.left(pair) / math.sqrt(_cells(pair, cards)), pair))
        waiting.remove(pair)
        more = cost + price(pair, cards)
        noise = unit * math.sqrt(more) * math.sqrt(2 / math.pi) * _cells(pair, cards)
        if strengths[pair] < WORTH_OF_NOISE * noise or cells_of([*alone, *chosen, pair], cards) > max_cells:
            continue
        chosen.append(pair)
        chains.choose(pair)
        cost = more
    return chosen


class _Chains:
    """How much of each pair's strength follows from chosen pairs."""

    def __init__(self, strengths: Mapping[Scope, float], most: Sequence[float]) -> None:
        self._strengths = strengths
        self._most: dict[Scope, float] = {pair: min(most[i] for i in pair) for pair in strengths}
        self._parts = {
            pair: float(np.clip(s / max(self._most[pair], 1e-300), 0.0, 1.0)) for pair, s in strengths.items()
        }
        self._implied = dict.fromkeys(strengths, 0.0)
        self._near: dict[int, set[int]] = {}

    def left(self, pair: Scope) -> float:
        """Strength that chosen pairs do not imply."""
        own = self._strengths[pair]
        return max(own - self._implied[pair], IMPLIED_WORTH * own)

    def choose(self, pair: Scope) -> None:
        """Lengthen the chains by a pair."""
        for middle, end in (pair, pair[::-1]):
            for other in self._near.get(middle, ()):
                far, near = _pair(other, end), _pair(other, middle)
                through = self._parts[pair] * self._parts[near] * self._most[far]
                self._implied[far] = max(self._implied[far], through)
        for i, j in (pair, pair[::-1]):
            self._near.setdefault(i, set()).add(j)


def _pair(i: int, j: int) -> Scope:
    return (i, j) if i < j else (j, i)


def _cells(pair: Scope, cards: Sequence[int]) -> int:
    return math.prod(cards[i] for i in pair)
