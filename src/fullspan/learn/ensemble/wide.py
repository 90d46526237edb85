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
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.data.tables.resampling import held_out
from fullspan.engine.elimination.components import sums_of
from fullspan.errors import FullspanError
from fullspan.learn.base.column_order import ColumnOrder
from fullspan.learn.base.counted import bootstrap, observed_entropy
from fullspan.learn.base.progress import STOPPED, Interrupted, Progress
from fullspan.learn.ensemble.out_of_bag import log_prob_of
from fullspan.learn.shares import best_shares, mixed
from fullspan.learn.wide.fit import WideOptions, fit_wide
from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.fitted import Fitted, OutOfBag
from fullspan.model.graph import FactorGraph
from fullspan.model.record import Component, Step, StepLike

Watch = Callable[[Any], None] | None
Parts = Sequence[tuple[float, Component]]
SEARCH = "search"
"""The name of the search among the shares."""
HELD_OUT = 0.1
"""Share of the rows held out where none are given."""
_SEARCH_TIME = 0.25
"""The part of the time that the search may take."""
_PSEUDO_COUNT = 0.1
"""Of each candidate, in rows."""
_LEAST_ROWS = 0.5
"""Rows that a candidate must account for; the search keeps as much in any case."""
_POINTS, _MOST_POINTS = 64, 4096
"""Points of a latent variable for each fit that was asked for, and the most."""
_ROWS_PER_POINT = 4
"""Rows for each point: few rows tell no more of them apart."""


@dataclass(frozen=True)
class StackOptions:
    """How models are stacked.

    Attributes
    ----------
    size : how large the candidates are: 64 ``size`` points of a latent variable, and trees of ``size`` and 2 ``size``
        hidden states.
    wide : how the search of bounded width goes.
    max_seconds : of all learning; None for no limit.
    seed : of everything random.
    device : where a latent variable and hidden trees are learned.
    """

    size: int = 16
    wide: WideOptions = field(default_factory=WideOptions)
    max_seconds: float | None = 600.0
    seed: Any = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.max_seconds is not None and not self.max_seconds > 0:
            raise FullspanError(f"max_seconds is {self.max_seconds!r}; a positive number, or None for no limit")


@dataclass(frozen=True)
class _Learned:
    """A candidate: its parts with their shares, how it ended, and ``log p`` of the rows held out."""

    parts: Parts
    status: str
    held_out: Array = field(default_factory=lambda: np.zeros(0))


Learn = Callable[[Empirical, Empirical, float | None, np.random.Generator, Watch], _Learned]


@dataclass(frozen=True)
class _Candidate:
    """How a candidate is learned, and its part of the time that is left when its turn comes."""

    name: str
    learn: Learn
    weight: float


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

    def run(self) -> Fitted:
        whole = self.train.is_complete and (self.valid is None or self.valid.is_complete)
        candidates = candidates_of(self.options, complete=whole)
        self.planned = 1 + (len(candidates) if self.valid is not None else 0)
        search = self._searched()
        found: dict[str, _Learned] = {}
        if self.valid is not None:
            self.held_out = log_prob_of(search.model, self.valid.states)
            self._note(SEARCH, len(search.model.terms), self.held_out)
            for number, candidate in enumerate(candidates):
                if self.interrupted or (left := self._left()) <= 0:
                    break
                weight = sum(one.weight for one in candidates[number:])
                own = None if math.isinf(left) else left * candidate.weight / weight
                self._learn(candidate, number + 2, own, found)
        return self._stacked(search, found)

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
        limit = self.options.max_seconds
        left = math.inf if limit is None else limit - (time.perf_counter() - self.began)
        self.late = self.late or left <= 0
        return left

    def _learn(self, candidate: _Candidate, number: int, seconds: float | None, found: dict[str, _Learned]) -> None:
        assert self.valid is not None
        try:
            watch = self._telling(candidate.name, number)
            one = candidate.learn(self.train, self.valid, seconds, self.rng, watch)
        except STOPPED:  # before it had anything to show
            self.interrupted = True
            return
        logs = log_prob(one.parts, self.valid.states)
        found[candidate.name] = replace(one, held_out=logs)
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

    def _stacked(self, search: Fitted, found: dict[str, _Learned]) -> Fitted:
        shares, out_of_bag = np.ones(1), OutOfBag(math.nan, math.nan, 0.0)
        if self.valid is not None:
            weight = self.valid.counts
            log = np.stack([self.held_out, *(one.held_out for one in found.values())], axis=1)
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


