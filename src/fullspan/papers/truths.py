"""Known distributions to draw data from: the Ising grid and the random Bayesian networks of the full-span paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullspan.data.space import Space


@dataclass(frozen=True)
class Truth:
    """A distribution over binary variables as its full table, variable 0 the lowest bit."""

    name: str
    n: int
    log_p: NDArray[np.float64]

    @property
    def space(self) -> Space:
        return Space.of_cards((2,) * self.n)

    def sample(self, size: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Distinct state indices and their counts in ``size`` independent rows."""
        cumulative = np.cumsum(np.exp(self.log_p))
        drawn = np.searchsorted(cumulative, rng.random(size) * cumulative[-1])
        index, counts = np.unique(drawn, return_counts=True)
        return index.astype(np.int64), counts.astype(np.float64)

    def divergence(self, log_q: NDArray[np.float64]) -> float:
        """KL(p* || q) in nats."""
        p = np.exp(self.log_p)
        return float(np.sum(p * np.where(p > 0, self.log_p - log_q, 0.0)))


def ising(rows: int = 5, columns: int = 4, coupling: float = 0.5) -> Truth:
    """Ising model on an open grid, ``p ~ exp(coupling * sum_edges s_i s_j)`` (section 3.4.1)."""
    n = rows * columns
    x = np.arange(1 << n)
    log_p = np.zeros(1 << n)
    for r in range(rows):
        for c in range(columns):
            i = r * columns + c
            for j in ([i + 1] if c + 1 < columns else []) + ([i + columns] if r + 1 < rows else []):
                log_p += coupling * (1 - 2.0 * ((x >> i ^ x >> j) & 1))
    return Truth(f"Ising {rows}x{columns}", n, log_p - _log_sum_exp(log_p))


@dataclass(frozen=True)
class Network:
    """A Bayesian network of binary variables: the parents of each node, and P(x_i = 1) for each of their states."""

    parents: tuple[tuple[int, ...], ...]
    tables: tuple[NDArray[np.float64], ...]

    @classmethod
    def random(cls, n: int, parents: int, rng: np.random.Generator) -> Network:
        """Node i has ``min(i, parents)`` random earlier parents and a uniform random table (section 3.4.2-3)."""
        chosen, tables = [], []
        for i in range(n):
            own = rng.choice(i, size=min(i, parents), replace=False) if i else np.zeros(0, dtype=np.int64)
            chosen.append(tuple(map(int, own)))
            tables.append(rng.random(1 << len(own)))
        return cls(tuple(chosen), tuple(tables))

    @property
    def name(self) -> str:
        return f"BN{len(self.parents)}-{sum(map(len, self.parents))}"

    def tabulate(self) -> Truth:
        """All 2^n log-probabilities."""
        n = len(self.parents)
        x = np.arange(1 << n)
        log_p = np.zeros(1 << n)
        for i, on in enumerate(self._chances(lambda v: (x >> v) & 1)):
            log_p += np.log(np.where((x >> i) & 1, on, 1 - on))
        return Truth(self.name, n, log_p - _log_sum_exp(log_p))

    def draw(self, size: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Independent rows (size, n), node after node: no table over the states is needed."""
        rows = np.zeros((size, len(self.parents)), dtype=np.uint8)
        for i, on in enumerate(self._chances(lambda v: rows[:, v].astype(np.int64))):
            rows[:, i] = rng.random(size) < on
        return rows

    def _chances(self, digit: Callable[[int], NDArray[np.int64]]) -> Iterator[NDArray[np.float64]]:
        """P(x_i = 1 | parents) for every node in turn, where ``digit(v)`` is the value of node v."""
        for own, table in zip(self.parents, self.tables, strict=True):
            row = sum((digit(parent) << bit for bit, parent in enumerate(own)), np.zeros(1, dtype=np.int64))
            yield table[row]


def random_network(n: int, parents: int, rng: np.random.Generator) -> Truth:
    """The table of a random Bayesian network."""
    return Network.random(n, parents, rng).tabulate()


def _log_sum_exp(values: NDArray[np.float64]) -> float:
    peak = values.max()
    return float(peak + np.log(np.exp(values - peak).sum()))
