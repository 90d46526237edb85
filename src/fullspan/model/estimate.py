"""A number with its standard error, and how it was found: nothing sampled passes for more than it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_SYMMETRIC_SKEWNESS = 1e-6
"""Skewness below which an interval is the symmetric one."""


@dataclass(frozen=True)
class Estimate:
    """A value, its standard error, and how it was found.

    Attributes
    ----------
    value, standard_error : the error is 0 where the value is exact.
    method : ``"exact"``, ``"ais"`` or ``"chains"``.
    effective : number of equal weights that would say as much, ``(sum w)^2 / sum w^2``; 0 if none were averaged.
    freedom : degrees of freedom of the error; infinite where it is itself well known.
    skewness : of the average that was taken; above 0 where rare large weights carry it.

    Examples
    --------
    >>> print(Estimate(0.25, 0.0031))
    0.2500 ± 0.0031
    >>> print(Estimate.known(0.25))
    0.25
    """

    value: float
    standard_error: float
    method: str = "chains"
    effective: float = 0.0
    freedom: float = math.inf
    skewness: float = 0.0

    @classmethod
    def known(cls, value: float) -> Estimate:
        """A value that is exact up to rounding."""
        return cls(float(value), 0.0, "exact")

    @property
    def is_exact(self) -> bool:
        """Whether no random number had a part in it."""
        return self.method == "exact"

    @property
    def exact(self) -> bool:
        """The same as :attr:`is_exact`."""
        return self.is_exact

    @property
    def error(self) -> float:
        """The same as :attr:`standard_error`."""
        return self.standard_error

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Ends of the interval that holds the truth with this confidence: ``value - t error``, ``value + t' error``.

        t is Student's. A sample of skewed weights that lacks the rare large ones has too low an average and too small
        an error at once; so t' is the larger of t and what Hall's (1992) transformation makes of it,

            t' = 3/a (1 - cbrt(1 - a (t + a/6))),      a the skewness of the average.
        """
        from scipy.special import ndtri, stdtrit

        if self.is_exact:
            return self.value, self.value
        tail = 0.5 + 0.5 * confidence
        t = float(ndtri(tail)) if math.isinf(self.freedom) else float(stdtrit(self.freedom, tail))
        return self.value - t * self.standard_error, self.value + _upper(t, self.skewness) * self.standard_error

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if self.is_exact:
            return f"{self.value:.6g}"
        if not (math.isfinite(self.standard_error) and self.standard_error > 0):
            return f"{self.value:.6g} ± {self.standard_error:g}"
        digits = max(0, 1 - math.floor(math.log10(self.standard_error)))
        return f"{self.value:.{digits}f} ± {self.standard_error:.{digits}f}"


def _upper(t: float, a: float) -> float:
    """Errors above the value that an interval reaches to, if it reaches t below it."""
    if not a > _SYMMETRIC_SKEWNESS:
        return t
    return max(t, 3 / a * (1 - float(np.cbrt(1 - a * (t + a / 6)))))


def log_mean(log_weights: NDArray[np.float64], offset: float = 0.0) -> Estimate:
    """``offset + log mean(w)`` of M independent weights, with the error ``sd(w) / (mean(w) sqrt(M))``."""
    top = float(log_weights.max())
    w = np.exp(log_weights - top)
    mean, m = float(w.mean()), len(w)
    value, effective = offset + top + math.log(mean), float(w.sum() ** 2 / (w @ w))
    if m < 2:
        return Estimate(value, math.inf, "ais", effective, 1.0)
    spread = float(w.std())
    skewness = float(((w - mean) ** 3).mean()) / spread**3 / math.sqrt(m) if spread > 0 else 0.0
    return Estimate(value, spread / (mean * math.sqrt(m - 1)), "ais", effective, m - 1.0, skewness)
