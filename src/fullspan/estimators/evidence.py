"""What is known, as people write it: a dictionary, or a text such as ``crime=y, education in {n, y}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fullspan.errors import QueryError

if TYPE_CHECKING:
    from fullspan.space import Space

Evidence = Mapping[str, Any] | str | None
"""``{"crime": "n"}`` (a list of levels means any of them), a text, or nothing."""


def event_of(evidence: Evidence, space: Space) -> Mapping[str, Any] | None:
    """The evidence as a dictionary.

    Raises
    ------
    QueryError : the text cannot be read, or asks instead of tells.

    Examples
    --------
    >>> from fullspan.space import Space
    >>> event_of("x0=1, x1 != 0", Space.of_cards([2, 3]))
    {'x0': [1], 'x1': [1, 2]}
    """
    if not isinstance(evidence, str):
        return evidence
    from fullspan.query.parse import parse

    query = parse(evidence, space)
    if query.variables or query.given:
        raise QueryError(f"{evidence!r} is no evidence; write for example 'crime=y, education=n'")
    chosen = {space.variables[i]: codes for i, codes in query.event.items()}
    return {v.name: [v.levels[c] for c in codes] for v, codes in chosen.items()}
