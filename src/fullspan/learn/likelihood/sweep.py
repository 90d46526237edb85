"""Iterative proportional fitting as a solver: sweeps over the constraints, the weights read off as they change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullspan.arrays import Array
from fullspan.learn.likelihood.ipf import Constraint, ipf
from fullspan.learn.likelihood.phases import distribution
from fullspan.learn.likelihood.solve import Likelihood, Solution, Track, Watch
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

    def sweeps(track: Track) -> None:
        while not track.done():
            found = ipf(basis, constraints, p, tol / 4, min(at_once, track.limit - track.iterations))
            change = np.array([found.theta[term] for term in terms])
            track.accept(track.at(track.point.theta + change), found.sweeps)
            if found.converged:
                track.status = "converged"
                return

    return Track(likelihood, theta, tol, _SWEEPS if max_iter is None else max_iter, watch).follow(sweeps)
