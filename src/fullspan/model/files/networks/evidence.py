"""Evidence files of the UAI format: which variables were seen, in which state, by position and code.

Two layouts are known. The newer has one sample, the older begins with the number of samples:

    2  1 0  2 1             two variables: 1 is in state 0, and 2 in state 1

    2                       two samples
    1  1 0                  of which the first knows one variable,
    2  1 0  2 1             and the second two

A file that can be read as one sample is; this is decided by the number of its words alone.
"""

from __future__ import annotations

import os
from pathlib import Path

from fullspan.data.space import Space
from fullspan.model.files.networks.number_list import NumberList
from fullspan.model.files.opening import read_bytes

Codes = dict[int, int]
"""Codes by position of the variable."""

MAX_BYTES = 64 << 20


def read_evidence(path: str | os.PathLike[str], space: Space) -> list[Codes]:
    """The samples of an evidence file; no variable known is a sample too.

    Raises
    ------
    ModelFileError : the file is missing, or not sound, or does not belong to these variables; the message names the
        file, the line and the reason.
    """
    words = NumberList(read_bytes(Path(path), MAX_BYTES, unpack=True), str(path))
    count = words.whole("the number of variables seen (0 if none)")
    if len(words.words) == 2 * count + 1:
        return [_read_sample(words, count, space)]
    left = len(words.words) - 1
    if count > left or (count == 0 and left):
        raise words.refuse(
            f"{count} stands first, and {left} numbers follow: neither {count} pairs of variable and state nor "
            f"{count} samples",
            0,
        )
    samples = [_read_sample(words, words.whole(f"the size of sample {k}"), space) for k in range(count)]
    words.end()
    return samples


def _read_sample(words: NumberList, count: int, space: Space) -> Codes:
    codes: Codes = {}
    start = words.place
    pairs = words.wholes(2 * count, f"{count} pairs of variable and state")
    for k, (i, x) in enumerate(zip(pairs[::2], pairs[1::2], strict=True)):
        at = start + 2 * k
        if i >= len(space):
            raise words.refuse(f"there is no variable {i}; there are {len(space)}, from 0", at)
        if x >= space.variables[i].card:
            levels = space.variables[i].card
            raise words.refuse(f"variable {i} cannot be in state {x}; it has {levels} levels, from 0", at + 1)
        if i in codes:
            raise words.refuse(f"variable {i} stands twice", at)
        codes[i] = x
    return codes
