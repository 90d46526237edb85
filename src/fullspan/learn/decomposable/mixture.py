"""Mixtures of decomposable models by em: a hidden variable with k levels, each with a graph of its own.

    p(x) = sum_h pi_h p_h(x),      p_h(x) = prod_v p_h(x_v | x_S_h(v))

An iteration weighs every row by ``p(h | x)``, exact, and learns each component from the rows so weighed, closed form;
the graphs are grown again now and then. Rows held out end a run, and choose between runs of different numbers of
components, widths and starts. A mixture of several runs is again such a mixture, of all their components; its weights
are fitted to the rows held out, and it is kept if these are likelier under it. A run of one component learns from
several bootstrap samples of the rows and averages them: a bagged model. Cells that are missing are summed over
throughout (module ``weighted``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import EllipsisType

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.learn.base.em import Expected, Stop, alternate
from fullspan.learn.base.progress import History, Interrupted
from fullspan.learn.decomposable.grow import GrowOptions
from fullspan.learn.decomposable.tables import Conditionals
from fullspan.learn.decomposable.weighted import Weighted
from fullspan.learn.shares import best_shares
from fullspan.model.algebra.basis import log_sums

WARM_ITERATIONS = 8
"""Iterations of independent components at the start of a run."""
GROW_AT = (0, 3, 7, 12, 20)
"""Iterations after these at which graphs are grown."""
_BAGGED_SAMPLES = 6
"""Bootstrap samples of a run of one component."""
LEAST_SHARE = 1e-3
"""Share of a row below which it does not count for a component: rows that nearly all belong elsewhere are most of them,
and each would cost as much as one that is the component's own."""


STOP = Stop(gain=1e-4, patience=4, max_iter=60)
"""When a run ends."""


@dataclass(frozen=True)
class RunOptions:
    """One run: components, width, pseudo-rows of every table, and nats per weight."""

    components: int
    width: int
    smoothing: float
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class MixedConditionals:
    """Components and the logarithms of their shares."""

    components: tuple[Conditionals, ...]
    log_shares: Array

    def joint(self, rows: Weighted) -> Array:
        """``log pi_h + log p_h(row)`` (m, k)."""
        return np.stack([rows.log_prob(c) for c in self.components], axis=1) + self.log_shares

    def log_prob(self, rows: Weighted) -> Array:
        """Log-probabilities (m,) of what the rows say."""
        return log_sums(self.joint(rows))


@dataclass(frozen=True)
class Run:
    """A run's best mixture, its score on the rows held out, and how it ended."""

    options: RunOptions
    model: MixedConditionals
    score: float
    status: str


