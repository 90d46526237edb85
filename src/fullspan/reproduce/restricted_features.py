"""Restricted machines on small samples of bits: the features by which Sugiyama, Tsuda and Nakahara tell samples apart.

    f_i = |b_i| + sum_j |W_ij|

Learned by persistent contrastive divergence with one sweep and batches of 20 rows; only so many weights, chosen at
random, are not zero.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.layers.device import device
from fullspan.errors import FullspanError
from fullspan.learn.layers.fit import Data, first_machine
from fullspan.learn.layers.options import LayerOptions
from fullspan.learn.layers.train import Rows, Trainer
from fullspan.model.units import Units
from fullspan.space import Space

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
    mask = np.zeros(d * hidden)
    mask[rng.choice(d * hidden, n_weights, replace=False)] = 1.0
    on = device("cpu", "float32", rng)
    data = Data(rows.astype(np.int8), np.ones(len(rows)))
    options = LayerOptions(gradient="plain", batch_size=BATCH, momentum=0.0)
    trainer = Trainer.start(first_machine(Units(Space.of_cards((2,) * d)), (hidden,), data, rng), options, on, rng)
    trainer.ascent.masks = [on.array(mask.reshape(d, hidden))]
    on_device, batches = Rows.of(data.units, None, on), math.ceil(len(rows) / BATCH)
    epochs = math.ceil(steps / batches)
    for epoch in range(epochs):
        trainer.epoch(on_device, RATE * (1 - epoch / epochs))
    biases, weights = trainer.network.biases[0], trainer.network.weights[0]
    return np.abs(biases).astype(np.float64) + np.abs(weights).sum(axis=1), time.perf_counter() - started
