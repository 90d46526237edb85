"""The effect of a set of variables, put into words: which levels, which ratio, which error."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fullspan.model.events import Event, candidates, event_words
from fullspan.model.interaction import NEAR_BOUNDARY, Effect, Interaction, Kind
from fullspan.model.sum_to_zero import Component, Components, Expect
from fullspan.space import Space

Array = NDArray[np.float64]
_MOST_CELLS = 4096
"""Cells of a set, ranges included, among which the strongest are looked for."""
_SAME, _NEAR = 1e-9, 0.9
"""Log ratio that counts as 0, and the share of the largest strength from which on a wider range is preferred."""


def named(
    space: Space,
    components: Components,
    theta: Array,
    sets: Sequence[tuple[int, ...]],
    expect: Expect,
    covariance: Array | None = None,
    errors: Array | None = None,
    diverging: Sequence[int] = (),
) -> list[Interaction]:
    """The effects of some sets of variables of a log-linear model, with no nats yet.

    Parameters
    ----------
    covariance : of the weights (k, k), NaN where the data do not determine one; None if it is not known.
    errors : of the weights (k,), which are enough for an effect of one weight alone.
    diverging : positions of weights without a finite maximum.
    """
    found = []
    for own in sets:
        component = components.effect(own, expect)
        spread = _spread(component, covariance, errors)
        infinite = bool(np.isin(component.positions, list(diverging)).any()) if len(diverging) else False
        extremes = components.extremes(own, theta) if _is_pair(space, own) else None  # type: ignore[arg-type]
        found.append(of_cells(space, own, component.cells(theta), spread, extremes, infinite))
    return found


def _spread(component: Component, covariance: Array | None, errors: Array | None) -> Array | None:
    """Covariance of the cells of a component, where it is known."""
    if covariance is not None:
        return component.covariance(covariance)
    if errors is None or len(component.positions) != 1:
        return None
    return np.asarray(component.matrix @ component.matrix.T * errors[component.positions[0]] ** 2)


def of_cells(
    space: Space,
    variables: tuple[int, ...],
    cells: Array,
    covariance: Array | None = None,
    extremes: tuple[float, float] | None = None,
    infinite: bool = False,
) -> Interaction:
    """The interaction with a sum-to-zero component ``cells``, one axis per variable; see :mod:`~.interaction`.

    Parameters
    ----------
    extremes : smallest and largest log odds ratio, where it depends on other variables.
    infinite : whether a weight behind it has no finite maximum: what is large is then the limit.
    """
    names = tuple(space.names[i] for i in variables)
    rows = np.zeros(1) if covariance is None else covariance
    is_pair = _is_pair(space, variables)
    kind: Kind = "odds ratio" if is_pair else "cell ratio"
    scale = 4.0 if is_pair else 1.0
    last: list[tuple[Event, ...]] = [((1,), (1,))]
    events = last if is_pair else _strongest(space, variables, cells, covariance)
    effects = []
    for own in events:
        weights = _indicator(space, variables, own)
        value = scale * float(weights @ cells.ravel())
        error = math.nan if covariance is None else scale * math.sqrt(max(float(weights @ rows @ weights), 0.0))
        if infinite and abs(value) > NEAR_BOUNDARY:
            value, error = math.copysign(math.inf, value), math.nan
        words = tuple(event_words(space.variables[i], event) for i, event in zip(variables, own, strict=True))
        effects.append(Effect(words, value, error))
    low, high = (math.nan, math.nan) if extremes is None else (_exp(extremes[0]), _exp(extremes[1]))
    return Interaction(names, math.nan, True, kind, tuple(effects), low, high)


def _exp(value: float) -> float:
    return math.exp(min(max(value, -700.0), 700.0))


def _is_pair(space: Space, variables: tuple[int, ...]) -> bool:
    """Whether it is two variables with two levels each."""
    return len(variables) == 2 and all(space.cards[i] == 2 for i in variables)


def _indicator(space: Space, variables: tuple[int, ...], events: tuple[Event, ...]) -> Array:
    """Weights of the cells in a mean over the cells that an event has."""
    weights = np.ones(1)
    for i, event in zip(variables, events, strict=True):
        own = np.zeros(space.cards[i])
        own[list(event)] = 1.0 / len(event)
        weights = np.multiply.outer(weights, own).ravel()
    return weights


def _strongest(
    space: Space, variables: tuple[int, ...], cells: Array, covariance: Array | None
) -> list[tuple[Event, ...]]:
    """The best supported cell that is more frequent than lower orders expect, and the one that is less.

    Best supported is the largest log ratio in units of its standard error, or the largest one where there is none.
    Of two levels the last one is named: the other says the same the other way round.
    """
    choices = [list(candidates(space.variables[i])) for i in variables]
    if math.prod(map(len, choices)) > _MOST_CELLS:
        choices = [[(code,) for code in range(space.cards[i])] for i in variables]
    scored: list[tuple[float, float, tuple[Event, ...]]] = []  # strength, log ratio, events
    for own in itertools.islice(itertools.product(*choices), _MOST_CELLS):
        weights = _indicator(space, variables, own)
        value = float(weights @ cells.ravel())
        error = math.nan if covariance is None else math.sqrt(max(float(weights @ covariance @ weights), 0.0))
        scored.append((abs(value) / error if error > 0 else abs(value), value, own))
    sides = [[one for one in scored if sign * one[1] > _SAME] for sign in (1, -1)]
    return [_best(side) for side in sides if side] or [tuple((space.cards[i] - 1,) for i in variables)]


def _best(scored: list[tuple[float, float, tuple[Event, ...]]]) -> tuple[Event, ...]:
    """The strongest cell; among those that come near it, the one whose cells have most of the effect together."""
    near = _NEAR * max(strength for strength, _, _ in scored)
    total = [
        (round(abs(value) * math.prod(map(len, own)), 6), own) for strength, value, own in scored if strength >= near
    ]
    return max(total)[1]