@dataclass
class Learner:
    """Runs on one table; ``valid`` decides, or the rows learned from where there is none.

    Attributes
    ----------
    stop : when a run ends, in nats per row.
    history : of all runs, reported as they happen.
    rows : drawn for a bootstrap sample; as many as the weights sum to by default.
    planned : in words, how many runs there will be.
    max_seconds : since the start of the history, after which no iteration is begun.
    order : of the rows, in which they get random numbers; as they stand by default.
    made : runs that were begun.
    """

    train: Weighted
    valid: Weighted | None
    stop: Stop = STOP
    history: History = field(default_factory=History)
    rows: int | None = None
    planned: str = "1"
    max_seconds: float | None = None
    order: NDArray[np.intp] | EllipsisType = ...
    made: int = field(default=0, init=False)

    def run(self, options: RunOptions, rng: np.random.Generator) -> Run:
        """Em from a random start; an interruption ends it with the best so far."""
        self.made += 1
        return self._bagged(options, rng) if options.components == 1 else self._mixed(options, rng)

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return self.history.is_late(self.max_seconds)

    def grown(self, weights: Array, options: RunOptions, model: Conditionals | None = None) -> Conditionals:
        """A model with a graph of its own."""
        return self.train.grown(weights, GrowOptions(options.width, options.weight), options.smoothing, model)

    def _bagged(self, options: RunOptions, rng: np.random.Generator) -> Run:
        w, total = self.train.weights, float(self.train.weights.sum())
        n = max(round(total), 1) if self.rows is None else self.rows
        samples = np.empty((_BAGGED_SAMPLES, len(w)))
        # Drawn in the order of the states and not of the columns, so that another order of columns draws the same rows.
        samples[:, self.order] = rng.multinomial(n, w[self.order] / total, size=_BAGGED_SAMPLES) * (total / n)

        def learned(drawn: Array) -> Conditionals:
            model = self.grown(drawn, options)
            if self.train.at_once == 1:  # missing cells were drawn from independent variables: again, by the model
                model = self.grown(drawn, options, self.train.refilled(drawn, model, options.smoothing))
            return self.train.refilled(drawn, model, options.smoothing)

        with ThreadPoolExecutor(self.train.at_once) as pool:
            models = tuple(pool.map(learned, samples))
        mixed = MixedConditionals(models, np.full(_BAGGED_SAMPLES, -math.log(_BAGGED_SAMPLES)))
        score = self.score(mixed)
        self._record("bag", _BAGGED_SAMPLES, options.width, score)
        return Run(options, mixed, score, "converged")

    def _mixed(self, options: RunOptions, rng: np.random.Generator) -> Run:
        em = Em(self, options)

        def report(stage: Stage, expected: Expected[Array], done: int) -> None:
            self._record("em", options.components, options.width, -expected.value)
            if self.is_late:
                raise Interrupted

        share = np.empty((len(self.train.weights), options.components))
        # Below 1, so that every row begins nearly in one component; equal shares would be a saddle that em cannot
        # leave.
        share[self.order] = rng.dirichlet(np.full(options.components, 0.3), size=len(share))
        stage = em.begin(share)
        # Not judged: with random shares the likelihood may fall while components find their rows.
        for _ in range(WARM_ITERATIONS):
            expected = em.complete(stage)
            self._record("em", options.components, options.width, -expected.value)
            stage = em.project(expected.data, stage)
        found = alternate(em, stage, self.stop, report)
        if found.expected is None:
            raise KeyboardInterrupt
        status = "max_iter" if found.status == "iteration limit" else found.status
        status = "time limit" if status == "interrupted" and self.is_late else status
        return Run(options, found.model.mixed, -found.value, status)

    def _record(self, move: str, k: int, width: int, score: float) -> None:
        parts = "bootstrap samples" if move == "bag" else "components"
        rows = "learned from" if self.valid is None else "held out"
        words = f"run {self.made} of {self.planned}  {k} {parts}, width up to {width}  rows {rows} {score:.5f} nats"
        self.history.record(move, k, -score, words)

    def score(self, mixed: MixedConditionals) -> float:
        """Mean log-likelihood of the rows that decide."""
        rows = self.train if self.valid is None else self.valid
        return mean(rows, mixed.log_prob(rows))

    def combined(self, runs: Sequence[Run]) -> Run:
        """The best run, or all of them mixed by what the rows held out say, if that is likelier."""
        best = max(runs, key=lambda run: run.score)
        if len(runs) == 1 or self.valid is None:
            return best
        logs = np.stack([run.model.log_prob(self.valid) for run in runs], axis=1)
        shares = best_shares(logs, self.valid.weights)
        kept = [r for r in range(len(runs)) if shares[r] > LEAST_SHARE]
        pieces = [np.log(shares[r]) + runs[r].model.log_shares for r in kept]
        joined = np.concatenate(pieces)
        # Runs with a share below the least one were left out; the rest is normalised again.
        joined -= float(np.logaddexp.reduce(joined))
        mixed = MixedConditionals(tuple(c for r in kept for c in runs[r].model.components), joined)
        score = self.score(mixed)
        return Run(best.options, mixed, score, best.status) if score > best.score else best


@dataclass(frozen=True)
class Stage:
    """A mixture before convergence, and the iterations that made it."""

    mixed: MixedConditionals
    done: int


class Em:
    """The two steps of em; rows held out judge, where there are some."""

    def __init__(self, learner: Learner, options: RunOptions) -> None:
        self.learner, self.train, self.options = learner, learner.train, options

    def begin(self, share: Array) -> Stage:
        """Components of independent variables, from the share (m, k) that each has in the rows."""
        return self._learned(share, lambda h, weights: self.train.alone(weights, self.options.smoothing), 0)

    def complete(self, stage: Stage) -> Expected[Array]:
        """The share of each component in every row."""
        joint = stage.mixed.joint(self.train)
        log = log_sums(joint)
        value = mean(self.train, log) if self.learner.valid is None else self.learner.score(stage.mixed)
        return Expected(-value, np.exp(joint - log[:, None]))

    def project(self, data: Array, model: Stage) -> Stage:
        """Every component from the rows as they are weighed for it, with a new graph at times."""
        components, grows = model.mixed.components, model.done - WARM_ITERATIONS in GROW_AT

        def learned(h: int, weights: Array) -> Conditionals:
            if grows:
                return self.learner.grown(weights, self.options, components[h])
            return self.train.refilled(weights, components[h], self.options.smoothing)

        return self._learned(data, learned, model.done)

    def _learned(self, share: Array, learned: Callable[[int, Array], Conditionals], done: int) -> Stage:
        def component(h: int) -> Conditionals:
            return learned(h, np.where(share[:, h] > LEAST_SHARE, share[:, h], 0.0) * self.train.weights)

        with ThreadPoolExecutor(self.train.at_once) as pool:
            components = tuple(pool.map(component, range(share.shape[1])))
        # One pseudo-row for each component: none gets a share of 0, whose logarithm would end it.
        shares = self.train.weights @ share + 1.0
        return Stage(MixedConditionals(components, np.log(shares / shares.sum())), done + 1)


def mean(rows: Weighted, log: Array) -> float:
    """Mean of the rows' logarithms."""
    return float(rows.weights @ log) / float(rows.weights.sum())
