"""Truncated machines: ``python benchmarks/bench_truncated.py --data FOLDER [--json FILE]``.

Needs a folder with ``mnist10k_bin.npz`` and ``groceries_bits.npz`` somewhere below it; by default the one next to the
project, and without it nothing is measured.

* training on 100 digits, to a largest difference of expectations below 1e-8, against 10,000 steps of the published
  gradient descent on the same model matrix, in CPU time;
* 100,000 weights: time and peak memory of a process of its own;
* mining pairs of 10,000 x 784 bits, and patterns up to order 4 of the baskets, in CPU time;
* on all states, the largest difference from the exact machine.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from report import table, write
from threadpoolctl import threadpool_limits

from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.learn.likelihood.machine import fit_machine
from fullspan.learn.likelihood.options import MachineOptions
from fullspan.learn.truncated.domain import random_pairs
from fullspan.learn.truncated.fit import TruncatedOptions, Truncation, fit_truncated
from fullspan.learn.truncated.mining import frequent_patterns
from fullspan.learn.truncated.train import train

PIXELS = 784


def bits(folder: Path, name: str, key: str, n: int | None = None) -> NDArray[np.uint8]:
    """Unpacked rows of a file below the folder."""
    with np.load(next(folder.rglob(name))) as held:
        return np.unpackbits(held[key], axis=1)[:, : n or int(held["n"])]


def digits(folder: Path, seed: int = 0) -> Empirical:
    """100 rows of the digit 3."""
    with np.load(next(folder.rglob("mnist10k_bin.npz"))) as held:
        pixels, labels = np.unpackbits(held["bits_gt0"], axis=1)[:, :PIXELS], held["labels"]
    rows = np.random.default_rng(seed).choice(np.flatnonzero(labels == 3), 100, replace=False)
    return Empirical.from_codes(pixels[rows], space=Space.of_cards((2,) * PIXELS))


def cpu(action: Callable[[], object], times: int) -> float:
    """CPU seconds of one call, the least of three means over some calls: short ones drown in a busy machine's waits."""
    means = []
    for _ in range(3):
        began = time.process_time()
        for _ in range(times):
            action()
        means.append((time.process_time() - began) / times)
    return min(means)


def training(folder: Path) -> list[dict[str, Any]]:
    """Three methods of choosing 1,000 patterns."""
    data, rows = digits(folder), []
    drawn = random_pairs(data.space, 1000, np.random.default_rng(0))
    frequent = frequent_patterns(data.states, data.counts, data.space.cards, 70, 2)
    domains = {
        "784 biases, 216 pairs": (*drawn[:PIXELS], *drawn[PIXELS : PIXELS + 216]),
        "1,000 pairs": tuple(drawn[PIXELS:]),
        "most frequent 1,000": tuple(sorted(frequent[:1000], key=len)),
    }
    for name, terms in domains.items():
        t = Truncation.of(data, terms)
        train(t.engine, t.q, "gradient", max_iter=10)
        times = {"ours": cpu(lambda t=t: train(t.engine, t.q), 20)}  # type: ignore[misc]
        times["descent"] = cpu(lambda t=t: train(t.engine, t.q, "gradient", tol=1e-300), 1)  # type: ignore[misc]
        ours, theirs = train(t.engine, t.q).solution, train(t.engine, t.q, "gradient", tol=1e-300).solution
        rows.append(
            {
                "patterns": name,
                "|B|": len(terms),
                "CPU ms": 1e3 * times["ours"],
                "descent CPU ms": 1e3 * times["descent"],
                "ratio": times["descent"] / times["ours"],
                "left": ours.violation,
                "descent left": theirs.violation,
            }
        )
    return rows


def large(folder: Path, pairs: int = 100_000) -> dict[str, Any]:
    """A whole fit with a number of random pairs, in this process."""
    data = digits(folder)
    began = time.perf_counter()
    fitted = fit_truncated(data, TruncatedOptions(n_pairs=pairs, seed=0))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "|B|": len(fitted.model.terms),
        "seconds": time.perf_counter() - began,
        "peak GiB": peak,
        "left": fitted.settings["violation"],
    }


def mining(folder: Path) -> list[dict[str, Any]]:
    """CPU time of the second run, when everything is compiled."""
    pixels, baskets = bits(folder, "mnist10k_bin.npz", "bits_gt0", PIXELS), bits(folder, "groceries_bits.npz", "bits")
    rows = []
    for name, states, support, order in (
        ("10,000 x 784 digits", pixels, 0.1, 2),
        ("9,835 baskets", baskets, 0.01, 4),
        ("9,835 baskets", baskets, 0.001, 4),
    ):
        found: list[Any] = []
        for _ in range(2):
            began = time.process_time()
            found = frequent_patterns(
                states, np.ones(len(states)), (2,) * states.shape[1], support * len(states), order
            )
            spent = time.process_time() - began
        rows.append({"data": name, "support": support, "order": order, "patterns": len(found), "CPU s": spent})
    return rows


def agreement(n: int = 10) -> list[dict[str, Any]]:
    """All pairs of n variables on all states: the largest difference of a log-probability."""
    rng = np.random.default_rng(0)
    rows = (rng.random((2000, n)) < 0.2 + 0.6 * rng.random(n)).astype(np.int64)
    data = Empirical.from_codes(rows)
    names = data.space.names
    terms = [[a] for a in names] + [[a, b] for i, a in enumerate(names) for b in names[i + 1 :]]
    exact = fit_machine(data, MachineOptions(tol=1e-13)).model
    ours = fit_truncated(data, TruncatedOptions(patterns=terms, states="all", tol=1e-13)).model
    every = data.space.states(np.arange(data.space.n_states))
    difference = float(np.abs(exact.log_prob(every) - ours.log_prob(every)).max())
    return [{"variables": n, "states": data.space.n_states, "weights": len(terms), "difference": difference}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--large", action="store_true", help="only the fit of 100,000 weights, in this process")
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"no folder {options.data}: nothing to measure; give --data")
        return
    if options.large:
        table("100,000 weights", [large(options.data)])
        return
    with threadpool_limits(limits=1, user_api="blas"):
        found = {"training": training(options.data), "mining": mining(options.data), "agreement": agreement()}
    for title, rows in found.items():
        table(title, rows)
    sys.stdout.flush()
    subprocess.run([sys.executable, __file__, "--large", "--data", str(options.data)], check=True)
    write(options.json, found)


if __name__ == "__main__":
    main()
