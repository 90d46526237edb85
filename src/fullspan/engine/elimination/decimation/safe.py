"""Nodes of degree 3 whose neighbours are not joined, and which may be taken out without loss all the same.

A machine can be decimated iff its graph with the bias node has treewidth at most 3; the reductions of Arnborg and
Proskurowski (1986) decide that: one of two nodes with the same three neighbours (buddies), and a corner of a cube.
"""

from __future__ import annotations

import numpy as np

from fullspan.arrays import Numbers32
from fullspan.engine.elimination.decimation.net import (
    AFTER,
    BEFORE,
    BIASED,
    DEGREE,
    END,
    KEY,
    NONE,
    Net,
    edge_between,
    first,
    following,
    neighbours,
    only_half,
)
from fullspan.model.algebra.jit import inlined, serial

BUCKETS = 4
WAITING = 4
"""The bucket of nodes whose new edges have not been counted yet; most get fewer neighbours before it matters."""


@serial
def new_edges(net: Net, v: int) -> int:
    """Edges that taking out a node would make; -1 if it has more than three neighbours."""
    degree, biased = net.nodes[v, DEGREE], net.nodes[v, BIASED]
    # A fourth neighbour would leave an interaction of four spins, which no couplings can express.
    if degree + biased > 3:
        return NONE
    if degree == 0:
        return 0
    if degree == 1:
        return int(1 - net.nodes[net.halves[only_half(net, v) ^ 1, END], BIASED] if biased else 0)
    h = first(net, v)
    a = net.halves[h ^ 1, END]
    h = following(net, h)
    b = net.halves[h ^ 1, END]
    new = int(edge_between(net, a, b) == NONE)
    if biased:
        new += 2 - net.nodes[a, BIASED] - net.nodes[b, BIASED]
    if degree == 2:
        return int(new)
    c = net.halves[following(net, h) ^ 1, END]
    return int(new + (edge_between(net, a, c) == NONE) + (edge_between(net, b, c) == NONE))


@inlined
def touch(net: Net, v: int) -> None:
    """A node's neighbours have changed: place it at once if that is cheap, else let it wait until it matters."""
    degree, biased = net.nodes[v, DEGREE], net.nodes[v, BIASED]
    bucket = NONE if degree + biased > 3 else WAITING if degree > 1 else 0
    if degree == 1 and biased:
        bucket = 1 - net.nodes[net.halves[only_half(net, v) ^ 1, END], BIASED]
    place(net, v, bucket)


@inlined
def place(net: Net, v: int, bucket: int) -> None:
    """Put a node into a bucket, or into none."""
    if bucket == net.nodes[v, KEY]:
        return
    leave(net, v)
    if bucket != NONE:
        old = net.first[bucket]
        net.nodes[v, AFTER], net.nodes[v, BEFORE] = old, NONE
        if old != NONE:
            net.nodes[old, BEFORE] = v
        net.first[bucket] = v
    net.nodes[v, KEY] = bucket


@inlined
def leave(net: Net, v: int) -> None:
    """Take a node out of its bucket."""
    bucket = net.nodes[v, KEY]
    if bucket == NONE:
        return
    a, b = net.nodes[v, BEFORE], net.nodes[v, AFTER]
    if a == NONE:
        net.first[bucket] = b
    else:
        net.nodes[a, AFTER] = b
    if b != NONE:
        net.nodes[b, BEFORE] = a
    net.nodes[v, KEY] = NONE


@serial
def safe_node(net: Net) -> int:
    """A node of the last bucket that may be taken out without loss: a buddy, or a corner of a cube; or none."""
    v = net.first[BUCKETS - 1]
    while v != NONE:
        if _is_buddy(net, v) or _is_corner(net, v):
            return int(v)
        v = net.nodes[v, AFTER]
    return NONE


@serial
def _is_buddy(net: Net, v: int) -> bool:
    """Whether another node has the same three neighbours."""
    n = net.nodes.shape[0]
    mine, theirs = np.empty(3, np.int32), np.empty(3, np.int32)
    neighbours(net, v, n, mine)
    a = mine[0]
    for i in range(1, 3):
        # A buddy is a neighbour of all three: it is looked for in the shortest list. The bias node, number n, has none.
        if mine[i] < n and net.nodes[mine[i], DEGREE] < net.nodes[a, DEGREE]:
            a = mine[i]
    h = first(net, a)
    while h != NONE:
        w = net.halves[h ^ 1, END]
        if w != v and neighbours(net, w, n, theirs) == 3 and _same(mine, theirs):
            return True
        h = following(net, h)
    return False


@serial
def _same(a: Numbers32, b: Numbers32) -> bool:
    found = 0
    for i in range(3):
        found += a[i] == b[0] or a[i] == b[1] or a[i] == b[2]
    return found == 3


@serial
def _is_corner(net: Net, x: int) -> bool:
    """Whether x and two others share a neighbour w, have degree 3 as w has, and meet pairwise in one node each."""
    n = net.nodes.shape[0]
    mine, hub, y, z = np.empty(3, np.int32), np.empty(3, np.int32), np.empty(3, np.int32), np.empty(3, np.int32)
    neighbours(net, x, n, mine)
    for i in range(3):
        w = mine[i]
        if w == n or neighbours(net, w, n, hub) != 3:
            continue
        others = hub[hub != x]
        if others[0] == n or others[1] == n:
            continue
        if neighbours(net, others[0], n, y) == 3 and neighbours(net, others[1], n, z) == 3:
            rest = mine[mine != w]
            # Which of the other two corners meets x where is not known.
            for a, b in ((rest[0], rest[1]), (rest[1], rest[0])):
                if _meets(y, b, w, a) and _meets(z, a, w, b) and _third(y, w, b) == _third(z, w, a):
                    return True
    return False


@serial
def _meets(near: Numbers32, a: int, w: int, never: int) -> bool:
    """Whether a node has a and w as neighbours, and not another."""
    has_a = near[0] == a or near[1] == a or near[2] == a
    has_w = near[0] == w or near[1] == w or near[2] == w
    return bool(has_a and has_w and near[0] != never and near[1] != never and near[2] != never)


@serial
def _third(near: Numbers32, a: int, b: int) -> int:
    for i in range(3):
        if near[i] != a and near[i] != b:
            return int(near[i])
    return NONE
