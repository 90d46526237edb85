"""Rueger 1997, "Efficient inference and learning in decimatable Boltzmann machines": what it says, measured.

The worked example (figures 3 and 4), the cost of decimation by nodes, and decimation against Gibbs sampling.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.engine.elimination.decimation import Decimation, Expectations
from fullspan.model.algebra.jit import serial
from fullspan.papers import Say
from fullspan.papers.plots import curves
from fullspan.papers.rueger_example import Example, example
from fullspan.papers.text import Panel, columns, text_plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALLEST = 1_000
GIBBS_NODES = 100
_REPEATS = 3
_STOPS = (1, 10, 100, 1_000, 10_000, 100_000)


@dataclass(frozen=True)
class Cost:
    """Seconds for a random tree: to find the order, for log Z, and for log Z with all expectations."""

    nodes: int
    order: float
    log_z: float
    expectations: float

    @property
    def total(self) -> float:
        """Machine in hand to all expectations."""
        return self.order + self.expectations


@dataclass(frozen=True)
class Gibbs:
    """Largest error of an expectation after each sweep (runs, sweeps); seconds of a sweep, and of decimation."""

    errors: Array
    sweep_seconds: float
    decimation_seconds: float

    def stops(self) -> list[int]:
        sweeps = self.errors.shape[1]
        return sorted({*(t for t in _STOPS if t <= sweeps), sweeps})


@dataclass(frozen=True)
class Rueger:
    """All three experiments."""

    example: Example
    costs: tuple[Cost, ...]
    gibbs: Gibbs

    def statements(self) -> list[tuple[str, str]]:
        """What the paper says, and what was measured."""
        first, last = self.costs[0], self.costs[-1]
        errors, sweeps = self.gibbs.errors, self.gibbs.errors.shape[1]
        end = float(np.median(errors[:, -1]))
        equal = max(1, round(self.gibbs.decimation_seconds / self.gibbs.sweep_seconds))
        return [
            (
                "the product of the factors is the partition sum; one backward pass gives all expectations",
                f"log Z differs from enumeration by {abs(self.example.log_z - self.example.exact_log_z):.0e}, "
                f"expectations by {self.example.error:.0e} at most",
            ),
            (
                "computing the partition sum is linear in the number of nodes",
                f"{_micro(first.total / first.nodes)} per node at {first.nodes:,} nodes, "
                f"{_micro(last.total / last.nodes)} at {last.nodes:,}: order, log Z and all expectations",
            ),
            (
                "Gibbs sampling is comparatively slow",
                f"decimation takes as long as {equal} sweeps; after {sweeps:,} sweeps, "
                f"{sweeps * self.gibbs.sweep_seconds / self.gibbs.decimation_seconds:,.0f} times as long, an "
                f"expectation is still off by {end:.1g} (median of {len(errors)} runs)",
            ),
        ]

    def panels(self) -> list[Panel]:
        doublings = f"doublings of {SMALLEST:,} nodes"
        per_node = np.array([[1e6 * c.order / c.nodes, 1e6 * c.expectations / c.nodes] for c in self.costs]).T
        seconds = np.array([[c.total for c in self.costs]])
        return [
            Panel("seconds, random trees", seconds, logarithmic=True, across=doublings, evenly=True),
            Panel("microseconds per node: order, expectations", per_node, across=doublings, evenly=True),
            Panel(
                "Gibbs sampling: largest error of an expectation", self.gibbs.errors, logarithmic=True, across="sweep"
            ),
        ]

    def to_json(self) -> dict[str, Any]:
        at = self.gibbs.stops()
        return {
            "experiment": "rueger",
            "statements": [{"published": a, "measured": b} for a, b in self.statements()],
            "example": self.example.to_json(),
            "costs": [{**vars(c), "total": c.total} for c in self.costs],
            "gibbs": {
                "sweeps": at,
                "errors": self.gibbs.errors[:, [t - 1 for t in at]].tolist(),
                "sweep_seconds": self.gibbs.sweep_seconds,
                "decimation_seconds": self.gibbs.decimation_seconds,
            },
        }

    def to_text(self) -> str:
        seconds, _, errors = self.panels()
        costs = [
            (f"{c.nodes:,}", f"{c.order:.4f}", f"{c.log_z:.4f}", f"{c.expectations:.4f}", _micro(c.total / c.nodes))
            for c in self.costs
        ]
        head = ("nodes", "order, s", "log Z, s", "with expectations, s", "per node")
        lines = ["figures 3 and 4: five nodes, standard normal weights", "", *self.example.to_text(), ""]
        lines += ["random trees, every node with a bias", "", *columns(head, costs, ()), "", *text_plot(seconds), ""]
        g = self.gibbs
        rows = [
            (
                f"{t:,}",
                f"{t * g.sweep_seconds:.2g}",
                f"{np.median(g.errors[:, t - 1]):.2g}",
                f"{g.errors[:, t - 1].max():.2g}",
            )
            for t in g.stops()
        ]
        lines += [
            f"Gibbs sampling of a machine of {GIBBS_NODES} nodes; decimation takes {g.decimation_seconds:.2g} s",
            "",
        ]
        lines += [*columns(("sweeps", "seconds", "largest error: median", "max"), rows, ()), "", *text_plot(errors), ""]
        for published, measured in self.statements():
            lines += [f"published  {published}", f"measured   {measured}"]
        return "\n".join([*lines, "", _NOTE])

    def figures(self) -> dict[str, Figure]:
        return {"rueger": curves(self.panels())}

    def files(self) -> dict[str, str]:
        lines = ["quantity,run,x,value"]
        for c in self.costs:
            for name in ("order", "log_z", "expectations"):
                lines.append(f"seconds_{name},1,{c.nodes},{getattr(c, name):.9g}")
        for r, row in enumerate(self.gibbs.errors):
            lines += [f"gibbs_error,{r + 1},{t + 1},{e:.9g}" for t, e in enumerate(row.tolist())]
        return {"rueger.csv": "\n".join(lines) + "\n"}


_NOTE = """\
The example has the nodes and edges that the paper's text names, and others of ours where only a figure shows them.
Trees have uniformly drawn parents, standard normal couplings and fields. The machine that is sampled is a chain with
edges to the next node and the one after, standard normal couplings and fields; a sweep updates every node once,
compiled as decimation is; it starts from random spins, and means are taken from the first sweep on."""


def tree(nodes: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Edges of a random tree: the parent of every node is drawn from those before it."""
    child = np.arange(1, nodes)
    return np.stack([(rng.random(nodes - 1) * child).astype(np.int64), child], axis=1)


