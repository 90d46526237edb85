"""Files as relations: CSV, TSV, Parquet, JSON lines and Arrow, streamed by DuckDB.

CSV and TSV files need a header line. Their cells are read as text, surrounding blanks trimmed, and the type of
a column is decided from its distinct values (see :mod:`fullspan.data.schema`), so that ``007`` stays ``007``.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fullspan.data.duck import DuckRelation, literal, translated
from fullspan.data.relation import Column
from fullspan.errors import DataError
from fullspan.space import Level

MISSING_MARKS: frozenset[str] = frozenset(["", "?", "NA", "N/A", "<NA>", "NaN", "nan", "null", "NULL", "None"])
"""Texts that mean "no value" in a CSV or TSV cell. Other formats have a null of their own."""

LARGE_BYTES = 32 << 20


def connect() -> Any:
    """An in-memory DuckDB that reaches for no network and spills to the system's temporary folder."""
    import tempfile

    import duckdb

    return duckdb.connect(
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "temp_directory": os.path.join(tempfile.gettempdir(), f"fullspan-duckdb-{os.getpid()}"),
        }
    )


def open_file(path: Path, marks: frozenset[str] | None) -> DuckRelation:
    """The relation of a file, by its suffix.

    Raises
    ------
    DataError : the file is missing, empty, of an unknown format, or has no usable header.
    """
    reader = _reader(path)
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a folder; give a file")
    if not path.exists():
        raise DataError(f"there is no file {str(path)!r}")
    if not path.is_file():
        raise DataError(
            f"{str(path)!r} is a pipe or a device, and tables are read more than once; write it to a file first"
        )
    if path.stat().st_size == 0:
        raise DataError(f"the file {str(path)!r} is empty")
    connection = connect()
    try:
        return reader(connection, path, marks)
    except BaseException:
        connection.close()
        raise


def _reader(path: Path) -> Callable[[Any, Path, frozenset[str] | None], DuckRelation]:
    suffix = "".join(path.suffixes[-2:]).lower() if path.suffix.lower() == ".gz" else path.suffix.lower()
    reader = _READERS.get(suffix)
    if reader is None:
        raise DataError(
            f"the format of {path.name!r} is not known by its suffix; known suffixes: {', '.join(sorted(_READERS))}"
        )
    return reader


def _open_text(connection: Any, path: Path, marks: frozenset[str] | None) -> DuckRelation:
    delimiter, names = _header(path)
    keys = [f"c{i}" for i in range(len(names))]
    schema = ", ".join(f"'{key}': 'VARCHAR'" for key in keys)
    source = (
        f"read_csv({_sql_path(path)}, auto_detect=false, header=true, delim={literal(delimiter)}, "
        f"quote='\"', escape='\"', strict_mode=true, null_padding=false, columns={{{schema}}})"
    )
    columns = tuple(Column(name, key, "raw") for name, key in zip(names, keys, strict=True))
    return DuckRelation(
        connection, source, columns, marks=MISSING_MARKS if marks is None else marks, large=_is_large(path), path=path
    )


def _header(path: Path) -> tuple[str, list[str]]:
    """Delimiter and column names from the first line; the delimiter is the commonest of ``, ; tab |``."""
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            line = file.readline()
            if not line.strip():
                raise DataError(f"the file {str(path)!r} begins with an empty line; a header line is expected")
            is_tsv = ".tsv" in [s.lower() for s in path.suffixes]
            delimiter = "\t" if is_tsv else _delimiter(line)
            file.seek(0)
            names = [name.strip() for name in next(csv.reader(file, delimiter=delimiter))]
            if "\0" in line:
                raise DataError(f"the header of {str(path)!r} holds a NUL byte; save it as plain UTF-8 text")
    except UnicodeDecodeError as error:
        raise DataError(f"the file {str(path)!r} is not UTF-8; save it as UTF-8") from error
    except (OSError, EOFError) as error:
        raise DataError(f"the file {str(path)!r} cannot be read: {error}") from error
    return delimiter, checked_names(names)


def _delimiter(line: str) -> str:
    bare = re.sub(r'"[^"]*"', "", line)
    found: str = max(",;\t|", key=bare.count)
    return found


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
            raise DataError(f"the column name {name!r} holds half of a surrogate pair, which is no text; rename it")
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if "" in names:
        raise DataError(f"column {names.index('') + 1} has no name; a header line with a name for each is expected")
    if twice:
        raise DataError(f"the table has several columns named {', '.join(map(repr, twice))}; rename them")
    return names


def _open_parquet(connection: Any, path: Path, marks: frozenset[str] | None) -> DuckRelation:
    import pyarrow.parquet as pq

    names = translated(lambda: pq.read_schema(path).names)
    return _typed(connection, path, f"read_parquet({_sql_path(path)})", marks, names)


def _open_json(connection: Any, path: Path, marks: frozenset[str] | None) -> DuckRelation:
    return _typed(connection, path, f"read_json({_sql_path(path)}, sample_size=-1)", marks)


def _typed(
    connection: Any, path: Path, source: str, marks: frozenset[str] | None, names: list[str] | None = None
) -> DuckRelation:
    if names is not None:
        checked_names(names)
    return DuckRelation.of(connection, source, names, marks=marks or frozenset(), large=_is_large(path))


def _open_arrow(connection: Any, path: Path, marks: frozenset[str] | None) -> DuckRelation:
    import pyarrow.dataset as ds

    from fullspan.data.frames import declared_levels, relation_of_arrow

    dataset = translated(lambda: ds.dataset(path, format="ipc"))
    checked_names(dataset.schema.names)
    first = translated(lambda: dataset.head(1))
    levels: dict[str, tuple[Level, ...] | None] = {
        name: declared_levels(first.column(name)) for name in first.column_names
    }
    return relation_of_arrow(connection, dataset, dataset.schema.names, levels, marks, large=_is_large(path))


def _is_large(path: Path) -> bool:
    return path.stat().st_size > LARGE_BYTES


def _sql_path(path: Path) -> str:
    """The path as an SQL string that DuckDB takes literally, not as a pattern."""
    return literal(re.sub(r"([\[*?])", r"[\1]", str(path)))


_READERS: dict[str, Callable[[Any, Path, frozenset[str] | None], DuckRelation]] = {
    **dict.fromkeys([".csv", ".csv.gz", ".tsv", ".tsv.gz"], _open_text),
    **dict.fromkeys([".parquet", ".pq"], _open_parquet),
    **dict.fromkeys([".jsonl", ".ndjson", ".json", ".jsonl.gz", ".ndjson.gz", ".json.gz"], _open_json),
    **dict.fromkeys([".arrow", ".feather", ".ipc"], _open_arrow),
}
