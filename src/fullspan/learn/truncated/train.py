"""The weights of a truncated machine: Newton, L-BFGS, or the published gradient descent.

All minimise ``log Z(theta) - theta . d + l2 |theta|^2 / 2``, which is convex, with d the means of the terms in the
data. Where the maximum lies at infinity (module ``faces``) its limit is fitted on the states that remain, in as many
dimensions as these have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from fullspan.arrays import Array
from fullspan.engine.truncated import TruncatedEngine, descend
from fullspan.learn.base.descent import Solution, Watch
from fullspan.learn.base.phase import Known
from fullspan.learn.base.progress import STOPPED
from fullspan.learn.likelihood.boundary import Face
from fullspan.learn.likelihood.solve import Likelihood, SolverName, solve
from fullspan.learn.truncated.faces import MAX_GRAM, MAX_PROGRAM, Gram, by_program, certified

Solver = Literal["auto", "newton", "lbfgs", "gradient"]
SOLVERS: tuple[Solver, ...] = ("auto", "newton", "lbfgs", "gradient")

MAX_NEWTON = 3000
"""Weights up to which Newton's method is the default, and standard errors are computed."""
PUBLISHED_STEPS = 10_000
"""Steps of gradient descent in the paper."""
_LARGE_WEIGHT = 12.0
"""Weight beyond which it may diverge."""
_STEPS_PER_REPORT = 100
"""Steps of gradient descent between two looks at it."""


@dataclass(frozen=True)
class Trained:
    """Where the training ended.

    Attributes
    ----------
    solution : the weights, and how far expectations still differ from the data's.
    face : None where the maximum is finite, or was not asked about.
    undecided : weights have grown, and the space was too large to find out where to.
    """

    solution: Solution
    face: Face | None = None
    undecided: bool = False


def train(
    engine: TruncatedEngine,
    q: Array,
    solver: Solver = "auto",
    l2: float = 0.0,
    tol: float = 1e-8,
    max_iter: int | None = None,
    learning_rate: float | None = None,
    watch: Watch | None = None,
) -> Trained:
    """Minimise from theta = 0; ``q`` are the shares of the states in the data.

    Notes
    -----
    Of k weights and m states seen: where m is at most 3,000 and the states seen are the face, the fit takes one
    factorisation of an (m, m) matrix; else Newton's method takes ``sum_x nnz(x)^2 + k^3`` a step up to 3,000 weights,
    and L-BFGS ``nnz(F)`` a step beyond.
    """
    seen = q > 0
    d = engine.moments(q)
    if solver == "gradient":
        return Trained(_descent(engine, d, l2, tol, max_iter, learning_rate, watch))
    found = certified(engine, seen) if not l2 else None
    if found is not None:
        on_face = _few_states(found.rows, found.gram, q[seen], solver, tol, max_iter, watch)
        return Trained(_in_the_limit(engine, found.face, on_face, d), found.face)
    solution = _solve(engine, d, solver, l2, tol, max_iter, watch)
    # A finite maximum has moderate weights as a rule; whether large ones diverge is worth a linear program.
    if l2 or solution.status == "interrupted" or np.abs(solution.theta).max(initial=0.0) < _LARGE_WEIGHT:
        return Trained(solution)
    if len(engine.indices) > MAX_PROGRAM:
        return Trained(solution, undecided=True)
    face, on = by_program(engine, seen)
    if face.interior:
        return Trained(solution)
    rows = engine.restricted(on)
    if len(rows) <= min(MAX_GRAM, engine.k):
        on_face = _few_states(rows, Gram.of(rows), q[on], solver, tol, max_iter, watch)
    else:
        on_face = _solve(rows, d, solver, 0.0, tol, max_iter, watch)
    return Trained(_in_the_limit(engine, face, on_face, d), face)


def _chosen(solver: Solver, k: int) -> SolverName:
    return ("newton" if k <= MAX_NEWTON else "lbfgs") if solver == "auto" else solver


def _solve(
    engine: TruncatedEngine, d: Array, solver: Solver, l2: float, tol: float, max_iter: int | None, watch: Watch | None
) -> Solution:
    likelihood = Likelihood(engine, Known(d), l2=l2)
    return solve(likelihood, np.zeros(engine.k), _chosen(solver, engine.k), tol, max_iter, watch)


