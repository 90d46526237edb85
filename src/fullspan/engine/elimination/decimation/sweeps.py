"""Forward and backward through a decimation: log Z, all expectations, samples; many clamped patterns at a time.

Forward, the couplings of every slot are gathered in the order of the steps: those that a step leaves are added to their
slots (parallel rule), and log F to log Z. Backward, the rules are reversed: expectations along the edges that a step
leaves give those of the edges that went into it. This is the adjoint network of Rueger 1997 (Theorem 5.2), whose
backward pass is reverse-mode differentiation of log Z.

Arrays are (slots, patterns), so that every step is a loop over patterns that lie side by side. Patterns are taken in
blocks that fit the cache, blocks in parallel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fullspan.arrays import Array, Numbers32, Spins
from fullspan.engine.elimination.decimation import loops
from fullspan.engine.elimination.decimation.peeling import Steps
from fullspan.engine.elimination.decimation.rules import head, leaf, reversed_series, reversed_star, series, star
from fullspan.model.algebra.elementary import tanh
from fullspan.model.algebra.jit import serial

_GATHERED_STEPS = 512
"""Steps whose factors c_0, each at most 2, are multiplied before a logarithm is taken."""
_CACHED_NUMBERS = 1 << 15
"""Numbers of a block of patterns that should stay in the cache."""
TASKS = 16
"""Parts of a batch whose gradients are summed by themselves."""


class Links(NamedTuple):
    """How edges and nodes of a machine become slots and fields once some nodes are clamped.

    Attributes
    ----------
    free_edges, free_nodes : numbers of the edges between free nodes, and of the free nodes.
    half : (k, 3) edges between a free and a clamped node: edge, position of the free and of the clamped node.
    fixed : (k, 3) edges between clamped nodes: edge and positions of both.
    clamped : numbers of the clamped nodes.
    """

    free_edges: Numbers32
    free_nodes: Numbers32
    half: Numbers32
    fixed: Numbers32
    clamped: Numbers32


def block_size(n_slots: int, n_patterns: int) -> int:
    """Patterns taken together."""
    return int(min(max(_CACHED_NUMBERS // max(n_slots, 1), 8), 256, max(n_patterns, 1)))


# -- one block --------------------------------------------------------------------------------------------------------


@serial
def load(x: Array, constant: Array, known: Array, couplings: Array, fields: Array, links: Links, spins: Spins) -> None:
    """Couplings and fields of a block: clamped nodes change the fields of their neighbours, the rest is a constant.

    ``known`` (clamped, block) takes the spins (block, clamped).
    """
    first = links.free_edges.size
    for c in range(known.shape[0]):
        for p in range(known.shape[1]):
            known[c, p] = spins[p, c]
    for e in range(first):
        x[e, :] = couplings[links.free_edges[e]]
    for i in range(links.free_nodes.size):
        x[first + i, :] = fields[links.free_nodes[i]]
    x[first + links.free_nodes.size :, :] = 0.0
    for k in range(links.half.shape[0]):
        e, i, c = links.half[k]
        loops.add(couplings[e], known[c], x[first + i])
    constant[:] = 0.0
    for c in range(known.shape[0]):
        loops.add(fields[links.clamped[c]], known[c], constant)
    for k in range(links.fixed.shape[0]):
        e, c, d = links.fixed[k]
        loops.add_product(couplings[e], known[c], known[d], constant)


@serial
def forward(steps: Steps, x: Array, log_z: Array) -> None:
    """Fill all slots, and add to log_z the logarithms of the factors."""
    size = x.shape[1]
    if size == 1:
        log_z[0] += _forward_one(steps, x.reshape(x.size))
        return
    work = np.empty((9, size))
    product, part = np.ones(size), np.zeros(size)
    for t in range(steps.node.size):
        into, out = steps.into[t], steps.out[t]
        if into[0] < 0:
            part += np.log(2.0)
        elif into[1] < 0:
            loops.leaves(x[into[0]], part)
        elif into[2] < 0:
            loops.chains(x[into[0]], x[into[1]], x[out[0]], part, product, work)
        else:
            loops.stars(x[into[0]], x[into[1]], x[into[2]], x[out[0]], x[out[1]], x[out[2]], part, product, work)
        if t % _GATHERED_STEPS == _GATHERED_STEPS - 1:
            _gather(log_z, part, product)
    _gather(log_z, part, product)


@serial
def _gather(log_z: Array, part: Array, product: Array) -> None:
    for p in range(log_z.size):
        log_z[p] += part[p] + np.log(product[p])
        part[p], product[p] = 0.0, 1.0


@serial
def _forward_one(steps: Steps, x: Array) -> float:
    """The same for a single pattern."""
    total, part, product = 0.0, 0.0, 1.0
    for t in range(steps.node.size):
        i, j, k = steps.into[t, 0], steps.into[t, 1], steps.into[t, 2]
        if i < 0:
            part += np.log(2.0)
        elif j < 0:
            part += leaf(x[i])
        elif k < 0:
            v, rest = series(x[i], x[j])
            product *= head(abs(x[i]) + abs(x[j]))
            part += rest
            x[steps.out[t, 0]] += v
        else:
            a, b, c, rest = star(x[i], x[j], x[k])
            product *= head(abs(x[i]) + abs(x[j]) + abs(x[k]))
            part += rest
            x[steps.out[t, 0]] += a
            x[steps.out[t, 1]] += b
            x[steps.out[t, 2]] += c
        if t % _GATHERED_STEPS == _GATHERED_STEPS - 1:
            total += part + np.log(product)
            part, product = 0.0, 1.0
    return float(total + part + np.log(product))


@serial
def backward(steps: Steps, x: Array, g: Array) -> None:
    """Expectations of all slots, ``g = <s_i s_j>``, from the couplings that went forward."""
    if x.shape[1] == 1:
        _backward_one(steps, x.reshape(x.size), g.reshape(g.size))
        return
    work = np.empty((9, x.shape[1]))
    for t in range(steps.node.size - 1, -1, -1):
        into, out = steps.into[t], steps.out[t]
        if into[0] < 0:
            continue
        if into[1] < 0:
            loops.leaves_back(x[into[0]], g[into[0]])
        elif into[2] < 0:
            loops.chains_back(x[into[0]], x[into[1]], g[out[0]], g[into[0]], g[into[1]], work)
        else:
            loops.stars_back(
                *(x[into[0]], x[into[1]], x[into[2]]),
                *(g[out[0]], g[out[1]], g[out[2]]),
                *(g[into[0]], g[into[1]], g[into[2]], work),
            )


@serial
def _backward_one(steps: Steps, x: Array, g: Array) -> None:
    """The same for a single pattern."""
    for t in range(steps.node.size - 1, -1, -1):
        i, j, k = steps.into[t, 0], steps.into[t, 1], steps.into[t, 2]
        if i < 0:
            continue
        if j < 0:
            g[i] = tanh(x[i])
        elif k < 0:
            g[i], g[j] = reversed_series(x[i], x[j], g[steps.out[t, 0]])
        else:
            a, b, c = g[steps.out[t, 0]], g[steps.out[t, 1]], g[steps.out[t, 2]]
            g[i], g[j], g[k] = reversed_star(x[i], x[j], x[k], a, b, c)


@serial
def _rows(flat: Array, n: int, size: int) -> Array:
    """The beginning of a buffer as contiguous rows."""
    return flat[: n * size].reshape((n, size))


# -- a batch ----------------------------------------------------------------------------------------------------------


@serial
def log_zs(
    first: int,
    last: int,
    steps: Steps,
    links: Links,
    couplings: Array,
    fields: Array,
    spins: Spins,
    size: int,
    log_z: Array,
    constant: Array,
) -> None:
    """log Z of the free nodes for every pattern of some blocks, and the constant that the clamped nodes add to it."""
    x, known = np.empty(steps.n_slots * size), np.empty(links.clamped.size * size)
    for start in range(first * size, min(last * size, spins.shape[0]), size):
        stop = min(start + size, spins.shape[0])
        bx, bk = _rows(x, steps.n_slots, stop - start), _rows(known, links.clamped.size, stop - start)
        load(bx, constant[start:stop], bk, couplings, fields, links, spins[start:stop])
        forward(steps, bx, log_z[start:stop])


@serial
def expectations(
    first: int,
    last: int,
    steps: Steps,
    links: Links,
    couplings: Array,
    fields: Array,
    spins: Spins,
    size: int,
    log_z: Array,
    edges_out: Array,
    nodes_out: Array,
) -> None:
    """log Z with its constant, (patterns, edges) and (patterns, nodes) expectations, of the patterns of some blocks."""
    x, g = np.empty(steps.n_slots * size), np.empty(steps.n_slots * size)
    known, n_free = np.empty(links.clamped.size * size), links.free_edges.size
    for start in range(first * size, min(last * size, spins.shape[0]), size):
        stop = min(start + size, spins.shape[0])
        bx, bg = _rows(x, steps.n_slots, stop - start), _rows(g, steps.n_slots, stop - start)
        bk = _rows(known, links.clamped.size, stop - start)
        _both_ways(steps, bx, log_z[start:stop], bk, couplings, fields, links, spins[start:stop], bg)
        for p in range(stop - start):
            for e in range(n_free):
                edges_out[start + p, links.free_edges[e]] = bg[e, p]
            for i in range(links.free_nodes.size):
                nodes_out[start + p, links.free_nodes[i]] = bg[n_free + i, p]
            for c in range(links.clamped.size):
                nodes_out[start + p, links.clamped[c]] = bk[c, p]
            for k in range(links.half.shape[0]):
                e, i, c = links.half[k]
                edges_out[start + p, e] = bk[c, p] * bg[n_free + i, p]
            for k in range(links.fixed.shape[0]):
                e, c, d = links.fixed[k]
                edges_out[start + p, e] = bk[c, p] * bk[d, p]


@serial
def _both_ways(
    steps: Steps,
    x: Array,
    log_z: Array,
    known: Array,
    couplings: Array,
    fields: Array,
    links: Links,
    spins: Spins,
    g: Array,
) -> None:
    """Load a block, go forward and backward: log Z with its constant, and the expectations of all slots."""
    load(x, log_z, known, couplings, fields, links, spins)
    forward(steps, x, log_z)
    # A slot that backward does not fill would show as NaN instead of as what the last patterns left there.
    g[:] = np.nan
    backward(steps, x, g)


@serial
def gradients(
    first: int,
    last: int,
    steps: Steps,
    links: Links,
    couplings: Array,
    fields: Array,
    spins: Spins,
    weights: Array,
    size: int,
    tasks: int,
    log_z: Array,
    edge_sums: Array,
    node_sums: Array,
) -> None:
    """log Z with its constant, and the weighted sums of the expectations of edges and nodes, a row for each task."""
    x, g = np.empty(steps.n_slots * size), np.empty(steps.n_slots * size)
    known, n_free, n_patterns = np.empty(links.clamped.size * size), links.free_edges.size, spins.shape[0]
    for task in range(first, last):
        low, high = task * n_patterns // tasks, (task + 1) * n_patterns // tasks
        for start in range(low, high, size):
            stop = min(start + size, high)
            bx, bg = _rows(x, steps.n_slots, stop - start), _rows(g, steps.n_slots, stop - start)
            bk = _rows(known, links.clamped.size, stop - start)
            _both_ways(steps, bx, log_z[start:stop], bk, couplings, fields, links, spins[start:stop], bg)
            _add_sums(bg, bk, weights[start:stop], links, edge_sums[task], node_sums[task], n_free)


@serial
def _add_sums(g: Array, known: Array, w: Array, links: Links, edges: Array, nodes: Array, n_free: int) -> None:
    """Add the weighted expectations of a block to the sums of its task."""
    for e in range(n_free):
        edges[links.free_edges[e]] += loops.dot(g[e], w)
    for i in range(links.free_nodes.size):
        nodes[links.free_nodes[i]] += loops.dot(g[n_free + i], w)
    for c in range(links.clamped.size):
        nodes[links.clamped[c]] += loops.dot(known[c], w)
    for k in range(links.half.shape[0]):
        e, i, c = links.half[k]
        edges[e] += loops.dot3(known[c], g[n_free + i], w)
    for k in range(links.fixed.shape[0]):
        e, c, d = links.fixed[k]
        edges[e] += loops.dot3(known[c], known[d], w)


@serial
def draw(
    steps: Steps, links: Links, couplings: Array, fields: Array, spins: Spins, uniforms: Array, out: Spins
) -> None:
    """Write samples (m, nodes) given patterns (m, clamped), or one pattern for all, by reversing the decimation.

    A node that is taken out last is drawn first: given its neighbours then, ``P(s = 1) = 1 / (1 + exp(-2 h))`` with
    h the sum of its couplings times their spins.
    """
    n_free = links.free_nodes.size
    x, state = np.empty((steps.n_slots, 1)), np.ones(n_free + 1, np.int8)
    known = np.empty((links.clamped.size, 1))
    for r in range(out.shape[0]):
        own = spins[r : r + 1] if spins.shape[0] > 1 else spins
        if r == 0 or spins.shape[0] > 1:
            constant, log_z = np.zeros(1), np.zeros(1)
            load(x, constant, known, couplings, fields, links, own)
            forward(steps, x, log_z)
        for t in range(steps.node.size - 1, -1, -1):
            local = 0.0
            for k in range(3):
                if steps.into[t, k] >= 0:
                    local += x[steps.into[t, k], 0] * state[steps.near[t, k]]
            state[steps.node[t]] = 1 if uniforms[r, t] * (1.0 + np.exp(-2.0 * local)) < 1.0 else -1
        for i in range(n_free):
            out[r, links.free_nodes[i]] = state[i]
        for c in range(links.clamped.size):
            out[r, links.clamped[c]] = own[0, c]
