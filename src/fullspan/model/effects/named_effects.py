"""The effect of a set of variables, put into words: which levels, which ratio, which error."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.model.effects.interaction import NEAR_BOUNDARY, Effect, Interaction, Kind
from fullspan.model.effects.sum_to_zero import Component, Components, Expect
from fullspan.model.effects.words import Event, candidates, event_words

_MOST_RANGES = 4096
"""Cells of a set, ranges included, up to which ranges are compared as well as single levels."""
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


def _is_open(component: Component, spread: Spread | None, diverging: Sequence[int]) -> bool:
    """Whether weights that have no finite maximum, or are not determined next to such, have a part in a component."""
    touched = np.isin(component.positions, list(diverging)).any()
    return bool(touched or (spread is not None and np.isnan(spread.weights).any()))


@dataclass(frozen=True, eq=False)
class Spread:
    """Covariance ``matrix @ weights @ matrix.T`` of the cells of a component, which may be too many for a square."""

    matrix: Array
    weights: Array

    def error(self, mean: Array) -> float:
        """Standard error of a mean over cells."""
        return float(self.errors(mean[:, None].T @ self.matrix)[0])

    def errors(self, rows: Array) -> Array:
        """Standard errors of some combinations of the weights, one in each row."""
        return np.asarray(np.sqrt(np.maximum(np.einsum("ck,ck->c", rows @ self.weights, rows), 0.0)))


def _spread(component: Component, covariance: Array | None, errors: Array | None) -> Spread | None:
    """Covariance of the cells of a component, where it is known."""
    own = component.positions
    if covariance is not None:
        return Spread(component.matrix, covariance[np.ix_(own, own)])
    if errors is None or len(own) != 1:
        return None
    return Spread(component.matrix, np.diag(errors[own] ** 2))


def of_cells(
    space: Space,
    variables: tuple[int, ...],
    cells: Array,
    spread: Spread | None = None,
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
    events = last if is_pair else _strongest(space, variables, cells, spread)
    effects = [_effect(space, variables, own, scale * cells, spread, scale) for own in events]
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
    spread: Spread | None,
    scale: float,
) -> Effect:
    """The mean of the cells that some events have, with its error."""
    weights = _indicator(space, variables, events)
    error = math.nan if spread is None else scale * spread.error(weights)
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
    space: Space, variables: tuple[int, ...], cells: Array, spread: Spread | None
) -> list[tuple[Event, ...]]:
    """The best supported cell, and the best supported one on the other side of what lower orders expect.

    Best supported is the largest log ratio in units of its standard error, or the largest one where there is none.
    Of two levels the last one is named: the other says the opposite.
    """
    choices = [list(candidates(space.variables[i])) for i in variables]
    if math.prod(map(len, choices)) > _MOST_RANGES:
        choices = [[(code,) for code in range(space.cards[i])] for i in variables]
    means = [_means(own, space.cards[i]) for i, own in zip(variables, choices, strict=True)]
    values = _over_axes(means, cells[..., None]).ravel()
    strengths = np.abs(values)
    if spread is not None:
        errors = spread.errors(_over_axes(means, spread.matrix.reshape(*cells.shape, -1)).reshape(len(values), -1))
        np.divide(strengths, errors, out=strengths, where=errors > 0)
    strengths[np.abs(values) <= _SAME] = -math.inf
    if not (strengths > -math.inf).any():
        return [tuple((space.cards[i] - 1,) for i in variables)]
    first = _best(choices, values, strengths)
    strengths[(np.sign(values) == np.sign(values[first])) | _overlap(choices, first)] = -math.inf
    rest = [_best(choices, values, strengths)] if (strengths > -math.inf).any() else []
    return [_events(choices, one) for one in (first, *rest)]


def _means(events: Sequence[Event], card: int) -> Array:
    """A row for each event of a variable: the weights of the levels in their mean over it."""
    rows = np.zeros((len(events), card))
    for row, event in zip(rows, events, strict=True):
        row[list(event)] = 1.0 / len(event)
    return rows


def _over_axes(means: Sequence[Array], x: Array) -> Array:
    """``x`` with its first axes, one per variable, replaced by means over events; the last axis stays."""
    for axis, rows in enumerate(means):
        x = np.moveaxis(np.tensordot(rows, x, axes=(1, axis)), 0, axis)
    return x


def _events(choices: Sequence[Sequence[Event]], position: int) -> tuple[Event, ...]:
    places = np.unravel_index(position, tuple(map(len, choices)))
    return tuple(own[int(place)] for own, place in zip(choices, places, strict=True))


def _best(choices: Sequence[Sequence[Event]], values: Array, strengths: Array) -> int:
    """Position of the strongest cell; of ranges that come near it, the one whose cells have most of the effect."""
    ranges = any(len(event) > 1 for own in choices for event in own)
    near = np.flatnonzero(strengths >= (_NEAR if ranges else 1 - _SAME) * strengths.max())
    sizes = functools.reduce(np.multiply.outer, [np.array([len(event) for event in own]) for own in choices]).ravel()
    effects = np.round(np.abs(values[near]) * sizes[near], 6)
    last = near[effects == effects.max()]
    return max(map(int, last), key=lambda position: _events(choices, position))


def _overlap(choices: Sequence[Sequence[Event]], position: int) -> NDArray[np.bool_]:
    """Which cells, ranges among them, have a state in common with one of them."""
    own = _events(choices, position)
    shared = [
        np.array([not set(event).isdisjoint(other) for event in of]) for of, other in zip(choices, own, strict=True)
    ]
    return np.asarray(functools.reduce(np.logical_and.outer, shared)).ravel()