def cost(nodes: int, rng: np.random.Generator) -> Cost:
    """The best of three measurements."""
    edges = tree(nodes, rng)
    couplings, fields = rng.normal(size=nodes - 1), rng.normal(size=nodes)
    engine = Decimation(nodes, edges)
    engine.expectations(couplings, fields)
    engine.log_z(couplings, fields)
    return Cost(
        nodes,
        _seconds(lambda: Decimation(nodes, edges)),
        _seconds(lambda: engine.log_z(couplings, fields)),
        _seconds(lambda: engine.expectations(couplings, fields)),
    )


def gibbs(runs: int, sweeps: int, rng: np.random.Generator, say: Say) -> Gibbs:
    """Errors of Gibbs sampling, sweep by sweep, on a machine whose expectations decimation gives."""
    n = GIBBS_NODES
    edges = np.array([(i, i + k) for k in (1, 2) for i in range(n - k)], dtype=np.int64)
    couplings, fields = rng.normal(size=len(edges)), rng.normal(size=n)
    engine = Decimation(n, edges)
    exact = engine.expectations(couplings, fields)
    seconds = _seconds(lambda: (Decimation(n, edges), engine.expectations(couplings, fields)))
    start, near, weight = _neighbours(n, edges, couplings)
    errors, spent = np.empty((runs, sweeps)), 0.0
    _walk(rng, 1, start, near, weight, fields, edges, *_truth(exact), np.empty(1))
    for r in range(runs):
        say(f"Gibbs sampling, run {r + 1} of {runs}")
        began = time.perf_counter()
        _walk(rng, sweeps, start, near, weight, fields, edges, *_truth(exact), errors[r])
        spent += time.perf_counter() - began
    return Gibbs(errors, spent / (runs * sweeps), seconds)


def _truth(exact: Expectations) -> tuple[Array, Array]:
    return exact.edges, exact.nodes


def _neighbours(
    n: int, edges: NDArray[np.int64], couplings: Array
) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Lists of neighbours one after the other: where each begins, the nodes, the couplings."""
    ends, others = np.concatenate([edges[:, 0], edges[:, 1]]), np.concatenate([edges[:, 1], edges[:, 0]])
    order = np.argsort(ends, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n))])
    return start.astype(np.int64), others[order], np.concatenate([couplings, couplings])[order]


@serial
def _walk(
    rng: np.random.Generator,
    sweeps: int,
    start: NDArray[np.int64],
    near: NDArray[np.int64],
    weight: Array,
    fields: Array,
    edges: NDArray[np.int64],
    true_edges: Array,
    true_nodes: Array,
    errors: Array,
) -> None:
    """Gibbs sampling from random spins; ``errors[t]`` is the largest error of the means of the first t + 1 sweeps."""
    n = fields.size
    s = np.empty(n)
    for i in range(n):
        s[i] = 1.0 if rng.random() < 0.5 else -1.0
    node_sums, edge_sums = np.zeros(n), np.zeros(edges.shape[0])
    for t in range(sweeps):
        for i in range(n):
            local = fields[i]
            for k in range(start[i], start[i + 1]):
                local += weight[k] * s[near[k]]
            s[i] = 1.0 if rng.random() * (1.0 + np.exp(-2.0 * local)) < 1.0 else -1.0
        worst = 0.0
        for i in range(n):
            node_sums[i] += s[i]
            worst = max(worst, abs(node_sums[i] / (t + 1) - true_nodes[i]))
        for e in range(edges.shape[0]):
            edge_sums[e] += s[edges[e, 0]] * s[edges[e, 1]]
            worst = max(worst, abs(edge_sums[e] / (t + 1) - true_edges[e]))
        errors[t] = worst


def _seconds(action: Any) -> float:
    best = float("inf")
    for _ in range(_REPEATS):
        began = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - began)
    return best


def _micro(seconds: float) -> str:
    return f"{1e6 * seconds:.2f} us"


def run(
    progress: Say | None = None, nodes: int = 1_000_000, runs: int = 10, iterations: int = 10_000, seed: int = 0
) -> Rueger:
    """Run all three; ``nodes`` of the largest tree, ``iterations`` are sweeps of Gibbs sampling."""
    say = progress or (lambda text: None)
    rng = np.random.default_rng(seed)
    sizes = [SMALLEST * 2**k for k in range(64) if SMALLEST * 2**k < nodes] + [nodes]
    costs = []
    for size in sizes:
        say(f"a random tree of {size:,} nodes")
        costs.append(cost(size, rng))
    return Rueger(example(seed), tuple(costs), gibbs(runs, iterations, rng, say))
