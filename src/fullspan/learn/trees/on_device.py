"""Em on a hidden tree where the arrays live: the passes and the m-step in functions of an array library, for a GPU.

The mathematics is that of :mod:`fullspan.engine.elimination.trees.passes` and of :func:`maximised`; tables stay on the
device between iterations. Numbers are single ones; logarithms of rows and sums over rows are added in double precision.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.engine.sampling.layers.device import Device
from fullspan.learn.base.em import Expected
from fullspan.model.hidden_tree import HiddenTree

_HELD_NUMBERS = 1 << 28
"""Numbers in the messages of a block of rows."""
_TINY = 1e-37


@dataclass(frozen=True)
class Tables:
    """The tables of a tree on a device: (K,), (n, K, K), (n, K, C)."""

    shape: HiddenTree = field(repr=False)
    prior: Any
    transitions: Any
    emissions: Any

    @property
    def n_states(self) -> int:
        """K."""
        return int(self.prior.shape[0])


@dataclass(frozen=True)
class Sums:
    """Expected counts on the device, and the mean objective of the tables that made them."""

    root: Any
    edges: Any
    cells: Any
    objective: float


class RowsOnDevice:
    """Rows by variable, missing cells in one code beyond the levels, and their weights."""

    def __init__(self, columns: NDArray[Any], weights: Array, place: Device) -> None:
        self.columns, self.weights = place.index(columns.astype(np.int64)), place.array(weights)
        self.exact, self.total = weights, float(weights.sum())

    def __len__(self) -> int:
        return len(self.exact)


class EmOnDevice:
    """The two steps of em; rows held out judge, where there are some.

    Parameters
    ----------
    shares : (n, C) of each level of each variable, over which the smoothing of an emission is spread.
    """

    def __init__(
        self, place: Device, train: RowsOnDevice, valid: RowsOnDevice | None, smoothing: float, shares: Array
    ) -> None:
        self.place, self.train, self.valid, self.smoothing = place, train, valid, smoothing
        self.shares = place.array(shares[:, None, :])

    def put(self, tree: HiddenTree) -> Tables:
        """The tables of a tree on the device."""
        own = (self.place.array(values) for values in (tree.prior, tree.transitions, tree.emissions))
        return Tables(tree, *own)

    def tree(self, tables: Tables) -> HiddenTree:
        """Tables brought back; what single precision has left of their sums is divided out."""
        back = self.place.to_numpy
        found = []
        for values in (tables.prior, tables.transitions, tables.emissions):
            own = back(values).astype(np.float64)
            sums = own.sum(axis=-1, keepdims=True)
            found.append(np.divide(own, sums, out=np.zeros_like(own), where=sums > 0))
        return HiddenTree(tables.shape.space, tables.shape.parents, *found)

    # -- the e-step -----------------------------------------------------------------------------------------------

    def complete(self, tables: Tables) -> Expected[Sums]:
        """Expected counts by one pass up and down the tree, in blocks of rows."""
        rows = self.train
        edges, cells = tables.transitions * 0, self._emission(tables) * 0
        root, log = tables.prior * 0, 0.0
        for block in self._blocks(len(rows), tables):
            lam, message, logs = self._up(tables, rows.columns[:, block])
            log += float(rows.exact[block] @ self.place.to_numpy(logs))
            root = root + self._down(tables, rows, block, lam, message, edges, cells)
        edges = edges * tables.transitions
        mean = (log + self._log_prior(tables)) / rows.total
        value = mean if self.valid is None else self.mean(tables, self.valid)
        return Expected(-value, Sums(root, edges, cells[:, :, : tables.emissions.shape[2]], mean))

    def log_likelihood(self, tables: Tables, rows: RowsOnDevice) -> Array:
        """log p of each row."""
        found = [self._up(tables, rows.columns[:, block])[2] for block in self._blocks(len(rows), tables)]
        return np.concatenate([self.place.to_numpy(logs) for logs in found])

    def mean(self, tables: Tables, rows: RowsOnDevice) -> float:
        """Mean log-likelihood of some rows, in nats."""
        return float(rows.exact @ self.log_likelihood(tables, rows)) / rows.total

    def _blocks(self, rows: int, tables: Tables) -> list[slice]:
        n, k, _ = tables.emissions.shape
        step = max(_HELD_NUMBERS // (2 * n * k), 1)
        return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]

    def _emission(self, tables: Tables) -> Any:
        """Emissions with one more level, for a missing cell."""
        return self.place.xp.concatenate([tables.emissions, tables.emissions[:, :, :1] * 0 + 1], axis=2)

    def _up(self, tables: Tables, codes: Any) -> tuple[list[Any], list[Any], Any]:
        """Messages (K, rows) of every node, those to its parent, and the log-likelihoods of the rows."""
        xp, order, parents = self.place.xp, tables.shape.order, tables.shape.parents
        emission = self._emission(tables)
        lam = [xp.take(emission[i], codes[i], axis=1) for i in range(len(parents))]
        message: list[Any] = [None] * len(parents)
        log = self.place.cast(lam[0][0] * 0, xp.float64)
        for i in order[:0:-1].tolist():
            message[i] = tables.transitions[i] @ lam[i]
            above = lam[parents[i]] * message[i]
            total = xp.sum(above, axis=0)
            lam[parents[i]] = above / total
            log = log + xp.log(self.place.cast(total, xp.float64))
        total = tables.prior @ lam[order[0]]
        return lam, message, log + xp.log(self.place.cast(total, xp.float64))

    def _down(
        self, tables: Tables, rows: RowsOnDevice, block: slice, lam: list[Any], message: list[Any], *into: Any
    ) -> Any:
        """Add the counts of a block of rows to those of edges, divided by their tables, and of cells; the root's."""
        xp, order, parents = self.place.xp, tables.shape.order.tolist(), tables.shape.parents.tolist()
        (edges, cells), codes, belief = into, rows.columns[:, block], list[Any](lam)
        levels = xp.reshape(self.place.index(np.arange(int(cells.shape[2]))), (-1, 1))
        joint = tables.prior[:, None] * lam[order[0]]
        belief[order[0]] = joint * (rows.weights[block] / xp.sum(joint, axis=0))
        for i in order[1:]:
            ratio = belief[parents[i]] / xp.maximum(message[i], message[i] * 0 + _TINY)
            belief[i] = lam[i] * (tables.transitions[i].T @ ratio)
            edges[i] = edges[i] + ratio @ lam[i].T
        for i, own in enumerate(belief):
            cells[i] = cells[i] + own @ self.place.cast(codes[i] == levels, self.place.dtype).T
        return xp.sum(belief[order[0]], axis=1)

    # -- the m-step -----------------------------------------------------------------------------------------------

    def project(self, data: Sums, tables: Tables) -> Tables:
        """The closed-form maximum; see :func:`fullspan.learn.trees.hidden_tree.maximised`."""
        own = self.smoothing / tables.n_states
        transitions = self._shared(data.edges + own, tables.transitions)
        transitions[int(tables.shape.order[0])] = 0.0
        emissions = self._shared(data.cells + self.smoothing * self.shares, tables.emissions)
        return Tables(tables.shape, self._shared(data.root + own, tables.prior), transitions, emissions)

    def _shared(self, counts: Any, otherwise: Any) -> Any:
        xp = self.place.xp
        sums = xp.sum(counts, axis=-1, keepdims=True)
        return xp.where(sums > 0, counts / xp.maximum(sums, sums * 0 + _TINY), otherwise)

    def _log_prior(self, tables: Tables) -> float:
        """Logarithm of the Dirichlet prior, up to a constant, in nats."""
        if self.smoothing == 0:
            return 0.0
        even = self._sum_log(tables.prior) + self._sum_log(tables.transitions[self._others(tables)])
        weights = self.shares + tables.emissions * 0
        return self.smoothing * (even / tables.n_states + self._sum_log(tables.emissions, weights))

    def _others(self, tables: Tables) -> Any:
        return self.place.index(tables.shape.order[1:])

    def _sum_log(self, values: Any, weights: Any = None) -> float:
        xp = self.place.xp
        logs = xp.log(xp.where(values > 0, values, values * 0 + 1))
        logs = logs if weights is None else logs * weights
        return float(xp.sum(self.place.cast(xp.sum(logs, axis=-1), xp.float64)))
