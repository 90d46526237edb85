"""The plain oracle: a random model, and its probabilities of all states by enumeration."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullspan.data import Space
from fullspan.model import LogLinear
from fullspan.model.algebra import Basis, BasisName, Term

CARDS = (2, 3, 4, 2)
ALL_BASES: tuple[BasisName, ...] = ("walsh", "indicator", "monomial")


def random_model(
    cards: tuple[int, ...], basis: BasisName, seed: int, k: int = 12, scale: float = 0.7, max_order: int = 4
) -> LogLinear:
    """Random terms of order up to ``max_order`` with generic weights."""
    rng = np.random.default_rng(seed)
    terms: set[Term] = set()
    for _ in range(4 * k):
        order = int(rng.integers(1, min(max_order, len(cards)) + 1))
        chosen = sorted(rng.choice(len(cards), size=order, replace=False))
        terms.add(tuple((int(i), int(rng.integers(1, cards[i]))) for i in chosen if cards[i] > 1))
    kept = tuple(sorted(terms - {()}))[:: max(1, len(terms) // k)]
    return normalised(Space.of_cards(cards), basis, kept, rng.normal(scale=scale, size=len(kept)))


def normalised(space: Space, basis: BasisName, terms: tuple[Term, ...], theta: NDArray[np.float64]) -> LogLinear:
    """The model with its log Z by enumeration."""
    algebra = Basis(basis, space.cards)
    exponents = algebra.evaluate(terms, all_states(space.cards)) @ theta
    top = exponents.max()
    return LogLinear(space, algebra, terms, theta, float(top + np.log(np.exp(exponents - top).sum())))


def all_states(cards: tuple[int, ...]) -> NDArray[np.int64]:
    """Every state, the last variable fastest."""
    return np.array(list(itertools.product(*map(range, cards))), dtype=np.int64)


@dataclass(frozen=True)
class Enumerated:
    """p(x) of every state as an array with one axis per variable."""

    p: NDArray[np.float64]

    @classmethod
    def of(cls, model: LogLinear) -> Enumerated:
        states = all_states(model.space.cards)
        exponents = model.basis.evaluate(model.terms, states) @ model.theta
        p = np.exp(exponents - exponents.max())
        return cls((p / p.sum()).reshape(model.space.cards))

    def mask(self, allowed: dict[int, tuple[int, ...]]) -> NDArray[np.bool_]:
        """States that agree with an event."""
        inside = np.ones(self.p.shape, dtype=bool)
        for i, codes in allowed.items():
            here = np.isin(np.arange(self.p.shape[i]), codes)
            inside &= here.reshape([-1 if a == i else 1 for a in range(self.p.ndim)])
        return inside

    def probability(self, event: dict[int, tuple[int, ...]], given: dict[int, tuple[int, ...]] | None = None) -> float:
        condition = self.mask(given or {})
        return float(self.p[condition & self.mask(event)].sum() / self.p[condition].sum())

    def conditional(
        self, where: tuple[int, ...], given: dict[int, tuple[int, ...]] | None = None
    ) -> NDArray[np.float64]:
        p = np.where(self.mask(given or {}), self.p, 0.0)
        p = p.sum(axis=tuple(a for a in range(p.ndim) if a not in where)) / p.sum()
        return p.transpose([sorted(where).index(i) for i in where])

    def entropy(self, where: tuple[int, ...], given: dict[int, tuple[int, ...]] | None = None) -> float:
        p = self.conditional(where, given).ravel()
        return float(-np.sum(p[p > 0] * np.log(p[p > 0])))
