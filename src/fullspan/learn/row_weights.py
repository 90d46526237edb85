"""Row weights with given margins: the I-projection of the design weights, by iterative proportional fitting.

Rows that agree on all margin variables are one group g with design weight d_g. Sought are ratios r_g >= 0 with

    minimise  Σ_g d_g (r_g ln r_g − r_g + 1)    such that  Σ_{g in cell c} d_g r_g = t_c  for every cell of every margin
    and  low_g <= r_g <= high_g.

The solution is r_g = clip(Π_c exp(λ_c), low_g, high_g), the product over the cells of g. A sweep takes the margins in
turn and moves the multipliers of its cells, which are disjoint, to their optimum: without bounds the factor
t_c / Σ d_g r_g, and with bounds the root f of Σ_{g in c} d_g clip(f h_g, low_g, high_g) = t_c. So trimming is part of
every step and the limit is exact, where trimming the finished weights would break the margins again.

:mod:`fullspan.learn.likelihood.ipf` does the same on a dense table of all states; here only groups that have rows
exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array, Ints, Mask

MAX_SWEEPS = 10_000
TOLERANCE = 1e-10
_ROOT_STEPS = 200
_CHECKED_GROUPS = 200_000
"""Most groups for which a linear program decides whether any weights have the margins."""


@dataclass(frozen=True, eq=False)
class MarginCells:
    """One margin: the cell of each group, and what every cell is to sum to."""

    cell: Ints
    target: Array


@dataclass(frozen=True, eq=False)
class Raked:
    """Ratios of new to design weight.

    Attributes
    ----------
    ratio : (groups,) the ratios.
    converged : whether every cell is within the tolerance of its target.
    sweeps : how many passes over all margins were made.
    misfit : largest difference of a cell from its target, as a share of it.
    """

    ratio: Array
    converged: bool
    sweeps: int
    misfit: float


def rake(
    design: Array,
    margins: Sequence[MarginCells],
    low: Array | None = None,
    high: Array | None = None,
    tol: float = TOLERANCE,
    max_sweeps: int = MAX_SWEEPS,
) -> Raked:
    """Iterative proportional fitting of group weights, with bounds on the ratios if given.

    Time of a sweep: one pass over the groups per margin, some ten with bounds.
    """
    free = np.ones_like(design)  # the product of all factors, before the bounds
    bounds = None if low is None or high is None else (low, high)
    ratio, misfit = _clipped(free, bounds), np.inf
    for sweep in range(max_sweeps + 1):
        misfit = _misfit(design * ratio, margins)
        if misfit <= tol or sweep == max_sweeps:
            return Raked(ratio, misfit <= tol, sweep, misfit)
        for margin in margins:
            free = _moved(design, free, margin, bounds)
            ratio = _clipped(free, bounds)
    raise AssertionError("the loop ends at its last sweep")


def _clipped(free: Array, bounds: tuple[Array, Array] | None) -> Array:
    return free if bounds is None else np.clip(free, *bounds)


def _misfit(weight: Array, margins: Sequence[MarginCells]) -> float:
    worst = 0.0
    for margin in margins:
        found = np.bincount(margin.cell, weight, len(margin.target))
        wanted = margin.target > 0
        if wanted.any():
            worst = max(worst, float(np.abs(found[wanted] / margin.target[wanted] - 1).max()))
        worst = max(worst, float(found[~wanted].max(initial=0.0)) / float(margin.target.sum()))
    return worst


def _moved(design: Array, free: Array, margin: MarginCells, bounds: tuple[Array, Array] | None) -> Array:
    """The factors after those of one margin's cells have moved to their optimum."""
    if bounds is None:
        found = np.bincount(margin.cell, design * free, len(margin.target))
        factor = np.divide(margin.target, found, out=np.zeros_like(found), where=found > 0)
    else:
        factor = _roots(design, free, margin, *bounds)
    return free * factor[margin.cell]


