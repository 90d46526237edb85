"""Learners of hidden trees and of a continuous latent variable: a graphics card against the cores that there are.

    OMP_NUM_THREADS=2 NUMBA_NUM_THREADS=2 python benchmarks/bench_device_learners.py

Rows are made of classes with columns that follow each other; the schedule is fixed, and both take the same steps from
the same start. Printed are seconds per iteration, first ones left out (they compile), and the largest difference of the
objectives, in nats per row.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.learn.latent import LatentOptions, fit_latent
from fullspan.learn.trees.hidden_tree import TreeOptions, fit_hidden_tree


def made(rows: int, columns: int, seed: int) -> Empirical:
    """Rows of twenty classes; every column follows the one before it in half of the rows."""
    rng = np.random.default_rng(seed)
    p = np.random.default_rng(7).random((20, columns))
    x = (rng.random((rows, columns)) < p[rng.integers(20, size=rows)]).astype(np.int64)
    for i in range(1, columns):
        follows = rng.random(rows) < 0.5
        x[follows, i] = x[follows, i - 1]
    return Empirical.from_codes(x, space=Space.of_cards((2,) * columns))


def per_step(history: Any, skipped: int) -> float:
    """Seconds per entry of a history, the first ones left out."""
    return (history[-1].seconds - history[skipped].seconds) / (len(history) - 1 - skipped)


def compared(name: str, learn: Any, skipped: int, steps: int) -> None:
    """Both devices on one schedule; ``steps`` between two entries of the history."""
    took, cost = {}, {}
    for device in ("cpu", "cuda"):
        started = time.perf_counter()
        found = learn(device)
        took[device] = per_step(found.history, skipped) / steps
        cost[device] = np.array([step.cost for step in found.history])
        print(f"  {name}, {device}: {took[device]:.4f} s per iteration, {time.perf_counter() - started:.1f} s in all")
    gap = float(np.abs(cost["cpu"] - cost["cuda"]).max())
    print(f"{name}: {took['cpu'] / took['cuda']:.0f} times, objectives differ by at most {gap:.1e} nats per row")


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--states", type=int, nargs="*", default=[64, 512])
    parser.add_argument("--points", type=int, nargs="*", default=[512, 4096])
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--iterations", type=int, default=4)
    given = parser.parse_args()
    data = made(given.rows, given.columns, 0)
    for k in given.states:
        trees = TreeOptions(k, restarts=1, max_iter=given.iterations, tol=-np.inf, mixture=False, seed=0)
        compared(
            f"hidden tree, {k} states",
            lambda device, own=trees: fit_hidden_tree(data, _on(own, device)),
            1,
            1,
        )
    for n in given.points:
        own = {"points": n, "batch": given.batch, "steps": 20 * given.iterations, "evaluations": given.iterations}
        latent = LatentOptions(**own, patience=99, seed=0)
        compared(
            f"latent variable, {n} points, {given.batch} rows a step",
            lambda device, own=latent: fit_latent(data, _on(own, device)),
            1,
            20,
        )


def _on(options: Any, device: str) -> Any:
    from dataclasses import replace

    return replace(options, device=device)


if __name__ == "__main__":
    main()
