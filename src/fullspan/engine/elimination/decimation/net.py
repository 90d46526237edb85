"""A graph that is being decimated, as lists of half-edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Numbers32
from fullspan.model.algebra.jit import inlined, serial

NONE = -1
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

    nodes: Numbers32
    halves: Numbers32
    first: Numbers32
    made: NDArray[np.int64]


@serial
def join(net: Net, a: int, b: int) -> int:
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
    # When all edges but one have been taken out again by a second exclusive or, this is the one that is left.
    net.nodes[v, LAST] ^= h >> 1


@serial
def first(net: Net, v: int) -> int:
    """The first half-edge of a node that leads somewhere; those before it are dropped."""
    h = net.nodes[v, HEAD]
    while h != NONE and net.nodes[net.halves[h ^ 1, END], GONE]:
        h = net.halves[h, FOLLOWING]
    net.nodes[v, HEAD] = h
    return int(h)


@serial
def following(net: Net, h: int) -> int:
    """The half-edge after one that leads somewhere; those between are dropped."""
    k = net.halves[h, FOLLOWING]
    while k != NONE and net.nodes[net.halves[k ^ 1, END], GONE]:
        k = net.halves[k, FOLLOWING]
    net.halves[h, FOLLOWING] = k
    return int(k)


@serial
def edge_between(net: Net, a: int, b: int) -> int:
    """The edge between two nodes, or none."""
    if net.nodes[a, DEGREE] > net.nodes[b, DEGREE]:
        a, b = b, a
    h = first(net, a)
    while h != NONE:
        if net.halves[h ^ 1, END] == b:
            return int(h >> 1)
        h = following(net, h)
    return NONE


@serial
def neighbours(net: Net, v: int, n: int, near: Numbers32) -> int:
    """Write up to three neighbours, the bias node last; their number, 4 if there are more."""
    if net.nodes[v, DEGREE] + net.nodes[v, BIASED] > 3:
        return 4
    k, h = 0, first(net, v)
    while h != NONE:
        near[k] = net.halves[h ^ 1, END]
        k, h = k + 1, following(net, h)
    if net.nodes[v, BIASED]:
        near[k] = n
        k += 1
    return k


@inlined
def only_half(net: Net, v: int) -> int:
    """The half-edge of a node with one neighbour: no list is walked."""
    h = 2 * net.nodes[v, LAST]
    return int(h if net.halves[h, END] == v else h + 1)


@serial
def remainder(net: Net) -> tuple[Numbers32, Numbers32]:
    """Nodes that are left, and the edges between them."""
    left = np.flatnonzero(net.nodes[:, GONE] == 0).astype(np.int32)
    total = 0
    for i in range(left.size):
        total += net.nodes[left[i], DEGREE]
    among = np.empty((total // 2, 2), np.int32)
    k = 0
    for i in range(left.size):
        v = int(left[i])
        h = first(net, v)
        while h != NONE:
            # Each edge once, from its lower end.
            if net.halves[h ^ 1, END] > v:
                among[k, 0], among[k, 1] = v, net.halves[h ^ 1, END]
                k += 1
            h = following(net, h)
    return left, among
