"""Gibbs sweeps: ``python benchmarks/bench_gibbs.py [--digits FILE.npz] [--repeats N] [--json FILE]``.

Fully connected machines of 784 binary units, 100 chains. Spin updates per second of the compiled sweep beside a NumPy
sweep that is vectorised over the chains (for every unit, one product of all states with a row of couplings), in turns;
then the time of a sweep for 50 to 400 chains. On a machine that others use too, the clock says little: beside it stands
the processor time of one core for one update, of both, whose ratio times the cores is what free cores give. How fast a
sweep is depends on how often units flip, so there are weak and strong random couplings, and with ``--digits`` (bits
packed along rows as ``bits_gt05``) a machine learned from digits.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from report import in_turns, table, write
from threadpoolctl import threadpool_limits

from fullspan.algebra.basis import Basis
from fullspan.data import Empirical
from fullspan.engine.sampling.chains import Chains
from fullspan.engine.sampling.pairwise import Pairwise
from fullspan.engine.sampling.target import Base
from fullspan.learn.contrastive.ascent import Ascent, Climb
from fullspan.learn.contrastive.form import Walk, form_of
from fullspan.learn.contrastive.machine import independent
from fullspan.learn.likelihood.structure import structure
from fullspan.space import Space

UNITS, CHAINS, SWEEPS = 784, 100, 32


def random_machine(coupling: float, bias: float, rng: np.random.Generator) -> Pairwise:
    """Normal couplings of standard deviation ``coupling / sqrt(n)``, normal biases."""
    upper = np.triu(rng.normal(scale=coupling / np.sqrt(UNITS), size=(UNITS, UNITS)), 1)
    return Pairwise(rng.normal(scale=bias, size=UNITS), upper + upper.T)


def digits_machine(path: Path, rng: np.random.Generator, updates: int = 300) -> Pairwise:
    """All pairs of pixels, by some updates of persistent contrastive divergence."""
    rows = np.unpackbits(np.load(path)["bits_gt05"], axis=1)[:2000, :UNITS]
    space = Space.of_cards((2,) * UNITS)
    data = Empirical.from_codes(rows, space=space)
    basis = Basis("monomial", space.cards)
    terms = structure(space, 2, limit=1 << 20).terms(basis, 1 << 20)
    walk = Walk(form_of(space, basis, terms))
    start = independent(basis, terms, Base.of_states(np.array(space.cards), data.states, data.counts))
    how = Ascent(0.01, updates, CHAINS, 1, restart=False, average=False, l2=0.001)
    found = Climb(walk, data.states, data.counts, start, how, rng, lambda done, theta: None).run()
    target = walk.form.target(found.theta)
    assert isinstance(target, Pairwise)
    return target


def numpy_sweep(x: NDArray[Any], w: NDArray[Any], b: NDArray[Any], rng: np.random.Generator) -> None:
    """One sweep of all chains, in place."""
    for i in range(x.shape[1]):
        field = x @ w[i] + b[i]
        x[:, i] = rng.random(len(x), dtype=np.float32) * (1 + np.exp(-field)) < 1


def processor_time(action: Callable[[], object]) -> float:
    """Seconds of processor time, of all threads."""
    start = time.process_time()
    action()
    return time.process_time() - start


def compare(name: str, machine: Pairwise, rng: np.random.Generator, repeats: int) -> dict[str, Any]:
    chains = Chains(machine, CHAINS, rng)
    chains.sweep(50)
    before = chains.states.copy()
    chains.sweep(1)
    flips = float((before != chains.states).mean())
    x = chains.states.astype(np.float32)
    w, b = machine.coupling.astype(np.float32), machine.bias.astype(np.float32)
    found = in_turns({"compiled": lambda: chains.sweep(SWEEPS), "numpy": lambda: numpy_sweep(x, w, b, rng)}, repeats)
    updates = CHAINS * UNITS
    with threadpool_limits(1):
        numba.set_num_threads(1)
        ours = min(processor_time(lambda: chains.sweep(SWEEPS)) for _ in range(3)) / SWEEPS / updates
        theirs = min(processor_time(lambda: numpy_sweep(x, w, b, rng)) for _ in range(3)) / updates
        numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    return {
        "machine": name,
        "units that flip": flips,
        "compiled, million/s": updates * SWEEPS / found["compiled"] / 1e6,
        "NumPy, million/s": updates / found["numpy"] / 1e6,
        "ratio (>= 10)": SWEEPS * found["numpy"] / found["compiled"],
        "compiled, ns of a core": 1e9 * ours,
        "NumPy, ns of a core": 1e9 * theirs,
        "ratio per core": theirs / ours,
    }


def by_chains(machine: Pairwise, rng: np.random.Generator, repeats: int) -> list[dict[str, Any]]:
    """Seconds of a sweep as the chains double."""
    sets = {str(n): Chains(machine, n, rng) for n in (50, 100, 200, 400)}
    for chains in sets.values():
        chains.sweep(2)
    found = in_turns({name: lambda c=chains: c.sweep(SWEEPS) for name, chains in sets.items()}, repeats)
    return [
        {"chains": n, "ms a sweep": 1e3 * t / SWEEPS, "µs a sweep and chain": 1e6 * t / SWEEPS / int(n)}
        for n, t in found.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--digits", type=Path, help="file of digits to learn a machine from")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    machines = {"weak couplings": random_machine(1.0, 0.5, rng), "strong couplings": random_machine(4.0, 1.0, rng)}
    if given.digits is not None:
        machines["learned from digits"] = digits_machine(given.digits, rng)
    speed = [compare(name, machine, rng, given.repeats) for name, machine in machines.items()]
    table(f"{UNITS} units, all pairs, {CHAINS} chains", speed)
    scaling = by_chains(machines["weak couplings"], rng, given.repeats)
    table("Time by chains, weak couplings", scaling)
    write(given.json, {"speed": speed, "chains": scaling})


if __name__ == "__main__":
    main()
