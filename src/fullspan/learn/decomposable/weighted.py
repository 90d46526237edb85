"""Rows as a component of a mixture learns from them: complete, or with missing values that are summed over.

With weights w_r = p(h | row), a component's conditionals come from its expected counts,

    n_h(x_v, x_S) = sum_r w_r p_h(x_v, x_S | row r),

smoothed; where nothing is missing these are the counts. A graph is grown from whole rows: missing
values are drawn for it from the component as it is, exactly given the observed cells of each row.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.engine.elimination.row_sweeps import Sweeps
from fullspan.learn.decomposable.grow import GrowOptions, Shape, grow
from fullspan.learn.decomposable.rows import WideRows
from fullspan.learn.decomposable.tables import Conditionals, blank, conditionals, refilled, smoothed

_KEPT_GRAPHS = 64
"""Graphs whose sweeps are kept."""


class Weighted(Protocol):
    """Rows with weights; ``at_once`` components may learn from them side by side."""

    weights: Array
    at_once: int

    def log_prob(self, model: Conditionals) -> Array:
        """Log-probabilities (m,) of the observed cells."""

    def alone(self, weights: Array, smoothing: float) -> Conditionals:
        """Independent variables."""

    def grown(self, weights: Array, options: GrowOptions, smoothing: float, model: Conditionals | None) -> Conditionals:
        """A model with a graph of its own; missing values are drawn from ``model``."""

    def refilled(self, weights: Array, model: Conditionals, smoothing: float) -> Conditionals:
        """The same graph with tables from other weights."""


@dataclass
class Complete:
    """Rows without missing values."""

    rows: WideRows
    at_once: int = 2

    def __post_init__(self) -> None:
        self.weights = self.rows.weights

    def log_prob(self, model: Conditionals) -> Array:
        """See :class:`Weighted`."""
        return model.log_prob(self.rows.columns)

    def alone(self, weights: Array, smoothing: float) -> Conditionals:
        """See :class:`Weighted`."""
        return conditionals(self.rows, weights, Shape.alone(len(self.rows.cards)), smoothing)

    def grown(self, weights: Array, options: GrowOptions, smoothing: float, model: Conditionals | None) -> Conditionals:
        """See :class:`Weighted`."""
        return conditionals(self.rows, weights, grow(self.rows, weights, options)[0], smoothing)

    def refilled(self, weights: Array, model: Conditionals, smoothing: float) -> Conditionals:
        """See :class:`Weighted`."""
        return refilled(self.rows, weights, model, smoothing)


@dataclass
class Incomplete:
    """Rows in which -1 marks a missing value."""

    data: Empirical
    rng: np.random.Generator
    at_once: int = 1  # sweeps use all cores themselves
    _sweeps: dict[Shape, Sweeps] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.weights, self.rows = self.data.counts, self.data.states.astype(np.int16)
        self.cards = np.array(self.data.space.cards, dtype=np.int64)

    def log_prob(self, model: Conditionals) -> Array:
        """See :class:`Weighted`."""
        return self.sweeps(model).log_z(self.rows, model.tables)

    def alone(self, weights: Array, smoothing: float) -> Conditionals:
        """See :class:`Weighted`; missing values are as likely as observed ones."""
        n = len(self.cards)
        even = blank(self.cards, tuple(range(n)), [(v,) for v in range(n)])
        even = replace(even, tables=-np.repeat(np.log(self.cards), self.cards).astype(np.float64))
        for _ in range(3):
            even = self.refilled(weights, even, smoothing)
        return even

    def grown(self, weights: Array, options: GrowOptions, smoothing: float, model: Conditionals | None) -> Conditionals:
        """See :class:`Weighted`."""
        model = self.alone(weights, smoothing) if model is None else model
        drawn = self.sweeps(model).draw(self.rows, model.tables, self.rng)
        filled = WideRows.of(replace(self.data, states=drawn.astype(self.data.states.dtype)))
        return conditionals(filled, weights, grow(filled, weights, options)[0], smoothing)

    def refilled(self, weights: Array, model: Conditionals, smoothing: float) -> Conditionals:
        """See :class:`Weighted`; an em step."""
        _, counts = self.sweeps(model).expected(self.rows, weights, model.tables)
        return smoothed(self.cards, model, counts, smoothing)

    def sweeps(self, model: Conditionals) -> Sweeps:
        """The families of a model as sweeps over rows read them."""
        if model.shape not in self._sweeps:
            while len(self._sweeps) >= _KEPT_GRAPHS:
                self._sweeps.pop(next(iter(self._sweeps)))
            cuts = model.families.bounds[1:-1]
            families = [part.tolist() for part in np.split(model.families.members, cuts)]
            strides = np.split(model.families.strides, cuts)
            self._sweeps[model.shape] = Sweeps.of(self.cards.tolist(), model.shape.order, families, strides)
        return self._sweeps[model.shape]


def weighted(data: Empirical, rng: np.random.Generator) -> Weighted:
    """Rows of counted data."""
    return Complete(WideRows.of(data)) if data.is_complete else Incomplete(data, rng)
