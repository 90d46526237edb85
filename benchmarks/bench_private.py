"""Private releases: total variation over random margins of three columns, by epsilon.

    python benchmarks/bench_private.py FOLDER [--seeds 5] [--epsilons 0.1 0.8 3.2] [--delta 1e-5] [--sets nltcs adult]

FOLDER is ``preprocess`` of the repository caicre/PrivMRF: NAME.csv has the coded rows, NAME.json the number of levels
of each column. Delta, tables, margins and distance are those of the experiments of PrivMRF (Cai et al. 2021), whose
accountant is that of Gaussian noise too; there, tables are drawn and rounded, here the margins are the model's: exact
where its states fit a table, and else those of rows drawn from it, ten for each row of the data.
"""

from __future__ import annotations

import argparse
import itertools
import json
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

DRAWN, N_MARGINS, MOST_STATES = 10, 300, 1 << 18


def table(folder: Path, name: str) -> tuple[np.ndarray, list[int]]:
    """Codes of the rows, and the levels of each column, which are public."""
    rows = np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1, dtype=np.int64)
    levels = json.loads((folder / f"{name}.json").read_text())
    return rows, [levels[str(i)]["domain"] for i in range(rows.shape[1])]


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
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epsilons", type=float, nargs="*", default=[0.1, 0.8, 3.2])
    parser.add_argument("--delta", type=float, default=1e-5)
    parser.add_argument("--sets", nargs="*", default=["nltcs", "adult"])
    given = parser.parse_args()
    for name in given.sets:
        rows, cards = table(given.folder, name)
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
