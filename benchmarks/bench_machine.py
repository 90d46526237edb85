"""Boltzmann machines: ``python benchmarks/bench_machine.py [likelihood dit memory byrne missing] [--json FILE]``.

* likelihood: an exact pairwise machine of an Ising grid of 5 x 4 spins, N = 100,000, from counts to model, against
  SciPy's L-BFGS-B on a NumPy fast Walsh-Hadamard transform (``bench_lbfgs.py``), both until no expectation is off by
  more than 1e-5, and than 1e-7. ``fit_machine`` also finds standard errors and measures of fit; L-BFGS does not.
* dit: the same with 12 and 15 spins against ``dit``'s maximum-entropy fit of all pairs (its default, IPF to 1e-10);
  needs ``pip install dit``.
* memory: peak of a fresh process that fits the first, above its size before the fit, in tables of 8 |X| bytes.
* byrne: ten runs of Byrne's Fig. 4, five hidden and five visible units, 750 iterations each.
* missing: 16 binary columns, 20,000 rows, one cell in ten missing, against the same rows with no cell missing.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench_lbfgs
import numpy as np
from report import in_turns, seconds, table, write

from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.learn.likelihood.machine import fit_machine
from fullspan.learn.likelihood.options import MachineOptions
from fullspan.papers.byrne import EXACT, family
from fullspan.papers.fsll_table1 import draw
from fullspan.papers.truths import Network, ising

N_ROWS = 100_000
SEED = 100
Rows = list[dict[str, Any]]


def grid(rows: int, columns: int) -> Empirical:
    """Counts of N rows of an Ising grid."""
    return draw(ising(rows, columns), N_ROWS, SEED)


def likelihood(repeats: int) -> Rows:
    data = grid(5, 4)
    out = []
    for tol in (1e-5, 1e-7):
        options = MachineOptions(basis="walsh", tol=tol)
        fit_machine(data, options)  # compiled, and warm
        kept: list[tuple[bench_lbfgs.Boltzmann, Any]] = []

        def lbfgs(tol: float = tol, kept: list[Any] = kept) -> None:
            machine = bench_lbfgs.Boltzmann(data)
            kept.append((machine, machine.fit(tol)))

        ours: Callable[[], Any] = lambda options=options: fit_machine(data, options)  # noqa: E731
        times = in_turns({"lbfgs": lbfgs, "fullspan": ours}, repeats)
        fitted = ours()
        machine, theta = kept[-1]
        out.append(
            {
                "n": 20,
                "tol": tol,
                "lbfgs_s": times["lbfgs"],
                "evaluations": machine.evaluations,
                "left": float(np.abs(machine(theta)[1]).max()),
                "fullspan_s": times["fullspan"],
                "steps": fitted.settings["iterations"],
                "fullspan_left": fitted.settings["violation"],
                "ratio": times["lbfgs"] / times["fullspan"],
            }
        )
    table("Pairwise maximum likelihood, Ising 5x4, N = 100,000 (target: ratio >= 20)", out)
    return out


def dit(repeats: int) -> Rows:
    title = "Against dit's maximum-entropy fit, all pairs, N = 100,000 (target at n = 15: ratio >= 100)"
    try:
        import dit as rival
    except ImportError:
        print(f"\n{title}\ndit is not installed: pip install dit")
        return []
    out = []
    for shape in ((4, 3), (5, 3)):
        data, n = grid(*shape), shape[0] * shape[1]
        words = ["".join(map(str, state)) for state in data.states.tolist()]
        given = rival.Distribution(words, (data.counts / data.total).tolist())
        pairs = list(itertools.combinations(range(n), 2))
        fit_machine(data)
        ours = statistics.median(seconds(lambda data=data: fit_machine(data)) for _ in range(5 * repeats))
        found: list[Any] = []
        theirs = seconds(lambda d=given, p=pairs, f=found: f.append(rival.algorithms.maxent_dist(d, p)))
        states = np.array([list(map(int, word)) for word in found[0].outcomes])
        p = np.exp(fit_machine(data).model.log_prob(states))
        out.append(
            {
                "n": n,
                "dit_s": theirs,
                "fullspan_s": ours,
                "ratio": theirs / ours,
                "largest_difference": float(np.abs(p - found[0].pmf).max()),
            }
        )
    table(title, out)
    return out


def memory(repeats: int) -> Rows:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in (20, 22, 24):
            path = Path(folder) / "counts.npz"
            data = grid(5, 4) if n == 20 else _network(n, N_ROWS)
            np.savez(path, states=data.states, counts=data.counts)
            command = [sys.executable, __file__, "--here", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append(json.loads(done.stdout))
    table("Peak memory of pairwise maximum likelihood, N = 100,000 (target: 3 tables of 8 |X| bytes)", rows)
    return rows


def here(path: Path) -> None:
    """Fit the counts of a file in this process, and print its peak; n = 20 is the Ising grid, others are networks."""
    with np.load(path) as kept:
        states, counts = kept["states"], kept["counts"]
    options = MachineOptions(basis="walsh")
    fit_machine(grid(4, 3), options)
    data = Empirical(Space.of_cards((2,) * states.shape[1]), states, counts, N_ROWS)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is now the present size
    base = _peak_mib()
    fit_machine(data, options)
    tables = (_peak_mib() - base) / (8 * data.space.n_states / 2**20)
    row = {"n": states.shape[1], "distinct_rows": len(states), "base_MiB": base, "peak_MiB": _peak_mib()}
    print(json.dumps({**row, "tables": tables}))


def _peak_mib() -> float:
    """Largest resident size of this process, as Linux counts it."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def _network(n: int, size: int) -> Empirical:
    rng = np.random.default_rng(SEED)
    return Empirical.from_codes(Network.random(n, 2, rng).draw(size, rng))


