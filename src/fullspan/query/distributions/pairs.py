"""All pairs of levels from distributions given one level: ``P(x_i, x_j) = P(x_i) P(x_j | x_i)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fullspan.arrays import Array
from fullspan.query.distribution import Distribution, Marginals
from fullspan.query.language.events import Event

if TYPE_CHECKING:
    from fullspan.engine.elimination.clusters import ClusterTree

STEP = 200
"""Table entries that the step of one variable costs besides its own table."""


def of_marginals(distribution: Distribution, marginals: Callable[[Event | None], Marginals]) -> Array:
    """(S, S) pairs of the visible variables, from all marginals given each level of each variable."""
    visible, found = distribution.visible, []
    alone = marginals(None).shares
    for variable in visible.variables:
        for level, p in zip(variable.levels, alone[variable.name], strict=True):
            if p <= 0:
                found.append(np.zeros(sum(visible.cards)))
                continue
            shares = marginals({variable.name: level}).shares
            found.append(p * np.concatenate([shares[name] for name in visible.names]))
    return np.stack(found)


def of_clusters(shares: Array, trees: tuple[ClusterTree, ...], cards: tuple[int, ...], work: float) -> Array | None:
    """The same summed over components of some shares; None if more than ``work`` entries would be read.

    The visible variables come first in each component.
    """
    size = sum(cards)
    if size * sum(map(_sweep_work, trees)) > work:
        return None
    found = np.zeros((size, size))
    for share, tree in zip(shares, trees, strict=True):
        alone = tree.beliefs().variables[:size]
        codes = [(i, x) for i, card in enumerate(cards) for x in range(card)]
        for row, (evidence, p) in enumerate(zip(codes, alone, strict=True)):
            if p > 0:
                found[row] += share * p * tree.beliefs(dict([evidence])).variables[:size]
    return found


def _sweep_work(tree: ClusterTree) -> int:
    """Table entries that one sweep forth and one back read."""
    program = tree.program
    cells = np.diff(program.messages) * program.axis_cards[program.axes[1:] - 1]
    return int(2 * (np.diff(program.inputs) * cells).sum()) + STEP * len(cells)
