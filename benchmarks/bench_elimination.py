"""Exact elimination, log Z and all marginals: ``benchmarks/bench_elimination.py [--dwave PYTHON] [--cotengra PYTHON]``.

Random trees, 2-trees and lattices of binary variables, then time per node on trees up to a million nodes, then a batch
of 10,000 clamped patterns against a loop over single ones. ``--dwave`` names a Python that has ``dwave-samplers``, and
``--cotengra`` one that has ``cotengra`` and ``torch``: TreeDecompositionSampler, and a contraction differentiated by
torch (the better of two searches for its order), answer the same models in processes of their own, in turns with ours.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np
from peers import Peer, peers
from report import seconds, table, write

from fullspan.data.space import Space
from fullspan.engine.elimination.clusters import ClusterTree
from fullspan.engine.elimination.decimation import Decimation
from fullspan.model.graph import FactorGraph

SPIN = np.array([1.0, -1.0])


def tree(n: int, rng: np.random.Generator) -> np.ndarray:
    parents = (rng.random(n - 1) * np.arange(1, n)).astype(np.int64)
    return np.stack([parents, np.arange(1, n)], axis=1)


def two_tree(n: int, rng: np.random.Generator) -> np.ndarray:
    edges = [(0, 1)]
    for v in range(2, n):
        a, b = edges[rng.integers(len(edges))]
        edges += [(a, v), (b, v)]
    return np.array(edges)


def lattice(side: int) -> np.ndarray:
    cells = np.arange(side * side).reshape(side, side)
    right = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1)
    return np.concatenate([right, np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1)])


class Ising:
    """Random couplings and fields on a graph."""

    def __init__(self, n: int, edges: np.ndarray, rng: np.random.Generator, scale: float = 0.5) -> None:
        self.n, self.edges = n, edges
        self.coupling, self.field = rng.normal(scale=scale, size=len(edges)), rng.normal(scale=scale, size=n)

    def graph(self) -> FactorGraph:
        k = 2 * len(self.edges)
        starts = np.concatenate([np.arange(0, k, 2), np.arange(k, k + self.n + 1)])
        pairs, fields = self.coupling[:, None] * np.outer(SPIN, SPIN).ravel(), self.field[:, None] * SPIN
        values = np.concatenate([pairs.ravel(), fields.ravel()])
        variables = np.concatenate([self.edges.ravel(), np.arange(self.n)])
        return FactorGraph.of_arrays(Space.of_cards([2] * self.n), starts, variables, values)

    def save(self, path: Path) -> None:
        parts = {"edges": self.edges, "coupling": self.coupling, "field": self.field}
        path.write_text(json.dumps({name: value.tolist() for name, value in parts.items()}), encoding="utf-8")


def models(rng: np.random.Generator, large: bool) -> dict[str, Ising]:
    found = {
        "tree 1,000": Ising(1000, tree(1000, rng), rng),
        "2-tree 1,000": Ising(1000, two_tree(1000, rng), rng),
        "lattice 12x12": Ising(144, lattice(12), rng),
        "lattice 15x15": Ising(225, lattice(15), rng),
    }
    if large:
        found["lattice 20x20"] = Ising(400, lattice(20), rng)
        found["tree 100,000"] = Ising(100_000, tree(100_000, rng), rng)
    return found


def single(rng: np.random.Generator, others: dict[str, Peer], repeats: int) -> list[dict[str, Any]]:
    rows = []
    for name, ising in models(rng, large=True).items():
        graph = ising.graph()
        ClusterTree(graph).beliefs()
        asked = {who: peer for who, peer in others.items() if name not in peer.skips}
        ours, theirs, difference = [], {who: [] for who in asked}, float("nan")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            ising.save(path)
            for peer in asked.values():
                peer.ask(path)
            for _ in range(repeats):
                start = time.perf_counter()
                made = ClusterTree(graph)
                beliefs = made.beliefs()
                ours.append(time.perf_counter() - start)
                for who, peer in asked.items():
                    spent, log_z = peer.ask(path)
                    theirs[who].append(spent)
                    difference = max(abs(log_z - beliefs.log_z), 0.0 if difference != difference else difference)
        mine = statistics.median(ours)
        other = {who: statistics.median(theirs[who]) if who in theirs else float("nan") for who in others}
        rows.append(
            {
                "model": name,
                "width": made.order.width,
                "MiB": made.order.n_bytes / 2**20,
                "predicted s": made.order.seconds,
                "seconds": mine,
                "best": min(ours),
                **{f"{who} s": spent for who, spent in other.items()},
                "ratio": min(other.values(), default=float("nan")) / mine,
                "log Z": beliefs.log_z,
                "difference": difference,
            }
        )
    return rows


def by_size(rng: np.random.Generator, largest: int, repeats: int) -> list[dict[str, Any]]:
    rows = []
    for n in itertools.takewhile(lambda n: n <= largest, (1_000, 10_000, 100_000, 1_000_000)):
        ising = Ising(n, tree(n, rng), rng)
        graph, row = ising.graph(), {"nodes": n}

        def clusters(graph: FactorGraph = graph) -> object:
            return ClusterTree(graph).beliefs()

        def decimation(ising: Ising = ising) -> object:
            return Decimation(ising.n, ising.edges).expectations(ising.coupling, ising.field)

        for action in (clusters, decimation):
            action()
            wall, cpu = [], []
            for _ in range(repeats):
                start = time.process_time()
                wall.append(seconds(action))
                cpu.append(time.process_time() - start)
            for kind, times in (("wall", wall), ("CPU", cpu)):
                row[f"{action.__name__} {kind} us"] = 1e6 * min(times) / n
        rows.append(row)
    return rows


def batches(rng: np.random.Generator, patterns: int, repeats: int) -> list[dict[str, Any]]:
    graph = Ising(200, two_tree(200, rng), rng).graph()
    clamped = sorted(rng.choice(200, size=60, replace=False).tolist())
    made = ClusterTree(graph, clamped)
    values = rng.integers(2, size=(patterns, len(clamped)))
    evidence = [dict(zip(clamped, row.tolist(), strict=True)) for row in values[:200]]
    rows = []
    made.log_z_batch(values[:300])
    batch, loop = [], []
    for _ in range(repeats):
        batch.append(seconds(lambda: made.log_z_batch(values)))
        loop.append(seconds(lambda: [made.log_z(e) for e in evidence]) / len(evidence) * patterns)
    fast, slow = statistics.median(batch), statistics.median(loop)
    rows.append({"answer": "log Z", "batch s": fast, "loop s": slow, "ratio": slow / fast})
    return rows


def decimated(rng: np.random.Generator, patterns: int, repeats: int) -> list[dict[str, Any]]:
    """The same by decimation; ``bare`` is a single pattern without waking other cores."""
    ising = Ising(200, two_tree(200, rng), rng)
    clamped = sorted(rng.choice(200, size=60, replace=False).tolist())
    engine, rows = Decimation(200, ising.edges, clamped), []
    values = 2 * rng.integers(2, size=(patterns, len(clamped))) - 1
    for name, together, alone in (
        ("log Z", engine.log_z_batch, engine.log_z),
        ("expectations", engine.expectations_batch, engine.expectations),
    ):
        together(ising.coupling, ising.field, values[:300])
        batch, loop, bare = [], [], []
        for _ in range(repeats):
            batch.append(seconds(lambda f=together: f(ising.coupling, ising.field, values)))
            for times, threads in ((loop, numba.get_num_threads()), (bare, 1)):
                before = numba.get_num_threads()
                numba.set_num_threads(threads)
                spent = seconds(lambda f=alone: [f(ising.coupling, ising.field, row) for row in values[:200]])
                numba.set_num_threads(before)
                times.append(spent / 200 * patterns)
        fast, slow, least = map(statistics.median, (batch, loop, bare))
        ratios = {"ratio": slow / fast, "bare ratio": least / fast}
        rows.append({"answer": name, "batch s": fast, "loop s": slow, "bare loop s": least, **ratios})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dwave", help="a Python with dwave-samplers")
    parser.add_argument("--cotengra", help="a Python with cotengra and torch")
    parser.add_argument("--parts", nargs="+", choices=("single", "trees", "batches", "decimation"))
    parser.add_argument("--largest", type=int, default=1_000_000, help="nodes of the largest tree")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    others = peers(options.dwave, options.cotengra)
    parts = {
        "single": ("log Z and all marginals, order included", lambda rng: single(rng, others, options.repeats)),
        "trees": ("random trees, least time per node", lambda rng: by_size(rng, options.largest, options.repeats)),
        "batches": (
            "10,000 patterns of 60 clamped variables, 200-node 2-tree; the loop is measured on 200",
            lambda rng: batches(rng, 10_000, options.repeats),
        ),
        "decimation": ("the same by decimation", lambda rng: decimated(rng, 10_000, options.repeats)),
    }
    answers = {}
    for name in options.parts or parts:
        title, measure = parts[name]
        answers[name] = measure(np.random.default_rng(0))
        table(title, answers[name])
    write(options.json, answers)


if __name__ == "__main__":
    main()
