"""A code for the weights of a model, fitted to the weights themselves, and what it says about each of them.

Terms that come in with a margin are candidates, not findings. Among those of one order a share w is real, with
weights around -mu and +mu with variance tau^2, and the others are zero:

    theta ~ (1 - w) delta_0 + (w / 2) (N(mu, tau^2) + N(-mu, tau^2)).

mu = 0 unless a common size of the weights (as in a lattice of equal couplings) is far more likely. w, mu and tau^2
maximise the likelihood of the estimates, given their standard errors (empirical Bayes): nothing has to be set.
The code is symmetric in the sign, so exchanging the two levels of a variable changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array
from fullspan.model.algebra.jit import serial

_FEW_TERMS = 3
"""Orders with fewer terms than this are left as they are."""
_SIZE_EVIDENCE = 10.0
"""Nats by which a common size must explain the weights better before it is believed."""
_ANY_EVIDENCE = 3.0
"""Nats by which real weights must explain the estimates better than noise alone: two parameters more."""
_LEAST_VARIANCE = 1e-7
"""Smallest variance of the real weights."""
_SIZED_SHARES = (0.15, 0.3, 0.6)
"""Shares of the largest weights whose median is tried as their common size."""
_STEPS = 200
"""Most steps of expectation maximisation."""


@dataclass(frozen=True)
class Code:
    """Share w of real weights, their common size mu and their variance tau^2; a share of 0 calls all of them noise."""

    share: float
    size: float
    variance: float

    def log_ratio(self, theta: Array, noise: Array) -> Array:
        """Log of the odds that each weight is real, from its estimate and the variance of that."""
        if self.share == 0.0:
            return np.full(theta.shape, -np.inf)
        total = self.variance + noise
        real = np.logaddexp(-0.5 * (theta - self.size) ** 2 / total, -0.5 * (theta + self.size) ** 2 / total)
        # 1 / sqrt(2 pi) is in both densities and cancels.
        real = real - np.log(2) - 0.5 * np.log(total)
        zero = -0.5 * theta**2 / noise - 0.5 * np.log(noise)
        return np.asarray(np.log(self.share) - np.log1p(-self.share) + real - zero)

    def reality(self, theta: Array, noise: Array) -> Array:
        """Probability that each weight is real."""
        return _logistic(self.log_ratio(theta, noise))

    def worth(self, theta: Array, noise: Array) -> Array:
        """The part of each estimate to be believed: probability of being real times signal over signal and noise."""
        signal = self.size**2 + self.variance
        return self.reality(theta, noise) * signal / (signal + noise)

    def likelihood(self, theta: Array, noise: Array) -> float:
        """Log-likelihood of the estimates under this code."""
        zero = np.log1p(-self.share) - 0.5 * theta**2 / noise - 0.5 * np.log(noise)
        return float(np.sum(zero + np.logaddexp(0.0, self.log_ratio(theta, noise))))

    def prior(self, theta: Array, noise: Array) -> tuple[Array, Array]:
        """Mean and precision of the normal prior that acts on each weight: towards its size, and towards zero."""
        # A weight that is surely noise would have an infinite precision.
        real = np.clip(self.reality(theta, noise), 1e-6, 1.0)
        towards_size = 1.0 / self.variance
        # The normal prior whose posterior mean is `real` times the estimate: signal / (signal + noise) = real.
        towards_zero = (1.0 - real) / (real * noise)
        precision = towards_size + towards_zero
        return np.copysign(self.size, theta) * towards_size / precision, precision


_NOISE = Code(0.0, 0.0, _LEAST_VARIANCE)


def fit_code(theta: Array, noise: Array, in_numpy: bool = True) -> Code | None:
    """The code that makes the estimates most likely, richer ones only if clearly so; None for too few estimates.

    Small tables, for which nothing is compiled, go ``in_numpy``, so that a fit does not depend on what was before it.
    """
    if len(theta) < _FEW_TERMS:
        return None
    starts = _starts(theta, noise)
    best, *sized = maximised(theta, noise, starts) if in_numpy else _maximised_compiled(theta, noise, starts)
    if best.likelihood(theta, noise) < _NOISE.likelihood(theta, noise) + _ANY_EVIDENCE:
        return _NOISE
    bar = best.likelihood(theta, noise) + _SIZE_EVIDENCE
    for code in sized:
        if (likelihood := code.likelihood(theta, noise)) > bar:
            best, bar = code, likelihood
    return best


def _starts(theta: Array, noise: Array) -> list[Code]:
    """Without a common size first, then with some of the larger weights as it."""
    spread = max(float(np.mean(theta**2 - noise)), 0.1 * float(np.mean(noise)))
    ranked = np.sort(np.abs(theta))[::-1]
    sizes = [float(np.median(ranked[: max(2, int(share * len(ranked)))])) for share in _SIZED_SHARES]
    sized = [Code(w, mu, max(0.05 * mu**2, _LEAST_VARIANCE)) for w, mu in zip(_SIZED_SHARES, sizes, strict=True)]
    return [Code(0.5, 0.0, spread), *sized]


def maximised(theta: Array, noise: Array, starts: Sequence[Code]) -> list[Code]:
    """The codes after up to 200 steps of expectation maximisation, all at once, which spares NumPy calls.

    A size of 0 stays 0, by symmetry.
    """
    share, size, variance = np.array([(one.share, one.size, one.variance) for one in starts]).T
    open_, found = np.arange(len(starts)), np.empty((3, len(starts)))
    for _ in range(_STEPS):
        before = share, variance
        share, size, variance = _improved(theta, noise, share, size, variance)
        found[:, open_] = share, size, variance
        moves = (np.abs(share - before[0]) >= 1e-4) | (np.abs(variance - before[1]) >= 1e-3 * before[1])
        open_, share, size, variance = open_[moves], share[moves], size[moves], variance[moves]
        if not open_.size:
            break
    return [Code(*map(float, one)) for one in found.T]


def _improved(theta: Array, noise: Array, share: Array, size: Array, variance: Array) -> tuple[Array, Array, Array]:
    """One step for each code: shares, sizes and variances (codes,), from the reality of each weight (codes, weights).

    Given that it is real, a weight lies around +mu or -mu with the odds ``exp(2 theta mu / (tau^2 + noise))``.
    """
    mu, tau2 = size[:, None], variance[:, None]
    precision = 1.0 / (tau2 + noise)
    half_odds = theta * mu * precision
    # log cosh without overflow: |x| + log(1 + exp(-2|x|)) - log 2.
    fold = np.abs(half_odds)
    real = fold + np.log1p(np.exp(-2 * fold)) - math.log(2.0) - 0.5 * ((theta**2 + mu**2) * precision)
    zero = -0.5 * theta**2 / noise - 0.5 * np.log(noise)
    r = _logistic(np.log(share / (1 - share))[:, None] + real + 0.5 * np.log(precision) - zero)
    estimate, pull = theta * tau2 * precision, mu * noise * precision
    leaning = np.tanh(half_odds) * estimate
    # If no weight is real there is nothing to divide by.
    mass = 1e-9 + r.sum(axis=1)
    new_size = (r * (leaning + pull)).sum(axis=1) / mass
    square = (r * (estimate**2 + pull * (pull + 2 * leaning) + tau2 * noise * precision)).sum(axis=1)
    new_variance = np.maximum(square / mass - new_size**2, _LEAST_VARIANCE)
    # A share of 0 or 1 could never be left again; half a weight in k + 1 keeps it inside.
    return np.clip((mass + 0.5) / (len(theta) + 1), 1e-3, 0.999), new_size, new_variance


def _maximised_compiled(theta: Array, noise: Array, starts: Sequence[Code]) -> list[Code]:
    return [Code(*maximised_one(theta, noise, one.share, one.size, one.variance, one.size > 0)) for one in starts]


@serial
def maximised_one(
    theta: Array, noise: Array, share: float, size: float, variance: float, common: bool
) -> tuple[float, float, float]:
    """The same of one code, compiled: ten times as fast."""
    n = theta.size
    for _ in range(_STEPS):
        mass, moment, square = 1e-9, 0.0, 0.0
        for i in range(n):
            total = variance + noise[i]
            up = -0.5 * (theta[i] - size) ** 2 / total
            down = -0.5 * (theta[i] + size) ** 2 / total
            top = max(up, down)
            side = math.exp(up - top) + math.exp(down - top)
            real = math.log(share) + top + math.log(side) - math.log(2.0) - 0.5 * math.log(total)
            zero = math.log(1.0 - share) - 0.5 * theta[i] ** 2 / noise[i] - 0.5 * math.log(noise[i])
            r = 1.0 / (1.0 + math.exp(min(max(zero - real, -700.0), 700.0)))
            plus = math.exp(up - top) / side
            high = (theta[i] * variance + size * noise[i]) / total
            low = (theta[i] * variance - size * noise[i]) / total
            mass += r
            moment += r * (plus * high - (1 - plus) * low)
            square += r * (plus * high**2 + (1 - plus) * low**2 + variance * noise[i] / total)
        new_size = moment / mass if common else 0.0
        new_variance = max(square / mass - new_size * (2 * moment / mass - new_size), _LEAST_VARIANCE)
        new_share = min(max((mass + 0.5) / (n + 1), 1e-3), 0.999)
        still = abs(new_share - share) < 1e-4 and abs(new_variance - variance) < 1e-3 * variance
        share, size, variance = new_share, new_size, new_variance
        if still:
            break
    return share, size, variance


def _logistic(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-np.clip(x, -700.0, 700.0)))
