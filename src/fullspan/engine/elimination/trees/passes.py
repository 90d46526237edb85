"""Upward and downward passes on trees of hidden nodes, compiled: log-likelihoods, beliefs and expected counts.

A node i has K states, a parent, and one observed variable x_i that hangs on it:

    p(x, z) = pi(z_r) prod_{i != r} A_i[z_parent(i), z_i] prod_i E_i[z_i, x_i]

Upwards, ``lam_i(z) = E_i[z, x_i] prod_{c child of i} m_c(z)`` with ``m_c = A_c lam_c`` is the probability of all that
hangs below z_i = z; downwards, beliefs ``b_c(z') = lam_c(z') sum_z A_c[z, z'] b_i(z) / m_c(z)`` are the posterior of a
node, times the weight of the row. Rows are taken in blocks with the row as the innermost index, so that every product
of matrices vectorises over rows; blocks are shared among threads. Messages are scaled per row and node, and the logs
of the scales summed in double precision, so that nothing underflows however many nodes there are.

A pass takes blocks ``t, t + threads, ...`` for each t from ``begin`` to ``end``, which ``on_cores`` gives it. Rows are
``codes`` (n, rows) with values below C. Time: 3 n K² multiplications per row, as products of small matrices;
memory: 3 n K BLOCK_ROWS numbers per thread. Products are BLAS calls, which must not start threads of their own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fullspan.model.algebra.jit import serial

BLOCK_ROWS = 256
"""Rows that are passed together."""
_LEAST_PRODUCT = 1e-150
"""The product of scales is moved to its logarithm when it falls below."""


class Arrays(NamedTuple):
    """A tree.

    Attributes
    ----------
    order, parent : (n,) nodes, parents first; the parent of each, −1 of the root.
    prior : (K,) of the root.
    transition : (n, K, K), indexed [child, z of parent, z of child].
    emission : (n, K, C); the last column stands for a missing cell: the probability of the levels possible there.
    """

    order: Any
    parent: Any
    prior: Any
    transition: Any
    emission: Any


class _Room(NamedTuple):
    """What one thread works with, for a block of rows.

    ``lam`` and ``message`` are (n, K, rows), ``seen`` (C, rows); the others have a number per row. Scales are in the
    precision of the messages, their products and logarithms in double precision.
    """

    lam: Any
    message: Any
    seen: Any
    total: Any
    product: Any
    log: Any


@serial
def _room(tree: Any) -> Any:
    n, k, dtype = len(tree.order), len(tree.prior), tree.prior.dtype
    return _Room(
        np.empty((n, k, BLOCK_ROWS), dtype=dtype),
        np.empty((n, k, BLOCK_ROWS), dtype=dtype),
        np.empty((tree.emission.shape[2], BLOCK_ROWS), dtype=dtype),
        np.empty(BLOCK_ROWS, dtype=dtype),
        np.empty(BLOCK_ROWS),
        np.empty(BLOCK_ROWS),
    )


@serial
def _indicators(codes: Any, start: int, size: int, out: Any) -> None:
    """out[x, b] = 1 where the cell of row ``start + b`` is x, else 0; rows beyond the block are missing."""
    out[:] = 0
    for b in range(size):
        out[codes[start + b], b] = 1
    for b in range(size, BLOCK_ROWS):
        out[out.shape[0] - 1, b] = 1


@serial
def _settle(total: Any, product: Any, log: Any) -> None:
    """Keep the scales of a message in ``product`` and ``log``; ``total`` becomes their inverse, 0 for 0."""
    for b in range(BLOCK_ROWS):
        # Logarithms are dear: scales are multiplied up, and one is taken when their product nears the end of the range.
        product[b] *= total[b]
        total[b] = 1 / total[b] if total[b] > 0 else 0
    for b in range(BLOCK_ROWS):
        if product[b] < _LEAST_PRODUCT:
            log[b] += np.log(product[b])
            product[b] = 1.0


@serial
def _absorb(message: Any, above: Any, total: Any, product: Any, log: Any) -> None:
    """Multiply a message into that of the parent, and divide each row by its sum."""
    total[:] = 0
    for z in range(above.shape[0]):
        for b in range(BLOCK_ROWS):
            above[z, b] *= message[z, b]
            total[b] += above[z, b]
    _settle(total, product, log)
    for z in range(above.shape[0]):
        for b in range(BLOCK_ROWS):
            above[z, b] *= total[b]


@serial
def _up(tree: Any, codes: Any, start: int, size: int, room: Any, out: Any) -> None:
    """Messages of one block, and the log-likelihoods of its rows; ``total`` becomes 1 / (pi . lam) at the root."""
    lam, message, total, product, log = room.lam, room.message, room.total, room.product, room.log
    product[:] = 1.0
    log[:] = 0.0
    for i in range(len(tree.order)):
        _indicators(codes[i], start, size, room.seen)
        np.dot(tree.emission[i], room.seen, lam[i])
    for step in range(len(tree.order) - 1, 0, -1):
        i = tree.order[step]
        np.dot(tree.transition[i], lam[i], message[i])
        _absorb(message[i], lam[tree.parent[i]], total, product, log)
    root = lam[tree.order[0]]
    total[:] = 0
    for z in range(len(tree.prior)):
        for b in range(BLOCK_ROWS):
            total[b] += tree.prior[z] * root[z, b]
    for b in range(BLOCK_ROWS):
        log[b] += np.log(product[b] * total[b])
        total[b] = 1 / total[b] if total[b] > 0 else 0
    for b in range(size):
        out[start + b] = log[b]


@serial
def _down_root(root: Any, prior: Any, total: Any, weights: Any, start: int, size: int, belief: Any) -> None:
    """Weighted posterior of the root; rows beyond the block weigh nothing."""
    for b in range(BLOCK_ROWS):
        total[b] = total[b] * weights[start + b] if b < size else 0
    for z in range(len(prior)):
        for b in range(BLOCK_ROWS):
            belief[z, b] = prior[z] * root[z, b] * total[b]


@serial
def _down_edge(transition: Any, lam: Any, message: Any, above: Any, belief: Any) -> None:
    """Posterior of a child; ``message`` becomes the parent's belief divided by it, 0 for 0."""
    zero = message[0, 0] * 0
    for z in range(lam.shape[0]):
        for b in range(BLOCK_ROWS):
            # Divides the child's own message out of the parent's belief. 0 / 0 is an impossible state, which stays
            # impossible.
            m = message[z, b]
            message[z, b] = above[z, b] / m if m > 0 else zero
    np.dot(transition.T, message, belief)
    for z in range(lam.shape[0]):
        for b in range(BLOCK_ROWS):
            belief[z, b] *= lam[z, b]


