"""Look-ups in the dual table: products of terms, Fisher information, small marginals.

The basis is closed under multiplication, so ``<Phi_y Phi_z>`` is a sum of a few entries of the table, and the
marginal of a few variables is the inverse transform of the few entries that involve only them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.dual import plain
from fullspan.model.algebra.basis import Basis
from fullspan.model.algebra.bits import is_small
from fullspan.model.algebra.jit import parallel, prange, serial
from fullspan.model.algebra.transform import INDICATOR, INVERT, MONOMIAL, WALSH, _group_tile


@serial
def expand_product(
    y: NDArray[np.int64],
    z: NDArray[np.int64],
    strides: NDArray[np.int64],
    kinds: NDArray[np.int64],
    places: NDArray[np.int64],
    signs: NDArray[np.float64],
) -> int:
    """``Phi_y Phi_z = sum_t signs_t Phi_{places_t}`` for digit rows y and z; the number of summands."""
    count, places[0], signs[0] = 1, 0, 1.0
    for i in range(y.size):
        j, k = y[i], z[i]
        if j == 0 or k == 0:
            shift = (j + k) * strides[i]
        elif kinds[i] == WALSH:
            shift = (j ^ k) * strides[i]
        elif kinds[i] == MONOMIAL:
            if j != k:
                return 0
            shift = j * strides[i]
        # phi_j^2 = 1 for functions of two values +-1: the variable drops out.
        elif j == k:
            shift = 0
        else:  # -1 - phi_j - phi_k
            # Three summands for every one so far: count triples with each variable of more than two levels that both
            # share.
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
    return count


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
            total = 0.0
            for t in range(expand_product(left[a], right[b], strides, kinds, places, signs)):
                total += signs[t] * eta[places[t]]
            out[a, b] = total
    return out


@parallel
def expand_products(
    left: NDArray[np.int64], right: NDArray[np.int64], strides: NDArray[np.int64], kinds: NDArray[np.int64], room: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Places and signs (k, m, room) of all products of digit rows, signs 0 where there is no summand."""
    places, signs = (
        np.zeros((left.shape[0], right.shape[0], room), np.int64),
        np.empty((left.shape[0], right.shape[0], room)),
    )
    for a in prange(left.shape[0]):
        for b in range(right.shape[0]):
            signs[a, b, expand_product(left[a], right[b], strides, kinds, places[a, b], signs[a, b]) :] = 0.0
    return places, signs


def width(basis: Basis, left: NDArray[np.int64], right: NDArray[np.int64]) -> int:
    """Room that the expansion of any product of digit rows ``left`` and ``right`` needs."""
    branching = (basis.kinds == INDICATOR) & (np.array(basis.cards) > 2)
    # Only variables in both terms branch, so the smaller of the two largest numbers bounds them; + 1 since it may be 0.
    widest = min(int((rows[:, branching] > 0).sum(1).max(initial=0)) for rows in (left, right))
    return int(3**widest) + 1


