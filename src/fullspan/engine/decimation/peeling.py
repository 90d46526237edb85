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

from fullspan.algebra.jit import inlined, serial

Ints = NDArray[np.int32]
_NONE = -1
_BUCKETS = 4
_WAITING = 4
"""The bucket of nodes whose new edges have not been counted yet; most get fewer neighbours before it matters."""


HEAD, DEGREE, BIASED, KEY, AFTER, BEFORE, LAST, GONE = range(8)
"""Columns of ``Net.nodes``."""
FOLLOWING, END = range(2)
"""Columns of ``Net.halves``."""


class Net(NamedTuple):
    """A graph that is being decimated.

    Edge e has the half-edges 2e and 2e + 1, which begin at one of its nodes each. What is asked together lies together,
    since a large graph is bound by memory. Edges of nodes that are gone stay in the lists until somebody walks there.

    Attributes
    ----------
    nodes : (n, 8) of each node its first half-edge, the number of its edges, whether the bias node is a neighbour, its
        bucket, the nodes after and before it there, the exclusive or of its edges (its last edge, once it has only
        one), and whether it is gone.
    halves : (room, 2) of each half-edge the following one of its node, and that node.
    first : the first node of each bucket.
    made : (1,) number of edges ever made.
    """

    nodes: Ints
    halves: Ints
    first: Ints
    made: NDArray[np.int64]


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

    node: Ints
    near: Ints
    into: Ints
    out: Ints
    n_slots: int


def peel(n: int, edges: NDArray[Any], biased: NDArray[np.bool_]) -> tuple[Steps, Ints, Ints]:
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
def _peel(n: int, edges: Ints, biased: NDArray[np.uint8]) -> tuple[Ints, Ints, Ints, Ints, int, int, Ints, Ints]:
    n_given = edges.shape[0]
    room = 2 * (n_given + 3 * n)
    net = Net(
        np.full((n, 8), _NONE, np.int32),
        np.empty((room, 2), np.int32),
        np.full(_BUCKETS + 1, _NONE, np.int32),
        np.zeros(1, np.int64),
    )
    for v in range(n):
        net.nodes[v, DEGREE], net.nodes[v, BIASED], net.nodes[v, LAST], net.nodes[v, GONE] = 0, biased[v], 0, 0
    node = np.empty(n, np.int32)
    near, into, out = (
        np.full((n, 3), _NONE, np.int32),
        np.full((n, 3), _NONE, np.int32),
        np.full((n, 3), _NONE, np.int32),
    )
    for e in range(n_given):
        _join(net, edges[e, 0], edges[e, 1])
    for v in range(n - 1, -1, -1):
        _touch(net, v)
    m, searching = 0, True
    while True:
        bucket = 0
        if net.first[0] == _NONE:
            while net.first[_WAITING] != _NONE:
                _place(net, net.first[_WAITING], _new_edges(net, net.first[_WAITING]))
            while bucket < _BUCKETS and net.first[bucket] == _NONE:
                bucket += 1
            if bucket == _BUCKETS:
                break
        v = net.first[bucket]
        if bucket == _BUCKETS - 1 and searching:
            safe = _safe(net)
            searching = safe != _NONE
            v = safe if searching else v
        node[m] = v
        if bucket == 0 and net.nodes[v, DEGREE] == 1:
            _eliminate_leaf(net, v, n, n_given, near, into, out, m)
        else:
            _eliminate(net, v, n, n_given, near[m], into[m], out[m])
        m += 1
    left, among = _remainder(net)
    return node, near, into, out, m, net.made[0] - n_given, left, among


# -- lists ------------------------------------------------------------------------------------------------------------


@serial
def _join(net: Net, a: int, b: int) -> int:
    """Make an edge; its number."""
    e = net.made[0]
    net.made[0] += 1
    _put(net, 2 * e, a)
    _put(net, 2 * e + 1, b)
    return int(e)


@serial
def _put(net: Net, h: int, v: int) -> None:
    """Let a half-edge begin at v."""
    net.halves[h, END], net.halves[h, FOLLOWING] = v, net.nodes[v, HEAD]
    net.nodes[v, HEAD] = h
    net.nodes[v, DEGREE] += 1
    net.nodes[v, LAST] ^= h >> 1


@serial
def _first(net: Net, v: int) -> int:
    """The first half-edge of a node that leads somewhere; those before it are dropped."""
    h = net.nodes[v, HEAD]
    while h != _NONE and net.nodes[net.halves[h ^ 1, END], GONE]:
        h = net.halves[h, FOLLOWING]
    net.nodes[v, HEAD] = h
    return int(h)


@serial
def _next(net: Net, h: int) -> int:
    """The half-edge after one that leads somewhere; those between are dropped."""
    k = net.halves[h, FOLLOWING]
    while k != _NONE and net.nodes[net.halves[k ^ 1, END], GONE]:
        k = net.halves[k, FOLLOWING]
    net.halves[h, FOLLOWING] = k
    return int(k)


