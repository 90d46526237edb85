"""Nodes waiting in buckets by the number of edges that taking them out would make."""

from __future__ import annotations

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
