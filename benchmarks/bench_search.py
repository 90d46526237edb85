"""Quality of the searches: ``python benchmarks/bench_search.py [--seeds 100 ... 109] [--json FILE]``.

Medians over seeds of KL(p* || p), in nats, on the data sets of the full-span paper's Table 1: the default search, the
published search, and pyAgrum's greedy hill climbing under BIC and BDeu scores, its tables estimated with a smoothing
of 1 and of 0.1, the better of the two taken. All see the same samples. pyAgrum is skipped where it is not installed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from report import table, write

from fullspan.data import Empirical
from fullspan.learn.search.options import Options
from fullspan.papers.fsll_table1 import DATA_SETS, draw, measure
from fullspan.papers.truths import Truth

SEARCHES = {"full": Options(), "paper": Options(search="paper", basis="walsh")}
SMOOTHING = (1.0, 0.1)


def pyagrum() -> Any:
    """The module, or None with a message."""
    try:
        import pyagrum as module
    except ImportError:
        print("pyAgrum is not installed, its columns are left out: pip install pyagrum")
        return None
    return module


def hill_climbing(gum: Any, truth: Truth, empirical: Empirical, score: str) -> float:
    """KL(p* || p) of the network that pyAgrum learns, with the better smoothing."""
    import pandas as pd

    rows = np.repeat(empirical.states, empirical.counts.astype(np.int64), axis=0)
    frame = pd.DataFrame({f"x{i}": rows[:, i].astype(str) for i in range(truth.n)})
    template = gum.BayesNet()
    for i in range(truth.n):
        template.add(gum.LabelizedVariable(f"x{i}", "", ["0", "1"]))
    learner = gum.BNLearner(frame, template)
    getattr(learner, f"useScore{score}")()
    learner.useGreedyHillClimbing()
    graph = learner.learnDAG()
    found = []
    for weight in SMOOTHING:
        estimator = gum.BNLearner(frame, template)
        estimator.useSmoothingPrior(weight)
        found.append(truth.divergence(_log_table(estimator.learnParameters(graph), truth.n)))
    return min(found)


def _log_table(network: Any, n: int) -> NDArray[np.float64]:
    """log p of every state; a pyAgrum table lists its variables in the reverse order of its axes."""
    x, log_p = np.arange(1 << n), np.zeros(1 << n)
    for i in range(n):
        cpt = network.cpt(f"x{i}")
        variables = [int(name[1:]) for name in cpt.names]
        log_p += np.log(np.asarray(cpt.toarray())[tuple((x >> v) & 1 for v in reversed(variables))])
    return log_p


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(100, 110)))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    gum = pyagrum()
    rows: list[dict[str, Any]] = []
    by_seed: dict[str, list[dict[str, float]]] = {}
    for data_set in DATA_SETS:
        label = f"{data_set.name}, N = {data_set.n_rows:,}"
        found: list[dict[str, float]] = []
        for seed in options.seeds:
            truth = data_set.truth(seed)
            empirical = draw(truth, data_set.n_rows, seed)
            methods: dict[str, Callable[[], float]] = {
                name: lambda t=truth, e=empirical, s=search: measure(t, e, s).kl_true
                for name, search in SEARCHES.items()
            }
            if gum is not None:
                for score in ("BIC", "BDeu"):
                    methods[score] = lambda t=truth, e=empirical, s=score: hill_climbing(gum, t, e, s)
            result: dict[str, float] = {}
            for name, method in methods.items():
                start = time.perf_counter()
                result[name] = method()
                result[f"{name}_s"] = time.perf_counter() - start
            found.append(result)
        by_seed[label] = found
        names = [name for name in found[0] if not name.endswith("_s")]
        middle = {name: statistics.median(f[name] for f in found) for name in names}
        wins = sum(f["full"] <= min(f[name] for name in names if name != "paper") for f in found)
        rows.append(
            {"data": label, **{k: round(v, 6) for k, v in middle.items()}, "full best in": f"{wins}/{len(found)}"}
        )
    table(f"KL(p* || p) in nats, medians over seeds {options.seeds[0]} to {options.seeds[-1]}", rows)
    write(options.json, {"seeds": options.seeds, "medians": rows, "by_seed": by_seed})


if __name__ == "__main__":
    main()
