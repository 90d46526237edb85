"""The effect of a set of variables, put into words: which levels, which ratio, which error."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.model.effects.interaction import NEAR_BOUNDARY, Effect, Interaction, Kind
from fullspan.model.effects.sum_to_zero import Component, Components, Expect
from fullspan.model.effects.words import Event, candidates, event_words

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
        infinite = len(diverging) > 0 and _is_open(component, spread, diverging)
        extremes = components.extremes(own, theta) if _is_pair(space, own) else None  # type: ignore[arg-type]
        found.append(of_cells(space, own, component.cells(theta), spread, extremes, infinite))
    return found


def _is_open(component: Component, spread: Array | None, diverging: Sequence[int]) -> bool:
    """Whether weights that have no finite maximum, or are not determined next to such, have a part in a component."""
    touched = np.isin(component.positions, list(diverging)).any()
    return bool(touched or (spread is not None and np.isnan(spread).any()))


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
    is_pair = _is_pair(space, variables)
    kind: Kind = "odds ratio" if is_pair else "cell ratio"
    scale = 4.0 if is_pair else 1.0
    last: list[tuple[Event, ...]] = [((1,), (1,))]
    events = last if is_pair else _strongest(space, variables, cells, covariance)
    effects = [_effect(space, variables, own, scale * cells, covariance, scale) for own in events]
    if infinite and not is_pair:  # of the cells only one that never occurs has a limit of its own
        rarest = tuple((int(code),) for code in np.unravel_index(int(np.argmin(cells)), cells.shape))
        effects = [_effect(space, variables, rarest, cells, None, scale)]
    if infinite:
        effects, extremes = [_at_boundary(effects[0], extremes, is_pair)], None
    low, high = (math.nan, math.nan) if extremes is None else (_exp(extremes[0]), _exp(extremes[1]))
    return Interaction(names, math.nan, True, kind, tuple(effects), low, high)


def _effect(
    space: Space,
    variables: tuple[int, ...],
    events: tuple[Event, ...],
    cells: Array,
    covariance: Array | None,
    scale: float,
) -> Effect:
    """The mean of the cells that some events have, with its error."""
    weights = _indicator(space, variables, events)
    error = math.nan
    if covariance is not None:
        error = scale * math.sqrt(max(float(weights @ covariance @ weights), 0.0))
    words = tuple(event_words(space.variables[i], event) for i, event in zip(variables, events, strict=True))
    return Effect(words, float(weights @ cells.ravel()), error)


def _at_boundary(one: Effect, extremes: tuple[float, float] | None, is_pair: bool) -> Effect:
    """What can be said where a weight has no finite maximum: the limit, or that there is none.

    An odds ratio that is infinite whatever the other variables are has a sign; a cell that never occurs is ÷∞. All
    else is not determined: the limit leaves open what happens in states of probability 0.
    """
    ends = (one.log_ratio, one.log_ratio) if extremes is None else extremes
    if ends[1] < -NEAR_BOUNDARY:
        return Effect(one.events, -math.inf)
    if is_pair and ends[0] > NEAR_BOUNDARY:
        return Effect(one.events, math.inf)
    return Effect(one.events, math.nan)


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
    """The best supported cell, and the best supported one on the other side of what lower orders expect.

    Best supported is the largest log ratio in units of its standard error, or the largest one where there is none.
    Of two levels the last one is named: the other says the opposite.
    """
    choices = [list(candidates(space.variables[i])) for i in variables]
    if math.prod(map(len, choices)) > _MOST_CELLS:
        choices = [[(code,) for code in range(space.cards[i])] for i in variables]
    scored: list[_Scored] = []
    for own in itertools.islice(itertools.product(*choices), _MOST_CELLS):
        weights = _indicator(space, variables, own)
        value = float(weights @ cells.ravel())
        error = math.nan if covariance is None else math.sqrt(max(float(weights @ covariance @ weights), 0.0))
        scored.append((abs(value) / error if error > 0 else abs(value), value, own))
    scored = [one for one in scored if abs(one[1]) > _SAME]
    if not scored:
        return [tuple((space.cards[i] - 1,) for i in variables)]
    first = _best(scored)
    other = [one for one in scored if one[1] * first[1] < 0 and not _overlap(one[2], first[2])]
    return [first[2], *([_best(other)[2]] if other else [])]


_Scored = tuple[float, float, tuple[Event, ...]]
"""Strength, log ratio and events of a cell."""


def _best(scored: list[_Scored]) -> _Scored:
    """The strongest cell; among ranges that come near it, the one whose cells have most of the effect together."""
    most = max(strength for strength, _, _ in scored)
    ranges = any(len(event) > 1 for _, _, own in scored for event in own)
    near = [one for one in scored if one[0] >= (_NEAR if ranges else 1 - _SAME) * most]
    return max(near, key=lambda one: (round(abs(one[1]) * math.prod(map(len, one[2])), 6), one[2]))


def _overlap(a: tuple[Event, ...], b: tuple[Event, ...]) -> bool:
    """Whether two cells, ranges among them, have a state in common."""
    return all(set(x) & set(y) for x, y in zip(a, b, strict=True))
