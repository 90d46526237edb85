"""What the data lose when an average loses an interaction: every model in it is refitted without.

    loss = sum_r n_r [ log sum_b w_b p_b(x_r) - log sum_b w_b p_b'(x_r) ]

p_b' is the b-th fit without the interaction, all else refitted to the rows of its own bootstrap sample under its own
prior; the sample is drawn again from its seed. Models next to the fits have no rows of their own here. They are
projected: p' = argmin KL(p || q) over the models q without the interaction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.engine.dual.table import DualTable
from fullspan.learn.base.counted import bootstrap
from fullspan.learn.base.phase import Known
from fullspan.learn.effects.dropping import Dropping
from fullspan.learn.effects.objectives import MOST_STATES, MOST_WEIGHTS, objective_of, tolerance
from fullspan.learn.likelihood.phases import Free, Observed
from fullspan.model import Fitted, LogLinear
from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.effects.sum_to_zero import Components

Set = tuple[int, ...]
MAX_INTERACTIONS = 24
"""Interactions whose loss is worked out: more than are printed by default."""
_WORK = 1 << 23
"""States times models times interactions."""
_ROUNDING = 1e-12
"""Nats per row that are none: a part of a model without weight in the average loses nothing."""


def affordable(fitted: Fitted, model: AveragedLogLinear) -> int:
    """How many interactions are dropped from an average: none where a part of it could not be refitted."""
    n_states, parts = model.basis.n_states, [part for _, part in model.parts]
    possible = (
        len(fitted.members) == len(model.members)
        and not model.others
        and not fitted.n_hidden
        and n_states <= MOST_STATES
    )
    if not possible or max(len(part.terms) for part in parts) > MOST_WEIGHTS:
        return 0
    return min(MAX_INTERACTIONS, _WORK // (n_states * len(parts)))


def losses(fitted: Fitted, model: AveragedLogLinear, data: Empirical, sets: Sequence[Set]) -> Array | None:
    """Nats that the rows lose without each set of variables; None if a part has no objective to refit.

    Raises
    ------
    KeyboardInterrupt : Ctrl-C.
    """
    log_prob = np.full((1 + len(sets), len(data.counts)), -np.inf)  # of the rows, first with everything
    for share, part in _parts(fitted, model, data):
        if part is None:
            return None
        for row, found in enumerate(part.log_probs(sets)):
            np.logaddexp(log_prob[row], math.log(share) + found, out=log_prob[row])
    found = (log_prob[0] - log_prob[1:]) @ data.counts
    return np.where(np.abs(found) < _ROUNDING * data.total, 0.0, found)


def first_losses(fitted: Fitted, data: Empirical, sets: Sequence[Set]) -> dict[Set, float]:
    """Nats that the first fit, of the rows themselves, loses without each set that it has: near those of the average.

    Empty where that fit is not at hand or has no objective.
    """
    first, seed = fitted.members[0] if fitted.members else (fitted, 0)
    if seed is not None or not first.model.terms or fitted.n_hidden:
        return {}
    components = Components(first.model.basis, first.model.terms)
    objective = objective_of(_as_chosen(first, fitted), data, components.extra)
    if objective is None:
        return {}
    own = [one for one in sets if one in components.parts][: max(MAX_INTERACTIONS, _WORK // objective.work)]
    if any(objective.l2):  # a search stops short of its optimum
        objective.settle()
    return {one: objective.loss(*components.without(one, objective.has_prior)) for one in own}


def _as_chosen(member: Fitted, fitted: Fitted) -> Fitted:
    """A fit of an average with the options that the average has among its settings."""
    known = {key: fitted.settings[key] for key in ("l1", "l2", "solver") if key in fitted.settings}
    return replace(member, settings={**known, **member.settings})


def _parts(fitted: Fitted, model: AveragedLogLinear, data: Empirical) -> Iterator[tuple[float, _Part | None]]:
    for (share, own), (member, seed) in zip(model.parts, fitted.members, strict=False):
        components = Components(own.basis, own.terms)
        sample = data if seed is None else bootstrap(data, np.random.default_rng(seed)).data
        fit = _as_chosen(member, fitted)
        objective = objective_of(fit, sample, components.extra) if own.terms else _projected(own, components)
        yield share, None if objective is None else _Part(own, components, objective, data)
    for share, own in model.background:
        components = Components(own.basis, own.terms)
        yield share, _Part(own, components, _projected(own, components), data)


def _projected(model: LogLinear, components: Components) -> Dropping:
    """A model whose data are its own expectations."""
    basis, k, more = model.basis, len(model.terms), np.zeros(len(components.extra))
    y = np.array([*model.indices, *map(basis.index, components.extra)], dtype=np.int64)
    free, theta = Free(DualTable(basis, np.float64), y), np.append(model.theta, more)
    free.move(theta)
    rows, none = Known(free.eta().copy()), np.zeros(len(y))
    return Dropping(free, rows, rows, theta, 1.0, none, none, 0.0, tolerance(basis.n_states), k)


@dataclass(frozen=True)
class _Part:
    """A model of the average, which can lose interactions."""

    model: LogLinear
    components: Components
    objective: Dropping
    data: Empirical

    def log_probs(self, sets: Sequence[Set]) -> Iterator[Array]:
        """``log p`` of the rows under the model, and under the model without each set."""
        objective, own = self.objective, self.components.parts
        if any(objective.l2):  # a search stops short of its optimum
            objective.settle()
        whole = self._log_prob(objective.theta)
        yield whole
        for one in sets:
            without = self.components.without(one, objective.has_prior)
            yield self._log_prob(objective.refitted(*without)) if one in own else whole

    def _log_prob(self, theta: Array) -> Array:
        log_z = self.objective.free.move(theta)
        return self._rows(theta) - log_z

    def _rows(self, theta: Array) -> Array:
        basis, terms = self.model.basis, (*self.model.terms, *self.components.extra)
        if self.data.is_complete:
            return np.asarray(LogLinear(self.model.space, basis, terms, theta, 0.0).log_prob(self.data.states))
        y = np.array([basis.index(term) for term in terms], dtype=np.int64)
        observed = Observed(basis, y, self.data.states, self.data.counts)
        observed.move(theta)
        return observed.log_z()
