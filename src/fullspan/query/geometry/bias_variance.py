"""Bias and variance of a model's fit, by projection.

With P* the truth, P*_B its m-projection onto the model and P_B that of N rows drawn from P*, the triangle is
right-angled at P*_B, and

    E KL(P* || P_B) = KL(P* || P*_B) + E KL(P*_B || P_B)            bias + variance,    variance near |B| / 2N
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.errors import FullspanError
from fullspan.learn.base.phase import Known
from fullspan.learn.likelihood.solve import Likelihood, solve
from fullspan.query.geometry.manifold import Manifold, Point, divergence

_ON_THE_WAY = 0.1
"""Length of a further Newton step: near a finite maximum it vanishes, towards infinity every step adds about 1."""


@dataclass(frozen=True)
class BiasVariance:
    """The two parts of ``E KL(P* || P_B)``, in nats.

    Attributes
    ----------
    bias : ``KL(P* || P*_B)``: what no weights of this model can say, however many rows.
    variances : ``KL(P*_B || P_B)`` of every draw whose fit is finite.
    n_rows, n_terms : N and \\|B\\|.
    n_infinite : draws whose fit lies at infinity, where the divergence has no bound; they are left out.
    """

    bias: float
    variances: Array
    n_rows: int
    n_terms: int
    n_infinite: int

    @property
    def variance(self) -> float:
        """Mean of ``KL(P*_B || P_B)``; NaN if every fit lies at infinity."""
        return float(self.variances.mean()) if self.variances.size else float("nan")

    @property
    def spread(self) -> float:
        """Standard deviation of ``KL(P*_B || P_B)``."""
        return float(self.variances.std()) if self.variances.size else float("nan")

    @property
    def bound(self) -> float:
        """``|B| / 2N``, which the variance approaches as N grows."""
        return self.n_terms / (2 * self.n_rows)

    @property
    def total(self) -> float:
        """Bias and variance together."""
        return self.bias + self.variance

    def __repr__(self) -> str:
        left_out = f", {self.n_infinite} draws at infinity left out" if self.n_infinite else ""
        return (
            f"bias {self.bias:.6f}, variance {self.variance:.6f} (s.d. {self.spread:.6f}; |B|/2N {self.bound:.6f}) "
            f"nats: {self.n_terms} weights, {self.n_rows:,} rows, {self.variances.size} draws{left_out}"
        )


def bias_variance(
    model: Any, truth: Any = "bootstrap", n_rows: int | None = None, repeats: int = 100, random_state: Any = None
) -> BiasVariance:
    """Estimate bias and variance of a model with fixed states and terms.

    Parameters
    ----------
    model : a fitted estimator, a model, or a :class:`Manifold`, whose states are listed.
    truth : probabilities of all states in their order, another model or point on the same states, or ``"bootstrap"``:
        the estimator's own rows stand for the truth. These fit the model better than the truth does: the bias is then
        the divergence from the data, noise of about (states seen - 1 - |B|)/2N included.
    n_rows : N of a draw; by default that of the data.
    repeats : draws.
    random_state : seed or generator.

    Raises
    ------
    FullspanError : the states are not listed, the data are not at hand, or a number is wrong.
    """
    manifold = model if isinstance(model, Manifold) else Manifold.of(model)
    p, total = _truth(model, manifold, truth)
    size = total if n_rows is None else n_rows
    if size is None or size < 1 or repeats < 1:
        raise FullspanError(f"n_rows is {size} and repeats {repeats}; whole numbers of at least 1 are needed")
    rng = np.random.default_rng(random_state)
    features = manifold.sums.features()
    nearest = manifold.at_eta(p @ features, tol=1e-11)
    positive = p[p > 0]
    bias = max(float(positive @ np.log(positive)) - nearest.phi, 0.0)
    found, infinite = [], 0
    for _ in range(repeats):
        eta = rng.multinomial(int(size), p) @ features / int(size)
        fit = _projected(manifold, eta, nearest)
        if fit is None:
            infinite += 1
        else:
            found.append(divergence(nearest, fit))
    return BiasVariance(bias, np.array(found), int(size), len(manifold.terms), infinite)


def _projected(manifold: Manifold, eta: Array, start: Point) -> Point | None:
    """The maximum likelihood fit, or None where it lies at infinity."""
    found = solve(Likelihood(manifold.sums, Known(eta)), start.theta.copy(), "newton", 1e-10, max_iter=60)
    point = manifold.at(found.theta)
    further = np.abs(point.natural_gradient(point.eta - eta)).max(initial=0.0)
    return None if further > _ON_THE_WAY or found.violation > 1e-8 else point


def _truth(model: Any, manifold: Manifold, truth: Any) -> tuple[Array, int | None]:
    data = getattr(model, "_empirical", None)
    total = None if data is None else int(data.total)
    if isinstance(truth, str):
        if truth != "bootstrap" or not isinstance(data, Empirical):
            raise FullspanError(
                "truth='bootstrap' needs an estimator with its rows; else give probabilities or a model"
            )
        return _shares(data, manifold), total
    if isinstance(truth, Point):
        return np.exp(truth.log_p), total
    if hasattr(truth, "model_") or hasattr(truth, "log_prob"):
        listed = manifold.states if manifold.states is not None else _all_states(manifold)
        p = np.exp(getattr(truth, "model_", truth).log_prob(listed))
        return p / p.sum(), total
    p = np.asarray(truth, dtype=np.float64)
    if p.shape != (manifold.sums.n_states,) or (p < 0).any() or not np.isclose(p.sum(), 1.0):
        raise FullspanError(f"probabilities of the {manifold.sums.n_states:,} states are needed, in their order")
    return p / p.sum(), total


def _all_states(manifold: Manifold) -> NDArray[np.int64]:
    return manifold.space.states(np.arange(manifold.sums.n_states))


def _shares(data: Empirical, manifold: Manifold) -> Array:
    if manifold.states is None:
        place = manifold.space.index(data.states)
    else:
        rows = {row.tobytes(): x for x, row in enumerate(manifold.states)}
        place = np.array([rows[row.tobytes()] for row in data.states.astype(manifold.states.dtype)], dtype=np.int64)
    p: Any = np.bincount(place, weights=data.counts / data.total, minlength=manifold.sums.n_states)
    return np.asarray(p, dtype=np.float64)
