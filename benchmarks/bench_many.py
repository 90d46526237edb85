"""Many small models at once: ``python benchmarks/bench_many.py [--tables 10000] [--singles 100] [--json FILE]``.

``fit_many`` on tables of 8 binary variables with 500 rows each, drawn from random sparse machines of their own, against
a loop of single fits of the same search, extrapolated from a sample of the tables that is fitted in the same run, half
before and half after. Both start from rows in memory; below that, the same from counts. Terms and weights are compared.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from report import seconds, table, write

import fullspan as fs
from fullspan.data.tables.grouped import Grouped, count_groups
from fullspan.learn.many.fit import fit_groups
from fullspan.learn.search.fit import fit_search
from fullspan.learn.search.options import Options

SEARCH: dict[str, Any] = {"search": "paper", "basis": "walsh", "dtype": "float64", "device": "cpu"}


def draw(n_tables: int, n: int, n_rows: int, seed: int) -> NDArray[np.int8]:
    """Rows (tables, rows, variables) of machines with random fields, and couplings on a quarter of all pairs."""
    rng = np.random.default_rng(seed)
    states = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
    spins = 1.0 - 2.0 * states
    pairs = np.column_stack([spins[:, i] * spins[:, j] for i in range(n) for j in range(i)])
    rows = np.empty((n_tables, n_rows, n), dtype=np.int8)
    for t in range(n_tables):
        couplings = rng.normal(size=pairs.shape[1]) * (rng.random(pairs.shape[1]) < 0.25)
        weights = np.exp(spins @ rng.normal(0, 0.5, n) + pairs @ couplings)
        rows[t] = states[rng.choice(1 << n, n_rows, p=weights / weights.sum())]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--singles", type=int, default=100)
    parser.add_argument("--variables", type=int, default=8)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = draw(given.tables, given.variables, given.rows, seed=1)
    names = [f"x{i}" for i in range(given.variables)]
    frame = pd.DataFrame(rows.reshape(-1, given.variables), columns=names)
    frame["group"] = np.repeat(np.arange(given.tables), given.rows)
    parts = [pd.DataFrame(rows[t], columns=names) for t in range(given.singles)]
    options, kept = Options(**SEARCH), {}
    levels = {name: [0, 1] for name in names}

    def loop(which: range) -> None:
        for t in which:
            kept[t] = fs.FullSpan(**SEARCH, levels=levels).fit(parts[t])

    def loop_of_counts(grouped: Grouped, which: range) -> None:
        for t in which:
            fit_search(grouped.empirical(t), options)

    fs.fit_many(frame[frame.group < 10], "group", levels=levels)  # compiled or fetched from the cache
    loop(range(2))
    half = given.singles // 2
    single = seconds(lambda: loop(range(half)))
    models: list[fs.GroupedModels] = []
    many = seconds(lambda: models.append(fs.fit_many(frame, "group", levels=levels)))
    single += seconds(lambda: loop(range(half, given.singles)))
    grouped = count_groups(frame, "group", levels=levels)
    counted_single = seconds(lambda: loop_of_counts(grouped, range(half)))
    counted_many = seconds(lambda: fit_groups(grouped, options))
    counted_single += seconds(lambda: loop_of_counts(grouped, range(half, given.singles)))

    found = models[0].models_
    same = [found.model(t).terms == kept[t].model_.terms for t in range(given.singles)]
    differences = [
        np.abs(found.model(t).theta - kept[t].model_.theta).max(initial=0) for t in range(given.singles) if same[t]
    ]
    results = []
    for name, one, all_of_them in (("from rows", single, many), ("from counts", counted_single, counted_many)):
        loop_s = one / given.singles * given.tables
        results.append({"": name, "single ms": 1e3 * one / given.singles, "loop s": loop_s, "fit_many s": all_of_them})
        results[-1]["times faster"] = loop_s / all_of_them
    table(f"{given.tables:,} tables of {given.variables} binary variables, {given.rows} rows each", results)
    print(f"same terms in {sum(same)} of {given.singles}; weights differ by {max(differences):.1e} at most")
    write(given.json, {"results": results, "same": sum(same), "of": given.singles, "gap": float(max(differences))})


if __name__ == "__main__":
    main()
