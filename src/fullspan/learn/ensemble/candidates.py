"""Candidates of a stacked ensemble: models that are learned from rows and predict states.

Candidates of one family and increasing size form a series, smallest first, such as mixtures of 2, 4, 8, ... components.
A family may have several series, of different smoothing; its first one decides whether the others are learned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.model import LogLinear
from fullspan.model.algebra.basis import Basis

TRUSTED, FURTHER = 2.0, 0.1
"""Pseudo-counts, in rows, of the bootstrap fits and of candidates known to serve with few rows, and of all others."""


class Candidate(Protocol):
    """Something learned from rows: it predicts states, and is a mixture of log-linear models."""

    def log_prob(self, states: NDArray[Any]) -> Array:
        """``log p`` of complete states."""

    def models(self) -> Sequence[tuple[float, LogLinear]]:
        """Log-linear models and their shares; their mixture is the same distribution."""


Learn = Callable[[Empirical, Basis, np.random.Generator], Candidate]
"""How a candidate is learned from counted rows; its models are in the basis given."""
Series = Sequence[str]
"""Names of candidates of increasing size."""


@dataclass(frozen=True)
class Candidates:
    """What is stacked with the bootstrap fits.

    Attributes
    ----------
    learn : by name.
    trusted : pseudo-counts of candidates known to serve; a series that falls far behind these ends.
    families : the series of each family, in each of which a candidate costs more than those before it.
    """

    learn: Mapping[str, Learn] = field(default_factory=dict)
    trusted: Mapping[str, float] = field(default_factory=dict)
    families: Sequence[Sequence[Series]] = ()

    @property
    def alone(self) -> list[str]:
        """The candidates that are in no series."""
        in_series = {name for family in self.families for series in family for name in series}
        return [name for name in self.learn if name not in in_series]

    def pseudo_count(self, name: str) -> float:
        """Rows that count for a candidate before any row is seen."""
        return self.trusted.get(name, FURTHER)
