"""The log-linear model ``p(x) = exp( sum_y theta_y Phi_y(x) - log Z )``: terms, weights and the normaliser."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullspan.data.space import Space
from fullspan.errors import DataError, FullspanError
from fullspan.model.algebra.basis import Basis, Term, local_row, log_sum_exp, small_exponents
from fullspan.model.effects.words import describe

_CHUNK_STATES = 1 << 14
"""States evaluated together: their columns stay in the cache."""


@dataclass(frozen=True, eq=False)
class LogLinear:
    """A distribution over the states of ``space`` with weights on a few terms of ``basis``.

    Parameters
    ----------
    space : the variables; ``basis.cards`` are their numbers of levels.
    terms : k different terms, each with its variables in increasing order.
    theta : (k,) finite weights.
    log_z : log partition function, which belongs to these weights; it is not recomputed here.

    Raises
    ------
    FullspanError : the parts do not fit together.

    Examples
    --------
    >>> import math
    >>> from fullspan.model.algebra.basis import Basis
    >>> from fullspan.data.space import Space
    >>> space = Space.of_cards((2, 2))
    >>> log_z = math.log(2 * math.exp(0.5) + 2 * math.exp(-0.5))
    >>> model = LogLinear(space, Basis("walsh", (2, 2)), (((0, 1), (1, 1)),), np.array([0.5]), log_z)
    >>> np.exp(model.log_prob([[0, 0], [0, 1]])).round(4).tolist()
    [0.3655, 0.1345]
    """

    kind: ClassVar[str] = "log-linear"
    space: Space
    basis: Basis
    terms: tuple[Term, ...]
    theta: NDArray[np.float64]
    log_z: float

    def __post_init__(self) -> None:
        if self.basis.cards != self.space.cards:
            raise FullspanError(f"the basis is over {self.basis.cards} levels, the variables have {self.space.cards}")
        theta = np.array(self.theta, dtype=np.float64)
        if theta.shape != (len(self.terms),):
            raise FullspanError(f"{len(self.terms)} terms need as many weights, but theta has the shape {theta.shape}")
        with np.errstate(over="ignore"):
            bounded = np.isfinite(np.abs(theta).sum())
        if not (bounded and math.isfinite(self.log_z)):
            raise FullspanError("the weights, their sum and log Z must be finite")
        for term in self.terms:
            check_term(self.basis, term)
        if len(self.weights) != len(self.terms):
            raise FullspanError("a term is listed twice; add its weights up")
        theta.flags.writeable = False
        object.__setattr__(self, "theta", theta)

    @property
    def approach(self) -> str | None:
        """How the model does without the table of all states, in words; None if it uses it."""
        return None

    @property
    def is_single(self) -> bool:
        """Whether the weights are natural parameters of the distribution; an average of models has none."""
        return True

    @property
    def is_stacked(self) -> bool:
        """Whether parts of an average are models of other kinds."""
        return False

    @property
    def share(self) -> float:
        """What the models of an average have of it whose terms are not listed."""
        return 0.0

    @property
    def chosen(self) -> NDArray[np.float64]:
        """(T,) share of the members of an average that have each term."""
        return np.ones(len(self.terms))

    def require_single(self, what: str) -> None:
        """Do nothing; an average of models raises a FullspanError that says ``what`` needs a single one."""

    @property
    def listed_states(self) -> NDArray[Any] | None:
        """Codes (m, n) of the states that are summed over; None for all of the space."""
        return None

    def log_z_by_table(self, most: int) -> float | None:
        """log Z summed over the table of all states, or None if there are more than ``most``."""
        if self.basis.n_states > most:
            return None
        return log_sum_exp(small_exponents(self.basis, self.weights))

    @property
    def parts(self) -> list[tuple[float, LogLinear]]:
        """Every log-linear model that it averages with its share: itself alone."""
        return [(1.0, self)]

    @cached_property
    def weights(self) -> dict[Term, float]:
        """``{term: weight}``."""
        return dict(zip(self.terms, map(float, self.theta), strict=True))

    @cached_property
    def indices(self) -> tuple[int, ...]:
        """Place of each term in a table over the basis."""
        return tuple(map(self.basis.index, self.terms))

    def reordered(self, order: Sequence[int]) -> LogLinear:
        """The same model of the variables in another order, its terms by their place in the new basis."""
        basis, terms, which = self._reordered_terms(order)
        return LogLinear(self.space.reordered(order), basis, terms, self.theta[which], self.log_z)

    def _reordered_terms(self, order: Sequence[int]) -> tuple[Basis, tuple[Term, ...], list[int]]:
        """The basis and terms of the variables in another order, and which of the present terms each is."""
        place = {old: new for new, old in enumerate(order)}
        basis = Basis(self.basis.name, tuple(self.space.cards[i] for i in order))
        terms = [tuple(sorted((place[i], j) for i, j in term)) for term in self.terms]
        which = sorted(range(len(terms)), key=lambda k: basis.index(terms[k]))
        return basis, tuple(terms[k] for k in which), which

    def log_prob(self, states: Any) -> NDArray[np.float64]:
        """``log p(x)`` of states (m, n) -> (m,), in nats. O(m k) time, no table."""
        return -self.energy(states) - self.log_z

    def energy(self, states: Any) -> NDArray[np.float64]:
        """``-theta . Phi(x)`` of states (m, n) -> (m,).

        Raises
        ------
        DataError : the states have the wrong shape or type, or a code is out of range.
        """
        rows = checked_codes(states, self.space)
        energy = np.empty(len(rows))
        for start in range(0, len(rows), _CHUNK_STATES):
            energy[start : start + _CHUNK_STATES] = -self._exponent(rows[start : start + _CHUNK_STATES])
        return energy

    def _exponent(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        values = {(i, j): local_row(self.basis, i, j)[rows[:, i]] for i, j in self._factors}
        total = np.zeros(len(rows))
        for term, weight in self.weights.items():
            phi = np.ones(len(rows), dtype=np.int8)
            for factor in term:
                phi *= values[factor]
            total += weight * phi
        return total

    @cached_property
    def _factors(self) -> tuple[tuple[int, int], ...]:
        """The local functions in use, each once."""
        return tuple(sorted({factor for term in self.terms for factor in term}))

    def describe(self, term: Term) -> str:
        """A term in words, with the factor by which it changes odds; see :mod:`fullspan.model.effects.words`.

        Raises
        ------
        FullspanError : the model has no such term.
        """
        if term not in self.weights:
            raise FullspanError(f"the model has no term {term!r}")
        return describe(self.space, self.basis, term, self.weights[term])

    def __iter__(self) -> Iterator[tuple[Term, float]]:
        return iter(self.weights.items())


def check_term(basis: Basis, term: Term) -> None:
    """Refuse a term that the basis does not have, or whose variables do not increase."""
    cards, last, known = basis.cards, -1, bool(term)
    for i, component in term:
        known = known and last < i < len(cards) and 0 < component < cards[i]
        last = i
    if not known:
        raise FullspanError(
            f"{term!r} is not a term over {basis.cards} levels: pairs (variable, component > 0) in increasing order"
        )


def checked_codes(states: Any, space: Space, missing: bool = False) -> NDArray[Any]:
    """States as an integer array (m, n) with codes in range, -1 allowed where cells may be missing.

    Raises
    ------
    DataError : the shape, the type or a code is wrong.
    """
    rows = np.asarray(states)
    if rows.ndim != 2 or rows.shape[1] != len(space):
        raise DataError(f"states of shape {rows.shape} were given; (m, {len(space)}) is needed")
    if not (np.issubdtype(rows.dtype, np.integer) or rows.size == 0):
        raise DataError(f"states are integer codes, but {rows.dtype} was given")
    cards = np.array(space.cards)
    wrong = (rows < (-1 if missing else 0)) | (rows >= cards)
    if wrong.any():
        row, i = map(int, np.argwhere(wrong)[0])
        raise DataError(
            f"row {row} has the code {rows[row, i]} for {space.names[i]!r}, which has codes 0 to {cards[i] - 1}"
            + (", and -1 for a missing cell" if missing else "")
        )
    return rows
