"""An average against its own first member where rows are many: KL(p* || p) to a known random Bayesian network.

    python benchmarks/bench_average_large.py                            # 12 nodes, 5,000 and 20,000 rows, 4 networks
    python benchmarks/bench_average_large.py --n 20 --seeds 1           # the networks of the full-span paper

Every network has binary nodes with three parents, as in the full-span paper. The rows of a seed are the same for both
models; differences are average minus single fit, below 0 where the average is better.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import fullspan as fs
from fullspan.data import Empirical
from fullspan.papers.truths import random_network
from fullspan.query.averaged import oracle_of


def main() -> None:
    """Print a line for each network and number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=12, help="nodes of a network")
    parser.add_argument("--rows", type=int, nargs="+", default=[5000, 20000])
    parser.add_argument("--seeds", type=int, default=4, help="networks")
    parser.add_argument("--average", type=int, default=16)
    given = parser.parse_args()
    for n_rows in given.rows:
        differences = []
        for seed in range(given.seeds):
            truth = random_network(given.n, 3, np.random.default_rng(seed))
            states = truth.space.states(np.arange(truth.space.n_states))
            index, counts = truth.sample(n_rows, np.random.default_rng([seed, n_rows]))
            data = Empirical(truth.space, states[index].astype(np.uint8), counts, n_rows)
            found, seconds = [], []
            for k in (1, given.average):
                started = time.perf_counter()
                model = fs.FullSpan(average=k, random_state=seed).partial_fit(data)
                seconds.append(time.perf_counter() - started)
                found.append(truth.divergence(oracle_of(model.model_).log_prob(states)))
            shares = model.fitted_.settings.get("shares", {})
            listed = ", ".join(f"{name} {share:.2f}" for name, share in shares.items() if share > 0.005)
            differences.append(found[1] - found[0])
            print(
                f"{n_rows:6} rows, network {seed}: single {found[0]:.5f} ({seconds[0]:.1f} s), "
                f"average {found[1]:.5f} ({seconds[1]:.1f} s); {listed}",
                flush=True,
            )
        mean, error = np.mean(differences), np.std(differences) / np.sqrt(max(len(differences) - 1, 1))
        print(f"{n_rows:6} rows: average - single {mean:+.5f} ± {error:.5f} nats")


if __name__ == "__main__":
    main()
