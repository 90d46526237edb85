"""Annealed importance sampling: log Z with an interval (Neal 2001; Salakhutdinov & Murray 2008).

Chains start from independent draws at beta = 0, where log Z is known, and follow a path of distributions ``f_beta`` to
the target at beta = 1, a sweep at each step. A chain's weight

    log w = log Z_0 + sum_k ( log f_{beta_{k+1}}(x_k) - log f_{beta_k}(x_k) )

has ``<w> = Z`` exactly, whatever the steps: they only decide how much the weights differ. Many chains with few steps
are safer than few chains with many: an important valley that hardly any chain finds is missed by the average, and by
its error too.

Therefore no run is believed alone. A run of half the steps goes before; half the distance between the two counts as a
further error, next to the one that the weights of the last run show. If no number of steps is given, runs of twice the
steps follow, until two agree within twice their errors and the last one has a small error, or the limit is reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.engine.sampling.blocks import Blocks
from fullspan.engine.sampling.chains import Chains
from fullspan.engine.sampling.pairwise import Pairwise
from fullspan.engine.sampling.streams import Streams, streams
from fullspan.engine.sampling.target import Base, Target
from fullspan.errors import require_whole
from fullspan.model.estimate import Estimate, log_mean

CHAINS = 1_000
STEPS, MAX_STEPS = 1_600, 25_600
"""Steps of the first run if none are given, and of the longest."""
_SMALL_ERROR = 0.1
"""Error of log Z up to which the steps are not doubled: beyond, it is not well known itself."""
_PILOT_SWEEPS, _PILOT_DRAWS = 50, 10
"""Sweeps of the walk that finds the independent variables to start from, and states of each chain that are counted."""
_UNIFORM_SHARE = 0.1
"""Share of the uniform distribution in that base: no level that the walk has missed may have probability 0."""


class Path(Protocol):
    """Unnormalised distributions ``f_beta``, from one whose log Z is known (beta = 0) to the target (beta = 1)."""

    @property
    def log_z_0(self) -> float:
        """log Z at beta = 0."""

    def start(self, chains: int) -> Any:
        """Independent states of chains at beta = 0."""

    def log_ratio(self, states: Any, low: float, high: float) -> Array:
        """(chains,) ``log f_high(x) - log f_low(x)``."""

    def sweep(self, states: Any, beta: float) -> None:
        """Move every chain, in place. Law: f_beta stays as it is."""


def log_weights(path: Path, chains: int, steps: int) -> Array:
    """(chains,) log weights of chains along evenly spaced betas; the mean of ``exp`` is an unbiased estimate of Z.

    Cost: chains x steps sweeps and log ratios. The sweep at beta = 1 leaves the chains as draws of the target.
    """
    states, total = path.start(chains), np.zeros(chains)
    for low, high in pairwise(np.linspace(0.0, 1.0, steps + 1).tolist()):
        # Before the sweep: the weight is that of the step from one distribution to the next at the point where the
        # chain is.
        total += path.log_ratio(states, low, high)
        path.sweep(states, high)
    return path.log_z_0 + total


# -- runs -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Annealed:
    """What annealing found.

    Attributes
    ----------
    log_weights : (chains,), each of them ``exp`` an unbiased estimate of Z.
    steps : temperatures of this run.
    before : what the run before, with half the steps, has found; None if this is the first.
    """

    log_weights: Array
    steps: int
    before: Annealed | None = None

    @property
    def alone(self) -> Estimate:
        """``log mean w`` of this run; the error is that of the mean relative to it, by the delta method."""
        return log_mean(self.log_weights)

    @property
    def apart(self) -> float:
        """Distance from the run before; 0 if there was none."""
        return 0.0 if self.before is None else abs(self.alone.value - self.before.alone.value)

    @property
    def log_z(self) -> Estimate:
        """``log mean w``; half the distance from the run before is part of the error."""
        found = self.alone
        return replace(found, standard_error=math.hypot(found.standard_error, self.apart / 2))

    @property
    def settled(self) -> bool:
        """Whether the error is small, and this run and the one before agree within twice their errors."""
        if self.before is None:
            return False
        near = 2 * math.hypot(self.alone.error, self.before.alone.error)
        return self.log_z.error <= _SMALL_ERROR and self.apart <= near


def annealed_runs(
    run: Callable[[int], Array], chains: int, steps: int | None = None, max_steps: int = MAX_STEPS
) -> Annealed:
    """Runs of annealing, the last of ``steps`` steps or, if none are given, of as many as are needed.

    Parameters
    ----------
    run : the log weights (chains,) that a run of n steps ends with.

    Raises
    ------
    FullspanError : no whole numbers, fewer than two chains, which show no error, or no step.
    """
    require_whole(2, chains=chains)
    require_whole(1, max_steps=max_steps, steps=1 if steps is None else steps)

    def go(number: int, before: Annealed | None) -> Annealed:
        return Annealed(run(number), number, None if before is None else replace(before, before=None))

    if steps is not None:
        # The run before is what the error is judged by, even where the caller has chosen the steps.
        return go(steps, go((steps + 1) // 2, None))
    number = min(STEPS, (max_steps + 1) // 2)
    found = go(number, None)
    while found.before is None or (not found.settled and 2 * number <= max_steps):
        number = min(2 * number, max_steps)
        found = go(number, found)
    return found


# -- targets of Gibbs chains ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TargetPath:
    """``f_beta = f_0^(1 - beta) f^beta`` of a target, f_0 being independent variables with log Z = 0."""

    target: Target
    base: Base
    rng: np.random.Generator

    log_z_0 = 0.0

    def start(self, chains: int) -> tuple[NDArray[Any], Streams]:
        return self.base.sample(chains, self.rng), streams(chains, self.rng)

    def log_ratio(self, states: tuple[NDArray[Any], Streams], low: float, high: float) -> Array:
        codes, _ = states
        return (high - low) * (self.target.log_weight(codes) - self.base.log_prob(codes))

    def sweep(self, states: tuple[NDArray[Any], Streams], beta: float) -> None:
        codes, counters = states
        free = np.arange(len(self.target.cards), dtype=np.int64)
        self.target.sweep(codes, counters, 1, free, np.full(len(codes), beta), self.base)


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
    steps : temperatures of the last run; by default as many as are needed, but at most ``max_steps``.
    base : the independent variables to start from; by default the frequencies that a short walk meets.

    Cost: chains x steps x n visits, and as much again for the shorter runs before.

    Raises
    ------
    FullspanError : fewer than two chains, or no step.
    """
    start: Base | None = base

    def run(number: int) -> Array:
        nonlocal start
        start = pilot(target, rng, chains) if start is None else start
        # One chain after the other in lanes is faster here than block by block: fields are kept between steps.
        path = TargetPath(target.machine if isinstance(target, Blocks) else target, start, rng)
        return _compiled_log_weights(path, chains, number)

    return annealed_runs(run, chains, steps, max_steps)


def _compiled_log_weights(path: TargetPath, chains: int, steps: int) -> Array:
    """:func:`log_weights`, by its compiled twin where the target has one: the same streams, states and weights."""
    if not isinstance(path.target, Pairwise):
        return log_weights(path, chains, steps)
    states, counters = path.start(chains)
    return path.target.annealed_log_weights(states, counters, np.linspace(0.0, 1.0, steps + 1), path.base)


def pilot(target: Target, rng: np.random.Generator, chains: int = CHAINS) -> Base:
    """Frequencies of the levels on a short walk, and a tenth of even ones: any base is right, this one is near."""
    walk = Chains(target, chains, rng)
    walk.sweep(_PILOT_SWEEPS)
    states = walk.draw(_PILOT_DRAWS)
    base = Base.of_states(target.cards, states.reshape(-1, states.shape[2]))
    uniform = np.repeat(1.0 / target.cards, target.cards)
    # A base that excluded a level would give all states with it an infinite weight, which no chain would ever meet.
    return Base(target.cards, np.log((1 - _UNIFORM_SHARE) * np.exp(base.log_levels) + _UNIFORM_SHARE * uniform))
