"""From counts to a mixture of decomposable models: runs of several sizes and widths, combined on rows held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullspan.data import Empirical
from fullspan.data.canonical import canonical_states
from fullspan.data.space import Space
from fullspan.errors import FullspanError
from fullspan.learn.base.column_order import ColumnOrder
from fullspan.learn.base.counted import n_draws
from fullspan.learn.base.em import Stop
from fullspan.learn.base.progress import STOPPED, History, Watch
from fullspan.learn.decomposable.mixture import Learner, MixedConditionals, Run, RunOptions
from fullspan.learn.decomposable.tables import Conditionals
from fullspan.learn.decomposable.weighted import weighted
from fullspan.model.graph import FactorGraph
from fullspan.model.mixture import FittedMixture, Mixture

RUNS = ((8, 4), (2, 8), (8, 1), (1, 8), (16, 3), (4, 6), (24, 4), (32, 2))
"""Components and widths that are tried, in this order, where none are given."""
_BAG_WEIGHT = 0.5
"""Nats per weight of a component that is bagged: an average forgives weights that one model would not."""


@dataclass(frozen=True)
class MixtureOptions:
    """How a mixture is learned.

    Attributes
    ----------
    runs : (components, width) of every run; of one component: bootstrap samples, averaged.
    smoothing : pseudo-rows of every table; twice as many for one component and for widths of 4 with many components.
    restarts : number of times that all runs are made, from different starts.
    max_seconds : no iteration is begun after this time, but those of the first run without a graph; None for no limit.
    tol, patience, max_iter : a run ends after ``patience`` iterations without ``tol`` nats per row, or ``max_iter``.
    seed : of the starts.
    """

    runs: Sequence[tuple[int, int]] = RUNS
    smoothing: float = 5.0
    restarts: int = 2
    max_seconds: float | None = None
    tol: float = 1e-4
    patience: int = 4
    max_iter: int = 60
    seed: Any = None

    def __post_init__(self) -> None:
        for run in self.runs:
            if len(run) != 2 or min(run) < 1:
                raise FullspanError(f"runs has {run!r}; pairs (components, width) of at least 1 are needed")
        if not self.runs:
            raise FullspanError("runs needs at least one pair (components, width), such as (8, 4)")
        if not 0 < self.smoothing < np.inf:
            raise FullspanError(f"smoothing is {self.smoothing!r}; a positive number of pseudo-rows is needed")

    def schedule(self) -> list[RunOptions]:
        """All runs in order."""
        found = []
        for k, width in [(int(k), int(w)) for _ in range(self.restarts) for k, w in self.runs]:
            often = k == 1 or (k >= 24 and width >= 4)
            smoothing = self.smoothing * (2 if often else 1)
            found.append(RunOptions(k, width, smoothing, _BAG_WEIGHT if k == 1 else 1.0))
        return found


def fit_mixture(
    empirical: Empirical, options: MixtureOptions, valid: Empirical | None = None, watch: Watch | None = None
) -> FittedMixture:
    """Learn a mixture of decomposable models; rows held out choose and weigh the runs.

    Missing cells are summed over. Ctrl-C ends the learning with the runs so far.
    """
    order = ColumnOrder(empirical)
    held_out = None if valid is None else order.data(valid)
    return order.restored(_fit(order.data(empirical), options, held_out, watch))


def _fit(empirical: Empirical, options: MixtureOptions, valid: Empirical | None, watch: Watch | None) -> FittedMixture:
    rng = np.random.default_rng(options.seed)
    train = weighted(empirical, rng)
    schedule, history = options.schedule(), History(watch)
    learner = Learner(
        train,
        None if valid is None else weighted(valid, rng),
        Stop(gain=options.tol, patience=options.patience, max_iter=options.max_iter - 1),
        history,
        n_draws(empirical),
        f"{len(schedule)}" if options.max_seconds is None else f"up to {len(schedule)}",
        options.max_seconds,
        canonical_states(empirical),
    )
    runs, status = list[Run](), "converged"
    try:
        for run in schedule:
            if learner.is_late and runs:
                status = "time limit"
                break
            runs.append(learner.run(run, rng))
            if runs[-1].status == "interrupted":
                raise KeyboardInterrupt
            if runs[-1].status == "time limit":
                status = "time limit"
                break
    except STOPPED:
        if not runs:
            raise
        status = "interrupted"
    best = learner.combined(runs)
    mean = float(train.weights @ best.model.log_prob(train)) / empirical.total
    return FittedMixture(
        model=mixture_of(empirical.space, best.model),
        log_likelihood=mean,
        validation=float("nan") if valid is None else best.score,
        **empirical.provenance(),
        history=tuple(history.steps),
        status=status,
        settings={"n_runs": len(runs)},
    )


def mixture_of(space: Space, mixed: MixedConditionals) -> Mixture:
    """The mixture as factor graphs, one factor for each variable and its parents."""
    shares = np.exp(mixed.log_shares)
    return Mixture(space, shares / shares.sum(), tuple(graph_of(space, c) for c in mixed.components))


def graph_of(space: Space, model: Conditionals) -> FactorGraph:
    """A decomposable model as factors; the sum of their product is 1."""
    scopes, tables = [], []
    for v in range(len(space)):
        members, table = model.family(v)
        scopes.append(tuple(members))
        tables.append(table.reshape([space.cards[i] for i in members], order="F"))
    return FactorGraph(space, scopes, tables)
