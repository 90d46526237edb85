"""Columns of a relation: what they hold, how they are asked for, and their range."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fullspan.data.space import Level, Variable, did_you_mean
from fullspan.errors import DataError


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


NaValues = Iterable[Any] | Mapping[str, Iterable[Any]] | None
"""Texts that mean a missing cell, for all columns or ``{column: texts}``; None for the usual ones."""

MISSING_MARKS: frozenset[str] = frozenset(["", "?", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "null", "NULL", "None"])
"""Texts that mean "no value" in a CSV or TSV cell. Other formats have a null of their own."""

WORDS = frozenset(["NA", "N/A", "n/a", "None", "null", "NULL"])
"""Those of them that may as well be a level: "none", "not applicable", the country NA."""


@dataclass(frozen=True)
class Marks:
    """The texts that mean a missing cell in each column of a table; ``usual`` where nobody has listed any."""

    usual: frozenset[str] = frozenset()
    listed: frozenset[str] | None = None
    by_column: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def replaced(self, na_values: NaValues) -> Marks:
        """The marks with those that a person lists.

        Raises
        ------
        DataError : ``na_values`` is a single text, or no list.
        """
        if na_values is None:
            return self
        if isinstance(na_values, Mapping):
            return Marks(self.usual, None, {str(name): _texts(texts) for name, texts in na_values.items()})
        return Marks(self.usual, _texts(na_values))

    def of(self, column: Column) -> frozenset[str]:
        """The texts of a column. An empty cell of a CSV file is missing whatever is listed."""
        texts = self.by_column.get(column.name, self.usual if self.listed is None else self.listed)
        return texts | {""} if column.kind == "raw" else texts

    def is_usual(self, column: Column) -> bool:
        """Whether nobody has listed texts for the column."""
        return self.listed is None and column.name not in self.by_column


_MOST_SHOWN = 12
"""Names of columns in a message."""


def _texts(values: Iterable[Any]) -> frozenset[str]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise DataError(f"na_values lists {values!r}; give a list of texts, [{values!r}], or one per column")
    return frozenset(plain_texts(values))


def plain_texts(values: Iterable[Any]) -> list[str]:
    """What a list of marks means, as texts in order, each once: 99.0 means "99.0" and "99"."""
    found: dict[str, None] = {}
    for value in values:
        if value is None:
            continue
        found[str(value).strip()] = None
        if isinstance(value, float) and value.is_integer():
            found[str(int(value))] = None
    return list(found)


def shortened(names: Sequence[str]) -> str:
    """The first names of a list."""
    return ", ".join(names[:_MOST_SHOWN]) + (", ..." if len(names) > _MOST_SHOWN else "")


def check_names(na_values: NaValues, columns: Sequence[str]) -> None:
    """Refuse marks for a column that the table does not have: it is a slip, and would change nothing.

    Raises
    ------
    DataError : with the names that are near.
    """
    if not isinstance(na_values, Mapping):
        return
    for name in map(str, na_values):
        if name not in columns:
            raise DataError(
                f"na_values lists texts for {name!r}, which is not a column of the table{did_you_mean(name, columns)}; "
                f"its columns are: {shortened(columns)}"
            )
