"""Exact log Z of two layers: the states of one are enumerated, the units of the other summed in closed form.

    Z = sum_v exp(a.v) prod_j (1 + exp(c_j + sum_i v_i W_ij)),      v over the states of the layer with fewer

Units may come in groups of which exactly one is on: an enumerated group of k has k states, and a summed one the factor
``sum_j exp(c_j + ...)`` instead of ``1 + exp(...)``. So the even and the odd layers of any layered machine are two
layers too. States are visited in Gray's order, one variable changing at a time, so that a state costs an addition and
an exponential per unit of the other layer: time O(states x units), memory next to none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.engine.sampling.blocks import colouring
from fullspan.engine.sampling.pairwise import Pairwise
from fullspan.errors import FullspanError, TooLargeError
from fullspan.model.algebra.elementary import exponential
from fullspan.model.algebra.jit import inlined, on_cores, serial

MAX_STATES = 1 << 30
"""States of the smaller layer up to which it is enumerated when asked for: minutes."""
AUTO_UNITS = 28
"""Units of the smaller layer up to which it is enumerated without being asked to."""
_LISTED_NUMBERS = 1 << 17
"""States times units of the other layer up to which NumPy lists them all."""
_WALK_STATES = 1 << 12
"""States visited in one walk, before the fields are summed afresh: rounding errors of a longer one would add up."""
_GATHERED_FACTORS = 64
"""Factors of 1 to 2 whose product is taken before its logarithm."""


class _Enumerated(NamedTuple):
    """The variables of the enumerated layer: what each of their levels adds to the log weight and to the fields.

    Level l of variable i is row ``starts[i] + l`` of ``bias`` (levels,) and of ``fields`` (levels, other units). A unit
    that is on or off by itself has two levels, the first of which adds nothing. The first ``n_walked`` variables are
    walked over; every state of the others begins a walk.
    """

    cards: Ints
    starts: Ints
    bias: Array
    fields: Array
    n_walked: int


def two_layers(
    weights: Array,
    a: Array,
    c: Array,
    a_groups: Ints | None = None,
    c_groups: Ints | None = None,
    *,
    few: int = _LISTED_NUMBERS,
) -> float:
    """log Z of ``log f(v, h) = a.v + c.h + v.W.h`` with 0/1 units; the layer with fewer states is enumerated.

    Parameters
    ----------
    weights, a, c : (m, k), (m,) and (k,).
    a_groups, c_groups : sizes of the groups of units of each layer, in order; 1 for a unit that is on or off by itself,
        as all are by default.
    few : states times units up to which all states are listed; more are walked through by a kernel.

    Raises
    ------
    FullspanError : the shapes do not fit, or a weight is not finite.
    TooLargeError : both layers have more than 2^30 states.

    Examples
    --------
    >>> round(float(two_layers(np.zeros((2, 3)), np.zeros(2), np.zeros(3)) / np.log(2)), 12)
    5.0
    >>> round(float(np.exp(two_layers(np.zeros((3, 1)), np.zeros(3), np.zeros(1), np.array([3])))), 12)
    6.0
    """
    weights, a, c = (np.asarray(part, dtype=np.float64) for part in (weights, a, c))
    groups = [np.ones(b.size, np.int64) if g is None else np.asarray(g) for b, g in ((a, a_groups), (c, c_groups))]
    if weights.shape != (a.size, c.size) or [int(g.sum()) for g in groups] != [a.size, c.size]:
        raise FullspanError(f"layers of {a.size} and {c.size} units do not fit weights of shape {weights.shape}")
    if not all(np.isfinite(part).all() for part in (weights, a, c)):
        raise FullspanError("a weight is infinite or not a number; log Z needs finite weights")
    if n_states(groups[0]) > n_states(groups[1]):
        weights, a, c, groups = weights.T, c, a, groups[::-1]
    if n_states(groups[0]) > MAX_STATES:
        raise TooLargeError(
            f"both layers have more than 2^{MAX_STATES.bit_length() - 1} states ({a.size} and {c.size} units): too "
            "many to enumerate; use annealed importance sampling"
        )
    order = np.argsort(np.repeat(groups[1], groups[1]), kind="stable")  # units by themselves first, as the kernel wants
    layer = _enumerated(weights[:, order], a, groups[0])
    sum_up = _listed if n_states(groups[0]) * c.size <= few else _walks
    tops, sums = sum_up(layer, c[order], np.sort(groups[1]))
    top = float(tops.max())
    return top + float(np.log((sums * np.exp(tops - top)).sum()))


def n_states(groups: Ints) -> int:
    """Joint states of groups of units."""
    states = 1
    for size in groups.tolist():
        states *= 2 if size == 1 else size
    return states


def layer_log_z(machine: Pairwise) -> float | None:
    """log Z of a machine whose units have two colours, the smaller class being small enough; else None."""
    colours = colouring(machine.coupling)
    if colours.max(initial=0) > 1:
        return None
    first, second = np.flatnonzero(colours == 0), np.flatnonzero(colours == 1)
    if min(first.size, second.size) > AUTO_UNITS:
        return None
    coupling = machine.coupling[np.ix_(first, second)]
    return machine.constant + two_layers(coupling, machine.bias[first], machine.bias[second])


def _enumerated(weights: Array, bias: Array, groups: Ints) -> _Enumerated:
    """The levels of the enumerated layer's variables, as the walks read them."""
    cards = np.where(groups == 1, 2, groups)
    starts = np.concatenate([[0], np.cumsum(cards)])
    own = np.ones(starts[-1], dtype=bool)
    # Level 0 of a unit by itself adds nothing: its rows of weights stay 0.
    own[starts[:-1][groups == 1]] = False
    levels, fields = np.zeros(len(own)), np.zeros((len(own), weights.shape[1]))
    levels[own], fields[own] = bias, weights
    # The first variables are walked by Gray code; those beyond number the walks, which the cores share.
    n_walked = int(np.searchsorted(np.cumprod(cards.astype(np.float64)), _WALK_STATES, side="right"))
    return _Enumerated(cards, starts, levels, fields, n_walked)


