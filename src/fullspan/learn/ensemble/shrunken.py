"""A search, or an average of searches, mixed with a model of all interactions that is shrunken by evidence."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.tables.resampling import held_out
from fullspan.learn.base.column_order import in_canonical_order
from fullspan.learn.base.progress import Interrupted
from fullspan.learn.ensemble.averages import averaged_search
from fullspan.learn.ensemble.out_of_bag import log_prob_of
from fullspan.learn.search.fit import fit_search
from fullspan.learn.search.options import Options
from fullspan.learn.shares import best_shares
from fullspan.learn.shrinkage.fit import check_shrinkable, fit_shrunken
from fullspan.model import Fitted, LogLinear
from fullspan.model.algebra.basis import Basis
from fullspan.model.averaged import AveragedLogLinear

Watch = Callable[[Any], None] | None
_HELD_OUT = 0.2
"""Share of the rows on which the share of a shrunken model next to one search is decided."""


def shrunken_search(
    empirical: Empirical,
    options: Options,
    k: int = 1,
    random_state: Any = None,
    watch: Watch = None,
    max_seconds: float | None = None,
) -> Fitted:
    """A search, or the average of k, mixed with a shrunken model of all interactions.

    The share of the latter makes held-out rows likeliest: a fifth of the data, for which both models are also fitted to
    the rest, or, in an average, all rows by cross-validation.

    Raises
    ------
    FullspanError : there are too many states.
    """
    check_shrinkable(empirical, None, options.max_memory)

    def learn(data: Empirical, watch: Watch) -> Fitted:
        if k == 1:
            return _one_search(data, options, watch)
        return _averaged(data, options, k, random_state, watch, max_seconds)

    return in_canonical_order(empirical, watch, learn)


def _averaged(
    empirical: Empirical, options: Options, k: int, random_state: Any, watch: Watch, max_seconds: float | None
) -> Fitted:
    """The average of k searches with the shrunken model among the candidates."""
    effective: dict[str, Any] = {}
    stop, lock = threading.Event(), threading.Lock()

    def passed_on(step: Any) -> None:
        """Pass a step on, of a fit or of the shrunken model learned at the same time, one after the other."""
        with lock:
            if stop.is_set():
                raise Interrupted
            try:
                if watch is not None:
                    watch(step)
            except KeyboardInterrupt:
                stop.set()
                raise

    def shrunken(data: Empirical, basis: Basis, rng: np.random.Generator) -> _Shrunken:
        found = fit_shrunken(data, basis.name, None, options.max_memory, passed_on)
        if found.status == "interrupted":
            raise Interrupted
        effective.update(found.settings if data is empirical else {})
        return _Shrunken(found.model)

    further = ({"shrunken": shrunken}, stop)
    fitted = averaged_search(empirical, options, (), 1, k, random_state, passed_on, further, max_seconds)
    return replace(fitted, settings={**fitted.settings, "shrinkage": "evidence", **effective})


@dataclass(frozen=True)
class _Shrunken:
    """A shrunken model as a candidate of an ensemble."""

    model: LogLinear

    def log_prob(self, states: NDArray[Any]) -> Array:
        return self.model.log_prob(states)

    def models(self) -> tuple[tuple[float, LogLinear], ...]:
        return ((1.0, self.model),)


def _one_search(empirical: Empirical, options: Options, watch: Watch) -> Fitted:
    fitted = fit_search(empirical, options, watch=watch)
    settings = {**fitted.settings, "average": 1, "shrinkage": "evidence"}
    if fitted.status == "interrupted":
        return replace(fitted, settings=settings)
    background, share, whole = _background(empirical, options, fitted.model.basis, watch)
    if not whole:
        return replace(fitted, status="interrupted", settings=settings)
    model = AveragedLogLinear.of([fitted.model], [(share, background.model)])
    order = np.argsort([model.basis.index(term) for term in fitted.model.terms], kind="stable")
    surprise = -float(empirical.counts @ log_prob_of(model, empirical.states)) / empirical.total
    return replace(
        fitted,
        model=model,
        standard_errors=fitted.standard_errors[order],
        nats_saved=fitted.nats_saved[order],
        divergence=surprise - fitted.entropy,
        description_length=float("nan"),
        prior=None,
        members=((fitted, None),),
        settings={**settings, "share": share, **background.settings},
    )


def _background(empirical: Empirical, options: Options, basis: Basis, watch: Watch) -> tuple[Fitted, float, bool]:
    """The shrunken model of all rows, its share, and whether nobody interrupted."""
    memory: Any = options.max_memory
    train, valid = held_out(empirical, _HELD_OUT, np.random.default_rng(0))
    background, share = fit_shrunken(empirical, basis.name, None, memory, watch), 0.5
    rivals: list[Fitted] = []
    if valid is not None and background.status == "converged":
        rivals = [fit_search(train, options, watch=watch), fit_shrunken(train, basis.name, None, memory, watch)]
        log_prob = np.stack([log_prob_of(rival.model, valid.states) for rival in rivals], axis=1)
        share = float(best_shares(log_prob, valid.counts)[1])
    return background, share, all(found.status != "interrupted" for found in (background, *rivals))