@serial
def log_likelihoods(begin: int, end: int, tree: Any, codes: Any, threads: int, out: Any) -> None:
    """out[row] = log p(x_row), −inf where it is zero."""
    rows = codes.shape[1]
    for t in range(begin, end):
        room = _room(tree)
        for block in range(t, (rows + BLOCK_ROWS - 1) // BLOCK_ROWS, threads):
            start = block * BLOCK_ROWS
            _up(tree, codes, start, min(BLOCK_ROWS, rows - start), room, out)


@serial
def cell_posteriors(
    begin: int, end: int, tree: Any, levels: Any, codes: Any, threads: int, out: Any, log_likelihood: Any
) -> None:
    """out[row, i, x] = p(x_i = x | the row's cells) for ``levels`` (n, X, K), the chances of levels that may be."""
    rows, root = codes.shape[1], tree.order[0]
    for t in range(begin, end):
        room = _room(tree)
        belief, ones = np.empty_like(room.lam), np.ones(BLOCK_ROWS, dtype=room.lam.dtype)
        chance = np.empty((levels.shape[1], BLOCK_ROWS), dtype=room.lam.dtype)
        for block in range(t, (rows + BLOCK_ROWS - 1) // BLOCK_ROWS, threads):
            start = block * BLOCK_ROWS
            size = min(BLOCK_ROWS, rows - start)
            _up(tree, codes, start, size, room, log_likelihood)
            _down_root(room.lam[root], tree.prior, room.total, ones, 0, size, belief[root])
            for step in range(1, len(tree.order)):
                i = tree.order[step]
                _down_edge(tree.transition[i], room.lam[i], room.message[i], belief[tree.parent[i]], belief[i])
            for i in range(len(tree.order)):
                _chances(tree.emission[i], levels[i], codes[i], start, size, belief[i], chance, out[:, i])


@serial
def _chances(emission: Any, levels: Any, codes: Any, start: int, size: int, belief: Any, chance: Any, out: Any) -> None:
    """Chances of a node's levels where its cell is missing, else 1 for the level that is seen."""
    missing = emission.shape[1] - 1
    for z in range(belief.shape[0]):
        # The belief holds the sum over all possible levels as its emission; each level has its share of that.
        scale = 1 / emission[z, missing] if emission[z, missing] > 0 else 0
        for b in range(BLOCK_ROWS):
            belief[z, b] *= scale
    np.dot(levels, belief, chance)
    for b in range(size):
        x = codes[start + b]
        for y in range(levels.shape[0]):
            out[start + b, y] = chance[y, b] if x == missing else (1.0 if x == y else 0.0)


@serial
def completions(
    begin: int, end: int, tree: Any, levels: Any, codes: Any, uniform: Any, threads: int, out: Any, log_likelihood: Any
) -> None:
    """out[row] = the row's codes with missing cells drawn from their joint posterior, by ``uniform`` (rows, 2, n).

    Given the messages from below, nodes are drawn from the root downwards, each given its parent.
    """
    n, rows, missing = len(tree.order), codes.shape[1], tree.emission.shape[2] - 1
    for t in range(begin, end):
        room, state = _room(tree), np.empty(n, dtype=np.int64)
        for block in range(t, (rows + BLOCK_ROWS - 1) // BLOCK_ROWS, threads):
            start = block * BLOCK_ROWS
            size = min(BLOCK_ROWS, rows - start)
            _up(tree, codes, start, size, room, log_likelihood)
            for b in range(size):
                row = start + b
                for step in range(n):
                    i = tree.order[step]
                    chance = tree.prior if step == 0 else tree.transition[i, state[tree.parent[i]]]
                    state[i] = _drawn(chance, room.lam[i, :, b], uniform[row, 0, i])
                    x, none = codes[i, row], room.seen[:0, 0]
                    out[row, i] = _drawn(levels[i, :, state[i]], none, uniform[row, 1, i]) if x == missing else x


@serial
def _drawn(chance: Any, factor: Any, u: float) -> int:
    """An index with probability proportional to ``chance * factor``; an empty factor is 1."""
    total = 0.0
    for z in range(len(chance)):
        total += chance[z] * (factor[z] if len(factor) else 1.0)
    left, last = u * total, 0
    for z in range(len(chance)):
        weight = chance[z] * (factor[z] if len(factor) else 1.0)
        if weight > 0:
            last = z
            # Rounding may leave a rest at the end: then the last index with a probability is taken, never one without.
            left -= weight
            if left < 0:
                break
    return last


@serial
def expected_counts(
    begin: int, end: int, tree: Any, codes: Any, weights: Any, threads: int, edges: Any, cells: Any, out: Any
) -> None:
    """Expected counts under the posterior of the hidden nodes, one set per thread, zeroed here.

    ``edges[t, i, z, z']`` are those of (z of the parent, z' of i) divided by A_i[z, z'], and of the root's state in
    ``edges[t, root, 0]``; ``cells[t, i, z, x]`` those of state and observed level, missing cells in the last column.
    ``out[row]`` is the log-likelihood; a row that is impossible counts for nothing.
    """
    n, k, rows, root = len(tree.order), len(tree.prior), codes.shape[1], tree.order[0]
    for t in range(begin, end):
        edges[t] = 0
        cells[t] = 0
        room = _room(tree)
        belief = np.empty_like(room.lam)
        pairs = np.empty((k, k), dtype=room.lam.dtype)
        levels = np.empty((k, tree.emission.shape[2]), dtype=room.lam.dtype)
        for block in range(t, (rows + BLOCK_ROWS - 1) // BLOCK_ROWS, threads):
            start = block * BLOCK_ROWS
            size = min(BLOCK_ROWS, rows - start)
            _up(tree, codes, start, size, room, out)
            _down_root(room.lam[root], tree.prior, room.total, weights, start, size, belief[root])
            for z in range(k):
                edges[t, root, 0, z] += belief[root, z].sum()
            for step in range(1, n):
                i = tree.order[step]
                _down_edge(tree.transition[i], room.lam[i], room.message[i], belief[tree.parent[i]], belief[i])
                # Counted at once, while both arrays are in the cache.
                np.dot(room.message[i], room.lam[i].T, pairs)
                edges[t, i] += pairs
            for i in range(n):
                _indicators(codes[i], start, size, room.seen)
                np.dot(belief[i], room.seen.T, levels)
                cells[t, i] += levels
