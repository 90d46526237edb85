"""Stochastic ascent of the likelihood: the model's expectations come from Gibbs chains (Tieleman 2008; Hinton 2002).

    theta <- theta + rate ( <Phi>_data - <Phi>_chains - l2 theta )

``"pcd"``: the chains go on from update to update, and follow the model. ``"cd"``: they start at rows of the data every
time and are swept k times; cheap, and biased towards what the data look like. Weights of a run with a constant rate
never settle; their mean over the second half of the updates has much less of that noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.engine.sampling.blocks import Blocks
from fullspan.engine.sampling.chains import Chains
from fullspan.engine.sampling.choose import MAX_UNITS, layered
from fullspan.engine.sampling.pairwise import PairTerms, Pairwise
from fullspan.engine.sampling.target import Base, Target
from fullspan.engine.sampling.term_tables import TermTables
from fullspan.learn.base.progress import STOPPED
from fullspan.learn.contrastive.pseudo import PseudoLikelihood
from fullspan.model.algebra.basis import Basis, Term


def form_of(space: Space, basis: Basis, terms: Sequence[Term]) -> PairTerms | TermTables:
    """The linear family of targets ``log f(x) = theta . Phi(x)``, in the form that is sampled fastest.

    Biases and couplings where all variables are binary and no term has more than two; else factor tables. Both have
    the ``target`` to sample at theta, and ``moments``, the mean of every term over states.
    """
    pairs = PairTerms.of(basis, terms) if len(space) <= MAX_UNITS else None
    return TermTables.of(space, basis, terms) if pairs is None else pairs


class Walk:
    """Targets of one form at changing weights; how to sweep them is decided once, by which weights there are."""

    def __init__(self, form: PairTerms | TermTables) -> None:
        self.form = form
        first = form.target(np.ones(form.size))
        self._blocks = layered(first) if isinstance(first, Pairwise) else None

    def at(self, theta: Array) -> Target:
        """The target at theta."""
        target = self.form.target(theta)
        if isinstance(self._blocks, Blocks) and isinstance(target, Pairwise):
            return self._blocks.moved(target)
        return target


CHECKS = 50
"""How often in a run it is looked whether it still makes sense."""
SETTLED_DIFFERENCE = 0.01
"""Mean difference of an expectation over the second half of the updates, up to which a run counts as converged."""
_LARGEST_WEIGHT = 1e6
"""Weights, in nats, from which none makes sense."""
_DIVERGED_FACTOR = 1.05
"""Factor on the pseudo-likelihood of the start, above which a run has diverged."""


@dataclass(frozen=True)
class Ascent:
    """How to ascend.

    Attributes
    ----------
    rate : step of the weights per unit of difference in expectations.
    updates : how many.
    chains, sweeps : walks, and sweeps of each between two updates.
    restart : put the chains on rows of the data before each update: contrastive divergence.
    average : return the mean of the weights over the second half.
    l1, l2 : penalties, in nats per row.
    """

    rate: float
    updates: int
    chains: int
    sweeps: int
    restart: bool
    average: bool
    l1: float = 0.0
    l2: float = 0.0


@dataclass(frozen=True)
class AscentResult:
    """Where a run ended: weights, updates made, largest mean difference left, and how it ended."""

    theta: Array
    updates: int
    violation: float
    status: str


Watch = Callable[[int, Array], None]
"""Called with the number of updates and the weights at every check; may raise to stop."""


class AscentRun:
    """One run; :meth:`run` returns where it ended, whatever stopped it."""

    def __init__(
        self,
        walk: Walk,
        states: NDArray[Any],
        weights: Array,
        theta: Array,
        how: Ascent,
        rng: np.random.Generator,
        watch: Watch,
    ) -> None:
        self.walk, self.how, self.rng, self.watch = walk, how, rng, watch
        self.states, self.share = states, weights / weights.sum()
        self.d = walk.form.moments(states, weights)
        self.monitor = PseudoLikelihood(walk.form, *_some(states, weights, rng))
        self.theta = self.good = theta.copy()
        self.mean, self.n_mean, self.difference = np.zeros_like(theta), 0, np.zeros_like(theta)
        # The pseudo-likelihood is exact and quick, where the likelihood itself would take a run of annealing.
        self.limit = _DIVERGED_FACTOR * self.monitor.value(theta) + 1e-3
        target = walk.at(theta)
        start = Base.of_states(target.cards, states, weights).sample(how.chains, rng)
        self.chains = Chains(target, how.chains, rng, start)

    def run(self) -> AscentResult:
        how, status, done = self.how, "iteration limit", 0
        every = max(1, how.updates // CHECKS)
        try:
            for done in range(1, how.updates + 1):
                self._update(2 * done > how.updates)
                if not np.abs(self.theta).max(initial=0.0) < _LARGEST_WEIGHT or (
                    done % every == 0 and not self._sound(done)
                ):
                    return AscentResult(self.good, done, float("nan"), "diverged")
            if self.violation <= SETTLED_DIFFERENCE:
                status = "converged"
        except STOPPED:
            status = "interrupted"
        return AscentResult(self._result(), done, self.violation, status)

    def _update(self, late: bool) -> None:
        how = self.how
        self.chains.target = self.walk.at(self.theta)
        wanted = self.d
        if how.restart:
            rows = self.rng.choice(len(self.states), size=how.chains, p=self.share)
            self.chains.states[:] = self.states[rows]
            # The mean of the rows that the chains start from, not of all: their noise cancels in the difference.
            wanted = self.walk.form.moments(self.chains.states)
        self.chains.sweep(how.sweeps)
        difference = wanted - self.walk.form.moments(self.chains.states)
        with np.errstate(over="ignore", invalid="ignore"):
            theta = self.theta + how.rate * (difference - how.l2 * self.theta)
        if how.l1:
            # After the step on the smooth part: a weight within reach of 0 becomes exactly 0.
            theta = np.sign(theta) * np.maximum(np.abs(theta) - how.rate * how.l1, 0.0)
        self.theta = theta
        if late:
            self.n_mean += 1
            # A running mean: a sum of many weights would lose digits.
            self.mean += (theta - self.mean) / self.n_mean
            self.difference += (difference - how.l2 * theta - self.difference) / self.n_mean

    def _sound(self, done: int) -> bool:
        """Whether the weights still describe the rows about as well as those at the start; if so they are kept."""
        value = self.monitor.value(self.theta)
        if not (np.isfinite(value) and value <= self.limit):
            return False
        self.good = self.theta.copy()
        self.watch(done, self._result())
        return True

    def _result(self) -> Array:
        return self.mean.copy() if self.how.average and self.n_mean else self.theta

    @property
    def violation(self) -> float:
        """Largest mean difference between the expectations of the data and of the chains, in the second half."""
        return float(np.abs(self.difference).max(initial=0.0)) if self.n_mean else float("nan")


def _some(states: NDArray[Any], weights: Array, rng: np.random.Generator, most: int = 1000) -> tuple[Any, Array]:
    """All rows, or a random sample of them if they are many."""
    if len(states) <= most:
        return states, weights
    chosen = rng.choice(len(states), size=most, p=weights / weights.sum())
    return states[chosen], np.ones(most)
