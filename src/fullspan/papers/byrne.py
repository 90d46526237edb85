"""The simulations of Byrne 1992, section VII: alternating minimisation towards the marginal of a random machine.

W. Byrne, "Alternating minimization and Boltzmann machine learning", IEEE Transactions on Neural Networks 3 (1992).
A machine has weights on pairs alone, no biases (eq. 2): ``B(x) ~ exp sum_{i<j} w_ij x_i x_j``. One random machine gives
the desired distribution P of the visible units, another one starts the algorithm. The paper does not say how weights
are drawn; here they are standard normal. Divergences are in bits, as in its eq. 6.
"""

from __future__ import annotations

import itertools
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fullspan.arrays import Array
from fullspan.engine.dual.table import DualTable
from fullspan.learn.likelihood.em import INEXACT_SWEEPS, Projection, alternate_phases
from fullspan.learn.likelihood.phases import Free, Observed
from fullspan.learn.likelihood.solve import Likelihood
from fullspan.model.algebra import jit
from fullspan.model.algebra.basis import Basis
from fullspan.papers import Say
from fullspan.papers.text import Panel, columns, text_plot

EXACT = Projection("ipf", 1e-5)
"""IPFP until the moments agree to 1e-5, from the machine at hand: it then lowers the divergence with every weight."""
ANEW = Projection("ipf", 1e-5, restart=True)
"""The same from the uniform distribution, as the paper has it (Q_0 = U): many more sweeps to the same machine."""
INEXACT = Projection("ipf", 0.0, max_sweeps=INEXACT_SWEEPS, restart=True)
"""IPFP from the uniform distribution, every weight updated ten times."""

STOPS = (1, 10, 100, 750)
"""Iterations whose values are printed."""
LEAST_RISE = 1e-12
"""Rise of a divergence, in bits, that is more than rounding."""


@dataclass(frozen=True)
class Curve:
    """One run: D(P || B_v) in bits and the l1 distance to the true weights, from the start to the last iteration."""

    divergence: Array
    distance: Array
    seconds: float

    @property
    def n_rises(self) -> int:
        """Steps on which the divergence rose."""
        return int((np.diff(self.divergence) > LEAST_RISE).sum())


@dataclass(frozen=True)
class Family:
    """All runs of one algorithm on machines of one size."""

    name: str
    visible: int
    hidden: int
    curves: tuple[Curve, ...]

    @property
    def divergence(self) -> Array:
        """(runs, iterations + 1)."""
        return np.array([curve.divergence for curve in self.curves])

    @property
    def distance(self) -> Array:
        return np.array([curve.distance for curve in self.curves])

    @property
    def iterations(self) -> int:
        return len(self.curves[0].divergence) - 1

    @property
    def n_rises(self) -> int:
        """Steps of all runs on which the divergence rose."""
        return sum(curve.n_rises for curve in self.curves)

    @property
    def seconds(self) -> float:
        return sum(curve.seconds for curve in self.curves)

    def stops(self) -> list[int]:
        """The start, and the iterations to print."""
        return sorted({0, *(t for t in STOPS if t <= self.iterations), self.iterations})

    def panels(self) -> tuple[Panel, Panel]:
        """Divergence and distance, as drawn."""
        return (
            Panel(f"{self.name}: divergence in bits", self.divergence, logarithmic=True),
            Panel(f"{self.name}: l1 distance to the true weights", self.distance),
        )

    def to_json(self) -> dict[str, object]:
        at = self.stops()
        return {
            "name": self.name,
            "visible": self.visible,
            "hidden": self.hidden,
            "iterations": at,
            "divergence_bits": _spread(self.divergence[:, at]),
            "weight_distance": _spread(self.distance[:, at]),
            "rises": [curve.n_rises for curve in self.curves],
            "seconds": self.seconds,
        }

    def to_text(self) -> list[str]:
        """A table of medians and ranges over the runs."""
        head = ("iteration", "divergence: median", "min", "max", "distance: median", "min", "max")
        rows = [
            (str(t), *(f"{v:.3g}" for v in _triple(self.divergence[:, t])), *map(_two, _triple(self.distance[:, t])))
            for t in self.stops()
        ]
        title = f"{self.name}: {self.hidden} hidden and {self.visible} visible units"
        return [f"{title}, {len(self.curves)} runs, {self.seconds:.1f} s", "", *columns(head, rows, ())]


