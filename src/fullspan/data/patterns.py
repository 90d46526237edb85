"""Rows grouped by which of their cells are missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Pattern:
    """The distinct rows whose missing cells are those of ``missing``, and no others.

    Attributes
    ----------
    missing : positions of the variables not observed, increasing.
    states : (m, n) codes, −1 in the columns of ``missing``.
    counts : (m,) float64, positive.
    """

    missing: tuple[int, ...]
    states: NDArray[np.integer[Any]]
    counts: NDArray[np.float64]

    @property
    def observed(self) -> tuple[int, ...]:
        """Positions of the variables observed, increasing."""
        missing = set(self.missing)
        return tuple(i for i in range(self.states.shape[1]) if i not in missing)


def grouped(states: NDArray[np.integer[Any]], counts: NDArray[np.float64]) -> Iterator[Pattern]:
    """The patterns in increasing order of ``sum_{i missing} 2^i``: complete rows, if any, come first.

    Rows keep their order. Time is one sort of (m,) words of 64 bits for each 64 variables.
    """
    for rows in same_pattern(states):
        missing = tuple(np.flatnonzero(states[rows[0]] < 0).tolist())
        yield Pattern(missing, states[rows], counts[rows])


def same_pattern(states: NDArray[np.integer[Any]]) -> list[NDArray[np.intp]]:
    """Positions of the rows of each pattern, increasing; patterns in the order of :func:`grouped`."""
    words = _words(states < 0)
    order = np.lexsort(words.T)
    ranked = words[order]
    is_new = (ranked[1:] != ranked[:-1]).any(axis=1)
    return np.split(order, np.flatnonzero(is_new) + 1)


def _words(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Rows of bits (m, n) as words (m, ⌈n/64⌉), bit 0 of the first word first."""
    packed = np.packbits(bits, axis=1, bitorder="little")
    padded = np.zeros((len(bits), -(-bits.shape[1] // 64) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8")
