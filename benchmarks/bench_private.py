"""Private releases: total variation over random margins of three columns, by epsilon.

    python benchmarks/bench_private.py DATA [--seeds 5] [--epsilons 0.1 0.8 3.2] [--delta 1e-9] [--sets nltcs ...]

DATA holds debd/nltcs.npz and categorical/adult_mbi.npz. In adult16, columns of numbers are cut into 16 bins of equal
width, as in the experiments of PrivMRF, whose delta is 1e-5. Margins of the model are exact where its states fit a
table, and else those of rows drawn from it, ten for each row of the data.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from pathlib import Path

import numpy as np

import fullspan as fs
from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.engine.elimination import ClusterTree
from fullspan.learn.private.accountant import Ledger
from fullspan.learn.private.mechanism import release
from fullspan.model.graph import FactorGraph

Sample = tuple[np.ndarray, np.ndarray]

ADULT = [85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2]
NUMBERS, N_BINS = (0, 2, 9, 10, 11), 16
DRAWN, N_MARGINS, MOST_STATES = 10, 300, 1 << 18


def table(data: Path, name: str) -> tuple[np.ndarray, list[int]]:
    """Codes of the rows, and the levels of each column, which are public."""
    if name == "nltcs":
        parts = np.load(data / "debd" / "nltcs.npz")
        bits = [np.unpackbits(parts[part], axis=1)[:, :16] for part in ("train", "valid", "test")]
        return np.concatenate(bits).astype(np.int64), [2] * 16
    rows, cards = np.load(data / "categorical" / "adult_mbi.npz")["codes"].astype(np.int64), list(ADULT)
    for i in NUMBERS if name == "adult16" else ():
        rows[:, i] = rows[:, i] * N_BINS // cards[i]
        cards[i] = N_BINS
    return rows, cards


def distance(rows: np.ndarray, graph: FactorGraph, cards: list[int]) -> float:
    """Mean total variation over random margins of three columns."""
    triples = list(itertools.combinations(range(len(cards)), 3))
    chosen = np.random.default_rng(0).choice(len(triples), min(N_MARGINS, len(triples)), replace=False)
    if math.prod(cards) <= MOST_STATES:
        others = np.array(list(np.ndindex(*cards)))
        weights = np.exp(graph.log_weight(others))
        weights /= weights.sum()
    else:
        others = ClusterTree(graph).sample(DRAWN * len(rows), np.random.default_rng(1))
        weights = np.full(len(others), 1 / len(others))
    own = np.full(len(rows), 1 / len(rows))
    return float(np.mean([_variation((rows, own), (others, weights), triples[i], cards) for i in chosen]))


def _variation(first: Sample, second: Sample, triple: tuple[int, ...], cards: list[int]) -> float:
    shape = [cards[i] for i in triple]
    shares = []
    for some, weights in (first, second):
        places = np.ravel_multi_index([some[:, i] for i in triple], shape)
        shares.append(np.bincount(places, weights, math.prod(shape)))
    return 0.5 * float(np.abs(shares[0] - shares[1]).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epsilons", type=float, nargs="*", default=[0.1, 0.8, 3.2])
    parser.add_argument("--delta", type=float, default=1e-9)
    parser.add_argument("--sets", nargs="*", default=["nltcs", "adult", "adult16"])
    given = parser.parse_args()
    for name in given.sets:
        rows, cards = table(given.data, name)
        counted = Empirical.from_codes(rows, space=Space.of_cards(cards))
        for epsilon in given.epsilons:
            privacy, found = fs.Privacy(epsilon, given.delta), []
            started = time.process_time()
            for seed in range(given.seeds):
                made = release(counted, privacy, np.random.default_rng(seed), Ledger(privacy.rho))
                found.append(made)
            seconds = (time.process_time() - started) / given.seeds
            far = [distance(rows, made.graph, cards) for made in found]
            error = np.std(far) / math.sqrt(len(far))
            budget = f"epsilon {epsilon:4} delta {given.delta:g}"
            print(f"{name:8} {budget}  {np.mean(far):.5f} ± {error:.5f}  {seconds:6.1f} s each", flush=True)


if __name__ == "__main__":
    main()
