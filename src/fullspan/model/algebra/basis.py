"""Bases of functions on the state space whose members take exactly two values.

A basis function is a product of local ones, ``Phi_y(x) = prod_i phi_{y_i}(x_i)`` with ``phi_0 = 1``. Three local
bases are known (rows y, columns x):

    walsh       phi_y(x) = (-1)^popcount(x & y)                 |X_i| a power of two; values -1, +1
    indicator   phi_j(x) = +1 if x = j else -1      (j > 0)     any |X_i|; values -1, +1   (paper, eq. 2.3)
    monomial    phi_j(x) = 1 if x = j else 0        (j > 0)     any |X_i|; values 0, 1

Each is closed under multiplication, so ``<Phi_y Phi_z>`` is a short sum of expectations of other members.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullspan.errors import FullspanError
from fullspan.model.algebra.local_bases import INDICATOR, MONOMIAL, WALSH, local_functions

Term = tuple[tuple[int, int], ...]
"""A basis function as sorted pairs (variable, component > 0); the empty tuple is the constant 1."""

BasisName = Literal["walsh", "indicator", "monomial"]
BASES: tuple[BasisName, ...] = ("walsh", "indicator", "monomial")
_KIND = {"walsh": WALSH, "monomial": MONOMIAL, "indicator": INDICATOR}


def is_power_of_two(card: int) -> bool:
    """Whether a Walsh basis exists for this many levels."""
    return card & (card - 1) == 0


@dataclass(frozen=True)
class Basis:
    """The basis of all functions on ``prod_i {0 .. cards[i]-1}``, named after its local bases.

    ``"walsh"`` uses the indicator functions on variables whose number of levels is not a power of two, as the
    paper does. Spins are +1 for x = 0 on Walsh variables.
    """

    name: BasisName
    cards: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.name not in BASES:
            raise FullspanError(f"basis {self.name!r} is unknown; choose one of {', '.join(BASES)} or 'auto'")

    @property
    def zero_one(self) -> bool:
        """Whether the two values are 0 and 1, and not -1 and +1."""
        return self.name == "monomial"

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """Local basis of each variable, as the kernels number them."""
        chosen = (
            "indicator" if self.name == "walsh" and not is_power_of_two(card) else self.name for card in self.cards
        )
        return np.array([_KIND[name] for name in chosen], dtype=np.int64)

    @cached_property
    def n_states(self) -> int:
        return math.prod(self.cards)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        return tuple(itertools.accumulate((1, *self.cards[:-1]), lambda a, b: a * b)) if self.cards else ()

    def index(self, term: Term) -> int:
        """Mixed-radix index y of a term in a table."""
        return sum(component * self.strides[i] for i, component in term)

    def term(self, index: int) -> Term:
        """The term at an index; the inverse of :meth:`index`."""
        digits = []
        while index:  # the highest digit that is not 0, and on with the rest
            i = bisect.bisect_right(self.strides, index) - 1
            digit, index = divmod(index, self.strides[i])
            digits.append((i, digit))
        return tuple(reversed(digits))

    def local(self, variable: int) -> NDArray[np.int64]:
        """Matrix ``phi[y, x]`` of one variable."""
        return local_functions(self.cards[variable], int(self.kinds[variable]))

    def evaluate(self, terms: Sequence[Term], states: NDArray[Any]) -> NDArray[np.int8]:
        """Values ``Phi_y(x)`` for states (m, n) and k terms, shape (m, k)."""
        local = [self.local(i).astype(np.int8) for i in range(len(self.cards))]
        out = np.ones((len(states), len(terms)), dtype=np.int8)
        for column, term in enumerate(terms):
            for i, component in term:
                out[:, column] *= local[i][component, states[:, i]]
        return out

    def product(self, y: Term, z: Term) -> dict[Term, int]:
        """``Phi_y Phi_z`` as an integer combination of basis functions; empty when it vanishes."""
        left, right = dict(y), dict(z)
        result: dict[Term, int] = {(): 1}
        for i in sorted(left.keys() | right.keys()):
            factor = self._local_product(i, left.get(i, 0), right.get(i, 0))
            result = {
                term if component == 0 else (*term, (i, component)): weight * w
                for term, weight in result.items()
                for component, w in factor
            }
        return result

    def _local_product(self, variable: int, j: int, k: int) -> tuple[tuple[int, int], ...]:
        """``phi_j phi_k`` of one variable as (component, weight) pairs."""
        kind = self.kinds[variable]
        if j == 0 or k == 0:
            return ((j or k, 1),)
        if kind == _KIND["walsh"]:
            return ((j ^ k, 1),)
        if kind == _KIND["monomial"]:
            return ((j, 1),) if j == k else ()
        return ((0, 1),) if j == k else ((0, -1), (j, -1), (k, -1))

    def local_products(self, variable: int, component: int) -> NDArray[np.int64]:
        """Matrix M of one variable with ``phi_component phi_k = sum_l M[k, l] phi_l``."""
        matrix = np.zeros((self.cards[variable],) * 2, dtype=np.int64)
        for k in range(len(matrix)):
            for other, weight in self._local_product(variable, component, k):
                matrix[k, other] += weight
        return matrix

    def subterms(self, variables: Sequence[int]) -> Iterator[Term]:
        """All terms on exactly or fewer of these variables, the constant first, first variable fastest."""
        for digits in itertools.product(*(range(self.cards[i]) for i in reversed(variables))):
            yield tuple((i, d) for i, d in zip(variables, reversed(digits), strict=True) if d)

    # -- transforms, in place ---------------------------------------------------------------------------------

    def analyse(self, p: NDArray[Any]) -> None:
        """Replace ``p(x)`` by ``eta_y = sum_x p(x) Phi_y(x)``."""
        self._transform(p, 0)

    def invert(self, eta: NDArray[Any]) -> None:
        """Replace ``eta`` by the ``p`` that has it."""
        self._transform(eta, 1)

    def synthesise(self, theta: NDArray[Any]) -> None:
        """Replace ``theta_y`` by ``l(x) = sum_y theta_y Phi_y(x)``."""
        self._transform(theta, 2)

    def _transform(self, table: NDArray[Any], op: int) -> None:
        from fullspan.model.algebra.transform import transform_in_place

        if table.shape != (self.n_states,):
            raise FullspanError(f"a flat table of {self.n_states} entries is needed, got shape {table.shape}")
        transform_in_place(table, np.array(self.cards, dtype=np.int64), self.kinds, op)
