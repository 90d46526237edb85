"""Questions that need nothing but tables of probabilities: in words, as events, conditionals and information.

A way of summing that fills :meth:`Questions.cells` answers all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fullspan.errors import QueryError
from fullspan.query.events import Event, both, check_possible, codes_of, positions
from fullspan.query.parse import Codes, parse
from fullspan.query.result import Table
from fullspan.space import Space

Array = NDArray[np.float64]
Names = str | Sequence[str]


class Questions(ABC):
    """Answers by tables ``P(where, event | given)`` over the variables of ``visible``."""

    visible: Space

    @abstractmethod
    def cells(self, where: tuple[int, ...], event: Mapping[int, Codes], given: Mapping[int, Codes]) -> Array:
        """``P(where, event | given)``, one axis per variable of ``where``."""

    def ask(self, text: str) -> float | Table:
        """Answer a question in words, ``P(A=a | B=b)``: a number, or a table if a variable stands without a level."""
        query = parse(text, self.visible)
        if query.variables:
            return self.named(query.variables, self.cells(query.variables, query.event, query.given))
        return float(self.cells((), query.event, query.given))

    def probability(self, event: str | Event, given: Event | None = None) -> float:
        """``P(event | given)``; the event may be a question in words that asks for one number.

        Raises
        ------
        QueryError : a name or level is unknown, or the condition is impossible.
        """
        condition = codes_of(given, self.visible)
        if not isinstance(event, str):
            return float(self.cells((), codes_of(event, self.visible), condition))
        query = parse(event, self.visible)
        if query.variables:
            name = self.visible.names[query.variables[0]]
            raise QueryError(f"{name!r} stands without a level, which asks for a table: use conditional")
        return float(self.cells((), query.event, both(query.given, condition)))

    def conditional(self, variables: Names, given: Event | None = None) -> Table:
        """``P(variables | given)`` as a table with one axis per variable."""
        where = positions(variables, self.visible)
        return self.named(where, self.cells(where, {}, codes_of(given, self.visible)))

    def marginal(self, variables: Names) -> Table:
        """``P(variables)`` as a table with one axis per variable."""
        return self.conditional(variables)

    def entropy(self, variables: Names | None = None, given: Event | Names | None = None) -> float:
        """``H(variables | given)`` in nats, given an event or other variables (by name)."""
        where = positions(self.visible.names if variables is None else variables, self.visible)
        if given is None or isinstance(given, Mapping):
            return self.entropy_of(where, codes_of(given, self.visible))
        other = positions(given, self.visible)
        return max(self.entropy_of(_union(where, other), {}) - self.entropy_of(other, {}), 0.0)

    def mutual_information(self, a: Names, b: Names, given: Event | Names | None = None) -> float:
        """``I(a; b | given)`` in nats, given nothing, an event, or other variables (by name); never negative."""
        left, right = positions(a, self.visible), positions(b, self.visible)
        event = codes_of(given, self.visible) if given is None or isinstance(given, Mapping) else {}
        other = () if given is None or isinstance(given, Mapping) else positions(given, self.visible)
        parts = [_union(left, other), _union(right, other), _union(_union(left, right), other), other]
        h = [self.entropy_of(part, event) if part else 0.0 for part in parts]
        return max(h[0] + h[1] - h[2] - h[3], 0.0)

    def entropy_of(self, where: tuple[int, ...], given: Mapping[int, Codes]) -> float:
        """Entropy of some variables by position, given an event."""
        p = self.cells(where, {}, given)
        return max(-float(np.sum(p * np.log(p, out=np.zeros_like(p), where=p > 0))), 0.0)

    def named(self, where: tuple[int, ...], values: Array) -> Table:
        """Values with the names and levels of their axes."""
        chosen = [self.visible.variables[i] for i in where]
        return Table(tuple(v.name for v in chosen), tuple(v.levels for v in chosen), values)

    def allowed(self, given: Event | None) -> dict[int, Codes]:
        """Codes that an event allows.

        Raises
        ------
        QueryError : it names no level of a variable, or an unknown one.
        """
        codes = codes_of(given, self.visible)
        check_possible(codes, self.visible)
        return codes


def _union(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return (*a, *(i for i in b if i not in a))
