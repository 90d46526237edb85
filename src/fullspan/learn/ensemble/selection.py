"""Which candidates of an ensemble are learned: larger ones as long as held-out likelihood improves.

The next candidate of a series is learned unless one of these ends it:

* the last one made held-out rows less likely than the one before, by more than two standard errors;
* it is far behind a trusted candidate, and gained less over the one before than it still lacks;
* it made held-out rows less likely and adds nothing to the mixture of those before it;
* the whole series adds nothing to the trusted candidates.

The first series of a family shows whether its other series are of any use, and from which size on. So little is spent
where there is little to find. Few rows do not show what is of use, and cost little: all series are learned to the end
of the first two rules. Nothing here needs the bootstrap fits, except the choice of further series, so that candidates
can be learned while these run.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array, Mask
from fullspan.data import Empirical
from fullspan.learn.base.progress import Interrupted
from fullspan.learn.ensemble.candidates import Candidate, Candidates, Learn, Series
from fullspan.learn.ensemble.folds import cross_validated, in_folds
from fullspan.learn.ensemble.out_of_bag import OutOfBagRows
from fullspan.learn.ensemble.timer import TimeOver, Timer
from fullspan.learn.shares import added_by
from fullspan.model.algebra import jit
from fullspan.model.algebra.basis import Basis

_FAR_NATS = 0.1
"""Nats per row; a candidate behind another by more adds nothing to it."""
_USEFUL_NATS = 0.002
"""Nats per row that something must add for more of its kind to be learned."""
FEW_ROWS = 500
"""Rows; fewer do not show which candidates are of use, nor whether the single fit is better than the average."""
IN_TURN_STATES = 1 << 20
"""States above which candidates are learned one after another where cells are missing: each then holds a table."""


@dataclass(frozen=True)
class Learned:
    """A candidate, and ``log p`` of the followed rows by what was learned without their fold."""

    candidate: Candidate
    held_out: Array


Found = dict[str, Learned]


class Selection:
    """Learns candidates: all that are in no series, and of each series as many as the rules of the module allow.

    Parameters
    ----------
    basis : of the models that the candidates end as.
    stop : ends the learning between candidates.
    timer : no model of a candidate is begun when its time is over; a candidate that lacks one is left out.
    """

    def __init__(
        self,
        data: Empirical,
        basis: Basis,
        candidates: Candidates,
        seed: int,
        stop: threading.Event,
        timer: Timer | None = None,
    ) -> None:
        self.timer = timer or Timer()
        self.data, self.basis, self.candidates, self.seed, self.stop = data, basis, candidates, seed, stop
        self.followed = OutOfBagRows(data).followed
        self.folds = in_folds(data, self.followed, np.random.default_rng(seed))
        # Of the random numbers of each candidate, whatever else is learned and in which order it ends.
        self.numbers = {name: number for number, name in enumerate(candidates.learn)}
        self.begun: list[Future[Found]] = []

    def begin(self, pool: Executor) -> list[Future[Found]]:
        """Submit the candidates that are in no series, and the first series of every family."""
        alone = {name: pool.submit(self._series, [name]) for name in self.candidates.alone}
        trusted = [found for name, found in alone.items() if name in self.candidates.trusted]
        first = [pool.submit(self._series, family[0], trusted) for family in self.candidates.families]
        self.begun = [*alone.values(), *first]
        return self.begun

    def found(self, fits: Array, known: Mask, weight: Array) -> Found:
        """All that was learned, in the order of the names, given ``log p`` of known rows under the fits, and weights.

        Raises
        ------
        Interrupted : it was stopped.
        """
        cores = jit.cores()
        at_once = cores if self.data.is_complete or self.data.space.n_states <= IN_TURN_STATES else 1
        with ThreadPoolExecutor(at_once, initializer=jit.use_cores, initargs=(cores // at_once,)) as pool:
            try:
                first = _all_of(self.begun or self.begin(pool))
                further = [
                    series
                    for family in self.candidates.families
                    for series in self._further(family, first, fits, known, weight)
                ]
                # Only now: the fits, by which the further series are chosen, are done.
                rest = _all_of([pool.submit(self._series, series) for series in further])
            except BaseException:
                self.stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return dict(sorted({**first, **rest}.items(), key=lambda item: self.numbers[item[0]]))

    def _further(self, family: Sequence[Series], first: Found, fits: Array, known: Mask, weight: Array) -> list[Series]:
        """The other series of a family, from the size at which the first was best; none if that added nothing."""
        if self.data.total < FEW_ROWS:
            return list(family[1:])
        learned = [name for name in family[0] if name in first]
        if not learned:
            return []
        logs = [fits, *(one.held_out[known] for one in first.values())]
        own = [1 + list(first).index(name) for name in learned]
        if len(family) < 2 or added_by(np.stack(logs, axis=1), weight, own) < _USEFUL_NATS * float(weight.sum()):
            return []
        best = int(np.argmax([weight @ logs[i] for i in own]))
        return [series[best:] for series in family[1:]]

    def _series(self, series: Series, trusted: Sequence[Future[Found]] = ()) -> Found:
        """The candidates of a series up to the last that is worth learning."""
        found: Found = {}
        try:
            found[series[0]] = self._learned(series[0])
            for last, name in itertools.pairwise(series):
                found[name] = self._learned(name)
                rivals = [one.held_out for one in _all_of(trusted).values()]
                if self._ends(found, found[name].held_out - found[last].held_out, rivals):
                    break
        except TimeOver:
            pass
        return found

    def _ends(self, found: Found, change: Array, rivals: Sequence[Array]) -> bool:
        """Whether the newest candidate ends its series; ``change`` is that of the rows' ``log p`` over the last one."""
        weight, logs = self.followed.weight, [one.held_out for one in found.values()]
        if _clearly_worse(change, weight) or any(_hopeless(logs[-1], change, rival, weight) for rival in rivals):
            return True
        if self.data.total < FEW_ROWS:
            return False
        idle = float(weight @ change) <= 0 and self._added(logs[:-1], logs[-1:]) < _USEFUL_NATS
        return idle or (bool(rivals) and self._added(rivals, logs) < _USEFUL_NATS)

    def _added(self, others: Sequence[Array], these: Sequence[Array]) -> float:
        """Nats per row that some candidates add to others."""
        logs, n = np.stack([*others, *these], axis=1), len(others)
        return added_by(logs, self.followed.weight, range(n, n + len(these))) / float(self.followed.weight.sum())

    def _learned(self, name: str) -> Learned:
        # Every candidate has a stream of its own, so that which others are learned does not change it.
        rng = np.random.default_rng([self.numbers[name], self.seed])
        learn = self._unless_stopped(name)
        candidate = learn(self.data, self.basis, rng)
        return Learned(candidate, cross_validated(self.data, self.followed, self.folds, learn, self.basis, rng))

    def _unless_stopped(self, name: str) -> Learn:
        def learn(data: Empirical, basis: Basis, rng: np.random.Generator) -> Candidate:
            if self.stop.is_set():
                raise Interrupted
            if self.timer.over():
                raise TimeOver
            return self.candidates.learn[name](data, basis, rng)

        return learn


def _all_of(futures: Sequence[Future[Found]]) -> Found:
    return {name: one for future in futures for name, one in future.result().items()}


def _hopeless(log_prob: Array, gained: Array, rival: Array, weight: Array) -> bool:
    """Whether a candidate is far behind another, beyond doubt, and gained less over the last than it still lacks."""
    total, behind = float(weight.sum()), rival - log_prob
    gap = float(weight @ behind) / total
    error = math.sqrt(float(weight @ (behind - gap) ** 2)) / total
    return gap > max(_FAR_NATS, 10.0 * error, float(weight @ gained) / total)


def _clearly_worse(change: Array, weight: Array) -> bool:
    """Whether ``log p`` of weighted rows falls by more than two standard errors."""
    total = float(weight @ change)
    return total < -2.0 * math.sqrt(float(weight @ (change - total / weight.sum()) ** 2))
