"""Layered machines (RBM, DBM) as distributions: rows exactly or by a bound, samples and completions by Gibbs chains.

    one hidden layer     log p(x) = b.x + sum_j softplus(c_j + x W_j) - log Z,     missing cells summed over exactly
    several layers       log p(x) >= mean-field bound - log Z,                     complete rows only

Conditional probabilities of a machine with one hidden layer are ratios of such sums, in which log Z cancels. log Z
itself is exact or an estimate, and is found when first needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.errors import DataError, FullspanError, QueryError
from fullspan.model.estimate import Estimate
from fullspan.model.layered import LayeredMachine
from fullspan.model.loglinear import checked_codes
from fullspan.model.units import OPEN
from fullspan.query.distribution import Distribution, Factors
from fullspan.query.language.boxes import Box, Boxes, hull
from fullspan.query.language.cuts import Cuts
from fullspan.query.language.events import Event
from fullspan.query.language.result import Table

SAMPLE_SWEEPS, IMPUTE_SWEEPS = 1000, 200
"""Sweeps of a chain before its state is taken as a draw, and before its means fill in a cell."""

NOT_SUMMED = (
    "a deep machine is not summed over its hidden layers, so questions about it have no exact answer; --gibbs (in "
    "Python distribution_.by_chains) estimates it, with its error"
)


class LayeredDistribution(Distribution):
    """The distribution of the visible variables of a layered machine.

    Parameters
    ----------
    model : the machine.
    log_z : its log Z, or what finds it when it is first needed.
    device, dtype : where and how precisely the chains run.
    sweeps : of every chain; None for 1,000 to draw and 200 to complete a row.
    """

    exact: ClassVar[bool] = False

    def __init__(
        self,
        model: LayeredMachine,
        log_z: Estimate | Callable[[], Estimate],
        device: str = "cpu",
        dtype: str = "float32",
        sweeps: int | None = None,
    ) -> None:
        self.model, self.space, self.bound = model, model.space, model.n_layers > 1
        self.complete_rows_only = self.bound
        self._log_z, self.device, self.dtype, self.sweeps = log_z, device, dtype, sweeps

    @classmethod
    def of(cls, fitted: Any, max_memory: int | None = None) -> LayeredDistribution:
        """The distribution of a fitted record; its chains run where the fit ran, and as precisely."""
        return cls(fitted.model, fitted.log_z, dtype=str(fitted.settings.get("dtype", "float32")))

    @cached_property
    def log_z(self) -> Estimate:
        """log Z of the machine: exact, or by annealing."""
        return self._log_z if isinstance(self._log_z, Estimate) else self._log_z()

    # -- rows -------------------------------------------------------------------------------------------------

    def log_prob(self, rows: Any) -> Array:
        """``log P(observed cells)`` of rows, or with several hidden layers a lower bound for complete rows.

        Raises
        ------
        DataError : a cell is missing, and the machine has several hidden layers.
        TooLargeError : a row leaves too many cells open to be summed over.
        """
        return np.asarray(self.log_weight(rows) - self.log_z.value)

    def log_weight(self, rows: Any) -> Array:
        """The same without log Z: minus the free energy."""
        from fullspan.engine.sampling.layers.device import device
        from fullspan.engine.sampling.layers.likelihood import log_weights
        from fullspan.engine.sampling.layers.open_cells import completed

        codes = checked_codes(rows, self.space, missing=True)
        if not self.bound:
            return completed(self.model, codes).log_weight
        return log_weights(self.model, self.units_of(codes), device("cpu", "float64", np.random.default_rng(0)))

    def units_of(self, codes: Any) -> Any:
        """Visible units of complete rows.

        Raises
        ------
        DataError : a cell is missing.
        """
        if (codes == OPEN).any():
            i, j = np.argwhere(codes == OPEN)[0]
            raise DataError(
                f"row {i + 1} has no {self.space.names[j]!r}; a deep machine scores complete rows: use impute first"
            )
        return self.model.units.encode(codes)

    def sample(self, size: int, rng: np.random.Generator, given: Event | None = None) -> Ints:
        """The states of one chain per row after all sweeps from the base rates, which ``given`` clamps.

        These are draws from the machine in the limit of long chains only.
        """
        from fullspan.engine.sampling.layers.open_cells import sampled

        codes = np.full((self.checked_size(size), len(self.space)), OPEN, dtype=np.int64)
        for i, allowed in self.allowed(given).items():
            if len(allowed) != 1:
                name = self.space.names[i]
                raise FullspanError(f"{name!r} was given {len(allowed)} levels; chains need a single level")
            codes[:, i] = allowed[0]
        return sampled(self.model, codes, self.sweeps or SAMPLE_SWEEPS, self._on(rng))

    def likeliest_cells(self, rows: Any) -> Ints:
        """As ``impute`` has them: its modes are those of each cell."""
        return np.asarray(self.impute(rows, "mode", np.random.default_rng(0)))

    def impute(self, rows: Any, how: str = "mode", rng: np.random.Generator | None = None) -> Any:
        """By one chain per row with the observed cells clamped.

        Parameters
        ----------
        how : ``"mode"``, the likeliest level of each missing cell by its means over the sweeps, after as many that are
            not counted; ``"draw"``, the state of a chain after the sweeps; ``"mean"``, those means.
        """
        from fullspan.engine.sampling.layers.open_cells import completed_means, sampled

        rng = np.random.default_rng(0) if rng is None and how != "draw" else rng
        codes, sweeps = self.checked_impute(rows, how, rng), self.sweeps or IMPUTE_SWEEPS
        on = self._on(np.random.default_rng() if rng is None else rng)
        if how == "draw":
            return sampled(self.model, codes, sweeps, on)
        means = completed_means(self.model, codes, sweeps, on)
        return means if how == "mean" else np.stack([p.argmax(axis=1) for p in means.values()], axis=1)

    def _on(self, rng: np.random.Generator) -> Any:
        from fullspan.engine.sampling.layers.device import device

        return device(self.device, self.dtype, rng)

    # -- questions --------------------------------------------------------------------------------------------

    def cells(self, where: tuple[int, ...], event: Box, given: Box) -> Array:
        """``P(where, event | given)`` of a machine with one hidden layer, by sums.

        Raises
        ------
        QueryError : the machine has several hidden layers, or the condition is impossible.
        TooLargeError : more than 2^20 states of the open cells, and of the hidden units, would be summed over.
        """
        if self.bound:
            raise QueryError(NOT_SUMMED)
        return super().cells(where, event, given)

    def answer(
        self, where: tuple[int, ...], event: Boxes, given: Boxes, cuts: Cuts | None = None
    ) -> float | Estimate | Table:
        """As for every distribution; without a condition it has the error of log Z, which cancels given one."""
        found = super().answer(where, event, given, cuts)
        if self.log_z.exact or (given and hull(given)):
            return found
        if isinstance(found, Table):
            return Table(found.names, found.levels, found.values, found.values * self.log_z.error)
        value = float(found)
        return Estimate(value, value * self.log_z.error if math.isfinite(self.log_z.error) else math.inf, "ais")

    def reweighed(self, factors: Factors) -> LayeredMachine:
        """The machine with other visible biases.

        Raises
        ------
        FullspanError : a factor has several variables, the machine several hidden layers, or its log Z is an estimate.
        """
        self.require_sums("whose margins can be changed")
        biases = self.model.biases[0].copy()
        for scope, table in factors.items():
            if len(scope) > 1:
                names = ", ".join(self.space.names[i] for i in scope)
                raise FullspanError(
                    f"a restricted machine has no weight between two visible variables, and ({names}) would need some; "
                    "change margins of one variable each, or fit a FullSpan"
                )
            own = self.model.units.of_variable(scope[0])
            biases[own] += table[1:] - table[:1] if len(table) == 2 else table
        return LayeredMachine(self.space, (biases, *self.model.biases[1:]), self.model.weights, self.model.base)

    def renewed(self, factors: Factors) -> Distribution:
        """The distribution of the machine with the factors; its log Z is summed again."""
        from fullspan.engine.sampling.layers.likelihood import log_z

        model = self.reweighed(factors)
        return LayeredDistribution(model, lambda: log_z(model), self.device, self.dtype, self.sweeps)

    def require_sums(self, what: str) -> None:
        """Refuse a machine whose probabilities are no sums.

        Raises
        ------
        FullspanError : it has several hidden layers, or an estimated log Z.
        """
        if self.bound or not self.log_z.exact:
            why = "of one hidden layer" if self.bound else "whose log Z is summed (log_z='exact'), not estimated"
            raise FullspanError(f"only a machine {why} has exact probabilities {what}")

    def by_chains(self, rng: np.random.Generator) -> Distribution:
        """A deep machine as factors over all its units, asked by chains; with one hidden layer sums are there."""
        from fullspan.query.distributions.sampled import SampledDistribution

        return SampledDistribution(self.model.graph(), rng, summed=self) if self.bound else super().by_chains(rng)

    def pairs(self, work: float = 0.0) -> None:
        """Not summed: chains draw rows instead."""
