"""Entropies and mutual information of a log-linear model, in nats.

Of few variables they are sums over a table of probabilities. Of all variables no table is needed:

    H(x | event) = log Z(event) - theta . <Phi | event>,      H(x | B) = H(x) - H(B).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.model.loglinear import LogLinear
from fullspan.query.asked import Asked, entropy
from fullspan.query.language.boxes import Codes
from fullspan.query.language.events import check_possible

if TYPE_CHECKING:
    from fullspan.engine.dual.table import DualTable
    from fullspan.engine.elimination.sums import Sums


class Information(Asked):
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

    @property
    def asked_space(self) -> Space:
        return self.model.space

    def entropy_of(self, where: tuple[int, ...], given: Mapping[int, Codes]) -> float:
        """Entropy of some variables by position, given an event; of all of them without a table."""
        if len(where) == len(self.model.space):
            return self._joint_entropy(given)
        return entropy(self.cells(where, {}, given, relative=False))

    def _joint_entropy(self, given: Mapping[int, Codes]) -> float:
        """``log Z(given) - theta . eta(given)``: one look-up per term, or the derivatives of log Z."""
        check_possible(given, self.model.space)
        if not given and self.table is not None:
            eta = self.table.eta[np.array(self.model.indices, dtype=np.int64)]
        else:
            eta = self.elimination.expectations(given)
        return max(self.log_sum(given) - float(self.model.theta @ eta), 0.0)
