"""The best predictor of a wide table: models of different kinds, stacked by rows held out from all of them.

    p(x) = sum_m w_m p_m(x),      w = the shares that make the rows held out likeliest

Candidates are learned one after the other, each in its part of the time: the search of bounded width, whose terms
people read; a continuous latent variable over trees and over independent columns; mixtures of decomposable models; a
Bayesian network; trees of hidden nodes. The shares are those of :func:`fullspan.learn.shares.best_shares`, so that the
rows held out are at least as likely under the stack as under each member, to within the pseudo-counts. All candidates
are normalised, and so is the stack: one average whose parts are of different kinds, with exact answers by sums in each.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.tables.resampling import held_out
from fullspan.learn.base.column_order import ColumnOrder
from fullspan.learn.base.counted import observed_entropy
from fullspan.learn.base.progress import STOPPED, Interrupted, Progress
from fullspan.learn.ensemble.out_of_bag import log_prob_of
from fullspan.learn.ensemble.wide_candidates import (
    Candidate,
    Learned,
    Parts,
    StackOptions,
    Watch,
    candidates_of,
    log_prob,
)
from fullspan.learn.shares import added_by, best_shares, mixed
from fullspan.learn.wide.fit import fit_wide
from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.fitted import Fitted, OutOfBag
from fullspan.model.record import Step, StepLike

SEARCH = "search"
"""The name of the search among the shares."""
HELD_OUT = 0.1
"""Share of the rows held out where none are given."""
_SEARCH_TIME, _FIRST_TIME = 0.15, 0.5
"""The part of the time that the search may take; and that of the rest in which each candidate is learned once."""
_LEAST_GAIN = 1e-3
"""Nats per row held out that the last model of a kind must add for another to be learned."""
_LONGER, _LEAST_PART = 2.0, 0.5
"""Time that a candidate may take when it is learned again, relative to the time before, and the least worth a start."""
_PSEUDO_COUNT = 0.1
"""Of each candidate, in rows."""
_LEAST_ROWS = 0.5
"""Rows that a candidate must account for; the search keeps as much in any case."""


def stacked_wide(
    empirical: Empirical, options: StackOptions | None = None, valid: Empirical | None = None, watch: Watch = None
) -> Fitted:
    """Learn all candidates, and stack them by the rows held out.

    Parameters
    ----------
    valid : rows held out, over the same variables; without them a tenth of the rows. Rows too few for that leave the
        search alone.
    watch : called at every step of every candidate; ``KeyboardInterrupt`` ends the learning, and what was learned by
        then is stacked.

    Returns
    -------
    The model is an :class:`AveragedLogLinear`: its terms are those of the search, its ``others`` the other candidates.
    ``out_of_bag`` is the likelihood of the rows held out.

    Raises
    ------
    TooLargeError : the search would not fit into memory.
    KeyboardInterrupt : before the search had made a move.
    """
    order = ColumnOrder(empirical)
    held = None if valid is None else order.data(valid)
    stack = _Stack(order.data(empirical), options or StackOptions(), held, order.watch(watch))
    return order.restored(stack.run())


class _Stack:
    def __init__(self, empirical: Empirical, options: StackOptions, valid: Empirical | None, watch: Watch) -> None:
        self.empirical, self.options, self.watch = empirical, options, watch
        self.rng, self.began = np.random.default_rng(options.seed), time.perf_counter()
        self.train, self.valid = held_out(empirical, HELD_OUT, self.rng) if valid is None else (empirical, valid)
        self.history: list[StepLike] = []
        self.interrupted = self.late = False
        self.scoring = 0.0

    def run(self) -> Fitted:
        whole = self.train.is_complete and (self.valid is None or self.valid.is_complete)
        candidates = candidates_of(self.options, complete=whole)
        self.planned = 1 + (len(candidates) if self.valid is not None else 0)
        search = self._searched()
        found: dict[str, Learned] = {}
        if self.valid is not None:
            self.held_out = log_prob_of(search.model, self.valid.states)
            self._note(SEARCH, len(search.model.terms), self.held_out)
            try:
                self._learn_each(candidates, found)
                if self.options.max_seconds is not None:
                    self._learn_again(candidates, found)
            except STOPPED:  # before a candidate had anything to show, or while it was scored
                self.interrupted = True
        return self._stacked(search, found)

    def _learn_each(self, candidates: Sequence[Candidate], found: dict[str, Learned]) -> None:
        """Every candidate once, in the first part of the time that the search has left.

        What others took too long for is no reason to leave one out: each has at least half of its part.
        """
        whole, weights = self._left(), [one.weight for one in candidates]
        for number, candidate in enumerate(candidates):
            left = self._left()
            self.late = self.late or left <= 0
            if self.interrupted or left <= 0:
                return
            own = None
            if not math.isinf(left):
                least = _FIRST_TIME * whole * candidate.weight / (2 * sum(weights))
                fair = (left - (1 - _FIRST_TIME) * whole) * candidate.weight / sum(weights[number:])
                own = min(max(fair, least), left)
            self._learn(candidate, number + 2, own, found)

    def _learn_again(self, candidates: Sequence[Candidate], found: dict[str, Learned]) -> None:
        """Use the time that is left for more models of the kinds whose last one added most, for the time they may take.

        The clock chooses none, so that a fit that ends before its time is the same again.
        """
        turns = {one.name: [one.name] for one in candidates if one.name in found}
        while not self.interrupted:
            gains = {one.name: self._added_by(turns[one.name][-1], found) for one in candidates if one.name in turns}
            left = self._left()
            going = [
                one
                for one in candidates
                if gains.get(one.name, 0.0) > _LEAST_GAIN
                and len(turns[one.name]) < self.options.size
                and _LEAST_PART * found[turns[one.name][-1]].seconds < left
            ]
            if not going:
                return
            best = max(going, key=lambda one: gains[one.name] / one.weight)
            last, own = turns[best.name][-1], best.again(f"{best.name}, {len(turns[best.name]) + 1}")
            self.planned += 1
            part = best.weight / sum(one.weight for one in candidates)
            self._learn(own, self.planned, min(max(_LONGER * found[last].seconds, part * left), left), found)
            turns[best.name].append(own.name)

    def _added_by(self, name: str, found: dict[str, Learned]) -> float:
        """Nats per row held out that one model adds to all others."""
        assert self.valid is not None
        log = self._held_out_logs(found)
        return added_by(log, self.valid.counts, [1 + list(found).index(name)]) / self.valid.total

    def _held_out_logs(self, found: dict[str, Learned]) -> Array:
        return np.stack([self.held_out, *(one.held_out for one in found.values())], axis=1)

    def _searched(self) -> Fitted:
        """The search, which ends with what it has when its part of the time is over."""
        limit, tell = self.options.max_seconds, self._telling(SEARCH, 1)
        late = False

        def watch(step: StepLike) -> None:
            nonlocal late
            tell(step)
            late = limit is not None and time.perf_counter() - self.began > _SEARCH_TIME * limit
            if late:
                raise Interrupted

        search = fit_wide(self.train, self.options.wide, watch)
        self.interrupted = search.status == "interrupted" and not late
        return replace(search, status="time limit") if late else search

    def _left(self) -> float:
        """Seconds until the time is over, less what scoring all rows will take in the end."""
        limit = self.options.max_seconds
        return math.inf if limit is None else limit - self.scoring - (time.perf_counter() - self.began)

    def _learn(self, candidate: Candidate, number: int, seconds: float | None, found: dict[str, Learned]) -> None:
        assert self.valid is not None
        began = time.perf_counter()
        watch = self._telling(candidate.name, number)
        one = candidate.learn(self.train, self.valid, seconds, self.rng, watch)
        ended = time.perf_counter()
        logs = log_prob(one.parts, self.valid.states)
        self.scoring += (time.perf_counter() - ended) * len(self.empirical.states) / len(self.valid.states)
        found[candidate.name] = replace(one, held_out=logs, seconds=time.perf_counter() - began)
        self.interrupted = one.status == "interrupted"
        self.late = self.late or one.status == "time limit"
        self._note(candidate.name, len(one.parts), logs)

    def _telling(self, name: str, number: int) -> Callable[[StepLike], None]:
        """Pass the steps of a candidate on, with its name in front."""

        def tell(step: StepLike) -> None:
            if self.watch is None:
                return
            words = getattr(step, "words", "") or f"{step.n_terms} terms  cost {step.cost:.5f} nats/row"
            words, seconds = f"{name}, {number} of {self.planned}: {words}", time.perf_counter() - self.began
            self.watch(Progress(step.move, step.n_terms, step.cost, seconds, words, getattr(step, "snapshot", None)))

        return tell

    def _note(self, name: str, n: int, logs: Array) -> None:
        assert self.valid is not None
        cost = -float(self.valid.counts @ logs) / self.valid.total
        self.history.append(Step(name, n, cost, time.perf_counter() - self.began))

    # -- shares -----------------------------------------------------------------------------------------------------

    def _stacked(self, search: Fitted, found: dict[str, Learned]) -> Fitted:
        shares, out_of_bag = np.ones(1), OutOfBag(math.nan, math.nan, 0.0)
        if self.valid is not None:
            weight = self.valid.counts
            log = self._held_out_logs(found)
            shares = self._shares(log, weight)
            out_of_bag = _score(mixed(log, shares), weight, self.valid.total / (self.valid.total + self.train.total))
        named = dict(zip((SEARCH, *found), map(float, shares), strict=True))
        others = [
            (named[name] * own, part) for name, one in found.items() if named[name] > 0 for own, part in one.parts
        ]
        return self._fitted(search, named, others, out_of_bag)

    def _shares(self, log: Array, weight: Array) -> Array:
        """Of the candidates; those of less than half a row are 0."""
        total, shares = float(weight.sum()), best_shares(log, weight, _PSEUDO_COUNT)
        shares = np.where(shares * total < _LEAST_ROWS, 0.0, shares)
        shares[0] = max(shares[0], _LEAST_ROWS / total)
        return np.asarray(shares / shares.sum())

    def _fitted(self, search: Fitted, shares: dict[str, float], others: Parts, out_of_bag: OutOfBag) -> Fitted:
        data, rest = self.empirical, sum(share for share, _ in others)
        scale = (1.0 - shares[SEARCH]) / rest if rest else 1.0  # the rounding of the sums
        model = AveragedLogLinear.of([search.model], (), [(share * scale, part) for share, part in others])
        order = np.argsort([search.model.basis.index(term) for term in search.model.terms], kind="stable")
        own = [(shares[SEARCH], log_prob_of(search.model, data.states))] if others else []
        log = log_prob(model.others, data.states, own) if others else log_prob_of(search.model, data.states)
        entropy = observed_entropy(data)
        status = "interrupted" if self.interrupted else "time limit" if self.late else search.status
        return replace(
            search,
            model=model,
            standard_errors=search.standard_errors[order],
            nats_saved=search.nats_saved[order],
            approximate=None if search.approximate is None else search.approximate[order],
            **data.provenance(),
            divergence=-float(data.counts @ log) / data.total - entropy,
            entropy=entropy,
            description_length=float("nan"),
            prior=None,
            history=tuple(self.history),
            status=status,
            settings={**search.settings, "average": self.options.size, "members": 1, "shares": shares},
            out_of_bag=out_of_bag,
        )


def _score(log: Array, weight: Array, share: float) -> OutOfBag:
    total = float(weight.sum())
    mean = float(weight @ log) / total
    return OutOfBag(mean, math.sqrt(float(weight @ (log - mean) ** 2)) / total, share)
