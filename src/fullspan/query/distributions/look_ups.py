"""Probabilities and information of a log-linear model: look-ups in the dual table where precise enough, else sums.

Of few variables an entropy is a sum over a table of probabilities. Of all variables no table is needed:

    H(x | event) = log Z(event) - theta . <Phi | event>,      H(x | B) = H(x) - H(B).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fullspan.arrays import Array
from fullspan.model.loglinear import LogLinear
from fullspan.query.distribution import Distribution
from fullspan.query.distributions.rows import TRUSTED_PROBABILITY
from fullspan.query.language.boxes import Codes, both
from fullspan.query.language.events import check_possible
from fullspan.query.questions import entropy

if TYPE_CHECKING:
    from fullspan.engine.dual.table import DualTable
    from fullspan.engine.elimination.sums import Sums

LOOK_UP_CELLS = 1 << 12
"""Cells of a marginal up to which it is looked up."""


class LookUps(Distribution):
    """What is asked of a model in words and events; a subclass has the model, its table and its sums."""

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
    def log_sum(self, allowed: Mapping[int, Codes]) -> float:
        """Log of the unnormalised weight of an event."""

    @abstractmethod
    def check_condition(self, given: Mapping[int, Codes], log_sum: float) -> None:
        """Refuse a condition whose log weight says that its probability is 0."""

    def box_probability(self, event: Mapping[int, Codes], given: Mapping[int, Codes]) -> float:
        """``P(event | given)`` of boxes, by look-up where that is precise enough."""
        joint = both(given, event) if given else event
        if all(len(codes) == 1 for codes in (*joint.values(), *given.values())):
            found = self._cell(joint, given)
            if found is not None:
                return found
        return float(self.cells((), event, given))

    def _cell(self, joint: Mapping[int, Codes], given: Mapping[int, Codes]) -> float | None:
        """P(joint) / P(given) by look-up where one code is allowed each; None if that is not precise enough.

        ``joint`` lists the variables of ``given`` first, so that a condition is a slice of the marginal.
        """
        cards, place, size, slice_size, start = self.model.basis.cards, 0, 1, 1, 0
        for n, (i, codes) in enumerate(joint.items()):
            if n == len(given):
                slice_size, start = size, place
            place += size * codes[0]
            size *= cards[i]
        if len(joint) == len(given):
            slice_size, start = size, place
        if size > LOOK_UP_CELLS or self.table is None:
            return None
        marginal = self.table.marginal(tuple(joint))
        cell = float(marginal[place])
        condition = float(marginal[start::slice_size].sum()) if given else 1.0
        return min(cell / condition, 1.0) if cell >= TRUSTED_PROBABILITY else None

    def cells(
        self, where: tuple[int, ...], event: Mapping[int, Codes], given: Mapping[int, Codes], relative: bool = True
    ) -> Array:
        """``P(where, event | given)``, one axis per variable; ``relative`` asks for precision of each small cell."""
        check_possible(given, self.model.space)
        joint = both(given, event)
        if not all(joint.values()):
            return np.zeros([self.model.basis.cards[i] for i in where])
        found = self._looked_up(where, joint, given, relative)
        return self._summed(where, joint, given, bool(event)) if found is None else found

    def _looked_up(
        self, where: tuple[int, ...], joint: Mapping[int, Codes], given: Mapping[int, Codes], relative: bool
    ) -> Array | None:
        scope = (*where, *(i for i in joint if i not in where))
        cards = [self.model.basis.cards[i] for i in scope]
        if math.prod(cards) > LOOK_UP_CELLS or self.table is None:
            return None
        cube = self.table.marginal(scope).reshape(cards, order="F").clip(min=0.0)
        condition = float(_selected(cube, scope, given).sum()) if given else 1.0
        chosen = _selected(cube, scope, joint)
        cells: Array = chosen.sum(axis=tuple(range(len(where), len(scope))))
        if condition < TRUSTED_PROBABILITY or (relative and cells.min() < TRUSTED_PROBABILITY):
            return None
        out = np.zeros([self.model.basis.cards[i] for i in where])
        out[_open_mesh(out.shape, where, joint)] = np.minimum(cells / condition, 1.0)
        return out

    def _summed(
        self, where: tuple[int, ...], joint: Mapping[int, Codes], given: Mapping[int, Codes], event: bool
    ) -> Array:
        cells = self.elimination.log_sums(where, joint)
        norm = self.log_sum(given) if event or not where else float(np.logaddexp.reduce(cells, axis=None))
        self.check_condition(given, norm)
        return np.minimum(np.exp(cells - norm), 1.0)

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


def _open_mesh(shape: tuple[int, ...], scope: tuple[int, ...], allowed: Mapping[int, Codes]) -> tuple[Any, ...]:
    """Index of the cells that an event allows."""
    return np.ix_(*(allowed.get(i, range(card)) for i, card in zip(scope, shape, strict=True)))


def _selected(cube: Array, scope: tuple[int, ...], allowed: Mapping[int, Codes]) -> Array:
    return cube[_open_mesh(cube.shape, scope, allowed)] if scope else cube
