"""Probabilities of many partial states at once, by look-up in the dual table.

With A the variables that a row fixes, ``p(x_A = a) = sum_y prod_{i in A} phi^-1_i(a_i, y_i) eta_y`` over the
``prod_{i in A} |X_i|`` terms y inside A: a gather, then one contraction per variable. Rows may fix different variables.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data.merging import same_pattern
from fullspan.engine.dual import lookup
from fullspan.engine.dual.plain import margin_tables
from fullspan.engine.protocol import Candidates
from fullspan.model.algebra.basis import Basis
from fullspan.model.algebra.bits import is_small
from fullspan.model.algebra.jit import parallel, prange, serial
from fullspan.model.algebra.one_term import log_cosh
from fullspan.model.algebra.transform import MONOMIAL, WALSH

_COMPARED_ENTRIES = 2048
"""Entries compared before and after a rebuild to measure the drift."""


@serial
def _inverse_weight(level: int, component: int, card: int, kind: int) -> float:
    """``T^-1[level, component]`` of one variable: its weight in ``p(level) = sum_y w_y eta_y``."""
    if kind == WALSH:
        # The parity of the common bits: Phi = (-1)^popcount(level & component).
        both, odd = level & component, 0
        while both:
            odd ^= both & 1
            both >>= 1
        return (1.0 - 2.0 * odd) / card
    if kind == MONOMIAL:
        return (-1.0 if component > 0 else 1.0) if level == 0 else (1.0 if component == level else 0.0)
    if level == 0:
        return -0.5 if component > 0 else 1.0 - 0.5 * (card - 1)
    return 0.5 if component == level or component == 0 else 0.0


@serial
def _cell(
    eta: NDArray[Any],
    row: NDArray[Any],
    cards: NDArray[np.int64],
    strides: NDArray[np.int64],
    kinds: NDArray[np.int64],
    places: NDArray[np.int64],
    work: NDArray[np.float64],
) -> np.float64:
    """One row's probability; ``places`` and ``work`` are scratch."""
    # The entries of the terms inside A, the first fixed variable fastest; then one variable after the other is summed
    # out from the slowest.
    count, places[0] = 1, 0
    for i in range(row.size):
        if row[i] >= 0:
            for k in range(1, cards[i]):
                for t in range(count):
                    places[k * count + t] = places[t] + k * strides[i]
            count *= cards[i]
    for t in range(count):
        work[t] = eta[places[t]]
    for i in range(row.size - 1, -1, -1):
        if row[i] >= 0:
            count //= cards[i]
            first = _inverse_weight(row[i], 0, cards[i], kinds[i])
            for t in range(count):
                work[t] *= first
            for k in range(1, cards[i]):
                weight = _inverse_weight(row[i], k, cards[i], kinds[i])
                for t in range(count):
                    work[t] += weight * work[k * count + t]
    return np.float64(work[0])


def cell_probabilities(basis: Basis, eta: NDArray[Any], codes: Ints, room: int) -> Array:
    """``p(x_A = a)`` for rows of ``codes`` (m, n), -1 where a variable is free; at most ``room`` look-ups each."""
    if is_small(eta.size):
        return cell_probabilities_plain(basis, eta, codes)
    cards, strides = np.array(basis.cards, dtype=np.int64), np.array(basis.strides, dtype=np.int64)
    return np.asarray(_cell_probabilities(eta, codes, cards, strides, basis.kinds, room))


def cell_probabilities_plain(basis: Basis, eta: NDArray[Any], codes: Ints) -> Array:
    """The same in NumPy: the margin of the variables that rows fix, once for all rows that fix the same."""
    out = np.empty(len(codes))
    for rows in same_pattern(codes):
        fixed = np.flatnonzero(codes[rows[0]] >= 0)
        cards = [basis.cards[i] for i in fixed]
        margin = margin_tables(eta, basis, fixed[None, :], math.prod(cards))[0]
        out[rows] = margin[codes[np.ix_(rows, fixed)] @ np.cumprod([1, *cards[:-1]], dtype=np.int64)[: len(cards)]]
    return out


