"""Fused step of the dual table for spins over mixed cardinalities: Walsh and indicator variables together.

Multiplying by Phi_y acts on one variable at a time, and only on those with y_i = j > 0: on Walsh variables
``(Mv)_k = v_{k xor j}``, on indicator variables ``(Mv)_0 = v_j``, ``(Mv)_j = v_0`` and
``(Mv)_k = -v_0 - v_j - v_k`` otherwise. With ``c = tanh(delta)``: ``eta' = (eta + c M eta) / (1 + c eta_y)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from fullspan.algebra.jit import parallel, serial
from fullspan.algebra.transform import WALSH
from fullspan.engine.dual.fibres import Fibres, count_fibres, first_block
from fullspan.engine.dual.scan import (
    Base,
    Move,
    PriceTables,
    bar_of,
    reach,
    scan_spins,
)


@serial
def _exchange(a: NDArray[Any], b: NDArray[Any]) -> None:
    for i in range(a.size):
        u = a[i]
        a[i] = b[i]
        b[i] = u


@serial
def _minus_sum(row: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> None:
    for i in range(row.size):
        row[i] = -(row[i] + a[i] + b[i])


@serial
def _multiply_narrow(work: NDArray[Any], stride: int, card: int, j: int, kind: int) -> None:
    """:func:`multiply_mode` for neighbouring digits, where rows are too short to be worth a loop of their own."""
    step, own = np.uint64(stride), np.uint64(j * stride)
    if card == 2:  # both bases exchange the two levels
        for outer in range(work.size // (2 * stride)):
            base = np.uint64(outer * 2 * stride)
            for _ in range(stride):
                work[base], work[base + step] = work[base + step], work[base]
                base += np.uint64(1)
        return
    for outer in range(work.size // (card * stride)):
        base = np.uint64(outer * card * stride)
        for _ in range(stride):
            if kind == WALSH:
                for k in range(card):
                    if k < k ^ j:
                        a, b = base + np.uint64(k) * step, base + np.uint64(k ^ j) * step
                        work[a], work[b] = work[b], work[a]
            else:
                u, v = work[base], work[base + own]
                place = base
                for _ in range(1, card):
                    place += step
                    work[place] = -(work[place] + u + v)
                work[base], work[base + own] = v, u
            base += np.uint64(1)


@serial
def _multiply_narrow_three(work: NDArray[Any], stride: int, j: int) -> None:
    """:func:`_multiply_narrow` for an indicator variable of three levels: no loop over levels."""
    own, other = np.uint64(j * stride), np.uint64((3 - j) * stride)
    for outer in range(work.size // (3 * stride)):
        base = np.uint64(outer * 3 * stride)
        for _ in range(stride):
            u, v, w = work[base], work[base + own], work[base + other]
            work[base], work[base + own], work[base + other] = v, u, -(u + v + w)
            base += np.uint64(1)


@serial
def _multiply_narrow_five(work: NDArray[Any], stride: int, j: int) -> None:
    """The same for five levels: all are read before any is written, so that nothing is read twice."""
    step, own = np.uint64(stride), np.uint64(j * stride)
    first = step if j != 1 else step + step
    second = first + step if first + step != own else first + step + step
    third = second + step if second + step != own else second + step + step
    for outer in range(work.size // (5 * stride)):
        base = np.uint64(outer * 5 * stride)
        for _ in range(stride):
            u, v = work[base], work[base + own]
            a, b, c = work[base + first], work[base + second], work[base + third]
            both = u + v
            work[base], work[base + own] = v, u
            work[base + first], work[base + second], work[base + third] = -(a + both), -(b + both), -(c + both)
            base += np.uint64(1)


@serial
def multiply_mode(work: NDArray[Any], stride: int, card: int, j: int, kind: int) -> None:
    """Apply one variable's part of M in place to ``work``, where its digit has weight ``stride``."""
    if stride < 16:
        if card == 3:
            _multiply_narrow_three(work, stride, j)
        elif card == 5:
            _multiply_narrow_five(work, stride, j)
        else:
            _multiply_narrow(work, stride, card, j, kind)
        return
    for outer in range(0, work.size, stride * card):
        line = work[outer : outer + stride * card]
        if kind == WALSH:
            for k in range(card):
                if k < k ^ j:
                    _exchange(line[k * stride : (k + 1) * stride], line[(k ^ j) * stride :][:stride])
            continue
        first, own = line[:stride], line[j * stride : (j + 1) * stride]
        for k in range(1, card):
            if k != j:
                _minus_sum(line[k * stride : (k + 1) * stride], first, own)
        _exchange(first, own)


@serial
def _update_possible(
    row: NDArray[Any], partner: NDArray[Any], zero: Any, places: NDArray[Any], move: Move, least: Any
) -> Any:
    """Update a block, and count the spins further than ``least`` from ``eta_0 = zero * places``, see ``scan.reach``."""
    one, none = row.dtype.type(1), row.dtype.type(0)
    possible = none
    for j in range(row.size):
        x = move.scale * (row[j] + move.c * partner[j])
        row[j] = x
        possible += one if abs(x - zero * places[j]) > least else none
    return possible


@parallel
def step(
    eta: NDArray[Any],
    d: NDArray[Any],
    peaks: NDArray[Any],
    base: Base,
    fibres: Fibres,
    modes: NDArray[np.int64],
    move: Move,
    prices: PriceTables,
    gains: NDArray[np.float64],
    indices: NDArray[np.int64],
) -> None:
    """Update and scan, a fibre of blocks at a time; the best candidate of each chunk: its net gain, its index or -1.

    ``peaks`` holds the largest |d - eta_0| of each block, ``base`` is eta_0. ``modes`` has a row (stride, card, j,
    kind) per variable of y, its stride counted in a fibre.
    """
    size, n_fibres, n_chunks = prices.orders.size, count_fibres(fibres), gains.size
    number = eta.dtype.type
    for chunk in prange(n_chunks):
        work = np.empty(fibres.offsets.size * size, eta.dtype)
        best, where = move.floor, -1
        for unit in range(chunk * n_fibres // n_chunks, (chunk + 1) * n_fibres // n_chunks):
            first = first_block(fibres, unit)
            for f in range(fibres.offsets.size):
                b = first + fibres.offsets[f]
                row, copy = eta[b * size : (b + 1) * size], work[f * size : (f + 1) * size]
                for j in range(size):
                    copy[j] = row[j]
            for i in range(modes.shape[0]):
                multiply_mode(work, modes[i, 0], modes[i, 1], modes[i, 2], modes[i, 3])
            for f in range(fibres.offsets.size):
                b = first + fibres.offsets[f]
                zero = base.blocks[b]
                least = number(reach(peaks[b], bar_of(b, best, prices), abs(zero)))
                row, moved = eta[b * size : (b + 1) * size], work[f * size : (f + 1) * size]
                if _update_possible(row, moved, zero, base.places, move, least) > 0:
                    best, where = scan_spins(eta, d, b, best, where, prices, move.l1)
        gains[chunk] = best
        indices[chunk] = where
