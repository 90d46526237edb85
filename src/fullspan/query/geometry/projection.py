"""Projections between flat submanifolds, and the theorem of Pythagoras that ties them.

The m-projection of P onto a model (e-flat: theta = 0 off B) keeps the expectations of B: ``argmin_Q KL(P || Q)``, which
is maximum likelihood. The e-projection of Q onto ``{P : eta_B = given}`` (m-flat) changes the weights of B alone:
``argmin_P KL(P || Q)``. For P in the m-flat, Q in the e-flat one and R where they meet,

    KL(P || Q) = KL(P || R) + KL(R || Q)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.errors import FullspanError
from fullspan.learn.base.phase import Known, Restricted
from fullspan.learn.likelihood.solve import Likelihood, solve
from fullspan.model.algebra.basis import Term
from fullspan.query.geometry.manifold import Manifold, Point, divergence, positions


def m_projection(source: Any, model: Manifold | Iterable[Term], tol: float = 1e-12) -> Point:
    """The point of a model nearest to a distribution in ``KL(source || .)``: the same expectations.

    Parameters
    ----------
    source : what :meth:`Manifold.expectations` takes.
    model : a manifold, or terms for the states of a point ``source``.
    tol : largest difference left between expectations.

    Raises
    ------
    FullspanError : the nearest is a limit at infinity that was not reached.

    Examples
    --------
    Without the pair, the nearest distribution is independence, and the divergence is the mutual information.

    >>> import fullspan as fs
    >>> from fullspan import geometry
    >>> machine = fs.BoltzmannMachine(order=2).fit([[0, 0]] * 4 + [[0, 1]] * 2 + [[1, 0]] * 2 + [[1, 1]] * 4)
    >>> point = geometry.Manifold.of(machine).point_of(machine)
    >>> alone = geometry.m_projection(point, [term for term in point.manifold.terms if len(term) == 1])
    >>> round(geometry.divergence(point, alone), 4), round(machine.mutual_information("x0", "x1"), 4)
    (0.0566, 0.0566)
    """
    if not isinstance(model, Manifold):
        if not isinstance(source, Point):
            raise FullspanError("terms alone go with a point; give a manifold for other distributions")
        model = source.manifold.with_terms(model)
    return model.at_eta(model.expectations(source), tol=tol)


def e_projection(point: Point, terms: Sequence[Term], eta: Any, tol: float = 1e-12) -> Point:
    """The distribution nearest to ``point`` in ``KL(. || point)`` among those with expectations ``eta`` of ``terms``.

    Raises
    ------
    FullspanError : a term is unknown, or no distribution has these expectations.
    """
    chosen = positions(point.manifold, terms)
    phase = Restricted(point.manifold.sums, point.theta, chosen)
    target = np.asarray(eta, dtype=np.float64)
    found = solve(Likelihood(phase, Known(target)), point.theta[chosen].copy(), "newton", tol)
    if found.violation > max(1e3 * tol, 1e-9):
        raise FullspanError(
            f"no distribution has these expectations: the nearest differs by {found.violation:.2g} ({found.status})"
        )
    theta = point.theta.copy()
    theta[chosen] = found.theta
    return point.manifold.at(theta)


def mixed(point: Point, terms: Sequence[Term]) -> tuple[Array, Array]:
    """Mixed coordinates: eta of ``terms``, theta of all others in their order; the two are orthogonal."""
    chosen = positions(point.manifold, terms)
    rest = np.setdiff1d(np.arange(len(point.theta)), chosen)
    return point.eta[chosen], point.theta[rest]


def from_mixed(manifold: Manifold, terms: Sequence[Term], eta: Any, theta: Any, tol: float = 1e-12) -> Point:
    """The point with these mixed coordinates; the inverse of :func:`mixed`."""
    chosen = positions(manifold, terms)
    whole = np.zeros(len(manifold.terms))
    whole[np.setdiff1d(np.arange(len(whole)), chosen)] = theta
    return e_projection(manifold.at(whole), terms, eta, tol)


@dataclass(frozen=True)
class Pythagoras:
    """``KL(p || q)``, its two parts at r, and what is left between them."""

    whole: float
    first: float
    second: float

    @property
    def defect(self) -> float:
        """``KL(p || q) - KL(p || r) - KL(r || q)``: 0 where the triangle is right-angled."""
        return self.whole - self.first - self.second


def pythagoras(p: Point, r: Point, q: Point) -> Pythagoras:
    """The divergences of a triangle; right-angled at r if r is a projection of p or of q."""
    return Pythagoras(divergence(p, q), divergence(p, r), divergence(r, q))
