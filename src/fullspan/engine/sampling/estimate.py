"""A number with its standard error, and whether it is exact: nothing sampled passes for more than it is."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A value, its Monte-Carlo standard error, and whether it is exact.

    Attributes
    ----------
    value, error : the error is 0 if and only if the value is exact.
    exact : no random number had a part in it; the rest is rounding.
    freedom : degrees of freedom of the error; infinite where it is itself well known.

    Examples
    --------
    >>> print(Estimate(0.25, 0.0031))
    0.2500 ± 0.0031
    >>> print(Estimate.known(0.25))
    0.25
    """

    value: float
    error: float
    exact: bool = False
    freedom: float = math.inf

    @classmethod
    def known(cls, value: float) -> Estimate:
        """A value that is exact up to rounding."""
        return cls(float(value), 0.0, exact=True)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Ends of the confidence interval ``value -+ t error``, by Student's t."""
        from scipy.special import ndtri, stdtrit

        if self.exact:
            return self.value, self.value
        tail = 0.5 + 0.5 * level
        t = float(ndtri(tail)) if math.isinf(self.freedom) else float(stdtrit(self.freedom, tail))
        return self.value - t * self.error, self.value + t * self.error

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if self.exact:
            return f"{self.value:.6g}"
        if not (math.isfinite(self.error) and self.error > 0):
            return f"{self.value:.6g} ± {self.error:g}"
        digits = max(0, 1 - math.floor(math.log10(self.error)))
        return f"{self.value:.{digits}f} ± {self.error:.{digits}f}"
