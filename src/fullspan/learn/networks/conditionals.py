"""A product of conditional tables as a log-linear model: ``log p(x) = sum_v log p(x_v | parents)``, in any basis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.model import LogLinear
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.algebra.modes import modewise

Written = tuple[NDArray[np.int64], Array]
"""Places of terms in a table over the basis, and their weights."""


class Writer:
    """Writes tables in a basis; models that have families or terms in common share the work."""

    def __init__(self, space: Space, basis: Basis) -> None:
        self.space, self.basis = space, basis
        self._places: dict[tuple[int, ...], NDArray[np.int64]] = {}
        self._terms: dict[int, Term] = {}

    @cached_property
    def _inverse(self) -> list[Array]:
        return [np.linalg.inv(self.basis.local(i).T.astype(np.float64)) for i in range(len(self.space))]

    def family(self, scope: Sequence[int], log: Array) -> Written:
        """The terms inside a family, its variable and its parents, from the logarithms of its table, flat."""
        return self._places_of(tuple(scope)), modewise(log, [self._inverse[i] for i in scope])

    def model(self, families: Iterable[Written]) -> LogLinear:
        """The model with the terms of all families; log Z is 0, but for the constant of the basis."""
        places, weights = zip(*families, strict=True)
        found, which = np.unique(np.concatenate(places), return_inverse=True)
        theta: Array = np.bincount(which, np.concatenate(weights)).astype(np.float64)
        terms = tuple(map(self._term, found[1:].tolist()))
        return LogLinear(self.space, self.basis, terms, theta[1:], -float(theta[0]))

    def _places_of(self, scope: tuple[int, ...]) -> NDArray[np.int64]:
        if scope not in self._places:
            where = np.zeros(1, dtype=np.int64)
            for i in scope:
                where = (np.arange(self.space.cards[i])[:, None] * self.basis.strides[i] + where).ravel()
            self._places[scope] = where
        return self._places[scope]

    def _term(self, place: int) -> Term:
        if place not in self._terms:
            self._terms[place] = self.basis.term(place)
        return self._terms[place]
