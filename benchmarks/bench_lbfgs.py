"""Against an exact Boltzmann machine by L-BFGS: ``python benchmarks/bench_lbfgs.py [--seeds 100] [--json FILE]``.

On each data set of the full-span paper's Table 1 five whole fits, from counts to model, take turns:

* the published search (``search="paper"``) and the default search, each in the Walsh basis and with the basis chosen,
* an exact pairwise Boltzmann machine (n (n+1) / 2 weights, no penalty: the paper's BM-DI), fitted by SciPy's L-BFGS-B.
  Each of its evaluations is a fast Walsh-Hadamard transform to the energies, an exponential, and a transform back to
  the expectations, in NumPy, float64, in place, with no allocation but one half-table of scratch. ``gtol`` 1e-5.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

import numpy as np
from report import in_turns, table, write
from scipy.optimize import minimize

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.learn.search.fit import fit_search
from fullspan.learn.search.options import Options
from fullspan.papers.fsll_table1 import DATA_SETS, draw

SEARCHES = {
    "paper": Options(search="paper", basis="walsh"),
    "paper_auto": Options(search="paper"),
    "full": Options(basis="walsh"),
    "full_auto": Options(),
}
GTOL = 1e-5


def walsh_hadamard(a: Array, scratch: Array) -> None:
    """In-place transform of 2^n numbers: n stages of butterflies on reshaped views, a half-table of scratch.

    The four lowest bits are done as one product with a 16 x 16 matrix of signs: strides of less than a cache line
    are where butterflies in NumPy are slow.
    """
    n = a.size.bit_length() - 1
    low = min(n, 4)
    bits = np.arange(1 << low)
    signs = 1.0 - 2.0 * (np.bitwise_count(bits[:, None] & bits[None, :]) & 1)
    rows = a.reshape(-1, 1 << low)
    half = rows.shape[0] // 2 or 1
    out = scratch[: half << low].reshape(half, 1 << low)
    for part in (rows[:half], rows[half:]):
        if len(part):
            np.matmul(part, signs, out=out[: len(part)])
            part[:] = out[: len(part)]
    for bit in range(low, n):
        pairs = a.reshape(-1, 2, 1 << bit)
        left, right = pairs[:, 0], pairs[:, 1]
        difference = scratch[: a.size // 2].reshape(left.shape)
        np.subtract(left, right, out=difference)
        left += right
        right[:] = difference


class Boltzmann:
    """Exact pairwise Boltzmann machine of n spins: ``log Z - theta . d`` and its gradient ``eta - d``."""

    def __init__(self, empirical: Empirical) -> None:
        n = len(empirical.space)
        pairs = [1 << i | 1 << j for i in range(n) for j in range(i)]
        self.y = np.array([1 << i for i in range(n)] + pairs, dtype=np.int64)
        self.table, self.scratch = np.zeros(1 << n), np.empty(1 << (n - 1))
        self.table[empirical.space.index(empirical.states)] = empirical.counts / empirical.total
        walsh_hadamard(self.table, self.scratch)
        self.d = self.table[self.y].copy()

    def __call__(self, theta: Array) -> tuple[float, Array]:
        a = self.table
        a[:] = 0
        a[self.y] = theta
        walsh_hadamard(a, self.scratch)
        peak = float(a.max())
        a -= peak
        np.exp(a, out=a)
        z = float(a.sum())
        walsh_hadamard(a, self.scratch)
        return peak + float(np.log(z)) - float(theta @ self.d), a[self.y] / z - self.d

    def fit(self, gtol: float = GTOL) -> Array:
        found = minimize(self, np.zeros(self.y.size), jac=True, method="L-BFGS-B", options={"gtol": gtol, "ftol": 0.0})
        return np.asarray(found.x)


def check() -> None:
    """The transform against its definition, at generic values."""
    rng = np.random.default_rng(0)
    for n in (5, 8):
        a, x = rng.normal(size=1 << n), np.arange(1 << n)
        expected = (1.0 - 2.0 * (np.bitwise_count(x[:, None] & x[None, :]) & 1)) @ a
        walsh_hadamard(a, np.empty(1 << (n - 1)))
        assert np.allclose(a, expected), "the Walsh-Hadamard transform is wrong"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[100])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--searches-only", action="store_true", help="leave L-BFGS out, which takes most of the time")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    check()
    rows: list[dict[str, Any]] = []
    for data_set in DATA_SETS:
        found: list[dict[str, float]] = []
        for seed in options.seeds:
            empirical = draw(data_set.truth(seed), data_set.n_rows, seed)
            for search in SEARCHES.values():
                fit_search(empirical, search)  # compiled, and warm

            def boltzmann(counts: Empirical = empirical) -> None:
                Boltzmann(counts).fit()

            actions: dict[str, Any] = {} if options.searches_only else {"lbfgs": boltzmann}
            for name, search in SEARCHES.items():
                actions[name] = lambda e=empirical, s=search: fit_search(e, s)
            found.append(in_turns(actions, options.repeats))
        row: dict[str, Any] = {"data": f"{data_set.name}, N = {data_set.n_rows:,}"}
        row |= {f"{name}_s": statistics.median(f[name] for f in found) for name in found[0]}
        for over, under in (("paper", "lbfgs"), ("full", "paper"), ("full_auto", "paper"), ("full_auto", "paper_auto")):
            if under in found[0]:
                row[f"{over}/{under}"] = statistics.median(f[over] / f[under] for f in found)
        rows.append({**row, "largest full_auto/paper": max(f["full_auto"] / f["paper"] for f in found)})
    table("Whole fits, from counts to model (targets: paper/lbfgs <= 0.1, full_auto/paper <= 3)", rows)
    write(options.json, rows)


if __name__ == "__main__":
    main()
