"""Bins that a question cuts: how finely it sees each variable, and how its events are summed.

A bound inside a bin cuts it into pieces. The model says how probable the bin is together with all else, and the data
inside the bin say which share s of it a piece has; given the bin, the piece is independent of the other variables:

    P(piece of b, rest) = s P(b, rest)

Events are read as boxes of pieces, so that ``and``, ``or`` and ``not`` of two bounds on the same column are those of
intervals. For the sums each box becomes boxes of whole levels with a weight, the product of the shares of what is cut.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from fullspan.data.space import Space, Variable
from fullspan.errors import QueryError
from fullspan.query.language.boxes import MAX_BOXES, Box, Boxes, Codes

Weighed = tuple[tuple[float, Box], ...]
"""Boxes of whole levels, and the share of each that belongs to an event."""


class CutNeeded(Exception):
    """A bound lies inside a bin: the reading begins anew with the bin cut there, or stops with the message."""

    def __init__(self, bound: float, message: str) -> None:
        super().__init__(message)
        self.bound = bound


class Piece(NamedTuple):
    """Part of a bin, or a whole level: its code in the model, and its share of that."""

    code: int
    share: float


@dataclass(frozen=True)
class Cuts:
    """The pieces that a question sees: the levels of each variable, with some bins cut.

    Attributes
    ----------
    bounds : by position, where bins are cut: each bound begins a piece. "More than 50" begins at the next number.
    """

    space: Space
    bounds: Mapping[int, tuple[float, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.bounds)

    def finer(self, i: int, bound: float) -> Cuts:
        """The same with one cut more."""
        return Cuts(self.space, {**self.bounds, i: tuple(sorted({*self.bounds.get(i, ()), bound}))})

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """Pieces of each variable."""
        cards = list(self.space.cards)
        for i, bounds in self.bounds.items():
            cards[i] += len(bounds)
        return tuple(cards)

    def steps(self, i: int) -> list[float]:
        """Where the pieces of a binned variable begin, but for the first one."""
        return sorted([*(self.space.variables[i].edges or ())[1:-1], *self.bounds.get(i, ())])

    @cached_property
    def _pieces(self) -> dict[int, list[Piece]]:
        return {i: list(_pieces(self.space.variables[i], bounds)) for i, bounds in self.bounds.items()}

    def of_levels(self, i: int, codes: Sequence[int]) -> Codes:
        """All pieces of some levels."""
        if i not in self.bounds:
            return tuple(codes)
        return tuple(k for k, piece in enumerate(self._pieces[i]) if piece.code in codes)

    def of_boxes(self, boxes: Boxes) -> Boxes:
        """Boxes of levels as boxes of pieces."""
        return tuple({i: self.of_levels(i, codes) for i, codes in box.items()} for box in boxes)

    def weighed(self, boxes: Boxes) -> Weighed:
        """Boxes of pieces as weighted boxes of levels; what has no share is left out.

        Raises
        ------
        QueryError : there are more than :data:`~fullspan.query.language.boxes.MAX_BOXES`.
        """
        found = [part for box in boxes for part in self._weighed(box)]
        if len(found) > MAX_BOXES:
            raise QueryError(
                f"the cut bins split the event into {len(found)} pieces; at most {MAX_BOXES} are summed: "
                "use edges of the bins as bounds"
            )
        return tuple(found)

    def _weighed(self, box: Box) -> Iterator[tuple[float, Box]]:
        parts = [self._shares(i, codes) for i, codes in box.items()]
        # One more than are allowed shows that they are too many; all of them might never end.
        for chosen in itertools.islice(itertools.product(*parts), MAX_BOXES + 1):
            weight = math.prod(share for share, _ in chosen)
            yield weight, {i: codes for i, (_, codes) in zip(box, chosen, strict=True)}

    def _shares(self, i: int, codes: Codes) -> list[tuple[float, Codes]]:
        """The levels that pieces belong to, those of which all is there together, and the share of each other one."""
        if i not in self.bounds:
            return [(1.0, codes)] if codes else []
        whole: list[int] = []
        cut: list[tuple[float, Codes]] = []
        pieces = self._pieces[i]
        for code, own in itertools.groupby(range(len(pieces)), key=lambda k: pieces[k].code):
            listed = list(own)
            inside = [k for k in listed if k in codes]
            # A bin of which all pieces are asked for is a level like any other.
            if len(inside) == len(listed):
                whole.append(code)
            elif (share := math.fsum(pieces[k].share for k in inside)) > 0:
                cut.append((share, (code,)))
        return ([(1.0, tuple(whole))] if whole else []) + cut

    def sentences(self) -> tuple[str, ...]:
        """What is cut, and how, one sentence for each bound."""
        return tuple(
            _sentence(self.space.variables[i], bound) for i, bounds in sorted(self.bounds.items()) for bound in bounds
        )


INDEPENDENT = "inside a cut bin, the position is taken to be independent of all other columns"
"""What an answer that cuts bins assumes."""


def may_be_cut(variable: Variable, bound: float) -> bool:
    """Whether it is known how the rows of the bin around a bound are spread."""
    return variable.contents is not None and variable.contents[_bin(variable, bound)].is_counted


def _bin(variable: Variable, bound: float) -> int:
    return bisect.bisect_right((variable.edges or ())[1:-1], bound)


def _pieces(variable: Variable, bounds: Sequence[float]) -> Iterator[Piece]:
    contents = variable.contents or ()
    for code in range(variable.card):
        inside = [b for b in bounds if code < variable.n_bins and _bin(variable, b) == code]
        below = [0.0, *(contents[code].share_below(b) for b in inside), 1.0]
        yield from (Piece(code, b - a) for a, b in itertools.pairwise(below))


def _sentence(variable: Variable, bound: float) -> str:
    code = _bin(variable, bound)
    inside = (variable.contents or ())[code]
    share, error = 1.0 - inside.share_below(bound), inside.error_below(bound)
    shown, sign = as_asked(variable, bound)
    about = (
        f"{100 * share:.4g} %" if not error else f"about {100 * share:.3g} % (to {max(100 * error, 0.1):.1f} points)"
    )
    return (
        f"{variable.name}: {about} of the rows in the bin {variable.levels[code]} have {variable.name} {sign} {shown}"
    )


def as_asked(variable: Variable, bound: float) -> tuple[str, str]:
    """A cut as people write it, ``("50", ">=")``, or ``("50", ">")`` where it begins at the next number after 50."""
    # "> 50" is held as ">= the next number after 50": the shorter of the two spellings is what a person wrote.
    before = math.nextafter(bound, -math.inf)
    if len(repr(before)) < len(repr(bound)):
        return f"{before:.15g}", ">"
    return f"{bound:.15g}", ">="
