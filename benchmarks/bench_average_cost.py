"""What an average of k fits costs against one fit: time, processor time and peak memory.

    python benchmarks/bench_average_cost.py [DATA/categorical] [--k 16 8 4 2] [--n 24] [--rows 50] [--json FILE]

A fit is ``FullSpan(average=k).fit(rows)``, as a user calls it. Tables: rows of fair coins, where there is nothing to
find; rows drawn from random Bayesian networks of three parents per node; and, if a folder of data sets is given, those
of them that have at most 2^22 states, missing cells included, and nltcs, if the folder ``debd`` next to it has it;
with ``--rows``, only that number of their rows.
Each fit is the fastest of up to 12 within some seconds, in a process of its own, after one on a small table has
compiled the code: other jobs on the machine only ever add to a time. Memory is that of float64 tables of all states,
8 |X| bytes each, above the process before the fit; it is measured on networks of ``--n`` nodes, where a table is large
next to all else.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from report import table, write

import fullspan as fs
from fullspan.bench.density_sets import read_set
from fullspan.papers.truths import Network

SETS = ("bnsample_asia", "car", "housevotes84", "nursery", "tic_tac_toe", "titanic_passengers", "zoo")
MIB = 2**20
SECONDS, MOST = 12.0, 12
"""A fit is repeated for so long, at most so often; only once where memory is measured, which counts all of them."""


@dataclass(frozen=True)
class Rows:
    """Rows of codes, NaN where a cell is missing, and how many states the columns have."""

    codes: NDArray[np.float64]
    n_states: int

    @property
    def missing(self) -> str:
        return "em" if np.isnan(self.codes).any() else "error"


def rows_of(name: str) -> Rows:
    """``coins N ROWS``, ``network N ROWS``, or a file of rows, of which a sample is drawn if a number follows."""
    kind, *numbers = name.split()
    rng = np.random.default_rng(0)
    if kind == "coins":
        n, rows = map(int, numbers)
        return Rows(rng.integers(2, size=(rows, n)).astype(np.float64), 2**n)
    if kind == "network":
        n, rows = map(int, numbers)
        return Rows(Network.random(n, 3, rng).draw(rows, rng).astype(np.float64), 2**n)
    data = read_set(Path(kind))
    codes = np.asarray(data.parts["rows"] if "rows" in data.parts else data.parts["train"], dtype=np.float64)
    if numbers:
        codes = codes[rng.permutation(len(codes))[: int(numbers[0])]]
    return Rows(np.where(codes < 0, np.nan, codes), data.space.n_states)


def one(name: str, k: int, seconds: float) -> dict[str, Any]:
    """Fit in this process, again and again for so long; the fastest."""
    data = rows_of(name)

    def fitted(codes: NDArray[np.float64]) -> None:
        fs.FullSpan(average=k, missing=data.missing, random_state=0).fit(codes)

    small = rows_of("network 5 300").codes
    if data.missing == "em":
        small[0, 0] = np.nan
    fitted(small)
    base, found, started = _peak_mib(), [], time.perf_counter()
    while not found or (len(found) < MOST and time.perf_counter() - started < seconds):
        wall, cpu = time.perf_counter(), time.process_time()
        fitted(data.codes)
        found.append((time.perf_counter() - wall, time.process_time() - cpu))
    tables = (_peak_mib() - base) * MIB / (8 * data.n_states)
    return {"seconds": min(w for w, _ in found), "processor": min(c for _, c in found), "tables": tables}


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def compared(name: str, ks: list[int], seconds: float) -> dict[str, Any]:
    """One fit and averages, each in a fresh process."""
    found = {}
    for k in (1, *ks):
        command = [sys.executable, __file__, "--one", name, str(k), str(seconds)]
        found[k] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    line = {"rows": " ".join([Path(name.split()[0]).stem, *name.split()[1:]]), "one_s": found[1]["seconds"]}
    for k in ks:
        line[f"{k}_s"] = found[k]["seconds"]
        line[f"{k}_times"] = found[k]["seconds"] / found[1]["seconds"]
        line[f"{k}_processor_times"] = found[k]["processor"] / found[1]["processor"]
    return {**line, "tables_one": found[1]["tables"], "tables_average": max(found[k]["tables"] for k in ks)}


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--k", type=int, nargs="+", default=[16])
    parser.add_argument("--n", type=int, default=24)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--rows", type=int, help="rows of each set, drawn by chance; no networks and coins then")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(given.one[0], int(given.one[1]), float(given.one[2]))))
        return
    made = [] if given.rows else ["coins 16 500", "coins 22 500", "network 12 1000", "network 18 5000"]
    files = [given.data / f"{name}.npz" for name in given.sets] if given.data else []
    if given.data and (nltcs := given.data.parent / "debd" / "nltcs.npz").exists():
        files.append(nltcs)
    names = [(name, SECONDS) for name in [*made, *(f"{file} {given.rows or ''}".strip() for file in files)]]
    lines = []
    for name, seconds in [*names, *([] if given.rows else [(f"network {given.n} 2000", 0.0)])]:
        lines.append(compared(name, given.k, seconds))
        print(lines[-1], flush=True)
    table("Averages against one fit", lines)
    write(given.json, lines)


if __name__ == "__main__":
    main()
