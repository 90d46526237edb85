"""The answer to a question about whole variables: a table of probabilities with its names and levels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.space import Level
from fullspan.display import html_table
from fullspan.errors import FullspanError

SHOWN_STATES = 50
"""States that a notebook shows."""


@dataclass(frozen=True)
class MostProbable:
    """The most probable joint state of some variables.

    Attributes
    ----------
    levels : the state, by name.
    log_prob : its log-probability given the condition, in nats.
    """

    levels: dict[str, Level]
    log_prob: float

    @property
    def probability(self) -> float:
        """Its probability; 0 where that is below the range of floating-point numbers."""
        return math.exp(min(self.log_prob, 0.0))

    def __str__(self) -> str:
        state = ", ".join(f"{name}={level}" for name, level in self.levels.items())
        return f"{state} (log-probability {self.log_prob:.6g})"


@dataclass(frozen=True)
class Count:
    """How many of n independent rows an event is expected to hold in: a binomial number.

    Attributes
    ----------
    expected : ``n P(event)``.
    low, high : the smallest interval of equal tails that has it with at least 95 %, if the model is right.
    n_rows : n.
    """

    expected: float
    low: int
    high: int
    n_rows: int

    @classmethod
    def of(cls, probability: float, n_rows: int) -> Count:
        """Of an event with this probability."""
        from scipy.stats import binom

        p = min(max(probability, 0.0), 1.0)
        low, high = (int(binom.ppf(q, n_rows, p)) if 0 < p < 1 else round(n_rows * p) for q in (0.025, 0.975))
        return cls(n_rows * p, low, high, n_rows)

    def __str__(self) -> str:
        return f"{self.expected:,.1f} of {self.n_rows:,} rows (95 %: {self.low:,} to {self.high:,})"


@dataclass(frozen=True, eq=False)
class Table:
    """Probabilities of the joint states of a few variables.

    Attributes
    ----------
    names : the variables.
    levels : the levels of each.
    values : one axis per variable.
    errors : standard errors of the values, where they were estimated; None where they are exact.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Level, ...], ...]
    values: NDArray[np.float64]
    errors: NDArray[np.float64] | None = None

    def __iter__(self) -> Iterator[tuple[tuple[Level, ...], float]]:
        """Pairs (levels, probability), the last variable fastest."""
        return zip(itertools.product(*self.levels), map(float, self.values.ravel()), strict=True)

    def __len__(self) -> int:
        return self.values.size

    def __getitem__(self, levels: Level | tuple[Level, ...]) -> float:
        """Probability of one joint state, by its levels in the order of ``names``.

        Raises
        ------
        KeyError : there is no such state.
        """
        key = levels if isinstance(levels, tuple) else (levels,)
        try:
            return float(self.values[tuple(own.index(level) for own, level in zip(self.levels, key, strict=True))])
        except ValueError:
            raise KeyError(levels) from None

    def to_xarray(self) -> Any:
        """An ``xarray.DataArray`` with a dimension for each variable and its levels as coordinates.

        Standard errors, where there are any, are its attribute ``errors``.

        Raises
        ------
        FullspanError : xarray is not installed.
        """
        try:
            import xarray
        except ModuleNotFoundError:
            raise FullspanError("this needs xarray, which is not installed: pip install xarray") from None
        coordinates = {name: list(own) for name, own in zip(self.names, self.levels, strict=True)}
        attributes = {} if self.errors is None else {"errors": self.errors}
        return xarray.DataArray(self.values, coordinates, self.names, name="probability", attrs=attributes)

    def _repr_html_(self) -> str:
        """A table with a bar for every probability, as notebooks show it; of many states the likeliest."""
        texts = dict(self.texts())
        shown = list(self)
        if len(shown) > SHOWN_STATES:
            shown = sorted(shown, key=lambda pair: -pair[1])[:SHOWN_STATES]
        rows = [(*map(str, levels), texts[levels]) for levels, _ in shown]
        notes = [f"the likeliest {SHOWN_STATES} of {len(self):,} states"] if len(self) > SHOWN_STATES else []
        headings = [*self.names, "probability"]
        return html_table(headings, rows, notes=notes, bars=[p for _, p in shown], n_text=len(self.names))

    def texts(self) -> Iterator[tuple[tuple[Level, ...], str]]:
        """Pairs (levels, probability as text), with its error where it was estimated."""
        if self.errors is None:
            yield from ((levels, f"{p:.6g}") for levels, p in self)
            return
        for (levels, p), error in zip(self, self.errors.ravel().tolist(), strict=True):
            yield levels, f"{p:.4f} ± {error:.4f}"

    def __str__(self) -> str:
        """Aligned columns, one row per state."""
        rows = [[*self.names, "probability"], *([*map(str, levels), text] for levels, text in self.texts())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)
