"""Have the chains met? R-hat, effective sample sizes and Monte-Carlo errors as Vehtari et al. (2021) define them.

Every chain is cut in half, so that a trend shows as two chains that differ. With W the mean variance inside chains and
``var+ = (n - 1)/n W + B/n`` the pooled one,

    R-hat = sqrt(var+ / W),      ESS = m n / (1 + 2 sum_t rho_t),      error = sd / sqrt(ESS of the values)

R-hat is the larger one of the rank-normalised draws and of their folded distances from the median; the bulk effective
sample size is that of the rank-normalised draws; the sum of autocorrelations stops where Geyer's initial monotone
sequence does.
"""

from __future__ import annotations

import numpy as np

from fullspan.arrays import Array
from fullspan.engine.protocol import Diagnostics as Diagnostics
from fullspan.errors import FullspanError

_ROUNDING = 1e-20
"""Part of the variance between chains below which that inside them is rounding."""


def diagnose(draws: Array) -> Diagnostics:
    """Diagnostics of draws (draws, chains, k); k quantities at once.

    The error of a quantity with two values is at least what (hits + 1/2) of (draws + 1) would have: an event that was
    never seen has no error of 0. Draws that are not numbers have no error either: it is NaN.

    Raises
    ------
    FullspanError : the draws have not three axes, or there are none.
    """
    draws = np.asarray(draws, dtype=np.float64)
    if draws.ndim != 3 or not draws.size:
        raise FullspanError(f"draws of shape {draws.shape} were given; the axes are draws, chains and quantities")
    n, m, k = draws.shape
    halves = split(draws)
    mean = draws.reshape(n * m, k).mean(axis=0)
    spread = draws.reshape(n * m, k).std(axis=0, ddof=1) if n * m > 1 else np.full(k, np.nan)
    if len(halves) < 2:
        unknown = np.full(k, np.nan)
        return Diagnostics(mean, np.full(k, np.inf), unknown, unknown)
    ranked = rank_normalised(halves)
    folded = rank_normalised(np.abs(halves - np.median(halves, axis=(0, 1))))
    error = np.maximum(spread / np.sqrt(effective_size(halves)), 0.0)
    error = np.where(np.isnan(error) & ~np.isnan(mean), 0.0, error)
    return Diagnostics(
        mean,
        np.maximum(error, _least_error(draws)),
        np.fmax(r_hat(ranked), r_hat(folded)),
        effective_size(ranked),
    )


def _least_error(draws: Array) -> Array:
    """Standard error of a share that is estimated as (hits + 1/2) / (draws + 1), times the distance of the values."""
    n = draws.shape[0] * draws.shape[1]
    low, high = draws.min(axis=(0, 1)), draws.max(axis=(0, 1))
    span = np.where(high > low, high - low, 1.0)
    two = ((draws == low) | (draws == high)).all(axis=(0, 1))
    share = ((draws == high).sum(axis=(0, 1)) + 0.5) / (n + 1.0)
    share = np.where(high > low, share, 0.5 / (n + 1.0))
    least = span * np.sqrt(share * (1 - share) / n)
    return np.where(two, least, 0.0)


def split(draws: Array) -> Array:
    """Chains cut in half, the middle draw of an odd number left out: (n // 2, 2 m, k)."""
    half = len(draws) // 2
    # A trend inside a chain is then a difference between two.
    return np.concatenate([draws[:half], draws[len(draws) - half :]], axis=1)


def rank_normalised(draws: Array) -> Array:
    """Draws replaced by the normal scores of their ranks among all, ``ndtri((rank - 3/8) / (S + 1/4))``."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    n, m, k = draws.shape
    ranks = rankdata(draws.reshape(n * m, k), axis=0)
    return np.asarray(ndtri((ranks - 0.375) / (n * m + 0.25))).reshape(n, m, k)


def r_hat(draws: Array) -> Array:
    """``sqrt(var+ / W)`` of draws (n, m, k); NaN where nothing varies."""
    n = len(draws)
    within = draws.var(axis=0, ddof=1).mean(axis=0)
    between = n * draws.mean(axis=0).var(axis=0, ddof=1)
    pooled = (n - 1) / n * within + between / n
    out = np.full(draws.shape[2], np.nan)
    # Chains that stay where they are, each elsewhere: the ratio is infinite, not unknown.
    stuck = (within <= _ROUNDING * between) & (between > 0)
    moving = within > _ROUNDING * between
    out[moving] = np.sqrt(pooled[moving] / within[moving])
    out[stuck] = np.inf
    return out


def effective_size(draws: Array) -> Array:
    """Effective number of draws (n, m, k), by Geyer's initial monotone sequence; NaN where nothing varies."""
    n, m, k = draws.shape
    centred = draws - draws.mean(axis=0)
    # Padded to twice the draws: the Fourier transform's correlation would wrap round from the end to the beginning.
    length = 1 << (2 * n - 1).bit_length()
    power = np.abs(np.fft.rfft(centred, n=length, axis=0)) ** 2
    covariance = np.fft.irfft(power, n=length, axis=0)[:n] / n
    within = (covariance[0] * n / (n - 1)).mean(axis=0)
    pooled = within * (n - 1) / n + (draws.mean(axis=0).var(axis=0, ddof=1) if m > 1 else 0.0)
    out = np.full(k, np.nan)
    for j in np.flatnonzero(pooled > 0):
        rho = 1 - (within[j] - covariance[:, :, j].mean(axis=1)) / pooled[j]
        rho[0] = 1.0
        # Antithetic chains may have more effective draws than draws; Vehtari et al. allow at most log10 times as many.
        out[j] = n * m / max(_integrated(rho), 1.0 / np.log10(n * m))
    return out


def _integrated(rho: Array) -> float:
    """``1 + 2 sum rho_t`` over pairs of lags, as long as their sums are positive, and made to fall."""
    pairs = rho[: len(rho) // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    kept = pairs[: negative[0]] if negative.size else pairs
    monotone = np.minimum.accumulate(kept) if kept.size else np.ones(1)
    return float(2 * monotone.sum() - 1)
