"""The published search of one small model after the other, whole, in compiled code; models share the cores.

This is the compiled twin of ``learn/search/paper.py``, and ``engine/cuda/many.py`` is its twin on a GPU: append, adjust
or remove the term that lowers ``KL(p_d || p) + sum r_y`` most, until that is less than epsilon. Both are tested against
the original, model by model. Each model has a row of every array.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.learn.many.moves import (
    Shape,
    best_candidate,
    expectations,
    exponents,
    rebuild,
    update,
)
from fullspan.model.algebra.jit import serial
from fullspan.model.algebra.one_term import compiled_log_cosh, drop, step_to

APPEND, ADJUST, REMOVE, NONE = 0, 1, 2, 3
CONVERGED, STEP_LIMIT = 0, 1
_STEADY, _LONGEST = 256, 1024
"""Steps before the first rebuild, and between the last ones, as in the search of one model."""


class Tables(NamedTuple):
    """Rooms for a batch of models, (models, |X|) each: both tables, and the terms in use with their weights."""

    eta: Array
    d: Array
    y: NDArray[np.int64]
    theta: Array


class Data(NamedTuple):
    """Counts of a batch: model m has the distinct states ``places[starts[m]:starts[m+1]]``, and N = ``totals[m]``."""

    starts: Ints
    places: Ints
    counts: Array
    totals: Array


class Tariff(NamedTuple):
    """Price of term y for N rows: ``(names[y] + factor ln(N) / 2) / N``; the constant is not for sale."""

    names: Array
    factor: float


class Outcome(NamedTuple):
    """What a batch of searches found, a number per model; ``surprise`` is -log p(data) in nats over all rows."""

    n_terms: Ints
    n_steps: Ints
    status: Ints
    log_z: Array
    surprise: Array
    price: Array
    drift: Array

    def part(self, start: int, stop: int) -> Outcome:
        """Those of some of the models, in the same memory."""
        return Outcome._make(values[start:stop] for values in self)


@serial
def _best_in_use(
    eta: Array, d: Array, price: Array, y: Ints, theta: Array, away: Array, size: int, bar: float
) -> tuple[int, int, float, float]:
    """The best adjustment or removal that gains ``bar`` or more: what, the place in use, its step and gain.

    An adjustment gains at most ``(d - eta)^2 / (1 - eta^2)``, which spares most logarithms. ``away`` has tanh and
    ln cosh of the weights. Of equal gains the lower index wins, as it does in the search of one model.
    """
    adjusted, removed, step, adjust, remove = -1, -1, 0.0, bar, bar
    for k in range(size):
        m, q = eta[y[k]], d[y[k]]
        e = q - m
        if 1.000001 * e * e >= adjust * (1.0 - m * m):
            delta = step_to(m, q, False)
            gain = drop(m, q, delta, False)
            if gain > adjust:
                adjust, adjusted, step = gain, k, delta
        gain = price[y[k]] - theta[k] * q - away[1, k] - math.log1p(-m * away[0, k])
        if gain > remove:
            remove, removed = gain, k
    if removed >= 0 and (adjusted < 0 or remove > adjust or (remove == adjust and y[removed] < y[adjusted])):
        return REMOVE, removed, -theta[removed], remove
    return (ADJUST, adjusted, step, adjust) if adjusted >= 0 else (NONE, -1, 0.0, bar)


@serial
def _choose(
    eta: Array,
    d: Array,
    price: Array,
    y: Ints,
    theta: Array,
    away: Array,
    size: int,
    is_used: NDArray[np.bool_],
    least: float,
) -> tuple[int, int, float, float]:
    """The move that lowers the cost most: what, where (index if appended, else place in use), its step and gain.

    Moves that gain less than ``least`` need not be found. A term in use may be the best candidate, priced as if it
    were new; adjusting it is better still.
    """
    net, index = best_candidate(eta, d, price, least)
    is_new = index >= 0 and not is_used[index]
    what, k, delta, gain = _best_in_use(eta, d, price, y, theta, away, size, least)
    if is_new and (what == NONE or net > gain or (net == gain and index < y[k])):
        return APPEND, index, step_to(eta[index], d[index], False), net
    return what, k, delta, gain


@serial
def search(
    eta: Array, d: Array, price: Array, epsilon: float, y: Ints, theta: Array, shape: Shape
) -> tuple[int, int, int, float]:
    """The whole search of one model, from the uniform distribution: terms in use, steps, status, drift."""
    eta[:] = shape.uniform
    work, away, is_used = np.empty(eta.size), np.empty((2, eta.size)), np.zeros(eta.size, np.bool_)
    size, steps, since, interval, drift, status = 0, 0, 0, _STEADY, 0.0, STEP_LIMIT
    most = int(2.0 * math.log(eta.size) / epsilon) + 2 * eta.size  # every step lowers a cost of at most ln |X|
    while steps < most:
        what, k, delta, gain = _choose(eta, d, price, y, theta, away, size, is_used, 0.999999 * epsilon)
        if what == NONE or gain < epsilon:
            status = CONVERGED
            break
        index = k if what == APPEND else y[k]
        if math.tanh(delta) * eta[index] <= -1.0:  # rounding has made a probability of more than one
            rebuild(eta, y[:size], theta[:size], work, shape)
        update(eta, work, index, delta, shape)
        steps, since = steps + 1, since + 1
        if what == REMOVE:
            size -= 1
            for later in range(k, size):
                y[later], theta[later] = y[later + 1], theta[later + 1]
                away[0, later], away[1, later] = away[0, later + 1], away[1, later + 1]
        else:
            if what == APPEND:
                k, y[size], theta[size] = size, index, 0.0
                size += 1
            theta[k] += delta
            away[0, k], away[1, k] = math.tanh(theta[k]), compiled_log_cosh(theta[k])
        is_used[index] = what != REMOVE
        if since == interval:
            drift = max(drift, rebuild(eta, y[:size], theta[:size], work, shape))
            since, interval = 0, min(2 * interval, _LONGEST)
    return size, steps, status, max(drift, rebuild(eta, y[:size], theta[:size], work, shape))


@serial
def _search_one(m: int, tables: Tables, data: Data, tariff: Tariff, epsilon: float, shape: Shape, out: Outcome) -> None:
    """Search the model of row m."""
    eta, d, y, theta = tables.eta[m], tables.d[m], tables.y[m], tables.theta[m]
    places = data.places[data.starts[m] : data.starts[m + 1]]
    counts = data.counts[data.starts[m] : data.starts[m + 1]]
    work, total = np.empty(d.size), data.totals[m]
    weight = tariff.factor * 0.5 * math.log(max(total, 1.0))
    price = (tariff.names + weight) / total
    expectations(counts, places, total, shape, d)
    size, steps, status, drift = search(eta, d, price, epsilon, y, theta, shape)
    log_z = exponents(y[:size], theta[:size], work, shape)
    surprise, cost = 0.0, 0.0
    for k in range(counts.size):
        surprise += counts[k] * (log_z - work[places[k]])
    for k in range(size):
        cost += price[y[k]]
    out.n_terms[m], out.n_steps[m], out.status[m] = size, steps, status
    out.log_z[m], out.surprise[m], out.price[m], out.drift[m] = log_z, surprise, cost, drift


@serial
def search_batch(
    start: int, stop: int, tables: Tables, data: Data, tariff: Tariff, epsilon: float, shape: Shape, out: Outcome
) -> None:
    """Search the models of a batch from ``start`` to ``stop``."""
    for m in range(start, stop):
        _search_one(m, tables, data, tariff, epsilon, shape, out)
