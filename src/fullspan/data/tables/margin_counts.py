"""Margins that a table is to have: counts by level of one variable, or of several together.

A margin may be given as a mapping, as a list of rows with a column ``count``, as a frame, or as a file; where levels
are known otherwise, also as an array with an axis for each variable. Levels that are the same number or the same text
are one level, however the margins spell them.
"""

from __future__ import annotations

import itertools
import json
import math
import numbers
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.data.relations.source import opened
from fullspan.data.space import MISSING, Level, Space, Variable, cell_in_words
from fullspan.data.tables.schema import plain_values
from fullspan.errors import DataError

COUNT = "count"
"""The column of a margin that holds its counts."""
_ROUNDING_SHARE = 1e-6
"""Largest difference between two margins, or of a sum of shares from 1, that is put down to rounding."""
_LEAST_TOLERANCE = 1e-9
"""Below this the sums themselves are rounded."""

Rows = list[tuple[tuple[Level, ...], float]]


@dataclass(frozen=True, eq=False)
class MarginCounts:
    """The margins, over one space of the variables that they name.

    Attributes
    ----------
    space : the variables in the order in which they are first named, with the levels of all margins.
    scopes : positions of each margin's variables, in its own order.
    cells : of each margin, (cells, variables) codes of the cells that it lists.
    counts : of each margin, (cells,) counts or shares.
    tolerance : largest difference between two margins on the variables they share, as a share of the total.
    are_shares : whether every margin sums to 1.
    """

    space: Space
    scopes: tuple[tuple[int, ...], ...]
    cells: tuple[Ints, ...]
    counts: tuple[Array, ...]
    tolerance: float = _ROUNDING_SHARE

    @property
    def total(self) -> float:
        """The sum of the first margin; the others agree to rounding."""
        return math.fsum(self.counts[0])

    @property
    def are_shares(self) -> bool:
        return abs(self.total - 1) <= self.tolerance

    def named(self, margin: int, cell: int) -> str:
        """A cell in words: ``sex=f, region=north``."""
        return cell_in_words([self.space.variables[i] for i in self.scopes[margin]], self.cells[margin][cell])

    def title(self, margin: int) -> str:
        """The variables of a margin: ``(sex, region)``."""
        return f"({', '.join(self.space.names[i] for i in self.scopes[margin])})"

    @classmethod
    def of(
        cls,
        margins: Any,
        levels: Mapping[str, Sequence[Level]] | None = None,
        tolerance: float = _ROUNDING_SHARE,
    ) -> MarginCounts:
        """Read margins, and check them against each other.

        Parameters
        ----------
        margins : ``{"sex": {"f": 510, "m": 490}, ("sex", "region"): {("f", "north"): 200, ...}}``; a list of tables,
            each a list of rows ``{"sex": "f", "count": 510}`` or a frame with a column ``count``; the path of a JSON
            file whose ``margins`` is such a list; the path of a CSV file with one margin; a text such as
            ``"sex: f=510, m=490"`` or ``"sex, region: f, north=200, ..."``; or a list of paths and texts.
        levels : of some variables, in order. Unless this is None, the counts in a mapping may be arrays, with one axis
            for each variable; a variable without ``levels`` has then 0, 1, ...

        Raises
        ------
        DataError : a margin is none, lists a cell twice, or two of them disagree; names the margin and the cell.
        """
        if not (isinstance(tolerance, int | float) and 0 <= tolerance < 1):
            raise DataError(f"tolerance is {tolerance!r}; a share of the total from 0 to 1 is needed, such as 1e-6")
        tables = list(_tables(margins, levels))
        if not tables:
            raise DataError("there are no margins; give at least one table of counts")
        space = _space(tables, levels or {})
        scopes = tuple(tuple(space.position(name) for name in names) for names, _ in tables)
        cells, counts = zip(
            *(_coded(space, scope, rows) for scope, (_, rows) in zip(scopes, tables, strict=True)), strict=True
        )
        # Not below what floating-point sums of a million counts differ by.
        made = cls(space, scopes, cells, counts, max(tolerance, _LEAST_TOLERANCE))
        made._check_totals()
        for a, b in itertools.combinations(range(len(scopes)), 2):
            made._check_shared(a, b)
        return made

    def _check_totals(self) -> None:
        for margin, counts in enumerate(self.counts):
            other = math.fsum(counts)
            if not other > 0:
                raise DataError(f"the counts of the margin {self.title(margin)} sum to 0")
            if abs(other - self.total) > self.tolerance * max(self.total, other):
                raise DataError(
                    f"contradictory margins: {self.title(0)} sums to {self.total:.10g} and {self.title(margin)} to "
                    f"{other:.10g}; a table has one total: correct one, or divide each by its sum to give shares"
                )

    def _check_shared(self, a: int, b: int) -> None:
        """Refuse two margins that disagree on the variables they share."""
        shared = [i for i in self.scopes[a] if i in self.scopes[b]]
        if not shared:
            return
        one, two = (self._summed(margin, shared) for margin in (a, b))
        keys = sorted(one.keys() | two.keys())
        key = max(keys, key=lambda key: abs(one.get(key, 0.0) - two.get(key, 0.0)))
        x, y = one.get(key, 0.0), two.get(key, 0.0)
        if abs(x - y) > self.tolerance * self.total:
            where = cell_in_words([self.space.variables[i] for i in shared], key)
            raise DataError(
                f"contradictory margins: {where} has {x:.10g} in {self.title(a)} and {y:.10g} in {self.title(b)}; they "
                f"may differ by {self.tolerance:g} of the total"
            )

    def _summed(self, margin: int, variables: Sequence[int]) -> dict[tuple[int, ...], float]:
        """Counts of the levels of some of a margin's variables."""
        where = [self.scopes[margin].index(i) for i in variables]
        sums: dict[tuple[int, ...], float] = {}
        for cell, count in zip(self.cells[margin][:, where].tolist(), self.counts[margin].tolist(), strict=True):
            sums[tuple(cell)] = sums.get(tuple(cell), 0.0) + count
        return sums

    def shares(self, space: Space | None = None) -> dict[tuple[int, ...], Array]:
        """Probabilities of each set of variables, by their positions in the margin's own order, with one axis for each.

        Parameters
        ----------
        space : that has the variables, and the levels of the axes; by default that of the margins.

        Raises
        ------
        QueryError, DataError : a variable or level is unknown, or a margin has no count for a level.
        """
        found: dict[tuple[int, ...], Array] = {}
        for m in range(len(self.scopes)):
            where, table = self._table(m, self.space if space is None else space)
            # A margin given twice has been checked against itself.
            if not any(sorted(other) == sorted(where) for other in found):
                found[where] = table / table.sum()
        return found

    def _table(self, margin: int, space: Space) -> tuple[tuple[int, ...], Array]:
        own = [self.space.variables[i] for i in self.scopes[margin]]
        where = tuple(space.position(v.name) for v in own)
        variables = [space.variables[i] for i in where]
        codes = [[v.code(level) for level in mine.levels] for v, mine in zip(variables, own, strict=True)]
        table = np.full([v.card for v in variables], np.nan)
        for c, count in zip(self.cells[margin].tolist(), self.counts[margin].tolist(), strict=True):
            cell = tuple(of[k] for of, k in zip(codes, c, strict=True))
            if not math.isnan(table[cell]):
                raise DataError(f"the margin {self.title(margin)} lists {cell_in_words(variables, cell)} twice")
            table[cell] = count
        if np.isnan(table).any():
            cell = tuple(np.argwhere(np.isnan(table))[0])
            named = cell_in_words(variables, cell)
            raise DataError(
                f"the margin {self.title(margin)} has no count for {named}; cells without a count: "
                f"{int(np.isnan(table).sum()):,}. Give each cell one, 0 for a cell of probability 0"
            )
        return where, table


