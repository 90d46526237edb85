"""Block Gibbs: units that are not joined are drawn together, given all others, by one matrix product.

A colouring splits the units into classes without a coupling inside. Two layers make two classes, a deep machine two as
well, a grid two; a fully connected machine has as many classes as units, and is swept unit by unit instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.sampling.pairwise import Pairwise
from fullspan.engine.sampling.streams import Streams
from fullspan.engine.sampling.target import Base

_FIXED_LOG_ODDS = 60.0
"""Log odds beyond which a unit is as good as fixed: the chance is less than 1e-26."""
_SPARSE_SHARE = 0.1
"""Share of couplings in use below which products skip the others."""


def colouring(coupling: NDArray[Any]) -> Ints:
    """A colour for every unit, so that coupled units differ: each takes the first that its neighbours leave.

    Units are taken breadth first, component by component, so that a bipartite graph gets two colours.
    """
    near = coupling != 0
    colours = np.full(len(near), -1, dtype=np.int64)
    for root in range(len(near)):
        if colours[root] >= 0:
            continue
        waiting = [root]
        seen = {root}
        while waiting:
            following = []
            for i in waiting:
                taken = {int(k) for k in colours[near[i]]}
                colours[i] = next(k for k in range(len(near) + 1) if k not in taken)
                fresh = [int(j) for j in np.flatnonzero(near[i] & (colours < 0)) if int(j) not in seen]
                seen.update(fresh)
                following += fresh
            waiting = following
    return colours


@dataclass(frozen=True, eq=False)
class Blocks:
    """A machine of pairs, swept colour by colour; see :class:`Pairwise` for its log weight."""

    machine: Pairwise

    @property
    def cards(self) -> Ints:
        return self.machine.cards

    @cached_property
    def classes(self) -> tuple[Ints, ...]:
        """Units of each colour."""
        colours = colouring(self.machine.coupling)
        return tuple(np.flatnonzero(colours == k) for k in range(int(colours.max(initial=-1)) + 1))

    @cached_property
    def _into(self) -> tuple[Any, ...]:
        """Couplings into each class, (n, class), in single precision."""
        from scipy.sparse import csc_array

        rows = self.machine.rows[:, : len(self.machine.bias)]
        sparse = np.count_nonzero(rows) < _SPARSE_SHARE * rows.size
        return tuple(csc_array(rows[:, k]) if sparse else np.ascontiguousarray(rows[:, k]) for k in self.classes)

    def moved(self, machine: Pairwise) -> Blocks:
        """The same classes with other weights; a coupling that is 0 here must be 0 there."""
        other = Blocks(machine)
        other.__dict__["classes"] = self.classes
        return other

    def log_weight(self, states: NDArray[Any]) -> Array:
        return self.machine.log_weight(states)

    def sweep(
        self, states: NDArray[Any], streams: Streams, sweeps: int, free: Ints, beta: Array, base: Base | None = None
    ) -> None:
        n = len(self.machine.bias)
        pull = np.zeros(n) if base is None else base.log_levels[1::2] - base.log_levels[::2]
        # Seeded by all streams: the draws depend on the state of the chains' generators, and on nothing else.
        rng = np.random.default_rng(streams)
        open_units = np.zeros(n, dtype=bool)
        open_units[free] = True
        x = states.astype(np.float32)
        share = beta[:, None].astype(np.float32)
        for _ in range(sweeps):
            for k, into in zip(self.classes, self._into, strict=True):
                odds = share * (x @ into + self.machine.bias[k].astype(np.float32))
                odds += (1 - share) * pull[k].astype(np.float32)
                # u < 1 / (1 + exp(-odds)), without the division; clipped, exp cannot overflow in single precision.
                drawn = rng.random(odds.shape) * (1 + np.exp(-odds.clip(-_FIXED_LOG_ODDS, _FIXED_LOG_ODDS))) < 1
                chosen = open_units[k]
                x[:, k[chosen]] = drawn[:, chosen]
        states[:] = x.astype(states.dtype)
        # The next sweep starts from other numbers; one generator serves all chains here.
        streams[:] = rng.integers(0, 2**64, size=len(streams), dtype=np.uint64)
