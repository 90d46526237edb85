"""Columns with too many levels are refused, all at once: dates, identifiers, free text, numbers that were not cut."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fullspan.data.relations.columns import Column
from fullspan.data.relations.relation import Relation
from fullspan.data.tables.missing import MOST_SHOWN
from fullspan.errors import DataError

GUARD_ROWS = 50_000
"""Rows of a large table looked at before counting, to refuse a column that is no variable early."""
COUNT_NAMES = ("n", "count", "counts", "freq", "frequency")
"""What people call a column of counts, in any case."""
NAMING_SHARE = 0.95
"""Share of distinct cells from which on a column names its rows."""
_DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})\b.*")


def guard(relation: Relation, columns: Sequence[Column], max_levels: int) -> None:
    """Refuse a large table early if its first rows already show too many levels."""
    free = [c for c in columns if c.levels is None]
    if not relation.large or not free:
        return
    seen = relation.distinct(free, head=GUARD_ROWS)
    if any(n > max_levels + len(relation.marks.of(c)) + 1 for c, n in zip(free, seen, strict=True)):
        refuse_overfull(relation, free, max_levels)


def refuse_overfull(relation: Relation, columns: Sequence[Column], max_levels: int) -> None:
    """Raise DataError for all columns whose distinct cells, missing ones aside, are too many."""
    found = zip(columns, relation.distinct(columns), strict=True)
    overfull = {c: n for c, n in found if n > max_levels + len(relation.marks.of(c)) + 1}
    if overfull:
        raise too_many_levels(relation, overfull, max_levels)


def too_many_levels(relation: Relation, overfull: Mapping[Column, int], max_levels: int) -> DataError:
    """The error that names every column with too many levels and what helps."""
    n_rows = relation.n_rows()
    lines = [(c, n, _remedy(relation, c, n, n_rows)) for c, n in overfull.items()]
    if len(lines) == 1:
        column, n, remedy = lines[0]
        return DataError(f"column {column.name!r} has {n} levels, the limit is {max_levels}; {remedy}{_OTHERWISE}")
    shown = "".join(f"\n  {c.name!r} has {n} levels; {remedy}" for c, n, remedy in lines[:MOST_SHOWN])
    more = f"\n  and {len(lines) - MOST_SHOWN} more columns" if len(lines) > MOST_SHOWN else ""
    said = f"{len(lines)} columns have too many levels, the limit is {max_levels}:{shown}{more}"
    return DataError(f"{said}\n{_OTHERWISE[2:].replace('its', 'their').replace('it out', 'them out')}")


_OTHERWISE = "; otherwise list its levels with levels=, leave it out with columns=, or raise max_levels="


def _remedy(relation: Relation, column: Column, n: int, n_rows: int) -> str:
    """What a column with many levels looks like, and what to do about it."""
    values = [str(v) for v in relation.some(column) if v is not None]
    if column.kind == "date" or (values and all(map(_DATE.fullmatch, values))):
        return "it holds dates: leave it out with columns=, or keep the part that matters, such as the month"
    is_number = column.is_number or (column.kind == "raw" and relation.extents([column])[0].n_bad == 0)
    if is_number and column.name.casefold() in COUNT_NAMES:
        return f"it looks like the count of each row: count_column={column.name!r}; or cut it with bins="
    if n >= NAMING_SHARE * n_rows:
        what = "numbers nearly all different" if is_number else "texts nearly all different"
        remedy = "leave it out with columns= if it names the row, or cut it with bins=" if is_number else _LEAVE
        return f"it holds {what}: {remedy}"
    return "it holds numbers: cut it with bins=" if is_number else f"it holds text: {_LEAVE}"


_LEAVE = "leave it out with columns="
