"""Iterative proportional fitting: match one margin, or the event of one term, at a time, in turn.

Each step is the I-projection on one set of constraints (Byrne 1992, eqs. 50-64). For a margin A it multiplies

    p(x) <- p(x) q(x_A) / p(x_A),

for a single term with event E and data probability q(E) all states of the event by q(E) / p(E) and the others by
(1 - q(E)) / (1 - p(E)). Both are one rule: the cells of A are grouped (each its own group, or event and complement),
and the probability of every group is set to its target. Logarithms of the factors add up to the weights.

A state's cell of A is split into what its first digits and its other digits contribute, so that one pass over the table
needs no division. Time of a sweep: two passes for every margin. Memory: the table, and keys of its square root.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.learn.base.descent import Descent, Solution, Watch
from fullspan.learn.likelihood.phases import distribution
from fullspan.learn.likelihood.solve import Likelihood
from fullspan.model.algebra.basis import Basis, Term, expand
from fullspan.model.algebra.jit import serial

_LOW_STATES = 1024
"""Largest number of states of the first digits."""


@dataclass(frozen=True)
class Constraint:
    """Target probabilities of groups of cells of a margin.

    Attributes
    ----------
    variables : the margin A, increasing.
    group : (cells,) group of each cell of A, the first variable fastest.
    target : probability of each group.
    term : the term whose event it is, or None for a whole margin.
    """

    variables: tuple[int, ...]
    group: Ints
    target: Array
    term: Term | None = None

    @classmethod
    def of_term(cls, basis: Basis, term: Term, mean: float) -> Constraint:
        """The event ``Phi_y = 1``, from the expectation of a term."""
        phi = np.ones(1, dtype=np.int64)
        for i, j in term:
            phi = np.multiply.outer(basis.local(i)[j], phi).ravel()
        q = mean if basis.zero_one else (1 + mean) / 2
        return cls(tuple(i for i, _ in term), (phi == 1).astype(np.int64), np.array([1 - q, q]), term)

    @classmethod
    def of_margin(cls, variables: Sequence[int], cells: Array) -> Constraint:
        """A whole margin, flat with the first variable fastest."""
        return cls(tuple(variables), np.arange(cells.size), np.asarray(cells, dtype=np.float64))


def attainable(basis: Basis, d: Array) -> Array:
    """Expectations of terms; those of events that never or always happen are moved by a rounding.

    IPFP then has a finite factor for every event, and ends where that of an impossible one would be 0.
    """
    float64 = np.finfo(np.float64)
    return np.clip(d, float64.tiny if basis.zero_one else 4 * float64.eps - 1, 1 - 4 * float64.eps)


@dataclass(frozen=True)
class Fit:
    """Result of :func:`ipf`: the weights found, the largest difference left, sweeps done.

    ``log_factors`` are, for each constraint, the logarithms of the factors of its groups: the same change of p.
    """

    theta: dict[Term, float]
    difference: float
    sweeps: int
    converged: bool
    log_factors: tuple[Array, ...] = ()


def ipf(
    basis: Basis,
    constraints: Sequence[Constraint],
    p: Array,
    tol: float = 1e-9,
    max_sweeps: int = 100_000,
    low: int = _LOW_STATES,
) -> Fit:
    """Fit a table ``p`` of probabilities, to all constraints in turn, until no group is off by more than ``tol``.

    Returns the change of the weights: p ends as ``exp(sum_y theta_y Phi_y)`` times what it was, normalised. Groups with
    target 0 are left alone: their states must have no probability from the start (see ``boundary``). States are visited
    in rows of about ``low``.
    """
    n_low, size = 0, 1
    # About the square root, so that the keys of both parts together are smallest.
    while n_low < len(basis.cards) and (n_low == 0 or size * basis.cards[n_low] <= max(low, math.isqrt(p.size))):
        size *= basis.cards[n_low]
        n_low += 1
    keys = [_keys(basis, c.variables, size) for c in constraints]
    low_keys = np.array([key[0] for key in keys], dtype=np.int64).reshape(len(keys), size)
    high_keys = np.array([key[1] for key in keys], dtype=np.int64).reshape(len(keys), p.size // size)
    cells = np.cumsum([0, *(c.group.size for c in constraints)], dtype=np.int64)
    groups = np.cumsum([0, *(c.target.size for c in constraints)], dtype=np.int64)
    group = np.concatenate([c.group for c in constraints] or [np.zeros(0, dtype=np.int64)])
    target = np.concatenate([c.target for c in constraints] or [np.zeros(0)])
    log_factor = np.zeros(len(target))
    difference, sweeps = _sweeps(p, low_keys, high_keys, cells, groups, group, target, log_factor, tol, max_sweeps)
    theta: dict[Term, float] = {}
    factors = tuple(log_factor[a:b] for a, b in itertools.pairwise(groups))
    for c, a, b in zip(constraints, groups[:-1], groups[1:], strict=True):
        for term, weight in _weights(basis, c, log_factor[a:b]).items():
            theta[term] = theta.get(term, 0.0) + weight
    return Fit(theta, difference, sweeps, difference <= tol, factors)


def _keys(basis: Basis, variables: Sequence[int], size: int) -> tuple[Ints, Ints]:
    """Cell of the margin as a sum of two parts: of a state's place among the first digits, and of the rest."""
    low, high = np.arange(size), np.arange(basis.n_states // size)
    keys = [np.zeros(size, dtype=np.int64), np.zeros(high.size, dtype=np.int64)]
    stride = 1
    for i in variables:
        index, part, step = (
            (low, 0, basis.strides[i]) if basis.strides[i] < size else (high, 1, basis.strides[i] // size)
        )
        keys[part] += stride * (index // step % basis.cards[i])
        stride *= basis.cards[i]
    return keys[0], keys[1]


@serial
def _sweeps(
    p: Array,
    low: Ints,
    high: Ints,
    cells: Ints,
    groups: Ints,
    group: Ints,
    target: Array,
    log_factor: Array,
    tol: float,
    max_sweeps: int,
) -> tuple[float, int]:
    largest = 0
    for c in range(low.shape[0]):
        largest = max(largest, cells[c + 1] - cells[c], groups[c + 1] - groups[c])
    cell, total = np.empty(largest), np.empty(largest)
    difference = np.inf
    for sweep in range(max_sweeps + 1):
        difference = 0.0
        for c in range(low.shape[0]):
            n_cells, first, n_groups = cells[c + 1] - cells[c], groups[c], groups[c + 1] - groups[c]
            of = group[cells[c] : cells[c + 1]]
            _margin(p, low[c], high[c], cell[:n_cells])
            total[:n_groups] = 0.0
            for j in range(n_cells):
                total[of[j]] += cell[j]
            for g in range(n_groups):
                wanted = target[first + g]
                # Measured when its turn comes, before it is corrected: the others may have moved it since.
                difference = max(difference, abs(total[g] - wanted))
                # A group without probability stays so whatever the factor, and 0 / 0 would spoil the table.
                usable = wanted > 0.0 and total[g] > 0.0
                total[g] = wanted / total[g] if usable else 1.0
            if sweep == max_sweeps:  # only to know the difference
                continue
            for g in range(n_groups):
                log_factor[first + g] += np.log(total[g])
            for j in range(n_cells):
                cell[j] = total[of[j]]
            _scale(p, low[c], high[c], cell[:n_cells])
        if difference <= tol:
            return difference, sweep
    return difference, max_sweeps


@serial
def _margin(p: Array, low: Ints, high: Ints, cell: Array) -> None:
    cell[:] = 0.0
    size = low.size
    for h in range(high.size):
        shift = high[h]
        part = p[h * size : (h + 1) * size]
        for j in range(size):
            cell[shift + low[j]] += part[j]


@serial
def _scale(p: Array, low: Ints, high: Ints, factor: Array) -> None:
    size = low.size
    for h in range(high.size):
        shift = high[h]
        part = p[h * size : (h + 1) * size]
        for j in range(size):
            part[j] *= factor[shift + low[j]]


def _weights(basis: Basis, constraint: Constraint, log_factor: Array) -> dict[Term, float]:
    if constraint.term is not None:
        # Only the ratio of both factors counts, the rest is log Z; a spin changes by twice its weight.
        change = float(log_factor[1] - log_factor[0])
        return {constraint.term: change if basis.zero_one else change / 2}
    return coefficients(basis, constraint.variables, log_factor)


def coefficients(basis: Basis, variables: Sequence[int], values: Array) -> dict[Term, float]:
    """The function of a few variables, flat with the first one fastest, as a combination of basis functions.

    The inverse of ``l(x_A) = sum_y theta_y Phi_y(x_A)``; the constant is left out.
    """
    cards = [basis.cards[i] for i in variables]
    cube = expand(basis, variables, np.asarray(values, dtype=np.float64).reshape(cards, order="F"))
    out: dict[Term, float] = {}
    for digits in itertools.product(*map(range, cards)):
        if any(digits):
            out[tuple((i, j) for i, j in zip(variables, digits, strict=True) if j)] = float(cube[digits])
    return out


VISITS_PER_REPORT = 1 << 26
"""States visited between two reports of the progress."""
_MAX_SWEEPS = 100_000
"""Most sweeps unless the caller says."""


def sweep(
    likelihood: Likelihood,
    basis: Basis,
    terms: Sequence[Term],
    constraints: Sequence[Constraint],
    theta: Array,
    tol: float,
    max_iter: int | None,
    watch: Watch | None,
) -> Solution:
    """Fit the constraints from ``theta`` on, until no expectation differs by more than ``tol``."""
    y = np.array([basis.index(term) for term in terms], dtype=np.int64)
    p = distribution(basis, y, theta)
    at_once = max(1, VISITS_PER_REPORT // (p.size * max(len(constraints), 1)))

    def sweeps(descent: Descent) -> None:
        while not descent.done():
            found = ipf(basis, constraints, p, tol / 4, min(at_once, descent.limit - descent.iterations))
            change = np.array([found.theta[term] for term in terms])
            descent.accept(descent.at(descent.point.theta + change), found.sweeps)
            if found.converged:
                descent.status = "converged"
                return

    return Descent(likelihood, theta, tol, _MAX_SWEEPS if max_iter is None else max_iter, watch).follow(sweeps)
