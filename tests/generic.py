"""Generic points: spaces of every kind, weights and data that are nowhere 0, 1 or equal."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from fullspan.data import Empirical, Space
from fullspan.engine.protocol import Prices
from fullspan.model import Fitted
from fullspan.model.algebra import BASES, Basis, BasisName, bits

CARDS: tuple[tuple[int, ...], ...] = (
    (2,) * 7,
    (3, 2, 4, 5),
    (4, 4, 2, 8),
    (2, 3, 2, 8, 3),
    (3, 3, 3, 3),
    (1, 3, 2),
    (5,),
)
ALL_BASES: tuple[BasisName, ...] = BASES
DTYPES = (np.float64, np.float32)
BLOCKS = (4, 16, 1024)


def always_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let kernels serve tables of any size, which NumPy serves where they are small."""
    monkeypatch.setattr(bits, "SMALL", 0)
    monkeypatch.setattr(bits, "MIDDLE", 0)


def tolerance(dtype: type[np.floating]) -> float:
    """What rounding may do to numbers of size 1 in a few operations."""
    return 1e-11 if dtype is np.float64 else 2e-5


@cache
def matrix(basis: Basis) -> NDArray[np.float64]:
    """``T[y, x] = Phi_y(x)`` as the Kronecker product of the local matrices, variable 0 least significant."""
    product = np.ones((1, 1))
    for i in range(len(basis.cards)):
        product = np.kron(basis.local(i).astype(float), product)
    return product


def weights(basis: Basis, seed: int, k: int = 12, scale: float = 0.4) -> dict[int, float]:
    """Random weights on up to ``k`` terms, never on the constant."""
    rng = np.random.default_rng(seed)
    k = min(k, basis.n_states - 1)
    chosen = rng.choice(np.arange(1, basis.n_states), size=k, replace=False)
    return {int(y): float(w) for y, w in zip(chosen, rng.normal(scale=scale, size=k), strict=True)}


def distribution(basis: Basis, theta: dict[int, float]) -> NDArray[np.float64]:
    """p(x) by enumeration."""
    exponent = np.zeros(basis.n_states)
    for y, weight in theta.items():
        exponent += weight * matrix(basis)[y]
    p = np.exp(exponent - exponent.max())
    return np.asarray(p / p.sum())


def sample(basis: Basis, seed: int, rows: int = 300) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Distinct state indices and positive, unequal weights that sum to about ``rows``; some states are unseen."""
    rng = np.random.default_rng(seed)
    seen = np.flatnonzero(rng.random(basis.n_states) < 0.7)
    seen = seen if seen.size > 1 else np.arange(basis.n_states)
    counts = rng.gamma(0.7, size=seen.size) + 0.05
    return seen.astype(np.int64), counts * rows / counts.sum()


def some_prices(basis: Basis, seed: int = 0, scale: float = 0.003) -> Prices:
    """Unequal prices of orders and variables."""
    rng = np.random.default_rng(seed)
    n = len(basis.cards)
    by_order = scale * np.r_[0.0, 1 + np.cumsum(rng.random(n))]
    return Prices(by_order, scale * rng.random(n), scale / 2)


def drawn(cards: tuple[int, ...], basis: BasisName, seed: int, rows: int, k: int = 8, scale: float = 0.4) -> Empirical:
    """Rows drawn from a random log-linear model."""
    space, algebra = Space.of_cards(cards), Basis(basis, cards)
    rng = np.random.default_rng(seed)
    p = distribution(algebra, weights(algebra, seed, k, scale))
    index = rng.choice(algebra.n_states, p=p, size=rows)
    return Empirical.from_codes(space.states(index), space=space)


def opened(data: Empirical, share: float, seed: int) -> Empirical:
    """The rows with some cells open at random, in patterns that repeat; none is open everywhere."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(data.states, data.counts.astype(int), axis=0).astype(np.int64)
    patterns = rng.random((12, rows.shape[1])) < share
    is_open = patterns[rng.integers(12, size=len(rows))]
    is_open[is_open.all(axis=1)] = False
    return Empirical.from_codes(np.where(is_open, -1, rows), space=data.space, allow_missing=True)


def pseudo_row(fitted: Fitted) -> float:
    """How far a search's cost and the description of the raw data may differ, in nats per row.

    The full search adds one row, spread evenly over all states; the published one adds none.
    """
    return 5.0 / fitted.total if fitted.settings["search"] == "full" else 1e-9
