"""The dual table's step, scan and look-ups in NumPy: the readable form of the kernels, and what serves small tables.

Compiling the kernels takes twenty seconds, a NumPy pass over some thousand states twenty microseconds: small tables are
never worth it (:func:`fullspan.model.algebra.bits.is_small`). Each function says which kernel it is the twin of; the
tests compare the two.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.model.algebra.basis import Basis, Term, coefficients
from fullspan.model.algebra.transform import INVERT, transform_plain

_TINY = 1e-300
_EMPTY_PROBABILITY = 1e-12
"""Probability of a cell below which it is taken for empty."""
_HELD_CELLS = 1 << 20
"""Cells of margins that are held at a time."""


# -- moving (twins of walsh.step, monomial.step and mixed.step) ---------------------------------------------------


def times_term(basis: Basis, eta: NDArray[Any], term: Term) -> NDArray[Any]:
    """``<Phi_y Phi_z>`` for all z, with y the index of ``term``.

    A product of two local functions is a sum of local functions: a small matrix for each variable of the term.
    """
    for i, j in term:
        rows = eta.reshape(-1, basis.cards[i], basis.strides[i])
        eta = (basis.local_products(i, j).astype(eta.dtype) @ rows).ravel()
    return eta


def best_by_chunk(
    eta: NDArray[Any], d: NDArray[Any], prices: Array, chunks: Ints, floor: float, l1: float, zero_one: bool
) -> tuple[Ints, Array]:
    """Index and net gain of the best term of each chunk that has one above ``floor``, best first.

    Where the bound of ``scan`` rules a term out, its logarithms are not taken.
    """
    eta, d = eta.astype(np.float64, copy=False), d.astype(np.float64, copy=False)
    distance = np.abs(d - eta) - l1
    variance = eta * (1.0 - eta) if zero_one else 1.0 - eta * eta
    # The constant has the price infinity, and variance 0.
    # The bound, as in the kernel: a gain never exceeds distance^2 / variance.
    possible = np.flatnonzero((distance > 0.0) & (distance * distance > (floor + prices) * np.maximum(variance, _TINY)))
    net = term_gains(eta[possible], d[possible], l1, zero_one) - prices[possible]
    above = net > floor
    possible, net = possible[above], net[above]
    order = np.lexsort((possible, -net))
    _, first = np.unique(chunks[possible[order]], return_index=True)
    chosen = order[np.sort(first)]
    return possible[chosen], net[chosen]


def term_gains(eta: Array, d: Array, l1: float, zero_one: bool) -> Array:
    """Twin of ``scan.term_gain``: ``KL`` of a coin with bias q from one with bias m, for each term."""
    target = np.where(d > eta, np.maximum(d - l1, eta), np.minimum(d + l1, eta))
    q, m = (target, eta) if zero_one else ((1.0 + target) / 2, (1.0 + eta) / 2)
    q = np.clip(q, 0.0, 1.0)
    return _relative(q, m, _TINY, 0.0) + _relative(1.0 - q, 1.0 - m, _TINY, 0.0)


def _relative(q: Array, m: Array, least: float, none: float) -> Array:
    """``q ln(q/m)`` with m at least ``least``, and 0 where q is not more than ``none``."""
    return np.where(q > none, q * np.log(np.maximum(q, _TINY) / np.maximum(m, least)), 0.0)


# -- look-ups (twins of the functions of ``lookup`` with the same names) -----------------------------------------


def margin_tables(table: NDArray[Any], basis: Basis, sets: Ints, room: int) -> Array:
    """Marginals of every row A of ``sets`` (m, |A|), each in a row of ``room`` cells, the first variable fastest."""
    cards, strides = np.array(basis.cards, dtype=np.int64), np.array(basis.strides, dtype=np.int64)
    out = np.zeros((len(sets), room))
    # Sets whose variables are alike are inverted together.
    # A loop over kinds of sets in Python, not over sets: there are thousands of sets and a handful of kinds.
    shapes, which = np.unique(np.concatenate([cards[sets], basis.kinds[sets]], axis=1), axis=0, return_inverse=True)
    for number, shape in enumerate(shapes):
        own_cards, own_kinds = np.split(shape, 2)
        size = math.prod(own_cards.tolist())
        members = np.flatnonzero(which.ravel() == number)
        for part in np.array_split(members, -(-len(members) * size // _HELD_CELLS)):
            places = np.zeros((len(part), 1), dtype=np.int64)
            for a, card in enumerate(own_cards):
                steps = np.arange(card)[None, :, None] * strides[sets[part, a]][:, None, None]
                places = (steps + places[:, None, :]).reshape(len(part), -1)
            values = table[places].astype(np.float64, copy=False)
            transform_plain(values.reshape(-1), own_cards, own_kinds, INVERT)
            out[part, :size] = values
    return out


def divergences(data: Array, model: Array, least: Array) -> Array:
    """``KL(data || model)`` of each row, or 0 where ``sum (q - m)^2 / m``, which bounds it, is below ``least``."""
    bound = ((data - model) ** 2 / np.maximum(model, _EMPTY_PROBABILITY)).sum(axis=1)
    gains = np.zeros(len(data))
    far = np.flatnonzero(bound >= least)
    gains[far] = _relative(data[far], model[far], _EMPTY_PROBABILITY, _EMPTY_PROBABILITY).sum(axis=1)
    return gains


def second_moments(basis: Basis, eta: NDArray[Any], left: Ints, right: Ints) -> Array:
    """Matrix ``<Phi_y Phi_z>`` of indices, through 0/1 functions, whose products are single functions.

    With ``Phi_y = sum_s A[y, s] 1_s`` over 0/1 functions, it is ``A <1_s 1_t> B^t``, and ``1_s 1_t`` is ``1_{s or t}``
    if s and t agree on the variables that they share, and 0 otherwise.
    """
    zero_one = Basis("monomial", basis.cards)
    moments = eta.astype(np.float64)
    basis.invert(moments)
    zero_one.analyse(moments)
    a, s = _in_zero_one(basis, left)
    b, t = (a, s) if left is right else _in_zero_one(basis, right)
    strides, cards = np.array(basis.strides, dtype=np.int64), np.array(basis.cards, dtype=np.int64)
    places, agree = np.zeros((len(s), len(t)), dtype=np.int64), np.ones((len(s), len(t)), dtype=bool)
    for stride, card in zip(strides, cards, strict=True):
        j, k = (s // stride % card)[:, None], (t // stride % card)[None, :]
        # The union, where the two agree or one of them is 0; elsewhere the product is 0, whatever stands there.
        places += np.maximum(j, k) * stride
        agree &= (j == k) | (j == 0) | (k == 0)
    return np.asarray(a @ np.where(agree, moments[places], 0.0) @ b.T)


def _in_zero_one(basis: Basis, indices: Ints) -> tuple[Array, Ints]:
    """Terms as sums of 0/1 functions: coefficients (k, m), and the indices (m,) of these functions."""
    local = [coefficients(basis, Basis("monomial", basis.cards), i) for i in range(len(basis.cards))]
    columns: dict[int, int] = {}
    entries: list[tuple[int, int, float]] = []
    for row, y in enumerate(indices.tolist()):
        parts = [[(k * basis.strides[i], float(c)) for k, c in enumerate(local[i][j]) if c] for i, j in basis.term(y)]
        for chosen in itertools.product(*parts):
            place = sum(step for step, _ in chosen)
            entries.append((row, columns.setdefault(place, len(columns)), math.prod(c for _, c in chosen)))
    matrix = np.zeros((len(indices), len(columns)))
    for row, column, value in entries:
        matrix[row, column] += value
    return matrix, np.fromiter(columns, dtype=np.int64, count=len(columns))
