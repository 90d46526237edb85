"""Few rows with missing cells: the average against rivals, tested on all other rows.

    python benchmarks/bench_gaps.py DATA/categorical --sets titanic_passengers --rows 50 200 --draws 5

The methods are those of ``fullspan bench density``, which has the folds of all rows; each sees the same rows, of which
a tenth decide where a method has something to choose. Nats per row; the last column is the average less the best
rival, mean and standard error over the draws.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from report import table

from fullspan.bench.density_methods import Settings, all_methods
from fullspan.bench.density_sets import DataSet, Split, read_set

RIVALS = ("independent", "chow-liu", "pairwise", "hidden-trees")


def scores(data: DataSet, n_rows: int, seed: int) -> dict[str, float]:
    """Mean log-likelihood of the other rows, by method, when ``n_rows`` of them have been learned."""
    rows = data.parts["rows"]
    order = np.random.default_rng(seed).permutation(len(rows))
    known, rest = rows[order[:n_rows]], rows[order[n_rows:]]
    test, cut = rest[(rest >= 0).any(axis=1)], max(1, n_rows // 10)
    split = Split(known[cut:], known[:cut], test, known)
    return {
        name: float(all_methods()[name](split, data.space, Settings()).log_prob(test).mean())
        for name in (*RIVALS, "average")
    }


def main() -> None:
    """Print a line for each set and number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--sets", nargs="*", default=["titanic_passengers", "housevotes84"])
    parser.add_argument("--rows", nargs="*", type=int, default=[50, 200])
    parser.add_argument("--draws", type=int, default=5)
    given = parser.parse_args()
    if given.data is None:
        print("left out: it needs a folder of data sets")
        return
    lines = []
    for name in given.sets:
        data = read_set(given.data / f"{name}.npz")
        for n_rows in given.rows:
            found = [scores(data, n_rows, seed) for seed in range(given.draws)]
            mean = {method: float(np.mean([one[method] for one in found])) for method in found[0]}
            best = max(RIVALS, key=mean.__getitem__)
            ahead = np.array([one["average"] - one[best] for one in found])
            error = float(ahead.std(ddof=1)) / len(ahead) ** 0.5 if len(ahead) > 1 else float("nan")
            lines.append(
                {"set": name, "rows": n_rows, **mean, "best": best, "ahead": f"{ahead.mean():+.3f} ± {error:.3f}"}
            )
            print(lines[-1], flush=True)
    table("Few rows with missing cells, nats per row", lines)


if __name__ == "__main__":
    main()