def single_places(basis: Basis, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Where ``<Phi_y Phi_z>`` is found if every product of two functions is a single one, else None."""
    if not basis.kinds.any():
        # Bit-packed spins: the product of two characters is the character of the exclusive or.
        return np.asarray(left[:, None] ^ right[None, :])
    if basis.zero_one and max(basis.cards, default=2) <= 2:
        # Monomials of two levels: x_i is its own square, so the product has the union of the bits.
        return np.asarray(left[:, None] | right[None, :])
    return None


def products(basis: Basis, eta: NDArray[Any], left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
    """``<Phi_y Phi_z>`` for indices ``left`` and ``right`` under the distribution whose expectations are ``eta``."""
    places = single_places(basis, left, right)
    if places is not None:
        return np.asarray(eta[places], dtype=np.float64)
    if is_small(eta.size):
        return plain.second_moments(basis, eta, left, right)
    cards, strides = np.array(basis.cards, dtype=np.int64), np.array(basis.strides, dtype=np.int64)
    a, b = left[:, None] // strides % cards, right[:, None] // strides % cards
    return np.asarray(second_moments(eta, a, b, strides, basis.kinds, width(basis, a, b)))


def margins(basis: Basis, table: NDArray[Any], sets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Marginals of every row A of ``sets`` (m, |A|), padded with zeros to the longest, the first variable fastest."""
    cards, strides = np.array(basis.cards, dtype=np.int64), np.array(basis.strides, dtype=np.int64)
    room = int(cards[sets].prod(axis=1).max(initial=1))
    if is_small(table.size):
        return plain.margin_tables(table, basis, sets, room)
    return np.asarray(margin_tables(table, sets, cards, strides, basis.kinds, room))


@serial
def marginal_places(
    variables: NDArray[np.int64], cards: NDArray[np.int64], strides: NDArray[np.int64], places: NDArray[np.int64]
) -> int:
    """Fill ``places`` with the entries that involve only ``variables``, the first one fastest; returns their number."""
    count = 1
    places[0] = 0
    for i in range(variables.size):
        v = variables[i]
        for k in range(1, cards[v]):
            for t in range(count):
                places[k * count + t] = places[t] + k * strides[v]
        count *= cards[v]
    return count


@serial
def invert_margin(
    out: NDArray[np.float64], variables: NDArray[np.int64], cards: NDArray[np.int64], kinds: NDArray[np.int64]
) -> None:
    """From the expectations of the terms on a few variables to their marginal, in place."""
    local_cards, local_kinds = cards[variables], kinds[variables]
    scale = 1.0
    for i in range(variables.size):
        if local_kinds[i] == WALSH:
            # The inverse of a Walsh transform is the transform over its size; the other bases invert exactly.
            scale /= local_cards[i]
    _group_tile(out, out.size, local_cards, local_kinds, INVERT, 1)
    for t in range(out.size):
        out[t] *= scale


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
    places = np.empty(out.size, np.int64)
    count = marginal_places(variables, cards, strides, places)
    for t in range(count):
        out[t] = table[places[t]]
    invert_margin(out[:count], variables, cards, kinds)
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
def margin_places(
    sets: NDArray[np.int64], cards: NDArray[np.int64], strides: NDArray[np.int64], room: int
) -> NDArray[np.int64]:
    """Entries of the table that the marginals of every row A of ``sets`` (m, |A|) need, padded with 0 to ``room``."""
    places = np.zeros((sets.shape[0], room), np.int64)
    for s in prange(sets.shape[0]):
        marginal_places(sets[s], cards, strides, places[s])
    return places


@parallel
def invert_margins(
    values: NDArray[np.float64], sets: NDArray[np.int64], cards: NDArray[np.int64], kinds: NDArray[np.int64]
) -> None:
    """Turn looked-up entries, a row for each row A of ``sets``, into marginals, in place."""
    for s in prange(sets.shape[0]):
        count = 1
        for i in range(sets.shape[1]):
            count *= cards[sets[s, i]]
        invert_margin(values[s, :count], sets[s], cards, kinds)
        # What was looked up for the padding is entry 0 of the table, the constant.
        values[s, count:] = 0.0


@serial
def divergence(data: NDArray[np.float64], model: NDArray[np.float64], least: float) -> float:
    """``KL(data || model)``, or 0 where ``sum (q - m)^2 / m``, which bounds it, is below ``least``."""
    bound, total = 0.0, 0.0
    for t in range(model.size):
        # KL(q || m) <= chi^2(q, m): no logarithm for the many sets that cannot win. 1e-12 stands for a rounded 0.
        bound += (data[t] - model[t]) ** 2 / max(model[t], 1e-12)
    # A data probability of 0 adds nothing; rounding in the inverse transform leaves it near 0 instead of at it.
    if bound >= least:
        for t in range(model.size):
            if data[t] > 1e-12:
                total += data[t] * np.log(data[t] / max(model[t], 1e-12))
    return total


@parallel
def divergences(
    data: NDArray[np.float64], model: NDArray[np.float64], least: NDArray[np.float64]
) -> NDArray[np.float64]:
    """:func:`divergence` of each row, both padded with zeros."""
    gains = np.empty(data.shape[0])
    for s in prange(data.shape[0]):
        gains[s] = divergence(data[s], model[s], least[s])
    return gains


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
    """``KL(p_d(x_A) || p(x_A))`` for every row A of ``sets`` (m, |A|), given the data's marginals; bound first."""
    gains = np.zeros(sets.shape[0])
    for s in prange(sets.shape[0]):
        model = np.empty(data.shape[1])
        count = marginal_table(eta, sets[s], cards, strides, kinds, model)
        gains[s] = divergence(data[s], model[:count], least[s])
    return gains