def byrne(repeats: int) -> Rows:
    family("warm", 5, 5, 1, 10, 0, EXACT, lambda text: None)
    start = time.process_time()
    found = family("exact", 5, 5, 10, 750, 0, EXACT, lambda text: None)
    used = time.process_time() - start
    rows = [{"runs": 10, "iterations": 750, "seconds": found.seconds, "cpu_s": used, "cpu_ms_per_step": used / 7.5}]
    table("Ten runs of Byrne's Fig. 4, 5 hidden and 5 visible units (target: seconds)", rows)
    return rows


def missing(repeats: int) -> Rows:
    space, out = Space.of_cards((2,) * 16), []
    for name, rows in (("Ising 4x4", _ising_rows()), ("network, two parents", _network_rows())):
        holes = np.where(np.random.default_rng(SEED).random(rows.shape) < 0.1, -1, rows)
        complete = Empirical.from_codes(rows, space=space)
        incomplete = Empirical.from_codes(holes, space=space, allow_missing=True)
        fit_machine(complete)
        fit_machine(incomplete)
        actions: dict[str, Callable[[], object]] = {
            "complete": lambda data=complete: fit_machine(data),
            "missing": lambda data=incomplete: fit_machine(data),
        }
        times = in_turns(actions, 5 * repeats)
        out.append(
            {
                "data": name,
                "distinct_rows": len(incomplete.states),
                "complete_s": times["complete"],
                "missing_s": times["missing"],
                "ratio": times["missing"] / times["complete"],
            }
        )
    table("missing='em', 16 binary columns, 20,000 rows, 10% missing, against complete rows (target: ratio <= 20)", out)
    return out


def _ising_rows() -> np.ndarray[Any, Any]:
    truth = ising(4, 4)
    index, counts = truth.sample(20_000, np.random.default_rng(SEED))
    rows = np.repeat(truth.space.states(index).astype(np.int64), counts.astype(np.int64), axis=0)
    return np.random.default_rng(SEED).permutation(rows)


def _network_rows() -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(SEED)
    return Network.random(16, 2, rng).draw(20_000, rng).astype(np.int64)


PARTS = {"likelihood": likelihood, "dit": dit, "memory": memory, "byrne": byrne, "missing": missing}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="which of them; all by default")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--here", type=Path, help="fit the counts of this file and print the peak of memory as JSON")
    options = parser.parse_args()
    if options.here:
        here(options.here)
        return
    write(options.json, {name: PARTS[name](options.repeats) for name in options.parts or PARTS})


if __name__ == "__main__":
    main()
