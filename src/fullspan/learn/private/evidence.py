"""Weights fitted to noisy interactions, shrunk by priors whose variances the noisy numbers set themselves.

    minimise   1/2 sum_A |d_A - eta_A(theta)|^2 / s_A^2  +  1/2 sum_A |theta_A|^2 / v_A,        s_A = sigma_A / N

the posterior of weights with normal priors under normal noise. Its gradient is F r + theta / v, r = (eta - d) / s^2;
the product of the Fisher information F with r is how eta changes along r, a difference of two sums over the states.

The variance of a prior is that of its weights, v = mean(theta^2 + posterior variance): weights share one prior with
those of their interaction if these are many, and with those of their order if they are few.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.learn.base.conjugate import conjugate_gradients
from fullspan.learn.base.descent import Descent, Point
from fullspan.learn.base.newton import Newton
from fullspan.learn.private.measured import Measured

OWN_PRIOR_CONTRASTS = 8
"""Contrasts from which on an interaction has a prior of its own."""
ROUNDS, STEPS, CONJUGATE = 6, 6, 25
"""Times that the priors are set anew; Newton steps in between; conjugate gradients for each."""
MOST_ROWS, NOISE = 4096.0, 0.9
"""Rows that the prior of the start is worth at most, and the misfit per contrast, in variances, that ends the start."""
_STEP, _TOLERANCE, _SOLVED = 1e-4, 1e-4, 0.03
"""Largest change of a weight in the difference that stands for a product with F; relative gain that ends a turn, and
relative error of a step: a product costs a sum over the states, and the next step mends what is left."""
_STEP_CUTS = 6
"""Times a step is cut to a quarter: a thousandth of it is no longer worth a sum over the states."""


class Oracle(Protocol):
    """log Z and the expected contrasts, flat and in the order of the interactions, for weights of the same shape."""

    def __call__(self, theta: Array) -> tuple[float, Array]: ...

    def fisher(self, theta: Array) -> Array | None:
        """The covariance of all contrasts, or None where products with it are all that is affordable."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """The weights of all contrasts at the mode, log Z, and the standard deviation of each interaction's prior."""

    theta: Array
    log_z: float
    deviations: Array


def posterior_mode(
    measured: Sequence[Measured],
    cells: Sequence[int],
    total: float,
    oracle: Oracle,
    watch: Callable[[int], None] | None = None,
) -> Posterior:
    """The mode, each prior as wide as the noisy numbers say.

    Parameters
    ----------
    cells : of each interaction's margin; the variance of a contrast is about one over them.
    total : number of rows N.
    """
    sizes = np.array([len(m.contrasts) for m in measured])
    spread = np.repeat(np.asarray(cells, dtype=np.float64), sizes)
    d = np.concatenate([m.contrasts for m in measured]) / total
    precision = np.repeat([(total / m.sigma) ** 2 for m in measured], sizes)
    groups = _groups(measured, sizes)
    variances = spread * 0.1  # of contrasts; per cell, a tenth
    theta = _start(oracle, d, precision, spread)
    for turn in range(ROUNDS):
        theta, uncertain = _mode(oracle, theta, d, precision, variances, spread)
        if turn < ROUNDS - 1:
            for group in groups:
                moment = float(((theta[group] ** 2 + uncertain[group]) / spread[group]).mean())
                variances[group] = max(moment, 1e-10) * spread[group]
        if watch is not None:
            watch(turn)
    starts = np.cumsum(sizes) - sizes
    return Posterior(theta, oracle(theta)[0], np.sqrt(variances / spread)[starts])


def _groups(measured: Sequence[Measured], sizes: Ints) -> list[Ints]:
    """Positions of the contrasts that share a prior."""
    names = [
        (0, i) if size >= OWN_PRIOR_CONTRASTS else (1, len(m.scope))
        for i, (m, size) in enumerate(zip(measured, sizes, strict=True))
    ]
    labels = {name: k for k, name in enumerate(dict.fromkeys(names))}
    flat = np.repeat([labels[name] for name in names], sizes)
    return [np.flatnonzero(flat == k) for k in range(len(labels))]


