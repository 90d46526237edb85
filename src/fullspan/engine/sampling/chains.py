"""Gibbs chains: many walks over the states of a model, whose states are draws once the walks have forgotten the start.

Laws: the model is what a sweep leaves as it is; the same generator gives the same draws on any number of cores.

Parallel tempering: for energies whose valleys a single chain does not leave.

Every chain has replicas at several beta between 0, where all variables are independent, and 1, the model. After each
sweep, neighbours in temperature exchange their states with probability

    min(1, exp( (beta' - beta) (u(x) - u(x')) )),      u = log f - log f_0

which leaves the joint distribution of all replicas as it is. Draws are the states at beta = 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.engine.memory import budget, require
from fullspan.engine.sampling.streams import streams
from fullspan.engine.sampling.target import Base, Target, code_type
from fullspan.errors import FullspanError, require_whole


class _Walks(ABC):
    """Chains of states that are drawn from as they walk."""

    @property
    @abstractmethod
    def states(self) -> NDArray[Any]:
        """Where the chains are, (number, n)."""

    @abstractmethod
    def sweep(self, sweeps: int = 1) -> None:
        """Walk on."""

    def draw(self, draws: int, thin: int = 1, warm_up: int = 0) -> NDArray[Any]:
        """States (draws, chains, n), ``thin`` sweeps apart, after ``warm_up`` sweeps that are not kept.

        Raises
        ------
        FullspanError : fewer than no draw, draws that are not at least a sweep apart, or no whole numbers.
        TooLargeError : the draws would not fit into memory.
        """
        require_whole(0, draws=draws, warm_up=warm_up)
        require_whole(1, thin=thin)
        require(
            self.states.nbytes * draws,
            budget(),
            f"{draws:,} draws of {len(self.states):,} chains",
            "take fewer draws, or thin them more",
        )
        out = np.empty((draws, *self.states.shape), dtype=self.states.dtype)
        self.sweep(warm_up)
        for k in range(draws):
            self.sweep(thin)
            out[k] = self.states
        return out


class Chains(_Walks):
    """Walks on a target.

    Parameters
    ----------
    target : what they walk on.
    number : how many.
    rng : where they start, and where their random numbers come from.
    start : states (number, n) to start from; independent uniform ones by default.
    given : variables that are held, ``{position: code}``.

    Raises
    ------
    FullspanError : no chain, a start of the wrong shape, or a position or code that is not there.
    """

    def __init__(
        self,
        target: Target,
        number: int,
        rng: np.random.Generator,
        start: NDArray[Any] | None = None,
        given: Mapping[int, int] | None = None,
    ) -> None:
        require_whole(1, chains=number)
        self.target, self.rng = target, rng
        n, kind = len(target.cards), code_type(target.cards)
        if start is None:
            start = Base.uniform(target.cards).sample(number, rng)
        if np.shape(start) != (number, n):
            raise FullspanError(f"{number} chains over {n} variables cannot start from the shape {np.shape(start)}")
        wrong = np.argwhere((np.asarray(start) < 0) | (np.asarray(start) >= target.cards))
        if len(wrong):
            c, i = map(int, wrong[0])
            raise FullspanError(
                f"chain {c} would start with the code {np.asarray(start)[c, i]} for variable {i}, which has codes 0 to "
                f"{target.cards[i] - 1}"
            )
        self._states: NDArray[Any] = np.array(start, dtype=kind, order="C")
        for i, code in (given or {}).items():
            if not (0 <= i < n and 0 <= code < target.cards[i]):
                raise FullspanError(f"variable {i} cannot be held at {code}: there is no such variable or level")
            self._states[:, i] = code
        self.free = np.array([i for i in range(n) if i not in (given or {})], dtype=np.int64)
        self.streams = streams(number, rng)
        self.beta = np.ones(number)

    @property
    def states(self) -> NDArray[Any]:
        return self._states

    def sweep(self, sweeps: int = 1) -> None:
        """Visit every free variable of every chain so often.

        Raises
        ------
        FullspanError : the number is negative, or not whole.
        """
        require_whole(0, sweeps=sweeps)
        self.target.sweep(self.states, self.streams, sweeps, self.free, self.beta)


class Tempered(_Walks):
    """Chains with replicas at several temperatures.

    Parameters
    ----------
    target : what they walk on.
    number : chains, each with a replica at each beta.
    betas : beta of the replicas, increasing from 0 to 1.
    base : the independent variables at beta = 0; uniform by default.

    Attributes
    ----------
    accepted : (steps - 1,) share of exchanges that went through, between neighbours in temperature.

    Raises
    ------
    FullspanError : no chain, or betas that do not rise from 0 to 1.
    """

    def __init__(
        self, target: Target, number: int, rng: np.random.Generator, betas: Array | int = 20, base: Base | None = None
    ) -> None:
        require_whole(1, chains=number)
        self.betas = np.linspace(0.0, 1.0, betas) if isinstance(betas, int) else np.asarray(betas, dtype=float)
        rising = self.betas.size >= 2 and (np.diff(self.betas) > 0).all()
        if not rising or self.betas[0] != 0 or self.betas[-1] != 1:
            raise FullspanError("tempering needs betas that rise from 0 to 1")
        self.target, self.number, self.rng = target, number, rng
        self.base = Base.uniform(target.cards) if base is None else base
        steps = len(self.betas)
        self._replicas = self.base.sample(steps * number, rng)
        self._streams = streams(steps * number, rng)
        self._beta = np.repeat(self.betas, number)
        self._free = np.arange(len(target.cards), dtype=np.int64)
        self._tried, self._done = 0, np.zeros(steps - 1)

    @property
    def states(self) -> NDArray[Any]:
        """The replicas at beta = 1, (number, n)."""
        return self._replicas[-self.number :]

    @property
    def accepted(self) -> Array:
        return self._done / max(self._tried * self.number, 1)

    def sweep(self, sweeps: int = 1) -> None:
        """Sweep all replicas and offer exchanges, so often."""
        require_whole(0, sweeps=sweeps)
        for _ in range(sweeps):
            self.target.sweep(self._replicas, self._streams, 1, self._free, self._beta, self.base)
            self._exchange()

    def _exchange(self) -> None:
        """Neighbours in temperature, even pairs first, then odd ones, chain by chain."""
        m, n = self.number, self._replicas.shape[1]
        replicas = self._replicas.reshape(len(self.betas), m, n)
        # Kept along with the states when they are exchanged: one evaluation serves both rounds.
        gap = (self.target.log_weight(self._replicas) - self.base.log_prob(self._replicas)).reshape(-1, m)
        # Pairs of one round have no replica in common, so that their exchanges do not depend on each other.
        for low in (*range(0, len(self.betas) - 1, 2), *range(1, len(self.betas) - 1, 2)):
            rise = (self.betas[low + 1] - self.betas[low]) * (gap[low] - gap[low + 1])
            swap = np.log(self.rng.random(m)) < rise
            for pair in (replicas, gap):
                held = pair[low, swap].copy()
                pair[low, swap] = pair[low + 1, swap]
                pair[low + 1, swap] = held
            self._done[low] += swap.sum()
        self._tried += 1
