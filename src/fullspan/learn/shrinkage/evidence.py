"""A model with all interactions up to an order, its weights shrunken by a prior that the data set themselves.

    log p(x) = sum_y w_y Psi_y(x) - log Z,      w_y ~ N(0, 1 / alpha_o),      o = number of variables of y

Psi are orthonormal contrasts (module ``contrasts``). For given precisions the weights maximise the posterior: Newton's
method, its equations solved by conjugate gradients, whose products with the information take two transforms of a table
and no matrix. The precisions maximise the evidence to second order (MacKay 1992): alpha_o = gamma_o / |w_o|^2, where
gamma_o, the number of well determined weights of order o, is a trace: exact for few weights, else estimated with random
signs (Hutchinson). These belong to the states, in an order of the data's own (module ``data.canonical``), so that the
fit depends on neither the order of the columns nor that of the levels. There is nothing to set.

Where cells are missing, the posterior is that of what was observed, and a step's curvature that of the completed rows,
which is an em step to second order. gamma counts completed cells as if they had been seen, and is slightly high for it,
and so are the precisions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.canonical import canonical_index
from fullspan.learn.base.conjugate import conjugate_gradients
from fullspan.learn.base.descent import Descent, Point
from fullspan.learn.base.newton import Newton
from fullspan.learn.base.progress import STOPPED
from fullspan.learn.shrinkage.contrasts import Contrasts
from fullspan.learn.shrinkage.rows import rows_of, variances
from fullspan.model.algebra.basis import Basis

_WIDE, _FIRST, _RATIO = 0.25, 30.0, 8.0
"""Precisions to start from: of main effects, of pairs, and from each order to the next."""
_LARGEST_PRECISION = 1e9
"""Precision from which on an order is held at zero."""
_ROUNDS, _CHANGE = 20, 0.15
"""Most updates of the precisions, and the relative change below which they are settled."""
_TRACE_PROBES = 2
"""Random vectors for the trace, where it is not taken exactly."""
_EXACT, _EXACT_TABLE = 512, 1 << 24
"""Weights, and numbers in the table of their contrasts over the states, up to which it is: fewer transforms than probes
take, and without their noise."""
_CG_STEPS, _CG_ERROR = 150, 0.05
_NEWTON_STEPS, _TRIES, _ENOUGH = 30, 20, 0.05
"""Newton steps, cuts of a step, and the nats over all rows, twice what a step promises, from which on they go on."""


@dataclass(frozen=True)
class Shrunken:
    """Weights of the contrasts (|X|,), precision and number of well determined weights by order, log Z.

    ``interrupted`` if the precisions had not settled when the watcher raised ``KeyboardInterrupt``. ``variances`` are
    those of the weights over a basis, where they were asked for (module ``uncertainty``).
    """

    weights: Array
    precision: Array
    effective: Array
    log_z: float
    interrupted: bool = False
    variances: Array | None = None


Watch = Callable[[int, float], None]
"""Told after each update of the precisions: how many, and the mean surprise of the rows in nats."""


def shrink(
    contrasts: Contrasts,
    data: Empirical,
    order: int,
    watch: Watch | None = None,
    errors: Basis | None = None,
) -> Shrunken:
    """Fit weights and precisions to counted rows; contrasts of more than ``order`` variables are left out.

    ``errors`` asks for the posterior variances of the weights over a basis.

    Time: some hundred transforms of a table of |X| numbers per update, about ten updates. Memory: ten such tables.
    """
    evidence = _Evidence(contrasts, data, order)
    found = evidence.run(watch)
    return found if errors is None or found.interrupted else replace(found, variances=evidence.variances(errors))


@dataclass(frozen=True)
class _Point:
    """Weights, the probabilities of the states and log Z there, and what the rows say (module ``rows``)."""

    w: Array
    p: Array
    log_z: float
    log_sum: float
    d: Array

    @property
    def surprise(self) -> float:
        """Mean of ``-log P`` of the rows."""
        return self.log_z - self.log_sum

    def objective(self, total: float, precision: Array) -> float:
        """Minus the log posterior per row, up to a constant."""
        return self.surprise + 0.5 * float(precision @ (self.w * self.w)) / total


class _Evidence:
    def __init__(self, contrasts: Contrasts, data: Empirical, order: int) -> None:
        self.c, self.total, self.rows = contrasts, data.total, rows_of(contrasts, data)
        self.top = min(order, len(contrasts.cards))
        self.canonical = canonical_index(data)
        # The constant is no weight: an infinite precision holds it at 0.
        self.alpha = np.array([np.inf, _WIDE, *(_FIRST * _RATIO**o for o in range(self.top - 1))])
        self.at = self.look(np.zeros(len(contrasts.orders)))

    def run(self, watch: Watch | None) -> Shrunken:
        self.gamma, interrupted = np.zeros(self.top + 1), False
        try:
            self._settle(watch)
        except STOPPED:
            interrupted = True
        return Shrunken(self.at.w, self.alpha, self.gamma, self.at.log_z, interrupted)

    def _settle(self, watch: Watch | None) -> None:
        """Update weights and precisions in turn until these stay."""
        for round_ in range(_ROUNDS):
            self._maximise()
            self.gamma = self._determined()
            before, self.alpha = self.alpha, self._updated(self.gamma)
            if watch is not None:
                watch(round_ + 1, self.at.surprise)
            used = (self.gamma[1:] > 1.0) & (self.alpha[1:] < _LARGEST_PRECISION)
            if (np.abs(np.log(self.alpha[1:] / before[1:]))[used] < _CHANGE).all():
                break
        self._maximise()

    # -- weights ----------------------------------------------------------------------------------------------

    def look(self, w: Array) -> _Point:
        f = self.c.function(w)
        return _Point(w, *_normalised(f), *self.rows.look(w, f))

    def _precisions(self) -> tuple[Array, Array]:
        """(|X|,) precisions with 0 for what is left out, and standard deviations, 0 there as well."""
        alpha = np.full(128, np.inf)
        alpha[: len(self.alpha)] = np.where(self.alpha < _LARGEST_PRECISION, self.alpha, np.inf)
        by_order = alpha[self.c.orders]
        left_out = np.isinf(by_order)
        precision = np.where(left_out, 0.0, by_order)
        return precision, np.where(left_out, 0.0, 1.0 / np.sqrt(np.where(left_out, 1.0, by_order)))

    def _maximise(self) -> None:
        """Newton's method to the maximum of the posterior."""
        posterior = _Posterior(self, *self._precisions())
        descent = Descent(posterior, np.where(posterior.sd > 0.0, self.at.w, 0.0), 0.0, _NEWTON_STEPS, slack=_rounding)
        enough = _ENOUGH / (2 * self.total)
        Newton(tries=_TRIES, enough=enough, damped=True).run(descent, posterior)

    def solved(self, b: Array, sd: Array) -> Array:
        """``(1 + N S F S)^-1 b`` by conjugate gradients, S the standard deviations, F the information of one row."""

        def product(v: Array) -> Array:
            f = self.c.function(sd * v)
            # Centred under p, so that the expectations of p f are covariances.
            f -= float(self.at.p @ f)
            return v + self.total * sd * self.c.expectations(self.at.p * f)

        return conjugate_gradients(product, b, _CG_STEPS, _CG_ERROR)

    def variances(self, basis: Basis) -> Array:
        """Posterior variances of the weights over a basis."""
        _, sd = self._precisions()
        return variances(self.c, basis, self.at.p, self.total, sd, lambda b: self.solved(b, sd))

    # -- precisions -------------------------------------------------------------------------------------------

    def _determined(self) -> Array:
        """gamma by order: the weights that the data determine, ``tr(1 - alpha H^-1)``."""
        _, sd = self._precisions()
        n_weights = int(np.count_nonzero(sd))
        if n_weights <= _EXACT and n_weights * len(sd) <= _EXACT_TABLE:
            return self._determined_exactly(sd)
        gamma, rng = np.zeros(self.top + 1), np.random.default_rng(0)  # the same signs each time: no jitter
        for _ in range(_TRACE_PROBES):
            # Signs of states and not of contrasts: they can follow the states wherever columns and levels stand.
            signs = rng.choice([-1.0, 1.0], len(sd))[self.canonical] / math.sqrt(len(sd))
            z = self.c.expectations(signs) * (sd > 0)
            lost = z * (z - self.solved(z, sd))
            gamma += np.bincount(self.c.orders, lost, minlength=self.top + 1)[: self.top + 1] / _TRACE_PROBES
        return gamma

    def _determined_exactly(self, sd: Array) -> Array:
        """The same from the whole matrix, for few states."""
        own = np.flatnonzero(sd)
        psi = np.reshape([self.c.function(unit) for unit in np.eye(len(sd))[own]], (len(own), len(sd)))
        # Likewise.
        psi -= (psi @ self.at.p)[:, None]
        scaled = self.total * (psi * self.at.p) @ psi.T * np.outer(sd[own], sd[own])
        lost = 1.0 - np.diag(np.linalg.inv(np.eye(len(own)) + scaled))
        gamma: Array = np.bincount(self.c.orders[own], lost, self.top + 1)[: self.top + 1].astype(np.float64)
        return gamma

    def _updated(self, gamma: Array) -> Array:
        squares = np.bincount(self.c.orders, self.at.w * self.at.w, minlength=self.top + 1)[: self.top + 1]
        alpha = self.alpha.copy()
        for o in range(1, self.top + 1):
            # Less than half a weight is noise: the precision grows on, and after some rounds the order is held at zero.
            found = gamma[o] > 0.5 and squares[o] > 0
            alpha[o] = min(gamma[o] / squares[o] if found else 4 * alpha[o], _LARGEST_PRECISION)
        return alpha


