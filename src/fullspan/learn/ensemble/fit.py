"""The average of k fits: the rows are counted once, the fits run side by side, and Ctrl-C keeps what is done.

``fit_one`` is any learner from counts to a fitted model. The first fit is of the rows as they are, the others of
bootstrap samples. Where the learner chooses a basis, the first does, and the others stay in it: the average has one
dual table. Nor do the others grow in many more rounds or terms than the first: rows drawn twice look like structure,
and where there is none they would pursue it for long. Fits of middling tables share the cores, and a fit of a large one
has all of them, so that memory is that of one fit.

Other candidates may be stacked with the fits (modules ``selection`` and ``stack``). Where fits share the cores,
candidates do, too; otherwise they are learned after them.
"""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fullspan.data import Empirical
from fullspan.learn.base.counted import Sample, bootstrap
from fullspan.learn.base.progress import Interrupted
from fullspan.learn.ensemble.candidates import Candidates
from fullspan.learn.ensemble.members import Member, seen_by
from fullspan.learn.ensemble.result import averaged
from fullspan.learn.ensemble.selection import FEW_ROWS, Selection
from fullspan.learn.ensemble.stack import stacked
from fullspan.learn.ensemble.timer import FITS_SHARE, Timer
from fullspan.learn.search.options import MAX_COMPLETIONS, MAX_TERMS
from fullspan.model import Fitted
from fullspan.model.algebra import jit
from fullspan.model.algebra.blas import one_core

SIDE_BY_SIDE = 1 << 20
"""States up to which several fits, and candidates, run at a time; larger tables use all cores by themselves."""
IN_TURN_STATES = 1 << 14
"""States up to which one fit runs after another: their kernels are so short that they would mostly wait in turn."""
_UNTIMED_FITS = 4
"""Fits of which fewer take as long as one each, at most: nothing would make up for more."""
GROWING = ("append", "margin")
"""Moves of a search that are a round of growing."""


@dataclass(frozen=True)
class Bounds:
    """What the first fit leaves to the others: how far to go, and nothing of its weights, which know all rows.

    basis : of its model.
    rounds, terms : at most these; the first grew in as many, over all bases that it tried and all completions.
    completions : searches of rows with missing values that shortened its description, each completed by the one before.
    """

    basis: str | None = None
    rounds: float = math.inf
    terms: int = MAX_TERMS
    completions: int = MAX_COMPLETIONS

    @classmethod
    def of(cls, first: Fitted, rounds: int, terms: int, k: int) -> Bounds:
        """What the first of k fits took, and a quarter more to grow where neither rows nor fits are few."""
        # A quarter more: samples have other structure than the rows, and the average forgives what is too much.
        if first.total >= FEW_ROWS and k >= _UNTIMED_FITS:
            rounds, terms = rounds + rounds // 4, min(terms + terms // 4, MAX_TERMS)
        return cls(first.model.basis.name, rounds, terms, max(1, len(first.history)))


class FitOne(Protocol):
    """A learner; of the first fit nothing is bounded."""

    def __call__(
        self, data: Empirical, bounds: Bounds, seed: np.random.Generator, watch: Callable[[Any], None]
    ) -> Fitted: ...


@dataclass(frozen=True)
class Progress:
    """A step of one of the fits; ``snapshot()`` is the average of those that are done, or the first as it stands.

    None where there is neither.
    """

    move: str
    n_terms: int
    cost: float
    seconds: float
    snapshot: Callable[[], Fitted] | None


Watch = Callable[[Progress], None]


def fit_average(
    empirical: Empirical,
    k: int,
    fit_one: FitOne,
    seed: Any = None,
    watch: Watch | None = None,
    candidates: Candidates | None = None,
    stop: threading.Event | None = None,
    max_seconds: float | None = None,
) -> Fitted:
    """Fit the rows and k - 1 bootstrap samples, and average the models as distributions.

    Parameters
    ----------
    candidates : stacked with the average of the fits.
    stop : set when someone has stopped; a candidate that takes long looks at it, and raises ``Interrupted``.
    max_seconds : of all learning; None for no limit. Fits of samples end after half of it. What is running then is left
        out, except the fit of the rows as they are, which is kept as far as it had come when all time is over.
    seed : of the samples: a number, a generator or None. The same number, and number of cores, give the same average.
    watch : called at every step of every fit, one at a time; may raise ``KeyboardInterrupt`` to stop. The average is
        then that of the fits that are done, or, if there is none, of those that were running, as far as they had come.

    Returns
    -------
    The model is an :class:`AveragedLogLinear`; ``standard_errors`` are the spreads of the weights over the members that
    have the term, ``nats_saved`` the mean over all members. ``out_of_bag`` is the likelihood of what each has not seen.

    Raises
    ------
    KeyboardInterrupt : before any fit had made a move.
    """
    seeds, stop = np.random.default_rng(seed).integers(2**63, size=(k, 2)), stop or threading.Event()
    with one_core():
        return _Average(empirical, seeds, fit_one, watch, candidates, stop, Timer(max_seconds)).run()


