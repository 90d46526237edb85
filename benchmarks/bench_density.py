"""Density estimation by trees: ``python benchmarks/bench_density.py DATA [--sets nltcs ...] [--json FILE]``.

DATA is a folder of binary benchmark sets, ``NAME.npz`` with bits packed along rows (``train``, ``valid``, ``test`` and
``nvars``), and ``published_test_ll.json``. A Chow–Liu tree and a hidden Chow–Liu tree are learned from ``train``, what
is free is chosen on ``valid``, and mean log-likelihoods of ``test`` are printed beside the published ones, in nats per
row. Kernels are compiled before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from report import table, write

from fullspan.data import Empirical
from fullspan.learn.trees.chow_liu import chow_liu
from fullspan.learn.trees.hidden_tree import Rows, TreeOptions, fit_hidden_tree
from fullspan.space import Space

PARTS = ("train", "valid", "test")


def read(path: Path) -> dict[str, Empirical]:
    """The three parts of a set, counted."""
    file = np.load(path)
    n = int(file["nvars"])
    bits: dict[str, NDArray[np.uint8]] = {part: np.unpackbits(file[part], axis=1)[:, :n] for part in PARTS}
    return {part: Empirical.from_codes(rows, space=Space.of_cards([2] * n)) for part, rows in bits.items()}


def published(folder: Path) -> tuple[dict[str, float], dict[str, float]]:
    """Test log-likelihoods by set: of Chow–Liu trees, and of hidden ones (the authors' logs)."""
    known = json.loads((folder / "published_test_ll.json").read_text(encoding="utf-8"))["VERIFIED"]
    hidden = {name: values["test"] for name, values in known["HCLT_author_logs"]["values"].items()}
    return known["chow_liu_tree"]["test"], hidden


def measure(parts: dict[str, Empirical], options: TreeOptions) -> dict[str, Any]:
    """Learn both trees, and score the test rows."""
    test = Rows(parts["test"])
    start = time.perf_counter()
    plain = chow_liu(parts["train"])
    between = time.perf_counter()
    hidden = fit_hidden_tree(parts["train"], options, parts["valid"])
    end = time.perf_counter()
    return {
        "Chow-Liu": test.mean(plain.model),
        "hidden": test.mean(hidden.model),
        "valid": hidden.validation,
        "states": hidden.model.n_states,
        "Chow-Liu s": between - start,
        "hidden s": end - between,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--states", type=int, nargs="+", default=[16, 32])
    parser.add_argument("--smoothing", type=float, nargs="+", default=[0.3])
    parser.add_argument("--restarts", type=int, default=3)
    parser.add_argument("--max-iter", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    options = TreeOptions(given.states, given.smoothing, given.restarts, max_iter=given.max_iter, seed=given.seed)
    plain, hidden = published(given.data)
    few = Empirical.from_codes([[0, 1], [1, 0]])
    measure(dict.fromkeys(PARTS, few), TreeOptions(n_states=2, restarts=1, max_iter=1))
    rows = []
    for name in given.sets or sorted(path.stem for path in given.data.glob("*.npz")):
        parts = read(given.data / f"{name}.npz")
        found = measure(parts, options)
        size = {"set": name, "variables": len(parts["train"].space), "rows": parts["train"].n_rows}
        beside = {"published Chow-Liu": plain.get(name), "published hidden": hidden.get(name)}
        rows.append(size | found | beside)
        print(json.dumps(rows[-1]), flush=True)
        write(given.json, {"options": vars(options) | {"dtype": "float32"}, "rows": rows})
    short = [{key: f"{v:.4f}" if isinstance(v, float) and " s" not in key else v for key, v in r.items()} for r in rows]
    table("mean log-likelihood of the test rows, nats", short)
    known = [row for row in rows if row["published hidden"] is not None]
    reached = sum(row["hidden"] >= row["published hidden"] for row in known)
    above = sum(row["hidden"] > row["Chow-Liu"] for row in rows)
    print(f"at or above the published hidden tree: {reached} of {len(known)}; above Chow-Liu: {above} of {len(rows)}")


if __name__ == "__main__":
    main()
