"""Fibres: the blocks of a table that differ only in the high variables of one term, and are updated together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.model.algebra.jit import serial


class Fibres(NamedTuple):
    """Offsets of the blocks of one fibre, and the high variables that the term leaves free, which number the fibres."""

    free_cards: NDArray[np.int64]
    free_strides: NDArray[np.int64]
    offsets: NDArray[np.int64]


@serial
def count_fibres(fibres: Fibres) -> int:
    """Number of fibres in the table."""
    count = 1
    for i in range(fibres.free_cards.size):
        count *= fibres.free_cards[i]
    return count


@serial
def first_block(fibres: Fibres, unit: int) -> int:
    """The block of a fibre in which the term's own high digits are all zero."""
    block = 0
    for i in range(fibres.free_cards.size):
        block += (unit % fibres.free_cards[i]) * fibres.free_strides[i]
        unit //= fibres.free_cards[i]
    return block
