"""The table of chosen terms, as people read it: in words, strongest first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from textwrap import wrap
from typing import TYPE_CHECKING, Any, overload

from fullspan.display import html_table
from fullspan.model.effects.interaction import by_nats
from fullspan.pictures.legend import LIGHT, ROLES

if TYPE_CHECKING:
    from fullspan.model.fitted import Fitted

SHOWN_TERMS = 20
"""Rows that ``repr`` prints."""
HEADINGS = ("term", "order", "weight", "std. error", "nats saved")
AVERAGED_HEADINGS = ("term", "order", "chosen", "weight", "spread", "nats saved")
"""Of one fit, and of an average of fits."""


@dataclass(frozen=True)
class TermRow:
    """One chosen term.

    Attributes
    ----------
    words : what the term says, in words.
    variables : the names of the variables it joins.
    order : how many they are.
    weight, standard_error : its natural parameter theta, infinite where the likelihood has no finite maximum, and the
        error of that; NaN where the data do not determine it.
    nats_saved : log-likelihood that the data lose, in total, if it is dropped and all else refitted.
    approximate : whether that is an approximation; printed as ``~12.3``.
    direction : +1 where the words of a pair say "goes with", -1 where "against", 0 for other orders.
    chosen : share of the fits of an average that have the term. ``weight`` is then the mean over these fits,
        ``standard_error`` the spread (standard deviation) between them, and ``nats_saved`` the mean over all fits.
    """

    words: str
    variables: tuple[str, ...]
    order: int
    weight: float
    standard_error: float
    nats_saved: float
    chosen: float = 1.0
    approximate: bool = False
    direction: int = 0

    @property
    def size(self) -> float:
        """The weight without its sign."""
        return abs(self.weight)


def nats_text(nats: float, approximate: bool) -> str:
    """Nats as tables show them, an approximation marked by a tilde."""
    if math.isnan(nats):  # averages with hidden variables, for instance: nothing is refitted
        return "not computed"
    return f"{'~' if approximate else ''}{round(nats, 1) + 0.0:.1f}"


class TermTable(Sequence[TermRow]):
    """Rows of :class:`TermRow`, most nats saved first; prints as an aligned table.

    >>> row = TermRow("crime=y goes with salvador=y", ("crime", "salvador"), 2, 0.41, 0.06, 30.2)
    >>> TermTable([row])
    term                          order  weight  std. error  nats saved
    crime=y goes with salvador=y      2   0.410       0.060        30.2
    """

    def __init__(
        self, rows: Sequence[TermRow] | Callable[[], Sequence[TermRow]], headings: tuple[str, ...] = HEADINGS
    ) -> None:
        self._given, self.headings = rows, headings

    @cached_property
    def _rows(self) -> tuple[TermRow, ...]:
        """The rows; those of a large model are put into words when somebody looks."""
        return tuple(self._given() if callable(self._given) else self._given)

    def __reduce__(self) -> tuple[Any, ...]:
        return TermTable, (self._rows, self.headings)

    @classmethod
    def of(cls, fitted: Fitted) -> TermTable:
        """The terms of a fitted model."""
        averaged = fitted.kind == "averaged"
        return cls(lambda: _rows_of(fitted), AVERAGED_HEADINGS if averaged else HEADINGS)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[TermRow]:
        return iter(self._rows)

    @overload
    def __getitem__(self, item: int) -> TermRow: ...
    @overload
    def __getitem__(self, item: slice) -> TermTable: ...
    def __getitem__(self, item: int | slice) -> TermRow | TermTable:
        return TermTable(self._rows[item], self.headings) if isinstance(item, slice) else self._rows[item]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Plain dictionaries, as JSON holds them."""
        rows = [asdict(row) | {"variables": list(row.variables)} for row in self]
        return [{name: row[name] for name in self._columns} for row in rows]

    @property
    def _columns(self) -> list[str]:
        """Names of the columns; how often a term was chosen is one of an average alone."""
        columns = ["words", "variables", "order", "weight", "standard_error", "nats_saved", "approximate"]
        return [*columns, "chosen"] if self.headings == AVERAGED_HEADINGS else columns

    def to_pandas(self) -> Any:
        """A pandas DataFrame with one row per term."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self], columns=self._columns)

    def cells(self) -> list[tuple[str, ...]]:
        """The rows as text, column by column as ``headings`` names them."""
        chosen = (lambda row: (f"{row.chosen:.0%}",)) if self.headings == AVERAGED_HEADINGS else (lambda row: ())
        return [
            (
                *(row.words, str(row.order), *chosen(row)),
                *(f"{row.weight:.3f}", f"{row.standard_error:.3f}", nats_text(row.nats_saved, row.approximate)),
            )
            for row in self
        ]

    def __repr__(self) -> str:
        lines = aligned([self.headings, *self[:SHOWN_TERMS].cells()])
        return "\n".join([*lines, *self._rest()])

    def _rest(self) -> list[str]:
        return [f"... and {len(self) - SHOWN_TERMS} more"] if len(self) > SHOWN_TERMS else []

    def _repr_html_(self) -> str:
        shown = self[:SHOWN_TERMS]
        top = max((row.nats_saved for row in self if row.nats_saved < math.inf), default=0.0) or 1.0
        bars = [row.nats_saved / top if row.nats_saved < math.inf else 0.0 for row in shown]
        colours = [LIGHT[ROLES[row.direction]] for row in shown]
        return html_table(self.headings, shown.cells(), notes=self._rest(), bars=bars, colours=colours)


def _rows_of(fitted: Fitted) -> list[TermRow]:
    model = fitted.model
    names, weights = model.space.names, fitted.weights
    chosen = model.chosen
    rows = [
        TermRow(
            fitted.describe(k),
            tuple(names[i] for i, _ in term),
            len(term),
            float(weights[k]),
            float(fitted.standard_errors[k]),
            float(fitted.nats_saved[k]),
            float(chosen[k]),
            bool(fitted.is_approximate[k]),
            fitted.direction(k),
        )
        for k, term in enumerate(model.terms)
    ]
    return sorted(rows, key=by_nats)


def folded(rows: Sequence[Sequence[str]], width: int) -> list[tuple[str, ...]]:
    """The rows with their first column wrapped, so that an aligned line has at most ``width`` characters.

    Words are not broken: a row with a very long one stays longer.
    """
    others = sum(2 + max(map(len, column)) for column in list(zip(*rows, strict=True))[1:])
    lines: list[tuple[str, ...]] = []
    for first, *rest in rows:
        room = max(width - others, width // 2)
        head, *more = wrap(first, room, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) or [""]
        lines += [(head, *rest), *((line, *("" for _ in rest)) for line in more)]
    return lines


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a text table: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if j == 0 else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