def log_prob(parts: Parts, rows: NDArray[Any], before: Sequence[tuple[float, Array]] = ()) -> Array:
    """``log P`` of the observed cells of rows (m, n) under components of some shares, summed in each.

    ``before`` are further models: their shares, and what they say of the rows.
    """
    total, complete = np.full(len(rows), -np.inf), bool((rows >= 0).all())
    for share, log in before:
        np.logaddexp(total, math.log(share) + log, out=total)
    for share, part in parts:
        own = part.log_weight(rows) if complete else sums_of(part).log_prob(np.asarray(rows, dtype=np.int64))
        np.logaddexp(total, math.log(share) + own, out=total)
    return total


# -- candidates -------------------------------------------------------------------------------------------------


def candidates_of(options: StackOptions, *, complete: bool) -> list[_Candidate]:
    """What is stacked with the search, and the part of the time that each may take."""
    network = [_Candidate("networks", _networks(options), 0.15)] if complete else []
    return [
        _Candidate("latent variable, trees", _latent(options, trees=True), 0.4),
        _Candidate("mixture", _mixture(options), 0.25),
        *network,
        _Candidate("hidden tree", _hidden_tree(options), 0.15),
        _Candidate("latent variable, columns", _latent(options, trees=False), 0.1),
    ]


def _networks(options: StackOptions) -> Learn:
    """A network of the rows, and others of bootstrap samples as long as there is time, at most half ``size``."""

    def learn(
        train: Empirical, valid: Empirical, seconds: float | None, rng: np.random.Generator, watch: Watch
    ) -> _Learned:
        from fullspan.learn.networks.search import learn_network

        began, late, found = time.perf_counter(), False, list[FactorGraph]()

        def tell(step: StepLike) -> None:
            nonlocal late
            if watch is not None:
                watch(step)
            late = seconds is not None and time.perf_counter() - began > seconds
            if late:
                raise Interrupted

        status = "converged"
        for b in range(max(options.size // 2, 1)):
            network = learn_network(bootstrap(train, rng).data if b else train, watch=tell)
            if not network.is_finished and found:  # half a network says less than those before it
                status = "converged" if late else "interrupted"
                break
            found.append(_graph_of(train.space, network.families, network.tables))
            if not network.is_finished:
                status = "time limit" if late else "interrupted"
                break
        logs = np.stack([graph.log_weight(valid.states) for graph in found], axis=1)
        return _Learned(list(zip(best_shares(logs, valid.counts).tolist(), found, strict=True)), status)

    return learn


def _graph_of(space: Space, families: Sequence[tuple[int, ...]], tables: Sequence[Array]) -> FactorGraph:
    shapes = [[space.cards[i] for i in family] for family in families]
    return FactorGraph(space, families, [t.reshape(s, order="F") for t, s in zip(tables, shapes, strict=True)])


def _latent(options: StackOptions, *, trees: bool) -> Learn:
    def learn(
        train: Empirical, valid: Empirical, seconds: float | None, rng: np.random.Generator, watch: Watch
    ) -> _Learned:
        from fullspan.learn.latent import LatentOptions, fit_latent

        rows = int(train.total / _ROWS_PER_POINT)
        points = min(_POINTS * options.size, _MOST_POINTS, max(rows, _POINTS))
        own = LatentOptions(points=points, trees=trees, max_seconds=seconds, seed=rng, device=options.device)
        found = fit_latent(train, own, valid, watch)
        return _Learned([(1.0, found.model)], found.status)

    return learn


def _mixture(options: StackOptions) -> Learn:
    def learn(
        train: Empirical, valid: Empirical, seconds: float | None, rng: np.random.Generator, watch: Watch
    ) -> _Learned:
        from fullspan.learn.decomposable.fit import RUNS, MixtureOptions, fit_mixture

        runs = [run for run in RUNS if run[0] <= 2 * options.size]
        fitted = fit_mixture(train, MixtureOptions(runs=runs, max_seconds=seconds, seed=rng), valid, watch)
        parts = list(zip(fitted.model.shares.tolist(), fitted.model.components, strict=True))
        return _Learned(parts, fitted.status)

    return learn


def _hidden_tree(options: StackOptions) -> Learn:
    def learn(
        train: Empirical, valid: Empirical, seconds: float | None, rng: np.random.Generator, watch: Watch
    ) -> _Learned:
        from fullspan.learn.trees.hidden_tree import TreeOptions, fit_hidden_tree

        states = [options.size, 2 * options.size]
        own = TreeOptions(states, max_seconds=seconds, seed=rng, device=options.device)
        fitted = fit_hidden_tree(train, own, valid, watch)
        return _Learned([(1.0, fitted.model)], fitted.status)

    return learn
