"""What it takes to name the scopes of a model: those of one order are a set, and named as one.

A scope A of k variables, named alone, costs ``c_k + sum_{i in A} c_i`` nats (:mod:`fullspan.learn.search.penalty`).
Naming m scopes of one order one after the other also says in which order, which nobody needs to know, so

    names = sum_A (c_k + sum_{i in A} c_i)  -  sum_k ln m_k!

The next scope costs ``ln(m_k + 1)`` less than the first: where few pairs matter, chance does not pay for one; where
many do, as in a survey, another is believed sooner.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fullspan.arrays import Array
from fullspan.model.algebra.basis import Term


@dataclass(frozen=True)
class Tariff:
    """Nats for naming a term or a margin: by its number of variables, and for the levels of each.

    Attributes
    ----------
    factor : on what the order of a set would cost; that of the penalty.
    """

    by_order: Array
    by_variable: Array
    factor: float = 0.0

    def name(self, variables: Sequence[int]) -> float:
        """Price of naming the terms on these variables, without their weights."""
        return float(self.by_order[len(variables)] + self.by_variable[list(variables)].sum())

    def next_to(self, terms: Iterable[Term]) -> Tariff:
        """The prices of one more scope next to those of some terms."""
        number = Counter(map(len, named_scopes(terms)))
        less = self.factor * np.log1p([number[k] for k in range(len(self.by_order))])
        return replace(self, by_order=np.maximum(self.by_order - less, 0.0))

    def of(self, terms: Iterable[Term]) -> float:
        """Nats for naming all main effects, and as many of the other scopes as hold all of these."""
        scopes = named_scopes(terms)
        sets = sum(math.lgamma(m + 1) for m in Counter(map(len, scopes)).values())
        return max(sum(map(self.name, scopes)) - self.factor * sets, 0.0)


def named_scopes(terms: Iterable[Term]) -> list[tuple[int, ...]]:
    """The scopes that must be named: single variables, and all that are not inside another one."""
    holding: dict[int, list[frozenset[int]]] = {}
    found = list[tuple[int, ...]]()
    for support in sorted({tuple(i for i, _ in term) for term in terms}, key=lambda a: (-len(a), a)):
        own = frozenset(support)
        if len(own) > 1 and any(own <= other for other in holding.get(support[0], ())):
            continue
        found.append(support)
        if len(own) > 1:
            for i in own:
                holding.setdefault(i, []).append(own)
    return found
