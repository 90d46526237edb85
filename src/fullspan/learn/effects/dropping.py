"""What the data lose when part of a model is dropped and all else refitted, under the same prior.

    loss = N [ s(theta') - s(theta) ],    s = log Z - (mean log Z of the rows),
    theta' = argmin of the penalised objective over the weights that are left

The weights that are left are some coordinates of theta, or ``theta = base @ z``. Newton's method starts from where the
optimum would be if the objective were quadratic, so that one or two rebuilds of the table are enough for most terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fullspan.arrays import Array
from fullspan.learn.base.phase import Kept, Phase, Restricted, expanded, restricted
from fullspan.learn.base.progress import Interrupted
from fullspan.learn.likelihood.solve import Likelihood, solve

_STEPS = 60
Heirs = Sequence[int]


class Penalised:
    """The free phase with a normal prior in it, which is not diagonal in weights that are no coordinates."""

    is_linear = False

    def __init__(self, free: Phase, l2: Array, centre: Array) -> None:
        self.free, self.l2, self.centre = free, l2, centre
        self._theta = np.zeros(len(l2))

    def move(self, theta: Array) -> float:
        self._theta = theta
        return self.free.move(theta) + 0.5 * float(np.sum(self.l2 * (theta - self.centre) ** 2))

    def eta(self) -> Array:
        return np.asarray(self.free.eta() + self.l2 * (self._theta - self.centre))

    def covariance(self) -> Array:
        return np.asarray(self.free.covariance() + np.diag(self.l2))


@dataclass
class Dropping:
    """A fitted model, ready to lose parts of itself.

    Parameters
    ----------
    free, data : the phases of the penalised objective, pseudo-rows in the data's.
    rows : the phase of the rows alone, whose likelihood is meant.
    theta : (k,) the fitted weights.
    n_own : how many of them, the first ones, are the model's; the others are 0 there, and free when a part is dropped.
    total : number of rows.
    l2, centre, l1 : the penalty, per row, as in :class:`Likelihood`.
    size : numbers that an evaluation passes over where there is no table.
    has_prior : whether the penalty is a prior that was fitted to the weights, which their remains inherit.
    tolerance : share of a loss below which the gain of a Newton step ends a refit.
    """

    free: Phase
    data: Phase
    rows: Phase
    theta: Array
    total: float
    l2: Array
    centre: Array
    l1: float = 0.0
    tolerance: float = 2e-3
    n_own: int | None = None
    size: int = 1
    has_prior: bool = False

    @property
    def work(self) -> int:
        """Numbers that one evaluation passes over."""
        table = getattr(self.free, "table", None)
        return self.size if table is None else int(table.basis.n_states)

    def settle(self) -> None:
        """Move the model's own weights to the optimum; a search stops within rounding of a small part of a nat."""
        kept = np.arange(len(self.theta) if self.n_own is None else self.n_own)
        # Losses are differences of two optima: what the fit has left over would count as a gain of dropping.
        found = solve(self._restricted(kept), self.theta[kept], "newton", 1e-10, _STEPS)
        self.theta = expanded(found.theta, np.zeros(len(self.theta)), kept)

    @cached_property
    def surprise(self) -> float:
        """Mean negative log-likelihood of the rows under the fitted model."""
        return self.free.move(self.theta) - self.rows.move(self.theta)

    @cached_property
    def hessian(self) -> Array:
        """Of the penalised objective at the fitted weights, per row."""
        likelihood = Likelihood(self.free, self.data, self.l2, self.l1, self.centre)
        likelihood.move(self.theta)
        return likelihood.hessian()

    @cached_property
    def information(self) -> Array:
        """Of all weights, per row: what the rows and the prior say of them, missing cells as they are."""
        self.free.move(self.theta)
        self.data.move(self.theta)
        return np.asarray(self.free.covariance() - self.data.covariance() + np.diag(self.l2))

    def quadratic(self, kept: Kept, heirs: Heirs = ()) -> float:
        """The loss to second order at the fitted weights."""
        moved = self.theta - expanded(self._start(kept, heirs), np.zeros(len(self.theta)), kept)
        return 0.5 * self.total * float(moved @ self.hessian @ moved)

    def loss(self, kept: Kept, heirs: Heirs = ()) -> float:
        """Nats over all rows that are lost.

        Raises
        ------
        KeyboardInterrupt : Ctrl-C, before the refit has settled.
        """
        surprise = self.surprise
        return self.total * (self._surprise_of(self.refitted(kept, heirs)) - surprise)

    def refitted(self, kept: Kept, heirs: Heirs = ()) -> Array:
        """(k,) the weights without a part, all others refitted.

        Parameters
        ----------
        heirs : the weights whose prior the last columns of ``kept`` have.

        Raises
        ------
        KeyboardInterrupt : Ctrl-C, before the refit has settled.
        """
        surprise = self.surprise
        likelihood = self._restricted(kept, heirs)
        start = self._start(kept, heirs)
        before, settled = likelihood.move(start), False

        def watch(z: Array, value: float, violation: float) -> None:
            nonlocal before, settled
            gain, before = before - value, value
            # Relative to the loss so far, or to one nat over all rows where nothing is lost.
            if gain < self.tolerance * max(self._surprise_at(z, kept) - surprise, 1.0 / self.total):
                settled = True
                raise Interrupted

        solution = solve(likelihood, start, "newton", 1e-10, _STEPS, watch)
        if solution.status == "interrupted" and not settled:
            raise KeyboardInterrupt
        return expanded(solution.theta, np.zeros(len(self.theta)), kept)

    def _surprise_at(self, z: Array, kept: Kept) -> float:
        return self._surprise_of(expanded(z, np.zeros(len(self.theta)), kept))

    def _surprise_of(self, theta: Array) -> float:
        return self.free.move(theta) - self.rows.move(theta)

    def _restricted(self, kept: Kept, heirs: Heirs = ()) -> Likelihood:
        others = np.zeros(len(self.theta))
        is_part = kept.ndim == 1
        free = Restricted(self.free if is_part else Penalised(self.free, self.l2, self.centre), others, kept)
        data = Restricted(self.data, others, kept)
        if is_part:
            return Likelihood(free, data, self.l2[kept], self.l1, self.centre[kept])
        return Likelihood(free, data, *self._inherited(kept, heirs))

    def _inherited(self, kept: Kept, heirs: Heirs) -> tuple[Array, float, Array]:
        """The penalties of coordinates that are no weights: l2, l1 and centre."""
        l2, centre = np.zeros(kept.shape[1]), np.zeros(kept.shape[1])
        last = slice(kept.shape[1] - len(heirs), None)
        l2[last], centre[last] = self.l2[list(heirs)], self.centre[list(heirs)]
        return l2, self.l1, centre

    def _start(self, kept: Kept, heirs: Heirs) -> Array:
        """The optimum of the quadratic model on the weights that are left."""
        if self.l1:
            # An L1 penalty has no quadratic model at 0; the fitted weights are near enough.
            return np.asarray(self.theta[kept] if kept.ndim == 1 else np.linalg.lstsq(kept, self.theta, rcond=None)[0])
        pull = self.hessian @ self.theta
        right = pull[kept] if kept.ndim == 1 else kept.T @ pull
        quadratic = restricted(self.hessian, kept)
        if heirs:
            l2, _, centre = self._inherited(kept, heirs)
            quadratic, right = quadratic + np.diag(l2), right + l2 * centre
        # Least squares, since weights of which the data say nothing make the matrix singular.
        return np.asarray(np.linalg.lstsq(quadratic, right, rcond=1e-10)[0])