def _start(oracle: Oracle, d: Array, precision: Array, spread: Array) -> Array:
    """Most entropy against misfits over their variances: convex, one sum a step, and near the mode.

        minimise   log Z(theta) - theta . d + rows/2 sum_A s_A^2 |theta_A|^2

    ``rows`` is halved until the misfits are no larger than the noise explains: fewer would fit the noise, with weights
    that no later step shrinks again.
    """
    from scipy.optimize import minimize

    scale, theta, rows = np.sqrt(spread), np.zeros(len(d)), MOST_ROWS
    while rows > 1:
        ridge = rows / precision

        def dual(u: Array, ridge: Array = ridge) -> tuple[float, Array]:
            theta = u * scale
            log_z, eta = oracle(theta)
            return log_z - float(theta @ d) + 0.5 * float(ridge @ theta**2), (eta - d + ridge * theta) * scale

        found = minimize(dual, theta / scale, (), "L-BFGS-B", True, options={"maxiter": 40, "maxcor": 20, "ftol": 1e-8})
        theta = np.asarray(found.x * scale)
        # at the minimum eta - d = -ridge theta
        if float(precision @ (ridge * theta) ** 2) <= NOISE * len(d):
            break
        rows /= 2
    return theta


def _mode(
    oracle: Oracle, theta: Array, d: Array, precision: Array, variances: Array, spread: Array
) -> tuple[Array, Array]:
    """The mode by Gauss and Newton's method, and the posterior variance of each weight."""
    misfit = _Misfit(oracle, d, precision, variances, spread)
    descent = Descent(misfit, theta, 0.0, STEPS)
    Newton(tries=_STEP_CUTS, enough=_TOLERANCE * max(descent.point.value, 1.0)).run(descent, misfit)
    theta = descent.best.theta
    f = oracle.fisher(theta)
    if f is None:
        return theta, misfit.plain
    return theta, np.diag(np.linalg.inv((f * precision) @ f + np.diag(1 / variances)))


class _Misfit:
    """The objective at fixed priors, as a sum of squares.

    Steps solve ``(F W F + 1/V) s = -gradient``: with F itself where it can be had, otherwise by conjugate gradients
    with F as changes of eta along a direction, and variances that take F for diagonal.
    """

    polishes = False

    def __init__(self, oracle: Oracle, d: Array, precision: Array, variances: Array, spread: Array) -> None:
        self.oracle, self.d, self.precision, self.variances, self.spread = oracle, d, precision, variances, spread
        self.plain = 1 / (precision / spread**2 + 1 / variances)
        self._gradient: Array | None = None

    def move(self, theta: Array) -> float:
        self.theta, self.eta, self._gradient = theta, self.oracle(theta)[1], None
        misfit, pull = self.precision @ (self.eta - self.d) ** 2, (theta**2 / self.variances).sum()
        return 0.5 * float(misfit) + 0.5 * float(pull)

    def gradient(self) -> Array:
        if self._gradient is None:  # a sum over the states: once at each point
            pull = self.theta / self.variances
            self._gradient = self._fisher(self.precision * (self.eta - self.d)) + pull
        return self._gradient

    def violation(self) -> float:
        """What a step promises ends the steps: the gradient would cost a sum over the states at points only tried."""
        return math.inf

    def newton_step(self, point: Point) -> Array:
        gradient, f = self.gradient(), self.oracle.fisher(self.theta)
        if f is not None:
            matrix = (f * self.precision) @ f + np.diag(1 / self.variances)
            return np.asarray(-np.linalg.solve(matrix, gradient), dtype=np.float64)
        return -conjugate_gradients(self._curvature, gradient, CONJUGATE, _SOLVED, self.plain)

    def _curvature(self, v: Array) -> Array:
        return self._fisher(self.precision * self._fisher(v)) + v / self.variances

    def _fisher(self, v: Array) -> Array:
        """Product with F: how eta changes along a direction."""
        h = _STEP / max(float(np.abs(v / np.sqrt(self.spread)).max()), 1e-300)
        return np.asarray((self.oracle(self.theta + h * v)[1] - self.eta) / h)
