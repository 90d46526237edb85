"""One fused step against the memory it must move: ``python benchmarks/bench_step.py [--n 20 24 27] [--json FILE]``.

A step updates eta along one term and compares every candidate with the data. If it moved the table at once it would
read eta and d and write eta, 12 bytes per state in single precision. Beside it runs a loop over these bytes that does
nothing else, ``a[i] = a[i] * c + b[i]``, and a plain copy. Large tables make several moves in one pass over the memory,
so runs of consecutive steps are timed, along random terms of order 1 to 4 and back, and divided by their number. The
table is in the middle of a search: half of the data's dependencies have been appended, each the best of its scan. Runs
and loops, and the sizes of table, take turns, so that a machine that others use slows all alike; medians over runs.
"""

from __future__ import annotations

import argparse
import math
import statistics
from pathlib import Path
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray
from report import seconds, table, write

from fullspan.engine.dual.table import DualTable
from fullspan.learn.search import line
from fullspan.learn.search.penalty import prices
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.algebra.jit import parallel

N_ROWS = 100_000
RUN = 8
"""Terms of a run of steps: there, and back in the same order."""
MIXED = {"3^13": (3,) * 13, "5^8": (5,) * 8, "2^10 3^6": (2,) * 10 + (3,) * 6, "3^6 2^10": (3,) * 6 + (2,) * 10}


@parallel
def rmw_pass(a: NDArray[Any], b: NDArray[Any], c: Any) -> None:
    """Read two tables, write one: the bytes of a step."""
    for i in prange(a.size):
        a[i] = a[i] * c + b[i]


@parallel
def copy_pass(a: NDArray[Any], b: NDArray[Any]) -> None:
    for i in prange(a.size):
        a[i] = b[i]


class Stepper:
    """A table with data in it, moved along random terms and back."""

    def __init__(self, cards: tuple[int, ...], rng: np.random.Generator) -> None:
        self.cards, self.rng = cards, rng
        self.basis = Basis("walsh", cards)
        self.table = DualTable(self.basis, np.float32)
        codes = self._rows()
        index = (codes * np.array(self.basis.strides)).sum(axis=1)
        states, counts = np.unique(index, return_counts=True)
        self.table.set_data(states, counts.astype(np.float64))
        self.table.set_prices(prices(cards, N_ROWS, "mdl", None))
        self.floor = 0.9 * self._appended(len(cards) // 2)

    def _rows(self) -> NDArray[np.int64]:
        """Each variable follows an earlier one with probability 0.4, and is random otherwise."""
        codes = self.rng.integers(self.cards, size=(N_ROWS, len(self.cards)))
        for i in range(1, len(self.cards)):
            follows = self.rng.random(N_ROWS) < 0.4
            codes[follows, i] = codes[follows, self.rng.integers(i)] % self.cards[i]
        return codes

    def _appended(self, n_terms: int) -> float:
        """Append the best term of each scan, ``n_terms`` times; the net gain of the next one."""
        best = self.table.scan()
        for _ in range(n_terms):
            y = best.indices[:1]
            delta = line.step_to(self.table.eta_at(y), self.table.d_at(y), False)
            best = self.table.move(int(y[0]), float(delta[0]))
        return float(best.gains[0])

    def term(self) -> Term:
        """A random term of order 1 to 4."""
        chosen = sorted(self.rng.choice(len(self.cards), size=self.rng.integers(1, 5), replace=False))
        return tuple((int(i), int(self.rng.integers(1, self.cards[i]))) for i in chosen)

    def step(self, index: int, delta: float) -> None:
        """One fused step, with a floor a tenth below the best candidate, as the search has it."""
        self.table.move(index, delta, self.floor)

    def time(self) -> float:
        """Seconds of a step: the mean of a run along random terms and back."""
        indices = [self.basis.index(self.term()) for _ in range(RUN)]
        return seconds(lambda: [self.step(y, delta) for delta in (0.02, -0.02) for y in indices]) / (2 * RUN)


class Memory:
    """A binary table of 2^n states: steps, passes and copies in turns."""

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.n, self.stepper = n, Stepper((2,) * n, rng)
        self.stepper.time()
        assert self.stepper.table.d is not None
        self.d = self.stepper.table.d
        self.a = self.stepper.table.eta.copy()  # the pass and the copy write here
        self.steps: list[float] = []
        self.passes: list[float] = []
        self.copies: list[float] = []

    def round(self) -> None:
        """A run of steps, the pass and the copy; in a cache warm as in a search, where the table fits one."""
        same = np.float32(1)
        if self.n <= 22:
            self.stepper.time()
        self.steps.append(self.stepper.time())
        self.passes.append(statistics.median(seconds(lambda: rmw_pass(self.a, self.d, same)) for _ in range(4)))
        self.copies.append(statistics.median(seconds(lambda: copy_pass(self.a, self.d)) for _ in range(4)))

    def row(self) -> dict[str, Any]:
        step, plain = statistics.median(self.steps), statistics.median(self.passes)
        return {
            "n": self.n,
            "step_ms": 1e3 * step,
            "pass_ms": 1e3 * plain,
            "ratio": step / plain,
            "mean_ratio": statistics.mean(self.steps) / statistics.mean(self.passes),
            "copy_GB_s": 8 * 2**self.n / statistics.median(self.copies) / 1e9,
            "ns_per_state": 1e9 * step / 2**self.n,
        }


def against_memory(sizes: list[int], n_runs: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Tables of all sizes, a run each at a time."""
    tables = [Memory(n, rng) for n in sizes]
    for _ in range(n_runs):
        for each in tables:
            each.round()
    return [each.row() for each in tables]


def flatness(ns: list[float]) -> dict[str, float]:
    """How far the time per state strays from that of the first size, and the slowest size over the fastest."""
    return {"least": min(ns) / ns[0], "most": max(ns) / ns[0], "spread": max(ns) / min(ns)}


def against_binary(name: str, cards: tuple[int, ...], n_runs: int, rng: np.random.Generator) -> dict[str, Any]:
    """Time per state of mixed cardinalities over that of the nearest power of two, steps in turns."""
    size = math.prod(cards)
    n = round(math.log2(size))
    mixed, binary = Stepper(cards, rng), Stepper((2,) * n, rng)
    for stepper in (mixed, binary):
        stepper.time()
    per_state: dict[str, list[float]] = {"mixed": [], "binary": []}
    for _ in range(n_runs):
        per_state["mixed"].append(mixed.time() / size)
        per_state["binary"].append(binary.time() / 2**n)
    a, b = statistics.median(per_state["mixed"]), statistics.median(per_state["binary"])
    return {"space": name, "states": size, "against": f"2^{n}", "ns": 1e9 * a, "binary_ns": 1e9 * b, "ratio": a / b}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[20, 22, 24, 26, 27, 28])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    binary = against_memory(options.n, options.runs, rng)
    table(
        "One fused step, float32, against a read-modify-write pass over the same bytes (target: ratio <= 2.5)", binary
    )
    flat = flatness([row["ns_per_state"] for row in binary])
    print("time per state, slowest over fastest n: {spread:.2f} (target: <= 1.5);".format(**flat))
    print("over that of the smallest n: {least:.2f} to {most:.2f}".format(**flat))
    mixed = [against_binary(name, cards, options.runs, rng) for name, cards in MIXED.items()]
    table("Time per state and step against the binary table of nearest size (target: ratio <= 4)", mixed)
    write(options.json, {"binary": binary, "flat": flat, "mixed": mixed})


if __name__ == "__main__":
    main()
