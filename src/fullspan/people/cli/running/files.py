"""Files a command writes: whole or not at all, and never over what it reads."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from fullspan.errors import FullspanError
from fullspan.model.files.disk import is_pipe_or_device, naming, write_atomically

ROWS_IN_PYTHON = 100_000
"""Rows from which on a CSV file is not written in Python."""
_MODEL_START = b'"fullspan-model"'


def check_target(path: Path, *inputs: Path) -> None:
    """Refuse a target that is a folder, lies in no folder, or is one of the inputs.

    Raises
    ------
    FullspanError : with the remedy.
    """
    if path.is_dir():
        raise FullspanError(f"{str(path)!r} is a folder; give the name of a file to write")
    if not path.parent.is_dir():
        raise FullspanError(f"there is no folder {str(path.parent)!r} to write {path.name!r} into; make it first")
    for source in inputs:
        if path.exists() and source.exists() and os.path.samefile(path, source):
            raise FullspanError(f"{str(path)!r} is read by this command; write the output to another file")


def check_model_target(path: Path, *inputs: Path, force: bool = False) -> None:
    """The same, and refuse to replace an existing file that is no model.

    Raises
    ------
    FullspanError : with the remedy.
    """
    check_target(path, *inputs)
    if path.is_file() and not force and not _is_model(path):
        raise FullspanError(
            f"{str(path)!r} exists and is not a Fullspan model; give another name, or --force to replace it"
        )


def _is_model(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(512)
    return not start or _MODEL_START in start


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file next to ``path`` that takes its place when the block ends well, and vanishes otherwise.

    A pipe or a device, which cannot be replaced, gets the content of the whole file.
    """
    is_stream = is_pipe_or_device(path)
    path = path if is_stream else Path(os.path.realpath(path))
    folder = None if is_stream else path.parent
    with naming(path):
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=folder)
    os.close(handle)
    temporary = Path(name)
    try:
        with naming(path):
            yield temporary
        if is_stream:
            write_atomically(path, temporary.read_bytes())
            temporary.unlink()
            return
        temporary.chmod(0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def check_table_target(path: Path | None, *inputs: Path) -> None:
    """Refuse a table target of an unknown format, or one that :func:`check_target` refuses.

    Raises
    ------
    FullspanError : with the remedy.
    """
    if path is None:
        return
    if table_suffix(path) not in _WRITERS:
        raise FullspanError(
            f"the format of {path.name!r} is not known by its suffix; known suffixes: {', '.join(_WRITERS)}"
        )
    check_target(path, *inputs)


def write_table(table: Any, path: Path) -> None:
    """Write an Arrow table atomically, in the format of the suffix."""
    with replacing(path) as temporary:
        _WRITERS[table_suffix(path)](table, temporary)


def table_suffix(path: Path) -> str:
    """The suffix that gives the format of a table; a stream such as ``/dev/stdout`` has none and takes CSV."""
    is_stream = not path.suffix and (str(path).startswith(("/dev/", "/proc/")) or is_pipe_or_device(path))
    return ".csv" if is_stream else path.suffix.lower()


def put_table(table: Any, output: Path | None, *, as_json: bool) -> None:
    """An Arrow table in a file, which is said, or on standard output."""
    if output is None:
        print_table(table, as_json=as_json)
        return
    write_table(table, output)
    typer.echo(f"{table.num_rows:,} rows written to {output}", err=True)


def print_table(table: Any, *, as_json: bool) -> None:
    """An Arrow table on standard output, as CSV or as JSON lines."""
    import sys

    if as_json:
        sys.stdout.writelines(_json_lines(table))
    else:
        _write_delimited(table, sys.stdout)


def _json_lines(table: Any) -> Iterator[str]:
    """One object per row; JSON has no infinite numbers, null stands for them, and no dates, which are text."""
    import json

    for batch in table.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            plain = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
            yield json.dumps(plain, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def _write_delimited(table: Any, file: Any, delimiter: str = ",") -> None:
    """Through the csv module, which quotes only where needed; an empty cell is a missing one."""
    import csv

    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(table.column_names)
    for batch in table.to_batches(max_chunksize=10_000):
        writer.writerows(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def _copied(table: Any, path: Path, delimiter: str) -> None:
    """The same cells by DuckDB, ten times faster; columns of text and numbers only."""
    from fullspan.data.relations.files import connect

    with connect() as connection:
        connection.register("written", table)
        options = f"HEADER, DELIMITER '{delimiter}'"
        connection.execute(f"COPY written TO '{str(path).replace(chr(39), 2 * chr(39))}' (FORMAT CSV, {options})")


def _is_plain(table: Any) -> bool:
    """Whether all columns are text or numbers, which Python and DuckDB write alike."""
    import pyarrow as pa

    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_float64)
    return table.num_columns > 1 and all(any(test(kind) for test in tests) for kind in table.schema.types)


def _delimited(delimiter: str) -> Callable[[Any, Path], None]:
    def write(table: Any, path: Path) -> None:
        if table.num_rows > ROWS_IN_PYTHON and _is_plain(table):
            _copied(table, path, delimiter)
            return
        with path.open("w", encoding="utf-8", newline="") as file:
            _write_delimited(table, file, delimiter)

    return write


def _write_parquet(table: Any, path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, path)


def _write_arrow(table: Any, path: Path) -> None:
    import pyarrow.feather as feather

    feather.write_feather(table, str(path), compression="uncompressed")


def _write_json_lines(table: Any, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(_json_lines(table))


_WRITERS: dict[str, Callable[[Any, Path], None]] = {
    ".csv": _delimited(","),
    ".tsv": _delimited("\t"),
    ".parquet": _write_parquet,
    ".jsonl": _write_json_lines,
    ".arrow": _write_arrow,
    ".feather": _write_arrow,
}
