"""Whole files or none: a reader sees the old content or the new, also after a crash."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write to a temporary file in the same folder, flush it to the disk, and rename it over ``path``.

    On any failure the temporary file is removed and ``path`` is as it was. A symbolic link stays one.

    Raises
    ------
    OSError : the folder is missing or not writable, or the disk is full.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(8)}.tmp")
    try:
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


def _flush_folder(folder: Path) -> None:
    """Make the rename durable where the system allows a folder to be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
