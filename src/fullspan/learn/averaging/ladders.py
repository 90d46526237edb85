"""Ways to predict beside averaged fits, learned as far as unseen rows ask for it.

Ways of one kind and growing size are a ladder. A larger one is learned unless the last made unseen rows clearly less
likely than the one before it, or is far behind what is known to serve and has won less than it still lacks, or rows
have no use for it: it made them less likely and adds nothing to those before it, or none adds anything to the former. A
kind may have several ladders: the first shows whether rows have any use for it beside the fits, and from which rung on
the others are climbed. So where there is little to find little is spent on the search. Few rows do not tell what is of
use, and are learned from in no time: all ladders are climbed. What stands alone and the first ladders need nothing of
the fits, and may be learned beside them.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.learn.averaging.bootstrap import OutOfBagRows
from fullspan.learn.averaging.stacking import Learn, Way, in_parts, without_each_part, worth
from fullspan.learn.base.progress import Interrupted
from fullspan.model.algebra import jit
from fullspan.model.algebra.basis import Basis

_FAR = 0.1
"""Nats per row that a way behind another by more adds nothing to it."""
_WORTH = 0.002
"""Nats per row that something must add to be followed up."""
FEW = 500
"""Rows, of which fewer are learned from in every way, and whose samples show more than there is."""
_LARGE = 1 << 20
"""States above which ways that hold a table, which they do where cells are missing, are learned one after another."""
Ladder = Sequence[str]


@dataclass(frozen=True)
class Beside:
    """What stands beside the fits.

    Attributes
    ----------
    ways : by name.
    before : ways that are known to serve, with the rows that speak beforehand for each; few speak for the others, and
        a ladder ends that is far behind these.
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


Found = dict[str, Learned]


class Climb:
    """The learning of all ways: those that stand alone, and as many rungs of the ladders as unseen rows ask for.

    Parameters
    ----------
    basis : of the models that the ways end as.
    stop : ends the learning between ways.
    """

    def __init__(self, data: Empirical, basis: Basis, beside: Beside, seed: int, stop: threading.Event) -> None:
        self.data, self.basis, self.beside, self.seed, self.stop = data, basis, beside, seed, stop
        self.followed = OutOfBagRows(data).followed
        self.parts = in_parts(data, self.followed, np.random.default_rng(seed))
        self.numbers = {name: number for number, name in enumerate(beside.ways)}
        self.begun: list[Future[Found]] = []

    def begin(self, pool: Executor) -> list[Future[Found]]:
        """Have what stands alone and the first ladder of every kind learned."""
        alone = {name: pool.submit(self._climbed, [name]) for name in self.beside.alone}
        bars = [found for name, found in alone.items() if name in self.beside.before]
        self.begun = [*alone.values(), *(pool.submit(self._climbed, kind[0], bars) for kind in self.beside.kinds)]
        return self.begun

    def found(self, fits: Array, known: NDArray[np.bool_], weight: Array) -> Found:
        """All that was learned, in the order of its names; ``log p`` of known rows under the fits, and their weights.

        Raises
        ------
        Interrupted : it was stopped.
        """
        cores = jit.cores()
        at_once = cores if self.data.is_complete or self.data.space.n_states <= _LARGE else 1
        with ThreadPoolExecutor(at_once, initializer=jit.use_cores, initargs=(cores // at_once,)) as pool:
            try:
                first = _all_of(self.begun or self.begin(pool))
                ladders = [
                    ladder for kind in self.beside.kinds for ladder in self._others(kind, first, fits, known, weight)
                ]
                rest = _all_of([pool.submit(self._climbed, ladder) for ladder in ladders])
            except BaseException:
                self.stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return dict(sorted({**first, **rest}.items(), key=lambda item: self.numbers[item[0]]))

    def _others(
        self, kind: Sequence[Ladder], first: Found, fits: Array, known: NDArray[np.bool_], weight: Array
    ) -> list[Ladder]:
        """What is left to climb of the other ladders of a kind: from where the first was best."""
        if self.data.total < FEW:
            return list(kind[1:])
        climbed = [name for name in kind[0] if name in first]
        logs = [fits, *(one.unseen[known] for one in first.values())]
        of_the_kind = [1 + list(first).index(name) for name in climbed]
        if len(kind) < 2 or worth(np.stack(logs, axis=1), weight, of_the_kind) < _WORTH * float(weight.sum()):
            return []
        best = int(np.argmax([weight @ logs[i] for i in of_the_kind]))
        return [ladder[best:] for ladder in kind[1:]]

    def _climbed(self, ladder: Ladder, beside: Sequence[Future[Found]] = ()) -> Found:
        """The rungs of a ladder up to the last that is worth learning, ``beside`` what is known to serve."""
        found = {ladder[0]: self._learned(ladder[0])}
        for last, name in itertools.pairwise(ladder):
            found[name] = self._learned(name)
            bars = [one.unseen for one in _all_of(beside).values()]
            if self._ends(found, found[name].unseen - found[last].unseen, bars):
                break
        return found

    def _ends(self, found: Found, change: Array, bars: Sequence[Array]) -> bool:
        """Whether the newest rung is the last to learn; it changed the rows' ``log p`` of the last."""
        weight, logs = self.followed.weight, [one.unseen for one in found.values()]
        if _clearly_worse(change, weight) or any(_hopeless(logs[-1], change, bar, weight) for bar in bars):
            return True
        if self.data.total < FEW:
            return False
        idle = float(weight @ change) <= 0 and self._worth(logs[:-1], logs[-1:]) < _WORTH
        return idle or (bool(bars) and self._worth(bars, logs) < _WORTH)

    def _worth(self, others: Sequence[Array], these: Sequence[Array]) -> float:
        """Nats per row that some ways add to others."""
        logs, n = np.stack([*others, *these], axis=1), len(others)
        return worth(logs, self.followed.weight, range(n, n + len(these))) / float(self.followed.weight.sum())

    def _learned(self, name: str) -> Learned:
        rng = np.random.default_rng([self.numbers[name], self.seed])
        learn = self._unless_stopped(name)
        way = learn(self.data, self.basis, rng)
        return Learned(way, without_each_part(self.data, self.followed, self.parts, learn, self.basis, rng))

    def _unless_stopped(self, name: str) -> Learn:
        def learn(data: Empirical, basis: Basis, rng: np.random.Generator) -> Way:
            if self.stop.is_set():
                raise Interrupted
            return self.beside.ways[name](data, basis, rng)

        return learn


def _all_of(futures: Sequence[Future[Found]]) -> Found:
    return {name: one for future in futures for name, one in future.result().items()}


def _hopeless(log_prob: Array, won: Array, bar: Array, weight: Array) -> bool:
    """Whether a way is far behind another, beyond all doubt, and won less over the last than it still lacks."""
    total, behind = float(weight.sum()), bar - log_prob
    gap = float(weight @ behind) / total
    error = math.sqrt(float(weight @ (behind - gap) ** 2)) / total
    return gap > max(_FAR, 10.0 * error, float(weight @ won) / total)


def _clearly_worse(change: Array, weight: Array) -> bool:
    """Whether ``log p`` of weighed rows falls, by more than two standard errors."""
    total = float(weight @ change)
    return total < -2.0 * math.sqrt(float(weight @ (change - total / weight.sum()) ** 2))
