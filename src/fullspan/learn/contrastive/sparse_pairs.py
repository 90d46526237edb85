"""Persistent chains on a sparse machine of 0/1 units, all updates in one compiled loop.

    log f(x) = b.x + sum_e w_e x_l x_r        over pairs e = (l, r)

Units from ``n_visible`` on are hidden. An update sweeps every chain once and compares it with the data: visible
expectations are those of all rows, and hidden units take their conditional mean given a batch of rows. A visit costs a
random number and an addition per pair of the unit, so that 784 units with a few thousand pairs are swept 20 times in a
fraction of a millisecond. Units without any weight are not visited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.sampling.streams import advanced, streams, uniform
from fullspan.errors import FullspanError
from fullspan.model.algebra.jit import serial

_LARGEST_LOG_ODDS = 30.0
"""Log odds at which a unit that never (or always) is 1 starts, at most."""


@dataclass(frozen=True, eq=False)
class SparsePairs:
    """Which pairs have a weight, by unit.

    Attributes
    ----------
    n_visible, n_units : units 0 to ``n_visible - 1`` are seen, the others hidden.
    has_bias : (n_units,) whether a unit has a bias to learn.
    left, right : (m,) units of every pair.
    """

    n_visible: int
    n_units: int
    has_bias: NDArray[np.bool_]
    left: Ints
    right: Ints

    def __post_init__(self) -> None:
        both = np.concatenate([self.left, self.right])
        if both.size and not (both.min() >= 0 and both.max() < self.n_units and (self.left != self.right).all()):
            raise FullspanError(f"a pair is not of two different units of 0 to {self.n_units - 1}")

    def neighbours(self) -> tuple[Ints, Ints, Ints]:
        """Pairs of unit i: ``other[start[i]:start[i + 1]]`` and their numbers, ``pair``."""
        ends = np.concatenate([self.left, self.right])
        order = np.argsort(ends, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=self.n_units))]).astype(np.int64)
        other = np.concatenate([self.right, self.left])[order]
        return start, other, (order % max(len(self.left), 1)).astype(np.int64)

    def ascend(
        self, rows: NDArray[np.uint8], rate: float, updates: int, chains: int, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Biases (n_units,) and weights (m,) after ``updates`` updates; the rate falls linearly to 0.

        Weights to hidden units start small and random, all others at 0; biases at the log odds of the rows.
        """
        start, other, pair = self.neighbours()
        x = rows.astype(np.uint8)
        share = (x.sum(axis=0) + 0.5) / (len(x) + 1.0)
        bias = np.zeros(self.n_units)
        bias[: self.n_visible] = np.clip(np.log(share / (1.0 - share)), -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS)
        bias[~self.has_bias] = 0.0
        weight = 0.01 * rng.standard_normal(len(self.left)) * (np.maximum(self.left, self.right) >= self.n_visible)
        wanted_unit = np.zeros(self.n_units)
        wanted_unit[: self.n_visible] = x.mean(axis=0)
        seen = (self.left < self.n_visible) & (self.right < self.n_visible)
        wanted_pair = np.zeros(len(self.left))
        for e in np.flatnonzero(seen):
            wanted_pair[e] = float((x[:, self.left[e]] & x[:, self.right[e]]).mean())
        visited = np.flatnonzero(self.has_bias | (np.diff(start) > 0))
        states = (rng.random((self.n_units, chains)) < 0.5).astype(np.uint8)
        states[: self.n_visible] = x[rng.integers(len(x), size=chains)].T
        hidden = np.flatnonzero((self.left >= self.n_visible) | (self.right >= self.n_visible))
        _ascend(
            *(start, other, pair, self.left, self.right, visited, hidden, self.n_visible, self.has_bias),
            *(np.ascontiguousarray(x.T), wanted_unit, wanted_pair, states, streams(chains, rng)),
            *(bias, weight, rate, updates),
        )
        return bias, weight


@serial
def _hidden_means(
    start: Any, other: Any, pair: Any, n_visible: int, x: Any, batch: Any, bias: Any, weight: Any, mean: Any
) -> None:
    """``mean[j, r] = P(h_j = 1 | row batch[r])``; x is (units, rows)."""
    for j in range(n_visible, len(bias)):
        odds = mean[j - n_visible]
        odds[:] = bias[j]
        for c in range(start[j], start[j + 1]):
            w, i = weight[pair[c]], other[c]
            for r in range(len(batch)):
                odds[r] += w * x[i, batch[r]]
        for r in range(len(batch)):
            odds[r] = 1.0 / (1.0 + np.exp(-odds[r]))


@serial
def _sweep(start: Any, other: Any, pair: Any, visited: Any, bias: Any, weight: Any, states: Any, counter: Any) -> None:
    """Visit all units of all chains once."""
    chains = states.shape[1]
    odds = np.empty(chains)
    for i in visited:
        odds[:] = bias[i]
        for c in range(start[i], start[i + 1]):
            w, j = weight[pair[c]], other[c]
            for k in range(chains):
                odds[k] += w * states[j, k]
        for k in range(chains):
            counter[k] = advanced(counter[k])
            states[i, k] = np.uint8(uniform(counter[k]) * (1.0 + np.exp(-odds[k])) < 1.0)


@serial
def _ascend(
    start: Any,
    other: Any,
    pair: Any,
    left: Any,
    right: Any,
    visited: Any,
    hidden: Any,
    n_visible: int,
    has_bias: Any,
    x: Any,
    wanted_unit: Any,
    wanted_pair: Any,
    states: Any,
    counter: Any,
    bias: Any,
    weight: Any,
    rate: float,
    updates: int,
) -> None:
    chains = states.shape[1]
    n_hidden = len(bias) - n_visible
    batch = np.empty(chains, np.int64)
    mean = np.empty((n_hidden, chains))
    for t in range(updates):
        step = rate * (1.0 - t / updates)
        if n_hidden:
            for r in range(chains):
                counter[r] = advanced(counter[r])
                batch[r] = int(uniform(counter[r]) * x.shape[1])
            _hidden_means(start, other, pair, n_visible, x, batch, bias, weight, mean)
            for j in range(n_hidden):
                wanted_unit[n_visible + j] = mean[j].mean()
            for e in hidden:
                i, j = min(left[e], right[e]), max(left[e], right[e]) - n_visible
                total = 0.0
                for r in range(chains):
                    total += x[i, batch[r]] * mean[j, r]
                wanted_pair[e] = total / chains
        _sweep(start, other, pair, visited, bias, weight, states, counter)
        for i in visited:
            if has_bias[i]:
                count = 0
                for k in range(chains):
                    count += states[i, k]
                bias[i] += step * (wanted_unit[i] - count / chains)
        for e in range(len(weight)):
            count = 0
            for k in range(chains):
                count += states[left[e], k] & states[right[e], k]
            weight[e] += step * (wanted_pair[e] - count / chains)