# -- reading ---------------------------------------------------------------------------------------------------------


def _tables(given: Any, levels: Mapping[str, Sequence[Level]] | None) -> Iterator[tuple[tuple[str, ...], Rows]]:
    """(variables, rows) of each margin, whatever form it has."""
    if isinstance(given, str | os.PathLike):
        yield from _of_word(given)
    elif isinstance(given, Mapping) and isinstance(given.get("margins"), list | tuple):
        for table in given["margins"]:
            yield _of_rows(table)
    elif isinstance(given, Mapping):
        for key, counts in given.items():
            yield _of_mapping(key, counts, levels)
    elif isinstance(given, list | tuple):
        for one in given:
            if isinstance(one, str | os.PathLike):
                yield from _of_word(one)
            else:
                yield _of_rows(one)
    else:
        yield _of_rows(given)


_CELL = re.compile(r"\s*(.+?)\s*=\s*([-+.\deE]+)\s*(?:,|$)")
"""A cell of a margin that is written out: its levels and its count."""


def is_written_out(text: str) -> bool:
    """Whether a text is a margin itself, and no file."""
    return ":" in text and "=" in text and not os.path.exists(text)


def _of_word(given: str | os.PathLike[str]) -> Iterator[tuple[tuple[str, ...], Rows]]:
    """Of a file, or of a text that names none, such as ``sex: f=510, m=490``."""
    text = os.fspath(given)
    if not is_written_out(text):
        yield from _of_file(Path(text))
        return
    listed, _, cells = text.partition(":")
    names = tuple(name.strip() for name in listed.split(","))
    _check_names(names if all(names) else (), text)
    rows: Rows = []
    place = 0
    while place < len(cells):
        match = _CELL.match(cells, place)
        levels = [] if match is None else [match[1]] if len(names) == 1 else [x.strip() for x in match[1].split(",")]
        if match is None or len(levels) != len(names):
            raise DataError(
                f"the margin {_shown(names)} cannot be read from {cells[place:].strip()!r}: each cell is "
                f"{', '.join(['level'] * len(names))}=count, as in 'sex: f=510, m=490'; a file takes any names"
            )
        rows.append((tuple(levels), _count(names, levels, match[2])))
        place = match.end()
    if not rows:
        raise DataError(f"the margin {_shown(names)} has no cells; write 'sex: f=510, m=490'")
    yield names, rows


