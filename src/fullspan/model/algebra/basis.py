"""Bases of functions on the state space whose members take exactly two values.

A basis function is a product of local ones, ``Phi_y(x) = prod_i phi_{y_i}(x_i)`` with ``phi_0 = 1``. Three local
bases are known (rows y, columns x):

    walsh       phi_y(x) = (-1)^popcount(x & y)                 |X_i| a power of two; values -1, +1
    indicator   phi_j(x) = +1 if x = j else -1      (j > 0)     any |X_i|; values -1, +1   (paper, eq. 2.3)
    monomial    phi_j(x) = 1 if x = j else 0        (j > 0)     any |X_i|; values 0, 1

Each is closed under multiplication, so ``<Phi_y Phi_z>`` is a short sum of expectations of other members.

The same function in another basis is ``sum_y theta_y Phi_y = constant + sum_z theta'_z Phi'_z``. A local function of
one basis is a short sum of those of another, ``phi_j = sum_k C[j, k] phi'_k`` with ``C = phi phi'^-1``, so that a term
becomes a sum of terms on its own variables or fewer. All terms inside a set of variables span the same functions in
every basis.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
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

    def even(self, term: Term) -> float:
        """Expectation of a term when all states are equally likely."""
        return math.prod(float(self.local(i)[j].mean()) for i, j in term)

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

    def energies(self, indices: Any, weights: Any) -> NDArray[np.float64]:
        """``sum_y theta_y Phi_y(x)`` at all states, from the indices of different terms and their weights."""
        table = np.zeros(self.n_states)
        table[np.asarray(indices, dtype=np.int64)] = weights
        self.synthesise(table)
        return table

    def _transform(self, table: NDArray[Any], op: int) -> None:
        from fullspan.model.algebra.transform import transform_in_place

        if table.shape != (self.n_states,):
            raise FullspanError(f"a flat table of {self.n_states} entries is needed, got shape {table.shape}")
        transform_in_place(table, np.array(self.cards, dtype=np.int64), self.kinds, op)


def local_row(basis: Basis, variable: int, component: int) -> NDArray[np.int8]:
    """``phi_component(x)`` over the levels x of one variable; O(|X_i|), where the whole matrix is quadratic."""
    levels = np.arange(basis.cards[variable])
    kind = basis.kinds[variable]
    if component == 0:
        row = np.ones_like(levels)
    elif kind == WALSH:
        row = 1 - 2 * (np.bitwise_count(levels & component) & 1).astype(np.int64)
    else:
        row = (levels == component) * (1 if kind == MONOMIAL else 2) - (0 if kind == MONOMIAL else 1)
    return row.astype(np.int8)


def small_exponents(basis: Basis, weights: Mapping[Term, float]) -> NDArray[np.float64]:
    """``l(x) = sum_y theta_y Phi_y(x)`` of every state by index, without compiled code.

    One matrix product per variable: O(|X| sum_i |X_i|) time and two tables of |X| numbers.
    """
    table = np.zeros(basis.n_states)
    for term, weight in weights.items():
        table[basis.index(term)] += weight
    for i, (card, stride) in enumerate(zip(basis.cards, basis.strides, strict=True)):
        table = np.matmul(basis.local(i).T.astype(np.float64), table.reshape(-1, card, stride)).ravel()
    return table


def softmax(log: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probabilities proportional to ``exp log`` in each row (m, k), and the logarithms of the sums (m,)."""
    peak = log.max(axis=1, keepdims=True)
    p = np.exp(log - peak)
    sums = p.sum(axis=1, keepdims=True)
    return p / sums, (peak + np.log(sums))[:, 0]


def log_sums(log: NDArray[np.float64]) -> NDArray[np.float64]:
    """``log sum exp`` of each row (m, k)."""
    top = log.max(axis=1, keepdims=True)
    return np.asarray(top[:, 0] + np.log(np.exp(log - top).sum(axis=1)))


def log_sum_exp(table: NDArray[np.float64]) -> float:
    """``log sum exp`` of all entries, without overflow."""
    top = float(table.max())
    return top + float(np.log(np.exp(table - top).sum()))


def expand(basis: Basis, variables: Sequence[int], values: NDArray[Any]) -> NDArray[np.float64]:
    """Coefficients ``theta_y`` of a function of a few variables, one axis each: the inverse of

        l(x_A) = sum_y theta_y Phi_y(x_A)

    Entry ``(y_1, y_2, ...)`` belongs to the product of the components y_i of the variables; all zero is the constant.
    """
    cube: NDArray[Any] = np.asarray(values, dtype=np.float64)
    for axis, i in enumerate(variables):
        inverse = np.linalg.inv(basis.local(i).T.astype(np.float64))
        cube = np.moveaxis(np.tensordot(inverse, cube, axes=(1, axis)), 0, axis)
    return cube


def exchanged(theta: dict[int, float], old: Basis, new: Basis, most: int) -> dict[int, float] | None:
    """Weights in the basis ``new`` of the function that has the weights ``theta`` in ``old``, up to a constant.

    Terms that cancel are kept with the weight 0. None if there would be more than ``most``: a term of m two-level
    variables may become 2^m - 1.

    Examples
    --------
    >>> cards = (2, 2)
    >>> exchanged({3: 0.5}, Basis("walsh", cards), Basis("monomial", cards), 10)  # (1 - 2 x)(1 - 2 x') / 2
    {1: -1.0, 2: -1.0, 3: 2.0}
    """
    local = [coefficients(old, new, i) for i in range(len(old.cards))]
    found: dict[int, float] = {}
    for y, weight in theta.items():
        parts = _parts(old.term(y), local, new.strides)
        if np.prod([len(part) for part in parts], dtype=float) - 1 > most:
            return None
        for chosen in itertools.product(*parts):
            z, value = 0, weight
            for place, coefficient in chosen:
                z += place
                value *= coefficient
            found[z] = found.get(z, 0.0) + value
        if len(found) > most + 1:
            return None
    # The constant only moves log Z.
    found.pop(0, None)
    return dict(sorted(found.items()))


def coefficients(old: Basis, new: Basis, variable: int) -> NDArray[np.float64]:
    """``C[j, k]``, multiples of 1 / |X_i|."""
    card = old.cards[variable]
    c = np.linalg.solve(new.local(variable).T.astype(float), old.local(variable).T.astype(float)).T
    # The solution is a rational number; rounded to it, terms that cancel do so exactly.
    return np.asarray(np.round(c * 2 * card) / (2 * card))


def _parts(term: Term, local: list[NDArray[np.float64]], strides: tuple[int, ...]) -> list[list[tuple[int, float]]]:
    """For each variable of a term the places and coefficients of its sum."""
    return [[(k * strides[i], float(c)) for k, c in enumerate(local[i][j]) if c] for i, j in term]
