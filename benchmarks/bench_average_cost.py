"""What an average of k fits costs beside one fit: time, processor time and peak memory.

    python benchmarks/bench_average_cost.py [DATA/categorical] [--k 16] [--n 24] [--json FILE]

Tables: rows of fair coins, where there is nothing to find; rows drawn from random Bayesian networks of three parents
per node; and, if a folder of data sets is given, those of them that have at most 2^22 states, missing cells included,
and nltcs, if it lies in the folder ``debd`` beside.
Each fit is the faster of two in a process of its own, after one on a small table has compiled the code. Memory is that
of float64 tables of all states, 8 |X| bytes each, above the process before the fit; it is measured on networks of
``--n`` nodes, where a table is large beside all else.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from report import table, write

from fullspan.bench.density_sets import read_set
from fullspan.data import Empirical
from fullspan.estimators.averaging import averaged_search
from fullspan.learn.search.fit import Options, fit
from fullspan.reproduce.truths import Network

SETS = ("bnsample_asia", "car", "housevotes84", "nursery", "tic_tac_toe", "titanic_passengers", "zoo")
MIB = 2**20


def rows_of(name: str) -> Empirical:
    """``coins N ROWS``, ``network N ROWS``, or a file of rows."""
    kind, *numbers = name.split()
    rng = np.random.default_rng(0)
    if kind == "coins":
        n, rows = map(int, numbers)
        return Empirical.from_codes(rng.integers(2, size=(rows, n)))
    if kind == "network":
        n, rows = map(int, numbers)
        return Empirical.from_codes(Network.random(n, 3, rng).draw(rows, rng))
    data = read_set(Path(name))
    rows = data.parts["rows"] if "rows" in data.parts else data.parts["train"]
    return Empirical.from_codes(rows, space=data.space, allow_missing=True)


def one(name: str, k: int, times: int) -> dict[str, Any]:
    """Fit in this process; the best of some times."""
    data = rows_of(name)

    def fitted(rows: Empirical) -> None:
        if k > 1:
            averaged_search(rows, Options(), k=k, random_state=0)
        else:
            fit(rows, Options())

    small = rows_of("network 5 300")
    fitted(small if data.is_complete else _with_gaps(small))
    base, found = _peak_mib(), []
    for _ in range(times):
        wall, cpu = time.perf_counter(), _processor()
        fitted(data)
        found.append((time.perf_counter() - wall, _processor() - cpu))
    tables = (_peak_mib() - base) * MIB / (8 * data.space.n_states)
    return {"seconds": min(w for w, _ in found), "processor": min(c for _, c in found), "tables": tables}


def _with_gaps(rows: Empirical) -> Empirical:
    states = rows.states.astype(np.int64)
    states[0, 0] = -1
    return Empirical.from_codes(states, space=rows.space, allow_missing=True)


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _processor() -> float:
    spent = os.times()
    return spent.user + spent.system


def both(name: str, k: int, times: int) -> dict[str, Any]:
    """One fit and an average, each in a fresh process."""
    found = []
    for fits in (1, k):
        command = [sys.executable, __file__, "--one", name, str(fits), str(times)]
        found.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    single, average = found
    return {
        "rows": Path(name).stem,
        "one_s": single["seconds"],
        "average_s": average["seconds"],
        "times": average["seconds"] / single["seconds"],
        "processor_times": average["processor"] / single["processor"],
        "tables_one": single["tables"],
        "tables_average": average["tables"],
    }


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--k", type=int, default=16)
    parser.add_argument("--n", type=int, default=24)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(given.one[0], int(given.one[1]), int(given.one[2]))))
        return
    names = ["coins 16 500", "coins 22 500", "network 12 1000", "network 18 5000"]
    names += [str(given.data / f"{name}.npz") for name in given.sets] if given.data else []
    if given.data and (nltcs := given.data.parent / "debd" / "nltcs.npz").exists():
        names.append(str(nltcs))
    lines = []
    for name, times in [*((name, 2) for name in names), (f"network {given.n} 2000", 1)]:
        lines.append(both(name, given.k, times))
        print(lines[-1], flush=True)
    table(f"An average of {given.k} beside one fit", lines)
    write(given.json, lines)


if __name__ == "__main__":
    main()
