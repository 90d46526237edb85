"""Alternating minimisation: complete the data with the model, fit the model to the completed data, and again.

    P_t     = I-projection of B_t on the distributions that agree with the data      (Byrne 1992, eq. 16)
    B_{t+1} = the machine with the moments of P_t                                    (Property 2)

``"exact"`` carries out the second step by Newton's method or IPFP, so that D(P || B_v) never rises. ``"inexact"`` is
Byrne's variant: IPFP from the uniform distribution, halted after every weight was updated ten times; the divergence may
rise, and the best machine met is kept. ``"auto"`` does not alternate: it takes the steps of module ``solve`` on the
same objective, em steps first and then Newton's, and needs far fewer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fullspan.arrays import Array
from fullspan.learn.base.descent import Solution, Watch, rounding
from fullspan.learn.base.em import Expected, Stop, alternate
from fullspan.learn.base.phase import Known, Phase
from fullspan.learn.likelihood.events import events_of
from fullspan.learn.likelihood.ipf import Constraint, attainable, ipf
from fullspan.learn.likelihood.phases import Free
from fullspan.learn.likelihood.solve import Likelihood, SolverName, solve
from fullspan.model.algebra.basis import Basis

EmName = Literal["auto", "exact", "inexact"]
EM: tuple[EmName, ...] = ("auto", "exact", "inexact")

INEXACT_SWEEPS = 10


@dataclass(frozen=True)
class Projection:
    """How the model is fitted to completed data: by a solver, or by IPFP (``"ipf"``) until moments agree to ``tol``."""

    solver: SolverName | Literal["ipf"] = "newton"
    tol: float = 1e-9
    max_sweeps: int | None = None
    restart: bool = False

    def __call__(self, free: Phase, d: Array, theta: Array, l2: float | Array = 0.0, l1: float = 0.0) -> Array:
        """Weights of the machine whose moments are d, found from theta, or from 0 if ``restart``."""
        if self.solver != "ipf":
            found = solve(Likelihood(free, Known(d), l2, l1), theta, self.solver, self.tol)
            # Ctrl-C inside an m-step ends the whole alternation, which keeps its own best.
            if found.status == "interrupted":
                raise KeyboardInterrupt
            return found.theta
        if not isinstance(free, Free):
            raise TypeError(f"IPFP needs the table of all states, and {type(free).__name__} has none")
        start = np.zeros_like(theta) if self.restart else theta
        return project_by_ipf(free, attainable(free.table.basis, d), start, self.tol, self.max_sweeps)


def project_by_ipf(free: Free, d: Array, theta: Array, tol: float, max_sweeps: int | None = None) -> Array:
    """IPFP on the terms' events from theta, each term in turn; see :mod:`fullspan.learn.likelihood.ipf`."""
    basis: Basis = free.table.basis
    limit = 100_000 if max_sweeps is None else max_sweeps
    p = basis.energies(free.terms, theta)
    p -= p.max()
    np.exp(p, out=p)
    if basis.zero_one:
        return np.asarray(theta + events_of(basis, tuple(free.terms.tolist())).fit(p, d, tol, limit)[0])
    p /= p.sum()
    terms = [basis.term(int(y)) for y in free.terms]
    constraints = [Constraint.of_term(basis, term, float(mean)) for term, mean in zip(terms, d, strict=True)]
    found = ipf(basis, constraints, p, tol, limit)
    return np.asarray(theta + np.array([found.theta[term] for term in terms]))


@dataclass(frozen=True)
class _Phases:
    """The two projections of a machine: the completed data are their expectations d."""

    likelihood: Likelihood
    projection: Projection

    def complete(self, model: Array) -> Expected[Array]:
        value = self.likelihood.move(model)
        # A copy: the next move overwrites the moments while the m-step still needs them.
        d = self.likelihood.data.eta().copy()
        return Expected(value, d, self.likelihood.violation(), rounding(model, value))

    def project(self, data: Array, model: Array) -> Array:
        return self.projection(self.likelihood.free, data, model, self.likelihood.l2, self.likelihood.l1)


def alternate_phases(
    likelihood: Likelihood,
    theta: Array,
    projection: Projection,
    tol: float = 1e-9,
    max_iter: int = 10_000,
    watch: Watch | None = None,
) -> Solution:
    """Alternate from theta until the expectations of the model and of the completed data agree to ``tol``.

    The trace holds the penalised objective, ``D(P || B_v)`` up to a constant, before every step; the best machine met
    is returned.
    """

    def report(theta: Array, expected: Expected[Array], done: int) -> None:
        if watch is not None and done:
            watch(theta, expected.value, expected.violation)

    stop = Stop(tol=tol, patience=None, max_iter=max_iter)
    found = alternate(_Phases(likelihood, projection), theta, stop, report)
    value = likelihood.move(found.model)
    return Solution(found.model, value, likelihood.violation(), found.iterations, found.status, found.trace)
