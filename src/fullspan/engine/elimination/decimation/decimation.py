"""Decimation: exact log Z and expectations of machines of spins, in time linear in the number of nodes (Rueger 1997).

    Z = sum_s exp( sum_{ij in E} w_ij s_i s_j + sum_i w_0i s_i ),      s_i = +-1

The nodes are taken out one at a time (module ``peeling`` finds the order, ``rules`` has the formulas, ``sweeps`` runs
them for many patterns at once). Clamping nodes changes the fields of their neighbours and nothing else, so that one
order serves every pattern on the same nodes. This is the fastest method for machines whose graph, with the bias node,
has treewidth at most 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Spins
from fullspan.engine.elimination.decimation import analytic, sweeps
from fullspan.engine.elimination.decimation.peeling import Steps, peel
from fullspan.engine.elimination.decimation.verdict import (
    Verdict,
    blocked,
    checked_edges,
    clamp,
    is_decimatable,
    verdict,
    width_left,
)
from fullspan.errors import FullspanError
from fullspan.model.algebra.jit import on_cores


class Expectations(NamedTuple):
    """log Z, ``<s_i s_j>`` along the edges and ``<s_i>`` of the nodes; with a leading axis for a batch."""

    log_z: Any
    edges: Array
    nodes: Array


class Decimation:
    """A machine's graph, with some nodes clamped, compiled for decimation; weights and patterns come later.

    Parameters
    ----------
    n : number of nodes, numbered from 0; the bias node is not one of them.
    edges : (k, 2) pairs of nodes.
    clamped : nodes whose spins are given, in the order of the columns of patterns.
    biased : (n,) which nodes have a field; all by default. A node without one has a neighbour less.
    names : of the nodes, for messages.

    Raises
    ------
    FullspanError : a node is unknown, an edge is a loop or there twice.
    NotDecimatableError : the rules do not apply to all nodes.

    Notes
    -----
    O(n + k) time and memory to compile; log Z and all expectations in O(n) each, for every pattern. Patterns are
    taken in blocks, so that memory does not grow with their number.

    Examples
    --------
    >>> chain = Decimation(3, [(0, 1), (1, 2)])
    >>> round(float(chain.log_z([0.5, -0.25], [0.1, 0.2, 0.3])), 6)
    2.291374
    >>> chain.expectations([0.5, -0.25], [0.1, 0.2, 0.3]).nodes.round(4).tolist()
    [0.1578, 0.1729, 0.2363]
    """

    def __init__(
        self,
        n: int,
        edges: Any,
        clamped: Sequence[int] = (),
        biased: Any = None,
        names: Sequence[Any] | None = None,
    ) -> None:
        labels = range(n) if names is None else names
        self.n, self.edges = n, checked_edges(n, edges, labels)
        self.clamped = tuple(int(i) for i in clamped)
        has_field = np.ones(n, dtype=bool) if biased is None else np.asarray(biased, dtype=bool)
        self._links, own, has_bias = clamp(n, self.edges, self.clamped, has_field)
        self.steps, left, among = peel(len(self._links.free_nodes), own, has_bias)
        if len(left):
            raise blocked([labels[i] for i in self._links.free_nodes[left].tolist()], width_left(left, among))
        self._unbiased = not has_bias.any()
        self._biased = has_field
        self._size = sweeps.block_size(self.steps.n_slots, 256)

    @property
    def order(self) -> NDArray[np.int64]:
        """The free nodes in the order in which they are taken out."""
        return self._links.free_nodes[self.steps.node].astype(np.int64)

    # -- one pattern ------------------------------------------------------------------------------------------------

    def log_z(self, couplings: Any, fields: Any, pattern: Any = None) -> float:
        """Log of the sum over all states that agree with the pattern (clamped,)."""
        return float(self.log_z_batch(couplings, fields, self._single(pattern))[0])

    def expectations(self, couplings: Any, fields: Any, pattern: Any = None) -> Expectations:
        """log Z, ``<s_i s_j>`` (edges,) and ``<s_i>`` (n,), given the pattern.

        ``<s_i>`` is NaN for a node without a field that has no coupling to the bias node when it is taken out.
        """
        found = self.expectations_batch(couplings, fields, self._single(pattern))
        return Expectations(float(found.log_z[0]), found.edges[0], found.nodes[0])

    def sample(
        self,
        couplings: Any,
        fields: Any,
        size: int,
        rng: np.random.Generator,
        patterns: Any = None,
    ) -> Spins:
        """Independent states (size, n) by reversing the decimation; one pattern for all, or one for each."""
        w, h = self._weights(couplings, fields)
        spins = self._spins(self._single(patterns) if np.ndim(patterns) < 2 else patterns)
        if len(spins) not in (1, size):
            raise FullspanError(f"{len(spins)} patterns were given for {size} samples; give one, or one for each")
        out = np.empty((size, self.n), dtype=np.int8)
        sweeps.draw(self.steps, self._links, w, h, spins, rng.random((size, len(self.steps.node))), out)
        return out

    # -- many patterns ----------------------------------------------------------------------------------------------

    def log_z_batch(self, couplings: Any, fields: Any, patterns: Any) -> Array:
        """log Z (patterns,) for patterns (patterns, clamped) of -1 and +1, what the clamped nodes add included."""
        log_z, constant = self.log_z_parts(couplings, fields, patterns)
        return log_z + constant

    def log_z_parts(self, couplings: Any, fields: Any, patterns: Any) -> tuple[Array, Array]:
        """log Z of the machines that clamping leaves, as the paper has it, and what the clamped nodes add to it."""
        spins = self._spins(patterns)
        log_z, constant = np.zeros(len(spins)), np.zeros(len(spins))
        self._on_blocks(sweeps.log_zs, couplings, fields, spins, log_z, constant)
        return log_z, constant

    def expectations_batch(self, couplings: Any, fields: Any, patterns: Any) -> Expectations:
        """log Z (patterns,), ``<s_i s_j>`` (patterns, edges) and ``<s_i>`` (patterns, n)."""
        spins = self._spins(patterns)
        log_z = np.zeros(len(spins))
        edges, nodes = np.empty((len(spins), len(self.edges))), np.empty((len(spins), self.n))
        self._on_blocks(sweeps.expectations, couplings, fields, spins, log_z, edges, nodes)
        return Expectations(log_z, edges, self._symmetric(nodes))

    def gradient(self, couplings: Any, fields: Any, patterns: Any, weights: Any) -> Expectations:
        """log Z (patterns,), and ``sum_p weight_p <s_i s_j>_p`` (edges,) and ``sum_p weight_p <s_i>_p`` (n,)."""
        w, h = self._weights(couplings, fields)
        shares, spins = np.ascontiguousarray(weights, dtype=np.float64), self._spins(patterns)
        n, log_z = min(sweeps.TASKS, self._n_blocks(spins)), np.zeros(len(spins))
        edges, nodes = np.zeros((n, len(self.edges))), np.zeros((n, self.n))
        batch = (w, h, spins, shares, self._size, n, log_z, edges, nodes)
        on_cores(sweeps.gradients, n, self.steps, self._links, *batch)
        return Expectations(log_z, edges.sum(axis=0), self._symmetric(nodes.sum(axis=0)))

    def covariance(self, couplings: Any, fields: Any, patterns: Any, weights: Any) -> Array:
        """``sum_p weight_p Cov_p`` of all s_i s_j along edges, then all s_i: the Hessian of the mean of log Z.

        O(patterns (n + k) n) time: meant for machines of a few hundred nodes.
        """
        w, h = self._weights(couplings, fields)
        shares = np.ascontiguousarray(weights, dtype=np.float64)
        return np.asarray(analytic.covariances(self.steps, self._links, w, h, self._spins(patterns), shares))

    def characteristic(self, couplings: Any, fields: Any, x: Any, pattern: Any = None) -> complex:
        """``<exp(i x . s)>`` over the free nodes, given the pattern: Z(w_0 + i x) / Z(w_0) (Corollary 3.2).

        Raises
        ------
        FullspanError : a factor of the decimation vanishes at this x, so that no couplings replace the node.
        """
        w, h = self._weights(couplings, fields)
        spins = self._spins(self._single(pattern))
        shift = np.ascontiguousarray(np.broadcast_to(x, self.n)[self._links.free_nodes], dtype=np.float64)
        own = shift[~self._has_bias()]
        if own.any():
            raise FullspanError("the characteristic function needs a field at every node that x is not 0 at")
        top = analytic.shifted_log_z(self.steps, self._links, w, h, spins, shift)
        if not np.isfinite(top):
            raise FullspanError(
                "a factor of the decimation vanishes at this x, as it does where couplings are equal and fields 0; "
                "take the ratio of partition sums (eq. 6) instead"
            )
        log_z, constant = np.zeros(1), np.zeros(1)
        sweeps.log_zs(0, 1, self.steps, self._links, w, h, spins, 1, log_z, constant)
        return complex(np.exp(top - log_z[0]))

    def _on_blocks(self, kernel: Any, couplings: Any, fields: Any, spins: Spins, *out: Array) -> None:
        """Call a kernel of ``sweeps`` on the blocks of a batch, shared by the cores."""
        w, h = self._weights(couplings, fields)
        on_cores(kernel, self._n_blocks(spins), self.steps, self._links, w, h, spins, self._size, *out)

    def _n_blocks(self, spins: Spins) -> int:
        return -(-len(spins) // self._size)

    # -- arrays -----------------------------------------------------------------------------------------------------

    def _has_bias(self) -> NDArray[np.bool_]:
        return np.asarray(self._biased[self._links.free_nodes])

    def _symmetric(self, nodes: Array) -> Array:
        """Without any field, ``<s_i> = 0``; no step has computed it."""
        if self._unbiased:
            nodes[..., self._links.free_nodes] = 0.0
        return nodes

    def _single(self, pattern: Any) -> Any:
        return np.zeros((1, 0), dtype=np.int8) if pattern is None else np.asarray(pattern).reshape(1, -1)

    def _weights(self, couplings: Any, fields: Any) -> tuple[Array, Array]:
        w = _finite(couplings, len(self.edges), "couplings, one for each edge")
        h = _finite(fields, self.n, "fields, one for each node")
        if (h[~self._biased] != 0).any():
            i = int(np.flatnonzero((h != 0) & ~self._biased)[0])
            raise FullspanError(f"node {i} has the field {h[i]}, but is not among the biased nodes")
        return w, h

    def _spins(self, patterns: Any) -> Spins:
        spins = np.asarray(patterns)
        if spins.ndim != 2 or spins.shape[1] != len(self.clamped):
            raise FullspanError(
                f"patterns of shape {spins.shape} were given; (patterns, {len(self.clamped)}) is needed, one column "
                "for each clamped node"
            )
        if not (np.abs(spins) == 1).all():
            row, column = map(int, np.argwhere(np.abs(spins) != 1)[0])
            raise FullspanError(
                f"pattern {row} clamps node {self.clamped[column]} to {spins[row, column]}; spins are -1 and +1"
            )
        return np.ascontiguousarray(spins, dtype=np.int8)


def _finite(values: Any, size: int, what: str) -> Array:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != (size,):
        raise FullspanError(f"{what} are needed, ({size},); {array.shape} was given")
    if not np.isfinite(array).all():
        raise FullspanError(f"{what.split(',')[0]} are finite numbers; {array[~np.isfinite(array)][0]} was given")
    return array


__all__ = ["Decimation", "Expectations", "Steps", "Verdict", "is_decimatable", "verdict"]
