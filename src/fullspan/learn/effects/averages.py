"""Effects of an average of log-linear models: facts of the mean distribution, not of any member.

With p the mean of the members' probabilities, the component of a set A is taken from the table of log p: sum-to-zero
over the levels of A, and averaged over the other variables under p. Where that table is too large, the mean of the
components of the parts stands in; where not all parts are log-linear, that of those that are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from fullspan.arrays import Array
from fullspan.model.algebra.basis import Term
from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.effects.interaction import Interaction
from fullspan.model.effects.named_effects import of_cells
from fullspan.model.effects.sum_to_zero import Components

Ends = tuple[float, float] | None
"""Smallest and largest log odds ratio, where it depends on other variables."""
_STATES, _WORK = 1 << 20, 1 << 27
"""States of a table that is looked at, and states times sets."""


def named_average(
    model: AveragedLogLinear, components: Components, sets: Sequence[tuple[int, ...]]
) -> list[Interaction]:
    """The effects of some sets of variables, each with the share of the members that have it."""
    n_states = model.basis.n_states
    by_table = not model.others and n_states <= _STATES and n_states * max(len(sets), 1) <= _WORK
    found = _by_table(model, sets) if by_table else _by_parts(model, sets)
    return [
        replace(of_cells(model.space, own, cells, extremes=ends), chosen=_chosen(model, components, own))
        for own, (cells, ends) in zip(sets, found, strict=True)
    ]


def _chosen(model: AveragedLogLinear, components: Components, own: tuple[int, ...]) -> float:
    return float(max((model.chosen[k] for k in components.containing(own)), default=0.0))


def _by_table(model: AveragedLogLinear, sets: Sequence[tuple[int, ...]]) -> Iterator[tuple[Array, Ends]]:
    from fullspan.engine.dual.probability_table import ProbabilityTable

    cards = model.basis.cards
    p = (
        np.asarray(ProbabilityTable.mean_of(model, None).p).reshape(cards[::-1]).transpose()
    )  # variable 0 is the first axis
    log_p = np.log(np.maximum(p, 1e-300))
    for own in sets:
        rest = tuple(i for i in range(len(cards)) if i not in own)
        u, weights = log_p, p.sum(axis=own, keepdims=True)
        for i in own:
            u = u - u.mean(axis=i, keepdims=True)
        yield np.sum(u * weights, axis=rest), _ends(u, own, cards)


def _ends(u: Array, own: tuple[int, ...], cards: tuple[int, ...]) -> Ends:
    """Smallest and largest log odds ratio of two two-level variables over the states of the others."""
    if len(own) != 2 or len(cards) == 2 or any(cards[i] != 2 for i in own):
        return None
    log_odds = 4 * u.take(1, axis=own[1]).take(1, axis=own[0])
    return float(log_odds.min()), float(log_odds.max())


def _by_parts(model: AveragedLogLinear, sets: Sequence[tuple[int, ...]]) -> Iterator[tuple[Array, Ends]]:
    total = [np.zeros([model.basis.cards[i] for i in own]) for own in sets]
    whole = 1.0 - sum(share for share, _ in model.others)
    for share, part in model.parts:
        components = Components(part.basis, part.terms)
        for own, cells in zip(sets, total, strict=True):
            cells += share / whole * components.effect(own, _uniform).cells(part.theta)
    return ((cells, None) for cells in total)


def _uniform(terms: Sequence[Term]) -> Array:
    """Other variables at even odds: what larger sets add to a smaller one cancels."""
    return np.array([0.0 if term else 1.0 for term in terms])
