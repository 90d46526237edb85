"""The passes on trees of hidden nodes in NumPy: the readable form of :mod:`.passes`, and what serves few rows.

The functions take the arrays of their twins in ``passes`` and fill the same outputs; all rows are passed together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullspan.engine.elimination.trees.passes import Arrays

_LEAST_PRODUCT = 1e-150
"""The product of scales is moved to its logarithm when it falls below."""


def _up(tree: Arrays, codes: Any) -> tuple[Any, Any, Any, Any]:
    """Messages lam and m (n, K, rows), 1 / (pi . lam) at the root, and the log-likelihoods of the rows."""
    order, parent, prior, transition, emission = tree
    lam = np.empty((*emission.shape[:2], codes.shape[1]), dtype=prior.dtype)
    for i in range(len(order)):
        np.take(emission[i], codes[i], axis=1, out=lam[i])
    message, log, product = np.empty_like(lam), np.zeros(codes.shape[1]), np.ones(codes.shape[1])
    with np.errstate(divide="ignore"):
        for i in order[:0:-1]:
            np.dot(transition[i], lam[i], out=message[i])
            above = lam[parent[i]]
            above *= message[i]
            total = above.sum(axis=0)
            product *= total
            above *= _inverse(total)
            if product.min() < _LEAST_PRODUCT:
                log += np.log(product)
                product[:] = 1.0
        total = prior @ lam[order[0]]
        log += np.log(product * total)
    return lam, message, _inverse(total), log


def _inverse(total: Any) -> Any:
    """1 / total, 0 for 0."""
    return np.divide(1, total, out=np.zeros_like(total), where=total > 0)


def _down(tree: Arrays, lam: Any, message: Any, scale: Any) -> Any:
    """Beliefs (n, K, rows) of all nodes; ``message`` becomes the parent's belief divided by it, 0 for 0."""
    order, parent, prior, transition, _ = tree
    belief, root = np.empty_like(lam), order[0]
    belief[root] = prior[:, None] * lam[root] * scale
    for i in order[1:]:
        message[i] = np.divide(belief[parent[i]], message[i], out=np.zeros_like(message[i]), where=message[i] > 0)
        belief[i] = (transition[i].T @ message[i]) * lam[i]
    return belief


def log_likelihoods(tree: Arrays, codes: Any, threads: int, out: Any) -> None:
    """out[row] = log p(x_row), −inf where it is zero."""
    out[:] = _up(tree, codes)[-1]


def cell_posteriors(tree: Arrays, levels: Any, codes: Any, threads: int, out: Any, log_likelihood: Any) -> None:
    """out[row, i, x] = p(x_i = x | the row's cells) for ``levels`` (n, X, K), the chances of levels that may be."""
    emission = tree.emission
    lam, message, scale, log_likelihood[:] = _up(tree, codes)
    belief = _down(tree, lam, message, scale)
    missing, level = emission.shape[2] - 1, np.arange(levels.shape[1])
    for i in range(len(tree.order)):
        chance = levels[i] @ (belief[i] * _inverse(emission[i, :, missing])[:, None])
        out[:, i] = np.where(codes[i][:, None] == missing, chance.T, codes[i][:, None] == level)


def expected_counts(tree: Arrays, codes: Any, weights: Any, threads: int, edges: Any, cells: Any, out: Any) -> None:
    """Expected counts under the posterior of the hidden nodes, all in the first of the sets; see the twin."""
    order = tree.order
    lam, message, scale, out[:] = _up(tree, codes)
    belief = _down(tree, lam, message, scale * weights)
    edges[:], cells[:] = 0, 0
    edges[0, order[0], 0] = belief[order[0]].sum(axis=1)
    for i in order[1:]:
        edges[0, i] = message[i] @ lam[i].T
    level = np.arange(tree.emission.shape[2])
    for i in range(len(order)):
        cells[0, i] = belief[i] @ (codes[i][:, None] == level).astype(belief.dtype)
