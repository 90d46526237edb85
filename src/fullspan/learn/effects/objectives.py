"""The objective that a fit has minimised, put together again at its minimum from the model and its rows."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.engine.dual.table import DualTable
from fullspan.engine.truncated import TruncatedEngine
from fullspan.graphs import Graph
from fullspan.learn.base.phase import Known, Phase
from fullspan.learn.effects.dropping import Dropping
from fullspan.learn.likelihood.phases import Features, Free, Observed, Smoothed, data_moments
from fullspan.learn.search.options import PSEUDO_ROWS
from fullspan.model import Fitted, LogLinear
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.truncated import TruncatedLogLinear

MOST_STATES = 1 << 22
"""States from which on nothing is refitted: the table would be rebuilt for seconds each time."""
_MOST_WITH_HIDDEN = 1 << 14
"""The same with hidden variables, whose curvature takes a sum over the completions of every row."""
MOST_WEIGHTS = 1024
"""Weights up to which it is: each refit factorises their information."""
_SMALL, _FINE, _COARSE = 1 << 14, 1e-9, 2e-3
"""Work up to which refits go on to rounding, and the share of a loss at which Newton's method may stop else."""
_SAMPLED = ("pcd", "cd", "pseudo")
"""Solvers that do not end at the maximum of the likelihood."""


def objective_of(fitted: Fitted, data: Empirical, extra: tuple[Term, ...] = ()) -> Dropping | None:
    """The objective of a fit; None where there is none that could be evaluated again in a moment.

    ``extra`` terms, which the model does not have, are free when a part of it is dropped; only on the dual table.
    """
    model, settings = fitted.model, fitted.settings
    # An interrupted fit is no optimum of anything, and refits would be compared with it.
    if fitted.status == "interrupted" or (fitted.n_hidden and model.basis.n_states > _MOST_WITH_HIDDEN):
        return None
    if not 0 < len(model.terms) <= MOST_WEIGHTS or settings.get("solver") in _SAMPLED or settings.get("shrinkage"):
        return None
    if model.listed_states is not None:
        return _truncated(fitted, cast(TruncatedLogLinear, model), data)
    if "chosen" in settings:  # its ridge is no sum over weights
        return None
    if not model.is_single or (fitted.by_elimination and not _by_elimination(fitted, data)):
        return None
    if settings.get("estimator") == "DecimatableBoltzmannMachine":
        return _decimatable(fitted, data)
    full = data.with_hidden(model.space.variables[len(model.space) - fitted.n_hidden :]) if fitted.n_hidden else data
    if full.space != model.space:
        return None
    if "roles" in settings:
        return _conditional(fitted, full)
    return _table(fitted, full, extra) if model.basis.n_states <= MOST_STATES else None


def _by_elimination(fitted: Fitted, data: Empirical) -> bool:
    """Whether a search by elimination can be looked at again on the table: it knows its prior, and no cell is open."""
    return fitted.prior is not None and data.is_complete


def _table(fitted: Fitted, data: Empirical, extra: tuple[Term, ...]) -> Dropping:
    """On the dual table: searches with their pseudo-row and fitted prior, machines with their ridge."""
    model, settings = fitted.model, fitted.settings
    basis, k, total = model.basis, len(model.terms), data.total
    terms, more = (*model.terms, *extra), np.zeros(len(extra))
    y = np.array([*model.indices, *map(basis.index, extra)], dtype=np.int64)
    # Only these have the pseudo-row; the published search counts half a row at the boundary instead.
    searched = settings.get("search") == "full" or fitted.by_elimination
    pseudo = PSEUDO_ROWS if searched and not settings.get("l1") else 0.0
    rows: Phase
    if data.is_complete:
        rows = Known(data_moments(basis, y, data.states, data.counts))
    else:
        rows = Observed(basis, y, data.states, data.counts)
    smoothed: Phase = Smoothed(rows, basis, terms, total, pseudo) if pseudo else rows
    mean, precision = fitted.prior or (np.zeros(k), _ridge(fitted, total))
    free = Free(DualTable(basis, np.float64), y)
    return Dropping(
        free,
        smoothed,
        rows,
        np.append(model.theta, more),
        total,
        np.append(precision / total, more),
        np.append(mean, more),
        float(settings.get("l1") or 0.0),
        tolerance(basis.n_states),
        k,
        has_prior=fitted.prior is not None,
    )


def _ridge(fitted: Fitted, total: float) -> Array:
    return np.full(len(fitted.model.terms), total * float(fitted.settings.get("l2") or 0.0))


def tolerance(work: int) -> float:
    """Share of a loss at which a refit of so much work ends."""
    return _FINE if work <= _SMALL else _COARSE


def _truncated(fitted: Fitted, model: TruncatedLogLinear, data: Empirical) -> Dropping:
    engine = TruncatedEngine.of_model(model)
    q = np.bincount(model.rows_of(data.states), data.counts / data.total, len(engine)).astype(np.float64)
    rows, k, theta = Known(engine.moments(q)), len(model.terms), np.array(model.theta)
    l2, end = _ridge(fitted, data.total) / data.total, tolerance(len(engine))
    size = len(engine) * k
    return Dropping(engine, rows, rows, theta, data.total, l2, np.zeros(k), 0.0, end, size=size)


def _conditional(fitted: Fitted, data: Empirical) -> Dropping:
    """Of outputs given inputs: the inputs clamped in the free phase."""
    model, roles = fitted.model, fitted.settings["roles"]
    inputs = [model.space.position(name) for name in roles["inputs"]]
    given = np.full_like(data.states, -1, dtype=np.int64)
    given[:, inputs] = data.states[:, inputs]
    distinct, which = np.unique(given, axis=0, return_inverse=True)
    shares = np.bincount(which.ravel(), weights=data.counts / data.total).astype(np.float64)
    basis: Basis = model.basis
    free = Features(basis, model.terms, distinct, shares)
    rows: Phase = Features(basis, model.terms, data.states.astype(np.int64), data.counts / data.total)
    if data.is_complete:
        values = basis.evaluate(model.terms, data.states).astype(np.float64)
        rows = Known(data.counts / data.total @ values)
    l2, k = _ridge(fitted, data.total) / data.total, len(model.terms)
    l1 = float(fitted.settings.get("l1") or 0.0)
    theta, open_states = np.array(model.theta), model.basis.n_states // max(_states(model, inputs), 1)
    size = len(data.states) * open_states * k
    return Dropping(*(free, rows, rows, theta, data.total, l2, np.zeros(k), l1, tolerance(len(distinct))), size=size)


def _states(model: LogLinear, variables: list[int]) -> int:
    return math.prod(model.basis.cards[i] for i in variables)


def _decimatable(fitted: Fitted, data: Empirical) -> Dropping | None:
    from fullspan.learn.likelihood.decimatable import phases

    model, settings = fitted.model, fitted.settings
    edges = tuple((a, b) for a, b in settings["graph"])
    roles = (tuple(settings[role]) for role in ("inputs", "hidden", "outputs"))
    found = phases(data, Graph(model.space.names, edges, *roles))
    if found is None:
        return None
    given, rows = found
    l2, k = _ridge(fitted, data.total) / data.total, len(model.terms)
    size = len(data.states) * k
    return Dropping(given, rows, rows, np.array(model.theta), data.total, l2, np.zeros(k), 0.0, _COARSE, size=size)
