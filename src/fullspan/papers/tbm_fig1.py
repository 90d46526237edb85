"""Sugiyama, Tsuda and Nakahara, Fig. 1: learning time, and how well machines tell samples apart, by weights.

From every sample of 100 rows a machine is learned; its features ``f_i = |lambda_i| + sum_j |lambda_ij|`` are classified
by their 10 nearest neighbours, leaving each sample out in turn. Weights are on random pairs, the same for all samples;
with and without a bias for every variable, since the paper leaves open which it counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.learn.truncated.domain import random_pairs
from fullspan.model.algebra.basis import Term
from fullspan.model.algebra.blas import one_core
from fullspan.papers import Say
from fullspan.papers.machine_methods import METHODS, PUBLISHED_STEPS, Method
from fullspan.papers.plots import Line, LogPanel, log_panels
from fullspan.papers.samples import Labelled, read
from fullspan.papers.text import columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Sample = tuple[int, NDArray[np.uint8]]
COUNTS = (10, 100, 1000, 10_000, 100_000)
NEIGHBOURS = 10


@dataclass(frozen=True)
class Cell:
    """One method on one data set with a number of weights."""

    data: str
    method: str
    biases: bool
    pairs: int
    seconds: Array
    accuracy: float
    """NaN where a class has too few samples for neighbours of its own."""

    def to_json(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("data", "method", "biases", "pairs")}
        own |= {"samples": len(self.seconds), "accuracy": None if math.isnan(self.accuracy) else self.accuracy}
        return own | {"seconds_mean": float(self.seconds.mean()), "seconds_sd": float(self.seconds.std())}


@dataclass(frozen=True)
class Figure1:
    """All cells."""

    runs: int
    steps: int
    cells: tuple[Cell, ...]

    def to_json(self) -> dict[str, Any]:
        cells = [cell.to_json() for cell in self.cells]
        return {"experiment": "tbm-fig1", "runs": self.runs, "iterations": self.steps, "cells": cells}

    def to_text(self) -> str:
        rows = [
            (
                c.data,
                c.method,
                "yes" if c.biases else "no",
                f"{c.pairs:,}",
                str(len(c.seconds)),
                f"{1e3 * c.seconds.mean():.2f}",
                f"{1e3 * c.seconds.std():.2f}",
                f"{self.times(c):,.1f}",
                "-" if math.isnan(c.accuracy) else f"{c.accuracy:.3f}",
            )
            for c in self.cells
        ]
        head = ("data", "method", "biases", "pairs", "samples", "ms", "s.d.", "times ours", "accuracy")
        title = f"{self.runs} samples of 100 rows per class, large rivals on fewer; {self.steps:,} steps at most"
        return "\n".join([title, "", *columns(head, rows, (0, 1, 2)), "", _NOTE])

    def times(self, cell: Cell) -> float:
        """Time of a cell over that of the truncated machine with the same weights."""
        ours = next(
            c
            for c in self.cells
            if (c.data, c.biases, c.pairs) == (cell.data, cell.biases, cell.pairs) and c.method == METHODS[0].name
        )
        return float(cell.seconds.mean() / ours.seconds.mean())

    def figures(self) -> dict[str, Figure]:
        return {"tbm-fig1": log_panels(self.panels())}

    def files(self) -> dict[str, str]:
        records = [cell.to_json() for cell in self.cells]
        lines = [",".join(records[0])]
        lines += [",".join(f'"{v}"' if k == "method" else f"{v}" for k, v in r.items()) for r in records]
        return {"tbm-fig1.csv": "\n".join(lines) + "\n"}

    def panels(self) -> list[LogPanel]:
        """Time and accuracy of each set: (a) and (b) of the figure. Dashed without biases."""
        out = []
        for data in dict.fromkeys(c.data for c in self.cells):
            runs = dict[tuple[str, bool], list[Cell]]()
            for c in self.cells:
                if c.data == data:
                    runs.setdefault((c.method, c.biases), []).append(c)
            times = tuple(_line(cells, "seconds") for cells in runs.values())
            known = ([c for c in cells if not math.isnan(c.accuracy)] for cells in runs.values())
            shares = tuple(_line(cells, "accuracy") for cells in known if cells)
            out.append(LogPanel(f"{data}: time of learning", "pairs", "seconds of the processor, s.d.", times))
            if shares:
                out.append(LogPanel(f"{data}: ten neighbours", "pairs", "accuracy", shares, logarithmic=False))
        return out


def _line(cells: list[Cell], what: str) -> Line:
    x = tuple(float(c.pairs) for c in cells)
    name = f"{cells[0].method}{'' if cells[0].biases else ', no biases'}"
    if what == "accuracy":
        return Line(name, x, tuple(c.accuracy for c in cells), dashed=not cells[0].biases)
    mean, spread = (tuple(float(f(c.seconds)) for c in cells) for f in (np.mean, np.std))
    return Line(name, x, mean, spread, dashed=not cells[0].biases)


_NOTE = """\
published: accuracy of truncated machines near 1 above 100 weights; below 1,000 weights two orders of magnitude faster
  than restricted machines, four than fully visible ones (persistent contrastive divergence).
Where the maximum lies at infinity, as it mostly does here, the features are those of the limit, dominated by the rates
at which weights diverge; the descent stops before it. Time is the processor's, and includes the model matrix."""


def neighbours_accuracy(features: Array, labels: NDArray[np.int64], k: int = NEIGHBOURS) -> float:
    """Share of points whose k nearest others are mostly of their class; the lower label wins a tie."""
    squares = (features**2).sum(axis=1)
    distance = squares[:, None] + squares[None, :] - 2 * features @ features.T
    np.fill_diagonal(distance, np.inf)
    nearest = labels[np.argsort(distance, axis=1, kind="stable")[:, :k]]
    votes = np.array([np.bincount(row, minlength=int(labels.max()) + 1).argmax() for row in nearest])
    return float((votes == labels).mean())


