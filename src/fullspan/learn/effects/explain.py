"""A fitted model explained: what each term and each interaction saves, and what it does, with its error.

The nats of an interaction are those lost when it is dropped and everything else refitted (module ``dropping``). On
large tables only the strongest are refitted; the others keep an approximation, and say so.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.learn.base.information import inverse_information
from fullspan.learn.base.phase import Kept
from fullspan.learn.effects.average_losses import affordable, first_losses, losses
from fullspan.learn.effects.averages import named_average
from fullspan.learn.effects.coefficients import coded
from fullspan.learn.effects.dropping import Dropping, Heirs
from fullspan.learn.effects.expectations import expectations
from fullspan.learn.effects.objectives import objective_of
from fullspan.learn.likelihood.phases import Free
from fullspan.model import Fitted
from fullspan.model.algebra.blas import one_core
from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.effects.interaction import Interaction, strongest_first
from fullspan.model.effects.named_effects import named
from fullspan.model.effects.sum_to_zero import Components, Expect

REFITTED = 24
"""Terms, and interactions, that are refitted however large the table is: more than are printed by default."""
_WORK = 1 << 23
"""States times refits beyond these."""


def explained(fitted: Fitted, data: Empirical | None) -> Fitted:
    """The model with its interactions, and with nats saved by refits where that is possible.

    Parameters
    ----------
    data : the rows it was learned from, if at hand.
    """
    if fitted.interactions is not None:
        return fitted
    fitted = dataclasses.replace(fitted, shares=() if data is None else _shares(data))
    with one_core():
        return _Explanation(fitted, data).run()


def _shares(data: Empirical) -> tuple[tuple[float, ...], ...]:
    """Share of each level among the rows in which the variable is known."""
    return tuple(tuple((c / max(float(c.sum()), 1e-300)).tolist()) for c in data.level_counts())


@dataclass
class _Part:
    """A term or an interaction: the weights that stay without it, and the nats that this costs."""

    kept: Kept
    nats: float
    approximate: bool = True
    heirs: Heirs = ()


class _Explanation:
    def __init__(self, fitted: Fitted, data: Empirical | None) -> None:
        self.fitted, self.model, self.data = fitted, fitted.model, data
        self.components = Components(self.model.basis, self.model.terms)
        self.objective = None if data is None else objective_of(fitted, data, self.components.extra)

    def run(self) -> Fitted:
        sets = self.components.interactions
        if self.objective is not None and self.fitted.prior is not None:  # a search stops short of its optimum
            self.objective.settle()
        every = np.arange(len(self.model.terms))
        terms = [_Part(np.delete(every, k), float(nats)) for k, nats in enumerate(self.fitted.nats_saved)]
        groups = [self._group(own, terms) for own in sets]
        if self.objective is not None:
            self._refit(groups)
            self._refit(terms)
        self._drop_from_average(groups, sets)
        most = self._most()
        for part in groups:
            part.nats = min(part.nats, most) if part.approximate else part.nats
        found = [
            dataclasses.replace(
                one, nats_saved=part.nats, approximate=part.approximate, has_part=own in self.components.parts
            )
            for one, own, part in zip(self._effects(sets), sets, groups, strict=True)
        ]
        return dataclasses.replace(
            self.fitted,
            nats_saved=np.array([part.nats for part in terms]),
            approximate=np.array([part.approximate for part in terms], dtype=bool),
            interactions=tuple(strongest_first(found)),
            coefficient_errors=self._coefficient_errors(),
        )

    def _most(self) -> float:
        """Nats that no interaction of an average can exceed: what the rows lose if all columns are independent.

        The mean over members takes each on its own bootstrap sample, where an interaction can look stronger.
        """
        if self.model.is_single or self.data is None or not self.data.is_complete:
            return math.inf
        independent = sum(share * math.log(share) for shares in _shares(self.data) for share in shares if share > 0)
        found = -self.data.total * (self.fitted.divergence + self.fitted.entropy + independent)
        return max(found, 0.0) if math.isfinite(found) else math.inf

    # -- nats -------------------------------------------------------------------------------------------------

    def _group(self, own: tuple[int, ...], terms: list[_Part]) -> _Part:
        """The part that an interaction is: its term, where it has only one and nothing else changes without it."""
        inherit = self.objective is not None and self.objective.has_prior
        group, (kept, heirs) = self.components.exactly(own), self.components.without(own, inherit)
        if own not in self.components.parts:
            return _Part(kept, 0.0, approximate=False)
        if self.objective is None:
            nats = float(np.sum([terms[k].nats for k in group])) if group else math.nan
            return terms[group[0]] if len(group) == 1 else _Part(kept, nats)
        if kept.ndim == 2 and len(kept) != len(self.objective.theta):  # an objective without the extra terms
            kept, heirs = np.setdiff1d(np.arange(len(self.model.terms)), group), ()
        if len(group) == 1 and kept.ndim == 1:
            return terms[group[0]]
        return _Part(kept, self.objective.quadratic(kept, heirs), heirs=heirs)

    def _refit(self, parts: list[_Part]) -> None:
        """Refit without each part, or on a large table without the strongest ones."""
        assert self.objective is not None
        work = self.objective.work
        for _ in range(min(len(parts), max(REFITTED, _WORK // work))):
            waiting = [part for part in parts if part.approximate]
            if not waiting:
                return
            part = max(waiting, key=lambda one: one.nats if one.nats == one.nats else math.inf)
            part.nats, part.approximate = self.objective.loss(part.kept, part.heirs), False

    def _drop_from_average(self, parts: list[_Part], sets: Sequence[tuple[int, ...]]) -> None:
        """Drop the strongest interactions of an average from all models in it, and the others from its first fit."""
        fitted, data = self.fitted, self.data
        if self.model.is_single or data is None:
            return
        model = cast(AveragedLogLinear, self.model)
        strongest = sorted(range(len(parts)), key=lambda k: -parts[k].nats)
        for own, nats in first_losses(fitted, data, [sets[k] for k in strongest]).items():
            parts[sets.index(own)].nats = nats
        strongest = sorted(strongest, key=lambda k: -parts[k].nats)[: affordable(fitted, model)]
        found = losses(fitted, model, data, [sets[k] for k in strongest]) if strongest else None
        for k, nats in zip(strongest, () if found is None else found, strict=False):
            parts[k].nats, parts[k].approximate = float(nats), False

    # -- effects ----------------------------------------------------------------------------------------------

    def _effects(self, sets: Sequence[tuple[int, ...]]) -> list[Interaction]:
        model = self.model
        if not model.is_single:
            return named_average(cast(AveragedLogLinear, model), self.components, sets)
        return named(
            *(model.space, self.components, model.theta, sets, self._expect()),
            *(self._covariance(), self.fitted.standard_errors, self.fitted.diverging),
        )

    def _covariance(self) -> Array | None:
        return None if self.objective is None else covariance_of(self.objective)

    def _coefficient_errors(self) -> Array | None:
        """Of the coefficients in the sum-to-zero coding."""
        if self.objective is None or self.model.listed_states is not None:
            return None
        found = coded(self.fitted, self._covariance(), "sum")
        return None if found is None else found.errors

    def _expect(self) -> Expect:
        if self.objective is not None and isinstance(self.objective.free, Free):
            self.objective.free.move(self.objective.theta)
            table, index = self.objective.free.table, self.model.basis.index
            return lambda terms: table.eta_at(np.array([index(term) for term in terms], dtype=np.int64))
        return expectations(self.model)


def covariance_of(objective: Dropping) -> Array:
    """Covariance of the weights (k, k); NaN where the data do not determine one."""
    used = objective.theta != 0 if objective.l1 else np.ones(len(objective.theta), dtype=bool)
    whole = inverse_information(objective.information * objective.total, used)
    return whole[: objective.n_own, : objective.n_own]
