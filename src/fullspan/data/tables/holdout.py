"""Rows held out of counted data, on which a learner decides what the others cannot tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fullspan.data.canonical import canonical_states
from fullspan.data.empirical import Empirical
from fullspan.errors import FullspanError


def held_out(empirical: Empirical, share: float, rng: np.random.Generator) -> tuple[Empirical, Empirical | None]:
    """Split counted rows at random: those to learn from, and about a ``share`` of them held out, None if that is none.

    Whole counts are split row by row; a state of fractional weight goes to one side as a whole. Which rows are held out
    depends on neither the order of the columns nor the labels of the levels (module ``data.canonical``).

    Raises
    ------
    FullspanError : the share is not at least 0 and less than 1.

    Examples
    --------
    >>> data = Empirical.from_codes([[0], [1]] * 50)
    >>> train, valid = held_out(data, 0.2, np.random.default_rng(0))
    >>> train.total + valid.total, valid.total
    (100.0, 19.0)
    """
    if not 0 <= share < 1:
        raise FullspanError(f"the share of rows held out is {share!r}; a number from 0 to below 1 is needed")
    counts, order = empirical.counts, canonical_states(empirical)
    whole = counts == np.floor(counts)
    rows, chance = np.empty_like(counts), np.empty_like(counts)
    rows[order] = rng.binomial(np.where(whole, counts, 0).astype(np.int64)[order], share)
    chance[order] = rng.random(len(counts))
    apart = np.where(whole, rows, counts * (chance < share))
    if not apart.any() or not (apart < counts).any():
        return empirical, None
    return _of(empirical, counts - apart), _of(empirical, apart)


def _of(empirical: Empirical, counts: NDArray[np.float64]) -> Empirical:
    seen = counts > 0
    return replace(empirical, states=empirical.states[seen], counts=counts[seen])
