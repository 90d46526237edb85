"""Sugiyama, Tsuda and Nakahara, Fig. 1: learning time, and how well machines tell samples apart, by weights.

From every sample of 100 rows a machine is learned; its features ``f_i = |lambda_i| + sum_j |lambda_ij|`` are classified
by their 10 nearest neighbours, leaving each sample out in turn. Weights are on random pairs, the same for all samples;
with and without a bias for every variable, since the paper leaves open which it counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from fullspan.algebra.basis import Term
from fullspan.learn.truncated.domain import random_pairs
from fullspan.reproduce import Say
from fullspan.reproduce.columns import columns
from fullspan.reproduce.machine_methods import METHODS, PUBLISHED_STEPS, Method
from fullspan.reproduce.samples import Labelled, read
from fullspan.space import Space

Array = NDArray[np.float64]
COUNTS = (10, 100, 1000, 10_000, 100_000)
NEIGHBOURS = 10


@dataclass(frozen=True)
class Cell:
    """One method on one set with so many weights."""

    data: str
    method: str
    biases: bool
    pairs: int
    seconds: Array
    accuracy: float

    def to_json(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("data", "method", "biases", "pairs", "accuracy")}
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
                f"{1e3 * c.seconds.mean():.2f}",
                f"{1e3 * c.seconds.std():.2f}",
                f"{c.accuracy:.3f}",
            )
            for c in self.cells
        ]
        head = ("data", "method", "biases", "pairs", "ms", "s.d.", "accuracy")
        title = f"{self.runs} samples of 100 rows per class; descent of {self.steps:,} steps"
        return "\n".join([title, "", *columns(head, rows, (0, 1, 2)), "", _NOTE])

    def files(self) -> dict[str, str]:
        lines = ["data,method,biases,pairs,accuracy,seconds_mean,seconds_sd"]
        for cell in self.cells:
            c = cell.to_json()
            lines.append(
                f'{c["data"]},"{c["method"]}",{c["biases"]},{c["pairs"]},{c["accuracy"]:.6g},'
                f"{c['seconds_mean']:.6g},{c['seconds_sd']:.6g}"
            )
        return {"tbm-fig1.csv": "\n".join(lines) + "\n"}


_NOTE = """\
published: accuracy of truncated machines near 1 above 100 weights; below 1,000 weights two orders of magnitude faster
  than restricted machines, four than fully visible ones (persistent contrastive divergence).
Where the maximum lies at infinity, as it mostly does here, the features are those of the limit, dominated by the rates
at which weights diverge; the descent stops on the way. Time includes the model matrix."""


def neighbours_accuracy(features: Array, labels: NDArray[np.int64], k: int = NEIGHBOURS) -> float:
    """Share of points whose k nearest others are mostly of their class; the lower label wins a tie."""
    squares = (features**2).sum(axis=1)
    distance = squares[:, None] + squares[None, :] - 2 * features @ features.T
    np.fill_diagonal(distance, np.inf)
    nearest = labels[np.argsort(distance, axis=1, kind="stable")[:, :k]]
    votes = np.array([np.bincount(row, minlength=int(labels.max()) + 1).argmax() for row in nearest])
    return float((votes == labels).mean())


def pair_counts(n: int, most: int) -> list[int]:
    """10, 100, ... up to ``most`` and all the pairs there are."""
    limit = min(most, n * (n - 1) // 2)
    return sorted({*(c for c in COUNTS if c <= limit), *([limit] if limit < COUNTS[1] else [])})


def domains(n: int, most: int, rng: np.random.Generator) -> Iterator[tuple[bool, int, tuple[Term, ...]]]:
    """Patterns with and without biases, by number of pairs."""
    space = Space.of_cards((2,) * n)
    for pairs in pair_counts(n, most):
        terms = random_pairs(space, pairs, rng)
        yield True, pairs, tuple(terms)
        yield False, pairs, tuple(term for term in terms if len(term) == 2)


def features_of(
    method: Method, samples: list[tuple[int, NDArray[np.uint8]]], terms: tuple[Term, ...], steps: int
) -> tuple[Array, Array]:
    """Features (samples, n) and seconds of every sample's machine."""
    found, seconds = np.zeros((len(samples), samples[0][1].shape[1])), np.zeros(len(samples))
    method.timed(samples[0][1], terms, 1)  # compiled before the clock runs
    for s, (_, rows) in enumerate(samples):
        found[s], seconds[s] = method.features(rows, terms, steps)
    return found, seconds


def cells_of(data: Labelled, runs: int, weights: int, steps: int, rng: np.random.Generator, say: Say) -> Iterator[Cell]:
    """All methods on one set."""
    samples = list(data.samples(runs, rng))
    labels = np.array([label for label, _ in samples])
    for biases, pairs, terms in domains(data.n_variables, weights, rng):
        for method in METHODS:
            if method.fits(data.n_variables, pairs) and (biases or not method.has_features):
                say(f"{data.name}: {method.name}, {pairs:,} pairs, {len(samples)} samples")
                with threadpool_limits(limits=1, user_api="blas"):
                    features, seconds = features_of(method, samples, terms, steps)
                accuracy = neighbours_accuracy(features, labels)
                yield Cell(data.name, method.name, biases, pairs, seconds, accuracy)


def run(
    progress: Say | None = None,
    data: Path | None = None,
    runs: int = 50,
    weights: int = 100_000,
    iterations: int = PUBLISHED_STEPS,
    seed: int = 0,
) -> Figure1:
    """Run all methods; ``runs`` samples of each class, up to ``weights`` pairs, ``iterations`` steps of descent."""
    say = progress or (lambda text: None)
    sets = [read(name, data) for name in ("digits", "spikes")]
    rng = np.random.default_rng(seed)
    cells = [cell for labelled in sets for cell in cells_of(labelled, runs, weights, iterations, rng, say)]
    return Figure1(runs, iterations, tuple(cells))
