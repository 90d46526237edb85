"""Sum-to-zero components of a log-linear model: linear in its weights, the same in every basis.

With ``f(x) = sum_y theta_y prod_i phi_{y_i}(x_i)``, the component of a set A of variables at its cell x_A is

    u_A(x_A) = sum_{y contains A} theta_y  prod_{i in A} (phi_{y_i}(x_i) - c_i)  prod_{i in y, not in A} w_i(y_i)

where c and w say how a level is compared and how other variables are averaged:

    sum-to-zero     c_i = mean of phi over the levels      w_i = that mean          (coefficients of a summary)
    effect          c_i = mean of phi over the levels      w   = <prod phi> under the model        (facts for people)
    treatment       c_i = phi at the first level           w_i = phi at the first level            (R's contrasts)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.model.algebra.basis import Basis, Term, local_row

Expect = Callable[[Sequence[Term]], Array]
"""Expectations ``<Phi_y>`` under the model of some terms; that of the empty term is 1."""
Coding = Literal["sum", "treatment"]
_MOST_EXTRA = 256
"""Lower-order terms that are added so that dropping an interaction leaves them alone."""
_MOST_CELLS = 1 << 14
"""States of the other variables up to which the extremes of an odds ratio are looked for."""


@dataclass(frozen=True, eq=False)
class Component:
    """``u_A = matrix @ theta[positions]`` over the cells of A, the first variable slowest."""

    variables: tuple[int, ...]
    cards: tuple[int, ...]
    positions: NDArray[np.int64]
    matrix: Array

    def cells(self, theta: Array) -> Array:
        """u_A with one axis per variable."""
        return np.asarray(self.matrix @ theta[self.positions]).reshape(self.cards)

    def errors(self, covariance: Array) -> Array:
        """Standard errors of the cells from the covariance of the weights (k, k)."""
        own = covariance[np.ix_(self.positions, self.positions)]
        return np.asarray(np.sqrt(np.maximum(np.einsum("ck,ck->c", self.matrix @ own, self.matrix), 0.0)))


class Without(NamedTuple):
    """How the weights of a model go on without an interaction: ``theta = kept @ z``, or the positions that are kept.

    The last columns of ``kept`` are of the terms ``heirs``, whose lower-order part alone is left.
    """

    kept: NDArray[np.int64] | Array
    heirs: tuple[int, ...] = ()


class Components:
    """The components of one model.

    Parameters
    ----------
    terms : of the model; each with its variables in increasing order.
    """

    def __init__(self, basis: Basis, terms: Sequence[Term]) -> None:
        self.basis, self.terms = basis, tuple(terms)
        self._rows: dict[tuple[int, int, int], Array] = {}

    @cached_property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The sets of variables that a term has, smaller ones first."""
        return tuple(sorted({tuple(i for i, _ in term) for term in self.terms}, key=lambda s: (len(s), s)))

    @cached_property
    def _of_variable(self) -> dict[int, frozenset[int]]:
        found: dict[int, set[int]] = {}
        for k, term in enumerate(self.terms):
            for i, _ in term:
                found.setdefault(i, set()).add(k)
        return {i: frozenset(own) for i, own in found.items()}

    def containing(self, variables: Sequence[int]) -> list[int]:
        """Positions of the terms on these variables and perhaps more."""
        empty: frozenset[int] = frozenset()
        return sorted(frozenset.intersection(*(self._of_variable.get(i, empty) for i in variables)))

    def exactly(self, variables: Sequence[int]) -> list[int]:
        """Positions of the terms on just these variables."""
        return [k for k in self.containing(variables) if len(self.terms[k]) == len(variables)]

    def effect(self, variables: tuple[int, ...], expect: Expect) -> Component:
        """The component that people are shown, other variables averaged under the model."""
        positions = self.containing(variables)
        outside = [tuple(f for f in self.terms[k] if f[0] not in variables) for k in positions]
        return self._component(variables, positions, expect(outside), "sum")

    def coded(self, variables: tuple[int, ...], coding: Coding) -> Component:
        """The component as a coefficient of a summary."""
        positions = self.containing(variables)
        weights = [
            math.prod(self._reference(i, j, coding) for i, j in self.terms[k] if i not in variables) for k in positions
        ]
        return self._component(variables, positions, np.array(weights, dtype=np.float64), coding)

    def _component(self, variables: tuple[int, ...], positions: list[int], weights: Array, coding: Coding) -> Component:
        cards = tuple(self.basis.cards[i] for i in variables)
        matrix = np.empty((math.prod(cards), len(positions)))
        for column, (k, weight) in enumerate(zip(positions, weights, strict=True)):
            inside = dict(self.terms[k])
            cells = np.ones(1)
            for i in variables:
                row = self._row(i, inside[i])
                cells = np.multiply.outer(cells, row - self._reference(i, inside[i], coding)).ravel()
            matrix[:, column] = weight * cells
        return Component(variables, cards, np.array(positions, dtype=np.int64), matrix)

    def _reference(self, variable: int, component: int, coding: Coding) -> float:
        row = self._row(variable, component)
        return float(row.mean()) if coding == "sum" else float(row[0])

    def _row(self, variable: int, component: int) -> Array:
        """``phi_component`` over the levels of a variable; a few different ones serve thousands of terms."""
        key = self.basis.cards[variable], int(self.basis.kinds[variable]), component
        if key not in self._rows:
            self._rows[key] = local_row(self.basis, variable, component).astype(np.float64)
        return self._rows[key]

    def closure(self) -> list[tuple[int, ...]]:
        """The sets and all their subsets but the empty one: where a coefficient may be different from 0."""
        found = {part for own in self.sets for r in range(1, len(own) + 1) for part in itertools.combinations(own, r)}
        return sorted(found, key=lambda s: (len(s), s))

    # -- odds ratios ------------------------------------------------------------------------------------------

    def extremes(self, pair: tuple[int, int], theta: Array) -> tuple[float, float] | None:
        """Smallest and largest log odds ratio of two two-level variables over all states of the others.

        None where it depends on nothing else, or on more states than are looked at.
        """
        positions = self.containing(pair)
        outside = {i for k in positions for i, _ in self.terms[k] if i not in pair}
        others = sorted(outside)
        cards = [self.basis.cards[i] for i in others]
        if not others or math.prod(cards) > _MOST_CELLS:
            return None
        states = np.array(list(itertools.product(*map(range, cards))), dtype=np.int64)
        place = {i: column for column, i in enumerate(others)}
        total = np.zeros(len(states))
        for k in positions:
            value = np.full(len(states), float(theta[k]))
            for i, j in self.terms[k]:
                row = self._row(i, j)
                value *= row[states[:, place[i]]] if i in place else row[1] - row[0]
            total += value
        return float(total.min()), float(total.max())

    # -- dropping ---------------------------------------------------------------------------------------------

    @cached_property
    def extra(self) -> tuple[Term, ...]:
        """Lower-order terms that the model does not have, but parts of its interactions stand for.

        A function such as ``x1 x2`` on 0/1 units, or an indicator of three levels, does not sum to 0: part of it is a
        main effect. Where the model has no term for that, dropping the interaction must not drop the main effect.
        """
        known, found = set(self.terms), dict[Term, None]()
        for term in self.terms:
            for size in range(1, len(term)):
                for part in itertools.combinations(term, size):
                    if part not in known and self._mean(term, part):
                        found[part] = None
        return tuple(found) if len(found) <= _MOST_EXTRA else ()

    @cached_property
    def interactions(self) -> tuple[tuple[int, ...], ...]:
        """Sets of two variables and more that the model joins: those of its terms and of the extra ones, and all pairs.

        A pair may have no part of its own, and yet go together by the larger sets that contain it.
        """
        pairs = {pair for own in self.sets for pair in itertools.combinations(own, 2)}
        return tuple(sorted({own for own in (*self.parts, *pairs) if len(own) > 1}, key=lambda s: (len(s), s)))

    @cached_property
    def parts(self) -> frozenset[tuple[int, ...]]:
        """The sets that have a part of their own, which is lost when they are dropped."""
        return frozenset((*self.sets, *(tuple(i for i, _ in term) for term in self.extra)))

    def without(self, variables: tuple[int, ...], inherit: bool = False) -> Without:
        """How the weights of ``terms + extra`` go on when an interaction is dropped.

        Dropped is the sum-to-zero component of the set, whatever the basis: larger sets keep theirs, and so do smaller
        ones, also where only this set stood for them: their weights are free, or with ``inherit`` move together as
        those of the terms did, but for main effects.
        """
        own, larger = self.exactly(variables), self.containing(variables)
        kept = np.setdiff1d(np.arange(len(self.terms)), own)
        parts = {k: self._pure(self.terms[k], variables) for k in larger}
        freed = self._freed(own)
        heirs = tuple(k for k in own if self._freed([k], smallest=2)) if inherit else ()
        if heirs:
            freed = [j for j in freed if len(self.extra[j]) == 1]
        coupled = {k: part for k, part in parts.items() if k not in set(own) and part}
        if not coupled and not freed and not heirs:
            return Without(kept)
        place = {term: k for k, term in enumerate((*self.terms, *self.extra))}
        base = np.zeros((len(place), len(kept) + len(freed) + len(heirs)))
        base[kept, np.arange(len(kept))] = 1.0
        column = {int(k): c for c, k in enumerate(kept)}
        column |= {k: len(kept) + len(freed) + c for c, k in enumerate(heirs)}
        base[list(heirs), [column[k] for k in heirs]] = 1.0  # less its pure part, which begins with the term itself
        for k, part in (*coupled.items(), *((k, parts[k]) for k in heirs)):
            for term, weight in part.items():
                base[place[term], column[k]] -= weight
        base[len(self.terms) + np.array(freed, dtype=np.int64), len(kept) + np.arange(len(freed))] = 1.0
        return Without(base, heirs)

    def _pure(self, term: Term, variables: tuple[int, ...]) -> dict[Term, float]:
        """The sum-to-zero part of a term on some of its variables, in coordinates of ``terms + extra``."""
        known = self._known
        inside = tuple(f for f in term if f[0] in variables)
        outside = self._mean(term, inside)
        found = {}
        for size in range(1, len(inside) + 1):
            for part in itertools.combinations(inside, size):
                weight = outside * (-1.0) ** (len(inside) - size) * self._mean(inside, part)
                if weight and part in known:
                    found[part] = weight
        return found

    @cached_property
    def _known(self) -> frozenset[Term]:
        return frozenset((*self.terms, *self.extra))

    def _freed(self, own: list[int], smallest: int = 1) -> list[int]:
        """Positions among ``extra`` of the lower-order functions that only these terms stood for."""
        parts = {part for k in own for part in self._pure(self.terms[k], tuple(i for i, _ in self.terms[k]))}
        return [j for j, term in enumerate(self.extra) if term in parts and len(term) >= smallest]

    def _mean(self, term: Term, part: Term) -> float:
        """Mean over the levels of the factors of a term that are not in a part of it."""
        return math.prod(self._reference(i, j, "sum") for i, j in term if (i, j) not in part)


def sum_to_zero_cells(p: Array) -> Array:
    """The component of all axes together of ``log p``: what is left when every axis has mean 0.

    Cells of probability 0 count as 1e-300, so that effects there come out as near the boundary.
    """
    u = np.log(np.maximum(p, 1e-300))
    for axis in range(u.ndim):
        u = u - u.mean(axis=axis, keepdims=True)
    return np.asarray(u)
