"""A relation: rows that stay where they are, asked by queries.

Everything the data layer wants from a table is in the protocol :class:`Relation`. DuckDB answers for files and
frames (:mod:`fullspan.data.relations.duck`), Ibis for tables elsewhere (:mod:`fullspan.data.relations.ibis_table`).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fullspan.data.marks import Marks
from fullspan.data.space import Level, Variable

BATCH_ROWS = 1 << 18
"""Rows per Arrow batch fetched; bounds what sits in Python at once."""

EXAMPLES = 20
"""Values looked at to tell dates from other text."""

NOT_A_NUMBER, INFINITE = -1, -2
"""Bin codes of cells that no bin can take: text that is no number, and an infinite number."""


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


class Relation(Protocol):
    """The questions asked of a table. Batches hold columns ``k0, k1, ...`` in the order of the keys."""

    @property
    def columns(self) -> tuple[Column, ...]: ...

    @property
    def named(self) -> bool: ...

    @property
    def marks(self) -> Marks:
        """Texts that mean a missing cell."""

    @property
    def large(self) -> bool:
        """Whether a look at the first rows is worth its time."""

    def rows(self, keys: Sequence[Key]) -> Iterator[Any]:
        """Arrow batches of all rows, in order."""

    def groups(self, keys: Sequence[Key], weight: Column | None) -> Iterator[Any]:
        """Arrow batches of the distinct rows, with ``n`` rows, ``w`` summed weight, ``bad`` weights."""

    def extents(self, columns: Sequence[Column]) -> list[Extent]:
        """Range and number of distinct values of numeric columns, in one pass."""

    def quantiles(self, column: Column, probabilities: Sequence[float]) -> list[float]:
        """Interpolated quantiles of the finite values."""

    def bin_values(self, key: Key, probabilities: Sequence[float]) -> dict[int, list[float]]:
        """By bin code, values of a binned column at about these quantiles of its data; in one pass."""

    def neighbours(self, column: Column, low: float, high: float) -> tuple[float, float]:
        """The least value above ``low`` and the greatest below ``high``."""

    def distinct(self, columns: Sequence[Column], head: int | None = None) -> list[int]:
        """Number of distinct values of each column, of the first ``head`` rows if given."""

    def bad_weight(self, weight: Column) -> tuple[int | None, Any]:
        """Row number (from 1) and value of the first weight that is no finite non-negative number."""

    def example(self, column: Column, variable: Variable, code: int) -> Any:
        """A value of the column whose bin code is ``code``."""

    def n_rows(self) -> int: ...

    def renamed(self, names: Sequence[str]) -> Relation: ...

    def restricted(self, names: Sequence[str]) -> Relation: ...

    def marked(self, marks: Marks) -> Relation:
        """The same rows with other texts for missing cells."""

    def missing_texts(self, column: Column) -> dict[str, int]:
        """How many cells of a column hold each of the texts for missing cells; "" for empty cells."""

    def infinite(self, column: Column) -> Any:
        """A cell of a numeric column that is infinite, or beyond all finite numbers."""

    def some(self, column: Column) -> list[Any]:
        """A few values of a column."""

    def close(self) -> None: ...


def number_marks(marks: frozenset[str]) -> list[float]:
    """The marks for missing cells that are finite numbers."""
    numbers = []
    for mark in sorted(marks):
        with contextlib.suppress(ValueError):
            numbers.append(float(mark))
    return [number for number in numbers if math.isfinite(number)]
