"""What is known, as people write it: a dictionary, or a text such as ``crime=y, education in {n, y}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fullspan.errors import QueryError

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
            f"{evidence!r} is no set of levels for each variable; 'or' across variables is for probabilities, "
            "conditionals, entropies and modes"
        )
    return named(boxes[0], space)
