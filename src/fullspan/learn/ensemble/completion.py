"""Rows with missing values for candidates that learn from complete rows: em around a candidate (Byrne 1992, eq. 16).

    n(x) = sum_o n(o) p(x | o),      p learned from n(x) as if that had been counted,      and again

A row o with missing values is spread over the states that agree with it, in proportion to the model of the last round.
Where learning is maximum likelihood, no round makes what was observed less likely. The first completion is by
independent columns. A candidate that would be slow to learn in every round learns from rows that a fast one has
completed. Probabilities of rows with missing values are sums over a table of all states, which is filled only where
rows look, if that is in few places.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.merging import same_pattern
from fullspan.data.space import Space
from fullspan.engine.dual.clamped import Clamped, fibre
from fullspan.learn.ensemble.candidates import Candidate, Learn
from fullspan.model import LogLinear
from fullspan.model.algebra.basis import Basis

MAX_STATES = 1 << 22
"""States of a table up to which rows with missing values are completed, and their probabilities are sums over it."""
SMALLEST_SHARE = 1 / 256
"""Completions of less than this share of a row are drawn: a row with many missing values does not take all states."""
_HELD_COMPLETIONS = 1 << 20
"""Completions that are held at a time."""
_DEAR = 16
"""States that a table of all of them takes as long for as one asked for by itself."""


def log_table(basis: Basis, models: Sequence[tuple[float, LogLinear]]) -> Array:
    """``log p(x)`` of all states (|X|,) under models with their shares. O(k |X| n) time, two tables."""
    total = np.full(basis.n_states, -np.inf)
    for share, model in models:
        f = basis.energies(model.indices, model.theta)
        f += math.log(share) - model.log_z
        np.logaddexp(total, f, out=total)
    return total


def log_sums(basis: Basis, log_p: Array, rows: NDArray[Any]) -> Array:
    """``log P`` of the observed cells of different rows (m, n), -1 marking the others, from the table of log p."""
    return Clamped(basis, rows, np.ones(len(rows))).complete(log_p, np.zeros(basis.n_states))


def observed_log_prob(candidate: Candidate, basis: Basis, rows: NDArray[Any], dear: int = _DEAR) -> Array:
    """``log P`` of the observed cells of different rows under what was learned; ``dear`` as for the table."""
    if (rows >= 0).all():
        return candidate.log_prob(rows)
    clamped = Clamped(basis, rows, np.ones(len(rows)))
    return clamped.complete(agreeing_log_table(candidate, clamped, dear), np.zeros(basis.n_states))


def agreeing_log_table(candidate: Candidate, clamped: Clamped, dear: int = _DEAR) -> Array:
    """``log p(x)`` of the states that agree with some row, at least; -inf of all others, where those are most.

    ``dear`` is the number of states of a whole table that take as long as one asked for by itself.
    """
    basis = clamped.basis
    if clamped.n_visits * dear > basis.n_states:
        return log_table(basis, candidate.models())
    where, log_p = clamped.states(), np.full(basis.n_states, -np.inf)
    log_p[where] = candidate.log_prob(Space.of_cards(basis.cards).states(where))
    return log_p


def independent_log_table(data: Empirical) -> Array:
    """``log p(x)`` of all states if every column is by itself, one row more spread evenly over its levels."""
    log_p = np.zeros(1)
    for own in data.level_counts():
        counts = own + 1.0 / len(own)
        log_p = (np.log(counts / counts.sum())[:, None] + log_p).ravel()
    return log_p


def completed(
    data: Empirical, basis: Basis, log_p: Array, smallest: float = SMALLEST_SHARE, block: int = _HELD_COMPLETIONS
) -> tuple[Empirical, Array]:
    """Rows with missing values spread over the states that agree with them, and ``log P`` of every row (m,).

    Completions that would have less than the share ``smallest`` of a row are drawn in proportion to that
    (:func:`drawn`): the counts are those above in expectation, and every row keeps its weight. The same rows give the
    same draws. At most about ``block`` completions are held at a time.
    """
    counts, log_prob, rng = np.zeros(basis.n_states), np.empty(len(data.counts)), np.random.default_rng(0)
    for rows, where in _fibres(basis, data.states, block):
        f = log_p[where]
        peak = f.max(axis=1, keepdims=True)
        p = np.exp(f - peak)
        mass = p.sum(axis=1, keepdims=True)
        log_prob[rows] = (peak + np.log(mass))[:, 0]
        p *= data.counts[rows, None] / mass
        p = drawn(p, np.minimum(data.counts[rows], 1.0) * smallest, rng.random(len(rows)))
        np.add.at(counts, where[p > 0], p[p > 0])
    seen = np.flatnonzero(counts)
    filled = Empirical(data.space, data.space.states(seen), counts[seen], data.n_rows, data.n_dropped, data.n_empty)
    return filled, log_prob


def drawn(weights: Array, least: Array, offsets: Array) -> Array:
    """Weights (m, c) of which those below ``least`` (m,) are drawn, all with one weight; each row keeps its sum.

    Drawn systematically: weights laid end to end along a line are met by evenly spaced points, the first at a random
    offset (m,) in [0, 1), so that the expectation of every one is what it was, and at most ``2 sum / least`` remain.
    """
    faint = np.where(weights < least[:, None], weights, 0.0)
    ends = np.cumsum(faint, axis=1)
    points = np.ceil(ends[:, -1] / least)
    spacing = ends[:, -1] / np.maximum(points, 1.0)
    met = np.floor(ends / np.where(spacing > 0, spacing, 1.0)[:, None] + offsets[:, None])
    times = np.diff(np.minimum(met, points[:, None]), axis=1, prepend=0.0)
    return np.where(faint > 0, times * spacing[:, None], weights)


def _fibres(basis: Basis, states: NDArray[Any], block: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int64]]]:
    """Rows with the same cells missing, in blocks, with the indices of all their completions (rows, completions).

    These are in no order, so that evenly spaced ones do not all share the level of some variable.
    """
    strides, rng = np.array(basis.strides, dtype=np.int64), np.random.default_rng(0)
    for members in same_pattern(states):
        # Systematic draws take evenly spaced completions: in index order these would agree in the low digits.
        offsets = rng.permutation(fibre(basis, np.flatnonzero(states[members[0]] < 0)))
        for rows in np.array_split(members, max(1, -(-len(members) * len(offsets) // block))):
            places = np.maximum(states[rows].astype(np.int64), 0) @ strides
            yield rows, places[:, None] + offsets


class Completions:
    """Rows with missing values as a candidate completes them, by em; the same rows once, whoever asks for them.

    Parameters
    ----------
    learn : the candidate, from complete rows.
    rounds, gain : most completions, and the nats per row that one must gain for another to follow.
    smallest : share of a row below which a completion is drawn.
    """

    def __init__(self, learn: Learn, rounds: int = 10, gain: float = 1e-3, smallest: float = SMALLEST_SHARE) -> None:
        self.learn, self.rounds, self.gain, self.smallest = learn, rounds, gain, smallest
        self._lock = threading.Lock()
        self._known: dict[int, _Completed] = {}

    def of(self, data: Empirical, basis: Basis) -> Empirical:
        """The rows, completed; complete ones as they are."""
        if data.is_complete:
            return data
        with self._lock:
            # The data are held along with the result, so that their identity is not given to another object.
            known = self._known.setdefault(id(data), _Completed(data))
        with known.lock:
            if known.filled is None:
                known.filled = self._completed(data, basis)
        return known.filled

    def _completed(self, data: Empirical, basis: Basis) -> Empirical:
        log_p, before, rng = independent_log_table(data), -math.inf, np.random.default_rng(0)
        clamped = Clamped(basis, data.states, data.counts)
        for _ in range(self.rounds):
            filled, log_prob = completed(data, basis, log_p, self.smallest)
            now = float(data.counts @ log_prob) / data.total
            # Candidates with a prior may lose likelihood in a round; the last completion serves as well as the best.
            if now < before + self.gain:
                break
            log_p, before = agreeing_log_table(self.learn(filled, basis, rng), clamped), now
        return filled


@dataclass
class _Completed:
    """Rows, held so that no others have their identity, and their completion, as soon as it is known."""

    rows: Empirical
    filled: Empirical | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


def completing(learn: Learn, completions: Completions) -> Learn:
    """A candidate that also learns from rows with missing values, as they are completed."""
    return lambda data, basis, rng: learn(completions.of(data, basis), basis, rng)
