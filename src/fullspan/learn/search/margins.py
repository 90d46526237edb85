"""Whole margins as candidates: all missing terms inside a small set of variables at once.

Making the model agree with the data on the margin of A lowers the divergence by at least
``KL(p_d(x_A) || p(x_A))``, and both marginals are a few look-ups. A margin is described by naming its variables once;
each weight inside it that is not yet in use costs one nat more, which is what a weight costs in prediction.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fullspan.learn.search.problem import Problem
from fullspan.model.algebra.bits import is_small
from fullspan.model.algebra.jit import serial

MAX_CELLS = 4096
"""Cells of the largest margin that is looked up."""
MAX_SETS = 100_000
"""Most sets of one size that are scored; larger sizes are then left to single terms."""


@dataclass
class Margins:
    """All sets of one to ``largest`` variables of a problem, ready to be scored again and again."""

    problem: Problem
    largest: int
    groups: list[Group] = field(init=False)

    def __post_init__(self) -> None:
        cards = np.array(self.problem.table.basis.cards, dtype=np.int64)
        usable = np.flatnonzero(cards > 1)
        self.groups = []
        for size in range(1, min(self.largest, len(usable)) + 1):
            sets = np.array(list(itertools.combinations(usable, size)), dtype=np.int64).reshape(-1, size)
            # Sets of many levels are left to single terms and to smaller margins.
            sets = sets[cards[sets].prod(axis=1) <= MAX_CELLS]
            if not 0 < len(sets) <= MAX_SETS:
                break
            self.groups.append(Group.of(self.problem, sets))

    def promising(self, most: int, share: float, room: int) -> list[tuple[float, float, NDArray[np.int64]]]:
        """Net gains, prices of the names, and variables of the margins that pay, best first.

        At most ``most``, each worth at least ``share`` of the best. Margins with more than ``room`` missing terms are
        left out.
        """
        used = self._used_masks()
        nets = [group.net_gains(self.problem, used, room) for group in self.groups]
        best = max((float(net.max()) for net in nets), default=0.0)
        if best <= 0:
            return []
        found = [
            (float(net[i]), float(group.names[i]), group.sets[i])
            for group, net in zip(self.groups, nets, strict=True)
            for i in np.flatnonzero(net >= share * best)
        ]
        return sorted(found, key=lambda item: (-item[0], tuple(item[2])))[:most]

    def _used_masks(self) -> NDArray[np.int64]:
        """Bit masks of the variables of each term in use."""
        theta = self.problem.table.theta
        digits = self.problem.table.digits(np.fromiter(theta, dtype=np.int64, count=len(theta)))
        return np.asarray((digits > 0) @ (np.int64(1) << np.arange(digits.shape[1])), dtype=np.int64)

    def missing(self, variables: Sequence[int]) -> list[int]:
        """Indices of the terms inside a set that are not in use."""
        basis, theta = self.problem.table.basis, self.problem.table.theta
        inside = [0]
        for i in variables:
            inside = [y + j * basis.strides[i] for j in range(basis.cards[i]) for y in inside]
        return [y for y in inside[1:] if y not in theta]


@dataclass(frozen=True)
class Group:
    """Sets of one size: variables, bit masks, number of terms inside, price of naming them, and the data's margins."""

    sets: NDArray[np.int64]
    masks: NDArray[np.int64]
    n_terms: NDArray[np.int64]
    names: NDArray[np.float64]
    data: NDArray[np.float64]

    @classmethod
    def of(cls, problem: Problem, sets: NDArray[np.int64]) -> Group:
        cards = np.array(problem.table.basis.cards, dtype=np.int64)
        prices, size = problem.prices, sets.shape[1]
        return cls(
            sets=sets,
            masks=(np.int64(1) << sets).sum(axis=1),
            n_terms=cards[sets].prod(axis=1) - 1,
            # by_order holds the price of one weight as well, which here is counted per missing term.
            names=prices.by_order[size] - prices.weight + prices.by_variable[sets].sum(axis=1),
            data=problem.table.data_margins(sets),
        )

    def net_gains(self, problem: Problem, used: NDArray[np.int64], room: int) -> NDArray[np.float64]:
        """Gain of each margin less its price; minus infinity where nothing is missing, or more than ``room``."""
        small = is_small(problem.table.basis.n_states)
        missing = self.n_terms - (count_inside_plain if small else count_inside)(used, self.masks)
        price = self.names + missing * problem.weight_price
        gains = problem.table.margin_gains(self.sets, self.data, price)
        return np.where((missing > 0) & (missing <= room), gains - price, -np.inf)


def count_inside_plain(used: NDArray[np.int64], masks: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of the masks ``used`` lie inside each of ``masks``."""
    return np.asarray((used[None, :] & ~masks[:, None] == 0).sum(axis=1))


@serial
def count_inside(used: NDArray[np.int64], masks: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same, compiled, for many masks."""
    inside = np.zeros(masks.size, np.int64)
    for s in range(masks.size):
        outside = ~masks[s]
        count = 0
        for t in range(used.size):
            count += 1 if used[t] & outside == 0 else 0
        inside[s] = count
    return inside
