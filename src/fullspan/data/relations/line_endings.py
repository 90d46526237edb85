"""Where a CSV file changes from one line ending to another."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MARK = re.compile(rb'"|\r\n|\n|\r')
_NAMES = {b"\n": "LF", b"\r\n": "CRLF", b"\r": "CR"}
_CHUNK = 1 << 20


def other_ending(path: Path) -> str:
    """The first line that ends otherwise than the header, in words such as ``line 7 ends in LF, line 1 in CRLF: ``.

    Line ends inside quotes are part of a cell. Empty if all lines end alike.
    """
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    first, number, quoted = b"", 0, False
    with opener(path, "rb") as file:
        for mark in _marks(file):
            if mark == b'"':
                quoted = not quoted
            elif not quoted:
                number, first = number + 1, first or mark
                if mark != first:
                    return f"line {number} of {str(path)!r} ends in {_NAMES[mark]}, line 1 in {_NAMES[first]}: "
    return ""


def _marks(file: Any) -> Iterator[bytes]:
    """Quotes and line ends of a file; a CR at the end of a chunk waits for what follows."""
    rest = b""
    while chunk := file.read(_CHUNK):
        data = rest + chunk
        rest = b"\r" if data.endswith(b"\r") else b""
        yield from _MARK.findall(data[: len(data) - len(rest)])
    yield from _MARK.findall(rest)
