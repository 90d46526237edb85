"""Known distributions to draw data from: the Ising grid and the random Bayesian networks of the full-span paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullspan.space import Space


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


def random_network(n: int, parents: int, rng: np.random.Generator) -> Truth:
    """Bayesian network: node i has ``min(i, parents)`` random earlier parents and uniform random tables (3.4.2-3)."""
    x = np.arange(1 << n)
    log_p, edges = np.zeros(1 << n), 0
    for i in range(n):
        chosen = rng.choice(i, size=min(i, parents), replace=False) if i else np.zeros(0, dtype=np.int64)
        table = rng.random(1 << len(chosen))
        row = np.zeros(1 << n, dtype=np.int64)
        for bit, parent in enumerate(chosen):
            row |= ((x >> int(parent)) & 1) << bit
        on = table[row]
        log_p += np.log(np.where((x >> i) & 1, on, 1 - on))
        edges += len(chosen)
    return Truth(f"BN{n}-{edges}", n, log_p - _log_sum_exp(log_p))


def _log_sum_exp(values: NDArray[np.float64]) -> float:
    peak = values.max()
    return float(peak + np.log(np.exp(values - peak).sum()))
