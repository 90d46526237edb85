"""A model during the search: its terms and weights, its description length, and how a set of terms is weighed anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.learn.base.information import Cholesky
from fullspan.learn.wide.counts import Counts
from fullspan.learn.wide.refit import Gaussian, Solve, refit
from fullspan.learn.wide.terms import Terms
from fullspan.learn.wide.width import Width
from fullspan.model.algebra.basis import Basis, Term

WIDE_DEVIATION = 2.0
"""Standard deviation of the prior before a code is known; it matters only where the data say nothing."""
_TOLERANCE = 0.02
"""Nats of all rows that a refit may leave to be had."""
_STALE_SHARE = 0.05
"""Share of new terms from which on the information is computed anew before a refit."""


@dataclass(frozen=True)
class Reached:
    """Weights of some terms with their prior, and what the model says of them.

    Attributes
    ----------
    d, eta : expectations of the terms in the data and under the model.
    nats : ``N (log Z - theta . d)``: of the data, their entropy included.
    """

    terms: Terms
    theta: Array
    prior: Gaussian
    d: Array
    eta: Array
    log_z: float
    total: float

    @property
    def nats(self) -> float:
        return self.total * (self.log_z - float(self.theta @ self.d))

    @property
    def weights(self) -> dict[Term, float]:
        """The weight of each term."""
        return dict(zip(self.terms.terms, self.theta.tolist(), strict=True))


@dataclass
class Weigher:
    """Refits sets of terms on one table of counts; it keeps the latest information matrix for the next refit."""

    counts: Counts
    space: Space
    basis: Basis
    _known: tuple[Term, ...] = field(default=(), init=False)
    _fisher: Array = field(default_factory=lambda: np.zeros((0, 0)), init=False)

    def wide(self, k: int) -> Gaussian:
        """The prior of no opinion."""
        return Gaussian(np.zeros(k), np.full(k, 1.0 / (WIDE_DEVIATION**2 * self.counts.total)))

    def laid_out(self, terms: Iterable[Term], width: Width) -> Terms:
        """Terms on the order of a graph."""
        return Terms(self.space, self.basis, sorted(terms), width.order, width.separators())

    def independent(self, width: Width) -> Reached:
        """The model without any interaction, closed form."""
        weights: dict[Term, float] = {}
        for i, card in enumerate(self.space.cards):
            local = self.basis.local(i).astype(np.float64)
            theta = np.linalg.solve(local.T, np.log(self.counts.table((i,))))
            weights.update({((i, j),): float(theta[j]) for j in range(1, card)})
        return self.weighed(self.laid_out(weights, width), weights, tolerance=1.0)

    def weighed(
        self, terms: Terms, start: Mapping[Term, float], prior: Gaussian | None = None, tolerance: float = _TOLERANCE
    ) -> Reached:
        """The optimum on some terms under a prior, from the weights of ``start`` or 0; ``tolerance`` of all rows."""
        theta = np.array([start.get(term, 0.0) for term in terms.terms])
        d = self.counts.expectations(self.basis, terms.terms)
        prior, total = prior or self.wide(len(theta)), self.counts.total
        theta, log_z, eta = refit(terms, theta, d, prior, self._solver(terms, theta, prior), tolerance / total)
        return Reached(terms, theta, prior, d, eta, log_z, total)

    def refitted(self, terms: Terms, theta: Array, d: Array, prior: Gaussian) -> Array:
        """The optimum for other expectations ``d`` of the data."""
        solver = self._solver(terms, theta, prior)
        return refit(terms, theta, d, prior, solver, _TOLERANCE / self.counts.total)[0]

    def information(self, terms: Terms, theta: Array) -> Array:
        """Covariance of all terms at some weights; it also serves the refits that follow."""
        self._known, self._fisher = terms.terms, terms.fisher(terms.tables(theta))
        return self._fisher

    def posterior_variances(self, reached: Reached) -> tuple[Array, Array]:
        """Variances of the weights under their prior, and under none to speak of; of all rows."""
        if not len(reached.theta):
            return np.zeros(0), np.zeros(0)
        fisher = self.information(reached.terms, reached.theta)
        under = [reached.prior.precision, self.wide(len(reached.theta)).precision]
        return tuple(Cholesky.of(fisher + np.diag(w)).inverse_diagonal() / self.counts.total for w in under)  # type: ignore[return-value]

    def _solver(self, terms: Terms, theta: Array, prior: Gaussian) -> Solve:
        """``v -> (F + W)^-1 v`` with the latest information; terms that it does not know stand alone."""
        place = {term: k for k, term in enumerate(self._known)}
        new = [k for k, term in enumerate(terms.terms) if term not in place]
        if len(new) > _STALE_SHARE * len(theta):
            self.information(terms, theta)
            place, new = {term: k for k, term in enumerate(terms.terms)}, []
        old = [k for k, term in enumerate(terms.terms) if term in place]
        source = [place[terms.terms[k]] for k in old]
        factored = Cholesky.of(self._fisher[np.ix_(source, source)] + np.diag(prior.precision[old])) if old else None
        alone = self._alone(terms, theta, new) + prior.precision[new]

        def solve(v: Array) -> Array:
            out = np.empty_like(v)
            if factored is not None:
                out[old] = factored.solve(v[old])
            out[new] = v[new] / alone
            return out

        return solve

    def _alone(self, terms: Terms, theta: Array, new: Sequence[int]) -> Array:
        """Variances of some terms under the model."""
        if not new:
            return np.zeros(0)
        eta = terms.expectations(theta)[1][new]
        return np.asarray(np.maximum(eta * (1 - eta) if self.basis.zero_one else 1 - eta**2, 1e-9))
