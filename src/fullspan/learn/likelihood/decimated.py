"""A phase of a machine that is decimated: the mean of log Z over rows with some cells clamped, and its gradient.

Rows that leave the same cells open are one batch (Rueger 1997, section 5: the adjoint network depends on which nodes
are clamped, not on how), and hidden nodes are cells that every row leaves open. Weights are those of the Walsh basis:
couplings of the edges, then fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.merging import same_pattern
from fullspan.engine.elimination.decimation import Decimation
from fullspan.model.ising import spins_of, walsh_weights

Group = tuple[Decimation, NDArray[np.int8], NDArray[np.intp]]
"""A compiled order, the spins of its clamped nodes, and the rows they stand for."""


class Decimated:
    """``sum_r q_r log Z(c_r)`` over rows of codes (rows, n), -1 where a cell is open.

    Parameters
    ----------
    n, edges : the graph; weights are those of the edges, then the fields of the nodes ``biased`` (all by default).
    rows, weights : (rows, n) codes and their weights.
    names : of the nodes, for messages.

    Raises
    ------
    NotDecimatableError : the nodes that some row leaves open cannot be decimated.
    """

    is_linear = False

    def __init__(
        self,
        n: int,
        edges: NDArray[np.int64],
        rows: NDArray[Any],
        weights: Array,
        biased: Sequence[int] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.n, self.n_edges = n, len(edges)
        self.biased = np.arange(n) if biased is None else np.array(biased, dtype=np.int64)
        self.weights = weights / weights.sum()
        self.groups: list[Group] = []
        for members in same_pattern(rows):
            known = np.flatnonzero(rows[members[0]] >= 0)
            engine = Decimation(n, edges, known.tolist(), names=names)
            self.groups.append((engine, spins_of(rows[members][:, known]), members))
        self._log_z = np.zeros(len(rows))
        self._eta = np.zeros(self.n_edges + len(self.biased))

    def move(self, theta: Array) -> float:
        self._theta = theta
        couplings, fields = self._parts(theta)
        edges, nodes = np.zeros(self.n_edges), np.zeros(self.n)
        for engine, spins, members in self.groups:
            found = engine.gradient(couplings, fields, spins, self.weights[members])
            self._log_z[members] = found.log_z
            edges += found.edges
            nodes += found.nodes
        self._eta = walsh_weights(edges, nodes[self.biased])
        return float(self.weights @ self._log_z)

    def log_z(self) -> Array:
        """log Z of every row."""
        return self._log_z

    def eta(self) -> Array:
        return self._eta

    def covariance(self) -> Array:
        """To rounding; takes as many passes as there are weights, for every row."""
        couplings, fields = self._parts(self._theta)
        total = np.zeros((self.n_edges + self.n,) * 2)
        for engine, spins, members in self.groups:
            total += engine.covariance(couplings, fields, spins, self.weights[members])
        kept = np.r_[: self.n_edges, self.n_edges + self.biased]
        sign = walsh_weights(np.ones(self.n_edges), np.ones(len(self.biased)))
        return np.asarray(total[np.ix_(kept, kept)] * np.outer(sign, sign))

    def passes(self) -> int:
        """Steps of decimation that :meth:`covariance` would take."""
        return sum(len(engine.steps.node) ** 2 * len(spins) for engine, spins, _ in self.groups)

    def _parts(self, theta: Array) -> tuple[Array, Array]:
        """Couplings and fields of weights in the Walsh basis; the conversion is its own inverse."""
        turned, fields = walsh_weights(theta[: self.n_edges], theta[self.n_edges :]), np.zeros(self.n)
        fields[self.biased] = turned[self.n_edges :]
        return turned[: self.n_edges], fields
