"""Machines of spins by enumeration, and random graphs of every kind."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array


class Enumerated(NamedTuple):
    """log Z, expectations of edges and nodes, their covariance, the states and their probabilities."""

    log_z: float
    edges: Array
    nodes: Array
    covariance: Array
    states: NDArray[np.int64]
    p: Array


def enumerate_machine(
    n: int, edges: NDArray[np.int64], couplings: Array, fields: Array, clamped: dict[int, int] | None = None
) -> Enumerated:
    """Sum over all states that agree with the clamped spins."""
    states = np.array(list(itertools.product((-1, 1), repeat=n)))
    for i, s in (clamped or {}).items():
        states = states[states[:, i] == s]
    pairs = states[:, edges[:, 0]] * states[:, edges[:, 1]]
    exponent = states @ fields + pairs @ couplings
    top = exponent.max()
    p = np.exp(exponent - top)
    log_z = float(top + np.log(p.sum()))
    p /= p.sum()
    features = np.concatenate([pairs, states], axis=1)
    mean = p @ features
    covariance = (features.T * p) @ features - np.outer(mean, mean)
    return Enumerated(log_z, mean[: len(edges)], mean[len(edges) :], covariance, states, p)


def random_edges(n: int, m: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """m different edges between n nodes, in random order and direction."""
    pairs = np.array(list(itertools.combinations(range(n), 2)), dtype=np.int64).reshape(-1, 2)
    chosen = pairs[rng.permutation(len(pairs))[:m]]
    return np.where(rng.random((len(chosen), 1)) < 0.5, chosen, chosen[:, ::-1])


def has_an_order(n: int, edges: NDArray[np.int64], biased: NDArray[np.bool_]) -> bool:
    """Whether some order takes out all nodes, each with at most three neighbours then: all orders are tried."""
    near: list[set[int]] = [set() for _ in range(n + 1)]
    for a, b in [*edges.tolist(), *((i, n) for i in range(n) if biased[i])]:
        near[a].add(b)
        near[b].add(a)

    def degree(v: int, gone: int) -> int:
        seen, waiting, out = {v}, [v], 0
        while waiting:
            for w in near[waiting.pop()] - seen:
                seen.add(w)
                if gone >> w & 1:
                    waiting.append(w)
                else:
                    out += 1
        return out

    seen, waiting = {0}, [0]
    while waiting:
        gone = waiting.pop()
        if gone == (1 << n) - 1:
            return True
        for v in range(n):
            after = gone | 1 << v
            if after != gone and after not in seen and degree(v, gone) <= 3:
                seen.add(after)
                waiting.append(after)
    return False
