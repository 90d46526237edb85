"""The search of bounded width on the sets of the density benchmark: a row of the table in RESULTS.md each.

    python benchmarks/bench_wide.py DATA --sets plants accidents [--hidden 3] [--cells 65536] [--max-width 8]

DATA is a folder of .npz files, as for ``fullspan bench density``. Training rows are searched; a set without parts is
cross-validated, in the same folds as there. ``--hidden K`` adds one hidden column of K levels. Printed are nats per
test row, the width and the terms of the model, processor seconds of a fit, peak memory, and of the pairs of two-level
columns with |r| > 0.1 in the training rows those that have |r| < 0.03 in the model. All pairs of the model are computed
exactly; r of the rows is that of plain shares, without any pseudo-row, and 0 where a column has one level. Of several
folds, nats are those of all rows, and everything else is of the last fold.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fullspan.data import Space
    from fullspan.model.fitted import Fitted

CLEAR, LOST = 0.1, 0.03


def correlations(cells: np.ndarray) -> np.ndarray:
    """``r`` of all pairs of two-level columns, from ``p(x_i = a, x_j = b)`` of all levels."""
    joint, one = cells[1::2, 1::2], np.diag(cells)[1::2]
    spread = np.sqrt(np.maximum(one * (1 - one), 1e-300))
    return (joint - np.outer(one, one)) / np.outer(spread, spread)


def lost(cells: np.ndarray, rows: np.ndarray) -> tuple[int, int]:
    """Clear correlations of the rows, and how many of them the model does not have."""
    above = np.triu_indices(rows.shape[1], 1)
    with np.errstate(invalid="ignore"):
        clear = np.abs(np.nan_to_num(np.corrcoef(rows.T)[above])) > CLEAR
    gone = clear & (np.abs(correlations(cells)[above]) < LOST)
    return int(clear.sum()), int(gone.sum())


def fitted_to(rows: np.ndarray, space: Space, given: argparse.Namespace) -> tuple[Fitted, float]:
    """A model of the rows, and its processor seconds."""
    from fullspan.data import Empirical, Variable
    from fullspan.learn.wide import WideOptions, fit_wide

    data = Empirical.from_codes(rows, space=space, allow_missing=True)
    hidden = [Variable("hidden", tuple(range(given.hidden)))] if given.hidden else []
    started = time.process_time()
    fitted = fit_wide(data, WideOptions(max_width=given.max_width, cells=given.cells), hidden=hidden)
    return fitted, time.process_time() - started


def one(path: Path, given: argparse.Namespace) -> None:
    """Fit one set and print its row."""
    from fullspan.bench.density_sets import read_set
    from fullspan.query.distributions.log_linear import LogLinearDistribution

    data, log = read_set(path), []
    for split in data.splits(given.folds, 0):
        fitted, seconds = fitted_to(split.known, data.space, given)
        distribution = LogLinearDistribution.of(fitted)
        test = split.test[(split.test >= 0).any(axis=1)]
        log.append(distribution.log_prob(test))
        if data.n_splits(given.folds) > 1:
            print(f"  fold {len(log)}: {log[-1].mean():.4f} in {seconds:.0f} s", file=sys.stderr, flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    clear, gone, n = 0, 0, len(data.space)
    if set(data.space.cards) == {2} and (split.known >= 0).all():
        pairs = distribution.pairs(np.inf)
        clear, gone = lost(pairs[: 2 * n, : 2 * n], split.known)
    print(
        f"| {path.stem} | {np.concatenate(log).mean():.3f} | {fitted.settings['width']} | {len(fitted.model.terms)} "
        f"| {seconds:.0f} s | {peak:.2f} GiB | {f'{gone} of {clear}' if clear else '–'} |",
        flush=True,
    )


def main() -> None:
    """Each set in a process of its own, so that peak memory is its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="+", default=["plants"])
    parser.add_argument("--cells", type=int)
    parser.add_argument("--max-width", type=int)
    parser.add_argument("--hidden", type=int, default=0)
    parser.add_argument("--folds", type=int, default=5)
    given = parser.parse_args()
    print("| set | test, nats per row | width | terms | processor | peak memory | correlations lost |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name in given.sets:
        arguments = given.data / f"{name}.npz", given
        process = multiprocessing.get_context("spawn").Process(target=one, args=arguments)
        process.start()
        process.join()


if __name__ == "__main__":
    main()
