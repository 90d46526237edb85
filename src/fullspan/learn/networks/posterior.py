"""Networks drawn from their posterior, and the average of what they predict.

The prior is even over networks and over a few strengths of the tables' own prior. A walk starts from the best network
that a greedy search finds. Each draw predicts by the mean of its tables, ``(N_jk + a_jk) / (N_j + a_j)``; as a
log-linear model it has the terms inside its families.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.learn.networks.conditionals import Writer
from fullspan.learn.networks.families import Families, add_log_prob, family_table
from fullspan.learn.networks.walk import hill_climb, start, wander
from fullspan.model import LogLinear
from fullspan.model.algebra.basis import Basis

Spread = Literal["all", "each"]
"""Whether the strength of the prior is that of a whole table, or of every state of the parents."""
STRENGTHS: Array = np.exp2(np.arange(-2.0, 5.0))
"""Pseudo-rows that are tried."""
LARGEST, LEAST = 4096, 64
"""Most cells of a variable and its parents; not more than there are rows, unless these are few."""
MAX_VARIABLES = 62
"""Variables up to which networks are drawn: parents are the bits of a signed number."""
DRAWS = 16
"""Networks that are averaged; fewer where the walk returns to the same one."""
_STEPS = 300
"""Steps of the walk from one draw to the next, plus one for every pair of variables."""


@dataclass(frozen=True)
class Networks:
    """Draws of the posterior, each network once.

    Attributes
    ----------
    parents : (g, n) bit masks of the parents of every variable.
    strengths : (g,) of the tables' prior.
    shares : (g,) of the draws; they sum to 1.
    """

    space: Space
    basis: Basis
    columns: Ints
    counts: Array
    spread: Spread
    parents: Ints
    strengths: Array
    shares: Array

    def log_prob(self, states: Ints) -> Array:
        """``log p`` of complete states (m, n) under the average."""
        asked, cards = np.ascontiguousarray(np.asarray(states, dtype=np.int64).T), np.array(self.space.cards)
        own, total = np.empty(len(states)), np.zeros((len(self.shares), len(states)))
        for v in range(len(cards)):
            shared: dict[tuple[int, float], list[int]] = {}
            for g, key in enumerate(zip(self.parents[:, v].tolist(), self.strengths.tolist(), strict=True)):
                shared.setdefault(key, []).append(g)
            for (parents, strength), which in shared.items():
                own[:] = 0.0
                each = self.spread == "each"
                add_log_prob(self.columns, self.counts, cards, v, parents, strength, each, asked, own)
                total[which] += own
        return np.asarray(np.logaddexp.reduce(total + np.log(self.shares)[:, None], axis=0))

    def models(self) -> tuple[tuple[float, LogLinear], ...]:
        """Every network as a log-linear model, with its share."""
        writer, known = Writer(self.space, self.basis), {}
        for v, parents, strength in {own for g in range(len(self.shares)) for own in self._families(g)}:
            known[v, parents, strength] = writer.family(*self._table(v, parents, strength))
        return tuple(
            (float(share), writer.model(known[own] for own in self._families(g))) for g, share in enumerate(self.shares)
        )

    def _families(self, g: int) -> list[tuple[int, int, float]]:
        """Every variable of a network with the mask of its parents, and the strength."""
        return [(v, parents, float(self.strengths[g])) for v, parents in enumerate(self.parents[g].tolist())]

    def _table(self, v: int, parents: int, strength: float) -> tuple[list[int], Array]:
        """A variable and its parents, and the logarithms of its table."""
        cards = np.array(self.space.cards, dtype=np.int64)
        table = family_table(self.columns, self.counts, cards, v, parents).reshape(-1, cards[v])
        table += strength / (cards[v] if self.spread == "each" else table.size)
        scope = [v, *(i for i in range(len(self.space)) if parents >> i & 1)]
        return scope, np.log(table / table.sum(axis=1, keepdims=True)).ravel()


def draw_networks(
    empirical: Empirical,
    basis: Basis,
    spread: Spread,
    rng: np.random.Generator,
    max_family: int | None = None,
    draws: int = DRAWS,
) -> Networks:
    """Draw networks from the posterior of complete rows.

    Parameters
    ----------
    max_family : most variables of a table, the parents and their child.
    draws : how many; 0 for the best network that the greedy search finds.

    Notes
    -----
    Time: 300 + n^2 steps for each draw, of which few count all states anew.
    """
    space, n = empirical.space, len(empirical.space)
    columns = np.ascontiguousarray(empirical.states.T.astype(np.int64))
    cards = np.array(space.cards, dtype=np.int64)
    counts = np.array(empirical.counts)  # writable: a kernel is compiled again for a read-only array
    largest = min(LARGEST, max(LEAST, int(empirical.total)))
    most = n if max_family is None else max_family - 1
    parents, which = np.zeros(n, dtype=np.int64), len(STRENGTHS) // 2
    families = Families.of(columns, counts, cards, STRENGTHS, spread == "each", largest, most)
    for _ in range(len(STRENGTHS)):
        hill_climb(families, parents, which)
        totals = [start(families, parents, s)[0].sum() for s in range(len(STRENGTHS))]
        if (best := int(np.argmax(totals))) == which:
            break
        which = best
    if not draws:
        found, best_strength = parents[None], STRENGTHS[[which]]
        return Networks(space, basis, columns, counts, spread, found, best_strength, np.ones(1))
    steps = draws * (_STEPS + n * n)
    kept, strength = np.empty((draws, n), dtype=np.int64), np.empty(draws, dtype=np.int64)
    pairs, chances = rng.integers(n, size=(steps, 2)), rng.random((steps, 2))
    wander(families, parents, which, pairs, chances, kept, strength)
    found, times = np.unique(np.column_stack([strength, kept]), axis=0, return_counts=True)
    return Networks(space, basis, columns, counts, spread, found[:, 1:], STRENGTHS[found[:, 0]], times / draws)
