"""Moves not yet applied to a large table: one pass over memory serves several of them.

In the Walsh basis a move is ``eta'_z = scale (eta_z + c eta_{z xor y})``. An entry after m moves is a sum over the 2^m
entries z xor (the xor of some y), so that entries and blocks can be looked at as they will be, without writing them.
When the list is full all moves are made at once: the blocks that they exchange among each other, 2^m at most, stay in
the cache while one move after the other is made, and the table is read and written once, not m times.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.dual.octets import move_pair
from fullspan.model.algebra.jit import parallel, prange, serial

PENDING_MOVES = 2
"""Moves made in one pass. Two halve the traffic; with four a step is a tenth shorter, and look-ups sum more entries."""

_CHUNKS = 64


class Pending(NamedTuple):
    """``length[0]`` moves: term, c and scale of each, the oldest first."""

    y: NDArray[np.int64]
    c: NDArray[Any]
    scale: NDArray[Any]
    length: NDArray[np.int64]

    @classmethod
    def none(cls, dtype: np.dtype[Any]) -> Pending:
        """No move yet, and room for some."""
        return cls(
            np.zeros(PENDING_MOVES, np.int64),
            np.zeros(PENDING_MOVES, dtype),
            np.zeros(PENDING_MOVES, dtype),
            np.zeros(1, np.int64),
        )

    def __bool__(self) -> bool:
        return bool(self.length[0])


class _Orbit(NamedTuple):
    """Blocks that moves exchange: ``first xor span[i]``, where ``first`` has no bit of ``pivots``.

    Move t exchanges members i and ``i xor partner[t]``, with their places permuted by ``low[t]``.
    """

    pivots: NDArray[np.int64]
    span: NDArray[np.int64]
    partner: NDArray[np.int64]
    low: NDArray[np.int64]


def _orbit(moves: Pending, size: int) -> _Orbit:
    """The orbits of all pending moves, by elimination over the field of two elements."""
    y = moves.y[: moves.length[0]]
    basis: list[int] = []
    for high in (y // size).tolist():
        for each in basis:
            # Reduces by the leading bit of a vector that is in the basis already.
            high = min(high, high ^ each)
        if high:
            basis.append(high)
    span = [0]
    for each in basis:
        span += [member ^ each for member in span]
    partner = [span.index(high) for high in (y // size).tolist()]
    pivots = sorted(each.bit_length() - 1 for each in basis)
    return _Orbit(*(np.array(part, dtype=np.int64) for part in (pivots, span, partner, y % size)))


def apply(eta: NDArray[Any], moves: Pending, size: int) -> None:
    """Make all pending moves in the table, whose blocks have ``size`` places; none is pending then."""
    if moves:
        _apply(eta, moves, _orbit(moves, size), size)


@serial
def _move_orbit(eta: NDArray[Any], first: int, t: int, moves: Pending, orbit: _Orbit, size: int) -> None:
    """Make move ``t`` among the blocks of one orbit."""
    for i in range(orbit.span.size):
        k = i ^ orbit.partner[t]
        if i <= k:
            a, b = (first ^ orbit.span[i]) * size, (first ^ orbit.span[k]) * size
            move_pair(eta, a, b, size, orbit.low[t], moves.c[t], moves.scale[t])


@parallel
def _apply(eta: NDArray[Any], moves: Pending, orbit: _Orbit, size: int) -> None:
    n_orbits = eta.size // size // orbit.span.size
    for chunk in prange(_CHUNKS):
        for unit in range(chunk * n_orbits // _CHUNKS, (chunk + 1) * n_orbits // _CHUNKS):
            first = unit
            for p in orbit.pivots:
                # Opens a gap at each pivot: `unit` counts the blocks that have 0 there, one for each orbit.
                first = ((first >> p) << (p + 1)) | (first & ((1 << p) - 1))
            for t in range(moves.length[0]):
                _move_orbit(eta, first, t, moves, orbit, size)
                # <1> is 1; a rounded 1 would be multiplied on from move to move.
                if first == 0:
                    eta[0] = 1
    # Inside the compiled call, so that an interrupt never finds moves made and still listed.
    moves.length[0] = 0


@serial
def current_block(eta: NDArray[Any], block: int, moves: Pending, rows: NDArray[Any], size: int) -> NDArray[Any]:
    """A block of ``size`` places as it will be after the pending moves; ``rows`` is room for 2^PENDING_MOVES blocks."""
    count = moves.length[0]
    if count == 0:
        return eta[block * size : (block + 1) * size]
    for s in range(1 << count):
        b = block
        for t in range(count):
            if s >> t & 1:
                b ^= moves.y[t] // size
        rows[s * size : (s + 1) * size] = eta[b * size : (b + 1) * size]
    for t in range(count):
        # After move t only every 2^(t+1)-th block is needed again: half as many each time.
        for s in range(0, 1 << count, 2 << t):
            partner = (s | 1 << t) * size
            move_pair(rows, s * size, partner, size, moves.y[t] % size, moves.c[t], moves.scale[t])
    return rows[:size]


def current(eta: NDArray[Any], indices: NDArray[np.int64], moves: Pending) -> NDArray[Any]:
    """Entries of the table as they will be after the pending moves."""
    return _after(eta, np.asarray(indices, dtype=np.int64), moves, int(moves.length[0]))


def _after(eta: NDArray[Any], indices: NDArray[np.int64], moves: Pending, t: int) -> NDArray[Any]:
    if t == 0:
        return eta[indices]
    y, c, scale = moves.y[t - 1], moves.c[t - 1], moves.scale[t - 1]
    values = scale * (_after(eta, indices, moves, t - 1) + c * _after(eta, indices ^ y, moves, t - 1))
    return np.asarray(np.where(indices == 0, eta.dtype.type(1), values))
