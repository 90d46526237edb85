"""A row as people paste it: ``age=30, sex=f``, or cells with commas, tabs or semicolons, with or without a header."""

from __future__ import annotations

import csv
from typing import Any

from fullspan.data.space import Space
from fullspan.errors import QueryError

SEPARATORS = "\t;,"
MISSING = ("", "?", "NA", "NaN", "nan")
"""Texts of a cell in which nothing is known, unless they are a level of the column."""


def parse_row(text: str, space: Space) -> dict[str, Any]:
    """Cells by name; columns that are not named are missing.

    Raises
    ------
    QueryError : there is nothing, a name or a level is unknown, or cells and columns differ in number.

    Examples
    --------
    >>> from fullspan.data.space import Space
    >>> parse_row("x0=1, x2=0", Space.of_cards([2, 2, 2]))
    {'x0': 1, 'x2': 0}
    >>> parse_row("1;?;0", Space.of_cards([2, 2, 2]))
    {'x0': 1, 'x2': 0}
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise QueryError("the row is empty; paste for example " + _example(space))
    if len(lines) > 2:
        raise QueryError(f"{len(lines)} lines were pasted; paste one row, or a header and one row")
    if len(lines) == 1 and "=" in text:
        return _named(_cells(lines[0]), space)
    header = _cells(lines[0]) if len(lines) == 2 else list(space.names)
    cells = _cells(lines[-1])
    if len(cells) != len(header):
        raise QueryError(f"the row has {len(cells)} cells for {len(header)} columns; paste a header above it, or "
                         f"name its cells: {_example(space)}")  # fmt: skip
    return _checked(zip(header, cells, strict=True), space)


def _example(space: Space) -> str:
    return ", ".join(f"{v.name}={v.levels[0]}" for v in space.variables[:2])


def _cells(line: str) -> list[str]:
    """The cells of a line, by the separator that occurs most often in it."""
    mark = max(SEPARATORS, key=line.count)
    return [cell.strip() for cell in next(csv.reader([line], delimiter=mark, skipinitialspace=True))]


def _named(cells: list[str], space: Space) -> dict[str, Any]:
    pairs = []
    for cell in filter(None, cells):
        if "=" not in cell:
            raise QueryError(f"{cell!r} has no level; write for example {_example(space)}")
        pairs.append(_split(cell, space))
    return _checked(pairs, space)


def _split(cell: str, space: Space) -> tuple[str, str]:
    """Name and level at the first equals sign that a known name stands before: names and levels may have their own."""
    parts = cell.split("=")
    for k in range(1, len(parts)):
        name = "=".join(parts[:k]).strip()
        if name in space.names:
            return name, "=".join(parts[k:]).strip()
    return parts[0].strip(), "=".join(parts[1:]).strip()


def _checked(pairs: Any, space: Space) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, text in pairs:
        variable = space.variables[space.position(name)]
        if name in found:
            raise QueryError(f"{name!r} is named twice")
        if text in MISSING and text not in map(str, variable.levels):
            continue
        found[name] = variable.levels[variable.code(text)]
    return found
