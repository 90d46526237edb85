"""How a table is cut into blocks, and where the penalty of each term is found while scanning.

The first variables, up to about a thousand joint states, are the places inside a block; the others number the
blocks. A penalty ``by_order[order] + sum of the variables' costs`` splits into a part per block and a part per place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.dual.scan import Base, PriceTables
from fullspan.engine.protocol import Prices
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.algebra.jit import serial


class Fibres(NamedTuple):
    """Offsets of the blocks of one fibre, and the high variables that the term leaves free, which number the fibres."""

    free_cards: NDArray[np.int64]
    free_strides: NDArray[np.int64]
    offsets: NDArray[np.int64]


@serial
def count_fibres(fibres: Fibres) -> int:
    """Number of fibres in the table."""
    count = 1
    for i in range(fibres.free_cards.size):
        count *= fibres.free_cards[i]
    return count


@serial
def first_block(fibres: Fibres, unit: int) -> int:
    """The block of a fibre in which the term's own high digits are all zero."""
    block = 0
    for i in range(fibres.free_cards.size):
        block += (unit % fibres.free_cards[i]) * fibres.free_strides[i]
        unit //= fibres.free_cards[i]
    return block


BLOCK_STATES = 1024
"""Joint states in a block: a few blocks fit the first-level cache, and one is long enough to vectorise."""

_KEPT_FIBRES = 64
"""Sets of high variables whose fibres are remembered: a search moves the same terms again and again."""


@dataclass(frozen=True)
class Layout:
    """Blocks of a table over ``basis``, the first ``n_low`` variables inside, the others outside."""

    basis: Basis
    n_low: int

    @classmethod
    def of(cls, basis: Basis) -> Layout:
        # The first variable is inside in any case, however many levels it has.
        n_low, size = min(1, len(basis.cards)), basis.cards[0] if basis.cards else 1
        while n_low < len(basis.cards) and size * basis.cards[n_low] <= BLOCK_STATES:
            size *= basis.cards[n_low]
            n_low += 1
        return cls(basis, n_low)

    @cached_property
    def size(self) -> int:
        """Places in a block."""
        return math.prod(self.basis.cards[: self.n_low])

    @property
    def n_blocks(self) -> int:
        return self.basis.n_states // self.size

    def price_tables(self, prices: Prices) -> PriceTables:
        """Penalties of all terms, as the kernels look them up."""
        cards = self.basis.cards
        orders, costs = _sums(cards[: self.n_low], prices.by_variable[: self.n_low])
        block_orders, block_costs = _sums(cards[self.n_low :], prices.by_variable[self.n_low :])
        by_order = np.array(prices.by_order, dtype=np.float64)
        by_order[0] = np.inf  # the constant is no candidate, though rounding may move it a little
        n_high = len(cards) - self.n_low
        least = np.array([np.min(by_order[o + orders] + costs) for o in range(n_high + 1)])
        return PriceTables(block_orders, block_costs, by_order, least, orders, costs)

    def base(self, dtype: Any) -> Base:
        """``eta_0 = prod_i mean(phi_{y_i})`` of the uniform distribution, over blocks and over places in a block."""
        means = [self.basis.local(i).mean(axis=1) for i in range(len(self.basis.cards))]
        return Base(*(_products(part).astype(dtype) for part in (means[self.n_low :], means[: self.n_low])))

    def fibres(self, term: Term) -> tuple[Fibres, NDArray[np.int64]]:
        """Blocks that differ only in the term's own high variables, and their digits in these, shape (blocks, m)."""
        own = tuple(i - self.n_low for i, _ in term if i >= self.n_low)
        if own not in self._fibres:
            if len(self._fibres) >= _KEPT_FIBRES:
                # All at once: which of them will be asked for again is not known, and making one takes no time next to
                # a step.
                self._fibres.clear()
            self._fibres[own] = self._find_fibres(own)
        return self._fibres[own]

    @cached_property
    def _fibres(self) -> dict[tuple[int, ...], tuple[Fibres, NDArray[np.int64]]]:
        return {}

    def _find_fibres(self, own: tuple[int, ...]) -> tuple[Fibres, NDArray[np.int64]]:
        """Fibres along the high variables ``own``, counted from the first high one."""
        cards = self.basis.cards[self.n_low :]
        strides = np.array([s // self.size for s in self.basis.strides[self.n_low :]], dtype=np.int64)
        free = [i for i in range(len(cards)) if i not in own]
        digits = np.zeros((1, 0), dtype=np.int64)
        for i in own:
            levels = np.repeat(np.arange(cards[i]), len(digits))
            digits = np.column_stack([np.tile(digits, (cards[i], 1)), levels])
        offsets = digits @ strides[list(own)] if own else np.zeros(1, dtype=np.int64)
        return Fibres(np.array([cards[i] for i in free], dtype=np.int64), strides[free], offsets), digits


def _products(means: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Product over variables for every index over them."""
    product = np.ones(1)
    for mean in means:
        product = np.multiply.outer(mean, product).ravel()
    return product


def _sums(cards: tuple[int, ...], by_variable: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Order and cost of every index over these variables."""
    orders, costs = np.zeros(1, dtype=np.int32), np.zeros(1)
    for card, cost in zip(cards, by_variable, strict=True):
        used = (np.arange(card) > 0).astype(np.int32)[:, None]
        orders = (used + orders[None, :]).ravel()
        costs = (used * cost + costs[None, :]).ravel()
    return orders, costs
