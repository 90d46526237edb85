"""Samples of binary rows with a class each, drawn from data that are kept elsewhere.

Sugiyama, Tsuda and Nakahara draw 50 samples of 100 rows from each class of two sets: binarised digits, and spike words
of retinas. The digits are those of MNIST, ``x > 0``. In place of the retinas, each with cells of its own, stand seven
populations of 25 cells, drawn from one recording of 50: a class is a population. 25 cells have 300 pairs, so that
there is something above 100 weights to be seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.errors import FullspanError

ROWS = 100
"""Rows of a sample."""
POPULATIONS, CELLS, DRAW = 7, 25, 0
"""Classes of spikes, cells of each, and the seed that draws them."""
FILES = {
    "digits": ("mnist10k_bin.npz", "bits_gt0 (rows, 98), pixels packed along rows, and labels (rows,)"),
    "spikes": ("spikes50.npz", "bits (rows, 7), 50 cells packed along rows"),
}


@dataclass(frozen=True)
class Labelled:
    """Rows (m, d) of bits by class."""

    name: str
    classes: tuple[NDArray[np.uint8], ...]

    @property
    def n_variables(self) -> int:
        return int(self.classes[0].shape[1])

    def samples(self, runs: int, rng: np.random.Generator, size: int = ROWS) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """``runs`` samples of each class: its number, and ``size`` rows drawn without replacement."""
        for label, rows in enumerate(self.classes):
            for _ in range(runs):
                yield label, rows[rng.choice(len(rows), size, replace=False)]


def read(name: str, folder: Path | None) -> Labelled:
    """The rows of a set, by class, from a file somewhere below a folder.

    Raises
    ------
    FullspanError : there is no folder, no such file in it, or it does not hold what it should.
    """
    return _digits(folder) if name == "digits" else populations(spike_words(folder))


def _arrays(name: str, folder: Path | None, *wanted: str) -> list[NDArray[Any]]:
    file, content = FILES[name]
    found = sorted(folder.rglob(file)) if folder is not None and folder.is_dir() else []
    if not found:
        raise FullspanError(
            f"the {name} are not part of this package: give --data FOLDER with {file} in it ({content})"
        )
    try:
        with np.load(found[0], allow_pickle=False) as held:
            return [held[key] for key in wanted]
    except (KeyError, ValueError, OSError) as error:
        raise FullspanError(f"{found[0]} does not hold {content}: {error}") from error


def _digits(folder: Path | None) -> Labelled:
    packed, labels = _arrays("digits", folder, "bits_gt0", "labels")
    pixels = np.unpackbits(packed, axis=1)[:, :784]
    return Labelled("digits", tuple(pixels[labels == digit] for digit in range(10)))


def spike_words(folder: Path | None) -> NDArray[np.uint8]:
    """The recording (rows, 50).

    Raises
    ------
    FullspanError : as for :func:`read`.
    """
    (packed,) = _arrays("spikes", folder, "bits")
    return np.unpackbits(packed, axis=1)[:, :50]


def populations(words: NDArray[np.uint8], cells: int = CELLS) -> Labelled:
    """Seven random populations of ``cells`` cells of a recording (rows, all cells), always the same ones."""
    rng = np.random.default_rng(DRAW)
    drawn = [rng.permutation(words.shape[1])[:cells] for _ in range(POPULATIONS)]
    return Labelled("spikes", tuple(words[:, cell] for cell in drawn))
