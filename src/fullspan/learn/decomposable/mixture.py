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
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from fullspan.arrays import Array
from fullspan.learn.decomposable.grow import GrowOptions
from fullspan.learn.decomposable.tables import Conditionals
from fullspan.learn.decomposable.weighted import Weighted
from fullspan.learn.shares import best_shares
from fullspan.model.record import Step, StepLike

Watch = Callable[[StepLike], None]
_WARM = 8
"""Iterations of independent components at the start of a run."""
_GROW_AT = (0, 3, 7, 12, 20)
"""Iterations after these at which graphs are grown."""
_BAGGED = 6
"""Bootstrap samples of a run of one component."""
_LEAST = 1e-3
"""Share of a row below which it does not count for a component."""


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
        return _log_sum(self.joint(rows))


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

    ``rows`` are drawn for a bootstrap sample, as many as the weights sum to by default. ``planned`` says in
    words how many runs there will be, ``made`` how many were begun. After ``max_seconds`` no iteration is begun.
    """

    train: Weighted
    valid: Weighted | None
    names: tuple[float, ...] | None = None
    tol: float = 1e-4
    patience: int = 4
    max_iter: int = 60
    watch: Watch | None = None
    rows: int | None = None
    planned: str = "1"
    max_seconds: float | None = None
    made: int = 0
    history: list[StepLike] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)

    def run(self, options: RunOptions, rng: np.random.Generator) -> Run:
        """Em from a random start; an interruption ends it with the best so far."""
        self.made += 1
        return self._bagged(options, rng) if options.components == 1 else self._mixed(options, rng)

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return self.max_seconds is not None and time.perf_counter() - self.began > self.max_seconds

    def _grown(self, weights: Array, options: RunOptions, model: Conditionals | None = None) -> Conditionals:
        growth = GrowOptions(options.width, options.weight, self.names)
        return self.train.grown(weights, growth, options.smoothing, model)

    def _bagged(self, options: RunOptions, rng: np.random.Generator) -> Run:
        w, total = self.train.weights, float(self.train.weights.sum())
        n = max(round(total), 1) if self.rows is None else self.rows
        samples = rng.multinomial(n, w / total, size=_BAGGED) * (total / n)

        def learned(drawn: Array) -> Conditionals:
            model = self._grown(drawn, options)
            if self.train.at_once == 1:  # missing cells were drawn from independent variables: again, by the model
                model = self._grown(drawn, options, self.train.refilled(drawn, model, options.smoothing))
            return self.train.refilled(drawn, model, options.smoothing)

        with ThreadPoolExecutor(self.train.at_once) as pool:
            models = tuple(pool.map(learned, samples))
        mixed = MixedConditionals(models, np.full(_BAGGED, -math.log(_BAGGED)))
        score = self.score(mixed)
        self._record("bag", _BAGGED, options.width, score)
        return Run(options, mixed, score, "converged")

    def _mixed(self, options: RunOptions, rng: np.random.Generator) -> Run:
        k, train = options.components, self.train
        share = rng.dirichlet(np.full(k, 0.3), size=len(train.weights))
        models: list[Conditionals] = []
        best, score, mark, idle, status = None, -math.inf, -math.inf, 0, "max_iter"
        try:
            for i in range(_WARM + self.max_iter):
                models = self._components(models, share, options, i)
                shares = train.weights @ share + 1.0
                mixed = MixedConditionals(tuple(models), np.log(shares / shares.sum()))
                joint = mixed.joint(train)
                log = _log_sum(joint)
                share = np.exp(joint - log[:, None])
                value = self.score(mixed) if self.valid is not None else self._mean(train, log)
                self._record("em", k, options.width, value)
                if i >= _WARM and value > score:
                    best, score = mixed, value
                if i < _WARM:
                    continue
                if self.is_late:
                    status = "time limit"
                    break
                idle = 0 if value > mark + self.tol else idle + 1
                mark = max(mark, value) if idle == 0 else mark
                if idle >= self.patience:
                    status = "converged"
                    break
        except KeyboardInterrupt:
            if best is None:
                raise
            status = "interrupted"
        assert best is not None
        return Run(options, best, score, status)

    def _components(self, models: list[Conditionals], share: Array, options: RunOptions, i: int) -> list[Conditionals]:
        """Every component from the rows as they are weighed for it."""

        def learned(h: int) -> Conditionals:
            weights = np.where(share[:, h] > _LEAST, share[:, h], 0.0) * self.train.weights
            if i == 0:
                return self.train.alone(weights, options.smoothing)
            if i - _WARM in _GROW_AT:
                return self._grown(weights, options, models[h])
            return self.train.refilled(weights, models[h], options.smoothing)

        with ThreadPoolExecutor(self.train.at_once) as pool:
            return list(pool.map(learned, range(options.components)))

    def _record(self, move: str, k: int, width: int, score: float) -> None:
        parts = "bootstrap samples" if move == "bag" else "components"
        rows = "learned from" if self.valid is None else "held out"
        words = f"run {self.made} of {self.planned}  {k} {parts}, width up to {width}  rows {rows} {score:.5f} nats"
        self.history.append(Step(move, k, -score, time.perf_counter() - self.began, words))
        if self.watch is not None:
            self.watch(self.history[-1])

    def score(self, mixed: MixedConditionals) -> float:
        """Mean log-likelihood of the rows that decide."""
        rows = self.train if self.valid is None else self.valid
        return self._mean(rows, mixed.log_prob(rows))

    @staticmethod
    def _mean(rows: Weighted, log: Array) -> float:
        return float(rows.weights @ log) / float(rows.weights.sum())

    def combined(self, runs: Sequence[Run]) -> Run:
        """The best run, or all of them mixed by what the rows held out say, if that is likelier."""
        best = max(runs, key=lambda run: run.score)
        if len(runs) == 1 or self.valid is None:
            return best
        logs = np.stack([run.model.log_prob(self.valid) for run in runs], axis=1)
        shares = best_shares(logs, self.valid.weights)
        kept = [r for r in range(len(runs)) if shares[r] > _LEAST]
        pieces = [np.log(shares[r]) + runs[r].model.log_shares for r in kept]
        joined = np.concatenate(pieces)
        joined -= float(_log_sum(joined[None, :])[0])
        mixed = MixedConditionals(tuple(c for r in kept for c in runs[r].model.components), joined)
        score = self.score(mixed)
        return Run(best.options, mixed, score, best.status) if score > best.score else best


def _log_sum(joint: Array) -> Array:
    top = joint.max(axis=1, keepdims=True)
    return np.asarray(top[:, 0] + np.log(np.exp(joint - top).sum(axis=1)))
