"""Why the machines of some samples of spikes separate the classes and those of others do not: a look behind Fig. 1.

The same seven populations, with few cells or many, with and without biases, with more rows or a penalty; next to
them the plain rates of the cells, which need no machine. ``rare`` is the share of the spread within a class that is in
the features of cells with fewer than five spikes in a sample on average.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.learn.truncated.domain import random_pairs
from fullspan.learn.truncated.train import train
from fullspan.model.algebra.basis import Term
from fullspan.model.algebra.blas import one_core
from fullspan.papers import Say
from fullspan.papers.machine_methods import intensity, truncation
from fullspan.papers.samples import Labelled, populations, spike_words
from fullspan.papers.tbm_fig1 import neighbours_accuracy
from fullspan.papers.text import columns

CELLS, PAIRS = (7, 25), 100
RARE = 5
SETTINGS = ((100, 0.0), (100, 0.01), (100, 0.1), (1000, 0.0), (10_000, 0.0))
"""Rows of a sample, and l2."""


@dataclass(frozen=True)
class Setting:
    """One row of the table."""

    cells: int
    pairs: int
    biases: bool
    rows: int
    l2: float
    rates: float
    """Accuracy by the rates of the cells."""
    accuracy: float
    at_infinity: float
    """Share of fits whose maximum lies at infinity."""
    rare: float
    """Share of the spread within classes that stands in cells that seldom fire."""


@dataclass(frozen=True)
class Spikes:
    """All settings."""

    runs: int
    settings: tuple[Setting, ...]

    def to_json(self) -> dict[str, Any]:
        return {"experiment": "tbm-spikes", "runs": self.runs, "settings": [vars(s) for s in self.settings]}

    def to_text(self) -> str:
        rows = [
            (
                *(str(s.cells), str(s.pairs), "yes" if s.biases else "no", f"{s.rows:,}", f"{s.l2:g}"),
                *(f"{s.rates:.3f}", f"{s.accuracy:.3f}", f"{s.at_infinity:.2f}", f"{s.rare:.2f}"),
            )
            for s in self.settings
        ]
        head = ("cells", "pairs", "biases", "rows", "l2", "by rates", "by features", "at infinity", "rare")
        title = f"{self.runs} samples of each of seven populations; accuracy of ten neighbours"
        return "\n".join([title, "", *columns(head, rows), "", _NOTE])


_NOTE = """\
The rows hold the classes in all settings: the rates alone separate them. The features of 100 rows do not always:
cells that fire a few times in them have weights that are anything down to minus infinity, and these differences by
chance drown those between classes, most of all in the biases. With biases a penalty brings the classes back, or more
rows; without them, more pairs."""


def features(data: Labelled, rows: int, l2: float, terms: tuple[Term, ...], runs: int, seed: int) -> tuple[Any, ...]:
    """Features, rates and classes of all samples, and the share of fits at infinity."""
    rng, n = np.random.default_rng(seed), data.n_variables
    found, rates, labels, infinite = [], [], [], 0
    for label, sample in data.samples(runs, rng, rows):
        t = truncation(sample, terms)
        trained = train(t.engine, t.q, l2=l2)
        found.append(intensity(trained.solution.theta, terms, n))
        rates.append(sample.mean(axis=0))
        labels.append(label)
        infinite += trained.face is not None
    return np.array(found), np.array(rates), np.array(labels), infinite / len(found)


def spread_of_rare(found: Array, rates: Array, labels: NDArray[np.int64], rows: int) -> float:
    """Share of the variance within classes in cells that fire less than ``RARE`` times in a sample on average."""
    rare = total = 0.0
    for label in np.unique(labels):
        own = found[labels == label].var(axis=0)
        seldom = rates[labels == label].mean(axis=0) * rows < RARE
        rare, total = rare + float(own[seldom].sum()), total + float(own.sum())
    return rare / total if total else 0.0


def settings(words: NDArray[np.uint8], runs: int, seed: int, say: Say) -> Iterator[Setting]:
    """All rows of the table."""
    for cells in CELLS:
        data = populations(words, cells)
        count = min(PAIRS, cells * (cells - 1) // 2)
        both = tuple(random_pairs(Space.of_cards((2,) * cells), count, np.random.default_rng(seed)))
        for biases in (False, True):
            terms = both if biases else tuple(term for term in both if len(term) == 2)
            for rows, l2 in SETTINGS:
                say(f"{cells} cells, {len(terms)} weights, {rows:,} rows, l2={l2:g}")
                with one_core():
                    found, rates, labels, infinite = features(data, rows, l2, terms, runs, seed)
                by_rates, by_features = (neighbours_accuracy(f, labels) for f in (rates, found))
                rare = spread_of_rare(found, rates, labels, rows)
                yield Setting(cells, count, biases, rows, l2, by_rates, by_features, infinite, rare)


def run(progress: Say | None = None, data: Path | None = None, runs: int = 20, seed: int = 0) -> Spikes:
    """Run all settings with ``runs`` samples of each population."""
    say = progress or (lambda text: None)
    return Spikes(runs, tuple(settings(spike_words(data), runs, seed, say)))
