"""Upward and downward passes on trees of hidden nodes, compiled: log-likelihoods, beliefs and expected counts.

A node i has K states, a parent, and one observed variable x_i that hangs on it:

    p(x, z) = pi(z_r) prod_{i != r} A_i[z_parent(i), z_i] prod_i E_i[z_i, x_i]

Upwards, ``lam_i(z) = E_i[z, x_i] prod_{c child of i} m_c(z)`` with ``m_c = A_c lam_c`` is the probability of all that
hangs below z_i = z; downwards, beliefs ``b_c(z') = lam_c(z') sum_z A_c[z, z'] b_i(z) / m_c(z)`` are the posterior of a
node, times the weight of the row. Rows are taken in blocks with the row as the innermost index, so that every product
of matrices vectorises over rows; blocks are shared among threads. Messages are scaled per row and node, and the logs
of the scales summed in double precision, so that nothing underflows however many nodes there are.

Arrays: ``order`` (n,) nodes, parents first; ``parent`` (n,), −1 for the root; ``prior`` (K,); ``transition`` (n, K, K)
indexed [child, z of parent, z of child]; ``emission`` (n, K, C); ``codes`` (n, rows) with values below C. Column
C − 1 of the emissions stands for a missing cell: the probability of the levels that are possible there. Time: 3 n K²
multiplications per row, as products of small matrices; memory: 3 n K BLOCK_ROWS numbers per thread. Products are BLAS
calls, which must not start threads of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullspan.model.algebra.jit import parallel, prange, serial

BLOCK_ROWS = 256
"""Rows that are passed together."""
_LEAST_PRODUCT = 1e-150
"""The product of scales is moved to its logarithm when it falls below."""


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
def _up(
    order: Any, parent: Any, prior: Any, transition: Any, emission: Any, codes: Any, start: int, size: int,
    lam: Any, message: Any, seen: Any, total: Any, product: Any, log: Any,
) -> None:  # fmt: skip
    """Messages of one block; ``log`` becomes the log-likelihood of its rows, ``total`` 1 / (pi . lam) at the root."""
    product[:] = 1.0
    log[:] = 0.0
    for i in range(len(order)):
        _indicators(codes[i], start, size, seen)
        np.dot(emission[i], seen, lam[i])
    for step in range(len(order) - 1, 0, -1):
        i = order[step]
        np.dot(transition[i], lam[i], message[i])
        _absorb(message[i], lam[parent[i]], total, product, log)
    root = lam[order[0]]
    total[:] = 0
    for z in range(len(prior)):
        for b in range(BLOCK_ROWS):
            total[b] += prior[z] * root[z, b]
    for b in range(BLOCK_ROWS):
        log[b] += np.log(product[b] * total[b])
        total[b] = 1 / total[b] if total[b] > 0 else 0


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
            m = message[z, b]
            message[z, b] = above[z, b] / m if m > 0 else zero
    np.dot(transition.T, message, belief)
    for z in range(lam.shape[0]):
        for b in range(BLOCK_ROWS):
            belief[z, b] *= lam[z, b]


@parallel
def log_likelihoods(
    order: Any, parent: Any, prior: Any, transition: Any, emission: Any, codes: Any, threads: int, out: Any
) -> None:
    """out[row] = log p(x_row), −inf where it is zero."""
    n, k, rows = len(order), len(prior), codes.shape[1]
    blocks = (rows + BLOCK_ROWS - 1) // BLOCK_ROWS
    for t in prange(threads):
        lam = np.empty((n, k, BLOCK_ROWS), dtype=prior.dtype)
        message = np.empty((n, k, BLOCK_ROWS), dtype=prior.dtype)
        seen = np.empty((emission.shape[2], BLOCK_ROWS), dtype=prior.dtype)
        total = np.empty(BLOCK_ROWS, dtype=prior.dtype)
        product, log = np.empty(BLOCK_ROWS), np.empty(BLOCK_ROWS)
        for block in range(t, blocks, threads):
            start = block * BLOCK_ROWS
            size = min(BLOCK_ROWS, rows - start)
            _up(order, parent, prior, transition, emission, codes, start, size, lam, message, seen, total, product, log)
            for b in range(size):
                out[start + b] = log[b]


@parallel
def cell_posteriors(
    order: Any, parent: Any, prior: Any, transition: Any, emission: Any, levels: Any, codes: Any, threads: int,
    out: Any, log_likelihood: Any,
) -> None:  # fmt: skip
    """out[row, i, x] = p(x_i = x | the row's cells) for ``levels`` (n, X, K), the chances of levels that may be."""
    n, k, rows = len(order), len(prior), codes.shape[1]
    blocks = (rows + BLOCK_ROWS - 1) // BLOCK_ROWS
    for t in prange(threads):
        lam = np.empty((n, k, BLOCK_ROWS), dtype=prior.dtype)
        message = np.empty((n, k, BLOCK_ROWS), dtype=prior.dtype)
        belief = np.empty((n, k, BLOCK_ROWS), dtype=prior.dtype)
        seen = np.empty((emission.shape[2], BLOCK_ROWS), dtype=prior.dtype)
        chance = np.empty((levels.shape[1], BLOCK_ROWS), dtype=prior.dtype)
        total, ones = np.empty(BLOCK_ROWS, dtype=prior.dtype), np.ones(BLOCK_ROWS, dtype=prior.dtype)
        product, log = np.empty(BLOCK_ROWS), np.empty(BLOCK_ROWS)
        for block in range(t, blocks, threads):
            start = block * BLOCK_ROWS
            size = min(BLOCK_ROWS, rows - start)
            _up(order, parent, prior, transition, emission, codes, start, size, lam, message, seen, total, product, log)
            for b in range(size):
                log_likelihood[start + b] = log[b]
            _down_root(lam[order[0]], prior, total, ones, 0, size, belief[order[0]])
            for step in range(1, n):
                i = order[step]
                _down_edge(transition[i], lam[i], message[i], belief[parent[i]], belief[i])
            for i in range(n):
                _chances(emission[i], levels[i], codes[i], start, size, belief[i], chance, out[:, i])


@serial
def _chances(emission: Any, levels: Any, codes: Any, start: int, size: int, belief: Any, chance: Any, out: Any) -> None:
    """Chances of a node's levels where its cell is missing, else 1 for the level that is seen."""
    missing = emission.shape[1] - 1
    for z in range(belief.shape[0]):
        scale = 1 / emission[z, missing] if emission[z, missing] > 0 else 0
        for b in range(BLOCK_ROWS):
            belief[z, b] *= scale
    np.dot(levels, belief, chance)
    for b in range(size):
        x = codes[start + b]
        for y in range(levels.shape[0]):
            out[start + b, y] = chance[y, b] if x == missing else (1.0 if x == y else 0.0)


@parallel
def completions(
    order: Any, parent: Any, prior: Any, transition: Any, emission: Any, levels: Any, codes: Any, uniform: Any,
    threads: int, out: Any, log_likelihood: Any,
) -> None:  # fmt: skip
    """out[row] = the row's codes with missing cells drawn from their joint posterior, by ``uniform`` (rows, 2, n)."""
    n, k, rows = len(order), len(prior), codes.shape[1]
    blocks = (rows + BLOCK_ROWS - 1) // BLOCK_ROWS
    missing = emission.shape[2] - 1
    for t in prange(threads):
        lam = np.empty((n, k, BLOCK_ROWS), dtype=prior.dtype)
        message = np.empty((n, k, BLOCK_ROWS), dtype=prior.dtype)
        seen = np.empty((emission.shape[2], BLOCK_ROWS), dtype=prior.dtype)
        total = np.empty(BLOCK_ROWS, dtype=prior.dtype)
        product, log = np.empty(BLOCK_ROWS), np.empty(BLOCK_ROWS)
        state = np.empty(n, dtype=np.int64)
        for block in range(t, blocks, threads):
            start = block * BLOCK_ROWS
            size = min(BLOCK_ROWS, rows - start)
            _up(order, parent, prior, transition, emission, codes, start, size, lam, message, seen, total, product, log)
            for b in range(size):
                row = start + b
                log_likelihood[row] = log[b]
                for step in range(n):
                    i = order[step]
                    chance = prior if step == 0 else transition[i, state[parent[i]]]
                    state[i] = _drawn(chance, lam[i, :, b], uniform[row, 0, i])
                    x = codes[i, row]
                    out[row, i] = _drawn(levels[i, :, state[i]], seen[:0, 0], uniform[row, 1, i]) if x == missing else x


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
            left -= weight
            if left < 0:
                break
    return last


@parallel
def expected_counts(
    order: Any, parent: Any, prior: Any, transition: Any, emission: Any, codes: Any, weights: Any, threads: int,
    edges: Any, cells: Any, out: Any,
) -> None:  # fmt: skip
    """Expected counts under the posterior of the hidden nodes, one set per thread, zeroed here.

    ``edges[t, i, z, z']`` are those of (z of the parent, z' of i) divided by A_i[z, z'], and of the root's state in
    ``edges[t, root, 0]``; ``cells[t, i, z, x]`` those of state and observed level, missing cells in the last column.
    ``out[row]`` is the log-likelihood; a row that is impossible counts for nothing.
    """
    n, k, rows = len(order), len(prior), codes.shape[1]
    blocks = (rows + BLOCK_ROWS - 1) // BLOCK_ROWS
    for t in prange(threads):
        edges[t] = 0
        cells[t] = 0
        lam = np.empty((n, k, BLOCK_ROWS), dtype=prior.dtype)
        message = np.empty((n, k, BLOCK_ROWS), dtype=prior.dtype)
        belief = np.empty((n, k, BLOCK_ROWS), dtype=prior.dtype)
        seen = np.empty((emission.shape[2], BLOCK_ROWS), dtype=prior.dtype)
        pairs = np.empty((k, k), dtype=prior.dtype)
        levels = np.empty((k, emission.shape[2]), dtype=prior.dtype)
        total = np.empty(BLOCK_ROWS, dtype=prior.dtype)
        product, log = np.empty(BLOCK_ROWS), np.empty(BLOCK_ROWS)
        for block in range(t, blocks, threads):
            start = block * BLOCK_ROWS
            size = min(BLOCK_ROWS, rows - start)
            _up(order, parent, prior, transition, emission, codes, start, size, lam, message, seen, total, product, log)
            for b in range(size):
                out[start + b] = log[b]
            root = order[0]
            _down_root(lam[root], prior, total, weights, start, size, belief[root])
            for z in range(k):
                edges[t, root, 0, z] += belief[root, z].sum()
            for step in range(1, n):
                i = order[step]
                _down_edge(transition[i], lam[i], message[i], belief[parent[i]], belief[i])
                np.dot(message[i], lam[i].T, pairs)
                edges[t, i] += pairs
            for i in range(n):
                _indicators(codes[i], start, size, seen)
                np.dot(belief[i], seen.T, levels)
                cells[t, i] += levels
