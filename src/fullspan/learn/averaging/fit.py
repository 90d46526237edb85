"""The average of k fits: the rows are counted once, the fits run side by side, and Ctrl-C keeps what is done.

``fit_one`` is any learner from counts to a fitted model. The first fit is of the rows as they are, the others of
bootstrap samples. Where the learner chooses a basis, the first does, and the others stay in it: the average has one
dual table. Nor do the others grow in many more rounds or terms than the first: rows drawn twice look like structure,
and where there is none they would pursue it for long. So time is at most that of k fits; fits of small tables share the
cores, one or more each, and a fit of a large table has all of them, so that memory is that of one fit.

Other ways to predict may stand beside the fits, each with the share that unseen rows ask for (module ``stacking``).
"""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from fullspan.data import Empirical
from fullspan.learn.averaging.bootstrap import Array, OutOfBagRows, Sample, bootstrap, log_prob_of
from fullspan.learn.averaging.stacking import Learn, best_shares, mixed, without_each_fifth
from fullspan.learn.likelihood.machine import observed_entropy
from fullspan.learn.search.full import MAX_TERMS
from fullspan.learn.search.problem import Interrupted
from fullspan.learn.search.problem import smoothed_entropy as entropy_of
from fullspan.model import Fitted, LogLinear
from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.fitted import OutOfBag, Step

SIDE_BY_SIDE = 1 << 20
"""States up to which several fits run at a time; the kernels of larger tables use all cores well by themselves."""
GROWING = ("append", "margin")
"""Moves of a search that are a round of growing."""