@parallel
def _cell_probabilities(
    eta: NDArray[Any],
    codes: NDArray[np.int64],
    cards: NDArray[np.int64],
    strides: NDArray[np.int64],
    kinds: NDArray[np.int64],
    room: int,
) -> NDArray[np.float64]:
    out = np.empty(codes.shape[0])
    chunks = min(64, codes.shape[0])
    for chunk in prange(chunks):
        places, work = np.empty(room, np.int64), np.empty(room)
        for r in range(chunk * out.size // chunks, (chunk + 1) * out.size // chunks):
            out[r] = _cell(eta, codes[r], cards, strides, kinds, places, work)
    return out


class Rebuilt(ABC):
    """A dual table: its steps gather rounding errors, and it is made anew from theta in the same memory."""

    basis: Basis
    theta: dict[int, float]
    log_z: float

    @abstractmethod
    def eta_at(self, indices: Ints) -> Array:
        """Expectations of the model at indices of any shape."""

    @abstractmethod
    def second_moments(self, left: Ints, right: Ints) -> Array:
        """``<Phi_y Phi_z>`` for indices ``left`` and ``right``: a few look-ups each."""

    def fisher(self, indices: Ints) -> Array:
        """Fisher information ``Cov(Phi_y, Phi_z)`` of the terms at these indices."""
        eta = self.eta_at(indices)
        return np.asarray(self.second_moments(indices, indices) - np.outer(eta, eta))

    @abstractmethod
    def _fill(self) -> None:
        """Compute eta and log Z from theta."""

    @abstractmethod
    def _step(self, index: int, c: float, scale: float, floor: float, l1: float) -> Candidates:
        """``eta <- scale (eta + c <Phi_y Phi>)``, fused with the scan; nothing moves where c is 0."""

    def _one(self, index: int) -> float:
        return float(self.eta_at(np.array([index], dtype=np.int64))[0])

    def move(self, index: int, delta: float, floor: float = 0.0, l1: float = 0.0) -> Candidates:
        """``theta_y <- theta_y + delta``, fused with the scan for candidates whose net gain exceeds ``floor``.

        One pass over both tables: O(|X|) time, no memory but a block per core.
        """
        c, eta = math.expm1(delta) if self.basis.zero_one else math.tanh(delta), self._one(index)
        # 1 + c eta is the factor by which Z grows, which is positive for any distribution.
        if c * eta <= -1.0:  # rounding has made a probability of more than one
            self._fill()
            eta = self._one(index)
        # Z' / Z = 1 + c eta in the 0/1 basis; for spins exp(delta Phi) = cosh(delta) (1 + c Phi), which adds log cosh.
        growth = math.log1p(c * eta)
        self.log_z += growth if self.basis.zero_one else growth + log_cosh(delta)
        if delta:
            self.theta[index] = self.theta.get(index, 0.0) + delta
        return self._step(index, c, math.exp(-growth), floor, l1)

    def scan(self, floor: float = 0.0, l1: float = 0.0) -> Candidates:
        """The best candidates at the current point, without moving."""
        return self._step(0, 0.0, 1.0, floor, l1)

    def set_theta(self, theta: dict[int, float]) -> None:
        """Jump to another point: eta and log Z are rebuilt from theta, O(|X| n) time, no further table."""
        self.theta = dict(theta)
        self._fill()

    def rebuild(self) -> float:
        """Recompute eta from theta and return the drift: the largest change seen at the probed entries."""
        # A fixed seed: the same entries are compared each time, and the reported drift is reproducible.
        rng = np.random.default_rng(self.basis.n_states)
        probes = np.unique(
            np.r_[rng.integers(self.basis.n_states, size=_COMPARED_ENTRIES), np.fromiter(self.theta, np.int64)]
        )
        before = self.eta_at(probes)
        self._fill()
        return float(np.abs(self.eta_at(probes) - before).max())


class GatheredLookUps(Rebuilt):
    """The look-ups of the engine protocol, from ``eta_at`` and ``d_at`` alone."""

    @abstractmethod
    def d_at(self, indices: Ints) -> Array:
        """Expectations of the data at indices of any shape."""

    @property
    def _cards(self) -> Ints:
        return np.array(self.basis.cards, dtype=np.int64)

    @property
    def _strides(self) -> Ints:
        return np.array(self.basis.strides, dtype=np.int64)

    def digits(self, indices: Sequence[int] | Ints) -> Ints:
        """Digit rows (k, n) of term indices."""
        return np.asarray(np.asarray(indices, dtype=np.int64)[:, None] // self._strides % self._cards)

    def second_moments(self, left: Ints, right: Ints) -> Array:
        """``<Phi_y Phi_z>`` for indices ``left`` and ``right``: a few look-ups each."""
        places = lookup.single_places(self.basis, left, right)
        if places is not None:
            return self.eta_at(places)
        a, b = self.digits(left), self.digits(right)
        room = lookup.width(self.basis, a, b)
        places, signs = lookup.expand_products(a, b, self._strides, self.basis.kinds, room)
        return np.asarray((signs * self.eta_at(places)).sum(axis=2))

    def marginal(self, variables: Sequence[int]) -> Array:
        """p(x_A), flat with the first variable fastest."""
        return np.asarray(self._margins(np.array([variables], dtype=np.int64), self.eta_at)[0])

    def data_margins(self, sets: Ints) -> Array:
        """Margins p_d(x_A) of the data for each row of ``sets`` (m, |A|), padded with zeros to the longest."""
        return self._margins(sets, self.d_at)

    def margin_gains(self, sets: Ints, data: Array, least: Array) -> Array:
        """``KL(p_d(x_A) || p(x_A))`` for each row of ``sets`` (m, |A|), or 0 where that is surely below ``least``."""
        return np.asarray(lookup.divergences(data, self._margins(sets, self.eta_at), least))

    def _margins(self, sets: Ints, looked_up: Callable[[Ints], Array]) -> Array:
        room = int(self._cards[sets].prod(axis=1).max(initial=1))
        values = looked_up(lookup.margin_places(sets, self._cards, self._strides, room))
        lookup.invert_margins(values, sets, self._cards, self.basis.kinds)
        return values
