"""Many steps of the published search in one launch.

On small tables a step takes a few microseconds and asking the host what to do next takes a hundred. Here the device
decides: the terms in use travel there, the kernel appends, adjusts and removes as the search would, and what it did
travels back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.cuda.structs import struct

_MOVES = ("append", "adjust", "remove")
_STOPS = ("", "converged", "edge", "no room")
_CONTROL = 10
"""Words between the terms and the log: three of control, three of the decision, two of the barrier, two to spare."""


@dataclass(frozen=True)
class Taken:
    """One step that was taken on the device."""

    move: str
    index: int
    delta: float
    gain: float
    d: float
    """Expectation in the data, of an appended term."""


class Leaps:
    """Buffers for the terms in use and for the log of what was done."""

    def __init__(self, cp: Any, room: int, most: int) -> None:
        self.cp, self.room, self.most = cp, room, most
        self._words = cp.zeros(4 * room + _CONTROL + 6 * most, np.int64)
        self._host = np.zeros(self._words.size, np.int64)

    def load(self, y: NDArray[np.int64], theta: NDArray[Any], price: NDArray[Any], d: NDArray[Any]) -> None:
        """Bring the terms in use to the device."""
        room, n, reals = self.room, len(y), self._host.view(np.float64)
        self._host[:n] = y
        for i, values in enumerate((theta, price, d), start=1):
            reals[i * room : i * room + n] = values
        self._host[4 * room : 4 * room + _CONTROL] = 0
        self._host[4 * room] = n
        self._words[: 4 * room + _CONTROL].set(self._host[: 4 * room + _CONTROL])

    def argument(self, epsilon: float, steps: int) -> NDArray[np.void]:
        """The struct ``Search`` of the kernels."""
        room, w = self.room, self._words
        control = 4 * room
        parts = [w[i * room :] for i in range(4)]
        return struct(
            *parts, w[control + _CONTROL :], w[control:], w[control + 3 :], w[control + 6 :], epsilon, steps, room
        )

    def taken(self) -> tuple[list[Taken], str, float]:
        """What was done, why it stopped, and how much log Z has grown."""
        start = 4 * self.room
        words = self._words[start:].get()
        steps, why = int(words[1]), _STOPS[int(words[2])]
        log = words[_CONTROL:].view(np.float64)[: 6 * steps].reshape(steps, 6)
        moves = [Taken(_MOVES[int(kind)], int(y), delta, gain, d) for kind, y, delta, gain, _, d in log.tolist()]
        return moves, why, float(log[:, 4].sum())
