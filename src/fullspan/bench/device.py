"""What a full-span search costs on this machine: steps against the memory they move, and whole fits.

Data are rows of random Bayesian networks with three parents, as in the full-span paper; the search is the published
one in the Walsh basis, in single precision. A pass over the table on a GPU reads eta, four bytes per state, and d, two
(four for eight million rows and more), and writes eta: ten bytes per state. On the CPU, which leaves d alone where no
candidate can win, eight are counted. There a step is a pass; a GPU takes two steps in a pass where it can.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.engine.planner import plan
from fullspan.engine.protocol import Engine, Prices
from fullspan.learn.search.fit import fit_search
from fullspan.learn.search.options import Options
from fullspan.learn.search.penalty import prices
from fullspan.model.algebra.basis import Basis
from fullspan.papers.truths import Network

N_ROWS = 100_000
PARENTS = 3
_TERMS = 12
"""Random terms whose steps are timed on the CPU."""
_LEAPS, _EPSILON = (8, 64, 64), 1e-4
"""Steps that a GPU takes at a time: those of a search from the empty model."""


@dataclass(frozen=True)
class Row:
    """One size of table: how fast a step moves memory, next to a plain copy, and what a whole fit takes."""

    n: int
    candidates: int
    chosen: int
    steps: int
    seconds: float
    step_ms: float
    steps_per_pass: float
    pass_gb_s: float
    copy_gb_s: float

    @property
    def share(self) -> float:
        """Bytes per second of a pass over those of a copy."""
        return self.pass_gb_s / self.copy_gb_s

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "share": self.share}


def rows_of_a_network(n: int, n_rows: int, seed: int) -> Empirical:
    """Counted rows of a random Bayesian network of two-valued variables."""
    rng = np.random.default_rng(seed)
    network = Network.random(n, PARENTS, rng)
    return Empirical.from_codes(network.draw(n_rows, rng), space=Space.of_cards((2,) * n))


def measure(n: int, device: Literal["cpu", "cuda"], n_rows: int = N_ROWS, seed: int = 0) -> Row:
    """Time steps, a copy and a whole fit of ``n`` variables; the first fit of a size compiles, and is not counted."""
    basis = Basis("walsh", (2,) * n)
    empirical = rows_of_a_network(n, n_rows, seed)
    timed, copy = _timed_steps(basis, empirical, device)
    options = Options(search="paper", basis="walsh", dtype="float32", device=device)
    if n <= 24:
        fit_search(empirical, options)
    rows = np.repeat(empirical.states, empirical.counts.astype(int), axis=0)
    started = time.perf_counter()
    fitted = fit_search(Empirical.from_codes(rows, space=empirical.space), options)
    seconds = time.perf_counter() - started
    moved = 1e-9 * basis.n_states * (8 if device == "cpu" else 12 if n_rows >= 2**23 else 10)
    return Row(
        n, basis.n_states - 1, len(fitted.model.theta), len(fitted.history), seconds, 1e3 * timed.seconds / timed.steps,
        timed.steps / timed.passes, moved * timed.passes / timed.seconds, 8e-9 * basis.n_states / copy,
    )  # fmt: skip


@dataclass(frozen=True)
class _Timed:
    """Steps that were taken, and the passes over the table that they took."""

    seconds: float
    steps: int
    passes: int


def _timed_steps(basis: Basis, empirical: Empirical, device: Literal["cpu", "cuda"]) -> tuple[_Timed, float]:
    """Steps of the search and their time, and seconds to copy a table."""
    table = plan(basis, empirical.total, "float32", device=device).table(basis)
    table.set_data(empirical.space.index(empirical.states), empirical.counts)
    tariff = prices(basis.cards, empirical.total, "mdl", None)
    table.set_prices(tariff)
    floor = 0.9 * float(table.scan().gains[0])
    if (leap := getattr(table, "leap", None)) is not None:
        return _leaps(leap, basis, tariff), _copy_seconds(table, device)
    rng = np.random.default_rng(1)
    times = []
    for _ in range(_TERMS):
        orders = rng.integers(1, 5, size=2)  # a large table makes two moves in one pass
        pair = [sum(1 << int(i) for i in rng.choice(len(basis.cards), k, replace=False)) for k in orders]
        for step in (0.02, -0.02):
            started = time.perf_counter()
            for y in pair:
                table.move(y, step, floor)
            times.append((time.perf_counter() - started) / 2)
    return _Timed(statistics.median(times[2:]), 1, 1), _copy_seconds(table, device)


def _leaps(leap: Callable[..., Any], basis: Basis, tariff: Prices) -> _Timed:
    """The first steps of a search that the device decides for itself; the first leap compiles, and is not timed."""
    theta: dict[int, float] = {}
    d: dict[int, float] = {}
    seconds, steps, passes = 0.0, 0, 0
    for most in _LEAPS:
        y = np.array(list(theta), dtype=np.int64)
        price = np.array([tariff(basis.term(int(i))) for i in y])
        in_use = y, np.array(list(theta.values())), price, np.array([d[int(i)] for i in y])
        started = time.perf_counter()
        done = leap(*in_use, _EPSILON, most)
        if theta:
            seconds, steps = seconds + time.perf_counter() - started, steps + len(done.taken)
            passes += done.passes
        for step in done.taken:
            d.setdefault(step.index, step.d)
            theta[step.index] = theta.get(step.index, 0.0) + step.delta
            if step.move == "remove":
                del theta[step.index]
    return _Timed(seconds, steps, passes)


def _copy_seconds(table: Engine, device: str) -> float:
    """Seconds to copy one half of a table of this size to the other, times two: it needs no further memory."""
    if device == "cuda":
        from fullspan.engine.cuda.device import cupy

        cp = cupy()
        eta, wait = table._eta, cp.cuda.Device().synchronize  # type: ignore[attr-defined]
    else:
        eta, wait = table.eta, lambda: None
    half = eta.size // 2

    def copy() -> None:
        eta[half:] = eta[:half]
        wait()

    copy()
    return 2 * statistics.median(_timed(copy) for _ in range(5))


def _timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
