"""What a full-span search costs on this machine: steps against the memory they move, and whole fits.

Data are rows of random Bayesian networks with three parents, as in the full-span paper; the search is the published
one in the Walsh basis, in single precision. A step reads and writes eta, eight bytes per state, and reads d only where
a candidate might win.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from fullspan.algebra.basis import Basis
from fullspan.data import Empirical
from fullspan.engine.planner import plan
from fullspan.engine.protocol import Engine
from fullspan.learn.search.fit import Options, fit
from fullspan.learn.search.penalty import prices
from fullspan.reproduce.truths import Network
from fullspan.space import Space

N_ROWS = 100_000
PARENTS = 3
_TERMS = 12
"""Random terms whose steps are timed."""


@dataclass(frozen=True)
class Row:
    """One size of table: how fast a step moves memory, beside a plain copy, and what a whole fit takes."""

    n: int
    candidates: int
    chosen: int
    steps: int
    seconds: float
    step_ms: float
    step_gb_s: float
    copy_gb_s: float

    @property
    def share(self) -> float:
        """Bytes per second of a step over those of a copy."""
        return self.step_gb_s / self.copy_gb_s

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
    step, copy = _steps(basis, empirical, device)
    options = Options(search="paper", basis="walsh", dtype="float32", device=device)
    if n <= 24:
        fit(empirical, options)
    started = time.perf_counter()
    counted = Empirical.from_codes(
        np.repeat(empirical.states, empirical.counts.astype(int), axis=0), space=empirical.space
    )
    fitted = fit(counted, options)
    seconds = time.perf_counter() - started
    moved = 8.0 * basis.n_states
    return Row(
        n, basis.n_states - 1, len(fitted.model.theta), len(fitted.history), seconds, 1e3 * step, moved / step / 1e9,
        moved / copy / 1e9,
    )  # fmt: skip


def _steps(basis: Basis, empirical: Empirical, device: Literal["cpu", "cuda"]) -> tuple[float, float]:
    """Seconds of a step, and of copying a table."""
    table = plan(basis, empirical.total, "float32", device=device).table(basis)
    table.set_data(empirical.space.index(empirical.states), empirical.counts)
    table.set_prices(prices(basis.cards, empirical.total, "mdl", None))
    floor = 0.9 * float(table.scan().gains[0])
    if (leap := getattr(table, "leap", None)) is not None:
        return _leap_seconds(leap), _copy_seconds(table, device)
    rng = np.random.default_rng(1)
    times = []
    for _ in range(_TERMS):
        order = int(rng.integers(1, 5))
        y = sum(1 << int(i) for i in rng.choice(len(basis.cards), order, replace=False))
        times += [_timed(lambda y=y, sign=sign: table.move(y, sign * 0.02, floor)) for sign in (1, -1)]  # type: ignore[misc]
    return statistics.median(times[2:]), _copy_seconds(table, device)


def _leap_seconds(leap: Callable[..., Any]) -> float:
    """Seconds of a step that the device decides for itself: the first of an empty model, many in one launch."""
    empty = np.zeros(0, np.int64), *(np.zeros(0) for _ in range(3))
    leap(*empty, 1e-6, 1)  # compiles
    started = time.perf_counter()
    taken, _ = leap(*empty, 1e-6, _TERMS)
    return (time.perf_counter() - started) / len(taken)


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