def pair_counts(n: int, most: int) -> list[int]:
    """10, 100, ... up to ``most``, and all the pairs there are if these are fewer."""
    every = n * (n - 1) // 2
    return sorted({*(c for c in COUNTS if c <= min(most, every)), *([every] if every <= most else [])})


def domains(n: int, most: int, rng: np.random.Generator) -> Iterator[tuple[bool, int, tuple[Term, ...]]]:
    """Patterns with and without biases, by number of pairs."""
    space = Space.of_cards((2,) * n)
    for pairs in pair_counts(n, most):
        terms = random_pairs(space, pairs, rng)
        yield True, pairs, tuple(terms)
        yield False, pairs, tuple(term for term in terms if len(term) == 2)


def features_of(method: Method, samples: list[Sample], terms: tuple[Term, ...], steps: int) -> tuple[Array, Array]:
    """Features (samples, n) and the processor's seconds of every sample's machine."""
    found, seconds = np.zeros((len(samples), samples[0][1].shape[1])), np.zeros(len(samples))
    with one_core():
        method.timed(samples[0][1], terms, 1)  # compiled before the clock runs
        for s, (_, rows) in enumerate(samples):
            found[s], seconds[s] = method.features(rows, terms, steps)
    return found, seconds


def features_by_name(name: str, samples: list[Sample], terms: tuple[Term, ...], steps: int) -> tuple[Array, Array]:
    """:func:`features_of` in another process, to which only the name of a method can be sent."""
    return features_of(next(method for method in METHODS if method.name == name), samples, terms, steps)


def features_by_all(
    workers: list[Executor], method: Method, samples: list[Sample], terms: tuple[Term, ...], steps: int
) -> tuple[Array, Array]:
    """:func:`features_of`, the samples dealt out to worker processes; here if there is none."""
    hands = min(len(workers), len(samples))
    if not hands:
        return features_of(method, samples, terms, steps)
    tasks = [
        worker.submit(features_by_name, method.name, samples[h::hands], terms, steps)
        for h, worker in enumerate(workers[:hands])
    ]
    found, seconds = np.zeros((len(samples), samples[0][1].shape[1])), np.zeros(len(samples))
    for h, task in enumerate(tasks):
        found[h::hands], seconds[h::hands] = task.result()
    return found, seconds


def chosen(method: Method, samples: list[Sample], rivals: int, pairs: int, biases: bool) -> list[Sample]:
    """The samples on which a method is run: all, the first ones of each class, or the very first.

    A rival with biases and at most 1,000 pairs gets ``rivals`` of each class, one without biases or with at most 10,000
    pairs a quarter of that, and a larger one a single sample.
    """
    if method.only_timed:
        return samples[:1]
    if not method.rival:
        return samples
    share = rivals if biases and pairs <= 1000 else rivals // 4 if pairs <= 10_000 else 1
    labels = np.array([label for label, _ in samples])
    keep = np.concatenate([np.flatnonzero(labels == label)[: max(1, share)] for label in np.unique(labels)])
    return [samples[s] for s in keep]


def accuracy_of(features: Array, labels: NDArray[np.int64]) -> float:
    """Of the neighbours; NaN where a class has no more samples than neighbours are asked."""
    if np.unique(labels, return_counts=True)[1].min() <= NEIGHBOURS:
        return math.nan
    return neighbours_accuracy(features, labels)


def cells_of(
    data: Labelled,
    runs: int,
    rivals: int,
    weights: int,
    steps: int,
    rng: np.random.Generator,
    workers: list[Executor],
    say: Say,
) -> Iterator[Cell]:
    """All methods on one set."""
    samples = list(data.samples(runs, rng))
    for biases, pairs, terms in domains(data.n_variables, weights, rng):
        for method in METHODS:
            if method.takes(data.n_variables, pairs, biases):
                some = chosen(method, samples, rivals, pairs, biases)
                say(f"{data.name}: {method.name}, {pairs:,} pairs, {len(some)} samples")
                features, seconds = features_by_all(workers, method, some, terms, steps)
                accuracy = accuracy_of(features, np.array([label for label, _ in some]))
                yield Cell(data.name, method.name, biases, pairs, seconds, accuracy)


def run(
    progress: Say | None = None,
    data: Path | None = None,
    runs: int = 50,
    rivals: int = 50,
    weights: int = 100_000,
    iterations: int = PUBLISHED_STEPS,
    seed: int = 0,
    jobs: int = 1,
) -> Figure1:
    """Run all methods: ``runs`` samples of each class, up to ``weights`` pairs, and ``iterations`` steps of those that
    take steps, which are run on up to ``rivals`` samples of each class; ``jobs`` processes share the samples.

    Ctrl-C keeps what is done.
    """
    say = progress or (lambda text: None)
    sets = [read(name, data) for name in ("digits", "spikes")]
    rng = np.random.default_rng(seed)
    cells = list[Cell]()
    with ExitStack() as stack:
        hands = jobs if jobs > 1 else 0
        workers: list[Executor] = [
            stack.enter_context(ProcessPoolExecutor(1, mp_context=get_context("spawn"))) for _ in range(hands)
        ]
        try:
            for labelled in sets:
                cells.extend(cells_of(labelled, runs, rivals, weights, iterations, rng, workers, say))
        except KeyboardInterrupt:
            if not cells:
                raise
            say(f"stopped after {len(cells)} rows, which are kept")
    return Figure1(runs, iterations, tuple(cells))
