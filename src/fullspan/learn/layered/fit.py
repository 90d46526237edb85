"""Fit a layered machine: epochs, checks on rows held out, and the end, good or bad.

Learning ends after all epochs, when rows held out are no longer explained better, when a person interrupts it, or when
it diverges: a parameter is no longer finite, or rows are rebuilt from their hidden units far worse than independent
units would. Then the parameters of the last epoch before that are kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.sampling.layers.device import Device, device
from fullspan.engine.sampling.layers.likelihood import log_partition, log_weights, mean_field
from fullspan.engine.sampling.layers.network import Network
from fullspan.learn.base.progress import STOPPED, History, Watch
from fullspan.learn.layered.options import LayerOptions
from fullspan.learn.layered.train import Rows, Trainer
from fullspan.model.layered import LayeredMachine
from fullspan.model.record import Step
from fullspan.model.units import OPEN, Units

CHECKED_STATES = 1 << 14
"""States up to which a check of the likelihood is exact."""
_INPUT_DEVIATION = 0.3
"""Standard deviation of what the first random weights send to a unit if all units below are on."""
_DIVERGED_FACTOR = 2.0
"""Factor on the independent units' code length above which rebuilt rows mean divergence, plus one nat per row."""


CHECK_CHAINS, CHECK_STEPS = 100, 300
"""Chains and temperatures of the estimate of log Z in a check of rows held out, where it is not exact."""


@dataclass(frozen=True)
class Data:
    """Rows of units with −1 for missing ones, and their weights."""

    units: NDArray[np.int8]
    weights: NDArray[np.float64]

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())


@dataclass
class Course:
    """How learning went."""

    history: list[Step] = field(default_factory=list)
    curve: list[tuple[int, float, float]] = field(default_factory=list)
    status: str = "epoch limit"
    n_epochs: int = 0


def first_machine(units: Units, sizes: tuple[int, ...], data: Data, rng: np.random.Generator) -> LayeredMachine:
    """A machine at the base rates of the data, with small random weights."""
    base = base_rates(units, data)
    shapes = [units.count, *sizes]
    weights = tuple(rng.normal(0.0, _INPUT_DEVIATION / math.sqrt(a), (a, b)) for a, b in pairwise(shapes))
    return LayeredMachine(units.space, (base, *(np.zeros(n) for n in sizes)), weights, base)


def base_rates(units: Units, data: Data) -> NDArray[np.float64]:
    """Log odds of single units, log probabilities in groups, of the observed cells with one row spread evenly."""
    known = data.units != OPEN
    w = data.weights[:, None]
    seen = (w * known).sum(axis=0)
    on = (w * (data.units == 1)).sum(axis=0)
    base = np.empty(units.count)
    for start, stop, size in units.blocks:
        part = slice(start, stop)
        if size == 1:
            # One row spread evenly, so that a column with one value has a finite bias.
            p = (on[part] + 0.5) / (seen[part] + 1.0)
            base[part] = np.log(p) - np.log1p(-p)
        else:
            base[part] = np.log((on[part] + 1.0 / size) / (seen[part] + 1.0))
    return base


def train(
    machine: LayeredMachine,
    data: Data,
    held_out: Data | None,
    options: LayerOptions,
    on: Device,
    rng: np.random.Generator,
    watch: Watch | None = None,
    trainer: Trainer | None = None,
) -> tuple[LayeredMachine, Course, Trainer]:
    """Learn from a machine on; ``held_out`` rows decide when it ends, and which epoch is kept."""
    trainer = trainer or Trainer.start(machine, options, on, rng)
    rows, course = Rows.of(data.units, data.weights, on), Course()
    history, good = History(watch), trainer.network.copy()
    course.history = history.steps
    best, best_score, waited = good, -math.inf, 0
    limit = divergence_limit(machine, data.units)
    try:
        for epoch in range(options.max_iter):
            rate = options.learning_rate * (1 - epoch / options.max_iter if options.decay else 1.0)
            trainer.epoch(rows, rate)
            cost = rebuilding(trainer.network, data.units[: 10 * options.batch_size])
            if not cost <= limit:
                course.status = "diverged"
                break
            good, course.n_epochs = trainer.network.copy(), epoch + 1
            words = f"of {options.max_iter}  {machine.n_parameters:,} parameters  rebuilding {cost:.5f} nats/row"
            history.record(f"epoch {epoch + 1}", machine.n_parameters, cost, words)
            if held_out is not None:
                score, error = _score(good.machine(machine.space, machine.base), held_out, on)
                course.curve.append((epoch + 1, score, error))
                waited = 0 if score > best_score + options.tol else waited + 1
                if score > best_score:
                    best, best_score = good, score
                if waited >= options.patience:
                    course.status = "converged"
                    break
    except STOPPED:
        course.status = "interrupted"
    kept = best if held_out is not None and course.curve else good
    own = kept.copy()
    trainer.network.biases[:], trainer.network.weights[:] = own.biases, own.weights
    return kept.machine(machine.space, machine.base), course, trainer


def _score(machine: LayeredMachine, held_out: Data, on: Device) -> tuple[float, float]:
    """Mean log-likelihood of complete rows held out (its lower bound for a deep machine), and log Z's error."""
    z = log_partition(machine, "auto", on, CHECK_CHAINS, CHECK_STEPS, CHECKED_STATES)
    complete = (held_out.units != OPEN).all(axis=1)
    w = held_out.weights[complete]
    return float(w @ log_weights(machine, held_out.units[complete], on) / w.sum()) - z.value, z.standard_error


def divergence_limit(machine: LayeredMachine, units: NDArray[np.int8]) -> float:
    """Code length in nats per row beyond which learning has diverged: twice that of independent units, plus one."""
    alone = LayeredMachine(
        machine.space,
        (machine.rates, *(0 * b for b in machine.biases[1:])),
        tuple(0 * w for w in machine.weights),
    )
    network = Network.of(alone, device("cpu", "float64", np.random.default_rng(0)))
    return _DIVERGED_FACTOR * rebuilding(network, units[:1000]) + 1.0


def rebuilding(network: Network, units: NDArray[np.int8]) -> float:
    """Nats per row to code the visible units given the expected hidden ones; not finite if a parameter is not."""
    on, xp = network.device, network.device.xp
    x = on.array(np.maximum(units, 0))
    known = on.array(units != OPEN)
    means = mean_field(network, x, 1).means
    raw = network.raw(0, means)
    inputs = raw + network.biases[0]
    total: Any = 0.0
    for start, stop, size in network.blocks[0]:
        a, b, k = inputs[:, start:stop], x[:, start:stop], known[:, start:stop]
        if size == 1:
            softplus = xp.log1p(xp.exp(-xp.abs(a))) + xp.maximum(a, a * 0)
            total = total + float(xp.sum((softplus - a * b) * k))
        else:
            shape = (a.shape[0], a.shape[1] // size, size)
            a, b, k = (xp.reshape(v, shape) for v in (a, b, k))
            top = xp.max(a, axis=2, keepdims=True)
            log_sum = xp.log(xp.sum(xp.exp(a - top), axis=2)) + top[:, :, 0]
            total = total + float(xp.sum((log_sum - xp.sum(a * b, axis=2)) * k[:, :, 0]))
    finite = all(math.isfinite(float(xp.sum(xp.abs(p)))) for p in (*network.biases, *network.weights))
    return total / len(units) if finite else math.inf
