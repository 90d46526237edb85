"""Arrow batches as tokens: each column as its distinct values and, per row, the position of its value there."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.merging import code_dtype

TOKEN_LIMIT = 100_000
"""Distinct values of one column after which reading stops: no variable has that many levels."""


@dataclass(frozen=True)
class Tokens:
    """``values[j][codes[j][i]]`` is the cell of row ``i``, column ``j``; None is a missing cell.

    ``measures`` are the columns after the keys; ``complete`` is False where reading stopped early.
    """

    values: list[list[Any]]
    codes: list[NDArray[np.integer[Any]]]
    measures: dict[str, NDArray[Any]]
    complete: bool

    @property
    def overfull(self) -> int:
        """The column with the most distinct values."""
        return max(range(len(self.values)), key=lambda j: len(self.values[j]))


class _Column:
    """Values seen so far, and the codes of each batch."""

    def __init__(self) -> None:
        self.seen: dict[Any, int] = {}
        self.parts: list[NDArray[np.integer[Any]]] = []

    def add(self, array: Any) -> None:
        values, positions = _two_integers(array) or _dictionary(array)
        table = [self._token(v) for v in values]
        self.parts.append(coded(np.array(table, dtype=code_dtype((len(self.seen),), signed=True)), positions))

    def _token(self, value: Any) -> int:
        # NaN is a missing cell, and is not equal to itself: as a key it would be a new value each time.
        key = None if value != value else value
        return self.seen.setdefault(key, len(self.seen))


def _dictionary(array: Any) -> tuple[list[Any], NDArray[Any]]:
    """The distinct values of an Arrow array, and the position of each cell's value."""
    import pyarrow.compute as pc

    encoded = array if hasattr(array, "indices") else array.dictionary_encode()
    values, indices = encoded.dictionary.to_pylist(), encoded.indices
    if indices.null_count:
        indices = pc.fill_null(indices, len(values))
        values.append(None)
    return values, indices.to_numpy(zero_copy_only=False)


def _two_integers(array: Any) -> tuple[list[Any], NDArray[Any]] | None:
    """The same without hashing, for integers that take one value or two neighbours, as 0 and 1."""
    import pyarrow as pa

    if not pa.types.is_integer(array.type) or array.null_count or not len(array):
        return None
    numbers = array.to_numpy(zero_copy_only=False)
    low, high = int(numbers.min()), int(numbers.max())
    # Three values would need the hash after all.
    if high - low > 1:
        return None
    return list(range(low, high + 1)), (numbers != low).view(np.int8)


def coded(table: NDArray[Any], positions: NDArray[Any]) -> NDArray[Any]:
    """``table[positions]``; the positions themselves where the table changes nothing."""
    if positions.dtype == table.dtype and np.array_equal(table, np.arange(len(table))):
        return positions
    return table.take(positions)


def read_tokens(batches: Iterable[Any], n_keys: int) -> Tokens:
    """Read batches whose first ``n_keys`` columns are keys and whose others are measures.

    Memory is 1 to 4 bytes per cell and one batch; time is one hash per cell.
    """
    columns = [_Column() for _ in range(n_keys)]
    measures: dict[str, list[NDArray[Any]]] = {}
    complete = True
    for batch in batches:
        for j, column in enumerate(columns):
            column.add(batch.column(j))
        for name in batch.schema.names[n_keys:]:
            measures.setdefault(name, []).append(_numbers(batch.column(name)))
        # Looked at once for each batch: a few values too many do no harm.
        if any(len(column.seen) > TOKEN_LIMIT for column in columns):
            complete = False
            break
    return Tokens(
        values=[list(column.seen) for column in columns],
        codes=[np.concatenate(c.parts) if c.parts else np.empty(0, np.int8) for c in columns],
        measures={name: np.concatenate(parts) for name, parts in measures.items()},
        complete=complete,
    )


def _numbers(array: Any) -> NDArray[Any]:
    """Sums and counts; the sum over no row is null and becomes 0."""
    import pyarrow as pa

    if array.null_count:
        array = array.fill_null(0)
    if pa.types.is_decimal(array.type):
        array = array.cast(pa.float64())
    numbers: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return numbers


_MARK = re.compile(rb'"|\r\n|\n|\r')
_NAMES = {b"\n": "LF", b"\r\n": "CRLF", b"\r": "CR"}
_READ_BYTES = 1 << 20


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
    while chunk := file.read(_READ_BYTES):
        data = rest + chunk
        # "\r\n" may be cut in two by the end of a chunk.
        rest = b"\r" if data.endswith(b"\r") else b""
        yield from _MARK.findall(data[: len(data) - len(rest)])
    yield from _MARK.findall(rest)
