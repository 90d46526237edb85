"""A number with its standard error: what sampling gives, and exact ones as the case of no error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Estimate:
    """A value, its standard error, and how it was found.

    Attributes
    ----------
    method : ``"exact"`` or ``"ais"``.
    effective : effective number of independent weights that were averaged, 1 / sum w²; 0 if exact.
    """

    value: float
    standard_error: float = 0.0
    method: str = "exact"
    effective: float = 0.0

    @property
    def is_exact(self) -> bool:
        """Whether nothing was sampled."""
        return self.method == "exact"

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The interval that holds the truth with this confidence, were the error normal."""
        half = NormalDist().inv_cdf((1 + confidence) / 2) * self.standard_error
        return self.value - half, self.value + half

    def __str__(self) -> str:
        return f"{self.value:.6g}" if self.is_exact else f"{self.value:.6g} ± {self.standard_error:.2g}"


def log_mean(log_weights: NDArray[np.float64], offset: float = 0.0) -> Estimate:
    """``offset + log mean(w)`` of M independent weights, with the error ``sd(w) / (mean(w) sqrt(M))``."""
    top = float(log_weights.max())
    w = np.exp(log_weights - top)
    mean = float(w.mean())
    error = float(w.std(ddof=1)) / (mean * math.sqrt(len(w))) if len(w) > 1 else math.inf
    return Estimate(offset + top + math.log(mean), error, "ais", float(w.sum() ** 2 / (w @ w)))
