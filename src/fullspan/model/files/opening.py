"""Bytes of a file from a stranger: a regular file, of bounded size, unpacked if it is gzipped."""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from pathlib import Path

from fullspan.errors import ModelFileError

_GZIP = b"\x1f\x8b"


def read_bytes(path: Path, most: int, unpack: bool = False) -> bytes:
    """The content of a file of at most ``most`` bytes, counted after unpacking where a gzipped file is allowed.

    Raises
    ------
    ModelFileError : it cannot be read, is no regular file, is too large, or is damaged.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ModelFileError(f"{path} is not a file")
        with open(path, "rb") as file:
            packed = unpack and file.read(len(_GZIP)) == _GZIP
            file.seek(0)
            data = gzip.GzipFile(fileobj=file).read(most + 1) if packed else file.read(most + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ModelFileError(f"{path} is no sound gzip file, or is cut short: {error}") from error
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(data) > most:
        raise ModelFileError(f"{path} is larger than {most >> 20} MiB, more than any model file")
    return data
