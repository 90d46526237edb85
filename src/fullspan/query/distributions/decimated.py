"""Answers of a machine of spins whose graph can be decimated, learned as p(all) or as p(others | inputs).

Rows and samples come from decimation, clamped pattern by clamped pattern; other questions from sums over the machine as
a log-linear model. Where there are inputs, their distribution was not learned: every question must state them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.errors import FullspanError, QueryError
from fullspan.model.ising import Ising
from fullspan.model.loglinear import LogLinear, checked_codes
from fullspan.query.distribution import PAIR_WORK, Marginals
from fullspan.query.distributions.clamped_rows import ClampedRows
from fullspan.query.distributions.log_linear import LogLinearDistribution
from fullspan.query.language.boxes import Codes
from fullspan.query.language.events import Event, check_possible, codes_of


class DecimatedDistribution(LogLinearDistribution):
    """The distribution of a decimatable machine, given its inputs.

    Parameters
    ----------
    model : the machine as a log-linear model.
    inputs : positions of the inputs; none if all nodes were learned.
    max_memory, n_hidden : as in :class:`LogLinearDistribution`.

    Raises
    ------
    QueryError : by every question that leaves an input open.
    NotDecimatableError : the nodes that a row leaves open cannot be decimated.
    """

    def __init__(
        self, model: LogLinear, inputs: Sequence[int] = (), max_memory: int | None = None, n_hidden: int = 0
    ) -> None:
        super().__init__(model, max_memory=max_memory, n_hidden=n_hidden)
        self.inputs = tuple(inputs)

    @cached_property
    def clamped(self) -> ClampedRows:
        """The machine of spins, decimated for each pattern of clamped nodes."""
        return ClampedRows(Ising.of(self.model), self.space.names)

    @classmethod
    def of(cls, fitted: Any, max_memory: int | None = None) -> DecimatedDistribution:
        """The distribution of a fitted machine, whose settings name its inputs."""
        inputs = [fitted.model.space.position(name) for name in fitted.settings["inputs"]]
        return cls(fitted.model, inputs, max_memory, fitted.n_hidden)

    # -- rows -------------------------------------------------------------------------------------------------

    def log_prob(self, codes: Any) -> Array:
        """``log p(what a row says | its inputs)``, hidden nodes summed out."""
        known = checked_codes(codes, self.visible, missing=True)
        for i in self.inputs:
            if (known[:, i] < 0).any():
                raise FullspanError(f"the input {self.space.names[i]!r} is missing in a row; all inputs must be known")
        return self.clamped.log_prob(self._rows(known), self.inputs)

    def means(self, inputs: Any) -> Array:
        """``P(level 1)`` of all nodes (m, n) given codes (m, inputs) of the inputs."""
        rows = np.full((len(inputs), len(self.space)), -1, dtype=np.int64)
        rows[:, list(self.inputs)] = inputs
        return self.clamped.means(rows)

    def sample(self, size: int, rng: np.random.Generator, given: Event | None = None) -> Ints:
        """Independent states, exact, by reversing the decimation; all inputs must be given."""
        row = np.full((1, len(self.space)), -1, dtype=np.int64)
        allowed = codes_of(given, self.space)
        check_possible(allowed, self.space)
        for i, codes in allowed.items():
            if len(codes) == 1:  # both levels of a node say nothing
                row[0, i] = codes[0]
        for i in self.inputs:
            if row[0, i] < 0:
                raise FullspanError(f"the input {self.space.names[i]!r} is not given; its distribution was not learned")
        states = self.clamped.draw(np.repeat(row, self.checked_size(size), axis=0), rng)
        return states[:, : len(self.visible)]

    # -- questions must state the inputs -----------------------------------------------------------------------------

    def _check_inputs(self, given: Mapping[int, Codes]) -> None:
        left_open = [self.space.names[i] for i in self.inputs if len(given.get(i, (0, 0))) > 1]
        if left_open:
            names = ", ".join(left_open[:6]) + (", ..." if len(left_open) > 6 else "")
            raise QueryError(
                f"the question leaves the inputs {names} open, whose distribution was not learned; state one level of "
                "each in the condition, or fit the machine without inputs"
            )

    def cells(
        self, where: tuple[int, ...], event: Mapping[int, Codes], given: Mapping[int, Codes], relative: bool = True
    ) -> Array:
        self._check_inputs(given)
        return super().cells(where, event, given, relative)

    def box_probability(self, event: Mapping[int, Codes], given: Mapping[int, Codes]) -> float:
        self._check_inputs(given)
        return super().box_probability(event, given)

    def allowed(self, given: Event | None) -> dict[int, Codes]:
        allowed = super().allowed(given)
        self._check_inputs(allowed)
        return allowed

    def marginals(self, given: Event | None = None) -> Marginals:
        self.allowed(given)
        return super().marginals(given)

    def joint(self) -> Array:
        self._check_inputs({})
        return super().joint()

    def pairs(self, work: float = PAIR_WORK) -> Array | None:
        self._check_inputs({})
        return super().pairs(work)

    def _joint_entropy(self, given: Mapping[int, Codes]) -> float:
        self._check_inputs(given)
        return super()._joint_entropy(given)

    def _check_rows(self, known: Ints) -> None:
        for i in self.inputs:
            if (known[:, i] < 0).any():
                row = int(np.argmax(known[:, i] < 0)) + 1
                raise QueryError(f"the input {self.space.names[i]!r} is missing in row {row}, and is not learned")
        super()._check_rows(known)