def _of_file(path: Path) -> Iterator[tuple[tuple[str, ...], Rows]]:
    if path.suffix.lower() != ".json":
        yield _of_rows(path)
        return
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(f"there is no file {str(path)!r}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"the margins {str(path)!r} are not valid JSON: {error}") from error
    listed = given.get("margins") if isinstance(given, dict) else given
    if isinstance(listed, dict):  # {"sex": {"f": 510, "m": 490}}
        yield from _tables(listed, None)
    elif isinstance(listed, list):
        for table in listed:
            yield _of_rows(table)
    else:
        raise DataError(f"{str(path)!r} has no list 'margins' of tables, each a list of rows with a '{COUNT}'")


def _of_mapping(key: Any, counts: Any, known: Mapping[str, Sequence[Level]] | None) -> tuple[tuple[str, ...], Rows]:
    names = (key,) if isinstance(key, str) else tuple(key) if isinstance(key, Iterable) else ()
    _check_names(names, key)
    if known is not None and not isinstance(counts, Mapping):
        return names, _of_array(names, counts, known)
    if not isinstance(counts, Mapping) or not counts:
        raise DataError(
            f"the margin {_shown(names)} is {counts!r}; give the count of each level, {{'f': 510, 'm': 490}}"
        )
    rows: Rows = []
    for level, count in counts.items():
        levels = tuple(level) if len(names) > 1 and isinstance(level, tuple | list) else (level,)
        if len(levels) != len(names):
            raise DataError(
                f"the margin {_shown(names)} has a cell {level!r}; a cell of it is a tuple of {len(names)} levels"
            )
        rows.append((tuple(_level(names, x) for x in levels), _count(names, levels, count)))
    return names, rows


def _of_array(names: tuple[str, ...], values: Any, known: Mapping[str, Sequence[Level]]) -> Rows:
    """An array of counts, with an axis for each variable."""
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the margin {_shown(names)} is no table of numbers: {error}") from error
    if table.ndim != len(names):
        raise DataError(f"the margin {_shown(names)} needs one axis per variable, but has the shape {table.shape}")
    listed = [tuple(known.get(name, range(size))) for name, size in zip(names, table.shape, strict=True)]
    for name, levels, size in zip(names, listed, table.shape, strict=True):
        if len(levels) != size:
            raise DataError(f"levels= lists {len(levels)} levels of {name!r}, but its margins have {size}")
    cells = zip(itertools.product(*listed), table.ravel().tolist(), strict=True)
    return [(levels, _count(names, levels, count)) for levels, count in cells]


def _of_rows(table: Any) -> tuple[tuple[str, ...], Rows]:
    """A margin from a list of rows, a dictionary of columns, a frame, or a file."""
    columns = _columns(table)
    names = tuple(name for name in columns if name != COUNT)
    if COUNT not in columns:
        raise DataError(f"a margin has the columns {', '.join(columns)}, and none is '{COUNT}'; name the counts so")
    _check_names(names, f"of a table without variables, with '{COUNT}' only")
    rows: Rows = []
    for *levels, count in zip(*(columns[name] for name in names), columns[COUNT], strict=True):
        rows.append((tuple(_level(names, x) for x in levels), _count(names, levels, count)))
    if not rows:
        raise DataError(f"the margin {_shown(names)} has no rows")
    return names, rows


def _columns(table: Any) -> dict[str, list[Any]]:
    if isinstance(table, list | tuple):
        if not table or not all(isinstance(row, Mapping) for row in table):
            raise DataError(f"a margin is a list of rows such as {{'sex': 'f', '{COUNT}': 510}}, not {_cut(table)}")
        names = list(table[0])
        for i, row in enumerate(table, start=1):
            if set(row) != set(names):
                raise DataError(
                    f"row {i} of a margin has {', '.join(map(str, row))}; row 1 has {', '.join(map(str, names))}"
                )
        return {str(name): [row[name] for row in table] for name in names}
    if table is None or isinstance(table, int | float | str):
        raise DataError(f"a margin is a table of counts, not {table!r}")
    with opened(table) as relation:
        arrow = relation.table()  # type: ignore[attr-defined]
        found: dict[str, list[Any]] = {}
        for column in relation.columns:
            values = arrow.column(column.name).to_pylist()
            if column.kind == "raw" and column.name != COUNT:
                distinct = list(dict.fromkeys(values))
                plain = dict(zip(distinct, plain_values(column, distinct, relation.marks.of(column)), strict=True))
                values = [plain[v] for v in values]
            found[column.name] = values
        return found


def _cut(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _check_names(names: tuple[Any, ...], key: Any) -> None:
    if not names or not all(isinstance(name, str) for name in names):
        raise DataError(f"a margin is named by its variables, 'sex' or ('sex', 'region'), not {key!r}")
    if len(set(names)) < len(names):
        raise DataError(f"the margin {key!r} names a variable twice")


def _level(names: Sequence[str], value: Any) -> Level:
    """A level as a plain value; None, an empty cell, is the level of missing cells."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value != value:
        return MISSING
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str | int | float):
        return value.strip() if isinstance(value, str) else value
    return str(value)


def _count(names: Sequence[str], levels: Sequence[Any], count: Any) -> float:
    number = math.nan
    if isinstance(count, numbers.Real | str | np.generic) and not isinstance(count, bool):
        try:
            number = float(count)
        except ValueError:
            number = math.nan
    if not (math.isfinite(number) and number >= 0):
        where = ", ".join(f"{name}={level}" for name, level in zip(names, levels, strict=True))
        raise DataError(
            f"the margin {_shown(names)} has the count {count!r} for {where}; counts are numbers of at least 0"
        )
    return number


# -- one space -------------------------------------------------------------------------------------------------------


def _space(tables: Sequence[tuple[tuple[str, ...], Rows]], known: Mapping[str, Sequence[Level]]) -> Space:
    """The variables of all margins with all their levels; 1, 1.0 and "1" are one level."""
    levels: dict[str, dict[str, Level]] = {}
    for names, rows in tables:
        for cell, _ in rows:
            for name, level in zip(names, cell, strict=True):
                levels.setdefault(name, {}).setdefault(_text(level), level)
    for name, listed in known.items():
        if name not in levels:
            raise DataError(f"levels= names {name!r}, which is in no margin; the variables are {', '.join(levels)}")
        if further := [level for level in levels[name] if level not in map(_text, listed)]:
            raise DataError(f"the margins have the level {further[0]!r} of {name!r}, which levels= does not list")
    return Space(
        tuple(
            Variable(name, tuple(known[name]), ordered=True)
            if name in known
            else Variable(name, _sorted(tuple(own.values())))
            for name, own in levels.items()
        )
    )


def _text(level: Level) -> str:
    return str(level).lower() if isinstance(level, bool) else str(level)


def _sorted(levels: tuple[Level, ...]) -> tuple[Level, ...]:
    """The levels as listed, that of missing cells last."""
    return tuple(sorted(levels, key=lambda level: level == MISSING))


def _coded(space: Space, scope: tuple[int, ...], rows: Rows) -> tuple[Ints, Array]:
    codes = [{_text(level): c for c, level in enumerate(space.variables[i].levels)} for i in scope]
    found: dict[tuple[int, ...], float] = {}
    for cell, count in rows:
        key = tuple(own[_text(level)] for own, level in zip(codes, cell, strict=True))
        if key in found:
            names = [space.names[i] for i in scope]
            where = ", ".join(f"{name}={level}" for name, level in zip(names, cell, strict=True))
            raise DataError(f"the margin {_shown(names)} lists {where} twice")
        found[key] = count
    return np.array(list(found), dtype=np.int64).reshape(len(found), len(scope)), np.array(list(found.values()))


def _shown(names: Sequence[Any]) -> str:
    return f"({', '.join(map(str, names))})"
