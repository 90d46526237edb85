"""Gibbs sweeps: ``python benchmarks/bench_gibbs.py [--digits FILE.npz] [--repeats N] [--json FILE]``.

Fully connected machines of 784 binary units, 100 chains. Spin updates per second of the compiled sweep against NumPy
sweeps that are vectorised over the chains (for every unit, one product of all states with a row of couplings), in
turns: as one would write it, and tuned (states unit by unit, noise drawn at once), each in double and single precision.
Then the time of a sweep for 50 to 400 chains. On a machine that others use too, the clock says little: next to it is
the processor time of one core for one update. How fast a sweep is depends on how often units flip, so there are weak
and strong random couplings, and with ``--digits`` (bits packed along rows as ``bits_gt05``) a machine learned from
digits.
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

from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.engine.sampling.chains import Chains
from fullspan.engine.sampling.pairwise import Pairwise
from fullspan.engine.sampling.target import Base
from fullspan.learn.contrastive.ascent import Ascent, AscentRun, Walk, form_of
from fullspan.learn.contrastive.machine import independent
from fullspan.learn.likelihood.structure import structure
from fullspan.model.algebra.basis import Basis

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
    found = AscentRun(walk, data.states, data.counts, start, how, rng, lambda done, theta: None).run()
    target = walk.form.target(found.theta)
    assert isinstance(target, Pairwise)
    return target


def numpy_sweep(x: NDArray[Any], w: NDArray[Any], b: NDArray[Any], rng: np.random.Generator) -> None:
    """One sweep of all chains (chains, units), in place, as one would write it."""
    for i in range(x.shape[1]):
        field = x @ w[i] + b[i]
        x[:, i] = rng.random(len(x), dtype=x.dtype) * (1 + np.exp(-field)) < 1


def tuned_sweep(x: NDArray[Any], w: NDArray[Any], b: NDArray[Any], rng: np.random.Generator) -> None:
    """The same of (units, chains): rows that lie together, and the noise of the sweep drawn at once."""
    u = rng.uniform(1e-7, 1.0, size=x.shape).astype(x.dtype)
    threshold = np.log(u) - np.log1p(-u * (1 - 1e-7)) - b[:, None]
    for i in range(len(x)):
        x[i] = w[i] @ x > threshold[i]


def rivals(machine: Pairwise, states: NDArray[Any], rng: np.random.Generator) -> dict[str, Callable[[], object]]:
    """Sweeps in NumPy: in double and single precision, and with the states laid out for it."""
    out: dict[str, Callable[[], object]] = {}
    for name, kind in (("double", np.float64), ("single", np.float32)):
        x, w, b = states.astype(kind), machine.coupling.astype(kind), machine.bias.astype(kind)
        columns = np.ascontiguousarray(x.T)
        out[f"NumPy {name}"] = lambda x=x, w=w, b=b: numpy_sweep(x, w, b, rng)
        out[f"tuned {name}"] = lambda x=columns, w=w, b=b: tuned_sweep(x, w, b, rng)
    return out


def processor_time(action: Callable[[], object]) -> float:
    """Seconds of processor time, of all threads."""
    start = time.process_time()
    action()
    return time.process_time() - start


def compare(
    name: str, machine: Pairwise, rng: np.random.Generator, repeats: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """By the clock on all cores, and in nanoseconds of one core for one update."""
    chains = Chains(machine, CHAINS, rng)
    chains.sweep(50)
    before = chains.states.copy()
    chains.sweep(1)
    flips = float((before != chains.states).mean())
    others = rivals(machine, chains.states, rng)
    found = in_turns({"compiled": lambda: chains.sweep(SWEEPS), **others}, repeats)
    updates = CHAINS * UNITS
    with threadpool_limits(1):
        numba.set_num_threads(1)
        ours = min(processor_time(lambda: chains.sweep(SWEEPS)) for _ in range(repeats)) / SWEEPS / updates
        theirs = {k: min(processor_time(f) for _ in range(repeats)) / updates for k, f in others.items()}
        numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    clock = {
        "machine": name,
        "units that flip": flips,
        "compiled, million/s": updates * SWEEPS / found["compiled"] / 1e6,
        **{f"times {k}": SWEEPS * found[k] / found["compiled"] for k in others},
    }
    core = {
        "machine": name,
        "compiled, ns": 1e9 * ours,
        **{f"{k}, ns": 1e9 * t for k, t in theirs.items()},
        **{f"times {k}": t / ours for k, t in theirs.items()},
    }
    return clock, core


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
    table(f"{UNITS} units, all pairs, {CHAINS} chains, by the clock (target: 10 times NumPy)", [c for c, _ in speed])
    table("Processor time of one core for one update", [c for _, c in speed])
    scaling = by_chains(machines["weak couplings"], rng, given.repeats)
    table("Time by chains, weak couplings", scaling)
    write(given.json, {"speed": speed, "chains": scaling})


if __name__ == "__main__":
    main()
