"""The published search: append, adjust or remove one term at a time, whichever lowers the cost most.

Algorithms 1 and 2 of the full-span paper. The cost never rises, and the search halts when the best move lowers it
by less than epsilon. Only the data structure differs: eta is updated in place, not recomputed by a transform.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.protocol import Candidates
from fullspan.learn.search import line
from fullspan.learn.search.problem import Move, Problem, as_arrays

_STEADY, _SHAKY = 256, 16
"""Steps before the first rebuild, for spins and for 0/1 functions, whose rounding grows faster."""
_LONGEST_INTERVAL = 1024
_LEAP, _LEAP_OF_FEW, _FEW = 64, 256, 1 << 24
"""Steps taken at a time by an engine that decides for itself, so often it can be seen and stopped: of tables with few
states, whose steps take microseconds, more."""
_CLEAN, _DIRTY = 1e-6, 1e-5
"""Drift below which rebuilds may be rarer, and above which they must be more frequent."""


@dataclass(frozen=True)
class _Choice:
    move: Move
    index: int
    delta: float
    gain: float


@dataclass
class _InUse:
    """The terms in use, as arrays that follow the search."""

    y: NDArray[np.int64]
    theta: NDArray[np.float64]
    price: NDArray[np.float64]
    d: NDArray[np.float64]

    @classmethod
    def of(cls, problem: Problem) -> _InUse:
        y, theta = as_arrays(problem.table.theta)
        return cls(y, theta, np.array([problem.price(int(i)) for i in y]), problem.d_at(y))

    def follow(self, choice: _Choice, problem: Problem) -> None:
        if choice.move == "append":
            self.y = np.append(self.y, choice.index)
            self.theta = np.append(self.theta, choice.delta)
            self.price = np.append(self.price, problem.price(choice.index))
            self.d = np.append(self.d, problem.d_at(self.y[-1:]))
            return
        (place,) = np.flatnonzero(self.y == choice.index)
        if choice.move == "adjust":
            self.theta[place] += choice.delta
        else:
            self.y, self.theta = np.delete(self.y, place), np.delete(self.theta, place)
            self.price, self.d = np.delete(self.price, place), np.delete(self.d, place)


def paper_search(problem: Problem, epsilon: float = 1e-4, max_steps: int | None = None) -> str:
    """Run the published algorithm from the current point; returns why it stopped.

    Each step costs one pass over the table. ``epsilon`` is in nats per row.
    """
    return _Search(problem, epsilon).run(math.inf if max_steps is None else max_steps)


class _Search:
    """The state of the search: the cost, the terms in use, the last candidates, and when to rebuild."""

    def __init__(self, problem: Problem, epsilon: float) -> None:
        self.problem, self.table, self.epsilon = problem, problem.table, epsilon
        self.cost, self.used = problem.cost(), _InUse.of(problem)
        self.candidates = self.table.scan(l1=problem.l1)
        self.since, self.interval = 0, _SHAKY if self.table.basis.zero_one else _STEADY
        self.most = _LEAP_OF_FEW if self.table.basis.n_states <= _FEW else _LEAP

    def run(self, max_steps: float) -> str:
        steps = 0
        while steps < max_steps:
            taken, why = self._leap(min(self.most, self.interval - self.since, max_steps - steps))
            if not taken and why != "converged":
                taken, why = self._step()
            if why == "converged":
                return why
            steps, self.since = steps + taken, self.since + taken
            if self.since >= self.interval:
                self._rebuild()
        return "step limit"

    def _step(self) -> tuple[int, str]:
        """One step decided here: how many were taken, and why no more."""
        problem, table = self.problem, self.table
        choice = _best(problem, self.used, self.candidates)
        if choice is None or choice.gain < self.epsilon:
            return 0, "converged"
        # A device finds its own floor in the pass; here a few look-ups spare the scan most of its logarithms.
        floor = 0.0 if table.knows_floor else _floor_after(problem, choice, self.candidates)
        self.candidates = table.move(choice.index, choice.delta, floor, problem.l1)
        if choice.move == "remove":
            del table.theta[choice.index]
        self._note(choice)
        return 1, ""

    def _leap(self, most: float) -> tuple[int, str]:
        """Some steps decided by an engine that can; 0 if it cannot."""
        leap, used = getattr(self.table, "leap", None), self.used
        if leap is None or self.problem.l1:
            return 0, ""
        done = leap(used.y, used.theta, used.price, used.d, self.epsilon, int(most))
        if done is None:
            return 0, ""
        theta = self.table.theta
        for step in done.taken:
            if step.move == "remove":
                del theta[step.index]
            else:
                theta[step.index] = theta.get(step.index, 0.0) + step.delta
            self._record(step.move, step.gain)
        self.used = _InUse.of(self.problem)
        if done.why == "edge":  # rounding has made a probability of more than one
            self._rebuild()
        elif done.why != "converged" and not done.taken:
            self.candidates = self.table.scan()
        return len(done.taken), done.why

    def _note(self, choice: _Choice) -> None:
        self.used.follow(choice, self.problem)
        self._record(choice.move, choice.gain)

    def _record(self, move: Move, gain: float) -> None:
        # Only at a rebuild is the cost computed anew: in between each gain is exact but for rounding.
        self.cost -= gain
        self.problem.record(move, self.cost)

    def _rebuild(self) -> None:
        drift = self.table.rebuild()
        self.problem.note_drift(drift)
        self.cost, self.candidates = self.problem.cost(), self.table.scan(l1=self.problem.l1)
        self.since, self.interval = 0, _next_interval(self.interval, drift)


def _next_interval(interval: int, drift: float) -> int:
    """Steps until the next rebuild, from the rounding that this one has removed."""
    # Rounding grows with the steps since the last rebuild, so that a quarter of them is safe again.
    if drift > _DIRTY:
        return max(interval // 4, 1)
    return min(2 * interval, _LONGEST_INTERVAL) if drift < _CLEAN else interval


def _best(problem: Problem, used: _InUse, candidates: Candidates) -> _Choice | None:
    """The move that lowers the cost most, over the best candidate and all terms in use.

    A term in use may head the candidates, priced as if it were new; adjusting it is better still, so that the best
    candidate not in use cannot win then, and need not be known.
    """
    choices = _moves_in_use(problem, used) if used.y.size else []
    if candidates.indices.size and int(candidates.indices[0]) not in problem.table.theta:
        y = candidates.indices[:1]
        eta, zero_one = problem.eta_at(y), problem.table.basis.zero_one
        delta = line.step_to(eta, line.shrunk(eta, problem.d_at(y), problem.l1), zero_one)
        choices.append(_Choice("append", int(y[0]), float(delta[0]), float(candidates.gains[0])))
    # Of equal gains the lowest index, as in the scan.
    return max(choices, key=lambda c: (c.gain, -c.index), default=None)


def _moves_in_use(problem: Problem, used: _InUse) -> list[_Choice]:
    """The best adjustment and the best removal among the terms in use."""
    zero_one = problem.table.basis.zero_one
    eta = problem.eta_at(used.y)
    a, delta, gain, r, saved = line.best_in_use(eta, used.d, used.theta, used.price, problem.l1, zero_one)
    return [
        *([_Choice("adjust", int(used.y[a]), delta, gain)] if a >= 0 else []),
        *([_Choice("remove", int(used.y[r]), -float(used.theta[r]), saved)] if r >= 0 else []),
    ]


def _floor_after(problem: Problem, choice: _Choice, candidates: Candidates) -> float:
    """A net gain that some candidate will surely have after the move: the scan can then skip nearly all logarithms."""
    others = candidates.indices[candidates.indices != choice.index]
    if not others.size:
        return 0.0
    zero_one = problem.table.basis.zero_one
    y = np.array([choice.index], dtype=np.int64)
    product = problem.table.second_moments(y, others)[0]
    eta = line.after(problem.eta_at(others), product, float(problem.eta_at(y)[0]), choice.delta, zero_one)
    target = line.shrunk(eta, problem.d_at(others), problem.l1)
    net = line.drop(eta, target, line.step_to(eta, target, zero_one), zero_one)
    net -= np.array([problem.price(int(i)) for i in others])
    # A little less than what was computed: the scan works in the table's precision, and must find this candidate again.
    return max(0.0, 0.99 * float(net.max()) - 1e-7)
