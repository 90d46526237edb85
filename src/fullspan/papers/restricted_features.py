"""Restricted machines on small samples of bits: the features by which Sugiyama, Tsuda and Nakahara tell samples apart.

    f_i = |b_i| + sum_j |W_ij|

Learned by persistent contrastive divergence with one sweep and batches of 20 rows; a given number of weights,
chosen at random, are not zero.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from fullspan.errors import FullspanError
from fullspan.learn.contrastive.sparse_pairs import SparsePairs

BATCH, RATE = 20, 0.05
PUBLISHED_STEPS = 10_000


def restricted_features(
    rows: NDArray[np.uint8], n_weights: int, steps: int = PUBLISHED_STEPS, seed: int = 0
) -> tuple[NDArray[np.float64], float]:
    """Features (d,) of the machine of rows (m, d) of bits, and the seconds it took.

    ``n_weights`` of the weights between the d bits and ⌈n_weights / d⌉ hidden units are learned; the seed chooses them,
    and machines of several samples with one seed have the same ones.

    Raises
    ------
    FullspanError : fewer than one weight or step.
    """
    if n_weights < 1 or steps < 1:
        raise FullspanError(f"{n_weights} weights and {steps} steps were asked for; at least 1 of each is needed")
    started = time.perf_counter()
    d = rows.shape[1]
    hidden = math.ceil(n_weights / d)
    rng = np.random.default_rng(seed)
    bit, unit = np.divmod(np.sort(rng.choice(d * hidden, n_weights, replace=False)), hidden)
    machine = SparsePairs(d, d + hidden, np.ones(d + hidden, dtype=np.bool_), bit, d + unit)
    biases, weights = machine.ascend(rows, RATE, steps, BATCH, rng)
    features = np.abs(biases[:d])
    np.add.at(features, bit, np.abs(weights))
    return features, time.perf_counter() - started
