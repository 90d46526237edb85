"""Learn in an order of the columns that the data decide, so that the order of the table's columns does not.

A greedy search compares candidates again and again, and equal ones are common in small tables: rounding, or the place
of a column, would decide between them. A learner that starts at random gives its random numbers to the columns in some
order. So the columns are sorted by their counts (module ``data.canonical``) before either, and the model is written in
the order of the table after it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from fullspan.data import Empirical
from fullspan.data.canonical import canonical_columns


class Reorderable(Protocol):
    """A fit whose columns can be put into another order."""

    def reordered(self, order: Sequence[int]) -> Self: ...


AnyFit = TypeVar("AnyFit", bound=Reorderable)
AnyWatch = Callable[[Any], None] | None


@dataclass(frozen=True)
class ColumnOrder:
    """The map from the order of a table's columns to the canonical one, and its inverse.

    Parameters
    ----------
    table : the counted data as they were read.
    """

    table: Empirical

    @cached_property
    def columns(self) -> list[int]:
        """The table's columns in canonical order."""
        return canonical_columns(self.table)

    @cached_property
    def is_kept(self) -> bool:
        """Whether the table's order is the canonical one."""
        return self.columns == list(range(len(self.columns)))

    def data(self, empirical: Empirical) -> Empirical:
        """Data over the table's columns, in canonical order."""
        return empirical if self.is_kept else empirical.reordered(self.columns)

    def start(self, fit: AnyFit | None) -> AnyFit | None:
        """What to begin with, in canonical order."""
        return fit if fit is None or self.is_kept else fit.reordered(self.columns)

    def restored(self, fit: AnyFit) -> AnyFit:
        """A fit of the sorted columns, in the order of the table and with its fingerprint."""
        if self.is_kept:
            return fit
        own: Any = fit.reordered(np.argsort(self.columns).tolist())
        found: AnyFit = dataclasses.replace(own, fingerprint=self.table.fingerprint())
        return found

    def watch(self, watch: AnyWatch) -> AnyWatch:
        """A watcher of the fit in canonical order that passes its models on in the order of the table."""
        if watch is None or self.is_kept:
            return watch
        passed_on: Callable[[Any], None] = watch

        def restored(step: Any) -> None:
            snapshot = getattr(step, "snapshot", None)
            if snapshot is not None:
                step = dataclasses.replace(step, snapshot=lambda: self.restored(snapshot()))
            passed_on(step)

        return restored


def in_canonical_order(data: Empirical, watch: AnyWatch, learn: Callable[[Empirical, AnyWatch], AnyFit]) -> AnyFit:
    """What ``learn`` makes of the data with sorted columns, as a fit of the columns in their own order."""
    order = ColumnOrder(data)
    return order.restored(learn(order.data(data), order.watch(watch)))
