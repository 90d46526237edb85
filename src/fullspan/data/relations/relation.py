"""A relation: rows that stay where they are, asked by queries.

Everything the data layer wants from a table is in the protocol :class:`Relation`. DuckDB answers for files and
frames (:mod:`fullspan.data.relations.duck`), Ibis for tables elsewhere (:mod:`fullspan.data.relations.ibis_table`).
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from fullspan.data.relations.columns import Column, Extent, Key, Marks
from fullspan.data.space import Variable
from fullspan.errors import DataError

BATCH_ROWS = 1 << 18
"""Rows per Arrow batch fetched; bounds what sits in Python at once."""

EXAMPLES = 20
"""Values looked at to tell dates from other text."""

NOT_A_NUMBER, INFINITE = -1, -2
"""Bin codes of cells that no bin can take: text that is no number, and an infinite number."""


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

    def runs(self, key: Key, weight: Column | None) -> list[tuple[int, float, float, float]]:
        """Bin code, least and greatest value and weight of the runs of values that each bin of a column keeps.

        Rows count once, or with their weight. See :mod:`fullspan.data.contents`.
        """

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


def checked_names(names: list[str]) -> list[str]:
    """The names themselves.

    Raises
    ------
    DataError : a name is empty or used twice, or there is none.
    """
    if not names:
        raise DataError("the table has no columns")
    for name in names:
        if any("\ud800" <= c <= "\udfff" for c in name):
            raise DataError(f"the column name {name!r} holds half of a surrogate pair, which is not text; rename it")
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if "" in names:
        raise DataError(f"column {names.index('') + 1} has no name; a header line with a name for each is expected")
    if twice:
        raise DataError(f"the table has several columns named {', '.join(map(repr, twice))}; rename them")
    return names


def number_marks(marks: frozenset[str]) -> list[float]:
    """The marks for missing cells that are finite numbers."""
    numbers = []
    for mark in sorted(marks):
        with contextlib.suppress(ValueError):
            numbers.append(float(mark))
    return [number for number in numbers if math.isfinite(number)]
