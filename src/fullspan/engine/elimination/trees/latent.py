"""Exact sums of a mixture of trees of one shape: passes up and down, for all trees at once.

``lam_i(x) = [x agrees with the row] prod_{c child of i} m_c(x)`` with ``m_c(u) = sum_x p_z(x_c = x | u) lam_c(x)`` is
the probability of what the row says below x_i; every array has an axis of rows and one of trees. Messages are scaled,
and the logarithms of the scales summed. Time and memory: O(rows K sum of the tables) in blocks of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.errors import QueryError
from fullspan.model.latent_trees import LatentTrees

Allowed = Mapping[int, Sequence[int]]
_NEVER, _LEAST = -1000.0, 1e-300
"""Log of a probability of 0, and the least share of a tree: both are finite in a file."""
_HELD_NUMBERS = 1 << 22
"""Numbers in the messages of a block of rows."""


class LatentSums:
    """A mixture of trees of one shape made ready for exact answers."""

    def __init__(self, model: LatentTrees) -> None:
        self.model, self.cards = model, model.space.cards

    @property
    def sweep_work(self) -> int:
        """Table entries that one pass up and one down read."""
        return 2 * sum(table.size for table in self.model.tables)

    def log_z(self, evidence: Allowed | None = None) -> float:
        """``log P(evidence)``."""
        return float(_log_sum(self._up(self._alone(), evidence)[1])[0])

    def log_z_boxes(self, boxes: Any) -> Array:
        """:meth:`log_z` of many events."""
        return np.array([self.log_z(box) for box in boxes.each], dtype=np.float64)

    def log_prob(self, rows: NDArray[Any]) -> Array:
        """``log P(observed cells)`` of rows (m, n), -1 for open cells."""
        out = np.empty(len(rows))
        for block in self._blocks(len(rows)):
            out[block] = _log_sum(self._up(rows[block], None)[1])
        return out

    def marginals(self, evidence: Allowed | None = None) -> tuple[Array, ...]:
        """``p(x_v | evidence)`` of every variable.

        Raises
        ------
        QueryError : the evidence has probability zero.
        """
        lam, joint = self._up(self._alone(), evidence)
        share, parents = self._posterior(joint[0]), self.model.parents
        beliefs: list[Array] = [np.zeros(0)] * len(self.cards)
        for i in self.model.order:
            table, above = self.model.tables[i], np.ones((len(share), 1))
            weight = table * lam[i][0][:, None, :]
            total = weight.sum(axis=2, keepdims=True)
            if parents[i] >= 0:
                above = beliefs[parents[i]]
            weight = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
            beliefs[i] = np.einsum("ku,kul->kl", above, weight)
        found = [share @ belief for belief in beliefs]
        return tuple(p / p.sum() for p in found)

    def sample(self, size: int, rng: np.random.Generator, evidence: Allowed | None = None) -> Ints:
        """Independent states (size, n) given the evidence.

        Raises
        ------
        QueryError : the evidence has probability zero.
        """
        lam, joint = self._up(self._alone(), evidence)
        tree = rng.choice(len(self.model.shares), size=size, p=self._posterior(joint[0]))
        states = np.zeros((size, len(self.cards)), dtype=np.int64)
        for i in self.model.order:
            p = self.model.parents[i]
            chance = self.model.tables[i][tree, states[:, p] if p >= 0 else 0] * lam[i][0][tree]
            below = np.cumsum(chance, axis=1)
            u = rng.random(size)[:, None] * below[:, -1:]
            states[:, i] = np.minimum((below <= u).sum(axis=1), _last(chance))
        return states

    def reweighed(self, factors: Mapping[tuple[int, ...], Array]) -> tuple[LatentTrees | None, float]:
        """The trees times ``exp(sum_i l_i(x_i))``, normalised, None if 0; and the log of the mean of these factors.

        Every table becomes ``p_z(x_i | x_parent) lam_i(x_i) / m_i(x_parent)``, and a tree's share its own mean.
        """
        lam, log = self._up(self._alone(), None, factors)
        total = float(_log_sum(log)[0])
        if total == -np.inf:
            return None, total
        kept = log[0] > -np.inf
        logits = np.zeros((int(kept.sum()), self.model.layout.n_logits))
        with np.errstate(divide="ignore"):
            for i, table in enumerate(self.model.tables):
                own = np.maximum(np.log(table[kept] * lam[i][0][kept, None]), _NEVER)
                logits[:, self.model.layout.logits[i]] = own[:, :, 1:] - own[:, :, :1]
        shares = np.exp(log[0][kept] - total)
        space, parents = self.model.space, self.model.parents
        return LatentTrees(space, parents, np.maximum(shares / shares.sum(), _LEAST), logits), total

    def _alone(self) -> NDArray[np.int64]:
        return np.full((1, len(self.cards)), -1)

    def _blocks(self, rows: int) -> Iterator[slice]:
        step = max(_HELD_NUMBERS // (len(self.model.shares) * sum(self.cards)), 1)
        return (slice(start, start + step) for start in range(0, rows, step))

    def _up(
        self, rows: NDArray[Any], evidence: Allowed | None, factors: Mapping[tuple[int, ...], Array] | None = None
    ) -> tuple[list[Array], Array]:
        """Every ``lam`` (m, K, levels), without what its table adds, and ``log pi_z + log P_z(row)`` (m, K).

        Log factors of single variables multiply both.
        """
        factors, tops = factors or {}, 0.0
        k, lam = len(self.model.shares), list[Array]()
        for i, card in enumerate(self.cards):
            own = np.where(rows[:, i, None] < 0, True, rows[:, i, None] == np.arange(card))
            if evidence and i in evidence:
                own = own & np.isin(np.arange(card), evidence[i])
            lam.append(np.repeat(own[:, None, :].astype(np.float64), k, axis=1))
            if (i,) in factors:
                top = float(factors[(i,)].max())
                lam[i] *= np.exp(factors[(i,)] - (top if top > -np.inf else 0.0))
                tops += top
        log = np.repeat(np.log(self.model.shares)[None], len(rows), axis=0) + tops
        with np.errstate(divide="ignore"):
            for i in self.model.order[::-1]:
                message = np.einsum("kul,mkl->mku", self.model.tables[i], lam[i])
                scale = message.max(axis=2)
                log += np.log(scale)
                if (p := self.model.parents[i]) >= 0:
                    lam[p] *= message / np.where(scale > 0, scale, 1.0)[:, :, None]
        return lam, log

    def _posterior(self, joint: Array) -> Array:
        total = _log_sum(joint[None])[0]
        if total == -np.inf:
            raise QueryError("the evidence has probability zero under this model; ask about something that can happen")
        share = np.exp(joint - total)
        return np.asarray(share / share.sum())


def _last(chance: Array) -> Ints:
    """The last level that is possible."""
    return np.asarray(chance.shape[1] - 1 - (chance[:, ::-1] > 0).argmax(axis=1))


def _log_sum(joint: Array) -> Array:
    return np.asarray(np.logaddexp.reduce(joint, axis=1))
