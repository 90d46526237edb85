"""A truncated Boltzmann machine, from counts to a fitted model.

domain B -> states S = D, B, 0 -> sparse model matrix -> training -> standard errors, measures of fit
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.merging import code_dtype
from fullspan.data.space import Space
from fullspan.engine.memory import budget, require
from fullspan.engine.truncated import TruncatedEngine
from fullspan.errors import TINY, DataError, FullspanError, require_finite, require_one_of
from fullspan.learn.base.information import standard_errors, wald_nats
from fullspan.learn.base.progress import History, Watch
from fullspan.learn.truncated.domain import domain
from fullspan.learn.truncated.train import MAX_NEWTON, SOLVERS, Solver, Trained, train
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.algebra.blas import one_core
from fullspan.model.algebra.inclusion import empty_set, joined, sets_of_states, sets_of_terms
from fullspan.model.fitted import Fitted
from fullspan.model.goodness import LEAST_EXPECTED, goodness
from fullspan.model.loglinear import checked_codes
from fullspan.model.record import Step
from fullspan.model.truncated import TruncatedLogLinear

MAX_ALL = 1 << 20
"""Most states of a space that is not truncated."""


@dataclass(frozen=True)
class TruncatedOptions:
    """How to fit a truncated machine; see :class:`fullspan.TruncatedBoltzmannMachine`.

    ``states`` are further states of S, as codes (m, n), or ``"all"``.
    """

    max_order: int = 2
    min_support: float | int = 0.1
    patterns: Any = None
    n_pairs: int | None = None
    states: Any = None
    solver: str = "auto"
    learning_rate: float | None = None
    l2: float = 0.0
    tol: float = 1e-8
    max_iter: int | None = None
    unseen: float = 0.0
    seed: Any = None
    max_memory: int | None = None

    def __post_init__(self) -> None:
        require_one_of(SOLVERS, solver=self.solver)
        require_finite(0.0, l2=self.l2)
        require_finite(TINY, tol=self.tol)
        if self.learning_rate is not None:
            require_finite(TINY, learning_rate=self.learning_rate)
            if self.solver != "gradient":
                raise FullspanError(f"learning_rate= goes with solver='gradient', not with {self.solver!r}")
        if not 0.0 <= self.unseen < 1.0:
            raise FullspanError(f"unseen is {self.unseen}; a probability from 0 to below 1 is needed")
        if self.unseen and isinstance(self.states, str) and self.states == "all":
            raise FullspanError("unseen= has no effect with states='all': the space is not truncated; use 0")


@dataclass(frozen=True)
class Truncation:
    """A truncated space with data on it.

    Attributes
    ----------
    terms : B, sorted by order.
    others : (m, n) states that are neither 0 nor terms.
    place : place in S of every distinct row of the data.
    q : (|S|,) shares of the states in the data.
    """

    space: Space
    terms: tuple[Term, ...]
    others: NDArray[Any]
    place: NDArray[np.int64]
    q: Array
    engine: TruncatedEngine

    @classmethod
    def of(cls, data: Empirical, terms: tuple[Term, ...], more: Any = None, limit: int | None = None) -> Truncation:
        """``S = D, B, {0}`` and further states ``more``.

        Raises
        ------
        FullspanError : all states are asked for, and are too many.
        TooLargeError : the states would not fit into memory.
        """
        space, n = data.space, len(data.space)
        further = _further(space, more)
        size = 1 + len(terms) + len(data.states) + len(further)
        n_bytes = size * (3 * n + 200) + 24 * min(len(terms), MAX_NEWTON) ** 2
        what = f"a space of {size:,} states of {n} variables"
        require(n_bytes, budget(limit), what, "raise min_support=, or keep fewer variables with columns=")
        listed = np.concatenate([data.states, further]).astype(code_dtype(space.cards))
        where, rest = _places(terms, listed)
        place = where[: len(data.states)]
        patterns = sets_of_terms(terms, space.cards)
        states = joined(empty_set(patterns.n_items), patterns, sets_of_states(rest, space.cards))
        engine = TruncatedEngine.of(states, patterns)
        q: Any = np.bincount(place, weights=data.counts / data.total, minlength=len(engine))
        return cls(space, terms, rest, place, q, engine)


def _places(terms: tuple[Term, ...], listed: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Where states (m, n) stand in S, of 0, the terms and all others in this order, and these others (., n)."""
    known = {term: 1 + b for b, term in enumerate(terms)}
    largest = max(map(len, terms), default=0)
    places, others, new = np.zeros(len(listed), dtype=np.int64), dict[bytes, int](), list[int]()
    for r, (row, size) in enumerate(zip(listed, np.count_nonzero(listed, axis=1).tolist(), strict=True)):
        if size == 0:
            continue
        if size <= largest:
            found = known.get(tuple((i, int(row[i])) for i in np.flatnonzero(row).tolist()))
            if found is not None:
                places[r] = found
                continue
        at = others.setdefault(row.tobytes(), len(others))
        if at == len(new):
            new.append(r)
        places[r] = 1 + len(terms) + at
    return places, listed[new]


