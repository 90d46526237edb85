"""Iterative proportional fitting as a solver: sweeps over the constraints, the weights read off as they change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullspan.arrays import Array
from fullspan.learn.base.descent import Descent, Solution, Watch
from fullspan.learn.likelihood.ipf import Constraint, ipf
from fullspan.learn.likelihood.phases import distribution
from fullspan.learn.likelihood.solve import Likelihood
from fullspan.model.algebra.basis import Basis, Term

_VISITS = 1 << 26
"""States visited between two reports of the progress."""
_SWEEPS = 100_000
"""Most sweeps unless the caller says."""


def sweep(
    likelihood: Likelihood,
    basis: Basis,
    terms: Sequence[Term],
    constraints: Sequence[Constraint],
    theta: Array,
    tol: float,
    max_iter: int | None,
    watch: Watch | None,
) -> Solution:
    """Fit the constraints from ``theta`` on, until no expectation differs by more than ``tol``."""
    y = np.array([basis.index(term) for term in terms], dtype=np.int64)
    p = distribution(basis, y, theta)
    at_once = max(1, _VISITS // (p.size * max(len(constraints), 1)))

    def sweeps(descent: Descent) -> None:
        while not descent.done():
            found = ipf(basis, constraints, p, tol / 4, min(at_once, descent.limit - descent.iterations))
            change = np.array([found.theta[term] for term in terms])
            descent.accept(descent.at(descent.point.theta + change), found.sweeps)
            if found.converged:
                descent.status = "converged"
                return

    return Descent(likelihood, theta, tol, _SWEEPS if max_iter is None else max_iter, watch).follow(sweeps)
