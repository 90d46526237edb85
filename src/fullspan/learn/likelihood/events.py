"""Iterative proportional fitting of single 0/1 terms, on the states of their events alone.

The event of a monomial fixes some digits of a state, so it is a product: a set of first digits times a set of others.
With unnormalised weights w(x) of sum W, one step of Byrne 1992 (eqs. 55-56) sums the weights of one event, S, and
multiplies them:

    sigma = S / W,      e^lambda = (1 - sigma) / sigma * q / (1 - q),      W <- W + (e^lambda - 1) S

All other states stay as they are: they are scaled by the change of W alone. A term of m binary variables costs |X| /
2^m reads and as many writes, no division by state, and W is summed anew once in a sweep.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.model.algebra.basis import Basis
from fullspan.model.algebra.jit import serial

_LOW_STATES = 1024
"""Largest number of states of the first digits."""


class Events:
    """The events of 0/1 terms, as products of first and other digits; made once for many fits.

    Parameters
    ----------
    basis : monomial.
    terms : table indices, in the order in which they are fitted.
    """

    def __init__(self, basis: Basis, terms: tuple[int, ...]) -> None:
        n_low, size = 0, 1
        while n_low < len(basis.cards) and (n_low == 0 or size * basis.cards[n_low] <= _LOW_STATES):
            size *= basis.cards[n_low]
            n_low += 1
        self.size = size
        factors = [basis.term(y) for y in terms]
        low = [_places(basis, [f for f in term if f[0] < n_low], range(n_low)) for term in factors]
        rest = range(n_low, len(basis.cards))
        high = [_places(basis, [f for f in term if f[0] >= n_low], rest) for term in factors]
        self._low, self._low_starts = _joined(low)
        self._high, self._high_starts = _joined(high)

    def fit(self, weights: Array, target: Array, tol: float, max_sweeps: int) -> tuple[Array, float, int]:
        """Scale ``weights`` until no event's probability, when its turn came, was off by more than ``tol``.

        Returns the change of theta (k,), the largest difference met in the last sweep, and the number of sweeps.
        Events of target 0 or 1 are left alone: their weights would be infinite.
        """
        theta = np.zeros(len(target))
        lists = (self._low, self._low_starts, self._high, self._high_starts)
        difference, sweeps = _sweeps(weights, *lists, target, theta, tol, max_sweeps)
        return theta, float(difference), int(sweeps)


@lru_cache(maxsize=8)
def events_of(basis: Basis, terms: tuple[int, ...]) -> Events:
    """The same, remembered: alternating minimisation asks for one set of terms again and again."""
    return Events(basis, terms)


def _places(basis: Basis, factors: list[tuple[int, int]], variables: range) -> Ints:
    """Places of all states of ``variables`` with the digits of ``factors`` fixed, increasing."""
    fixed = dict(factors)
    out = np.zeros(1, dtype=np.int64)
    for i in variables:
        digits = np.array([fixed[i]]) if i in fixed else np.arange(basis.cards[i])
        out = (digits[:, None] * basis.strides[i] + out[None, :]).ravel()
    return out


def _joined(lists: list[Ints]) -> tuple[Ints, Ints]:
    starts = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return np.concatenate([np.zeros(0, dtype=np.int64), *lists]), starts


@serial
def _sweeps(
    w: Array,
    low: Ints,
    low_starts: Ints,
    high: Ints,
    high_starts: Ints,
    target: Array,
    theta: Array,
    tol: float,
    max_sweeps: int,
) -> tuple[float, int]:
    difference = np.inf
    for sweep in range(max_sweeps):
        # Anew in every sweep: the running sum gathers the rounding of one update per event.
        total, difference = w.sum(), 0.0
        for y in range(target.size):
            first, rest = low[low_starts[y] : low_starts[y + 1]], high[high_starts[y] : high_starts[y + 1]]
            inside = 0.0
            for shift in rest:
                for place in first:
                    inside += w[shift + place]
            q, sigma = target[y], inside / total
            difference = max(difference, abs(sigma - q))
            # Targets at the boundary are those of the face, which the start has taken care of.
            if not (0.0 < q < 1.0 and 0.0 < sigma < 1.0):
                continue
            odds = (total - inside) / inside * q / (1.0 - q)
            for shift in rest:
                for place in first:
                    w[shift + place] *= odds
            theta[y] += np.log(odds)
            total += (odds - 1.0) * inside
        if difference <= tol:
            return difference, sweep + 1
        w /= w.max()  # far from overflow, whatever the odds
    return difference, max_sweeps
