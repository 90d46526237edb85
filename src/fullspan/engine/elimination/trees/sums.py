"""A tree of hidden nodes as a part of a mixture: the answers that every component gives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.elimination.trees.tree import TreeEngine
from fullspan.errors import QueryError
from fullspan.model.hidden_tree import HiddenTree

Allowed = Mapping[int, Sequence[int]]


class TreeSums:
    """A tree made ready for exact answers."""

    def __init__(self, tree: HiddenTree) -> None:
        self.tree, self.cards = tree, tree.space.cards

    @property
    def sweep_work(self) -> int:
        """Table entries that one pass up and one down read."""
        return 2 * (self.tree.transitions.size + self.tree.emissions.size)

    @cached_property
    def engine(self) -> TreeEngine:
        """The passes without evidence."""
        return TreeEngine(self.tree)

    def _given(self, evidence: Allowed | None) -> TreeEngine:
        return TreeEngine(self.tree, evidence) if evidence else self.engine

    def log_z(self, evidence: Allowed | None = None) -> float:
        """``log P(evidence)``."""
        engine = self._given(evidence)
        return float(engine.log_likelihood(engine.columns(np.full((1, len(self.cards)), -1)))[0])

    def log_z_boxes(self, boxes: Any) -> Array:
        """:meth:`log_z` of many events."""
        return np.array([self.log_z(box) for box in boxes.each], dtype=np.float64)

    def log_prob(self, rows: NDArray[Any]) -> Array:
        """``log P(observed cells)`` of rows (m, n), -1 for open cells."""
        return self.engine.log_likelihood(self.engine.columns(rows))

    def marginals(self, evidence: Allowed | None = None) -> tuple[Array, ...]:
        """``p(x_v | evidence)`` of every variable.

        Raises
        ------
        QueryError : the evidence has probability zero.
        """
        _, chances, log = next(self._given(evidence).posteriors(np.full((1, len(self.cards)), -1)))
        self._check(float(log[0]))
        return tuple(chances[0, i, :card] for i, card in enumerate(self.cards))

    def sample(self, size: int, rng: np.random.Generator, evidence: Allowed | None = None) -> Ints:
        """Independent states (size, n) given the evidence.

        Raises
        ------
        QueryError : the evidence has probability zero.
        """
        drawn, log = self._given(evidence).completed(np.full((size, len(self.cards)), -1), rng)
        self._check(float(log.min(initial=0.0)))
        return drawn

    def reweighed(self, factors: Mapping[tuple[int, ...], Array]) -> tuple[HiddenTree | None, float]:
        """The tree times ``exp(sum_i l_i(x_i))``, normalised, None if 0; and the log of the mean of these factors.

        With ``e_i(z) = sum_x E_i[z, x] f_i(x)`` and ``u_i(z) = e_i(z) prod_{c child of i} sum_w A_c[z, w] u_c(w)``,
        what lies below a node, the tables become ``E_i f_i / e_i``, ``A_i u_i / (A_i u_i)`` and ``pi u_r / (pi u_r)``.
        """
        tree, log = self.tree, 0.0
        emissions, transitions = tree.emissions.copy(), tree.transitions.copy()
        below = np.ones((len(self.cards), tree.n_states))
        for (i,), own in factors.items():
            top = float(own.max())
            if top == -np.inf:
                return None, top
            emissions[i][:, : self.cards[i]] *= np.exp(own - top)
            sums = emissions[i].sum(axis=1)
            below[i], log = sums, log + top
            emissions[i] = tree.emissions[i] if tree.is_observed else _divided(emissions[i], sums[:, None])
        for i in tree.order[::-1]:
            weighed = (tree.prior if i == tree.order[0] else tree.transitions[i]) * below[i]
            sums = weighed.sum(axis=-1, keepdims=True)
            if (scale := float(sums.max())) == 0.0:
                return None, -np.inf
            log += math.log(scale)
            if i == tree.order[0]:
                prior = _divided(weighed, sums)
            else:
                transitions[i] = _divided(weighed, sums)
                below[tree.parents[i]] *= sums[:, 0] / scale
        return replace(tree, prior=prior, transitions=transitions, emissions=emissions), log

    def _check(self, log: float) -> None:
        if log == -np.inf:
            raise QueryError("the evidence has probability zero under this model; ask about something that can happen")


def _divided(values: Array, sums: Array) -> Array:
    """Values by their sums; 0 where the sum is."""
    return np.divide(values, sums, out=np.zeros_like(values), where=sums > 0)
