"""Annealed importance sampling: log Z with an interval (Neal 2001; Salakhutdinov & Murray 2008).

Chains start from independent draws at beta = 0 and walk along ``f_beta`` to beta = 1, a sweep at each step. With
``u = log f - log f_0``, a chain's weight ``log w = sum_k (beta_{k+1} - beta_k) u(x_k)`` has ``<w> = Z / Z_0`` exactly,
whatever the steps: they only decide how much the weights differ. Many chains with few steps are safer than few chains
with many: an important valley that hardly any chain finds is missed by the average, and by its error too.

Therefore no run is believed alone. Another one with twice the steps follows, until two runs agree within twice their
errors and the last one has a small error, or the limit is reached. Half the distance between the last two runs counts
as a further error, beside the one that the weights of the last run show.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.sampling.blocks import Blocks
from fullspan.engine.sampling.chains import Chains
from fullspan.engine.sampling.estimate import Estimate
from fullspan.engine.sampling.pairwise import Pairwise
from fullspan.engine.sampling.streams import streams
from fullspan.engine.sampling.target import Array, Base, Target
from fullspan.errors import FullspanError
from fullspan.model.estimate import log_mean

STEPS, MAX_STEPS, CHAINS = 1_600, 25_600, 1_000
_ERROR = 0.1
"""Error of log Z up to which the steps are not doubled: beyond, it is not well known itself."""
_PILOT = 50
"""Sweeps of the walk that finds the independent variables to start from."""
_KEPT = 10
"""States of each chain of that walk that are counted."""


@dataclass(frozen=True)
class Annealed:
    """What annealing found.

    Attributes
    ----------
    log_weights : (chains,), each of them ``exp`` an unbiased estimate of Z.
    states : (chains, n) where the chains ended; with the weights, draws of the model.
    steps : temperatures of this run.
    before : what the run before, with half the steps, has found.
    """

    log_weights: Array
    states: NDArray[Any]
    steps: int
    before: Annealed | None = None

    @property
    def effective(self) -> float:
        """Number of equal weights that would say as much, ``(sum w)^2 / sum w^2``."""
        return log_mean(self.log_weights).effective

    @property
    def alone(self) -> Estimate:
        """``log mean w`` of this run; the error is that of the mean relative to it, by the delta method."""
        found = log_mean(self.log_weights)
        return Estimate(found.value, found.standard_error, freedom=len(self.log_weights) - 1)

    @property
    def apart(self) -> float:
        """Distance from the run before; 0 if there was none."""
        return 0.0 if self.before is None else abs(self.alone.value - self.before.alone.value)

    @property
    def log_z(self) -> Estimate:
        """``log mean w``; half the distance from the run before is part of the error."""
        found = self.alone
        return replace(found, error=math.hypot(found.error, self.apart / 2))

    @property
    def settled(self) -> bool:
        """Whether the error is small, and this run and the one before agree within twice their errors."""
        if self.before is None:
            return False
        return self.log_z.error <= _ERROR and self.apart <= 2 * math.hypot(self.alone.error, self.before.alone.error)


def annealed(
    target: Target,
    rng: np.random.Generator,
    chains: int = CHAINS,
    steps: int | None = None,
    base: Base | None = None,
    max_steps: int = MAX_STEPS,
) -> Annealed:
    """Anneal from ``base`` to the target.

    Parameters
    ----------
    chains : weights to average; at least 2, or there is no error.
    steps : temperatures of a single run; by default there are several runs, of at most ``max_steps`` each.
    base : the independent variables to start from; by default the frequencies that a short walk meets.

    Cost: chains x steps x n visits, and as much again for the shorter runs before.

    Raises
    ------
    FullspanError : fewer than two chains, or no step.
    """
    if chains < 2 or (steps is not None and steps < 1):
        raise FullspanError(f"annealing with {chains} chains and {steps} steps; at least 2 and 1 are needed")
    base = pilot(target, rng, chains) if base is None else base
    if steps is not None:
        return _anneal(target, rng, chains, steps, base)
    number = min(STEPS, max_steps)
    found = _anneal(target, rng, chains, number, base)
    while not found.settled and 2 * number <= max_steps:
        number *= 2
        found = replace(_anneal(target, rng, chains, number, base), before=replace(found, before=None))
    return found


def _anneal(target: Target, rng: np.random.Generator, chains: int, steps: int, base: Base) -> Annealed:
    target = target.machine if isinstance(target, Blocks) else target
    states = base.sample(chains, rng)
    counters = streams(chains, rng)
    free = np.arange(len(target.cards), dtype=np.int64)
    ladder = np.linspace(0.0, 1.0, steps + 1)
    if isinstance(target, Pairwise):
        return Annealed(target.anneal(states, counters, ladder, base), states, steps)
    log_weights = np.zeros(chains)
    for low, high in itertools.pairwise(ladder):
        log_weights += (high - low) * (target.log_weight(states) - base.log_prob(states))
        if high < 1:
            target.sweep(states, counters, 1, free, np.full(chains, high), base)
    return Annealed(log_weights, states, steps)


def pilot(target: Target, rng: np.random.Generator, chains: int = CHAINS) -> Base:
    """Frequencies of the levels on a short walk, half way back to even ones: any base is right, this one is near."""
    walk = Chains(target, chains, rng)
    walk.sweep(_PILOT)
    states = walk.draw(_KEPT)
    base = Base.of_states(target.cards, states.reshape(-1, states.shape[2]))
    even = np.repeat(1.0 / target.cards, target.cards)
    return Base(target.cards, np.log(0.9 * np.exp(base.log_levels) + 0.1 * even))
