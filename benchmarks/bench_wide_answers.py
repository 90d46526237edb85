"""Time of everything that is asked of a model of hundreds of columns: ``python benchmarks/bench_wide_answers.py``.

A planted network of 300 two-level columns is sampled and learned again (``learn_network``; with ``--search``, by the
search of ``FullSpan``), and the log-linear model that it is answers questions. ``--model FILE`` asks a model file
instead, ``--columns`` and ``--rows`` change the size.
Processor seconds of the first and of a second call: the first one may compile.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import fullspan as fs
from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.learn.networks import learn_network
from fullspan.learn.wide import fit_wide
from fullspan.model.files.log_linear import write
from fullspan.model.fitted import Fitted


def planted(n: int, rows: int, rng: np.random.Generator, near: int = 12) -> Empirical:
    """Rows of a network in which every column has up to three parents among the ``near`` before it."""
    columns: list[np.ndarray] = []
    for v in range(n):
        parents = rng.choice(np.arange(max(0, v - near), v), size=min(v, int(rng.integers(1, 4))), replace=False)
        chance = rng.beta(0.5, 0.5, size=2 ** len(parents))
        state = sum((columns[u] << k for k, u in enumerate(parents)), np.zeros(rows, dtype=np.int64))
        columns.append((rng.random(rows) < chance[state]).astype(np.int64))
    return Empirical.from_codes(np.column_stack(columns), space=Space.of_cards([2] * n))


def learned(columns: int, rows: int, is_searched: bool) -> Any:
    """A model of such rows."""
    data = planted(columns, rows, np.random.default_rng(0))
    started = time.process_time()
    if is_searched:
        fitted = fit_wide(data)
        print(f"a search of width {fitted.settings['width']}, {fitted.settings['cells']:,} cells: ", end="")
    else:
        network = learn_network(data, max_cells=1 << 18)
        fitted = Fitted.given(network.log_linear())
        print(f"a network of {sum(map(len, network.parents))} arcs, {network.cells:,.0f} cells to be summed: ", end="")
    print(f"{time.process_time() - started:.1f} processor seconds")
    with TemporaryDirectory() as folder:
        write(fitted, Path(folder, "m.fsm"))
        return fs.load(Path(folder, "m.fsm"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model")
    parser.add_argument("--columns", type=int, default=300)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--search", action="store_true", help="learn by the search, not a network alone")
    given = parser.parse_args()
    model = fs.load(given.model) if given.model else learned(given.columns, given.rows, given.search)
    distribution, rng = model.distribution_, np.random.default_rng(0)
    space = distribution.space
    names = space.names
    print(f"{len(names)} columns, {len(model.fitted_.model.terms):,} terms")

    def evidence(k: int) -> dict[str, Any]:
        return {names[i]: space.variables[i].levels[0] for i in rng.choice(len(names), k, replace=False)}

    def asked(given: dict[str, Any]) -> str:
        return str(rng.choice([name for name in names if name not in given]))

    def conditional(k: int) -> Any:
        known = evidence(k)
        return model.conditional(asked(known), given=known)

    rows = np.asarray(distribution.sample(1000, rng), dtype=np.int64)
    gaps = np.where(rng.random(rows.shape) < 0.05, -1, rows)
    questions: dict[str, Callable[[], Any]] = {
        "one conditional, 5 columns given": lambda: conditional(5),
        "one conditional, 100 columns given": lambda: conditional(min(100, len(names) // 2)),
        "all marginals, 5 columns given": lambda: distribution.marginals(evidence(5)),
        "mutual information of two columns": lambda: model.mutual_information(names[0], names[-1]),
        "mode, 5 columns given": lambda: model.mode(given=evidence(5)),
        "sample 1,000 rows": lambda: model.sample(1000, random_state=0),
        "score 1,000 rows": lambda: distribution.log_prob(rows),
        "score 1,000 rows, cells missing": lambda: distribution.log_prob(gaps),
        "impute 1,000 rows": lambda: distribution.impute(gaps),
        "entropy of all columns": model.entropy,
        "terms_": lambda: len(model.terms_),
        "interactions_": lambda: len(model.interactions_),
    }
    for what, ask in questions.items():
        seconds = []
        for _ in range(2):
            started = time.process_time()
            ask()
            seconds.append(time.process_time() - started)
        print(f"{what:<36}{seconds[0]:>9.3f} s{seconds[1]:>9.3f} s", flush=True)


if __name__ == "__main__":
    main()
