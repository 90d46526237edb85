"""Entropies and mutual information of a log-linear model, in nats.

Of few variables they are sums over a table of probabilities. Of all variables no table is needed:

    H(x | event) = log Z(event) - theta . <Phi | event>,      H(x | B) = H(x) - H(B).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fullspan.model.loglinear import LogLinear
from fullspan.query.events import Event, check_possible, codes_of, positions
from fullspan.query.parse import Codes

if TYPE_CHECKING:
    from fullspan.engine.dual.table import DualTable
    from fullspan.engine.elimination.sums import Sums

Array = NDArray[np.float64]
Names = str | Sequence[str]


class Information(ABC):
    """What is asked of a model in nats; a subclass has the model, its sums and tables of probabilities."""

    model: LogLinear

    @property
    @abstractmethod
    def table(self) -> DualTable | None:
        """The dual table, or None if it would not fit."""

    @property
    @abstractmethod
    def elimination(self) -> Sums:
        """What answers without a table over all states."""

    @abstractmethod
    def cells(
        self, where: tuple[int, ...], event: Mapping[int, Codes], given: Mapping[int, Codes], relative: bool = True
    ) -> Array:
        """``P(where, event | given)``, one axis per variable."""

    @abstractmethod
    def log_sum(self, allowed: Mapping[int, Codes]) -> float:
        """Log of the unnormalised weight of an event."""

    def entropy(self, variables: Names | None = None, given: Event | Names | None = None) -> float:
        """``H(variables | given)`` in nats, of all variables unless some are named.

        Given an event, the entropy of the distribution conditioned on it; given variables (by name), the expected
        entropy once they are known, ``H(A, B) - H(B)``.
        """
        space = self.model.space
        where = tuple(range(len(space))) if variables is None else positions(variables, space)
        if given is None or isinstance(given, Mapping):
            return self._entropy(where, codes_of(given, space))
        other = positions(given, space)
        return max(self._entropy(_union(where, other), {}) - self._entropy(other, {}), 0.0)

    def mutual_information(self, a: Names, b: Names, given: Event | Names | None = None) -> float:
        """``I(a; b | given)`` in nats, given nothing, an event, or other variables (by name); never negative."""
        space = self.model.space
        left, right = positions(a, space), positions(b, space)
        other: tuple[int, ...] = ()
        event: dict[int, Codes] = {}
        if given is None or isinstance(given, Mapping):
            event = codes_of(given, space)
        else:
            other = positions(given, space)
        parts = [_union(left, other), _union(right, other), _union(_union(left, right), other), other]
        h = [self._entropy(part, event) if part else 0.0 for part in parts]
        return max(h[0] + h[1] - h[2] - h[3], 0.0)

    def _entropy(self, where: tuple[int, ...], given: Mapping[int, Codes]) -> float:
        if len(where) == len(self.model.space):
            return self._joint_entropy(given)
        p = self.cells(where, {}, given, relative=False)
        return max(-float(np.sum(p * np.log(p, out=np.zeros_like(p), where=p > 0))), 0.0)

    def _joint_entropy(self, given: Mapping[int, Codes]) -> float:
        """``log Z(given) - theta . eta(given)``: one look-up per term, or the derivatives of log Z."""
        check_possible(given, self.model.space)
        if not given and self.table is not None:
            eta = self.table.eta[np.array(self.model.indices, dtype=np.int64)]
        else:
            eta = self.elimination.expectations(given)
        return max(self.log_sum(given) - float(self.model.theta @ eta), 0.0)


def _union(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return (*a, *(i for i in b if i not in a))