def _in_the_limit(engine: TruncatedEngine, face: Face, on_face: Solution, d: Array) -> Solution:
    """The fit on the face, and far along the direction away from all other states."""
    theta = on_face.theta + face.start()
    value = engine.move(theta) - float(theta @ d)
    return replace(on_face, theta=theta, value=value, violation=float(np.abs(engine.eta() - d).max(initial=0.0)))


class _Reduced:
    """Features A of a few states, in coordinates c with ``theta = V c``: a phase."""

    is_linear = False

    def __init__(self, features: Array) -> None:
        self.features = features
        self.p = np.empty(len(features))

    def move(self, c: Array) -> float:
        exponent = self.features @ c
        top = float(exponent.max())
        self.p = np.exp(exponent - top)
        total = float(self.p.sum())
        self.p /= total
        return top + float(np.log(total))

    def eta(self) -> Array:
        return self.p @ self.features

    def covariance(self) -> Array:
        mean = self.eta()
        return np.asarray((self.features * self.p[:, None]).T @ self.features - np.outer(mean, mean))


def _few_states(
    rows: TruncatedEngine,
    gram: Gram,
    q: Array,
    solver: Solver,
    tol: float,
    max_iter: int | None,
    watch: Watch | None,
) -> Solution:
    """Fewer states than weights: theta is a combination of their rows of F, and needs no more dimensions."""
    if gram.factor is not None and (q > 0).all():  # independent rows: the limit is the data itself
        d, log_q = rows.moments(q), np.log(q)
        # theta = F' a with F F' a = ln q - mean: the exponents are the logarithms of the shares, up to log Z.
        theta = rows.moments(gram.solve(log_q - log_q.mean()))
        value = rows.move(theta) - float(theta @ d)
        violation = float(np.abs(rows.eta() - d).max(initial=0.0))
        # Rows that are nearly dependent lose digits; then the iteration below has the last word.
        if violation <= tol:
            return Solution(theta, value, violation, 1, "converged", (value,))
    values, vectors = gram.eigen
    # Coordinates in which the rows of F have the same products: F = U S V', with U S for V' F'.
    features = vectors * np.sqrt(values)
    likelihood = Likelihood(_Reduced(features), Known(q @ features))
    name: SolverName = "newton" if solver == "auto" else solver
    found = solve(likelihood, np.zeros(len(values)), name, tol, max_iter, watch)
    return replace(found, theta=rows.moments(vectors @ (found.theta / np.sqrt(values))))


def published_rate(engine: TruncatedEngine) -> float:
    """A rate at which gradient descent never rises: the variance of v.F is at most ``max_x nnz(x) |v|^2 / 2``."""
    return 2.0 / max(int(np.diff(engine.start).max(initial=1)), 1)


def _descent(
    engine: TruncatedEngine,
    d: Array,
    l2: float,
    tol: float,
    max_iter: int | None,
    learning_rate: float | None,
    watch: Watch | None,
) -> Solution:
    """Algorithm 1 of the paper: a fixed rate, from theta = 0."""
    theta, limit = np.zeros(engine.k), max_iter or PUBLISHED_STEPS
    rate = published_rate(engine) if learning_rate is None else learning_rate
    if learning_rate is None and l2:
        # 1 / (largest curvature), to which the ridge adds l2.
        rate = 1.0 / (1.0 / rate + l2)
    likelihood = Likelihood(engine, Known(d), l2=l2)
    trace, steps, worst, status = [likelihood.move(theta.copy())], 0, np.inf, "iteration limit"
    try:
        while steps < limit:
            batch = min(_STEPS_PER_REPORT, limit - steps)
            worst = descend(engine.start, engine.indices, d, theta, engine.p, rate, l2, batch)
            steps += batch
            trace.append(likelihood.move(theta.copy()))
            if watch is not None:
                watch(theta, trace[-1], worst)
            if worst <= tol:
                status = "converged"
                break
    except STOPPED:
        status = "interrupted"
    return Solution(theta, likelihood.move(theta.copy()), likelihood.violation(), steps, status, tuple(trace))
