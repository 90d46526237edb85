"""Tables of hundreds of columns from a planted network: the fit, how near it comes, and what questions take after it.

    python benchmarks/bench_columns.py [--columns 300 1000] [--rows 8000 4800]

Every two-level column depends on one to three of the six before it, by a logistic function; the columns are shuffled.
Printed are processor seconds, nats per test row behind the true network, the share of its edges that are among the
pairs of the model, and the share of the model's pairs that neither are edges nor have a child in common.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TEST = 2000


def planted(columns: int, rows: int) -> tuple[np.ndarray, np.ndarray, set[frozenset[int]], set[frozenset[int]]]:
    """Rows, their true log-probabilities, the edges, and the pairs with a child in common."""
    rng = np.random.default_rng(7)
    codes, log = np.zeros((rows, columns), dtype=np.int8), np.zeros(rows)
    families: list[tuple[int, ...]] = []
    for i in range(columns):
        k = min(i, int(rng.integers(1, 4)))
        parents = rng.choice(np.arange(max(0, i - 6), i), size=k, replace=False) if k else np.zeros(0, dtype=np.int64)
        z = rng.normal(0, 0.5) + (2.0 * codes[:, parents] - 1) @ rng.normal(0, 1.2, size=k)
        codes[:, i] = rng.random(rows) < 1 / (1 + np.exp(-z))
        log -= np.logaddexp(0.0, np.where(codes[:, i] == 1, -z, z))
        families.append((i, *map(int, parents)))
    place = np.argsort(order := rng.permutation(columns))
    edges = {frozenset((int(place[f[0]]), int(place[p]))) for f in families for p in f[1:]}
    moral = {frozenset((int(place[a]), int(place[b]))) for f in families for a, b in itertools.combinations(f, 2)}
    return codes[:, order], log, edges, moral


def one(columns: int, rows: int) -> None:
    """Fit one table, ask, and print."""
    import fullspan as fs

    codes, log, edges, moral = planted(columns, rows + TEST)
    names = [f"q{i}" for i in range(columns)]
    train, test = ({name: part[:, i] for i, name in enumerate(names)} for part in (codes[:rows], codes[rows:]))
    some = {name: column[:200].astype(float) for name, column in test.items()}
    hole = np.random.default_rng(0).random((200, columns)) < 0.1
    for i, name in enumerate(names):
        some[name][hole[:, i]] = np.nan
    import pandas as pd

    train, test, some = pd.DataFrame(train), pd.DataFrame(test), pd.DataFrame(some)
    took: dict[str, float] = {}

    def timed(what: str, do: Callable[[], Any]) -> Any:
        began = time.process_time()
        found = do()
        took[what] = time.process_time() - began
        return found

    model = fs.FullSpan(verbose=False)
    timed("fit", lambda: model.fit(train))
    score = timed("score 2,000 rows", lambda: model.score(test))
    timed("`terms_`", lambda: len(model.terms_))
    timed("`interactions_`", lambda: len(model.interactions_))
    evidence = {f"q{i}": 1 for i in range(50, 70)}
    timed("a probability given 20 columns", lambda: model.probability({"q5": 1}, evidence))
    timed("all marginals given 20 columns", lambda: model.distribution_.marginals(evidence))
    timed("1,000 samples", lambda: model.sample(1000, random_state=0))
    timed("200 rows imputed, a tenth missing", lambda: model.impute(some))
    timed("summary", lambda: str(model.summary()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.fsm"
        timed("saved", lambda: model.save(path))
        again = timed("loaded", lambda: fs.load(path))
    timed("probabilities of all pairs", lambda: again.distribution_.pairs())
    pairs = {frozenset(i for i, _ in term) for term in model.model_.terms if len(term) == 2}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{columns} columns, {rows:,} rows: width {model.fitted_.settings['width']}, {len(model.terms_)} terms, "
        f"{log[rows:].mean() - score:.2f} nats behind the truth ({log[rows:].mean():.2f}), "
        f"{len(edges & pairs) / len(edges):.1%} of {len(edges)} edges found, {len(pairs - moral) / len(pairs):.1%} "
        f"of the pairs planted nowhere, peak {peak:.2f} GiB"
    )
    for what, seconds in took.items():
        print(f"    {seconds:8.2f} s  {what}", flush=True)


def main() -> None:
    """Each table in a process of its own, so that peak memory is its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, nargs="+", default=[300, 1000])
    parser.add_argument("--rows", type=int, nargs="+", default=[8000, 4800])
    given = parser.parse_args()
    for columns, rows in zip(given.columns, given.rows, strict=True):
        process = multiprocessing.get_context("spawn").Process(target=one, args=(columns, rows))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
