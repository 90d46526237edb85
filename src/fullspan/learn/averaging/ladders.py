"""Ways to predict beside averaged fits, learned as far as unseen rows ask for it.

Ways of one kind and growing size are a ladder. A larger one is learned unless the last made unseen rows clearly less
likely than the one before it, or less likely at all and is worth nothing to them beside the fits, or is far behind the
fits and has won less than it still lacks. A kind may have several ladders: the first shows whether unseen rows have any
use for it, and from which rung on the others are climbed. So where there is little to find little is spent on the
search.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numba
import numpy as np

from fullspan.algebra.basis import Basis
from fullspan.data import Empirical
from fullspan.learn.averaging.bootstrap import Array
from fullspan.learn.averaging.members import Seen
from fullspan.learn.averaging.stacking import Learn, Way, in_parts, without_each_part, worth
from fullspan.learn.search.problem import Interrupted

_FAR = 0.1
"""Nats per row that a way behind the fits by more adds nothing to them."""
_WORTH = 1.0
"""Nats of all unseen rows together that something must add to be followed up."""
_LARGE = 1 << 20
"""States above which ways that hold a table, which they do where cells are missing, are learned one after another."""


Ladder = Sequence[str]


@dataclass(frozen=True)
class Beside:
    """What stands beside the fits.

    Attributes
    ----------
    ways : by name.
    before : rows that speak for a way beforehand, by its name; few for one that is not named.
    kinds : the ladders of each kind, names of ways of which each is more costly than those before it.
    """

    ways: Mapping[str, Learn] = field(default_factory=dict)
    before: Mapping[str, float] = field(default_factory=dict)
    kinds: Sequence[Sequence[Ladder]] = ()

    @property
    def alone(self) -> list[str]:
        """The ways that are on no ladder."""
        climbed = {name for kind in self.kinds for ladder in kind for name in ladder}
        return [name for name in self.ways if name not in climbed]


@dataclass(frozen=True)
class Learned:
    """A way, and ``log p`` of the followed rows by what it learned without their part."""

    way: Way
    unseen: Array


class Climb:
    """The learning of all ways: those that stand alone, and as many rungs of the ladders as unseen rows ask for."""

    def __init__(
        self, data: Empirical, basis: Basis, beside: Beside, seen: Seen, fits: Array, seed: int, stop: threading.Event
    ) -> None:
        self.data, self.basis, self.beside, self.fits, self.seed, self.stop = data, basis, beside, fits, seed, stop
        self.followed, self.known = seen.rows.followed, seen.rows.known
        self.weight = seen.rows.weight[self.known]
        self.parts = in_parts(data, self.followed, np.random.default_rng(seed))
        self.numbers = {name: number for number, name in enumerate(beside.ways)}

    def found(self) -> dict[str, Learned]:
        """What was learned, in the order of its names."""
        kinds = self.beside.kinds
        first = self._side_by_side([*(kind[0] for kind in kinds), *([name] for name in self.beside.alone)])
        rest = self._side_by_side([ladder for kind in kinds for ladder in self._others(kind, first)])
        return dict(sorted({**first, **rest}.items(), key=lambda item: self.numbers[item[0]]))

    def _others(self, kind: Sequence[Ladder], first: Mapping[str, Learned]) -> list[Ladder]:
        """What is left to climb of the other ladders of a kind: from where the first was best."""
        climbed = [name for name in kind[0] if name in first]
        if len(kind) < 2 or self._worth(first, climbed) < _WORTH:
            return []
        likely = [float(self.weight @ first[name].unseen) for name in climbed]
        return [ladder[int(np.argmax(likely)) :] for ladder in kind[1:]]

    def _worth(self, found: Mapping[str, Learned], names: Sequence[str]) -> float:
        """What some of the ways that were found add to the likelihood of unseen rows."""
        logs = [self.fits, *(one.unseen for one in found.values())]
        return worth(np.stack(logs, axis=1), self.weight, [1 + list(found).index(name) for name in names])

    def _side_by_side(self, ladders: Sequence[Sequence[str]]) -> dict[str, Learned]:
        """Climb some ladders at a time, which share the cores."""
        cores = numba.get_num_threads()
        at_once = cores if self.data.is_complete or self.data.space.n_states <= _LARGE else 1
        with ThreadPoolExecutor(at_once, initializer=numba.set_num_threads, initargs=(cores // at_once,)) as pool:
            futures = [pool.submit(self._climbed, ladder) for ladder in ladders]
            try:
                return {name: one for future in futures for name, one in future.result().items()}
            except BaseException:
                self.stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _climbed(self, ladder: Ladder) -> dict[str, Learned]:
        found = {ladder[0]: self._learned(ladder[0])}
        for last, name in itertools.pairwise(ladder):
            found[name] = self._learned(name)
            if self._ends(found, found[last], found[name]):
                break
        return found

    def _ends(self, found: Mapping[str, Learned], last: Learned, now: Learned) -> bool:
        """Whether the newest rung is the last to learn."""
        change = now.unseen - last.unseen
        if _clearly_worse(change, self.weight) or self._hopeless(last, now):
            return True
        return float(self.weight @ change) <= 0 and self._worth(found, list(found)[-1:]) < _WORTH

    def _learned(self, name: str) -> Learned:
        rng = np.random.default_rng([self.numbers[name], self.seed])
        learn = self._unless_stopped(name)
        way = learn(self.data, self.basis, rng)
        unseen = without_each_part(self.data, self.followed, self.parts, learn, self.basis, rng)
        return Learned(way, unseen[self.known])

    def _unless_stopped(self, name: str) -> Learn:
        def learn(data: Empirical, basis: Basis, rng: np.random.Generator) -> Way:
            if self.stop.is_set():
                raise Interrupted
            return self.beside.ways[name](data, basis, rng)

        return learn

    def _hopeless(self, last: Learned, now: Learned) -> bool:
        """Whether a way is far behind the fits, beyond all doubt, and won less over the last than it still lacks."""
        total, behind = float(self.weight.sum()), self.fits - now.unseen
        gap, won = float(self.weight @ behind) / total, float(self.weight @ (now.unseen - last.unseen)) / total
        error = math.sqrt(float(self.weight @ (behind - gap) ** 2)) / total
        return gap > max(_FAR, 10.0 * error, won)


def _clearly_worse(change: Array, weight: Array) -> bool:
    """Whether ``log p`` of weighed rows falls, by more than two standard errors."""
    total = float(weight @ change)
    return total < -2.0 * math.sqrt(float(weight @ (change - total / weight.sum()) ** 2))