def _roots(design: Array, free: Array, margin: MarginCells, low: Array, high: Array) -> Array:
    """The factor f of each cell with ``Σ d clip(f h, low, high) = t``, which grows with f.

    Newton's method on a piecewise linear function, kept inside a bracket by bisection.
    """
    cell, target, n = margin.cell, margin.target, len(margin.target)
    factor = np.ones(n)
    below, above = np.zeros(n), np.full(n, np.inf)
    for _ in range(_ROOT_STEPS):
        h = free * factor[cell]
        r = np.clip(h, low, high)
        found = np.bincount(cell, design * r, n)
        gap = target - found
        # To rounding: an error left here would come back as a misfit of the other margins in every sweep.
        done = np.abs(gap) <= 1e-14 * np.maximum(target, 1e-300)
        if done.all():
            break
        below, above = np.where(gap > 0, factor, below), np.where(gap < 0, factor, above)
        inside = (h > low) & (h < high)
        slope = np.bincount(cell[inside], (design * free)[inside], n)
        step = np.divide(gap, slope, out=np.full(n, np.nan), where=slope > 0)
        moved = factor + step
        with np.errstate(invalid="ignore"):
            middle = np.where(
                np.isinf(above), 2 * factor, np.where(below == 0, factor / 2, np.sqrt(below) * np.sqrt(above))
            )
        # Outside the bracket Newton's step has crossed a kink; the geometric middle halves the logarithm of the
        # bracket.
        next_factor = np.where((moved > below) & (moved < above), moved, middle)
        next_factor = np.where(done, factor, next_factor)
        if (next_factor == factor).all():
            break
        # A target at the very edge of the bounds is met only in the limit; the factor must stay a number.
        factor = np.clip(next_factor, 1e-290, 1e290)
    return factor


def infeasible_cell(
    design: Array, margins: Sequence[MarginCells], low: Array | None, high: Array | None
) -> tuple[int, int, float] | None:
    """(margin, cell, amount) that all weights miss most, where no weights have all the margins; else None.

    A linear program: the least sum of all deviations. None as well where there are too many groups to decide.
    """
    if len(design) > _CHECKED_GROUPS:
        return None
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix, hstack, identity, vstack

    total = float(margins[0].target.sum())
    used = design > 0
    n = int(used.sum())
    rows, targets = [], []
    for margin in margins:
        k = len(margin.target)
        rows.append(csr_matrix((design[used] / total, (margin.cell[used], np.arange(n))), shape=(k, n)))
        targets.append(margin.target / total)
    a = vstack(rows)
    b = np.concatenate(targets)
    # Deviations up and down of every cell: their sum is 0 if and only if some weights have all the margins.
    slack = identity(len(b))
    bounds = np.empty((n + 2 * len(b), 2))
    bounds[:, 0], bounds[:, 1] = 0.0, np.inf
    if low is not None and high is not None:
        bounds[:n, 0], bounds[:n, 1] = low[used], high[used]
    cost = np.r_[np.zeros(n), np.ones(2 * len(b))]
    solved = linprog(cost, A_eq=hstack([a, slack, -slack]).tocsr(), b_eq=b, bounds=bounds, method="highs")
    # The solver's own tolerance; a smaller sum shows nothing.
    if solved.status != 0 or solved.fun <= 1e-7:
        return None
    missed = solved.x[n : n + len(b)] - solved.x[n + len(b) :]
    worst = int(np.abs(missed).argmax())
    starts = np.cumsum([0, *(len(margin.target) for margin in margins)])
    which = int(np.searchsorted(starts, worst, side="right")) - 1
    return which, worst - int(starts[which]), float(missed[worst]) * total


def summed(group: Ints, values: Array, n_groups: int) -> Array:
    """The sum of the values of each group."""
    sums: Array = np.bincount(group, values, n_groups).astype(np.float64, copy=False)
    return sums


def out_of_reach(design: Array, margin: MarginCells, low: Array, high: Array) -> tuple[Mask, Array, Array]:
    """Cells whose target the bounds exclude, and the least and most that each can sum to."""
    n = len(margin.target)
    least, most = summed(margin.cell, design * low, n), summed(margin.cell, design * high, n)
    slack = 1e-12 * margin.target
    return (margin.target > most + slack) | (margin.target < least - slack), least, most
