"""The worked example of Rueger 1997 (figures 3 and 4): a machine of five nodes, decimated step by step.

The text names a part of the machine: five nodes and the bias node, of which node 1 has the neighbours 0 and 5 alone,
and goes first into the weight between these. The other edges are shown in a figure only; those here make every rule
occur. Weights are standard normal.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array
from fullspan.engine.elimination.decimation import Decimation, head, leaf, series, star
from fullspan.papers.text import columns

NODES = 5
EDGES = ((1, 5), (2, 5), (3, 5), (2, 3), (3, 4), (2, 4))
BIASED = (1, 4, 5)
_RULES = ("single", "leaf", "series", "star-triangle")


@dataclass(frozen=True)
class Reduction:
    """One network to the next: the node taken out, the rule, the weights it leaves, log of the factor of Z."""

    node: int
    rule: str
    left: tuple[tuple[int, int, float], ...]
    log_factor: float


@dataclass(frozen=True)
class Example:
    """All steps, and what enumeration says."""

    steps: tuple[Reduction, ...]
    log_z: float
    exact_log_z: float
    expectations: tuple[tuple[int, int, float, float], ...]

    @property
    def error(self) -> float:
        """Largest difference of an expectation from enumeration's."""
        return max(abs(a - b) for *_, a, b in self.expectations)

    def to_json(self) -> dict[str, object]:
        return {
            "steps": [
                {"node": s.node, "rule": s.rule, "left": [list(v) for v in s.left], "log_factor": s.log_factor}
                for s in self.steps
            ],
            "log_z": self.log_z,
            "exact_log_z": self.exact_log_z,
            "expectations": [list(v) for v in self.expectations],
        }

    def to_text(self) -> list[str]:
        """The steps of figure 3, and the two passes of figure 4."""
        rows = []
        for k, s in enumerate(self.steps):
            left = ", ".join(f"v{i}{j} += {v:.4f}" for i, j, v in s.left) or "nothing"
            ratio = f"Z{'abcdef'[k]}/Z{'abcdef'[k + 1]}"
            rows.append(
                (f"{'abcdef'[k]} -> {'abcdef'[k + 1]}", str(s.node), s.rule, ratio, f"{s.log_factor:.6f}", left)
            )
        lines = columns(("figure 3", "node", "rule", "factor", "log", "leaves"), rows, (0, 2, 3, 5))
        lines += ["", f"forward: log Z = {self.log_z:.12f}; by enumeration {self.exact_log_z:.12f}", ""]
        table = [(f"<s{i} s{j}>" if i else f"<s{j}>", f"{a:.9f}", f"{b:.9f}") for i, j, a, b in self.expectations]
        return lines + columns(("backward", "decimation", "enumeration"), table)


def example(seed: int) -> Example:
    """Decimate the machine, with the weights of each step in the open."""
    rng = np.random.default_rng(seed)
    edges = np.array(EDGES) - 1
    biased = np.isin(np.arange(1, NODES + 1), BIASED)
    couplings, fields = rng.normal(size=len(edges)), rng.normal(size=NODES) * biased
    engine = Decimation(NODES, edges, biased=biased)
    found = engine.expectations(couplings, fields)
    states = np.array(list(itertools.product((-1, 1), repeat=NODES)))
    pairs = states[:, edges[:, 0]] * states[:, edges[:, 1]]
    exponent = states @ fields + pairs @ couplings
    exact = float(np.logaddexp.reduce(exponent))
    p = np.exp(exponent - exact)
    compared = [(i, j, float(a), float(b)) for (i, j), a, b in zip(EDGES, found.edges, p @ pairs, strict=True)]
    compared += [(0, i, float(found.nodes[i - 1]), float(p @ states[:, i - 1])) for i in BIASED]
    return Example(tuple(_steps(engine, couplings, fields)), found.log_z, exact, tuple(compared))


def _steps(engine: Decimation, couplings: Array, fields: Array) -> list[Reduction]:
    steps, x = engine.steps, np.zeros(engine.steps.n_slots)
    x[: len(couplings)], x[len(couplings) : len(couplings) + NODES] = couplings, fields
    out = []
    for node, near, into, to in zip(steps.node, steps.near, steps.into, steps.out, strict=True):
        v = x[into[into >= 0]]
        left, log_factor = _rule(v)
        names = [0 if i == NODES else int(i) + 1 for i in near[: len(v)]]
        pairs = list(itertools.combinations(range(len(v)), 2))
        for slot, weight in zip(to[to >= 0], left, strict=True):
            x[slot] += weight
        weights = tuple(
            (min(names[i], names[j]), max(names[i], names[j]), w) for (i, j), w in zip(pairs, left, strict=True)
        )
        out.append(Reduction(int(node) + 1, _RULES[len(v)], weights, log_factor))
    return out


def _rule(v: Array) -> tuple[tuple[float, ...], float]:
    """Weights that a node leaves, and the log of its factor."""
    if len(v) == 0:
        return (), math.log(2.0)
    if len(v) == 1:
        return (), leaf(v[0])
    top = math.log(head(float(np.abs(v).sum())))
    *left, rest = series(*v) if len(v) == 2 else star(*v)
    return tuple(left), rest + top
