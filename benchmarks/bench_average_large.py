"""An average against its own first member, the single fit, on rows of known networks: KL(p* || p) in nats.

    python benchmarks/bench_average_large.py                              # 12 nodes, 5,000 and 20,000 rows
    python benchmarks/bench_average_large.py --n 20 --rows 5000 --seeds 2 # the networks of the full-span paper
    python benchmarks/bench_average_large.py --n 10 --rows 500 3000 --missing 0.1 --draws 4
    python benchmarks/bench_average_large.py --engine elimination --rows 2000

Every network has binary nodes with three parents, as in the full-span paper. The rows of a draw are the same for both
models; differences are average minus single fit, below 0 where the average is better. With several draws per network,
the standard error is over these.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import fullspan as fs
from fullspan.data import Empirical
from fullspan.papers.truths import Truth, random_network


def main() -> None:
    """Print a line for each network and number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[12], help="nodes of a network")
    parser.add_argument("--rows", type=int, nargs="+", default=[5000, 20000])
    parser.add_argument("--seeds", type=int, default=4, help="networks")
    parser.add_argument("--first", type=int, default=0, help="seed of the first network")
    parser.add_argument("--draws", type=int, default=1, help="tables drawn from each network")
    parser.add_argument("--missing", type=float, default=0.0, help="share of the cells that are removed at random")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--average", type=int, default=16)
    given = parser.parse_args()
    for n in given.n:
        for n_rows in given.rows:
            compare(n, n_rows, given)


def compare(n: int, n_rows: int, given: argparse.Namespace) -> None:
    """Networks of one size and number of rows, a line for each, and the mean over all."""
    every = []
    for seed in range(given.first, given.first + given.seeds):
        truth = random_network(n, 3, np.random.default_rng(seed))
        found, shares, seconds = [], [], np.zeros(2)
        for draw in range(given.draws):
            data = rows_of(truth, n_rows, given.missing, [seed, n_rows, *([draw] if draw else [])])
            divergences = []
            for which, k in enumerate((1, given.average)):
                started = time.perf_counter()
                model = fs.FullSpan(average=k, engine=given.engine, random_state=seed).partial_fit(data)
                seconds[which] += time.perf_counter() - started
                divergences.append(truth.divergence(model.model_.log_prob(truth.space.states(np.arange(1 << n)))))
            found.append(divergences)
            shares.append(model.fitted_.settings.get("shares", {}).get("single fit", 0.0))
        single, average = np.mean(found, axis=0)
        every += [own[1] - own[0] for own in found]
        mean, error = mean_and_error(every[-given.draws :])
        print(
            f"{n:3} nodes, {n_rows:6} rows, network {seed}: single {single:.5f} ({seconds[0]:.1f} s), "
            f"average {average:.5f} ({seconds[1]:.1f} s); difference {mean:+.5f} ± {error:.5f}; "
            f"share of the single fit {np.mean(shares):.2f}",
            flush=True,
        )
    mean, error = mean_and_error(every)
    print(f"{n:3} nodes, {n_rows:6} rows: average - single {mean:+.5f} ± {error:.5f} nats, {len(every)} tables")


def rows_of(truth: Truth, n_rows: int, missing: float, seed: list[int]) -> Empirical:
    """A table drawn from the network, a share of its cells removed."""
    index, counts = truth.sample(n_rows, np.random.default_rng(seed))
    if not missing:
        return Empirical(truth.space, truth.space.states(index).astype(np.uint8), counts, n_rows)
    rows = np.repeat(truth.space.states(index).astype(np.int16), counts.astype(np.int64), axis=0)
    rows[np.random.default_rng([*seed, 1]).random(rows.shape) < missing] = -1
    return Empirical.from_codes(rows, np.ones(n_rows), truth.space, allow_missing=True)


def mean_and_error(differences: list[float]) -> tuple[float, float]:
    """Mean and its standard error; NaN for one value."""
    n = len(differences)
    return float(np.mean(differences)), float(np.std(differences, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")


if __name__ == "__main__":
    main()
