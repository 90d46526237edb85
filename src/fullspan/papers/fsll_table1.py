"""Table 1 of the full-span paper, rows FL, BM-DI and BM-PCD: published next to measured.

M. Takabatake and S. Akaho, "Full-span log-linear model and fast learning algorithm", Neural Computation 34 (2022),
section 3: an Ising grid of 5 x 4 spins with coupling 1/2, and random Bayesian networks of 20 nodes with 37 and with 54
edges, N = 1,000 and 100,000 rows each. FL is the full-span model; BM-DI the exact Boltzmann machine of all pairs, 210
basis functions, by maximum likelihood without penalty; BM-PCD the same machine by persistent contrastive divergence, of
which the paper states a learning rate of 0.01, 100 Markov chains and a length of 10,000: here 10,000 updates of one
sweep each, and the last weights, without averaging. The authors' networks are not published, and theirs is one draw
of each; ours are fresh draws of the same kind, one per seed, and the medians are shown. Their time is CPU time of a
Java program on one laptop; ours is wall-clock time from counts to model.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from fullspan.data import Empirical
from fullspan.learn.likelihood.machine import fit_machine
from fullspan.learn.likelihood.options import MachineOptions
from fullspan.learn.search.fit import fit_search
from fullspan.learn.search.options import Options
from fullspan.model import Fitted
from fullspan.papers.text import columns
from fullspan.papers.truths import Truth, ising, random_network

SEARCHES = {"paper": Options(search="paper", basis="walsh"), "full": Options(basis="walsh")}
"""The published algorithm in the published basis, and the defaults of this package."""
MACHINE = MachineOptions(order=2, basis="walsh")
PCD = MachineOptions(
    order=2, basis="walsh", solver="pcd", learning_rate=0.01, n_chains=100, max_iter=10_000, mean_weights=False, seed=0
)
"""As the paper has it."""
LEARNERS: dict[str, Options | MachineOptions] = {**SEARCHES, "machine": MACHINE, "pcd": PCD}
MODELS = {"paper": "FL", "full": "FL", "machine": "BM-DI", "pcd": "BM-PCD"}
"""The published row that each learner is compared with."""
ABSENT = -700.0
"""Log-probability below which a state is off the limit of a machine whose maximum lies at infinity."""


@dataclass(frozen=True)
class Numbers:
    """One row of the table: divergences in nats, basis functions in use, seconds."""

    kl_data: float
    kl_true: float
    n_basis: float
    seconds: float


@dataclass(frozen=True)
class DataSet:
    """A data set of the table: how its truth is drawn from a seed, its rows, and what was published."""

    name: str
    truth: Callable[[int], Truth]
    n_rows: int
    published: Numbers | None = None
    published_machine: Numbers | None = None
    published_pcd: Numbers | None = None

    def published_for(self, learner: str) -> Numbers | None:
        """The published row to compare a learner with."""
        return {"FL": self.published, "BM-DI": self.published_machine, "BM-PCD": self.published_pcd}[MODELS[learner]]


@dataclass(frozen=True)
class Row:
    """What one learner reached on one data set, seed by seed."""

    data: str
    n_rows: int
    search: str
    published: Numbers | None
    measured: tuple[Numbers, ...]

    @property
    def median(self) -> Numbers:
        values = zip(*(asdict(numbers).values() for numbers in self.measured), strict=True)
        return Numbers(*map(statistics.median, values))

    @property
    def n_infinite(self) -> int:
        """Draws whose likelihood has its maximum at infinity, where a state of the truth has probability 0."""
        return sum(not math.isfinite(numbers.kl_true) for numbers in self.measured)


@dataclass(frozen=True)
class Table1:
    """All rows."""

    seeds: int
    rows: tuple[Row, ...]

    def to_json(self) -> dict[str, Any]:
        rows = [
            {
                "data": row.data,
                "n_rows": row.n_rows,
                "model": MODELS[row.search],
                "search": row.search,
                "published": None if row.published is None else asdict(row.published),
                "median": asdict(row.median),
                "by_seed": [asdict(numbers) for numbers in row.measured],
            }
            for row in self.rows
        ]
        return {"experiment": "fsll-table1", "seeds": self.seeds, "rows": rows}

    def to_text(self) -> str:
        head = ("data", "N", "model", "search", "KL(p_d||p)", "KL(p*||p)", "basis functions", "seconds")
        lines: list[tuple[str, ...]] = []
        for row in self.rows:
            label = (row.data, f"{row.n_rows:,}", MODELS[row.search])
            if row.published is not None and (not lines or lines[-1][:3] != label):
                lines.append((*label, "published", *_cells(row.published)))
            lines.append((*label, row.search, *_cells(row.median)))
        note = _NOTE.format(
            seeds=f"{self.seeds} seed{'s' * (self.seeds > 1)}", infinite=sum(row.n_infinite for row in self.rows)
        )
        return "\n".join([*columns(head, lines, (0, 2, 3)), "", note])


_NOTE = """\
published: Table 1 of the paper. paper: the published algorithm here. full: this package's default. machine: all
pairs, maximum likelihood by Newton's method. pcd: all pairs by persistent contrastive divergence, 100 chains, 10,000
updates at the rate 0.01, compared by exact sums. All in the paper's basis. Measured values are medians over {seeds};
nats; seconds of wall-clock time. Where the maximum of a machine lies at infinity, which can happen at N = 1,000, its
limit is taken: states that it excludes have probability 0, and KL(p*||p) is infinite (here in {infinite} fits)."""


def _cells(numbers: Numbers) -> tuple[str, ...]:
    return f"{numbers.kl_data:.3f}", f"{numbers.kl_true:.5f}", f"{numbers.n_basis:g}", f"{numbers.seconds:.2f}"


def _ising(seed: int) -> Truth:
    return ising()


def _network(parents: int) -> Callable[[int], Truth]:
    return lambda seed: random_network(20, parents, np.random.default_rng(1000 + seed))


_PUBLISHED = """
Ising 5x4    1000   2.501 0.012  31  5   2.424 0.087 13   2.504 0.094 3
Ising 5x4  100000   0.476 0.004  37  9   0.473 0.002 12   0.528 0.053 3
BN20-37      1000   4.355 0.317  39  5   4.746 0.863 17   4.803 0.903 3
BN20-37    100000   0.697 0.026 105 12   1.422 0.750 19   1.477 0.806 3
BN20-54      1000   3.288 0.697  41  5   3.743 1.301 23   3.826 1.338 3
BN20-54    100000   0.430 0.057 192 23   1.545 1.166 21   1.62  1.242 3
"""
"""Data set, rows; FL: KL(p_d||p), KL(p*||p), basis functions, seconds; BM-DI and BM-PCD the same with 210 functions."""
_TRUTHS = {"Ising 5x4": _ising, "BN20-37": _network(2), "BN20-54": _network(3)}


def _data_set(line: str) -> DataSet:
    name, *rest = line[:10].strip(), *line[10:].split()
    rows, a, b, k, s, *machines = map(float, rest)
    full, others = Numbers(a, b, k, s), [Numbers(x, y, 210, t) for x, y, t in (machines[:3], machines[3:])]
    return DataSet(name, _TRUTHS[name], int(rows), full, *others)


DATA_SETS = tuple(map(_data_set, _PUBLISHED.strip().splitlines()))


def run(
    progress: Callable[[str], None] | None = None,
    seeds: int = 3,
    data_sets: Sequence[DataSet] = DATA_SETS,
    learners: Mapping[str, Options | MachineOptions] = LEARNERS,
) -> Table1:
    """Fit every data set with all learners, ``seeds`` times; some ten seconds per seed and data set.

    The same number of seeds gives the same numbers on one machine, times apart.
    """
    say = progress or (lambda text: None)
    say("compiling")
    for options in learners.values():
        _warm(options)
    rows = []
    for data_set in data_sets:
        found: dict[str, list[Numbers]] = {name: [] for name in learners}
        for seed in range(seeds):
            say(f"{data_set.name}, N = {data_set.n_rows:,}, seed {seed}")
            truth = data_set.truth(seed)
            empirical = draw(truth, data_set.n_rows, seed)
            for name, options in learners.items():
                found[name].append(measure(truth, empirical, options))
        rows += [
            Row(data_set.name, data_set.n_rows, name, data_set.published_for(name), tuple(numbers))
            for name, numbers in found.items()
        ]
    return Table1(seeds, tuple(rows))


def draw(truth: Truth, n_rows: int, seed: int) -> Empirical:
    """``n_rows`` independent rows, counted."""
    index, counts = truth.sample(n_rows, np.random.default_rng([seed, n_rows]))
    return Empirical(truth.space, truth.space.states(index).astype(np.uint8), counts, n_rows)


def measure(truth: Truth, empirical: Empirical, options: Options | MachineOptions) -> Numbers:
    """Fit, and compare with the data and with the truth."""
    start = time.perf_counter()
    fitted = _fit(empirical, options)
    seconds = time.perf_counter() - start
    share = empirical.counts / empirical.total
    kl_data = float(share @ (np.log(share) - fitted.model.log_prob(empirical.states)))
    return Numbers(kl_data, truth.divergence(log_table(fitted)), len(fitted.model.terms), seconds)


def _fit(empirical: Empirical, options: Options | MachineOptions) -> Fitted:
    return fit_machine(empirical, options) if isinstance(options, MachineOptions) else fit_search(empirical, options)


def log_table(fitted: Fitted) -> np.ndarray[Any, np.dtype[np.float64]]:
    """log p of every state of a fitted model; minus infinity where a limit excludes a state."""
    model = fitted.model
    table = model.basis.energies(model.indices, model.theta) - model.log_z
    if fitted.diverging:
        table[table < ABSENT] = -np.inf
    return table


def _warm(options: Options | MachineOptions) -> None:
    """Compile, or fetch, the kernels on a small table, so that the first fit is timed like the others."""
    empirical = draw(ising(3, 2), 1_000, 0)
    if isinstance(options, MachineOptions):
        fit_machine(empirical, replace(options, max_iter=min(options.max_iter or 100, 100)))
        return
    for dtype in ("float32", "float64"):
        fit_search(empirical, Options(search=options.search, basis=options.basis, dtype=dtype))
