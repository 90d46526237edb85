"""Peak memory and time of whole fits: ``python benchmarks/bench_memory.py [--n 24 26 28] [--json FILE]``.

Every fit runs in a fresh process: counts of N rows drawn node after node from a random Bayesian network, three parents
per node, then one search. The peak is the largest resident size of that process, the base its size after the imports
and the compiled code's first use on a small table. A table is 4 |X| bytes (float32).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from report import table, write

N_ROWS = 100_000
MIB = 2**20


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one(n: int, search: str, basis: str, seed: int) -> dict[str, Any]:
    """Fit once, in this process."""
    from fullspan.data import Empirical
    from fullspan.learn.search.fit import fit_search
    from fullspan.learn.search.options import Options
    from fullspan.papers.truths import Network

    def counted(size: int) -> Empirical:
        rng = np.random.default_rng(seed)
        return Empirical.from_codes(Network.random(size, 3, rng).draw(N_ROWS, rng))

    options = Options(search=search, basis=basis, dtype="float32")
    fit_search(counted(10), options)
    empirical = counted(n)
    base = peak_mib()
    start = time.perf_counter()
    fitted = fit_search(empirical, options)
    elapsed = time.perf_counter() - start
    size = 4 * 2**n / MIB
    return {
        "n": n,
        "search": search,
        "basis": basis,
        "seconds": elapsed,
        "moves": len(fitted.history),
        "terms": len(fitted.model.terms),
        "base_MiB": base,
        "peak_MiB": peak_mib(),
        "tables": (peak_mib() - base) / size,
        "target_MiB": 2.5 * size + 200e6 / MIB,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[24, 26, 28])
    parser.add_argument("--search", nargs="+", default=["paper", "full"])
    parser.add_argument("--basis", default="walsh", help="auto tries two bases, one after the other")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--here", action="store_true", help="fit once in this process and print JSON")
    options = parser.parse_args()
    if options.here:
        print(json.dumps(one(options.n[0], options.search[0], options.basis, options.seed)))
        return
    rows = []
    for n in options.n:
        for search in options.search:
            command = [sys.executable, __file__, "--here", "--n", str(n), "--search", search]
            command += ["--basis", options.basis, "--seed", str(options.seed)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append(json.loads(done.stdout))
    table("Peak memory of a fit, float32, N = 100,000 (target: 2.5 tables + 200 MB; n = 28 within 3 GiB)", rows)
    write(options.json, rows)


if __name__ == "__main__":
    main()
