"""What is stacked with the search of a wide table: how each candidate is learned, and its part of the time.

A candidate learns from the training rows; the rows held out stop it and choose its size. Learned again, it begins
elsewhere: with other random numbers, or from bootstrap samples.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.engine.elimination.components import sums_of
from fullspan.errors import FullspanError
from fullspan.learn.base.counted import bootstrap
from fullspan.learn.base.progress import Interrupted
from fullspan.learn.shares import best_shares
from fullspan.learn.wide.fit import WideOptions
from fullspan.model.graph import FactorGraph
from fullspan.model.record import Component, StepLike

Watch = Callable[[Any], None] | None
Parts = Sequence[tuple[float, Component]]
_POINTS, _MOST_POINTS = 64, 4096
"""Points of a latent variable for each fit that was asked for, and the most."""
_BATCHES, _LEAST_BATCH, _MOST_BATCH = 16, 128, 512
"""Batches of all rows, and the rows of a batch at least and at most: few rows need small batches for enough steps."""
_ROWS_PER_POINT = 4
"""Rows for each point: few rows tell no more of them apart."""


@dataclass(frozen=True)
class StackOptions:
    """How models are stacked.

    Attributes
    ----------
    size : how large the candidates are: 64 ``size`` points of a latent variable, and trees of ``size`` and 2 ``size``
        hidden states.
    wide : how the search of bounded width goes.
    max_seconds : of all learning; None for no limit.
    seed : of everything random.
    device : where a latent variable and hidden trees are learned.
    """

    size: int = 16
    wide: WideOptions = field(default_factory=WideOptions)
    max_seconds: float | None = 600.0
    seed: Any = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.max_seconds is not None and not self.max_seconds > 0:
            raise FullspanError(f"max_seconds is {self.max_seconds!r}; a positive number, or None for no limit")


@dataclass(frozen=True)
class Learned:
    """A candidate: its parts with their shares, how it ended, ``log p`` of the rows held out, and the time it took."""

    parts: Parts
    status: str
    held_out: Array = field(default_factory=lambda: np.zeros(0))
    seconds: float = 0.0


Learn = Callable[[Empirical, Empirical, float | None, np.random.Generator, Watch], Learned]


@dataclass(frozen=True)
class Candidate:
    """How a candidate is learned, the first time and again, and its part of the time that is left when it begins."""

    name: str
    learn: Learn
    weight: float
    learn_again: Learn | None = None

    def again(self, name: str) -> Candidate:
        """One more of its kind."""
        return replace(self, name=name, learn=self.learn_again or self.learn)


def log_prob(parts: Parts, rows: NDArray[Any], before: Sequence[tuple[float, Array]] = ()) -> Array:
    """``log P`` of the observed cells of rows (m, n) under components of some shares, summed in each.

    ``before`` are further models: their shares, and what they say of the rows.
    """
    total, complete = np.full(len(rows), -np.inf), bool((rows >= 0).all())
    for share, log in before:
        np.logaddexp(total, math.log(share) + log, out=total)
    for share, part in parts:
        own = part.log_weight(rows) if complete else sums_of(part).log_prob(np.asarray(rows, dtype=np.int64))
        np.logaddexp(total, math.log(share) + own, out=total)
    return total


def candidates_of(options: StackOptions, *, complete: bool) -> list[Candidate]:
    """What is stacked with the search, and the part of the time that each may take."""
    network = [Candidate("networks", _networks(options), 0.15, _networks(options, whole=False))] if complete else []
    return [
        Candidate("latent variable, trees", _latent(options, trees=True), 0.3),
        Candidate("mixture", _mixture(options), 0.25),
        Candidate("hidden tree", _hidden_tree(options), 0.2),
        *network,
        Candidate("latent variable, columns", _latent(options, trees=False), 0.1),
    ]


def _networks(options: StackOptions, *, whole: bool = True) -> Learn:
    """Networks of bootstrap samples as long as there is time, at most half ``size``, the first of the whole rows."""

    def learn(
        train: Empirical, valid: Empirical, seconds: float | None, rng: np.random.Generator, watch: Watch
    ) -> Learned:
        from fullspan.learn.networks.search import learn_network

        began, late, found = time.perf_counter(), False, list[FactorGraph]()

        def tell(step: StepLike) -> None:
            nonlocal late
            if watch is not None:
                watch(step)
            late = seconds is not None and time.perf_counter() - began > seconds
            if late:
                raise Interrupted

        status = "converged"
        for b in range(max(options.size // 2, 1)):
            network = learn_network(train if whole and not b else bootstrap(train, rng).data, watch=tell)
            if not network.is_finished and found:  # half a network says less than those before it
                status = "converged" if late else "interrupted"
                break
            found.append(_graph_of(train.space, network.families, network.tables))
            if not network.is_finished:
                status = "time limit" if late else "interrupted"
                break
        logs = np.stack([graph.log_weight(valid.states) for graph in found], axis=1)
        return Learned(list(zip(best_shares(logs, valid.counts).tolist(), found, strict=True)), status)

    return learn


def _graph_of(space: Space, families: Sequence[tuple[int, ...]], tables: Sequence[Array]) -> FactorGraph:
    shapes = [[space.cards[i] for i in family] for family in families]
    return FactorGraph(space, families, [t.reshape(s, order="F") for t, s in zip(tables, shapes, strict=True)])


def _latent(options: StackOptions, *, trees: bool) -> Learn:
    def learn(
        train: Empirical, valid: Empirical, seconds: float | None, rng: np.random.Generator, watch: Watch
    ) -> Learned:
        from fullspan.learn.latent import LatentOptions, fit_latent

        rows = int(train.total / _ROWS_PER_POINT)
        points = min(_POINTS * options.size, _MOST_POINTS, max(rows, _POINTS))
        batch = min(_MOST_BATCH, max(int(train.total / _BATCHES), _LEAST_BATCH))
        own = LatentOptions(points, batch=batch, trees=trees, max_seconds=seconds, seed=rng, device=options.device)
        found = fit_latent(train, own, valid, watch)
        return Learned([(1.0, found.model)], found.status)

    return learn


def _mixture(options: StackOptions) -> Learn:
    def learn(
        train: Empirical, valid: Empirical, seconds: float | None, rng: np.random.Generator, watch: Watch
    ) -> Learned:
        from fullspan.learn.decomposable.fit import RUNS, MixtureOptions, fit_mixture

        runs = [run for run in RUNS if run[0] <= 2 * options.size]
        fitted = fit_mixture(train, MixtureOptions(runs=runs, max_seconds=seconds, seed=rng), valid, watch)
        parts = list(zip(fitted.model.shares.tolist(), fitted.model.components, strict=True))
        return Learned(parts, fitted.status)

    return learn


def _hidden_tree(options: StackOptions) -> Learn:
    def learn(
        train: Empirical, valid: Empirical, seconds: float | None, rng: np.random.Generator, watch: Watch
    ) -> Learned:
        from fullspan.learn.trees.hidden_tree import TreeOptions, fit_hidden_tree

        states = [options.size, 2 * options.size]
        own = TreeOptions(states, max_seconds=seconds, seed=rng, device=options.device)
        fitted = fit_hidden_tree(train, own, valid, watch)
        return Learned([(1.0, fitted.model)], fitted.status)

    return learn
