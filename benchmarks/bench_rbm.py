"""Restricted Boltzmann machines: ``python benchmarks/bench_rbm.py [--device cuda] [--data FILE] [--uai FOLDER]``.

An epoch of 10,000 rows, 784 visible and 256 hidden units in batches of 100, against scikit-learn's BernoulliRBM with
the same numbers (persistent chains, one sweep), and the likelihood of 1,000 rows held out after the same number of
epochs, by annealing for both. ``--data`` is an .npz file with packed bits ``bits_gt05`` of 784 pixels; without one,
rows are noisy prototypes. ``--uai`` is a folder with ``DBN_*.uai``: exact log Z of each, and how often annealing
holds it. On the processor it needs what the package needs. With ``--device cuda`` it needs Python 3.11, NumPy 2.1 and
either CuPy or PyTorch with array-api-compat, and nothing else: ``PYTHONPATH=src python benchmarks/bench_rbm.py
--device cuda``.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from report import in_turns, table, write

from fullspan.data.space import Space
from fullspan.engine.sampling.layers.device import device
from fullspan.engine.sampling.layers.likelihood import log_partition, log_weights
from fullspan.learn.layered.fit import Data, first_machine
from fullspan.learn.layered.options import LayerOptions
from fullspan.learn.layered.train import Rows, Trainer
from fullspan.model.layered import LayeredMachine
from fullspan.model.units import Units

N_ROWS, N_VISIBLE, N_HIDDEN, BATCH, RATE = 10_000, 784, 256, 100, 0.1
SKLEARN_RATES = (0.1, 0.05, 0.02)
"""Rates tried for scikit-learn, of which the best likelihood counts."""


def rows_of(path: Path | None, rng: np.random.Generator) -> NDArray[np.int8]:
    """(10,000, 784) bits."""
    if path is not None:
        return np.unpackbits(np.load(path)["bits_gt05"], axis=1)[:N_ROWS, :N_VISIBLE].astype(np.int8)
    prototypes = rng.random((20, N_VISIBLE)) < 0.15
    chosen = prototypes[rng.integers(20, size=N_ROWS)]
    return (chosen ^ (rng.random(chosen.shape) < 0.03)).astype(np.int8)


class Ours:
    """A machine while it is learned by persistent chains and centred gradients."""

    def __init__(self, rows: NDArray[np.int8], where: str, epochs: int, hidden: int) -> None:
        self.rng = np.random.default_rng(0)
        self.on = device(where, "float32", self.rng)
        self.units, self.epochs, self.done = Units(Space.of_cards((2,) * rows.shape[1])), epochs, 0
        start = first_machine(self.units, (hidden,), Data(rows, np.ones(len(rows))), self.rng)
        self.start = start
        self.trainer = Trainer.start(start, LayerOptions(batch_size=BATCH), self.on, self.rng)
        self.rows = Rows.of(rows, None, self.on)

    def epoch(self) -> None:
        self.trainer.epoch(self.rows, RATE * max(1 - self.done / self.epochs, 0.0))
        self.done += 1

    def machine(self) -> LayeredMachine:
        return self.trainer.network.machine(self.units.space, self.start.base)


def likelihood(machine: LayeredMachine, rows: NDArray[np.int8], where: str, steps: int) -> tuple[float, float]:
    """Mean log-likelihood of rows with log Z by annealing, and its standard error."""
    rng = np.random.default_rng(1)
    on = device(where, "float32", rng)
    z = log_partition(machine, "ais", on, 200, steps)
    return float(log_weights(machine, rows, on).mean()) - z.value, z.standard_error


def sklearn_machine(
    rows: NDArray[np.int8], epochs: int, rate: float, base: NDArray[np.float64], hidden: int
) -> LayeredMachine:
    from sklearn.neural_network import BernoulliRBM

    rbm = BernoulliRBM(hidden, learning_rate=rate, batch_size=BATCH, n_iter=epochs, random_state=0)
    rbm.fit(rows.astype(np.float32))
    biases = (rbm.intercept_visible_, rbm.intercept_hidden_)
    return LayeredMachine(Space.of_cards((2,) * rows.shape[1]), biases, (rbm.components_.T,), base)


def speed(rows: NDArray[np.int8], repeats: int, hidden: int) -> list[dict[str, Any]]:
    """Seconds per epoch in turns, against scikit-learn in both precisions."""
    from sklearn.neural_network import BernoulliRBM

    ours = Ours(rows, "cpu", 10**6, hidden)
    ours.epoch()
    peers = {name: rows.astype(name) for name in ("float64", "float32")}

    def peer(name: str) -> None:
        BernoulliRBM(hidden, learning_rate=0.05, batch_size=BATCH, n_iter=1, random_state=0).fit(peers[name])

    times = in_turns(
        {"fullspan": ours.epoch, "float64": lambda: peer("float64"), "float32": lambda: peer("float32")}, repeats
    )
    result = [{"epoch by": "fullspan, float32", "seconds": times["fullspan"], "times fullspan": 1.0}]
    for name in peers:
        ratio = times[name] / times["fullspan"]
        result.append({"epoch by": f"BernoulliRBM, {name}", "seconds": times[name], "times fullspan": ratio})
    return result


def quality(rows: NDArray[np.int8], where: str, epochs: int, steps: int, hidden: int) -> list[dict[str, Any]]:
    """Likelihood of the rows held out after the same epochs."""
    train, test = rows[:-1000], rows[-1000:]
    ours = Ours(train, where, epochs, hidden)
    ours.epoch()  # with the first launch or compilation of every kernel
    started = time.perf_counter()
    for _ in range(epochs - 1):
        ours.epoch()
    per_epoch = (time.perf_counter() - started) / max(epochs - 1, 1)
    score, error = likelihood(ours.machine(), test, where, steps)
    name = f"fullspan, {ours.on.name}"
    result = [
        {
            "machine": name,
            "epochs": epochs,
            "s/epoch": per_epoch,
            "test log-likelihood": f"{score:.2f}",
            "error": error,
        }
    ]
    if where == "cpu":
        for rate in SKLEARN_RATES:
            machine = sklearn_machine(train, epochs, rate, ours.start.rates, hidden)
            score, error = likelihood(machine, test, where, steps)
            row = {"machine": f"BernoulliRBM, rate {rate:g}", "epochs": epochs, "s/epoch": ""}
            result.append({**row, "test log-likelihood": f"{score:.2f}", "error": error})
    return result


def coverage(folder: Path, chains: int, steps: int) -> list[dict[str, Any]]:
    """Exact log Z of published machines, and in how many of 20 seeded runs annealing's 95 % interval holds it."""
    from fullspan.engine.sampling.blocks import colouring
    from fullspan.engine.sampling.choose import pairwise_of
    from fullspan.engine.sampling.layers.annealing import annealed_log_z
    from fullspan.engine.sampling.layers.likelihood import log_z
    from fullspan.model.files.networks.uai import read_uai

    result = []
    for path in sorted(folder.glob("DBN_*.uai")):
        pairs = pairwise_of(read_uai(path))
        assert pairs is not None
        first, second = (np.flatnonzero(colouring(pairs.coupling) == k) for k in (0, 1))
        weights = pairs.coupling[np.ix_(first, second)]
        space = Space.of_cards((2,) * len(first))
        machine = LayeredMachine(space, (pairs.bias[first], pairs.bias[second]), (weights,))
        started = time.perf_counter()
        truth = log_z(machine).value
        exact_seconds = time.perf_counter() - started
        runs = [
            annealed_log_z(machine, device("cpu", "float64", np.random.default_rng(seed)), chains, steps)
            for seed in range(20)
        ]
        inside = sum(low <= truth <= high for low, high in (run.interval() for run in runs))
        row = {
            "model": path.stem,
            "units": "x".join(map(str, machine.sizes)),
            "log Z": f"{truth + pairs.constant:.12g}",
        }
        errors = statistics.median(run.standard_error for run in runs)
        result.append({**row, "seconds": exact_seconds, "AIS holds it": f"{inside} of 20", "median error": errors})
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--uai", type=Path)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--hidden", type=int, default=N_HIDDEN)
    parser.add_argument("--ais-steps", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = rows_of(arguments.data, np.random.default_rng(5))
    results: dict[str, Any] = {"python": sys.version.split()[0], "numpy": np.__version__}
    if arguments.device == "cpu":
        results["speed"] = speed(rows, arguments.repeats, arguments.hidden)
        table(
            f"an epoch of {len(rows):,} rows, {N_VISIBLE} visible, {arguments.hidden} hidden, batches of {BATCH}",
            results["speed"],
        )
    results["quality"] = quality(rows, arguments.device, arguments.epochs, arguments.ais_steps, arguments.hidden)
    table("1,000 rows held out, log Z by annealing", results["quality"])
    if arguments.uai is not None:
        results["coverage"] = coverage(arguments.uai, 200, 5000)
        table("published restricted machines", results["coverage"])
    write(arguments.json, results)


if __name__ == "__main__":
    main()