def _further(space: Space, more: Any) -> NDArray[Any]:
    if more is None:
        return np.zeros((0, len(space)), dtype=np.int64)
    if isinstance(more, str):
        if more != "all":
            raise FullspanError(f"states is {more!r}; rows of further states are needed, or 'all'")
        if space.n_states > MAX_ALL:
            raise FullspanError(
                f"states='all' of {len(space)} variables are more than the {MAX_ALL:,} that are possible: leave it "
                "out, and the space is truncated"
            )
        return space.states(np.arange(space.n_states))
    return checked_codes(more, space)


def fit_truncated(data: Empirical, options: TruncatedOptions | None = None, watch: Watch | None = None) -> Fitted:
    """Maximum likelihood of a truncated machine.

    Where the maximum lies at infinity, the model is the limit, and ``diverging`` says which weights grow without bound.

    Raises
    ------
    FullspanError : an option is wrong, no pattern is left, or only one state.
    DataError : cells are missing.
    TooLargeError : the states would not fit into memory.
    """
    o = options or TruncatedOptions()
    if not data.is_complete:
        raise DataError("a truncated machine needs complete rows: use missing='drop' or missing='level'")
    history = History(watch)
    terms = domain(data, o)
    truncation = Truncation.of(data, terms, o.states, o.max_memory)

    def record(theta: Array, value: float, violation: float) -> None:
        history.record(o.solver, len(theta), value)

    solver = cast(Solver, o.solver)
    with one_core():
        trained = train(truncation.engine, truncation.q, solver, o.l2, o.tol, o.max_iter, o.learning_rate, record)
        return _fitted(data, o, truncation, trained, tuple(history.steps))


def _fitted(data: Empirical, o: TruncatedOptions, t: Truncation, trained: Trained, history: tuple[Step, ...]) -> Fitted:
    solution, face, engine = trained.solution, trained.face, t.engine
    log_z = engine.move(solution.theta)
    basis = Basis("monomial", t.space.cards)
    unseen = o.unseen if len(engine) < t.space.n_states else 0.0  # no state is outside
    model = TruncatedLogLinear(t.space, basis, t.terms, solution.theta, log_z, t.others, unseen)
    log_prob = engine.log_p[t.place] + math.log1p(-unseen)
    share = data.counts / data.total
    entropy, surprise = -float(share @ np.log(share)), -float(share @ log_prob)
    free, cells = (len(t.terms), len(engine)) if face is None else (face.n_free, face.n_states)
    errors = _errors(engine, data.total, o.l2, trained)
    return Fitted(
        model=model,
        standard_errors=errors,
        nats_saved=wald_nats(solution.theta, errors),
        **data.provenance(),
        divergence=surprise - entropy,
        entropy=entropy,
        description_length=data.total * surprise + 0.5 * free * math.log(data.total),
        history=history,
        status=solution.status,
        settings={
            "estimator": "TruncatedBoltzmannMachine",
            "violation": solution.violation,
            "iterations": solution.iterations,
            "undecided": trained.undecided,
            "sparse_cells": round(float(np.mean(data.total * np.exp(engine.log_p) < LEAST_EXPECTED)), 6),
        },
        goodness=goodness(data.counts, log_prob, free, cells, len(engine) - 1 - len(t.terms)),
        diverging=() if face is None else tuple(map(int, face.diverging)),
    )


def _errors(engine: TruncatedEngine, total: float, l2: float, trained: Trained) -> Array:
    """Standard errors of the weights that do not diverge."""
    errors = np.full(engine.k, np.nan)
    finite = np.ones(engine.k, dtype=bool)
    if trained.face is not None:
        finite[trained.face.diverging] = False
    if engine.k > MAX_NEWTON or not finite.any():
        return errors
    information = total * (engine.covariance() + l2 * np.eye(engine.k))
    return np.where(finite, standard_errors(information), np.nan)
