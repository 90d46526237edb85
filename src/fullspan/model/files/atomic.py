"""Whole files or none: a reader sees the old content or the new, also after a crash."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path


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
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(8)}.tmp")
    try:
        with naming(target):
            with open(temporary, "xb") as file:
                file.write(data)
                file.flush()
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