@serial
def _edge(net: Net, a: int, b: int) -> int:
    """The edge between two nodes, or none."""
    if net.nodes[a, DEGREE] > net.nodes[b, DEGREE]:
        a, b = b, a
    h = _first(net, a)
    while h != _NONE:
        if net.halves[h ^ 1, END] == b:
            return int(h >> 1)
        h = _next(net, h)
    return _NONE


@serial
def _neighbours(net: Net, v: int, n: int, near: Ints) -> int:
    """Write up to three neighbours, the bias node last; their number, 4 if there are more."""
    if net.nodes[v, DEGREE] + net.nodes[v, BIASED] > 3:
        return 4
    k, h = 0, _first(net, v)
    while h != _NONE:
        near[k] = net.halves[h ^ 1, END]
        k, h = k + 1, _next(net, h)
    if net.nodes[v, BIASED]:
        near[k] = n
        k += 1
    return k


@inlined
def _only(net: Net, v: int) -> int:
    """The half-edge of a node with one neighbour: no list is walked."""
    h = 2 * net.nodes[v, LAST]
    return int(h if net.halves[h, END] == v else h + 1)


@serial
def _new_edges(net: Net, v: int) -> int:
    """Edges that taking out a node would make; -1 if it has more than three neighbours."""
    degree, biased = net.nodes[v, DEGREE], net.nodes[v, BIASED]
    if degree + biased > 3:
        return _NONE
    if degree == 0:
        return 0
    if degree == 1:
        return int(1 - net.nodes[net.halves[_only(net, v) ^ 1, END], BIASED] if biased else 0)
    h = _first(net, v)
    a = net.halves[h ^ 1, END]
    h = _next(net, h)
    b = net.halves[h ^ 1, END]
    new = int(_edge(net, a, b) == _NONE)
    if biased:
        new += 2 - net.nodes[a, BIASED] - net.nodes[b, BIASED]
    if degree == 2:
        return int(new)
    c = net.halves[_next(net, h) ^ 1, END]
    return int(new + (_edge(net, a, c) == _NONE) + (_edge(net, b, c) == _NONE))


@inlined
def _touch(net: Net, v: int) -> None:
    """A node's neighbours have changed: place it at once if that is cheap, else let it wait until it matters."""
    degree, biased = net.nodes[v, DEGREE], net.nodes[v, BIASED]
    bucket = _NONE if degree + biased > 3 else _WAITING if degree > 1 else 0
    if degree == 1 and biased:
        bucket = 1 - net.nodes[net.halves[_only(net, v) ^ 1, END], BIASED]
    _place(net, v, bucket)


@inlined
def _place(net: Net, v: int, bucket: int) -> None:
    """Put a node into a bucket, or into none."""
    if bucket == net.nodes[v, KEY]:
        return
    _leave(net, v)
    if bucket != _NONE:
        old = net.first[bucket]
        net.nodes[v, AFTER], net.nodes[v, BEFORE] = old, _NONE
        if old != _NONE:
            net.nodes[old, BEFORE] = v
        net.first[bucket] = v
    net.nodes[v, KEY] = bucket


@inlined
def _leave(net: Net, v: int) -> None:
    """Take a node out of its bucket."""
    bucket = net.nodes[v, KEY]
    if bucket == _NONE:
        return
    a, b = net.nodes[v, BEFORE], net.nodes[v, AFTER]
    if a == _NONE:
        net.first[bucket] = b
    else:
        net.nodes[a, AFTER] = b
    if b != _NONE:
        net.nodes[b, BEFORE] = a
    net.nodes[v, KEY] = _NONE


# -- a step -----------------------------------------------------------------------------------------------------------


@serial
def _eliminate(net: Net, v: int, n: int, n_given: int, near: Ints, into: Ints, out: Ints) -> None:
    """Take out a node, note the slots, join its neighbours and see to what has changed."""
    degree = net.nodes[v, DEGREE]
    h = _NONE if degree == 0 else _only(net, v) if degree == 1 else _first(net, v)
    for k in range(degree):
        a, e = net.halves[h ^ 1, END], h >> 1
        near[k], into[k] = a, _slot(e, n, n_given)
        net.nodes[a, DEGREE] -= 1
        net.nodes[a, LAST] ^= e
        h = _next(net, h) if k + 1 < degree else _NONE
    k = degree
    if net.nodes[v, BIASED]:
        near[k], into[k] = n, n_given + v
        k += 1
    net.nodes[v, GONE] = 1
    _leave(net, v)
    for i in range(k):
        for j in range(i + 1, k):
            out[i + j - 1] = _between(net, near[i], near[j], n, n_given)
    for i in range(k):
        if near[i] < n:
            _touch(net, near[i])


@inlined
def _eliminate_leaf(net: Net, v: int, n: int, n_given: int, near: Ints, into: Ints, out: Ints, m: int) -> None:
    """The same for a node with one neighbour that leaves no new edge: nothing but that neighbour is looked at."""
    h = _only(net, v)
    a, e = net.halves[h ^ 1, END], h >> 1
    near[m, 0], into[m, 0] = a, _slot(e, n, n_given)
    if net.nodes[v, BIASED]:
        near[m, 1], into[m, 1], out[m, 0] = n, n_given + v, n_given + a
    net.nodes[v, GONE] = 1
    _leave(net, v)
    net.nodes[a, DEGREE] -= 1
    net.nodes[a, LAST] ^= e
    _touch(net, a)


