"""What can be asked of a search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fullspan.engine.planner import DEVICES, PRECISIONS, Device, Precision
from fullspan.errors import TINY, FullspanError, require_finite, require_one_of
from fullspan.model.algebra.basis import BASES

SEARCHES = ("full", "paper")
MAX_TERMS = 2048
"""Most terms refitted jointly: the Fisher information is a k-by-k matrix."""
MAX_COMPLETIONS = 20
"""Most searches of completed rows from one first completion."""
PSEUDO_ROWS = 1.0
"""Rows spread evenly over all states in the full search, so that every optimum is finite."""


@dataclass(frozen=True)
class Options:
    """How to fit; the defaults need no thought.

    Attributes
    ----------
    search : ``"full"`` (margins and terms, joint refit, sifting) or ``"paper"`` (the published algorithm).
    basis : ``"walsh"``, ``"indicator"``, ``"monomial"``, or ``"auto"`` for the one with the shortest description.
    penalty : ``"mdl"``, ``"combinatorial"``, ``"bic"``, or a number of times ``"mdl"``.
    l1 : weight of ``sum |theta|`` in the cost; if positive, terms are searched one at a time.
    epsilon : smallest improvement, in nats per row, for which the one-at-a-time search goes on.
    max_order : most variables in one term.
    dtype : ``"float32"``, ``"float64"``, or ``"auto"``.
    max_memory : bytes the tables may take; most of the free memory by default.
    device : ``"cpu"``, ``"cuda"``, ``"sharded"`` for all devices that JAX sees (Walsh functions only: the basis
        ``"auto"`` is then ``"walsh"``), or ``"auto"`` for a GPU if there is one and the table is large and fits it.
    """

    search: str = "full"
    basis: str = "auto"
    penalty: str | float = "mdl"
    l1: float = 0.0
    epsilon: float = 1e-4
    max_order: int | None = None
    dtype: Precision = "auto"
    max_memory: int | None = None
    device: Device = "auto"

    def __post_init__(self) -> None:
        require_one_of(SEARCHES, search=self.search)
        require_one_of((*BASES, "auto"), basis=self.basis)
        require_one_of(PRECISIONS, dtype=self.dtype)
        require_one_of(DEVICES, device=self.device)
        if not self.by_terms:
            refuse_bic(self.penalty)
        require_finite(0.0, l1=self.l1)
        require_finite(TINY, epsilon=self.epsilon)
        if self.max_order is not None and self.max_order < 1:
            raise FullspanError(f"max_order is {self.max_order}; at least 1 is needed, or None for any order")

    @property
    def by_terms(self) -> bool:
        """Whether terms are searched one at a time."""
        return self.search == "paper" or self.l1 > 0


@dataclass(frozen=True)
class Limits:
    """How far a search goes, where not to its end.

    Attributes
    ----------
    rounds : most rounds of growing, for each basis.
    terms : most terms that it grows to.
    completions : most searches, each of rows that the one before has completed.
    """

    rounds: float = math.inf
    terms: int = MAX_TERMS
    completions: int = MAX_COMPLETIONS


def refuse_bic(penalty: Any) -> None:
    """Refuse BIC where whole margins are searched: they pay for names and effective weights, not ln(N)/2 each.

    Raises
    ------
    FullspanError : it is asked for.
    """
    if isinstance(penalty, str) and penalty == "bic":
        raise FullspanError(
            "penalty='bic' charges ln(N)/2 per term, which only search='paper' and l1 above 0 do: use search='paper', "
            "or penalty='mdl', 'combinatorial' or a factor such as 0.5"
        )
