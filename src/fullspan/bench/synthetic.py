"""Synthetic rows of known networks: the likelihood protocol of SDGym.

Rows are drawn from a Bayesian network, a table like them is made, and two numbers say how far it is from the truth:

    syn   mean log p(x) of the synthetic rows under the true network
    test  mean log p(x) of unseen rows, under the network's structure with tables counted from the synthetic rows

both as log(p + 1e-8). A family without rows is uniform. The rows learned from, in place of synthetic ones, give the
most that can be reached, and the gaps are to these.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.data import decode, encode
from fullspan.errors import DataError
from fullspan.model.files.networks.formats import read_factors
from fullspan.model.graph import FactorGraph

FLOOR = 1e-8
"""Added to every probability, as in the protocol."""


@dataclass(frozen=True)
class Score:
    """Means over the repetitions, and standard errors of the gaps: synthetic less real, in nats per row."""

    network: str
    columns: int
    real_syn: float
    real_test: float
    gap_syn: float
    gap_syn_error: float
    gap_test: float
    gap_test_error: float
    seconds: float


def networks_in(folder: Path, names: Sequence[str] | None = None) -> list[Path]:
    """The networks of a folder, those asked for if any are.

    Raises
    ------
    DataError : there is none, or none of that name.
    """
    found = {path.name.split(".")[0]: path for path in sorted(folder.glob("*.bif*"))}
    if not found:
        raise DataError(f"{str(folder)!r} holds no .bif or .bif.gz file")
    for name in names or ():
        if name not in found:
            raise DataError(f"{str(folder)!r} holds no network {name!r}; there are {', '.join(found)}")
    return [found[name] for name in names or found]


def run(path: Path, rows: int, seeds: int) -> Score:
    """The score of synthetic rows for one network."""
    from fullspan.query.distributions import GraphDistribution

    truth = read_factors(path)
    if any(not np.allclose(np.exp(table).sum(axis=-1), 1.0, atol=1e-6) for table in truth.tables):
        raise DataError(f"{str(path)!r} is not a Bayesian network: a table does not sum to 1 over its variable")
    distribution = GraphDistribution(truth)
    real, gaps, seconds = [], [], 0.0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        train, test = distribution.sample(rows, rng), distribution.sample(rows, rng)
        started = time.process_time()
        made = synthetic_rows(train, truth.space, rows, seed)
        seconds += time.process_time() - started
        known, found = scores(truth, train, test), scores(truth, made, test)
        real.append(known)
        gaps.append((found[0] - known[0], found[1] - known[1]))
    mean, gap = np.mean(real, axis=0), np.mean(gaps, axis=0)
    error = np.std(gaps, axis=0, ddof=1) / math.sqrt(seeds) if seeds > 1 else np.full(2, math.nan)
    name = path.name.split(".")[0]
    return Score(
        name, len(truth.space), float(mean[0]), float(mean[1]), float(gap[0]), float(error[0]), float(gap[1]),
        float(error[1]), seconds / seeds,
    )  # fmt: skip


def synthetic_rows(train: Ints, space: Any, n: int, seed: int) -> Ints:
    """Codes of rows that :func:`fullspan.synthesize` makes of a table of the rows."""
    from fullspan.estimators.jobs.synthesis import synthesize

    drawn = synthesize(decode(train, space), n, random_state=[seed, 1])  # not the stream of the training rows
    codes: Ints = encode(drawn, space).astype(np.int64)
    return codes


def scores(truth: FactorGraph, rows: Ints, test: Ints) -> tuple[float, float]:
    """``syn`` and ``test`` of some rows."""
    return likelihood(truth, rows), likelihood(counted(truth, rows), test)


def likelihood(network: FactorGraph, rows: Ints) -> float:
    """Mean of log(p + 1e-8)."""
    return float(np.mean(np.log(np.exp(network.log_weight(rows)) + FLOOR)))


def counted(network: FactorGraph, rows: Ints) -> FactorGraph:
    """The structure of a network, whose last variable of a factor is the child, with tables counted from rows."""
    tables: list[Array] = []
    for scope, table in zip(network.scopes, network.tables, strict=True):
        place = np.ravel_multi_index(tuple(rows[:, i] for i in scope), table.shape)
        counts = np.bincount(place, minlength=table.size).reshape(table.shape)
        total = counts.sum(axis=-1, keepdims=True)
        shares = np.divide(counts, total, out=np.full(table.shape, 1 / table.shape[-1]), where=total > 0)
        with np.errstate(divide="ignore"):
            tables.append(np.log(shares))
    return FactorGraph(network.space, network.scopes, tuple(tables))
