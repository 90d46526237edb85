"""Decimation: exact log Z and expectations of machines of spins, in time linear in the number of nodes (Rueger 1997).

    Z = sum_s exp( (sum_{ij in E} w_ij s_i s_j + sum_i w_0i s_i) / T ),      s_i = +-1

The nodes are taken out one at a time (module ``peeling`` finds the order, ``rules`` has the formulas, ``sweeps`` runs
them for many patterns at once). Clamping nodes changes the fields of their neighbours and nothing else, so that one
order serves every pattern on the same nodes. This is the fast way for machines whose graph, with the bias node, has
treewidth at most 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.decimation import analytic, sweeps
from fullspan.engine.decimation.peeling import Steps, peel
from fullspan.engine.decimation.sweeps import Links
from fullspan.errors import FullspanError, NotDecimatableError
from fullspan.graphs import Graph

Array = NDArray[np.float64]
Spins = NDArray[np.int8]

_SHOWN = 12
"""Nodes named in a message."""
_MAX_WIDTH_NODES = 5_000
"""Blocking nodes up to which the width of general elimination is worked out."""


class Expectations(NamedTuple):
    """log Z, ``<s_i s_j>`` along the edges and ``<s_i>`` of the nodes; with a leading axis for a batch."""

    log_z: Any
    edges: Array
    nodes: Array


@dataclass(frozen=True)
class Verdict:
    """Whether a machine can be decimated, and how or why not; true or false as it stands.

    Attributes
    ----------
    order : the nodes in the order in which they are taken out.
    blocking : the nodes left when no rule applies any more; none if the machine can be decimated.
    width : most neighbours that a node has when it is eliminated: at most 3 with the bias node if the machine can be
        decimated; else those that general elimination would meet, without the bias node. None if too many are left to
        tell.
    """

    order: tuple[Any, ...]
    blocking: tuple[Any, ...]
    width: int | None

    def __bool__(self) -> bool:
        return not self.blocking

    def __str__(self) -> str:
        if self:
            return f"decimatable, in the order {_listed(self.order)}"
        width = "" if self.width is None else f"; general elimination would need width {self.width}"
        return f"not decimatable: no rule applies to {_listed(self.blocking)}{width}"


def is_decimatable(graph: Graph | Any, clamped: Sequence[Any] = ()) -> Verdict:
    """Whether a graph can be decimated once some nodes are clamped, every free node having a bias.

    Parameters
    ----------
    graph : a :class:`fullspan.graphs.Graph`, or edges as pairs of names.
    clamped : names of the nodes that are known.

    Raises
    ------
    FullspanError : a name is unknown, or the edges are no graph.

    Examples
    --------
    >>> ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c"), ("b", "d")]
    >>> print(is_decimatable(ring))
    not decimatable: no rule applies to a, b, c, d; general elimination would need width 3
    >>> print(is_decimatable(ring, clamped=["d"]))
    decimatable, in the order c, b, a
    """
    graph = graph if isinstance(graph, Graph) else Graph.of(graph)
    return verdict(len(graph), graph.pairs(), graph.positions(clamped), names=graph.names)


def verdict(
    n: int,
    edges: NDArray[np.int64],
    clamped: Sequence[int] = (),
    biased: NDArray[np.bool_] | None = None,
    names: Sequence[Any] | None = None,
) -> Verdict:
    """The same for nodes by number."""
    labels = range(n) if names is None else names
    links, own, has_bias = _clamp(n, edges, clamped, biased)
    steps, left, among = peel(len(links.free_nodes), own, has_bias)
    order = tuple(labels[i] for i in links.free_nodes[steps.node].tolist())
    if not len(left):
        width = int((steps.into >= 0).sum(axis=1).max(initial=0))
        return Verdict(order, (), width)
    return Verdict(order, tuple(labels[i] for i in links.free_nodes[left].tolist()), _width(left, among))


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
        self._links, own, has_bias = _clamp(n, self.edges, self.clamped, has_field)
        self.steps, left, among = peel(len(self._links.free_nodes), own, has_bias)
        if len(left):
            raise _blocked([labels[i] for i in self._links.free_nodes[left].tolist()], _width(left, among))
        self._unbiased = not has_bias.any()
        self._biased = has_field
        self._size = sweeps.block_size(self.steps.n_slots, 256)

    @property
    def order(self) -> NDArray[np.int64]:
        """The free nodes in the order in which they are taken out."""
        return self._links.free_nodes[self.steps.node].astype(np.int64)

    # -- one pattern ------------------------------------------------------------------------------------------------

    def log_z(self, couplings: Any, fields: Any, pattern: Any = None, temperature: float = 1.0) -> float:
        """Log of the sum over all states that agree with the pattern (clamped,)."""
        return float(self.log_z_batch(couplings, fields, self._single(pattern), temperature)[0])

    def expectations(self, couplings: Any, fields: Any, pattern: Any = None, temperature: float = 1.0) -> Expectations:
        """log Z, ``<s_i s_j>`` (edges,) and ``<s_i>`` (n,), given the pattern.

        ``<s_i>`` is NaN for a node without a field that has no coupling to the bias node when it is taken out.
        """
        found = self.expectations_batch(couplings, fields, self._single(pattern), temperature)
        return Expectations(float(found.log_z[0]), found.edges[0], found.nodes[0])

    def sample(
        self,
        couplings: Any,
        fields: Any,
        size: int,
        rng: np.random.Generator,
        patterns: Any = None,
        temperature: float = 1.0,
    ) -> Spins:
        """Independent states (size, n) by reversing the decimation; one pattern for all, or one for each."""
        w, h = self._weights(couplings, fields, temperature)
        spins = self._spins(self._single(patterns) if np.ndim(patterns) < 2 else patterns)
        if len(spins) not in (1, size):
            raise FullspanError(f"{len(spins)} patterns were given for {size} samples; give one, or one for each")
        out = np.empty((size, self.n), dtype=np.int8)
        sweeps.draw(self.steps, self._links, w, h, spins, rng.random((size, len(self.steps.node))), out)
        return out

    # -- many patterns ----------------------------------------------------------------------------------------------

    def log_z_batch(self, couplings: Any, fields: Any, patterns: Any, temperature: float = 1.0) -> Array:
        """log Z (patterns,) for patterns (patterns, clamped) of -1 and +1, what the clamped nodes add included."""
        log_z, constant = self.log_z_parts(couplings, fields, patterns, temperature)
        return log_z + constant

    def log_z_parts(self, couplings: Any, fields: Any, patterns: Any, temperature: float = 1.0) -> tuple[Array, Array]:
        """log Z of the machines that clamping leaves, as the paper has it, and what the clamped nodes add to it."""
        w, h = self._weights(couplings, fields, temperature)
        log_z, constant = sweeps.log_zs(self.steps, self._links, w, h, self._spins(patterns), self._size)
        return log_z, constant

    def expectations_batch(self, couplings: Any, fields: Any, patterns: Any, temperature: float = 1.0) -> Expectations:
        """log Z (patterns,), ``<s_i s_j>`` (patterns, edges) and ``<s_i>`` (patterns, n)."""
        w, h = self._weights(couplings, fields, temperature)
        spins = self._spins(patterns)
        edges, nodes = np.empty((len(spins), len(self.edges))), np.empty((len(spins), self.n))
        log_z = sweeps.expectations(self.steps, self._links, w, h, spins, self._size, edges, nodes)
        return Expectations(log_z, edges, self._symmetric(nodes))

    def gradient(
        self, couplings: Any, fields: Any, patterns: Any, weights: Any, temperature: float = 1.0
    ) -> Expectations:
        """log Z (patterns,), and ``sum_p weight_p <s_i s_j>_p`` (edges,) and ``sum_p weight_p <s_i>_p`` (n,)."""
        w, h = self._weights(couplings, fields, temperature)
        shares = np.ascontiguousarray(weights, dtype=np.float64)
        found = sweeps.gradients(self.steps, self._links, w, h, self._spins(patterns), shares, self._size)
        return Expectations(found[0], found[1], self._symmetric(found[2]))

    def covariance(self, couplings: Any, fields: Any, patterns: Any, weights: Any) -> Array:
        """``sum_p weight_p Cov_p`` of all s_i s_j along edges, then all s_i: the Hessian of the mean of log Z.

        O(patterns (n + k) n) time: meant for machines of a few hundred nodes.
        """
        w, h = self._weights(couplings, fields, 1.0)
        shares = np.ascontiguousarray(weights, dtype=np.float64)
        return np.asarray(analytic.covariances(self.steps, self._links, w, h, self._spins(patterns), shares))

    def characteristic(
        self, couplings: Any, fields: Any, x: Any, pattern: Any = None, temperature: float = 1.0
    ) -> complex:
        """``<exp(i x . s)>`` over the free nodes, given the pattern: Z(w_0 + i T x) / Z(w_0) (Corollary 3.2).

        Raises
        ------
        FullspanError : a factor of the decimation vanishes at this x, so that no couplings replace the node.
        """
        w, h = self._weights(couplings, fields, temperature)
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
        log_z, _ = sweeps.log_zs(self.steps, self._links, w, h, spins, 1)
        return complex(np.exp(top - log_z[0]))

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

    def _weights(self, couplings: Any, fields: Any, temperature: float) -> tuple[Array, Array]:
        if not (np.isfinite(temperature) and temperature > 0):
            raise FullspanError(f"the temperature is {temperature}; a positive number is needed")
        w = _finite(couplings, len(self.edges), "couplings, one for each edge") / temperature
        h = _finite(fields, self.n, "fields, one for each node") / temperature
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


def checked_edges(n: int, edges: Any, names: Sequence[Any]) -> NDArray[np.int64]:
    """Edges as an array (k, 2).

    Raises
    ------
    FullspanError : a node is unknown, an edge is a loop or there twice.
    """
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    wrong = (pairs < 0) | (pairs >= n)
    if wrong.any():
        raise FullspanError(f"an edge names node {pairs[wrong][0]}; the nodes are 0 to {n - 1}")
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(loops):
        raise FullspanError(f"node {names[int(pairs[loops[0], 0])]!r} is joined with itself; spins have no loops")
    code = np.sort(pairs.min(axis=1) * n + pairs.max(axis=1))
    twice = np.flatnonzero(code[1:] == code[:-1])
    if len(twice):
        a, b = divmod(int(code[twice[0]]), n)
        raise FullspanError(f"the edge between {names[a]!r} and {names[b]!r} is there twice; add its couplings up")
    return pairs


def _clamp(
    n: int, edges: NDArray[np.int64], clamped: Sequence[int], biased: NDArray[np.bool_] | None
) -> tuple[Links, NDArray[np.int64], NDArray[np.bool_]]:
    """How edges and nodes are used once some nodes are clamped; the free graph, and which of its nodes have a bias.

    A neighbour of a clamped node has one in any case.
    """
    known = np.array(clamped, dtype=np.int64)
    if ((known < 0) | (known >= n)).any():
        raise FullspanError(f"node {known[(known < 0) | (known >= n)][0]} is clamped; the nodes are 0 to {n - 1}")
    if len(np.unique(known)) != len(known):
        raise FullspanError("a node is clamped twice")
    is_free = np.ones(n, dtype=bool)
    is_free[known] = False
    place = np.empty(n, dtype=np.int64)
    place[is_free], place[known] = np.arange(is_free.sum()), np.arange(len(known))
    both = is_free[edges]
    inside, outside = both.all(axis=1), ~both.any(axis=1)
    half = np.flatnonzero(~inside & ~outside)
    turned = np.where(both[half, :1], edges[half], edges[half, ::-1])
    links = Links(
        np.flatnonzero(inside).astype(np.int32),
        np.flatnonzero(is_free).astype(np.int32),
        np.column_stack([half, place[turned]]).astype(np.int32).reshape(-1, 3),
        np.column_stack([np.flatnonzero(outside), place[edges[outside]]]).astype(np.int32).reshape(-1, 3),
        known.astype(np.int32),
    )
    has_bias = np.ones(n, dtype=bool) if biased is None else biased.copy()
    has_bias[turned[:, 0]] = True
    return links, place[edges[inside]], has_bias[is_free]


def _finite(values: Any, size: int, what: str) -> Array:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != (size,):
        raise FullspanError(f"{what} are needed, ({size},); {array.shape} was given")
    if not np.isfinite(array).all():
        raise FullspanError(f"{what.split(',')[0]} are finite numbers; {array[~np.isfinite(array)][0]} was given")
    return array


def _width(left: NDArray[Any], among: NDArray[Any]) -> int | None:
    """Most neighbours met when the nodes left are eliminated, always the one with fewest first."""
    if len(left) > _MAX_WIDTH_NODES:
        return None
    near: dict[int, set[int]] = {v: set() for v in left.tolist()}
    for a, b in among.tolist():
        near[a].add(b)
        near[b].add(a)
    width = 0
    while near:
        v = min(near, key=lambda u: len(near[u]))
        others = near.pop(v)
        width = max(width, len(others))
        for u in others:
            near[u] |= others
            near[u] -= {u, v}
    return width


def _blocked(names: Sequence[Any], width: int | None) -> NotDecimatableError:
    would = "" if width is None else f"; general elimination would need width {width}, tables of 2^{width + 1} cells"
    return NotDecimatableError(
        f"the machine cannot be decimated: each of {_listed(names)} has more than three neighbours, the bias node "
        f"included, when no rule applies any more{would}. "
        "Clamp some of them, leave out edges, or fit a BoltzmannMachine",
        tuple(names),
    )


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(map(str, names[:_SHOWN]))
    return shown if len(names) <= _SHOWN else f"{shown}, ... ({len(names)} nodes)"


__all__ = ["Decimation", "Expectations", "Steps", "Verdict", "is_decimatable"]
