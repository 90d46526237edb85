"""Hints about columns that may not be what they were read as: counts, identifiers, words for "missing"."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fullspan.data.relations.columns import Column
from fullspan.data.relations.marks import WORDS
from fullspan.data.space import MISSING
from fullspan.data.tables.groups import Groups
from fullspan.data.tables.missing import Coded
from fullspan.data.tables.overfull import COUNT_NAMES
from fullspan.data.tables.scales import ordered_as
from fullspan.errors import DataWarning

LEAST_ROWS = 20
"""Rows from which on shares of cells say something about a column."""
SIZEABLE = 0.2
"""Share of the cells of a column from which on a word for "missing" may be a level."""
_PACKAGES = ("fullspan", "sklearn", "contextlib")
_KEY = re.compile(r"(.*_)?(id|nr|no|index|key)", re.IGNORECASE)
"""What people call a column that names its rows."""


def warn(found: Sequence[str]) -> None:
    """One :class:`DataWarning` for each hint."""
    for text in found:
        warnings.warn(text, DataWarning, stacklevel=1 + _own_calls())


def _own_calls() -> int:
    """Calls between the one that warns and the line outside the package that a person wrote."""
    n, frame = 0, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _PACKAGES:
        n, frame = n + 1, frame.f_back
    return n


def hints(
    groups: Groups,
    coded: Sequence[Coded],
    cells: Mapping[str, Mapping[str, int]],
    weight: Column | None,
    *,
    cut_all: bool = False,
) -> list[str]:
    """What a person should know about the columns as they were read; ``cut_all`` where one rule cut all of them."""
    n_rows = int(groups.rows.sum())
    found = [*_words(groups, cells, n_rows)]
    if weight is None and len(coded) > 1:
        found += _counts(groups, coded, n_rows)
        found += _identifiers(groups, coded, n_rows)
        if cut_all and n_rows >= LEAST_ROWS:
            found += _cut_identifiers(groups, n_rows)
    for column, c in zip(groups.columns, coded, strict=True):
        levels = [level for level in c.variable.levels if level != MISSING]
        if not c.variable.ordered and column.levels is None and (order := ordered_as(levels)):
            found.append(
                f"the levels of {c.variable.name!r} are sorted alphabetically: {', '.join(map(str, levels))}; if they "
                f"have an order, levels= gives it: {', '.join(order)}"
            )
    return found


def _words(groups: Groups, cells: Mapping[str, Mapping[str, int]], n_rows: int) -> Iterator[str]:
    for column in groups.columns:
        for text, n in cells.get(column.name, {}).items():
            is_common = n_rows >= LEAST_ROWS and n >= SIZEABLE * n_rows
            if is_common and text in WORDS and groups.relation.marks.is_usual(column):
                yield (
                    f"{n:,} of {n_rows:,} cells of {column.name!r} are {text!r} and are read as missing; if it is a "
                    "level, list the missing-value texts in na_values="
                )


def _counts(groups: Groups, coded: Sequence[Coded], n_rows: int) -> Iterator[str]:
    """Columns named and filled like counts, in a table whose rows differ without them."""
    for j, c in enumerate(coded):
        numbers = [v for v in c.variable.levels if isinstance(v, int) and not isinstance(v, bool)]
        if c.variable.name.casefold() not in COUNT_NAMES or len(numbers) < c.variable.card:
            continue
        others = np.stack([codes for k, codes in enumerate(groups.tokens.codes[: len(coded)]) if k != j], axis=1)
        if min(numbers) >= 0 and max(numbers) >= 2 and len(np.unique(others, axis=0)) == n_rows:
            yield (
                f"{c.variable.name!r} looks like the count of each row, and was read as a variable: its values are "
                f"whole numbers, and no other row has the same other cells; count_column={c.variable.name!r} reads it "
                "as counts"
            )


def _identifiers(groups: Groups, coded: Sequence[Coded], n_rows: int) -> Iterator[str]:
    for column, c in zip(groups.columns, coded, strict=True):
        is_inferred = column.name not in groups.given and column.levels is None
        is_name = not any(isinstance(level, float) for level in c.variable.levels)
        if is_inferred and is_name and n_rows >= LEAST_ROWS and c.variable.card == n_rows:
            yield (
                f"column {column.name!r} has a different value in each of the {n_rows} rows, as an identifier has; "
                "columns= leaves it out"
            )


def _cut_identifiers(groups: Groups, n_rows: int) -> Iterator[str]:
    """Columns of whole numbers, all different, that are named as an identifier or run through a range."""
    for column in groups.columns:
        edges = groups.given[column.name].edges if column.name in groups.given else None
        if edges is None or not (_KEY.fullmatch(column.name) or edges[-1] - edges[0] == n_rows - 1):
            continue
        if groups.relation.extents([column])[0].n_distinct < n_rows:
            continue
        if column.kind == "int" or all(float(v).is_integer() for v in groups.relation.some(column)):
            yield (
                f"column {column.name!r} has a different value in each of the {n_rows} rows, as an identifier has, and "
                "was cut into bins; columns= leaves it out"
            )