def _listed(layer: _Enumerated, c: Array, groups: Ints) -> tuple[Array, Array]:
    """The same as ``_walks`` in NumPy, each state by itself: the fields of all states are held at once."""
    value, fields = np.zeros(1), c[None, :]
    for start, card in zip(layer.starts, layer.cards, strict=False):
        own = slice(start, start + card)
        value = (layer.bias[own][:, None] + value).ravel()
        fields = (layer.fields[own][:, None, :] + fields).reshape(-1, c.size)
    single = int(np.count_nonzero(groups == 1))
    value = value + np.logaddexp(0.0, fields[:, :single]).sum(axis=1)
    for part in np.split(fields[:, single:], np.cumsum(groups[single:])[:-1], axis=1):
        if part.shape[1]:
            value += np.logaddexp.reduce(part, axis=1)
    return value, np.ones(len(value))


def _walks(layer: _Enumerated, c: Array, groups: Ints) -> tuple[Array, Array]:
    """Sums over the states of the enumerated layer, as ``exp(top) * sum``, one for each walk."""
    walks = int(np.prod(layer.cards[layer.n_walked :]))
    tops, sums = np.empty(walks), np.empty(walks)
    on_cores(_some_walks, walks, layer, c, groups, tops, sums)
    return tops, sums


@serial
def _some_walks(begin: int, end: int, layer: Any, c: Array, groups: Ints, tops: Array, sums: Array) -> None:
    for walk in range(begin, end):
        fields, linear, rest = c.copy(), 0.0, walk
        for i in range(layer.cards.size):
            level = layer.starts[i]
            if i >= layer.n_walked:
                level += rest % layer.cards[i]
                rest //= layer.cards[i]
            linear += layer.bias[level]
            for j in range(fields.size):
                fields[j] += layer.fields[level, j]
        tops[walk], sums[walk] = _walk(layer, fields, linear, groups)


@serial
def _walk(layer: Any, fields: Array, linear: float, groups: Ints) -> tuple[float, float]:
    """The sum over all states of the walked variables, from level 0 of each on: a mixed-radix reflected Gray code.

    ``focus`` says which variable moves next without looking for it (Knuth, The Art of Computer Programming 7.2.1.1,
    algorithm H); each moves up through its levels, then down again.
    """
    n = layer.n_walked
    level, step, focus = np.zeros(n, np.int64), np.ones(n, np.int64), np.arange(n + 1)
    top, total = _log_summed(fields, groups) + linear, 1.0
    while True:
        i = focus[0]
        focus[0] = 0
        if i == n:
            return top, total
        old = layer.starts[i] + level[i]
        level[i] += step[i]
        new = layer.starts[i] + level[i]
        # The end of its levels: the variable turns round, and the next one is in focus once this one has been passed.
        if level[i] == 0 or level[i] == layer.cards[i] - 1:
            step[i] = -step[i]
            focus[i] = focus[i + 1]
            focus[i + 1] = i + 1
        linear += layer.bias[new] - layer.bias[old]
        after, before = layer.fields[new], layer.fields[old]
        for j in range(fields.size):
            fields[j] += after[j] - before[j]
        value = _log_summed(fields, groups) + linear
        # The sum is kept relative to the largest exponent so far, so that no state overflows, however large its weight.
        if value > top:
            total = total * np.exp(top - value) + 1.0
            top = value
        else:
            total += np.exp(value - top)


@inlined
def _log_summed(fields: Array, groups: Ints) -> float:
    """log of the sum over the states of the other layer; logarithms are taken of products of a few factors."""
    single = 0
    while single < groups.size and groups[single] == 1:
        single += 1
    value, start = 0.0, single
    for first in range(0, single, _GATHERED_FACTORS):
        part = fields[first : min(first + _GATHERED_FACTORS, single)]
        product, linear = 1.0, 0.0
        for j in range(part.size):  # a plain loop over a slice, which vectorises
            # Every factor is between 1 and 2: a few hundred of them fit a double.
            product *= 1.0 + exponential(-abs(part[j]))
            linear += max(part[j], 0.0)
        value += linear + np.log(product)
    for g in range(single, groups.size):
        part, inner = fields[start : start + groups[g]], 0.0
        high = part.max()
        for j in range(part.size):
            inner += exponential(part[j] - high)
        value += high + np.log(inner)
        start += groups[g]
    return value
