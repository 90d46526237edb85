"""Events as disjoint unions of boxes: products of one set of codes per variable.

    A and B = { a ∩ b },    not A = all \\ A,    A or B = A ∪ (B \\ A)

Every exact method sums over one box, so that the probability of a disjoint union is a sum of its answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fullspan.errors import QueryError

Codes = tuple[int, ...]
"""Codes of one variable, increasing."""
Box = Mapping[int, Codes]
"""Codes allowed by variable; a variable left out is free."""
Boxes = tuple[Box, ...]
"""Disjoint boxes; none is the impossible event."""

MAX_BOXES = 256
"""Most boxes of one event: each costs a sum over the model."""
EVERYTHING: Boxes = ({},)


def both(first: Box, second: Box) -> dict[int, Codes]:
    """The event that both happen; a variable whose codes contradict each other gets none."""
    met = dict(first)
    for i, codes in second.items():
        met[i] = tuple(x for x in codes if x in met[i]) if i in met else codes
    return met


def intersection(first: Boxes, second: Boxes) -> Boxes:
    """Where both hold.

    Raises
    ------
    QueryError : it has more than :data:`MAX_BOXES` boxes.
    """
    if len(first) == len(second) == 1:
        return (both(first[0], second[0]),)  # kept if empty, so that an error can name the variable
    return _checked([met for a in first for b in second if all((met := both(a, b)).values())])


def union(first: Boxes, second: Boxes, cards: Sequence[int]) -> Boxes:
    """Where one of them holds, or both: the first, and what of the second lies outside it.

    Raises
    ------
    QueryError : it has more than :data:`MAX_BOXES` boxes.
    """
    merged = _merged(first, second)
    return merged if merged is not None else _checked([*first, *difference(second, first, cards)])


def complement(boxes: Boxes, cards: Sequence[int]) -> Boxes:
    """Where none of the boxes holds."""
    return difference(EVERYTHING, boxes, cards)


def difference(boxes: Boxes, removed: Boxes, cards: Sequence[int]) -> Boxes:
    """The part of some boxes outside others.

    Raises
    ------
    QueryError : it has more than :data:`MAX_BOXES` boxes.
    """
    left = list(boxes)
    for box in removed:
        left = [part for one in left for part in _without(one, box, cards)]
        _checked(left)
    return tuple(left)


def hull(boxes: Boxes) -> dict[int, Codes]:
    """The smallest box that holds all the boxes."""
    first, *others = boxes
    shared = [i for i in first if all(i in box for box in others)]
    return {i: tuple(sorted({x for box in boxes for x in box[i]})) for i in shared}


def _without(box: Box, removed: Box, cards: Sequence[int]) -> list[Box]:
    """``box \\ removed``: one part for each variable, in which the variables before it agree with both."""
    if not all(both(box, removed).values()):
        return [box]
    parts: list[Box] = []
    rest = dict(box)
    for i, codes in removed.items():
        own = rest.get(i, tuple(range(cards[i])))
        outside = tuple(x for x in own if x not in codes)
        if outside:
            parts.append({**rest, i: outside})
        rest[i] = tuple(x for x in own if x in codes)
    return parts


def _merged(first: Boxes, second: Boxes) -> Boxes | None:
    """The union of two boxes of one and the same variable, which is a box; None for others."""
    if len(first) == len(second) == 1 and len(first[0]) == 1 and first[0].keys() == second[0].keys():
        ((i, codes),) = first[0].items()
        return ({i: tuple(sorted({*codes, *second[0][i]}))},)
    return None


def _checked(boxes: list[Box]) -> Boxes:
    if len(boxes) > MAX_BOXES:
        raise QueryError(
            f"the event splits into more than {MAX_BOXES} disjoint pieces, each of which is summed on its own; ask for "
            "fewer alternatives at once, or for the complement"
        )
    return tuple(boxes)