@dataclass(frozen=True)
class Compared(ABC):
    """A figure of families of curves: what the paper says, and what was measured."""

    families: tuple[Family, ...]
    name: ClassVar[str]
    note: ClassVar[str]

    @abstractmethod
    def statements(self) -> list[tuple[str, str]]:
        """What the paper says, and what was measured."""

    @abstractmethod
    def panels(self) -> list[Panel]:
        """What is plotted as text."""

    def to_json(self) -> dict[str, Any]:
        return {
            "experiment": self.name,
            "statements": [{"published": a, "measured": b} for a, b in self.statements()],
            "families": [f.to_json() for f in self.families],
        }

    def to_text(self) -> str:
        lines: list[str] = []
        for f in self.families:
            lines += [*f.to_text(), ""]
        for panel in self.panels():
            lines += [*text_plot(panel), ""]
        for published, measured in self.statements():
            lines += [f"published  {published}", f"measured   {measured}"]
        return "\n".join([*lines, "", self.note])

    def files(self) -> dict[str, str]:
        return {f"{self.name}.csv": csv(self.families)}


def family(
    name: str, visible: int, hidden: int, runs: int, iterations: int, seed: int, projection: Projection, say: Say
) -> Family:
    """Run the algorithm ``runs`` times; run r is the same for every projection."""
    curves = []
    for r in range(runs):
        say(f"{name}, {hidden} hidden and {visible} visible units, run {r + 1} of {runs}")
        curves.append(simulate(visible, hidden, iterations, np.random.default_rng([seed, visible, r]), projection))
    return Family(name, visible, hidden, tuple(curves))


def simulate(
    visible: int, hidden: int, iterations: int, rng: np.random.Generator, projection: Projection = EXACT
) -> Curve:
    """Draw a true machine and a start, and alternate."""
    n = visible + hidden
    basis = Basis("monomial", (2,) * n)
    y = np.array([1 << i | 1 << j for i, j in itertools.combinations(range(n), 2)], dtype=np.int64)
    truth, start = rng.normal(size=(2, len(y)))
    with one_thread():
        free = Free(DualTable(basis), y)
        free.move(truth)
        p = free.table.marginal(range(visible))
        rows = np.full((len(p), n), -1)
        rows[:, :visible] = np.arange(len(p))[:, None] >> np.arange(visible) & 1
        distance = [float(np.abs(start - truth).sum())]

        def note(theta: Array, value: float, violation: float) -> None:
            distance.append(float(np.abs(theta - truth).sum()))

        began = time.perf_counter()
        data = Observed(basis, y, rows, p)
        found = alternate_phases(Likelihood(free, data), start, projection, tol=0.0, max_iter=iterations, watch=note)
        seconds = time.perf_counter() - began
    if found.status == "interrupted":
        raise KeyboardInterrupt
    entropy = -float(p @ np.log(p))
    divergence = np.maximum((np.array(found.trace) - entropy) / math.log(2), 0.0)
    short = iterations + 1 - len(divergence)  # where moments agree to the last digit, nothing moves any more
    return Curve(np.pad(divergence, (0, short), "edge"), np.pad(distance, (0, short), "edge"), seconds)


@contextmanager
def one_thread() -> Iterator[None]:
    """A table of a thousand states is not worth a second core."""
    before = jit.cores()
    jit.use_cores(1)
    try:
        yield
    finally:
        jit.use_cores(before)


def csv(families: Sequence[Family]) -> str:
    """All curves, one line for every run and iteration."""
    lines = ["algorithm,hidden,visible,run,iteration,divergence_bits,weight_distance"]
    for f in families:
        for r, curve in enumerate(f.curves):
            label = f"{f.name},{f.hidden},{f.visible},{r + 1}"
            pairs = zip(curve.divergence.tolist(), curve.distance.tolist(), strict=True)
            lines += [f"{label},{t},{a:.9g},{b:.9g}" for t, (a, b) in enumerate(pairs)]
    return "\n".join(lines) + "\n"


def _triple(values: Array) -> tuple[float, float, float]:
    return float(np.median(values)), float(values.min()), float(values.max())


def _two(value: float) -> str:
    return f"{value:.2f}"


def _spread(values: Array) -> dict[str, list[float]]:
    return {
        "median": np.median(values, axis=0).tolist(),
        "min": values.min(axis=0).tolist(),
        "max": values.max(axis=0).tolist(),
    }
