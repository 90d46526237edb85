"""Which of the terms inside the cliques are findings: pruning, a code for the weights, and joint refits.

The saturated model of the graph has closed-form weights and a sparse inverse information (module ``chordal``).

    1. Terms whose removal should lose less than their one nat are dropped, the surest ones first, and all others are
       refitted jointly by Newton's method, from ``D (G + D)^-1 theta``, where they would be if log p were quadratic
       (D = 0 for what was dropped). If the description got shorter, this stands, and the next round looks again; else
       a smaller part goes.
    2. A code is fitted to the weights of each order, as in the search on the dual table (module ``search.code``); what
       it calls noise is dropped, the others get its prior and are refitted.

Main effects always stay. The shortest description of the saturated, the pruned and the coded model is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.learn.search.code import fit_code
from fullspan.learn.search.sift import BELIEVED
from fullspan.learn.wide.chordal import Chordal, Slack, objective, refit

WIDE = 2.0
"""Standard deviation of the prior before a code is known; it matters only where the data say nothing."""
_ROUNDS = 16
_LARGEST, _SMALLEST = 0.5, 0.02
"""Share of the losing terms that are dropped at once."""
_NAT = 1.0
Tell = Callable[["Weighed"], None]


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
    kept = slack.kept
    posterior = chordal.solver(p, slack.variance).posterior_variances()
    wide = np.where(kept, WIDE**2 * total, 0.0)
    plain = posterior if (wide == slack.variance).all() else chordal.solver(p, wide).posterior_variances()
    effective = float(np.sum(1.0 - np.minimum(posterior[kept] / slack.variance[kept], 1.0)))
    nats = total * (log_z - float(theta @ d)) + _NAT * effective
    return Weighed(theta, slack, posterior / total, plain / total, log_z, effective, nats)


def wide_prior(k: int, total: float) -> Slack:
    """The prior of no opinion."""
    return Slack(np.zeros(k), np.full(k, WIDE**2 * total))


@dataclass
class Sift:
    """From a saturated model to its findings; ``best`` is the shortest description so far."""

    chordal: Chordal
    d: Array
    total: float
    best: Weighed
    tell: Tell | None = None

    def run(self) -> Weighed:
        """Prune, then code; an interruption leaves ``best`` as it is."""
        self._prune()
        self._offer(self._refitted(_coded(self.chordal, self.best, self.total)))
        return self.best

    def _prune(self) -> None:
        share = _LARGEST
        for _ in range(_ROUNDS):
            losers = self._losers()
            if not len(losers):
                return
            while not self._offer(self._without(losers[: int(np.ceil(share * len(losers)))])):
                if share * len(losers) <= 1 or share <= _SMALLEST:
                    return
                share /= 3
            share = min(2 * share, _LARGEST)

    def _losers(self) -> NDArray[np.int64]:
        """Terms that should not be worth their nat, the surest first."""
        best = self.best
        may_go = (self.chordal.orders > 1) & best.slack.kept
        excess = np.where(may_go, best.theta**2 / (2 * np.maximum(best.variances, 1e-300)) - _NAT, np.inf)
        losers = np.flatnonzero(excess < 0)
        return losers[np.argsort(excess[losers], kind="stable")]

    def _without(self, dropped: NDArray[np.int64]) -> Weighed:
        variance = self.best.slack.variance.copy()
        variance[dropped] = 0.0
        return self._refitted(replace(self.best.slack, variance=variance))

    def _refitted(self, slack: Slack) -> Weighed:
        """The model under another prior, refitted from where it would be to second order."""
        theta = self.best.theta
        _, p = self.chordal.beliefs(theta)
        moved = slack.variance * self.chordal.solver(p, slack.variance).solve(theta)
        start = min(moved, np.where(slack.kept, theta, 0.0), key=lambda at: objective(self.chordal, at, self.d, slack))
        fitted = refit(self.chordal, start, self.d, slack, 0.02 / self.total)
        return weighed(self.chordal, fitted, self.d, slack, self.total)

    def _offer(self, found: Weighed) -> bool:
        """Take a description if it is shorter, and tell."""
        if not found.nats < self.best.nats:
            return False
        self.best = found
        if self.tell is not None:
            self.tell(found)
        return True


def _coded(chordal: Chordal, found: Weighed, total: float) -> Slack:
    """The prior that the code of each order implies, with the noise dropped."""
    orders, theta, noise = chordal.orders, found.theta, np.maximum(found.variances, 1e-300)
    variance, mean = found.slack.variance.copy(), np.zeros(len(theta))
    for order in np.unique(orders[orders > 1]):
        here = np.flatnonzero((orders == order) & (variance > 0))
        code = fit_code(theta[here], noise[here])
        if code is not None:
            mean[here], precision = code.prior(theta[here], noise[here])
            real = code.worth(theta[here], noise[here]) >= BELIEVED
            variance[here] = np.where(real, np.minimum(total / precision, WIDE**2 * total), 0.0)
    return Slack(np.where(variance > 0, mean, 0.0), variance)
