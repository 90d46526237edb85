"""What was given, as a relation: a path, a frame, an array, rows, or an Ibis table."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fullspan.data.relations.columns import Column, NaValues, shortened
from fullspan.data.relations.files import connect, open_file
from fullspan.data.relations.frames import open_frame
from fullspan.data.relations.relation import Relation
from fullspan.data.space import nearest
from fullspan.errors import DataError


@contextmanager
def opened(source: Any, na_values: NaValues = None) -> Iterator[Relation]:
    """The relation of ``source``, closed on leaving; ``na_values`` replaces the marks for missing text."""
    relation = _open(source)
    try:
        _refuse_nested_texts(na_values)
        yield relation.marked(relation.marks.replaced(na_values))
    finally:
        relation.close()


def _refuse_nested_texts(na_values: NaValues) -> None:
    """Raise DataError for a list inside a list, whose text is in no cell."""
    for texts in na_values.values() if isinstance(na_values, Mapping) else [na_values]:
        if isinstance(texts, Collection) and not isinstance(texts, str | bytes):
            for text in texts:
                if isinstance(text, Collection) and not isinstance(text, str | bytes):
                    raise DataError(f"na_values= lists {text!r}; give texts or numbers, such as ['-', 999]")


def _open(source: Any) -> Relation:
    if isinstance(source, str | os.PathLike):
        return open_file(Path(source))
    if type(source).__module__.split(".")[0] == "ibis":
        from fullspan.data.relations.ibis_table import open_ibis

        return open_ibis(source)
    connection = connect()
    try:
        return open_frame(connection, source)
    except BaseException:
        connection.close()
        raise


def find(relation: Relation, name: str) -> Column:
    """The column of that name.

    Raises
    ------
    DataError : there is none; near names are suggested.
    """
    for column in relation.columns:
        if column.name == name:
            return column
    names = [c.name for c in relation.columns]
    near = nearest(name, names)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ";"
    raise DataError(f"the table has no column {name!r}{hint} its columns are: {shortened(names)}")


def select(relation: Relation, columns: Sequence[str | int] | None, without: Column | None) -> list[Column]:
    """The columns asked for, in that order, or all but ``without``; an integer is a position.

    Raises
    ------
    DataError : a column is unknown, asked for twice or nested, or none is left.
    """
    chosen = [c for c in relation.columns if c != without] if columns is None else _named(relation, columns)
    if not chosen:
        raise DataError("the table has no columns to count")
    for column in chosen:
        if column == without:
            raise DataError(f"column {column.name!r} holds the weights and cannot be a variable as well")
        refuse_nested(column)
    return chosen


def refuse_nested(column: Column) -> None:
    """Raise DataError for lists, structs and the like."""
    if column.kind == "nested":
        raise DataError(
            f"column {column.name!r} is nested, binary or of mixed type; give columns= without it, "
            "or turn it into text or numbers first"
        )


def _named(relation: Relation, columns: Sequence[str | int]) -> list[Column]:
    if isinstance(columns, str):
        raise DataError(f"columns={columns!r} is a text; give a list of names: columns=[{columns!r}]")
    names = [_name(relation, c) for c in columns]
    if len(set(names)) < len(names):
        raise DataError(f"columns= names a column twice: {names}")
    return [find(relation, name) for name in names]


def _name(relation: Relation, column: str | int) -> str:
    if isinstance(column, int) and not relation.named and 0 <= column < len(relation.columns):
        return relation.columns[column].name
    return str(column)
