"""Whole margins as candidates: all missing terms inside a small set of variables at once.

Making the model agree with the data on the margin of A lowers the divergence by at least
``KL(p_d(x_A) || p(x_A))``, and both marginals are a few look-ups. The price is that of the terms of A not yet in use.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.layout import Prices
from fullspan.learn.problem import Problem

MAX_CELLS = 4096
"""Largest margin that is looked up."""
MAX_SETS = 400_000
"""Most sets of one size that are scored; larger sizes are then left to single terms."""


@dataclass
class Margins:
    """All sets of two to ``largest`` variables of a problem, with prices, ready to be scored again and again."""

    problem: Problem
    largest: int
    sets: list[NDArray[np.int64]] = field(init=False)
    masks: list[NDArray[np.int64]] = field(init=False)
    totals: list[NDArray[np.float64]] = field(init=False)

    def __post_init__(self) -> None:
        basis = self.problem.table.basis
        cards = np.array(basis.cards, dtype=np.int64)
        usable = np.flatnonzero(cards > 1)
        self.sets, self.masks, self.totals = [], [], []
        for size in range(1, min(self.largest, len(usable)) + 1):
            sets = np.array(list(itertools.combinations(usable, size)), dtype=np.int64).reshape(-1, size)
            if len(sets) > MAX_SETS:
                break
            sets = sets[cards[sets].prod(axis=1) <= MAX_CELLS]
            if len(sets):
                self.sets.append(sets)
                self.masks.append((np.int64(1) << sets).sum(axis=1))
                self.totals.append(_total_price(sets, cards, self.problem.prices))

    def score(self) -> tuple[list[NDArray[np.int64]], NDArray[np.float64], NDArray[np.float64]]:
        """All sets, flat, with their gains and the prices of their missing terms."""
        gains, costs, flat = [], [], []
        used_masks, used_prices = self._in_use()
        for sets, masks, totals in zip(self.sets, self.masks, self.totals, strict=True):
            gains.append(self.problem.table.margin_gains(sets))
            inside = (used_masks[None, :] & ~masks[:, None]) == 0
            costs.append(totals - inside @ used_prices)
            flat.extend(sets)
        return flat, np.concatenate(gains), np.maximum(np.concatenate(costs), 0.0)

    def _in_use(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        basis = self.problem.table.basis
        masks = [sum(1 << i for i, _ in basis.term(y)) for y in self.problem.table.theta]
        prices = [self.problem.price(y) for y in self.problem.table.theta]
        return np.array(masks, dtype=np.int64), np.array(prices, dtype=np.float64)

    def missing(self, variables: NDArray[np.int64]) -> list[int]:
        """Indices of the terms inside a set that are not in use."""
        basis = self.problem.table.basis
        inside = (basis.index(term) for term in basis.subterms([int(v) for v in variables]) if term)
        return [y for y in inside if y not in self.problem.table.theta]


def _total_price(sets: NDArray[np.int64], cards: NDArray[np.int64], prices: Prices) -> NDArray[np.float64]:
    """Price of all terms inside each set: sums over its subsets, every component counted."""
    total = np.zeros(len(sets))
    for order in range(1, sets.shape[1] + 1):
        for subset in itertools.combinations(range(sets.shape[1]), order):
            part = sets[:, subset]
            price = prices.by_order[order] + prices.by_variable[part].sum(axis=1)
            total += price * (cards[part] - 1).prod(axis=1)
    return total
