"""Gibbs chains: many walks over the states of a model, whose states are draws once the walks have forgotten the start.

Laws: the model is what a sweep leaves as it is; the same generator gives the same draws on any number of cores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.memory import budget, require
from fullspan.engine.sampling.streams import streams
from fullspan.engine.sampling.target import Base, Target, code_type
from fullspan.errors import FullspanError, require_whole


class Chains:
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
        self.states: NDArray[Any] = np.array(start, dtype=kind, order="C")
        for i, code in (given or {}).items():
            if not (0 <= i < n and 0 <= code < target.cards[i]):
                raise FullspanError(f"variable {i} cannot be held at {code}: there is no such variable or level")
            self.states[:, i] = code
        self.free = np.array([i for i in range(n) if i not in (given or {})], dtype=np.int64)
        self.streams = streams(number, rng)
        self.beta = np.ones(number)

    def sweep(self, sweeps: int = 1) -> None:
        """Visit every free variable of every chain so often.

        Raises
        ------
        FullspanError : the number is negative, or not whole.
        """
        require_whole(0, sweeps=sweeps)
        self.target.sweep(self.states, self.streams, sweeps, self.free, self.beta)

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
