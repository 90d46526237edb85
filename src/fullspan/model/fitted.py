"""A log-linear model with what was learned about it: errors of its weights, nats saved, interactions, fit measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fullspan.arrays import Array, Mask
from fullspan.errors import FullspanError
from fullspan.model.algebra.basis import Term
from fullspan.model.effects.interaction import Interaction, sense
from fullspan.model.effects.words import contrast, describe, is_two_level_pair, side
from fullspan.model.estimate import Estimate
from fullspan.model.goodness import Goodness
from fullspan.model.loglinear import LogLinear
from fullspan.model.record import FitRecord


@dataclass(frozen=True)
class OutOfBag:
    """Mean log-likelihood of rows by the fits that have not seen them, its standard error, and the rows' share.

    Attributes
    ----------
    score : nats per row; NaN if no fit has left out a row.
    error : standard deviation over the rows, divided by the root of their number.
    share : of the rows that some fit has left out.
    """

    score: float
    error: float
    share: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted(FitRecord[LogLinear]):
    """A fitted log-linear model, single, averaged or on a truncated space.

    Attributes
    ----------
    standard_errors : (k,) of the weights; NaN where the data do not determine one.
    nats_saved : (k,) log-likelihood of all rows that would be lost if the term were dropped and all else refitted under
        the same prior; NaN if not known.
    approximate : (k,) whether those nats are an approximation; all are, unless a refit says otherwise.
    interactions : the sets of two variables and more, strongest first; None where they have not been worked out.
    coefficient_errors : standard errors of the coefficients in the sum-to-zero coding, in the order of
        :func:`fullspan.learn.effects.coefficients.coded`; None where they have not been worked out.
    shares : of each level of the observed variables among the rows; empty where not known.
    divergence : KL(p_d || p) in nats per row.
    entropy : entropy of the empirical distribution, in nats per row.
    description_length : total nats, model and data.
    drift : largest rounding error that a rebuild of the table has removed.
    goodness : measures of fit, where the terms were given and not searched for.
    diverging : positions of the terms whose weights have no finite maximum; the model is the limit.
    n_hidden : how many of the last variables were never observed.
    prior : mean and precision (k,) of the normal prior that the search has fitted to the weights, in nats of all rows.
    out_of_bag : of an average of bootstrap fits, the likelihood of what each has not seen.
    members : of an average, its fits, each with the seed of its bootstrap sample, None for the rows themselves; empty
        where they are not at hand, as after a file was read.

    And those of :class:`fullspan.model.record.FitRecord`.
    """

    standard_errors: Array
    nats_saved: Array
    divergence: float
    entropy: float
    description_length: float
    drift: float = 0.0
    goodness: Goodness | None = None
    diverging: tuple[int, ...] = ()
    n_hidden: int = 0
    prior: tuple[Array, Array] | None = None
    out_of_bag: OutOfBag | None = None
    approximate: Mask | None = None
    interactions: tuple[Interaction, ...] | None = None
    shares: tuple[tuple[float, ...], ...] = ()
    coefficient_errors: Array | None = None
    members: tuple[tuple[Fitted, int | None], ...] = ()

    @classmethod
    def given(cls, model: LogLinear) -> Fitted:
        """A model that was not learned here: of no rows, without errors and measures."""
        unknown = np.full(len(model.terms), np.nan)
        return cls(
            model=model,
            standard_errors=unknown,
            nats_saved=unknown,
            total=0.0,
            n_rows=0,
            divergence=math.nan,
            entropy=math.nan,
            description_length=math.nan,
            status="given",
        )

    def reordered(self, order: Sequence[int]) -> Fitted:
        """The same fit, not yet explained, with its observed variables in another order.

        Raises
        ------
        FullspanError : its effects have been worked out, and name the variables in their order.
        """
        if self.interactions is not None:
            raise FullspanError("a fit is put into another order before its effects are worked out")
        whole, before = [*order, *range(len(order), len(self.model.space))], self.model.terms
        model = self.model.reordered(whole)
        place = {tuple(sorted((whole.index(i), j) for i, j in term)): k for k, term in enumerate(before)}
        which = [place[term] for term in model.terms]
        prior = self.prior
        return replace(
            self,
            model=model,
            standard_errors=self.standard_errors[which],
            nats_saved=self.nats_saved[which],
            approximate=None if self.approximate is None else self.approximate[which],
            diverging=tuple(new for new, old in enumerate(which) if old in self.diverging),
            prior=None if prior is None else (prior[0][which], prior[1][which]),
            members=tuple((fit.reordered(order), seed) for fit, seed in self.members),
        )

    @property
    def weights(self) -> Array:
        """(k,) weights as people should read them: infinite where there is no finite maximum."""
        weights: Array = self.model.theta.copy()
        diverging = list(self.diverging)
        weights[diverging] = np.copysign(np.inf, weights[diverging])
        return weights

    def describe(self, position: int) -> str:
        """A term in words; see :mod:`fullspan.model.effects.words`."""
        model, term = self.model, self.model.terms[position]
        if is_two_level_pair(model.basis, term):
            names = tuple(model.space.names[i] for i, _ in term)
            if (whole := self._by_variables.get(names)) is not None:
                return whole.words
        return describe(model.space, model.basis, term, float(self.weights[position]), self._share(term))

    def direction(self, position: int) -> int:
        """+1 where the words of a pair say that it goes with each other, -1 where against, 0 for other orders."""
        model, term = self.model, self.model.terms[position]
        if len(term) != 2:
            return 0
        whole = self._by_variables.get(tuple(model.space.names[i] for i, _ in term))
        if whole is not None and (whole.direction or is_two_level_pair(model.basis, term)):
            return whole.direction  # 0 where the odds are printed as ×1
        return sense(contrast(model.basis, term, float(self.weights[position])))

    @cached_property
    def _by_variables(self) -> dict[tuple[str, ...], Interaction]:
        return {one.variables: one for one in self.interactions or ()}

    def _share(self, term: Term) -> float | None:
        """Share of the rows on the side that a term of one variable names."""
        i, j = term[0]
        if len(term) > 1 or i >= len(self.shares):
            return None
        return float(sum(self.shares[i][code] for code in side(self.model.basis, i, j)))

    @property
    def log_z(self) -> Estimate:
        """log Z of the model, with its error where the settings of the fit say that it was estimated."""
        stored = self.settings.get("log_z")
        if not isinstance(stored, dict) or stored.get("exact", True):
            return Estimate.known(self.model.log_z)
        freedom, skewness = float(stored.get("freedom", math.inf)), float(stored.get("skewness", 0.0))
        return Estimate(self.model.log_z, float(stored["error"]), "ais", 0.0, freedom, skewness)

    @property
    def by_elimination(self) -> bool:
        """Whether a search ran by elimination, without a table of all states."""
        return bool(self.settings.get("engine_chosen", self.settings.get("engine")) == "elimination")

    @property
    def is_approximate(self) -> Mask:
        """(k,) whether the nats saved by each term are an approximation."""
        return np.ones(len(self.model.terms), dtype=bool) if self.approximate is None else self.approximate

    def __post_init__(self) -> None:
        for name in ("standard_errors", "nats_saved"):
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != self.model.theta.shape:
                raise FullspanError(
                    f"{name} has the shape {values.shape}; one number per term, {self.model.theta.shape}, is expected"
                )
            values.flags.writeable = False
            object.__setattr__(self, name, values)
