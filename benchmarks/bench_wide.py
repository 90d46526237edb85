"""The search of bounded width on the sets of the density benchmark: a row of the table in
docs/cookbook/wide.md for each.

    python benchmarks/bench_wide.py DATA --sets plants accidents [--cells 65536] [--max-width 8]

DATA is a folder with one .npz for each set (bits packed along rows: train, test, nvars). Training rows are searched.
Printed are nats per test row, the width and the terms of the model, processor seconds, peak memory, and of the pairs of
columns with |r| > 0.1 in the training rows those that have |r| < 0.03 in the model. All pairs of the model are computed
exactly; r of the rows is that of plain shares, without any pseudo-row, and 0 where a column has one level.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from pathlib import Path

import numpy as np

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


def one(path: Path, cells: int | None, max_width: int | None) -> None:
    """Fit one set and print its row."""
    from fullspan.data import Empirical, Space
    from fullspan.engine.elimination.pairs import pair_cells
    from fullspan.learn.wide import WideOptions, fit_wide
    from fullspan.learn.wide.terms import Terms
    from fullspan.learn.wide.width import Width

    packed = np.load(path)
    n = int(packed["nvars"])
    train, test = (np.unpackbits(packed[part], axis=1)[:, :n] for part in ("train", "test"))
    data = Empirical.from_codes(train, space=Space.of_cards((2,) * n))
    started = time.process_time()
    fitted = fit_wide(data, WideOptions(max_width=max_width, cells=cells))
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    model, width = fitted.model, Width(data.space.cards, np.inf)
    width = Width.around(data.space.cards, [[i for i, _ in term] for term in model.terms], width)
    terms = Terms(data.space, model.basis, model.terms, width.order, width.separators())
    clear, gone = lost(pair_cells(terms.cliques, terms.tables(model.theta)), train)
    print(
        f"| {path.stem} | {model.log_prob(test).mean():.3f} | {fitted.settings['width']} | {len(model.terms)} "
        f"| {seconds:.0f} s | {peak:.2f} GiB | {gone} of {clear} |",
        flush=True,
    )


def main() -> None:
    """Each set in a process of its own, so that peak memory is its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="+", default=["plants"])
    parser.add_argument("--cells", type=int)
    parser.add_argument("--max-width", type=int)
    given = parser.parse_args()
    print("| set | test, nats per row | width | terms | processor | peak memory | correlations lost |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name in given.sets:
        arguments = given.data / f"{name}.npz", given.cells, given.max_width
        process = multiprocessing.get_context("spawn").Process(target=one, args=arguments)
        process.start()
        process.join()


if __name__ == "__main__":
    main()
