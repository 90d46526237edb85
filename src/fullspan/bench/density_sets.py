"""Sets of rows for density estimation: a folder of ``.npz`` files, in parts or to be cross-validated.

train, valid, test, nvars     bits packed along rows, in three parts
bits, n                       bits packed along rows, in one part
codes                         one column per variable, 255 for a missing cell
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Ints
from fullspan.data.space import Space
from fullspan.errors import DataError

MISSING = 255
_HELD_OUT = 0.1
"""Share of the rows of a fold's training part that are held out."""


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to learn from, rows held out for choices, and rows to be scored once; -1 is a missing cell.

    A method that chooses nothing learns from ``known``: the rows of a fold that are not tested. Of a set with given
    parts these are the training rows alone, as in what is published.
    """

    train: Ints
    valid: Ints
    test: Ints
    known: Ints


@dataclass(frozen=True, eq=False)
class DataSet:
    """A set of rows: given parts, or all rows in one."""

    name: str
    space: Space
    parts: dict[str, Ints]

    @property
    def n_rows(self) -> int:
        """Of all parts."""
        return sum(map(len, self.parts.values()))

    def n_splits(self, folds: int) -> int:
        """1 where the parts are given, else the folds."""
        return 1 if "train" in self.parts else folds

    def splits(self, folds: int, seed: int) -> Iterator[Split]:
        """The one split that is given, or ``folds`` folds of the rows, each with a tenth of its other rows held out."""
        if "train" in self.parts:
            yield Split(self.parts["train"], self.parts["valid"], self.parts["test"], self.parts["train"])
            return
        rows, rng = self.parts["rows"], np.random.default_rng(seed)
        shuffled = rng.permutation(len(rows))
        for test in np.array_split(shuffled, folds):
            rest = np.setdiff1d(shuffled, test, assume_unique=True)
            cut = max(1, round(_HELD_OUT * len(rest)))
            yield Split(rows[rest[cut:]], rows[rest[:cut]], rows[np.sort(test)], rows[rest])


def read_set(path: Path) -> DataSet:
    """Read one file.

    Raises
    ------
    DataError : it cannot be read, or holds none of the forms that are known.
    """
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            held: dict[str, NDArray[Any]] = {key: file[key] for key in file.files}
    except (ValueError, EOFError, AttributeError, BadZipFile, zlib.error) as error:
        raise DataError(f"{path} is not a valid .npz file: {str(error)[:200]}") from error
    if {"train", "valid", "test", "nvars"} <= held.keys():
        n = int(held["nvars"])
        parts = {part: _bits(held[part], n) for part in ("train", "valid", "test")}
        return DataSet(path.stem, Space.of_cards([2] * n), parts)
    if {"bits", "n"} <= held.keys():
        n = int(held["n"])
        return DataSet(path.stem, Space.of_cards([2] * n), {"rows": _bits(held["bits"], n)})
    if "codes" in held:
        codes = held["codes"].astype(np.int64)
        codes[codes == MISSING] = -1
        return DataSet(path.stem, Space.of_cards(np.maximum(codes.max(axis=0) + 1, 2)), {"rows": codes})
    raise DataError(f"{path} holds {', '.join(held)}; train, valid, test and nvars, or bits and n, or codes are needed")


def _bits(packed: NDArray[Any], n: int) -> Ints:
    return np.unpackbits(packed, axis=1)[:, :n].astype(np.int64)


def find_sets(folder: Path, names: list[str] | None = None) -> list[Path]:
    """The files of a folder and of the folders in it, or those of some names, smallest first.

    Raises
    ------
    DataError : there is no such folder, or no such set in it.
    """
    found = {path.stem: path for path in sorted(folder.rglob("*.npz"))}
    if not found:
        raise DataError(f"{folder} holds no .npz files; give the folder of the data sets with --data")
    for name in names or []:
        if name not in found:
            raise DataError(f"{folder} has no set {name!r}; it has {', '.join(found)}")
    return sorted((found[name] for name in names or found), key=lambda path: path.stat().st_size)
