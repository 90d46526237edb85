"""Which of the terms inside the cliques are findings: pruning, a code for the weights, and a joint refit.

The saturated model of the graph has closed-form weights and a sparse inverse information (module ``chordal``). To
second order, dropping terms (D = 0) moves the others to ``D (G + D)^-1 theta``, so that no refit is needed to find out:

    1. Terms whose removal loses less than their one nat are dropped, half of the losers at a time (of many
       thousand terms, all losers at once).
    2. A code is fitted to the weights of each order, as in the search on the dual table (module ``search.code``).
    3. What the code calls noise is dropped, the others get its prior, and all are refitted jointly by Newton's method.

Main effects always stay. The result is kept if its description is the shorter one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.learn.search.code import fit_code
from fullspan.learn.search.sift import BELIEVED
from fullspan.learn.wide.chordal import DENSE, Chordal, Slack, Solver, refit

Array = NDArray[np.float64]
WIDE = 2.0
"""Standard deviation of the prior before a code is known; it matters only where the data say nothing."""
_ROUNDS = 8
_NAT = 1.0


@dataclass(frozen=True)
class Weighed:
    """Weights of all terms inside the cliques and what is known about them.

    Attributes
    ----------
    slack : their prior; ``variances`` are under it, and ``plain`` under none to speak of.
    effective : their number, each counted by how much the data and not the prior decide about it.
    nats : of data and weights, the entropy of the data left out.
    """

    theta: Array
    slack: Slack
    variances: Array
    plain: Array
    log_z: float
    effective: float
    nats: float


def weighed(chordal: Chordal, theta: Array, d: Array, slack: Slack, total: float) -> Weighed:
    """Weights with what is known about them."""
    log_z, p = chordal.beliefs(theta)
    inverse, kept = chordal.inverse_information(p), slack.kept
    posterior = Solver(inverse, slack.variance).posterior_variances()
    wide = np.where(kept, WIDE**2 * total, 0.0)
    plain = posterior if (wide == slack.variance).all() else Solver(inverse, wide).posterior_variances()
    effective = float(np.sum(1.0 - np.minimum(posterior[kept] / slack.variance[kept], 1.0)))
    nats = total * (log_z - float(theta @ d)) + _NAT * effective
    return Weighed(theta, slack, posterior / total, plain / total, log_z, effective, nats)


def wide_prior(k: int, total: float) -> Slack:
    """The prior of no opinion."""
    return Slack(np.zeros(k), np.full(k, WIDE**2 * total))


def sifted(chordal: Chordal, whole: Weighed, d: Array, total: float) -> Weighed:
    """The findings among all terms of a saturated model; or that model, if it is described more shortly."""
    theta = whole.theta
    _, p = chordal.beliefs(theta)
    slack = _coded(chordal, theta, chordal.inverse_information(p), total)
    fitted = refit(chordal, theta, d, slack, 0.02 / total)
    found = weighed(chordal, fitted, d, slack, total)
    return found if found.nats <= whole.nats else whole


def _coded(chordal: Chordal, theta: Array, inverse: Any, total: float) -> Slack:
    """The prior that the code of each order implies, with the noise dropped."""
    orders, variance = chordal.orders, np.full(len(theta), WIDE**2 * total)
    few = len(theta) <= DENSE
    for _ in range(_ROUNDS if few else 1):
        now, noise = _within(theta, inverse, variance, total)
        excess = np.where((orders > 1) & (variance > 0), now**2 / (2 * noise) - _NAT, np.inf)
        losers = np.flatnonzero(excess < 0)
        if not len(losers):
            break
        going = (len(losers) + 1) // 2 if few else len(losers)
        variance[losers[np.argsort(excess[losers], kind="stable")][:going]] = 0.0
    now, noise = _within(theta, inverse, variance, total)
    mean = np.zeros(len(theta))
    for order in np.unique(orders[orders > 1]):
        here = np.flatnonzero((orders == order) & (variance > 0))
        code = fit_code(now[here], noise[here])
        if code is not None:
            mean[here], precision = code.prior(now[here], noise[here])
            real = code.worth(now[here], noise[here]) >= BELIEVED
            variance[here] = np.where(real, np.minimum(total / precision, WIDE**2 * total), 0.0)
    return Slack(np.where(variance > 0, mean, 0.0), variance)


def _within(theta: Array, inverse: Any, variance: Array, total: float) -> tuple[Array, Array]:
    """Estimates and variances of the terms that are left, to second order; dropped ones have variance 1."""
    solver = Solver(inverse, variance)
    noise = solver.posterior_variances() / total
    return variance * solver.solve(theta), np.where(variance > 0, np.maximum(noise, 1e-300), 1.0)