class _Posterior:
    """Minus the log posterior of the weights per row, at fixed precisions; moving it moves the evidence.

    Weights that the prior leaves out have standard deviation 0, and stay at 0.
    """

    polishes = True

    def __init__(self, evidence: _Evidence, precision: Array, sd: Array) -> None:
        self.evidence, self.precision, self.sd = evidence, precision, sd
        self._at: _Point | None = None

    def move(self, theta: Array) -> float:
        if theta is not self.evidence.at.w and not np.array_equal(theta, self.evidence.at.w):
            self.evidence.at = self.evidence.look(theta)
        return self.evidence.at.objective(self.evidence.total, self.precision)

    def gradient(self) -> Array:
        if self._at is not self.evidence.at:  # a transform of a whole table: once at each point
            self._at = at = self.evidence.at
            pull = self.evidence.c.expectations(at.p) - at.d + self.precision * at.w / self.evidence.total
            self._gradient = np.where(self.sd > 0.0, pull, 0.0)
        return self._gradient

    def violation(self) -> float:
        return float(np.abs(self.gradient()).max(initial=0.0))

    def newton_step(self, point: Point) -> Array:
        """By conjugate gradients in weights over their standard deviations, where the prior is the identity."""
        gradient = -self.evidence.total * self.sd * self.gradient()
        return self.sd * self.evidence.solved(gradient, self.sd)


def _rounding(theta: Array, value: float) -> float:
    # Two transforms of a whole table lose more digits than a sum of a few terms.
    return 1e-9 * abs(value)


def _normalised(f: Array) -> tuple[Array, float]:
    """Probabilities proportional to ``exp f``, and log Z."""
    peak = float(f.max())
    p = np.exp(f - peak)
    z = float(p.sum())
    return p / z, peak + math.log(z)
