"""Effects of an average of log-linear models: facts of the mean distribution, not of any member.

With p the mean of the members' probabilities, the component of a set A is taken from the table of log p: sum-to-zero
over the levels of A, and averaged over the other variables under p. Where that table is too large, the mean of the
members' components stands in.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fullspan.algebra.basis import Term
from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.interaction import Interaction
from fullspan.model.named_effects import of_cells
from fullspan.model.sum_to_zero import Components

Array = NDArray[np.float64]
_STATES, _WORK = 1 << 20, 1 << 27
"""States of a table that is looked at, and states times sets."""


def named_average(
    model: AveragedLogLinear, components: Components, sets: Sequence[tuple[int, ...]]
) -> list[Interaction]:
    """The effects of some sets of variables, each with the share of the members that have it."""
    from dataclasses import replace

    cells = _by_table if model.basis.n_states * max(len(sets), 1) <= _WORK else _by_members
    if model.basis.n_states > _STATES:
        cells = _by_members
    found = cells(model, sets)
    return [
        replace(of_cells(model.space, own, u), chosen=float(max(model.chosen[k] for k in components.exactly(own))))
        for own, u in zip(sets, found, strict=True)
    ]


def _by_table(model: AveragedLogLinear, sets: Sequence[tuple[int, ...]]) -> list[Array]:
    from fullspan.engine.dual.distribution import Distribution

    cards = model.basis.cards
    p = np.asarray(Distribution.mean_of(model, None).p).reshape(cards[::-1]).transpose()  # variable 0 is the first axis
    log_p = np.log(np.maximum(p, 1e-300))
    found = []
    for own in sets:
        rest = tuple(i for i in range(len(cards)) if i not in own)
        u, weights = log_p, p.sum(axis=own, keepdims=True)
        for i in own:
            u = u - u.mean(axis=i, keepdims=True)
        found.append(np.sum(u * weights, axis=rest))
    return found


def _by_members(model: AveragedLogLinear, sets: Sequence[tuple[int, ...]]) -> list[Array]:
    total = [np.zeros([model.basis.cards[i] for i in own]) for own in sets]
    for member in model.members:
        components = Components(member.basis, member.terms)
        for own, cells in zip(sets, total, strict=True):
            cells += components.effect(own, _uniform).cells(member.theta) / len(model.members)
    return total


def _uniform(terms: Sequence[Term]) -> Array:
    """Other variables at even odds: what larger sets add to a smaller one cancels."""
    return np.array([0.0 if term else 1.0 for term in terms])
