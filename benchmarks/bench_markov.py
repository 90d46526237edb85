"""Scores of sequences under a hidden Markov model: ``benchmarks/bench_markov.py [--peer PYTHON] [--references]``.

A chain of k states and l symbols as a factor graph, the symbols clamped: log Z of a pattern is the log-likelihood of
a sequence. ``--peer`` names a Python that has ``hmmlearn`` (this one by default); it scores the same sequences.
``--references`` prints the numbers that ``tests/engine/test_markov.py`` compares with, made by hmmlearn.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from report import table, write

from fullspan.data.space import Space
from fullspan.engine.elimination.clusters import ClusterTree
from fullspan.model.graph import FactorGraph

PEER = """
import json, sys, time
import numpy as np
from hmmlearn.hmm import CategoricalHMM
k, l, seed, n, t, repeats, shown = map(int, sys.argv[1:])
rng = np.random.default_rng(seed)
model = CategoricalHMM(n_components=k)
model.n_features = l
model.startprob_, model.transmat_ = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), size=k)
model.emissionprob_ = rng.dirichlet(np.ones(l), size=k)
rows = rng.integers(l, size=(n, t))
times = []
for _ in range(repeats):
    start = time.perf_counter()
    scores = [model.score(row[:, None]) for row in rows]
    times.append(time.perf_counter() - start)
posteriors = model.predict_proba(rows[0][:, None])[[0, t // 2, t - 1]].tolist() if shown else []
print(json.dumps([sorted(times)[repeats // 2], list(map(float, scores)), posteriors]))
"""


def asked(python: str, *numbers: int) -> list:
    answer = subprocess.run([python, "-c", PEER, *map(str, numbers)], capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def ours(k: int, levels: int, seed: int, n: int, t: int, repeats: int) -> tuple[float, np.ndarray]:
    rng = np.random.default_rng(seed)
    start, move = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), size=k)
    emit, rows = rng.dirichlet(np.ones(levels), size=k), rng.integers(levels, size=(n, t))
    scopes = [(0,), *((i, i + 1) for i in range(t - 1)), *((i, t + i) for i in range(t))]
    tables = [np.log(start), *[np.log(move)] * (t - 1), *[np.log(emit)] * t]
    graph = FactorGraph(Space.of_cards([k] * t + [levels] * t), tuple(scopes), tuple(tables))
    ClusterTree(graph, range(t, 2 * t)).log_z_batch(rows[:300])
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        scores = ClusterTree(graph, range(t, 2 * t)).log_z_batch(rows)
        times.append(time.perf_counter() - begin)
    return statistics.median(times), scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default=sys.executable, help="a Python with hmmlearn")
    parser.add_argument("--references", action="store_true")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.references:
        for shape in ((3, 4, 7, 5, 60), (2, 2, 11, 4, 80)):
            print(asked(options.peer, *shape, 1, 1)[1:])
        return
    rows = []
    for k, levels, n, t in ((2, 2, 1000, 100), (3, 4, 1000, 100), (8, 16, 1000, 200)):
        seconds, scores = ours(k, levels, 1, n, t, options.repeats)
        other, theirs, _ = asked(options.peer, k, levels, 1, n, t, options.repeats, 0)
        rows.append(
            {
                "states": k,
                "symbols": levels,
                "sequences": n,
                "length": t,
                "seconds": seconds,
                "hmmlearn s": other,
                "ratio": other / seconds,
                "largest difference": float(np.abs(scores - np.array(theirs)).max()),
            }
        )
    table("log-likelihoods of sequences, order and tables included", rows)
    write(options.json, rows)


if __name__ == "__main__":
    main()
