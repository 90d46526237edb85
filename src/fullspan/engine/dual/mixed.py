"""Fused step of the dual table for spins over mixed cardinalities: Walsh and indicator variables together.

Multiplying by Phi_y acts on one variable at a time, and only on those with y_i = j > 0: on Walsh variables
``(Mv)_k = v_{k xor j}``, on indicator variables ``(Mv)_0 = v_j``, ``(Mv)_j = v_0`` and
``(Mv)_k = -v_0 - v_j - v_k`` otherwise. With ``c = tanh(delta)``: ``eta' = (eta + c M eta) / (1 + c eta_y)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.dual.layout import Fibres, count_fibres, first_block
from fullspan.engine.dual.scan import (
    Base,
    Move,
    PriceTables,
    bar_of,
    reach,
    scan_spins,
)
from fullspan.model.algebra.jit import inlined, parallel, prange, serial
from fullspan.model.algebra.transform import WALSH


@inlined
def _three(work: NDArray[Any], stride: int, own: int, other: int) -> None:
    """An indicator variable of three levels. Written out where it is called, so that constants make loops vectorise."""
    n, to_own, to_other = np.uint64(stride), np.uint64(own * stride), np.uint64(other * stride)
    for outer in range(work.size // (3 * stride)):
        p = np.uint64(outer * 3 * stride)
        for _ in range(n):
            u, v, w = work[p], work[p + to_own], work[p + to_other]
            work[p], work[p + to_own], work[p + to_other] = v, u, -(u + v + w)
            p += np.uint64(1)


@inlined
def _five(work: NDArray[Any], stride: int, own: int, a: int, b: int, c: int) -> None:
    """The same for five levels, of which ``a``, ``b``, ``c`` are neither the first nor the term's own."""
    n, to_own = np.uint64(stride), np.uint64(own * stride)
    to_a, to_b, to_c = np.uint64(a * stride), np.uint64(b * stride), np.uint64(c * stride)
    for outer in range(work.size // (5 * stride)):
        p = np.uint64(outer * 5 * stride)
        for _ in range(n):
            u, v = work[p], work[p + to_own]
            x, y, z = work[p + to_a], work[p + to_b], work[p + to_c]
            both = u + v
            work[p], work[p + to_own] = v, u
            work[p + to_a], work[p + to_b], work[p + to_c] = -(x + both), -(y + both), -(z + both)
            p += np.uint64(1)


@inlined
def _five_own(work: NDArray[Any], stride: int, j: int) -> None:
    if j == 1:
        _five(work, stride, 1, 2, 3, 4)
    elif j == 2:
        _five(work, stride, 2, 1, 3, 4)
    elif j == 3:
        _five(work, stride, 3, 1, 2, 4)
    else:
        _five(work, stride, 4, 1, 2, 3)


@serial
def _multiply_three(work: NDArray[Any], stride: int, j: int) -> None:
    """:func:`multiply_mode` for an indicator variable of three levels."""
    if stride > 1:
        _three(work, stride, j, 3 - j)
    elif j == 1:
        _three(work, 1, 1, 2)
    else:
        _three(work, 1, 2, 1)


@serial
def _multiply_five(work: NDArray[Any], stride: int, j: int) -> None:
    """:func:`multiply_mode` for an indicator variable of five levels."""
    if stride > 1:
        _five_own(work, stride, j)
    else:
        _five_own(work, 1, j)


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
def _multiply_wide(work: NDArray[Any], stride: int, card: int, j: int, kind: int) -> None:
    """:func:`multiply_mode` a row of ``stride`` places at a time."""
    for outer in range(0, work.size, stride * card):
        first, own = work[outer : outer + stride], work[outer + j * stride : outer + (j + 1) * stride]
        for k in range(1, card):
            row = work[outer + k * stride : outer + (k + 1) * stride]
            if kind == WALSH and k < k ^ j:
                _exchange(row, work[outer + (k ^ j) * stride : outer + ((k ^ j) + 1) * stride])
            elif kind != WALSH and k != j:
                for i in range(stride):
                    row[i] = -(row[i] + first[i] + own[i])
        _exchange(first, own)


@serial
def _exchange(a: NDArray[Any], b: NDArray[Any]) -> None:
    for i in range(a.size):
        u = a[i]
        a[i] = b[i]
        b[i] = u


@serial
def multiply_mode(work: NDArray[Any], stride: int, card: int, j: int, kind: int) -> None:
    """Apply one variable's part of M in place to ``work``, where its digit has weight ``stride``."""
    if card == 5:
        _multiply_five(work, stride, j)
    elif stride >= 16:
        _multiply_wide(work, stride, card, j, kind)
    elif card == 3:
        _multiply_three(work, stride, j)
    else:
        _multiply_narrow(work, stride, card, j, kind)


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
