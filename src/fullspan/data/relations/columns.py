"""Columns of a relation: what they hold, how they are asked for, and their range."""

from __future__ import annotations

from dataclasses import dataclass

from fullspan.data.space import Level, Variable


@dataclass(frozen=True)
class Column:
    """A column of a relation.

    ``kind`` is one of ``bool, int, float, text``, ``decimal`` (exact numbers, handed over as text), ``raw`` (text of a
    CSV cell whose type is not decided yet), ``date`` (read as text) and ``nested``. ``levels`` are those a categorical
    column declares, and ``ordered`` says whether their order has a meaning. ``key`` is the name the backend knows the
    column by. ``rounded`` says that its reader rounds whole numbers beyond 2^53.
    """

    name: str
    key: str
    kind: str
    levels: tuple[Level, ...] | None = None
    ordered: bool = False
    rounded: bool = False

    @property
    def is_number(self) -> bool:
        return self.kind in ("int", "float", "decimal")

    @property
    def is_text(self) -> bool:
        return self.kind in ("text", "raw")


@dataclass(frozen=True)
class Key:
    """A column to read: its raw values, or its bin codes if a binned ``variable`` is given."""

    column: Column
    variable: Variable | None = None


@dataclass(frozen=True)
class Extent:
    """What binning needs to know of a numeric column; ``n_distinct`` counts finite values.

    ``n_bad`` cells are no numbers, ``n_padded`` cells begin with a zero that a number would lose.
    """

    low: float | None
    high: float | None
    n_distinct: int
    n_bad: int = 0
    n_padded: int = 0
    n_infinite: int = 0
