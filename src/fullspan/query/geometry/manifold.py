"""A log-linear family as a dually flat manifold, and its points in both coordinate systems.

psi(theta) = log sum_x exp(theta . Phi(x))                        (eq. 7)
phi(eta)   = max_theta theta . eta - psi = sum_x p log p          (eq. 8)
eta = d psi / d theta,    theta = d phi / d eta                   (eq. 10)
g(theta) = Cov(Phi),      g(eta) = g(theta)^-1                    (eqs. 11, 12)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.errors import FullspanError
from fullspan.learn.base.newton import factor
from fullspan.learn.base.phase import Known
from fullspan.learn.likelihood.solve import Likelihood, solve
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.loglinear import LogLinear, check_term
from fullspan.query.geometry.sums import EliminationSums, ListSums, Sums, TableSums

How = Literal["auto", "table", "list", "elimination"]
MAX_TABLE = 1 << 20
"""States up to which they are summed in a table."""
_INVERSE = 1e-3
"""Largest difference between the product of both metrics and 1, up to which one is the other's inverse."""


@dataclass(frozen=True, eq=False)
class Manifold:
    """All distributions ``exp(theta . Phi - psi)`` with weights on some terms.

    Parameters
    ----------
    space, basis, terms : as in :class:`fullspan.model.loglinear.LogLinear`.
    states : (m, n) the states of a truncated space; None for all.
    how : ``"table"``, ``"elimination"`` or, with states, ``"list"``; ``"auto"`` takes the table up to 2^20 states.

    Examples
    --------
    >>> import fullspan as fs
    >>> machine = fs.BoltzmannMachine(order=2).fit([[0, 0]] * 4 + [[0, 1]] * 2 + [[1, 0]] * 2 + [[1, 1]] * 4)
    >>> point = Manifold.of(machine).point_of(machine)
    >>> point.eta.round(4).tolist(), round(point.psi, 4)
    ([0.5, 0.5, 0.3333], 1.0986)
    """

    space: Space
    basis: Basis
    terms: tuple[Term, ...]
    states: NDArray[Any] | None = None
    how: How = "auto"

    def __post_init__(self) -> None:
        for term in self.terms:
            check_term(self.basis, term)
        if len(set(self.terms)) < len(self.terms):
            raise FullspanError("a term is listed twice")
        if self.how == "list" and self.states is None:
            raise FullspanError("how='list' needs the states of a truncated space")

    @classmethod
    def of(cls, model: Any, terms: Iterable[Term] | None = None, how: How = "auto") -> Manifold:
        """The manifold of a fitted estimator or model, with its own terms or others.

        Raises
        ------
        FullspanError : it is not log-linear.
        """
        linear = log_linear(model)
        chosen = linear.terms if terms is None else tuple(terms)
        return cls(linear.space, linear.basis, chosen, linear.listed_states, how)

    @cached_property
    def sums(self) -> Sums:
        """How the states are summed."""
        if self.states is not None:
            return ListSums(self.states, self.space.cards, self.terms)
        if self.how == "table" or (self.how == "auto" and self.basis.n_states <= MAX_TABLE):
            return TableSums(self.basis, self.terms)
        return EliminationSums(self.space, self.basis, self.terms)

    def with_terms(self, terms: Iterable[Term]) -> Manifold:
        """The manifold with other terms on the same states."""
        return Manifold(self.space, self.basis, tuple(terms), self.states, self.how)

    # -- points -----------------------------------------------------------------------------------------------

    def at(self, theta: Any) -> Point:
        """The point with these natural parameters."""
        values = np.array(theta, dtype=np.float64)
        if values.shape != (len(self.terms),) or not np.isfinite(values).all():
            raise FullspanError(f"{len(self.terms)} finite weights are needed; {values.shape} were given")
        return Point(self, values)

    def point_of(self, model: Any) -> Point:
        """A model as a point: its weights, and 0 on the terms that it lacks.

        Raises
        ------
        FullspanError : it has a term that the manifold lacks.
        """
        weights = dict(log_linear(model).weights)
        theta = np.array([weights.pop(term, 0.0) for term in self.terms])
        if any(weights.values()):
            raise FullspanError(f"the manifold lacks the terms {list(weights)[:3]}; use one with these")
        return self.at(theta)

    def uniform(self) -> Point:
        """The origin theta = 0."""
        return self.at(np.zeros(len(self.terms)))

    def at_eta(self, eta: Any, start: Point | None = None, tol: float = 1e-12) -> Point:
        """The point with these expectations, by Newton's method: theta from eta.

        Where only a limit of points has them, as expectations of 0, one near it is found: eta is right to rounding,
        weights are large, and are not the only ones.

        Raises
        ------
        FullspanError : no distribution has them.
        """
        target = np.asarray(eta, dtype=np.float64)
        theta = np.zeros(len(self.terms)) if start is None else start.theta
        found = solve(Likelihood(self.sums, Known(target)), theta.copy(), "newton", tol)
        if found.violation > max(1e3 * tol, 1e-9):
            raise FullspanError(
                f"no point has these expectations: the nearest differs by {found.violation:.2g} ({found.status})"
            )
        return self.at(found.theta)

    def expectations(self, source: Any) -> Array:
        """eta of a distribution: a :class:`Point` that has these terms, counted rows, an estimator's own data, or
        probabilities of all states in their order.

        Raises
        ------
        FullspanError : it is none of these.
        """
        if isinstance(source, Point):
            place = {term: i for i, term in enumerate(source.manifold.terms)}
            if all(term in place for term in self.terms):
                return np.asarray(source.eta[[place[term] for term in self.terms]])
            return self.expectations(np.exp(source.log_p))
        source = getattr(source, "_empirical", source)
        if isinstance(source, Empirical):
            phi = self.basis.evaluate(self.terms, source.states)
            return np.asarray(source.counts @ phi / source.total)
        p = np.asarray(source, dtype=np.float64)
        if p.shape != (self.sums.n_states,) or (p < 0).any() or not np.isclose(p.sum(), 1.0):
            raise FullspanError(
                f"probabilities of {self.sums.n_states:,} states are needed; the shape {p.shape} was given"
            )
        return np.asarray(p @ self.sums.features())


