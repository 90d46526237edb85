"""What is known, as people write it: a dictionary, or a text such as ``crime=y, education in {n, y}``."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fullspan.data.space import Level, Variable
from fullspan.errors import FullspanError, QueryError

if TYPE_CHECKING:
    from fullspan.data.space import Space

Evidence = Mapping[str, Any] | str | None
"""``{"crime": "n"}`` (a list of levels means any of them), a text, or nothing."""


def event_of(evidence: Evidence, space: Space) -> Mapping[str, Any] | None:
    """The evidence as a dictionary.

    Raises
    ------
    QueryError : the text cannot be read, asks for something, or joins events of different variables by "or".

    Examples
    --------
    >>> from fullspan.data.space import Space
    >>> event_of("x0=1, x1 != 0", Space.of_cards([2, 3]))
    {'x0': [1], 'x1': [1, 2]}
    """
    if not isinstance(evidence, str):
        return evidence
    from fullspan.query.language.events import named
    from fullspan.query.language.parse import parse_event

    boxes = parse_event(evidence, space)
    if len(boxes) != 1:
        raise QueryError(
            f"{evidence!r} is not a set of levels for each variable; 'or' across variables is for probabilities, "
            "conditionals, entropies and modes"
        )
    return named(boxes[0], space)


Hidden = int | Sequence[str] | Mapping[str, Sequence[Level]]
"""``3``: binary h1, h2, h3; ``["mood"]``: binary; ``{"class": ["low", "middle", "high"]}``."""
_WAYS = "give a number of binary units, a list of names, or {name: levels}"


def hidden_variables(hidden: Any) -> tuple[Variable, ...]:
    """The variables of ``hidden=``: a number of binary units h1, h2, ..., names of binary ones, or ``{name: levels}``.

    Raises
    ------
    FullspanError : it is none of these, or a variable has fewer than two levels.

    Examples
    --------
    >>> [(v.name, v.levels) for v in hidden_variables(2)]
    [('h1', (0, 1)), ('h2', (0, 1))]
    >>> hidden_variables({"class": ["a", "b", "c"]})[0].levels
    ('a', 'b', 'c')
    """
    if isinstance(hidden, Mapping):
        return tuple(_variable(name, levels) for name, levels in hidden.items())
    if isinstance(hidden, numbers.Integral) and not isinstance(hidden, bool) and int(hidden) >= 0:
        return tuple(Variable(f"h{i + 1}", (0, 1)) for i in range(int(hidden)))
    if isinstance(hidden, Iterable) and not isinstance(hidden, str | bytes):
        names = list(hidden)
        for name in names:
            if names.count(name) > 1:
                raise FullspanError(f"hidden names {name!r} twice; every hidden variable needs a name of its own")
        return tuple(_variable(name, (0, 1)) for name in names)
    raise FullspanError(f"hidden is {hidden!r}; {_WAYS}")


def _variable(name: Any, levels: Any) -> Variable:
    if not isinstance(name, str):
        raise FullspanError(f"hidden names {name!r}, which is not text; {_WAYS}")
    if isinstance(levels, str | bytes) or not isinstance(levels, Iterable):
        raise FullspanError(f"the levels of the hidden variable {name!r} are {levels!r}; a list of levels is needed")
    listed = tuple(levels)
    if len(listed) < 2:
        raise FullspanError(f"the hidden variable {name!r} has {len(listed)} level; two or more are needed")
    return Variable(name, listed)
