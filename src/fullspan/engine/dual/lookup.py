"""Look-ups in the dual table: products of terms, Fisher information, small marginals.

The basis is closed under multiplication, so ``<Phi_y Phi_z>`` is a sum of a few entries of the table, and the
marginal of a few variables is the inverse transform of the few entries that involve only them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from fullspan.algebra.basis import Basis
from fullspan.algebra.jit import parallel, serial
from fullspan.algebra.transform import INDICATOR, INVERT, MONOMIAL, WALSH, _group_tile


@serial
def product_expectation(
    eta: NDArray[Any],
    y: NDArray[np.int64],
    z: NDArray[np.int64],
    strides: NDArray[np.int64],
    kinds: NDArray[np.int64],
    places: NDArray[np.int64],
    signs: NDArray[np.float64],
) -> float:
    """``<Phi_y Phi_z>`` for digit rows y and z; ``places`` and ``signs`` are scratch for the expansion."""
    count, places[0], signs[0] = 1, 0, 1.0
    for i in range(y.size):
        j, k = y[i], z[i]
        if j == 0 or k == 0:
            shift = (j + k) * strides[i]
        elif kinds[i] == WALSH:
            shift = (j ^ k) * strides[i]
        elif kinds[i] == MONOMIAL:
            if j != k:
                return 0.0
            shift = j * strides[i]
        elif j == k:
            shift = 0
        else:  # -1 - phi_j - phi_k
            for t in range(count):
                signs[t] = -signs[t]
                signs[count + t] = signs[t]
                signs[2 * count + t] = signs[t]
                places[count + t] = places[t] + j * strides[i]
                places[2 * count + t] = places[t] + k * strides[i]
            count *= 3
            continue
        if shift:
            for t in range(count):
                places[t] += shift
    total = 0.0
    for t in range(count):
        total += signs[t] * eta[places[t]]
    return total


@parallel
def second_moments(
    eta: NDArray[Any],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    strides: NDArray[np.int64],
    kinds: NDArray[np.int64],
    room: int,
) -> NDArray[np.float64]:
    """Matrix ``<Phi_y Phi_z>`` for digit rows ``left`` (k, n) and ``right`` (m, n)."""
    out = np.empty((left.shape[0], right.shape[0]))
    for a in prange(left.shape[0]):
        places, signs = np.empty(room, np.int64), np.empty(room)
        for b in range(right.shape[0]):
            out[a, b] = product_expectation(eta, left[a], right[b], strides, kinds, places, signs)
    return out


def products(basis: Basis, eta: NDArray[Any], left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
    """``<Phi_y Phi_z>`` for indices ``left`` and ``right`` under the distribution whose expectations are ``eta``."""
    if not basis.kinds.any():
        return np.asarray(eta[left[:, None] ^ right[None, :]], dtype=np.float64)
    cards, strides = np.array(basis.cards, dtype=np.int64), np.array(basis.strides, dtype=np.int64)
    if basis.zero_one and (cards <= 2).all():
        return np.asarray(eta[left[:, None] | right[None, :]], dtype=np.float64)
    a, b = left[:, None] // strides % cards, right[:, None] // strides % cards
    branching = (basis.kinds == INDICATOR) & (cards > 2)
    width = min(int((a[:, branching] > 0).sum(1).max(initial=0)), int((b[:, branching] > 0).sum(1).max(initial=0)))
    return np.asarray(second_moments(eta, a, b, strides, basis.kinds, 3**width + 1))


@serial
def marginal_table(
    table: NDArray[Any],
    variables: NDArray[np.int64],
    cards: NDArray[np.int64],
    strides: NDArray[np.int64],
    kinds: NDArray[np.int64],
    out: NDArray[np.float64],
) -> int:
    """Fill ``out`` with the marginal of ``variables``, the first one fastest; returns the number of cells."""
    count = 1
    out[0] = table[0]
    places = np.zeros(out.size, np.int64)
    local_cards, local_kinds = cards[variables], kinds[variables]
    scale = 1.0
    for i in range(variables.size):
        v = variables[i]
        for k in range(1, cards[v]):
            for t in range(count):
                places[k * count + t] = places[t] + k * strides[v]
        count *= cards[v]
        if kinds[v] == WALSH:
            scale /= cards[v]
    for t in range(count):
        out[t] = table[places[t]]
    _group_tile(out[:count], count, local_cards, local_kinds, INVERT, 1)
    for t in range(count):
        out[t] *= scale
    return count


@parallel
def margin_tables(
    table: NDArray[Any],
    sets: NDArray[np.int64],
    cards: NDArray[np.int64],
    strides: NDArray[np.int64],
    kinds: NDArray[np.int64],
    room: int,
) -> NDArray[np.float64]:
    """Marginals of every row A of ``sets`` (m, |A|), each in a row of ``room`` cells."""
    out = np.zeros((sets.shape[0], room))
    for s in prange(sets.shape[0]):
        marginal_table(table, sets[s], cards, strides, kinds, out[s])
    return out


@parallel
def margin_gains(
    eta: NDArray[Any],
    data: NDArray[np.float64],
    least: NDArray[np.float64],
    sets: NDArray[np.int64],
    cards: NDArray[np.int64],
    strides: NDArray[np.int64],
    kinds: NDArray[np.int64],
) -> NDArray[np.float64]:
    """``KL(p_d(x_A) || p(x_A))`` for every row A of ``sets`` (m, |A|), given the data's marginals.

    Bound before logarithm: ``KL(q || m) <= sum (q - m)^2 / m``; where that is below ``least``, 0 is returned.
    """
    gains = np.zeros(sets.shape[0])
    for s in prange(sets.shape[0]):
        model = np.empty(data.shape[1])
        count = marginal_table(eta, sets[s], cards, strides, kinds, model)
        bound, total = 0.0, 0.0
        for t in range(count):
            bound += (data[s, t] - model[t]) ** 2 / max(model[t], 1e-12)
        if bound >= least[s]:
            for t in range(count):
                if data[s, t] > 1e-12:
                    total += data[s, t] * np.log(data[s, t] / max(model[t], 1e-12))
            gains[s] = total
    return gains