@dataclass(frozen=True)
class Bounds:
    """What the first fit leaves to the others: the basis, the rounds to grow in, and the terms to grow to."""

    basis: str | None = None
    rounds: float = math.inf
    terms: int = MAX_TERMS

    @classmethod
    def of(cls, basis: str, rounds: int, terms: int) -> Bounds:
        """What the first fit took, and a quarter more."""
        return cls(basis, rounds + rounds // 4, min(terms + terms // 4, MAX_TERMS))


class FitOne(Protocol):
    """A learner; of the first fit nothing is bounded."""

    def __call__(
        self, data: Empirical, bounds: Bounds, seed: np.random.Generator, watch: Callable[[Any], None]
    ) -> Fitted: ...


@dataclass(frozen=True)
class Progress:
    """A step of one of the fits; ``snapshot()`` is the average of those that are done."""

    move: str
    n_terms: int
    cost: float
    seconds: float
    snapshot: Callable[[], Fitted]


Watch = Callable[[Progress], None]


def fit_average(
    empirical: Empirical,
    k: int,
    fit_one: FitOne,
    seed: Any = None,
    watch: Watch | None = None,
    beside: Mapping[str, Learn] | None = None,
) -> Fitted:
    """Fit the rows and k - 1 bootstrap samples, and average the models as distributions.

    Parameters
    ----------
    beside : other ways to predict, by name. They are stacked with the average of the fits.
    seed : of the samples: a number, a generator or None. The same number gives the same average.
    watch : told every step of every fit, one at a time; may raise ``KeyboardInterrupt`` to stop. The average is then
        that of the fits that are done, or, if there is none, of those that were under way, as far as they had come.

    Returns
    -------
    The model is an :class:`AveragedLogLinear`; ``standard_errors`` are the spreads of the weights over the members that
    have the term, ``nats_saved`` the mean over all members. ``out_of_bag`` is the likelihood of what each has not seen.

    Raises
    ------
    KeyboardInterrupt : before any fit had made a move.
    """
    with threadpool_limits(limits=1, user_api="blas"):
        return _Average(empirical, k, fit_one, np.random.default_rng(seed), watch, beside or {}).run()


@dataclass(frozen=True)
class _Member:
    number: int
    sample: Sample
    fitted: Fitted

    @property
    def is_whole(self) -> bool:
        return self.fitted.status != "interrupted"


@dataclass(frozen=True)
class _Stacked:
    """Shares by name, the models beside the fits with their shares of the whole, and what all say of unseen rows."""

    shares: dict[str, float]
    beside: list[tuple[float, LogLinear]]
    out_of_bag: OutOfBag


class _Average:
    def __init__(
        self,
        empirical: Empirical,
        k: int,
        fit_one: FitOne,
        rng: np.random.Generator,
        watch: Watch | None,
        beside: Mapping[str, Learn],
    ) -> None:
        self.empirical, self.fit_one, self.watch, self.beside = empirical, fit_one, watch, beside
        self.seeds = rng.integers(2**63, size=(k, 2))
        self.started, self.lock, self.stop = time.perf_counter(), threading.Lock(), threading.Event()
        self.members: list[_Member | None] = [None] * k
        self.bounds, self.rounds, self.terms = Bounds(), 0, 0

    def run(self) -> Fitted:
        try:
            self._first()
            if len(self.seeds) > 1 and not self.stop.is_set():
                self._others()
        except KeyboardInterrupt:
            self.stop.set()
        found = [m for m in self.members if m is not None]
        done = [m for m in found if m.is_whole]
        if not found:
            raise KeyboardInterrupt
        try:
            stacked = self._stacked(done) if self.beside and len(done) == len(self.seeds) > 1 else None
            return self._averaged(done or found, stacked)
        except (KeyboardInterrupt, Interrupted):
            self.stop.set()
            return self._averaged(done or found)

    def _first(self) -> None:
        """The fit of the rows as they are, which bounds the others."""
        self._fit(0)
        if (first := self.members[0]) is not None:
            self.bounds = Bounds.of(first.fitted.model.basis.name, self.rounds, self.terms)

    def _others(self) -> None:
        rest = range(1, len(self.seeds))
        cores = numba.get_num_threads()
        workers = min(cores, len(rest)) if self.empirical.space.n_states <= SIDE_BY_SIDE else 1
        if workers == 1:
            for b in rest:
                if self.stop.is_set():
                    return
                self._fit(b)
            return
        with ThreadPoolExecutor(workers, initializer=numba.set_num_threads, initargs=(cores // workers,)) as pool:
            futures: list[Future[None]] = [pool.submit(self._fit, b) for b in rest]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                self.stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _fit(self, b: int) -> None:
        if self.stop.is_set():
            return
        seed = np.random.default_rng(self.seeds[b, 0])
        sample = bootstrap(self.empirical, seed) if b else Sample.whole(self.empirical)
        fitted = self.fit_one(sample.data, self.bounds, seed, lambda step: self._tell(b, step))
        if fitted.status == "interrupted":
            self.stop.set()
        self.members[b] = _Member(b, sample, fitted)

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
            own = getattr(step, "snapshot", None)
            progress = Progress(
                move, step.n_terms, step.cost, time.perf_counter() - self.started, lambda: self._snapshot(own)
            )
            try:
                self.watch(progress)
            except (KeyboardInterrupt, Interrupted):
                self.stop.set()
                raise

    def _snapshot(self, own: Callable[[], Fitted] | None) -> Fitted:
        done = [m for m in self.members if m is not None and m.is_whole]
        if not done and own is not None:
            return own()
        return dataclasses.replace(self._averaged(done), status="interrupted")

    # -- the average ------------------------------------------------------------------------------------------

    def _seen(self, members: list[_Member]) -> tuple[OutOfBagRows, Array]:
        """What the members say of the rows that each has not seen, and ``log p`` of all states under their average."""
        data, rows = self.empirical, OutOfBagRows(self.empirical)
        mean = np.full(len(data.states), -np.inf)
        for member in members:
            log_prob = log_prob_of(member.fitted.model, data.states, member.fitted.n_hidden)
            np.logaddexp(mean, log_prob, out=mean)
            rows.add(member.sample.drawn, log_prob, np.random.default_rng(self.seeds[member.number, 1]))
        return rows, mean - np.log(len(members))

    def _stacked(self, members: list[_Member]) -> _Stacked | None:
        """The other ways, learned from all rows, and their shares; None if no row is left to decide."""
        rows, _ = self._seen(members)
        known, basis = rows.known, members[0].fitted.model.basis
        if not known.any():
            return None
        logs, ways = [rows.expected(len(members))], []
        for name, learn in self.beside.items():
            rng = np.random.default_rng(self.seeds[0, 0])
            ways.append((name, learn(self.empirical, basis, rng)))
            logs.append(without_each_fifth(self.empirical, rows.followed, learn, basis, rng)[known])
        shares = best_shares(np.stack(logs, axis=1), rows.weight[known])
        seen = mixed(np.stack([rows.log_prob(), *logs[1:]], axis=1), shares)
        beside = [
            (float(share) * own, model)
            for share, (_, way) in zip(shares[1:], ways, strict=True)
            for own, model in way.models()
        ]
        named = dict(zip(("fits", *self.beside), map(float, shares), strict=True))
        return _Stacked(named, beside, rows.score(seen))

    def _averaged(self, members: list[_Member], stacked: _Stacked | None = None) -> Fitted:
        """The fitted average; the members are in the order of their seeds, whenever they were done."""
        fits, data = [m.fitted for m in members], self.empirical
        model, first = AveragedLogLinear.of([f.model for f in fits], stacked.beside if stacked else ()), fits[0]
        if stacked:
            mean, out_of_bag = log_prob_of(model, data.states), stacked.out_of_bag
        else:
            rows, mean = self._seen(members)
            out_of_bag = rows.score()
        entropy = entropy_of(data.counts, data.space.n_states, 0.0) if data.is_complete else observed_entropy(data)
        whole = len(members) == len(self.seeds) and all(m.is_whole for m in members) and not self.stop.is_set()
        return Fitted(
            model=model,
            standard_errors=model.spread,
            nats_saved=model.mean([f.nats_saved for f in fits]),
            total=data.total,
            n_rows=data.n_rows,
            n_dropped=data.n_dropped + data.n_empty,
            divergence=-float(data.counts @ mean) / data.total - entropy,
            entropy=entropy,
            description_length=float("nan"),
            history=tuple(self._steps(fits)),
            status=_status(fits) if whole else "interrupted",
            drift=max(f.drift for f in fits),
            settings={
                **first.settings,
                "average": len(self.seeds),
                "members": len(fits),
                **({"shares": stacked.shares} if stacked else {}),
            },
            fingerprint=data.fingerprint(),
            n_hidden=first.n_hidden,
            out_of_bag=out_of_bag,
        )

    def _steps(self, fits: list[Fitted]) -> Iterator[Step]:
        for b, f in enumerate(fits):
            last = f.history[-1] if f.history else None
            cost, seconds = (last.cost, last.seconds) if last else (f.divergence, 0.0)
            yield Step(f"fit {b + 1}", len(f.model.terms), cost, seconds)


def _status(fits: list[Fitted]) -> str:
    """``"converged"`` if all members are, as far as their rounds went, or else how the first that is not has ended."""
    return next((f.status for f in fits if f.status not in ("converged", "round limit", "term limit")), "converged")
