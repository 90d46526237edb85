"""Answers of a machine of spins whose graph can be decimated, learned as p(all) or as p(others | inputs).

Rows and samples come from decimation, clamped pattern by clamped pattern; other questions from sums over the machine as
a log-linear model. Where there are inputs, their distribution was not learned: every question must state them.

Rows of a machine of spins, many at a time, by decimation: log-probabilities, means and draws given inputs.

Rows that observe the same cells are clamped together; one order, found once, serves them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data.merging import same_pattern
from fullspan.engine.elimination.decimation import Decimation
from fullspan.errors import FullspanError, QueryError
from fullspan.model.ising import Ising, levels_of, spins_of
from fullspan.model.loglinear import LogLinear, checked_codes
from fullspan.query.distribution import PAIR_WORK, Marginals
from fullspan.query.distributions.log_linear import LogLinearDistribution
from fullspan.query.language.boxes import Codes
from fullspan.query.language.events import Event, check_possible, codes_of

_ORDERS = 256
"""Orders remembered."""


class ClampedRows:
    """Answers about rows of codes (m, n), -1 where a cell is open; orders are kept for the next question.

    Parameters
    ----------
    machine : the machine.
    names : of its nodes, for messages.

    All methods raise ``NotDecimatableError`` if the nodes that a row leaves open cannot be decimated.
    """

    def __init__(self, machine: Ising, names: Sequence[str]) -> None:
        self.machine, self.names = machine, names
        self._orders: dict[bytes, Decimation] = {}

    def log_sums(self, rows: NDArray[Any]) -> Array:
        """``log Z(row)``: over all states that agree with a row."""
        out = np.empty(len(rows))
        for engine, spins, members in self._groups(rows):
            out[members] = engine.log_z_batch(self.machine.couplings, self.machine.fields, spins)
        return out

    def log_prob(self, rows: NDArray[Any], inputs: Sequence[int] = ()) -> Array:
        """``log p(what the row says | its inputs)``."""
        given = np.full_like(rows, -1)
        given[:, list(inputs)] = rows[:, list(inputs)]
        distinct, which = np.unique(given, axis=0, return_inverse=True)
        return np.minimum(self.log_sums(rows) - self.log_sums(distinct)[which.ravel()], 0.0)

    def means(self, rows: NDArray[Any]) -> Array:
        """``P(level 1)`` of every node (m, n), given what the row says."""
        out = np.empty(rows.shape)
        for engine, spins, members in self._groups(rows):
            found = engine.expectations_batch(self.machine.couplings, self.machine.fields, spins)
            out[members] = (1.0 + found.nodes) / 2.0
        return np.clip(out, 0.0, 1.0)

    def draw(self, rows: NDArray[Any], rng: np.random.Generator) -> Ints:
        """Rows with their open cells drawn, given what they say."""
        out = np.empty(rows.shape, dtype=np.int64)
        for engine, spins, members in self._groups(rows):
            same = spins[:1] if len(spins) == 0 or (spins == spins[:1]).all() else spins
            drawn = engine.sample(self.machine.couplings, self.machine.fields, len(members), rng, same)
            out[members] = levels_of(drawn)
        return out

    def _groups(self, rows: NDArray[Any]) -> Iterator[tuple[Decimation, NDArray[np.int8], NDArray[np.intp]]]:
        if not len(rows):
            return
        for members in same_pattern(rows):
            is_known = rows[members[0]] >= 0
            key = is_known.tobytes()
            if key not in self._orders:
                if len(self._orders) >= _ORDERS:
                    self._orders.clear()
                known = np.flatnonzero(is_known).tolist()
                self._orders[key] = Decimation(self.machine.n, self.machine.edges, known, names=self.names)
            yield self._orders[key], spins_of(rows[members][:, is_known]), members


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