@dataclass(frozen=True, eq=False)
class Point:
    """A distribution of a manifold, with both coordinates."""

    manifold: Manifold
    theta: Array

    @cached_property
    def _moments(self) -> tuple[float, Array]:
        psi = self.manifold.sums.move(self.theta)
        return psi, self.manifold.sums.eta()

    @property
    def psi(self) -> float:
        """log Z, the potential of theta (eq. 7)."""
        return self._moments[0]

    @property
    def eta(self) -> Array:
        """Expectations (k,), the dual coordinates (eq. 10)."""
        return self._moments[1]

    @property
    def phi(self) -> float:
        """The Legendre dual ``theta . eta - psi``, which is minus the entropy (eq. 8)."""
        return float(self.theta @ self.eta) - self.psi

    @cached_property
    def fisher(self) -> Array:
        """The metric in theta, ``Cov(Phi)`` (k, k) (eq. 11)."""
        self.manifold.sums.move(self.theta)
        return self.manifold.sums.covariance()

    @cached_property
    def fisher_eta(self) -> Array:
        """The metric in eta, the inverse of that in theta (eq. 12).

        Raises
        ------
        FullspanError : there is no inverse, at the limit of a fit at infinity or where terms depend on each other.
        """
        one = np.eye(len(self.theta))
        found = self.natural_gradient(one)
        if not np.abs(self.fisher @ found - one).max(initial=0.0) < _INVERSE:
            raise FullspanError(
                "the metric is singular here, and has no inverse: weights are at infinity, or terms depend on each "
                "other; fit with l2= > 0, or leave these terms out"
            )
        return found

    def natural_gradient(self, gradient: Any) -> Array:
        """``g(theta)^-1 gradient``: the steepest direction where distance is divergence; columns of a matrix each.

        For a gradient in theta this is the gradient in eta.
        """
        return factor(self.fisher).solve(np.asarray(gradient, dtype=np.float64))

    @property
    def log_p(self) -> Array:
        """Log-probabilities of all states in their order, where they are listed."""
        self.manifold.sums.move(self.theta)
        return self.manifold.sums.log_p()


def divergence(p: Point, q: Point) -> float:
    """``KL(p || q) = psi(q) - psi(p) - (theta_q - theta_p) . eta_p`` of two points on the same states.

    Terms that only one of them has count as 0 in the other.

    Raises
    ------
    FullspanError : they are distributions of different states.
    """
    if p.manifold.space != q.manifold.space or not _same_states(p.manifold, q.manifold):
        raise FullspanError(
            "the two points are distributions on different states; their divergence is not defined here"
        )
    place = {term: i for i, term in enumerate(p.manifold.terms)}
    if all(term in place for term in q.manifold.terms):
        change = -p.theta.copy()
        change[[place[term] for term in q.manifold.terms]] += q.theta
        return max(q.psi - p.psi - float(change @ p.eta), 0.0)
    eta = q.manifold.expectations(p)
    return max(q.psi + p.phi - float(q.theta @ eta), 0.0)


def _same_states(a: Manifold, b: Manifold) -> bool:
    if a.states is None or b.states is None:
        return a.states is None and b.states is None
    return a.states is b.states or np.array_equal(a.states, b.states)


def log_linear(model: Any) -> LogLinear:
    """The log-linear model of an estimator, or itself.

    Raises
    ------
    FullspanError : there is none.
    """
    found = getattr(model, "model_", getattr(model, "model", model))
    if not hasattr(found, "theta"):
        raise FullspanError(f"a {type(model).__name__} has no weights on terms; a fitted log-linear model is needed")
    found.require_single("information geometry")
    return cast(LogLinear, found)


def positions(manifold: Manifold, terms: Sequence[Term]) -> NDArray[np.int64]:
    """Places of terms in a manifold.

    Raises
    ------
    FullspanError : it lacks one.
    """
    place = {term: i for i, term in enumerate(manifold.terms)}
    if missing := [term for term in terms if term not in place]:
        raise FullspanError(f"the manifold has no term {missing[0]!r}")
    return np.array([place[term] for term in terms], dtype=np.int64)
