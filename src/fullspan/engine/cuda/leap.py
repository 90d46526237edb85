"""Many steps of the published search in one launch.

On small tables a step takes a few microseconds and asking the host what to do next takes a hundred. Here the device
decides: the terms in use travel there, the kernel appends, adjusts and removes as the search would, two moves in a pass
where it can, and what it did travels back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.cuda.device import struct

_MOVES = ("append", "adjust", "remove")
_STOPS = ("", "converged", "edge", "no room", "")
_CONTROL, _DECISION, _BARRIER, _BAR, _LOG = 0, 5, 11, 12, 13
"""Words after the terms: five of control, both moves, the barrier, the bar, and then the log of the steps."""
_REPORTED_SHARE = 0.5
"""Candidates that gain this share of the best are reported too: one of them may be the best after the next move."""


@dataclass(frozen=True)
class Taken:
    """One step that was taken on the device."""

    move: str
    index: int
    delta: float
    gain: float
    d: float
    """Expectation in the data, of an appended term."""


@dataclass(frozen=True)
class Leap:
    """Steps taken in one launch, why there are no more, and how much log Z has grown.

    ``passes`` went over the table, each for one step or two; ``undone`` of them took a move back.
    """

    taken: list[Taken]
    why: str
    growth: float
    passes: int
    undone: int


class Leaps:
    """Buffers for the terms in use and for the log of what was done."""

    def __init__(self, cp: Any, room: int, most: int, blocks: int) -> None:
        self.cp, self.room, self.most, self.blocks = cp, room, most, blocks
        self._words = cp.zeros(4 * room + _LOG + 6 * most, np.int64)
        self._missed = cp.zeros(2 * blocks, np.int64)
        self._host = np.zeros(self._words.size, np.int64)

    def load(self, y: NDArray[np.int64], theta: NDArray[Any], price: NDArray[Any], d: NDArray[Any]) -> None:
        """Bring the terms in use to the device."""
        room, n, reals = self.room, len(y), self._host.view(np.float64)
        self._host[:n] = y
        for i, values in enumerate((theta, price, d), start=1):
            reals[i * room : i * room + n] = values
        self._host[4 * room : 4 * room + _LOG] = 0
        self._host[4 * room] = n
        self._words[: 4 * room + _LOG].set(self._host[: 4 * room + _LOG])

    def argument(self, epsilon: float, steps: int) -> NDArray[np.void]:
        """The struct ``Search`` of the kernels."""
        room, words = self.room, self._words[4 * self.room :]
        terms = [self._words[i * room :] for i in range(4)]
        parts = [words[start:] for start in (_LOG, _CONTROL, _DECISION, _BARRIER)]
        missed = self._missed, self._missed[self.blocks :], words[_BAR:]
        return struct(*terms, *parts, *missed, epsilon, _REPORTED_SHARE, steps, room)

    def done(self) -> Leap:
        """What was done; waits for the device."""
        words = self._words[4 * self.room :].get()
        _, steps, why, passes, undone = words[:_DECISION].tolist()
        log = words[_LOG:].view(np.float64)[: 6 * steps].reshape(steps, 6)
        taken = [Taken(_MOVES[int(kind)], int(y), delta, gain, d) for kind, y, delta, gain, _, d in log.tolist()]
        return Leap(taken, _STOPS[why], float(log[:, 4].sum()), passes, undone)
