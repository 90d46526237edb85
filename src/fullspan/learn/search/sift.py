"""Sifting: which of the terms that came in with margins are real, and how far their weights are to be believed.

Everything happens on the quadratic model of the likelihood around the grown model, where any sub-model T has the
estimate ``F_TT^-1 h_T`` with ``h = F theta`` and the covariance ``(N F_TT)^-1``:

    1. Terms are dropped as long as one predicts less than its one nat. That resolves terms that stand for each other.
    2. A code of the weights is fitted per order (module ``code``) to the estimates of the terms that stayed and, each
       added back alone, of those that were dropped.
    3. What the code calls noise is dropped; the others get the prior that the code implies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.learn.base.information import Cholesky
from fullspan.learn.search.code import Code, fit_code

BELIEVED_PART = 0.2
"""A weight of which less than this part is signal is dropped."""
_NAT = 1.0


@dataclass(frozen=True)
class Sifted:
    """Places of the terms that stay, their weights, and the normal prior on each (precision in total, not per row)."""

    stay: NDArray[np.int64]
    theta: Array
    mean: Array
    precision: Array


@dataclass(frozen=True)
class Quadratic:
    """Likelihood near the grown model: ``-N (theta - theta_hat)^t F (theta - theta_hat) / 2``."""

    fisher: Array
    theta: Array
    total: float

    @property
    def pull(self) -> Array:
        return np.asarray(self.fisher @ self.theta)

    def within(self, stay: NDArray[np.int64]) -> tuple[Array, Array]:
        """Estimates and variances of the terms at ``stay`` when only they are in the model."""
        factored = Cholesky.of(self.fisher[np.ix_(stay, stay)])
        return factored.solve(self.pull[stay]), np.maximum(factored.inverse_diagonal(), 1e-300) / self.total

    def pulled(self, stay: NDArray[np.int64], mean: Array, precision: Array) -> Array:
        """Estimates of the terms at ``stay`` under a normal prior."""
        weight = precision / self.total
        inside = self.fisher[np.ix_(stay, stay)] + np.diag(weight)
        return Cholesky.of(inside).solve(self.pull[stay] + weight * mean)

    def added(self, stay: NDArray[np.int64], out: NDArray[np.int64]) -> tuple[Array, Array]:
        """Estimates and variances of the terms at ``out``, each added alone to those at ``stay``."""
        cross = self.fisher[np.ix_(stay, out)]
        solved = Cholesky.of(self.fisher[np.ix_(stay, stay)]).solve(cross) if len(stay) else cross
        information = np.diag(self.fisher)[out] - np.sum(cross * solved, axis=0)
        # A term that those in the model determine has no information left, and rounding may make it negative.
        information = np.maximum(information, 1e-10 * np.diag(self.fisher)[out] + 1e-300)
        return (self.pull[out] - solved.T @ self.pull[stay]) / information, 1.0 / (self.total * information)


def sift(quadratic: Quadratic, orders: NDArray[np.int64], believed: float, in_numpy: bool) -> Sifted:
    """Run the three steps; ``orders`` holds the order of each term, ``in_numpy`` is that of :func:`fit_code`."""
    everything = np.arange(len(orders))
    # theta^2 / (2 var) is the likelihood that dropping this term alone costs, on the quadratic model.
    stay = _drop(quadratic, everything, lambda _, theta, noise: theta**2 / (2 * noise) - _NAT)
    out = np.setdiff1d(everything, stay)
    theta, noise = np.empty(len(orders)), np.empty(len(orders))
    if stay.size:
        theta[stay], noise[stay] = quadratic.within(stay)
    if out.size:
        theta[out], noise[out] = quadratic.added(stay, out)
    codes = {int(o): fit_code(theta[orders == o], noise[orders == o], in_numpy) for o in np.unique(orders)}
    first = everything[_worth(codes, orders, theta, noise) >= believed]
    stay = _drop(quadratic, first, lambda kept, t, v: _worth(codes, orders[kept], t, v) - believed)
    return _with_prior(quadratic, stay, orders, codes)


def _drop(quadratic: Quadratic, stay: NDArray[np.int64], margin: object) -> NDArray[np.int64]:
    """Drop the terms whose margin is negative, a third of them at a time, the worst first."""
    while stay.size:
        theta, noise = quadratic.within(stay)
        excess = margin(stay, theta, noise)  # type: ignore[operator]
        losers = np.flatnonzero(excess < 0)
        if not losers.size:
            break
        # Not all at once: of two terms that stand for each other both look superfluous until one has gone.
        worst = losers[np.argsort(excess[losers], kind="stable")][: (losers.size + 2) // 3]
        stay = np.delete(stay, worst)
    return stay


def _worth(codes: dict[int, Code | None], orders: NDArray[np.int64], theta: Array, noise: Array) -> Array:
    worth = np.where(theta**2 / (2 * noise) >= _NAT, 1.0, 0.0)  # too few of an order for a code: one nat decides
    for order, code in codes.items():
        if code is not None and (here := orders == order).any():
            worth[here] = code.worth(theta[here], noise[here])
    return worth


def _with_prior(
    quadratic: Quadratic, stay: NDArray[np.int64], orders: NDArray[np.int64], codes: dict[int, Code | None]
) -> Sifted:
    mean, precision = np.zeros(len(stay)), np.zeros(len(stay))
    if not stay.size:
        return Sifted(stay, np.zeros(0), mean, precision)
    theta, noise = quadratic.within(stay)
    for order, code in codes.items():
        if code is not None and (here := orders[stay] == order).any():
            mean[here], precision[here] = code.prior(theta[here], noise[here])
    return Sifted(stay, quadratic.pulled(stay, mean, precision), mean, precision)
