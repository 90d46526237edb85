"""Files as relations: CSV, TSV, Parquet, JSON lines and Arrow, streamed by DuckDB.

CSV and TSV files need a header line. Their cells are read as text, surrounding blanks trimmed, and the type of
a column is decided from its distinct values (see :mod:`fullspan.data.tables.schema`), so that ``007`` stays ``007``.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fullspan.data.relations.columns import MISSING_MARKS, Column, Marks
from fullspan.data.relations.duck import DuckRelation, literal, translated
from fullspan.data.relations.frames import declared_levels, relation_of_arrow
from fullspan.data.relations.relation import checked_names
from fullspan.data.space import Level
from fullspan.errors import DataError

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


def open_file(path: Path) -> DuckRelation:
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
    # DuckDB's own message about an empty file does not say that it is.
    if path.stat().st_size == 0:
        raise DataError(f"the file {str(path)!r} is empty")
    connection = connect()
    try:
        return reader(connection, path)
    except BaseException:
        connection.close()
        raise


def _reader(path: Path) -> Callable[[Any, Path], DuckRelation]:
    suffix = "".join(path.suffixes[-2:]).lower() if path.suffix.lower() == ".gz" else path.suffix.lower()
    reader = _READERS.get(suffix)
    if reader is None:
        raise DataError(
            f"the format of {path.name!r} is not known by its suffix; known suffixes: {', '.join(sorted(_READERS))}"
        )
    return reader


def _open_text(connection: Any, path: Path) -> DuckRelation:
    delimiter, names = _header(path)
    keys = [f"c{i}" for i in range(len(names))]
    schema = ", ".join(f"'{key}': 'VARCHAR'" for key in keys)
    source = (
        f"read_csv({_sql_path(path)}, auto_detect=false, header=true, delim={literal(delimiter)}, "
        f"quote='\"', escape='\"', strict_mode=true, null_padding=false, columns={{{schema}}})"
    )
    columns = tuple(Column(name, key, "raw") for name, key in zip(names, keys, strict=True))
    return DuckRelation(connection, source, columns, marks=Marks(MISSING_MARKS), large=_is_large(path), path=path)


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
    # Commas inside quotes belong to a name.
    bare = re.sub(r'"[^"]*"', "", line)
    # Of equal counts the first one: a header of one column has none of them, and is a CSV file.
    found: str = max(",;\t|", key=bare.count)
    return found


def _open_parquet(connection: Any, path: Path) -> DuckRelation:
    import pyarrow.parquet as pq

    schema = translated(lambda: pq.read_schema(path))
    relation = _typed(connection, path, f"read_parquet({_sql_path(path)})", schema.names)
    categorical = {field.name: field.type.ordered for field in schema if hasattr(field.type, "ordered")}
    return _with_categories(relation, path, categorical) if categorical else relation


def _with_categories(relation: DuckRelation, path: Path, ordered: Mapping[str, bool]) -> DuckRelation:
    """The relation with the categories that pandas, polars or Arrow wrote, in order; DuckDB reads them as text."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        if file.num_row_groups == 0:
            return relation
        first = translated(lambda: file.read_row_group(0, columns=list(ordered)))
    declared = {name: declared_levels(first.column(name)) for name in first.column_names}
    columns = [
        replace(c, levels=declared[c.name], ordered=ordered[c.name]) if declared.get(c.name) else c
        for c in relation.columns
    ]
    return replace(relation, columns=tuple(columns))


def _open_json(connection: Any, path: Path) -> DuckRelation:
    relation = _typed(connection, path, f"read_json({_sql_path(path)}, sample_size=-1)")
    names = _json_names(connection, path, [c.name for c in relation.columns])
    columns = [replace(c, name=n, rounded=c.kind == "float") for c, n in zip(relation.columns, names, strict=True)]
    return replace(relation, columns=tuple(columns))


def _json_names(connection: Any, path: Path, found: list[str]) -> list[str]:
    """The keys as the file writes them: of "a" and "A" DuckDB calls the second "A_1".

    Raises
    ------
    DataError : it cannot be said which key is meant.
    """
    folded = [re.sub(r"_\d+$", "", name).casefold() for name in found]
    renamed = [i for i, name in enumerate(found) if name.casefold() != folded[i] and folded[i] in folded[:i]]
    if not renamed:
        return found
    objects = f"read_json({_sql_path(path)}, records=false, columns={{object: 'JSON'}})"
    sql = f"SELECT DISTINCT unnest(json_keys(object)) FROM {objects}"
    keys = {key for (key,) in translated(lambda: connection.sql(sql).fetchall())}
    names = list(found)
    for i in renamed:
        names[i] = found[i] if found[i] in keys else _json_key(folded[i], keys - set(found))
    return checked_names(names)


def _json_key(folded: str, keys: set[str]) -> str:
    """The key that DuckDB has renamed."""
    near = sorted(key for key in keys if key.casefold() == folded)
    if len(near) != 1:
        raise DataError(f"the keys {', '.join(map(repr, near))} of the file differ in case only; rename all but one")
    return near[0]


def _typed(connection: Any, path: Path, source: str, names: list[str] | None = None) -> DuckRelation:
    if names is not None:
        checked_names(names)
    return DuckRelation.of(connection, source, names, large=_is_large(path))


def _open_arrow(connection: Any, path: Path) -> DuckRelation:
    import pyarrow.dataset as ds

    dataset = translated(lambda: ds.dataset(path, format="ipc"))
    checked_names(dataset.schema.names)
    first = translated(lambda: dataset.head(1))
    levels: dict[str, tuple[Level, ...] | None] = {
        name: declared_levels(first.column(name)) for name in first.column_names
    }
    return relation_of_arrow(connection, dataset, dataset.schema.names, levels, large=_is_large(path))


def _is_large(path: Path) -> bool:
    return path.stat().st_size > LARGE_BYTES


def _sql_path(path: Path) -> str:
    """The path as an SQL string that DuckDB takes literally, not as a pattern."""
    # In brackets each of them stands for itself.
    return literal(re.sub(r"([\[*?])", r"[\1]", str(path)))


_READERS: dict[str, Callable[[Any, Path], DuckRelation]] = {
    **dict.fromkeys([".csv", ".csv.gz", ".tsv", ".tsv.gz"], _open_text),
    **dict.fromkeys([".parquet", ".pq"], _open_parquet),
    **dict.fromkeys([".jsonl", ".ndjson", ".json", ".jsonl.gz", ".ndjson.gz", ".json.gz"], _open_json),
    **dict.fromkeys([".arrow", ".feather", ".ipc"], _open_arrow),
}