@serial
def _slot(e: int, n: int, n_given: int) -> int:
    return int(e if e < n_given else e + n)


@serial
def _between(net: Net, a: int, b: int, n: int, n_given: int) -> int:
    """Slot of the coupling between two nodes, of which only the second may be the bias node; joined if they are not."""
    if b == n:
        if not net.nodes[a, BIASED]:
            net.nodes[a, BIASED] = 1
            h = _first(net, a)
            while h != _NONE:
                if net.nodes[net.halves[h ^ 1, END], BIASED]:
                    _touch(net, net.halves[h ^ 1, END])
                h = _next(net, h)
        return n_given + a
    e = _edge(net, a, b)
    if e == _NONE:
        e = _join(net, a, b)
        if net.nodes[a, DEGREE] > net.nodes[b, DEGREE]:
            a, b = b, a
        h = _first(net, a)
        while h != _NONE:
            w = net.halves[h ^ 1, END]
            if w != b and net.nodes[w, DEGREE] + net.nodes[w, BIASED] <= 3 and _edge(net, w, b) != _NONE:
                _touch(net, w)
            h = _next(net, h)
    return _slot(e, n, n_given)


# -- nodes of degree 3 whose neighbours are not joined ----------------------------------------------------------------


@serial
def _safe(net: Net) -> int:
    """A node of the last bucket that may be taken out without loss: a buddy, or a corner of a cube; or none."""
    v = net.first[_BUCKETS - 1]
    while v != _NONE:
        if _is_buddy(net, v) or _is_corner(net, v):
            return int(v)
        v = net.nodes[v, AFTER]
    return _NONE


@serial
def _is_buddy(net: Net, v: int) -> bool:
    """Whether another node has the same three neighbours."""
    n = net.nodes.shape[0]
    mine, theirs = np.empty(3, np.int32), np.empty(3, np.int32)
    _neighbours(net, v, n, mine)
    a = mine[0]
    for i in range(1, 3):
        if mine[i] < n and net.nodes[mine[i], DEGREE] < net.nodes[a, DEGREE]:
            a = mine[i]
    h = _first(net, a)
    while h != _NONE:
        w = net.halves[h ^ 1, END]
        if w != v and _neighbours(net, w, n, theirs) == 3 and _same(mine, theirs):
            return True
        h = _next(net, h)
    return False


@serial
def _same(a: Ints, b: Ints) -> bool:
    found = 0
    for i in range(3):
        found += a[i] == b[0] or a[i] == b[1] or a[i] == b[2]
    return found == 3


@serial
def _is_corner(net: Net, x: int) -> bool:
    """Whether x and two others share a neighbour w, have degree 3 as w has, and meet pairwise in one node each."""
    n = net.nodes.shape[0]
    mine, hub, y, z = np.empty(3, np.int32), np.empty(3, np.int32), np.empty(3, np.int32), np.empty(3, np.int32)
    _neighbours(net, x, n, mine)
    for i in range(3):
        w = mine[i]
        if w == n or _neighbours(net, w, n, hub) != 3:
            continue
        others = hub[hub != x]
        if others[0] == n or others[1] == n:
            continue
        if _neighbours(net, others[0], n, y) == 3 and _neighbours(net, others[1], n, z) == 3:
            rest = mine[mine != w]
            for a, b in ((rest[0], rest[1]), (rest[1], rest[0])):
                if _meets(y, b, w, a) and _meets(z, a, w, b) and _third(y, w, b) == _third(z, w, a):
                    return True
    return False


@serial
def _meets(near: Ints, a: int, w: int, never: int) -> bool:
    """Whether a node has a and w as neighbours, and not another."""
    has_a = near[0] == a or near[1] == a or near[2] == a
    has_w = near[0] == w or near[1] == w or near[2] == w
    return bool(has_a and has_w and near[0] != never and near[1] != never and near[2] != never)


@serial
def _third(near: Ints, a: int, b: int) -> int:
    for i in range(3):
        if near[i] != a and near[i] != b:
            return int(near[i])
    return _NONE


@serial
def _remainder(net: Net) -> tuple[Ints, Ints]:
    """Nodes that are left, and the edges between them."""
    left = np.flatnonzero(net.nodes[:, GONE] == 0).astype(np.int32)
    total = 0
    for i in range(left.size):
        total += net.nodes[left[i], DEGREE]
    among = np.empty((total // 2, 2), np.int32)
    k = 0
    for i in range(left.size):
        v = int(left[i])
        h = _first(net, v)
        while h != _NONE:
            if net.halves[h ^ 1, END] > v:
                among[k, 0], among[k, 1] = v, net.halves[h ^ 1, END]
                k += 1
            h = _next(net, h)
    return left, among
