"""The order of decimation: always the node that leaves the fewest new edges (Rueger 1997, Remark 4.4).

Nodes are taken out one at a time, each while it has at most three neighbours, the bias node included. Taking one out
joins its neighbours. A machine can be decimated iff its graph with the bias node has treewidth at most 3, and for
that the reductions of Arnborg and Proskurowski (1986) decide: a node of degree up to 2, or of degree 3 with two
neighbours that are joined, may always be taken out, and so may one of two nodes with the same three neighbours
(buddies), and a corner of a cube. Where none of these applies, nodes of degree 3 are taken out as they come; on small
graphs of every kind an order was then found whenever there was one.

The graph is held as lists of half-edges, nodes wait in buckets by the number of new edges: time and memory are linear
in nodes and edges (two nodes are tested for an edge by walking along the shorter list).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Numbers32
from fullspan.engine.elimination.decimation.net import (
    BIASED,
    DEGREE,
    END,
    GONE,
    LAST,
    NONE,
    Net,
    edge_between,
    first,
    following,
    join,
    only_half,
    remainder,
)
from fullspan.engine.elimination.decimation.safe import BUCKETS, WAITING, leave, new_edges, place, safe_node, touch
from fullspan.model.algebra.jit import inlined, serial


class Steps(NamedTuple):
    """The decimation, node by node; -1 stands for what is not there.

    Slots number all couplings ever met: first the given edges, then the field of every node (its edge to the bias
    node), then the edges that decimation makes. Every slot goes into exactly one step.

    Attributes
    ----------
    node : (m,) the node summed out.
    near : (m, 3) its neighbours then; the bias node is number n.
    into : (m, 3) slots of its couplings to them.
    out : (m, 3) slots of the couplings that it leaves between neighbours 0 and 1, 0 and 2, 1 and 2.
    n_slots : number of slots.
    """

    node: Numbers32
    near: Numbers32
    into: Numbers32
    out: Numbers32
    n_slots: int


def peel(n: int, edges: NDArray[Any], biased: NDArray[np.bool_]) -> tuple[Steps, Numbers32, Numbers32]:
    """Decimate a graph of n nodes as far as it goes.

    Returns
    -------
    The steps, the nodes left (none if it can be decimated), and the edges (k, 2) between them then.
    """
    pairs = np.ascontiguousarray(edges, dtype=np.int32).reshape(-1, 2)
    node, near, into, out, m, made, left, among = _peel(n, pairs, biased.astype(np.uint8))
    n_slots = len(pairs) + n + made
    return Steps(node[:m], near[:m], into[:m], out[:m], n_slots), left, among


@serial
def _net(n: int, edges: Numbers32, biased: NDArray[np.uint8]) -> Net:
    """The graph as lists of half-edges, all nodes waiting."""
    # A node leaves at most three new edges when it goes, so that this room suffices to the end.
    room = 2 * (edges.shape[0] + 3 * n)
    net = Net(
        np.full((n, 8), NONE, np.int32),
        np.empty((room, 2), np.int32),
        np.full(BUCKETS + 1, NONE, np.int32),
        np.zeros(1, np.int64),
    )
    for v in range(n):
        net.nodes[v, DEGREE], net.nodes[v, BIASED], net.nodes[v, LAST], net.nodes[v, GONE] = 0, biased[v], 0, 0
    for e in range(edges.shape[0]):
        join(net, edges[e, 0], edges[e, 1])
    for v in range(n - 1, -1, -1):
        touch(net, v)
    return net


@inlined
def _lowest(net: Net) -> int:
    """The bucket of the next node; ``BUCKETS`` if no node is left that can go.

    Nodes that wait are scored only when nothing goes without a new edge: most of them change again before that.
    """
    bucket = 0
    if net.first[0] == NONE:
        while net.first[WAITING] != NONE:
            place(net, net.first[WAITING], new_edges(net, net.first[WAITING]))
        while bucket < BUCKETS and net.first[bucket] == NONE:
            bucket += 1
    return bucket


@serial
def _peel(
    n: int, edges: Numbers32, biased: NDArray[np.uint8]
) -> tuple[Numbers32, Numbers32, Numbers32, Numbers32, int, int, Numbers32, Numbers32]:
    n_given, net = edges.shape[0], _net(n, edges, biased)
    node = np.empty(n, np.int32)
    near, into, out = (
        np.full((n, 3), NONE, np.int32),
        np.full((n, 3), NONE, np.int32),
        np.full((n, 3), NONE, np.int32),
    )
    m, searching = 0, True
    while True:
        bucket = _lowest(net)
        if bucket == BUCKETS:
            break
        v = net.first[bucket]
        # Only here can a wrong choice lose: a node of degree 3 whose neighbours are all apart. A safe one is looked for
        # until none was found once; then nodes go as they come.
        if bucket == BUCKETS - 1 and searching:
            safe = safe_node(net)
            searching = safe != NONE
            v = safe if searching else v
        node[m] = v
        if bucket == 0 and net.nodes[v, DEGREE] == 1:
            _eliminate_leaf(net, v, n, n_given, near, into, out, m)
        else:
            _eliminate(net, v, n, n_given, near[m], into[m], out[m])
        m += 1
    left, among = remainder(net)
    return node, near, into, out, m, net.made[0] - n_given, left, among


@serial
def _eliminate(net: Net, v: int, n: int, n_given: int, near: Numbers32, into: Numbers32, out: Numbers32) -> None:
    """Take out a node, note the slots, join its neighbours and see to what has changed."""
    degree = net.nodes[v, DEGREE]
    h = NONE if degree == 0 else only_half(net, v) if degree == 1 else first(net, v)
    for k in range(degree):
        a, e = net.halves[h ^ 1, END], h >> 1
        near[k], into[k] = a, _slot(e, n, n_given)
        net.nodes[a, DEGREE] -= 1
        net.nodes[a, LAST] ^= e
        h = following(net, h) if k + 1 < degree else NONE
    k = degree
    # The bias node is a neighbour too, number n: its coupling is the field.
    if net.nodes[v, BIASED]:
        near[k], into[k] = n, n_given + v
        k += 1
    net.nodes[v, GONE] = 1
    leave(net, v)
    for i in range(k):
        for j in range(i + 1, k):
            out[i + j - 1] = _between(net, near[i], near[j], n, n_given)
    for i in range(k):
        if near[i] < n:
            touch(net, near[i])


@inlined
def _eliminate_leaf(
    net: Net, v: int, n: int, n_given: int, near: Numbers32, into: Numbers32, out: Numbers32, m: int
) -> None:
    """The same for a node with one neighbour that leaves no new edge: nothing but that neighbour is looked at."""
    h = only_half(net, v)
    a, e = net.halves[h ^ 1, END], h >> 1
    near[m, 0], into[m, 0] = a, _slot(e, n, n_given)
    if net.nodes[v, BIASED]:
        near[m, 1], into[m, 1], out[m, 0] = n, n_given + v, n_given + a
    net.nodes[v, GONE] = 1
    leave(net, v)
    net.nodes[a, DEGREE] -= 1
    net.nodes[a, LAST] ^= e
    touch(net, a)


@serial
def _slot(e: int, n: int, n_given: int) -> int:
    return int(e if e < n_given else e + n)


@serial
def _between(net: Net, a: int, b: int, n: int, n_given: int) -> int:
    """Slot of the coupling between two nodes, of which only the second may be the bias node; joined if they are not."""
    if b == n:
        # A node that gets a field changes what its neighbours would leave: they are scored again.
        if not net.nodes[a, BIASED]:
            net.nodes[a, BIASED] = 1
            h = first(net, a)
            while h != NONE:
                if net.nodes[net.halves[h ^ 1, END], BIASED]:
                    touch(net, net.halves[h ^ 1, END])
                h = following(net, h)
        return n_given + a
    e = edge_between(net, a, b)
    if e == NONE:
        e = join(net, a, b)
        if net.nodes[a, DEGREE] > net.nodes[b, DEGREE]:
            # From the end with fewer neighbours: what is looked for is a neighbour of both.
            a, b = b, a
        h = first(net, a)
        while h != NONE:
            w = net.halves[h ^ 1, END]
            if w != b and net.nodes[w, DEGREE] + net.nodes[w, BIASED] <= 3 and edge_between(net, w, b) != NONE:
                touch(net, w)
            h = following(net, h)
    return _slot(e, n, n_given)
