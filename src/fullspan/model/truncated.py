"""A log-linear model on a truncated sample space: the states seen, the terms as states, and the state 0.

    p(x) = exp( sum_b theta_b [b in x] - log Z )  for x in S,      0 elsewhere

Sugiyama, Tsuda and Nakahara, "Sample space truncation on Boltzmann machines", eqs. 1 to 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.merging import code_dtype
from fullspan.errors import FullspanError
from fullspan.model.algebra.inclusion import inclusion, sets_of_states, sets_of_terms, states_of_terms
from fullspan.model.loglinear import LogLinear, checked_codes


@dataclass(frozen=True, eq=False)
class TruncatedLogLinear(LogLinear):
    """A log-linear model in the monomial basis on ``S = {0}, B, others``.

    Parameters
    ----------
    others : (m, n) codes of the states of S that are neither 0 nor a term.
    unseen : probability reserved for all states outside S together, the same for each of them; 0 excludes them.

    And those of :class:`LogLinear`. ``log_z`` is that of the weights on S.

    Raises
    ------
    FullspanError : the parts do not fit together, or a state is listed twice.
    """

    kind: ClassVar[str] = "truncated"
    others: NDArray[Any] = None  # type: ignore[assignment]
    unseen: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.basis.name != "monomial":
            raise FullspanError(f"a truncated space goes with the monomial basis, not with {self.basis.name!r}")
        empty = np.zeros((0, len(self.space)), dtype=np.uint8)
        others = checked_codes(empty if self.others is None else self.others, self.space)
        others = np.array(others, dtype=code_dtype(self.space.cards))
        others.flags.writeable = False
        object.__setattr__(self, "others", others)
        if len(self._rows) != len(self.states):
            raise FullspanError("a state of the truncated space is listed twice, or is a term or the state 0")
        if not 0.0 <= self.unseen < 1.0:
            raise FullspanError(f"unseen is {self.unseen}; a probability from 0 to below 1 is needed")
        if self.unseen and len(self.states) == self.space.n_states:
            raise FullspanError("unseen= needs a truncated space, which this is not; use unseen=0")

    @property
    def approach(self) -> str:
        """How the model does without the table of all states, in words."""
        return f"truncated to {len(self.states):,} states"

    def reordered(self, order: Sequence[int]) -> TruncatedLogLinear:
        """The same model of the variables in another order."""
        basis, terms, which = self._reordered_terms(order)
        space, theta, others = self.space.reordered(order), self.theta[which], self.others[:, list(order)]
        return TruncatedLogLinear(space, basis, terms, theta, self.log_z, others, self.unseen)

    @cached_property
    def states(self) -> NDArray[Any]:
        """(|S|, n) codes of the states: 0, the terms, all others."""
        n, dtype = len(self.space), self.others.dtype
        zero = np.zeros((1, n), dtype=dtype)
        return np.concatenate([zero, states_of_terms(self.terms, n, dtype), self.others])

    @property
    def listed_states(self) -> NDArray[Any]:
        """The states of the truncated space."""
        return self.states

    @cached_property
    def log_p(self) -> Array:
        """(|S|,) log-probabilities of the states."""
        cards = self.space.cards
        start, indices = inclusion(sets_of_states(self.states, cards), sets_of_terms(self.terms, cards))
        return _row_sums(start, indices, self.theta) - self.log_z + math.log1p(-self.unseen)

    @cached_property
    def log_p_unseen(self) -> float:
        """Log-probability of a single state outside S."""
        if not self.unseen:
            return -math.inf
        return math.log(self.unseen) - math.log(self.space.n_states - len(self.states))

    @cached_property
    def _rows(self) -> dict[bytes, int]:
        return {row.tobytes(): x for x, row in enumerate(self.states)}

    def rows_of(self, states: Any) -> NDArray[np.int64]:
        """Places of states (m, n) in S, -1 for those outside."""
        codes = np.ascontiguousarray(checked_codes(states, self.space).astype(self.others.dtype))
        find = self._rows.get
        return np.array([find(row.tobytes(), -1) for row in codes], dtype=np.int64)

    def log_prob(self, states: Any) -> Array:
        """``log p(x)`` of states (m, n) -> (m,), in nats: -inf outside S, or the share of ``unseen``."""
        rows = self.rows_of(states)
        return np.where(rows >= 0, self.log_p[rows], self.log_p_unseen)


def _row_sums(start: NDArray[np.int64], indices: NDArray[np.int32], theta: Array) -> Array:
    sums = np.add.reduceat(np.append(theta[indices], 0.0), np.minimum(start[:-1], len(indices)))
    return np.where(np.diff(start) > 0, sums, 0.0)
