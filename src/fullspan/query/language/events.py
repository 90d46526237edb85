"""Events as people write them, ``{"crime": "y", "party": ["democrat", "other"]}``, as codes by position."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.data.space import Level, Space, levels_in_words
from fullspan.errors import QueryError
from fullspan.query.language.boxes import Box, Boxes, Codes
from fullspan.query.language.comparisons import code_of
from fullspan.query.language.parse import parse_event

Event = Mapping[str, Level | Collection[Level]]
"""Levels by variable; a list, tuple or set of levels means any one of them."""

_COLLECTIONS = (list, tuple, set, frozenset)


def codes_of(event: Event | None, space: Space) -> dict[int, Codes]:
    """Codes allowed of each variable that an event names, in the order of the event.

    Raises
    ------
    QueryError : a variable or level is unknown, or the event is not a mapping.
    """
    if event is None:
        return {}
    if not isinstance(event, Mapping):
        raise QueryError(f"an event is a dictionary such as {{'crime': 'y'}}, not {event!r}")
    codes: dict[int, Codes] = {}
    for name, levels in event.items():
        i = space.position(name)
        variable = space.variables[i]
        if isinstance(levels, _COLLECTIONS):
            codes[i] = tuple(sorted({code_of(variable, level) for level in levels}))
        else:
            codes[i] = (code_of(variable, levels),)
    return codes


def boxes_of(event: Event | str | None, space: Space) -> Boxes:
    """An event as disjoint boxes: a dictionary is one box, a text may be a union of several.

    Raises
    ------
    QueryError : as :func:`codes_of`, or the text cannot be read.
    """
    return parse_event(event, space) if isinstance(event, str) else (codes_of(event, space),)


IMPOSSIBLE = -600.0
"""How much less likely than under the uniform distribution an impossible event is at least, in nats: where weights went
to infinity, excluded states are. Rows of a thousand columns are all improbable, and none is impossible for that."""


def log_uniform(event: Mapping[int, Codes], space: Space) -> float:
    """Log-probability of an event under the uniform distribution."""
    return sum(math.log(max(len(codes), 1) / space.cards[i]) for i, codes in event.items())


def log_uniform_rows(rows: Ints, cards: Sequence[int]) -> Array:
    """The same of what rows (m, n) say, -1 where a cell is not observed."""
    return -np.asarray((rows >= 0) @ np.log(np.array(cards)))


def check_possible(given: Mapping[int, Codes], space: Space) -> None:
    """Refuse to condition on an event that names no level."""
    for i, codes in given.items():
        if not codes:
            raise QueryError(
                f"the condition leaves no level of {space.names[i]!r}; no question can be answered given it"
            )


def check_probable(log_prob: float, condition: str, uniform: float = 0.0) -> None:
    """Refuse to condition on an event that the model excludes: what would follow from it is rounding.

    Parameters
    ----------
    uniform : log-probability of the event under the uniform distribution.

    Raises
    ------
    QueryError : the log-probability is lower by more than -:data:`IMPOSSIBLE`.
    """
    if log_prob < IMPOSSIBLE + uniform:
        raise QueryError(
            f"{condition} has probability 0 under this model (log-probability {log_prob:.4g}), and nothing can be "
            "asked given it; a model fitted with a penalty, l2=, excludes nothing"
        )


def in_words(event: Mapping[int, Codes], space: Space) -> str:
    """An event as ``a=y, b in {n, y}``."""
    return ", ".join(levels_in_words(space.variables[i], codes) for i, codes in event.items())


def named(box: Box, space: Space) -> dict[str, list[Level]]:
    """A box as a dictionary of levels by name."""
    chosen = [(space.variables[i], codes) for i, codes in box.items()]
    return {variable.name: [variable.levels[x] for x in codes] for variable, codes in chosen}


def positions(variables: Any, space: Space) -> tuple[int, ...]:
    """Positions of one name or several.

    Raises
    ------
    QueryError : a name is unknown or is listed twice, or there is none.
    """
    names: Sequence[str] = (variables,) if isinstance(variables, str) else tuple(variables)
    found = tuple(space.position(name) for name in names)
    if not found:
        raise QueryError("at least one variable is needed")
    if len(set(found)) != len(found):
        raise QueryError(f"a variable is listed twice in {list(names)!r}")
    return found
