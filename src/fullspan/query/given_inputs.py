"""Answers of a model that was learned as p(others | inputs): every question must say what the inputs are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.errors import QueryError
from fullspan.model.loglinear import LogLinear
from fullspan.query.answer import Oracle
from fullspan.query.language.boxes import Codes
from fullspan.query.language.events import Event


class GivenInputs(Oracle):
    """The oracle of a conditional model. The weights say nothing about the inputs, so nothing is asked without them.

    Parameters
    ----------
    inputs : positions of the inputs.
    """

    def __init__(self, model: LogLinear, n_hidden: int, inputs: Sequence[int]) -> None:
        super().__init__(model, n_hidden=n_hidden)
        self.inputs = tuple(inputs)

    def _check_inputs(self, given: Mapping[int, Codes]) -> None:
        left_open = [self.model.space.names[i] for i in self.inputs if len(given.get(i, (0, 0))) > 1]
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

    def joint(self) -> Array:
        self._check_inputs({})
        return super().joint()

    def _probability(self, event: Mapping[int, Codes], given: Mapping[int, Codes]) -> float:
        self._check_inputs(given)
        return super()._probability(event, given)

    def _allowed(self, given: Event | None) -> dict[int, Codes]:
        allowed = super()._allowed(given)
        self._check_inputs(allowed)
        return allowed

    def _joint_entropy(self, given: Mapping[int, Codes]) -> float:
        self._check_inputs(given)
        return super()._joint_entropy(given)

    def _check_rows(self, known: Ints) -> None:
        for i in self.inputs:
            if (known[:, i] < 0).any():
                row = int(np.argmax(known[:, i] < 0)) + 1
                raise QueryError(f"the input {self.model.space.names[i]!r} is missing in row {row}, and is not learned")
        super()._check_rows(known)
