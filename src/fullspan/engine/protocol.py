"""What learners and queries ask of an engine, and the laws that every engine obeys.

An engine holds a point theta of the model and knows its dual parameters; data and prices may be loaded next to it.

    p(x) = exp( sum_y theta_y Phi_y(x) - log Z ),      eta_y = <Phi_y>_p = d log Z / d theta_y

Engines that agree on these laws agree on everything built upon them: the searches and queries never ask how.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.model.algebra.basis import Basis, Term

CONVERGED = 1.01
"""R-hat up to which chains count as mixed (Vehtari et al. 2021, section 4)."""


@dataclass(frozen=True)
class Candidates:
    """Indices y and net gains of the best terms to move, best first; may be empty.

    The first one is the best of all terms but the constant; the others are the best of their part of the table.
    """

    indices: NDArray[np.int64]
    gains: NDArray[np.float64]


@dataclass(frozen=True)
class Prices:
    """Cost of a term in nats per row: ``by_order[order] + sum_{i in term} by_variable[i]``.

    ``weight`` is the part of it that pays for the weight; the rest names the term.
    """

    by_order: NDArray[np.float64]
    by_variable: NDArray[np.float64]
    weight: float = 0.0

    def __call__(self, term: Term) -> float:
        return float(self.by_order[len(term)] + sum(self.by_variable[i] for i, _ in term))


@runtime_checkable
class Engine(Protocol):
    """Exact dual coordinates of a log-linear model over all states of ``basis``.

    Attributes
    ----------
    knows_floor : whether a move finds for itself how good the best candidate will at least be.
    basis : the functions Phi_y, and with them the states.
    dtype : precision of ``eta`` and ``d``; ``theta`` and ``log_z`` are double.
    theta : {index: weight} of the current point. A key may be deleted once its weight is 0, and added with weight 0.
    log_z : log partition function of the current point.
    eta : (|X|,) with ``eta[y] = <Phi_y>`` and ``eta[0] = 1``; a whole table, for looking at a few see :meth:`eta_at`.
    d : (|X|,) the same for the data, once loaded.
    """

    knows_floor: bool
    basis: Basis
    dtype: np.dtype[Any]
    theta: dict[int, float]
    log_z: float

    @property
    def eta(self) -> NDArray[Any]: ...

    @property
    def d(self) -> NDArray[Any] | None: ...

    def eta_at(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """``<Phi_y>`` of the model at some indices of any shape, in double precision."""

    def d_at(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same for the data."""

    def log_partition(self) -> float:
        """log Z in double precision, whatever the table holds."""

    def set_data(self, index: NDArray[np.int64], weights: NDArray[np.float64], pseudo: float = 0.0) -> None:
        """Load the data: ``d_y = <Phi_y>`` under ``(weights + pseudo / |X|) / (N + pseudo)``.

        Without pseudo-rows, ``d`` is kept off its boundary: the probability of an event lies between half a row in
        N + 1 and one less that.
        """

    def set_prices(self, prices: Prices) -> None:
        """Fix what appending each term costs, in nats per row."""

    def move(self, index: int, delta: float, floor: float = 0.0, l1: float = 0.0) -> Candidates:
        """``theta_y <- theta_y + delta``, then :meth:`scan`.

        Law: the point reached is that of ``set_theta`` with the new theta.
        """

    def scan(self, floor: float = 0.0, l1: float = 0.0) -> Candidates:
        """Terms whose gain less price exceeds ``floor``.

        Law: the first is ``argmax_y gain_y - price(y)`` over all terms but the constant, in use or not, where gain is
        the largest drop of ``KL(p_d || p) + l1 |delta|`` along theta_y alone.
        """

    def set_theta(self, theta: dict[int, float]) -> None:
        """Jump to another point."""

    def rebuild(self) -> float:
        """Recompute eta and log Z from theta; returns how far eta had drifted from it."""

    def digits(self, indices: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Digit rows (k, n) of term indices."""

    def second_moments(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        """Matrix ``<Phi_y Phi_z>`` for y in ``left`` and z in ``right``."""

    def fisher(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """``Cov(Phi_y, Phi_z) = d eta_y / d theta_z``: symmetric, positive semidefinite."""

    def marginal(self, variables: Sequence[int]) -> NDArray[np.float64]:
        """p(x_A), flat with the first variable fastest; sums to 1."""

    def data_margins(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Margins of the data as ``d`` has them, a row for each row A of ``sets`` (m, |A|), padded with zeros."""

    def margin_gains(
        self, sets: NDArray[np.int64], data: NDArray[np.float64], least: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """``KL(p_d(x_A) || p(x_A))`` for each row A of ``sets``, given :meth:`data_margins`.

        Law: where it is more than ``least``; elsewhere any number up to ``least`` will do.
        """


@dataclass(frozen=True)
class Diagnostics:
    """What chains of draws say about themselves, for each of k quantities.

    Attributes
    ----------
    mean, error : of the draws, and its Monte-Carlo standard error.
    r_hat : near 1 where the chains have met; NaN where no draw differs from another.
    bulk_ess : independent draws that would say as much about the bulk.
    """

    mean: Array
    error: Array
    r_hat: Array
    bulk_ess: Array

    @property
    def worst_r_hat(self) -> float:
        """The largest R-hat; 1 if nothing varies."""
        known = self.r_hat[~np.isnan(self.r_hat)]
        return float(known.max(initial=1.0))

    @property
    def least_ess(self) -> float:
        """The smallest effective sample size; infinite if nothing varies."""
        known = self.bulk_ess[~np.isnan(self.bulk_ess)]
        return float(known.min(initial=np.inf))

    @property
    def converged(self) -> bool:
        """Whether R-hat is at most 1.01 everywhere."""
        return self.worst_r_hat <= CONVERGED