class _Average:
    """The fits of one average; ``seeds`` (k, 2) are those of each fit's sample and of what it leaves out."""

    def __init__(
        self,
        empirical: Empirical,
        seeds: NDArray[np.int64],
        fit_one: FitOne,
        watch: Watch | None,
        candidates: Candidates | None,
        stop: threading.Event,
        timer: Timer,
    ) -> None:
        self.empirical, self.fit_one, self.watch, self.candidates = empirical, fit_one, watch, candidates
        self.seeds, self.timer, self.lock, self.stop = seeds, timer, threading.Lock(), stop
        self.members: list[Member | None] = [None] * len(seeds)
        self.bounds, self.rounds, self.terms = Bounds(), 0, 0
        self.selection: Selection | None = None

    def run(self) -> Fitted:
        try:
            self._first()
            if len(self.seeds) > 1 and not self.stop.is_set():
                self._others()
        except (KeyboardInterrupt, Interrupted):
            self.stop.set()
        found = [m for m in self.members if m is not None]
        done = [m for m in found if m.is_whole]
        if not found:
            raise KeyboardInterrupt
        try:
            return self._averaged(done or found, stack=len(done) > 1 and not self.stop.is_set())
        except (KeyboardInterrupt, Interrupted):
            self.stop.set()
            return self._averaged(done or found)

    def _first(self) -> None:
        """The fit of the rows as they are, which bounds the others."""
        self._fit(0)
        if (first := self.members[0]) is not None:
            self.bounds = Bounds.of(first.fitted, self.rounds, self.terms, len(self.seeds))
            if self.candidates is not None and self.candidates.learn and len(self.seeds) > 1:
                basis, seed = first.fitted.model.basis, int(self.seeds[0, 0])
                self.selection = Selection(self.empirical, basis, self.candidates, seed, self.stop, self.timer)

    def _others(self) -> None:
        """The fits of samples, and the candidates that do not wait for them, as the cores allow."""
        rest, cores, n_states = range(1, len(self.seeds)), jit.cores(), self.empirical.space.n_states
        # Small fits would wait for Python's lock, large ones for memory.
        workers = min(cores, len(rest)) if IN_TURN_STATES < n_states <= SIDE_BY_SIDE else 1
        if workers == 1:
            for b in rest:
                if self.stop.is_set():
                    return
                self._fit(b)
            return
        with ThreadPoolExecutor(workers, initializer=jit.use_cores, initargs=(cores // workers,)) as pool:
            try:
                begun = self.selection.begin(pool) if self.selection is not None else []
                futures: list[Future[Any]] = [*(pool.submit(self._fit, b) for b in rest), *begun]
                for future in wait(futures, return_when=FIRST_EXCEPTION).done:
                    future.result()
            except BaseException:
                self.stop.set()
                # Waited for: threads that go on would write to fits that nobody keeps.
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _fit(self, b: int) -> None:
        part, late = (FITS_SHARE if b else 1.0), False
        if self.stop.is_set() or (b and self.timer.over(part)):
            return

        def tell(step: Any) -> None:
            nonlocal late
            self._tell(b, step)
            late = self.timer.over(part)
            if late:
                raise Interrupted

        seed = np.random.default_rng(self.seeds[b, 0])
        sample = bootstrap(self.empirical, seed) if b else Sample.whole(self.empirical)
        fitted = self.fit_one(sample.data, self.bounds, seed, tell)
        if fitted.status == "interrupted" and not late:
            self.stop.set()
        self.members[b] = Member(b, sample, fitted)

    def _tell(self, b: int, step: Any) -> None:
        """Pass a step on, from whatever thread; a watcher that stops one fit stops all of them."""
        if self.stop.is_set():
            raise Interrupted
        if b == 0:
            self.rounds += step.move in GROWING
            self.terms = max(self.terms, step.n_terms)
        if self.watch is None:
            return
        with self.lock:
            move = f"fit {b + 1} of {len(self.seeds)}: {step.move}"
            progress = Progress(move, step.n_terms, step.cost, self.timer.seconds, self._snapshot(step))
            try:
                self.watch(progress)
            except (KeyboardInterrupt, Interrupted):
                self.stop.set()
                raise

    def _snapshot(self, step: Any) -> Callable[[], Fitted] | None:
        done = [m for m in self.members if m is not None and m.is_whole]
        if not done:
            return getattr(step, "snapshot", None)
        return lambda: dataclasses.replace(self._averaged(done), status="interrupted")

    def _averaged(self, members: list[Member], *, stack: bool = False) -> Fitted:
        """The fitted average, stacked with all other candidates; the members are in the order of their seeds."""
        seen = seen_by(self.empirical, members, [int(self.seeds[m.number, 1]) for m in members])
        found = stacked(self.empirical, seen, members, self.selection) if stack else None
        average = averaged(self.empirical, members, seen, found)
        whole = len(members) == len(self.seeds) and all(m.is_whole for m in members)
        stopped = self.stop.is_set() or not (whole or self.timer.cut)
        status = "interrupted" if stopped else "time limit" if self.timer.cut else average.status
        settings = {**average.settings, "average": len(self.seeds)}
        own = tuple((m.fitted, int(self.seeds[m.number, 0]) if m.number else None) for m in members)
        return dataclasses.replace(average, settings=settings, members=own, status=status)
