"""Probabilities of events and tables of them: look-ups in the dual table where these are precise enough, else sums."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.errors import QueryError
from fullspan.query.events import Event, both, check_possible, codes_of, positions
from fullspan.query.information import Information
from fullspan.query.parse import Codes, Query, parse
from fullspan.query.result import Table
from fullspan.query.rows import FLOOR

Array = NDArray[np.float64]
Names = str | Sequence[str]
LOOK_UPS = 1 << 12
"""Cells of a marginal up to which it is looked up."""


class Probabilities(Information):
    """What is asked of a model in words and events; a subclass has the model, its table and its sums."""

    @abstractmethod
    def check_condition(self, given: Mapping[int, Codes], log_sum: float) -> None:
        """Refuse a condition whose log weight says that its probability is 0."""

    def ask(self, text: str) -> float | Table:
        """Answer a question in words, ``P(A=a | B=b)``: a number, or a table if a variable stands without a level.

        In a table, cells are joint with the other events on the left: ``P(A, B=b)`` has one cell per level of A.
        """
        query = parse(text, self.model.space)
        if query.variables:
            return self._named(query.variables, self.cells(query.variables, query.event, query.given))
        return self._probability(query.event, query.given)

    def probability(self, event: str | Event, given: Event | None = None) -> float:
        """``P(event | given)``; the event may be a question in words that asks for one number.

        Raises
        ------
        QueryError : a name or level is unknown, or the condition is empty.
        """
        if isinstance(event, str):
            query = self._number_query(event, given)
            return self._probability(query.event, query.given)
        return self._probability(codes_of(event, self.model.space), codes_of(given, self.model.space))

    def _number_query(self, text: str, given: Event | None) -> Query:
        query = parse(text, self.model.space)
        if query.variables:
            name = self.model.space.names[query.variables[0]]
            raise QueryError(f"{name!r} stands without a level, which asks for a table: use conditional or ask")
        extra = codes_of(given, self.model.space)
        return Query((), query.event, both(query.given, extra)) if extra else query

    def _probability(self, event: Mapping[int, Codes], given: Mapping[int, Codes]) -> float:
        joint = both(given, event) if given else event
        if all(len(codes) == 1 for codes in (*joint.values(), *given.values())):
            found = self._cell(joint, given)
            if found is not None:
                return found
        return float(self.cells((), event, given))

    def _cell(self, joint: Mapping[int, Codes], given: Mapping[int, Codes]) -> float | None:
        """P(joint) / P(given) by look-up where one code is allowed each; None if that is not precise enough.

        ``joint`` lists the variables of ``given`` first, so that a condition is a slice of the marginal.
        """
        cards, place, size, slice_size, start = self.model.basis.cards, 0, 1, 1, 0
        for n, (i, codes) in enumerate(joint.items()):
            if n == len(given):
                slice_size, start = size, place
            place += size * codes[0]
            size *= cards[i]
        if len(joint) == len(given):
            slice_size, start = size, place
        if size > LOOK_UPS or self.table is None:
            return None
        marginal = self.table.marginal(tuple(joint))
        cell = float(marginal[place])
        condition = float(marginal[start::slice_size].sum()) if given else 1.0
        return min(cell / condition, 1.0) if cell >= FLOOR else None

    def conditional(self, variables: Names, given: Event | None = None) -> Table:
        """``P(variables | given)`` as a table with one axis per variable."""
        where = positions(variables, self.model.space)
        return self._named(where, self.cells(where, {}, codes_of(given, self.model.space)))

    def marginal(self, variables: Names) -> Table:
        """``P(variables)`` as a table with one axis per variable."""
        return self.conditional(variables)

    def _named(self, where: tuple[int, ...], values: Array) -> Table:
        chosen = [self.model.space.variables[i] for i in where]
        return Table(tuple(v.name for v in chosen), tuple(v.levels for v in chosen), values)

    def cells(
        self, where: tuple[int, ...], event: Mapping[int, Codes], given: Mapping[int, Codes], relative: bool = True
    ) -> Array:
        """``P(where, event | given)``, one axis per variable; ``relative`` asks for precision of each small cell."""
        check_possible(given, self.model.space)
        joint = both(given, event)
        if not all(joint.values()):
            return np.zeros([self.model.basis.cards[i] for i in where])
        found = self._looked_up(where, joint, given, relative)
        return self._summed(where, joint, given, bool(event)) if found is None else found

    def _looked_up(
        self, where: tuple[int, ...], joint: Mapping[int, Codes], given: Mapping[int, Codes], relative: bool
    ) -> Array | None:
        scope = (*where, *(i for i in joint if i not in where))
        cards = [self.model.basis.cards[i] for i in scope]
        if math.prod(cards) > LOOK_UPS or self.table is None:
            return None
        cube = self.table.marginal(scope).reshape(cards, order="F").clip(min=0.0)
        condition = float(_selected(cube, scope, given).sum()) if given else 1.0
        chosen = _selected(cube, scope, joint)
        cells: Array = chosen.sum(axis=tuple(range(len(where), len(scope))))
        if condition < FLOOR or (relative and cells.min() < FLOOR):
            return None
        out = np.zeros([self.model.basis.cards[i] for i in where])
        out[_open_mesh(out.shape, where, joint)] = np.minimum(cells / condition, 1.0)
        return out

    def _summed(
        self, where: tuple[int, ...], joint: Mapping[int, Codes], given: Mapping[int, Codes], event: bool
    ) -> Array:
        cells = self.elimination.log_sums(where, joint)
        norm = self.log_sum(given) if event or not where else float(np.logaddexp.reduce(cells, axis=None))
        self.check_condition(given, norm)
        return np.minimum(np.exp(cells - norm), 1.0)


def _open_mesh(shape: tuple[int, ...], scope: tuple[int, ...], allowed: Mapping[int, Codes]) -> tuple[Any, ...]:
    """Index of the cells that an event allows."""
    return np.ix_(*(allowed.get(i, range(card)) for i, card in zip(scope, shape, strict=True)))


def _selected(cube: Array, scope: tuple[int, ...], allowed: Mapping[int, Codes]) -> Array:
    return cube[_open_mesh(cube.shape, scope, allowed)] if scope else cube
