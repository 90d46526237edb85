"""Annealed importance sampling: log Z with an interval (Neal 2001; Salakhutdinov & Murray 2008).

Chains start from independent draws at beta = 0 and walk along ``f_beta`` to beta = 1, a sweep at each step. With
``u = log f - log f_0``, a chain's weight ``log w = sum_k (beta_{k+1} - beta_k) u(x_k)`` has ``<w> = Z / Z_0`` exactly,
whatever the steps: they only decide how much the weights differ. Many chains with few steps are safer than few chains
with many: an important valley that hardly any chain finds is missed by the average, and by its error too.
Therefore several runs are made (:mod:`fullspan.engine.sampling.runs`).
"""

from __future__ import annotations

import itertools

import numpy as np

from fullspan.arrays import Array
from fullspan.engine.sampling.blocks import Blocks
from fullspan.engine.sampling.chains import Chains
from fullspan.engine.sampling.pairwise import Pairwise
from fullspan.engine.sampling.runs import MAX_STEPS, Annealed, annealed_runs
from fullspan.engine.sampling.streams import streams
from fullspan.engine.sampling.target import Base, Target

CHAINS = 1_000
_PILOT = 50
"""Sweeps of the walk that finds the independent variables to start from."""
_KEPT = 10
"""States of each chain of that walk that are counted."""


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
        return _log_weights(target, rng, chains, number, start)

    return annealed_runs(run, chains, steps, max_steps)


def _log_weights(target: Target, rng: np.random.Generator, chains: int, steps: int, base: Base) -> Array:
    """(chains,) log weights of chains that climb evenly spaced temperatures."""
    target = target.machine if isinstance(target, Blocks) else target
    states = base.sample(chains, rng)
    counters = streams(chains, rng)
    free = np.arange(len(target.cards), dtype=np.int64)
    ladder = np.linspace(0.0, 1.0, steps + 1)
    if isinstance(target, Pairwise):
        return target.anneal(states, counters, ladder, base)
    log_weights = np.zeros(chains)
    for low, high in itertools.pairwise(ladder):
        log_weights += (high - low) * (target.log_weight(states) - base.log_prob(states))
        if high < 1:
            target.sweep(states, counters, 1, free, np.full(chains, high), base)
    return log_weights


def pilot(target: Target, rng: np.random.Generator, chains: int = CHAINS) -> Base:
    """Frequencies of the levels on a short walk, and a tenth of even ones: any base is right, this one is near."""
    walk = Chains(target, chains, rng)
    walk.sweep(_PILOT)
    states = walk.draw(_KEPT)
    base = Base.of_states(target.cards, states.reshape(-1, states.shape[2]))
    even = np.repeat(1.0 / target.cards, target.cards)
    return Base(target.cards, np.log(0.9 * np.exp(base.log_levels) + 0.1 * even))
