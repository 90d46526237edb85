"""Whole files or none: a reader sees the old content or the new, also after a crash."""

from __future__ import annotations

import contextlib
import gzip
import os
import secrets
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path

from fullspan.errors import ModelFileError


def write_atomically(path: Path, data: bytes) -> None:
    """Write to a temporary file in the same folder, flush it to the disk, and rename it over ``path``.

    On any failure the temporary file is removed and ``path`` is as it was. A symbolic link stays one. A pipe or a
    device, such as ``/dev/stdout`` before a pipe, cannot be replaced: it is written to.

    Raises
    ------
    OSError : the folder is missing or not writable, or the disk is full.
    """
    if is_pipe_or_device(path):
        with open(path, "wb") as stream:
            stream.write(data)
        return
    target = Path(os.path.realpath(path))
    # In the same folder, since a rename is atomic on one file system only; names have at most 255 bytes.
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(8)}.tmp")
    try:
        with naming(target):
            with open(temporary, "xb") as file:
                file.write(data)
                file.flush()
                # Before the rename: otherwise a crash may leave the new name with an empty file.
                os.fsync(file.fileno())
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _flush_folder(target.parent)


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Errors of the system name the file that a person gave, not the temporary one in the same folder.

    Raises
    ------
    OSError : with ``path`` where it named a temporary file.
    """
    try:
        yield
    except OSError as error:
        named = error.filename if isinstance(error.filename, str) else ""
        if not os.path.basename(named).startswith(f".{path.name[:200]}."):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def is_pipe_or_device(path: Path) -> bool:
    """Whether something is there that is neither a regular file nor a folder: a pipe, a terminal, a socket."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _flush_folder(folder: Path) -> None:
    """Make the rename durable where the system allows a folder to be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


_GZIP = b"\x1f\x8b"


def read_bytes(path: Path, most: int, unpack: bool = False) -> bytes:
    """The content of a file of at most ``most`` bytes, counted after unpacking where a gzipped file is allowed.

    Raises
    ------
    ModelFileError : it cannot be read, is no regular file, is too large, or is damaged.
    """
    try:
        # A pipe without a writer would never end.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ModelFileError(f"{path} is not a file")
        with open(path, "rb") as file:
            packed = unpack and file.read(len(_GZIP)) == _GZIP
            file.seek(0)
            # One byte more than allowed: enough to know that it is too large, without unpacking the rest of a bomb.
            data = gzip.GzipFile(fileobj=file).read(most + 1) if packed else file.read(most + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ModelFileError(f"{path} is not a valid gzip file, or is cut short: {error}") from error
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(data) > most:
        raise ModelFileError(f"{path} is larger than {most >> 20} MiB, more than any model file")
    return data
