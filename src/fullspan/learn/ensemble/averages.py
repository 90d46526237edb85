"""Averages of k searches on the table, and of k machines."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fullspan.data import Empirical
from fullspan.data.space import Variable
from fullspan.errors import FullspanError
from fullspan.learn.base.column_order import in_canonical_order
from fullspan.learn.ensemble.candidates import Learn
from fullspan.learn.ensemble.completion import MAX_STATES
from fullspan.learn.ensemble.fit import Bounds, fit_average
from fullspan.learn.ensemble.policy import candidates_for
from fullspan.learn.likelihood.machine import fit_machine
from fullspan.learn.likelihood.options import MachineOptions
from fullspan.learn.likelihood.solvers import BEYOND_THE_TABLE
from fullspan.learn.networks.posterior import MAX_VARIABLES
from fullspan.learn.search.fit import fit_search
from fullspan.learn.search.options import MAX_COMPLETIONS, Limits, Options
from fullspan.model import Fitted

Watch = Callable[[Any], None] | None


def averaged_search(
    empirical: Empirical,
    options: Options,
    hidden: Sequence[Variable] = (),
    restarts: int = 5,
    k: int = 16,
    random_state: Any = None,
    watch: Watch = None,
    further: tuple[Mapping[str, Learn], threading.Event] | None = None,
    max_seconds: float | None = None,
) -> Fitted:
    """The average of k searches, of the rows and of bootstrap samples, stacked with other candidates.

    ``further`` are more candidates, and an event that is set when someone has stopped: they look at it.
    ``max_seconds`` bounds all learning; see :func:`fullspan.learn.ensemble.fit.fit_average`.

    Raises
    ------
    FullspanError : more columns than a table that is averaged can have.
    """

    def one(data: Empirical, bounds: Bounds, seed: np.random.Generator, watch: Callable[[Any], None]) -> Fitted:
        own = options if bounds.basis is None else replace(options, basis=bounds.basis)
        completions = MAX_COMPLETIONS if hidden else bounds.completions
        limits = Limits(bounds.rounds, bounds.terms, completions)
        return fit_search(data, own, watch, None, limits, hidden, restarts, seed)

    if len(empirical.space) > MAX_VARIABLES:
        raise FullspanError(
            f"average={k} was asked for {len(empirical.space)} columns; at most {MAX_VARIABLES} are possible: "
            "leave constant columns out with columns=, or use engine='elimination'"
        )
    learn, stop = further or ({}, None)
    too_wide = not empirical.is_complete and empirical.space.n_states > MAX_STATES
    alone = bool(hidden) or options.by_terms or too_wide  # no candidate supports these

    def average(data: Empirical, watch: Watch) -> Fitted:
        candidates = None if alone else candidates_for(data, options.max_order, k, learn)
        return fit_average(data, k, one, random_state, watch, candidates, stop, max_seconds)

    fitted = in_canonical_order(empirical, watch, average)
    return replace(fitted, settings={**fitted.settings, **dataclasses.asdict(options), "restarts": restarts})


def averaged_machine(
    empirical: Empirical,
    options: MachineOptions,
    hidden: Sequence[Variable] = (),
    k: int = 16,
    random_state: Any = None,
    watch: Watch = None,
) -> Fitted:
    """The average of k machines, fitted to the rows and to bootstrap samples.

    Raises
    ------
    FullspanError : the solver holds no table over the states, so that there is none to average.
    """
    if options.solver in BEYOND_THE_TABLE:
        raise FullspanError(
            f"average={k} needs the table of all states, which solver={options.solver!r} does without; use an exact "
            "solver, or average=1"
        )

    def one(data: Empirical, bounds: Bounds, seed: np.random.Generator, watch: Callable[[Any], None]) -> Fitted:
        return fit_machine(data, replace(options, seed=seed), hidden, watch)

    return fit_average(empirical, k, one, random_state, watch)
