"""The readable engine: every formula as it is written, on the list of all states.

It exists to be compared with. Time and memory are O(|X|^2), so it refuses all but small spaces.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.protocol import Candidates, Prices
from fullspan.errors import FullspanError, TooLargeError
from fullspan.model.algebra import Basis

MAX_STATES = 1 << 12


class Enumeration:
    """Engine that keeps the matrix ``phi[y, x] = Phi_y(x)`` and the distribution p(x).

    Raises
    ------
    TooLargeError : there are more than 2^12 states.
    """

    knows_floor = False

    def __init__(self, basis: Basis, dtype: Any = np.float64) -> None:
        if basis.n_states > MAX_STATES:
            raise TooLargeError(
                f"enumeration over {basis.n_states:,} states was asked for; it serves up to {MAX_STATES:,}: "
                "use DualTable, which needs no matrix"
            )
        self.basis = basis
        self.dtype = np.dtype(dtype)
        self.states = self.digits(np.arange(basis.n_states))
        terms = [basis.term(y) for y in range(basis.n_states)]
        self.phi = basis.evaluate(terms, self.states).T.astype(np.float64)
        self.d: NDArray[Any] | None = None
        self._prices: NDArray[np.float64] | None = None
        self.set_theta({})

    # -- the point ------------------------------------------------------------------------------------------------

    def set_theta(self, theta: dict[int, float]) -> None:
        self.theta = dict(theta)
        exponent = np.zeros(self.basis.n_states)
        for y, weight in self.theta.items():
            exponent += weight * self.phi[y]
        peak = float(exponent.max())
        self.log_z = peak + math.log(float(np.exp(exponent - peak).sum()))
        self.p = np.exp(exponent - self.log_z)
        self.eta = (self.phi @ self.p).astype(self.dtype)
        self.eta[0] = 1

    def rebuild(self) -> float:
        before = self.eta
        self.set_theta(self.theta)
        return float(np.abs(self.eta - before).max())

    def move(self, index: int, delta: float, floor: float = 0.0, l1: float = 0.0) -> Candidates:
        theta = dict(self.theta)
        if delta:
            theta[index] = theta.get(index, 0.0) + delta
        self.set_theta(theta)
        return self.scan(floor, l1)

    # -- data and candidates --------------------------------------------------------------------------------------

    def set_data(self, index: NDArray[np.int64], weights: NDArray[np.float64], pseudo: float = 0.0) -> None:
        total = float(weights.sum())
        p = np.bincount(index, weights, minlength=self.basis.n_states) + pseudo / self.basis.n_states
        d = self.phi @ p / (total + pseudo)
        if not pseudo:
            least = 0.5 / (total + 1)
            d = np.clip(d, least, 1 - least) if self.basis.zero_one else np.clip(d, 2 * least - 1, 1 - 2 * least)
        d[0] = 1.0
        self.d = d.astype(self.dtype)

    def set_prices(self, prices: Prices) -> None:
        self._prices = np.array([prices(self.basis.term(y)) for y in range(self.basis.n_states)])

    def scan(self, floor: float = 0.0, l1: float = 0.0) -> Candidates:
        if self.d is None or self._prices is None:
            raise FullspanError("there are no data to compare with: call set_data and set_prices first")
        net = self._gains(self.d.astype(np.float64), l1) - self._prices
        net[0] = -np.inf
        found = np.flatnonzero(net > floor)
        best = found[np.argsort(-net[found], kind="stable")]
        return Candidates(best, net[best])

    def _gains(self, d: NDArray[np.float64], l1: float) -> NDArray[np.float64]:
        """``q ln(q/m) + (1-q) ln((1-q)/(1-m))`` of every term; an L1 penalty moves the target back towards eta."""
        eta = self.eta.astype(np.float64)
        target = eta + np.sign(d - eta) * np.maximum(np.abs(d - eta) - l1, 0.0)
        q, m = (target, eta) if self.basis.zero_one else ((1 + target) / 2, (1 + eta) / 2)
        return _relative(q, m) + _relative(1 - q, 1 - m)

    # -- look-ups -------------------------------------------------------------------------------------------------

    def log_partition(self) -> float:
        return self.log_z

    def eta_at(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.eta[indices].astype(np.float64)

    def d_at(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        assert self.d is not None
        return self.d[indices].astype(np.float64)

    def digits(self, indices: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        strides, cards = np.array(self.basis.strides, np.int64), np.array(self.basis.cards, np.int64)
        return np.asarray(np.asarray(indices, np.int64)[:, None] // strides % cards)

    def second_moments(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray((self.phi[left] * self.p) @ self.phi[right].T)

    def fisher(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        centred = self.phi[indices] - (self.phi[indices] @ self.p)[:, None]
        return np.asarray((centred * self.p) @ centred.T)

    def marginal(self, variables: Sequence[int]) -> NDArray[np.float64]:
        return self._margin(self.p, variables)

    def data_margins(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        assert self.d is not None
        p: NDArray[np.float64] = np.asarray(np.linalg.solve(self.phi, self.d.astype(np.float64)), dtype=np.float64)
        rows = [self._margin(p, row) for row in sets]
        room = max((len(row) for row in rows), default=1)
        return np.array([np.pad(row, (0, room - len(row))) for row in rows]).reshape(len(rows), room)

    def margin_gains(
        self, sets: NDArray[np.int64], data: NDArray[np.float64], least: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        gains = []
        for row, seen in zip(sets, data, strict=True):
            model = self.marginal(row)
            gains.append(float(_relative(np.maximum(seen[: len(model)], 0.0), model).sum()))
        return np.array(gains)

    def _margin(self, p: NDArray[np.float64], variables: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
        cell, size = np.zeros(self.basis.n_states, dtype=np.int64), 1
        for i in variables:
            cell += size * self.states[:, i]
            size *= self.basis.cards[i]
        return np.asarray(np.bincount(cell, p, minlength=size))


def _relative(q: NDArray[np.float64], m: NDArray[np.float64]) -> NDArray[np.float64]:
    """``q ln(q/m)``, 0 where q is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(q > 0, q * np.log(np.maximum(q, 1e-300) / np.maximum(m, 1e-300)), 0.0)
