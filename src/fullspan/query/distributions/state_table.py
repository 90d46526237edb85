"""All marginals of a distribution from the table of its states: evidence takes a slice of it, and one pass sums that.

P(x_i | e) = sum_{x agrees with e and x_i} p(x) / P(e)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.engine.elimination.components import ComponentSums
from fullspan.query.distribution import Distribution, Marginals
from fullspan.query.language.boxes import Codes
from fullspan.query.language.events import Event, check_probable, in_words, log_uniform

MAX_STATES = 1 << 22
"""States up to which a table of all of them is kept."""


class StateTable:
    """``log p`` of all states of a space, flat with the first variable fastest."""

    def __init__(self, space: Space, log_p: Array) -> None:
        self.space = space
        self._log_p = log_p.reshape(space.cards[::-1])  # the first variable is the last axis

    def marginals(self, allowed: Mapping[int, Codes]) -> Marginals:
        """Of every variable, given an event by position."""
        codes = [allowed.get(i, tuple(range(card))) for i, card in enumerate(self.space.cards)]
        weights = self._restricted(allowed)
        top = float(weights.max())
        weights = np.exp(weights - top)
        total = float(weights.sum())
        log_prob = top + math.log(total)
        if allowed:
            words = f"the condition {in_words(allowed, self.space)}"
            check_probable(log_prob, words, log_uniform(allowed, self.space))
        shares = {}
        for i in reversed(range(len(codes))):  # each variable is summed out in turn, so that the table halves
            table = weights.reshape(len(codes[i]), -1)
            shares[i] = np.zeros(self.space.cards[i])
            shares[i][list(codes[i])] = table.sum(axis=1) / total
            weights = table.sum(axis=0)
        found = {name: shares[i] for i, name in enumerate(self.space.names)}
        return Marginals(min(log_prob, 0.0) if allowed else 0.0, found)

    def _restricted(self, allowed: Mapping[int, Codes]) -> Array:
        """The part of the table that an event allows; single levels are views."""
        last = self._log_p.ndim - 1
        view: list[slice] = [slice(None)] * self._log_p.ndim
        for i, own in allowed.items():
            if len(own) == 1:
                view[last - i] = slice(own[0], own[0] + 1)
        part = self._log_p[tuple(view)]
        for i, own in allowed.items():
            if len(own) > 1:
                part = part.take(own, axis=last - i)
        return part


STEP_ENTRIES = 200
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


def of_clusters(shares: Array, trees: Sequence[ComponentSums], cards: tuple[int, ...], work: float) -> Array | None:
    """The same summed over components of some shares; None if more than ``work`` entries would be read.

    The visible variables come first in each component.
    """
    size = sum(cards)
    if size * sum(tree.sweep_work for tree in trees) > work:
        return None
    found = np.zeros((size, size))
    for share, tree in zip(shares, trees, strict=True):
        alone = np.concatenate(tree.marginals())[:size]
        codes = [(i, x) for i, card in enumerate(cards) for x in range(card)]
        for row, ((i, x), p) in enumerate(zip(codes, alone, strict=True)):
            if p > 0:
                found[row] += share * p * np.concatenate(tree.marginals({i: (x,)}))[:size]
    return found
