"""The terms of a model as one table for each step of its elimination, for sweeps over rows with missing cells."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from fullspan.arrays import Array
from fullspan.engine.elimination.row_sweeps import Sweeps
from fullspan.learn.wide.terms import Terms


class Buckets:
    """Each term in the table of that of its variables which is summed out first.

    Attributes
    ----------
    families : of every variable, itself and its separator, ascending.
    even : expectations of the terms when all states are equally likely.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        separators = dict(zip(terms.order, terms.separators, strict=True))
        self.families = [tuple(sorted((v, *separators[v]))) for v in range(len(terms.space))]
        self.even: Array = np.array([terms.basis.even(term) for term in terms.terms])

    @cached_property
    def design(self) -> Any:
        """Sparse (cells, terms): tables are ``design theta``, and expectations ``design' p``."""
        cards, place = self.terms.space.cards, {v: k for k, v in enumerate(self.terms.order)}
        sizes = [math.prod(cards[i] for i in family) for family in self.families]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        rows, columns, data = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)], [np.empty(0)]
        for k, (term, support) in enumerate(zip(self.terms.terms, self.terms.supports, strict=True)):
            v = min(support, key=place.__getitem__)
            function = self.terms.function(term, self.families[v])
            at = np.flatnonzero(function)
            rows.append(starts[v] + at)
            columns.append(np.full(len(at), k))
            data.append(function[at])
        shape = int(starts[-1]), len(self.terms.terms)
        return csr_matrix((np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))), shape=shape)

    @cached_property
    def sweeps(self) -> Sweeps:
        """The tables as sweeps over rows read them."""
        cards = self.terms.space.cards
        strides = [np.cumprod([1, *reversed([cards[i] for i in family])])[-2::-1] for family in self.families]
        return Sweeps.of(cards, list(reversed(self.terms.order)), self.families, strides)
