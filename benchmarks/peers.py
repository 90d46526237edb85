"""Other libraries that sum the same Ising models, each in a Python of its own; see ``bench_elimination``."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

DWAVE = """
import json, sys, time
import dimod
from dwave.samplers import TreeDecompositionSampler
for line in sys.stdin:
    model = json.loads(open(line.strip()).read())
    bqm = dimod.BinaryQuadraticModel.from_ising(
        {i: -h for i, h in enumerate(model["field"])},
        {(a, b): -j for (a, b), j in zip(model["edges"], model["coupling"])})
    start = time.perf_counter()
    answer = TreeDecompositionSampler().sample(bqm, num_reads=1, beta=1.0, marginals=True)
    spent = time.perf_counter() - start
    print(json.dumps([spent, float(answer.info["log_partition_function"])]), flush=True)
"""

COTENGRA = """
import json, sys, time
import cotengra, torch
spin = torch.tensor([1.0, -1.0], dtype=torch.float64)
for line in sys.stdin:
    model = json.loads(open(line.strip()).read())
    edges, n, best = model["edges"], len(model["field"]), None
    coupling = torch.tensor(model["coupling"], dtype=torch.float64, requires_grad=True)
    field = torch.tensor(model["field"], dtype=torch.float64, requires_grad=True)
    for search in ("greedy", cotengra.RandomGreedyOptimizer(max_repeats=16)):
        start = time.perf_counter()
        inputs = [tuple(edge) for edge in edges] + [(i,) for i in range(n)]
        tree = cotengra.array_contract_tree(inputs, (), size_dict=dict.fromkeys(range(n), 2), optimize=search)
        pairs = torch.exp(coupling[:, None, None] * torch.outer(spin, spin))
        singles = torch.exp(field[:, None] * spin)
        z, exponent = tree.contract([*pairs.unbind(), *singles.unbind()], strip_exponent=True)
        log_z = torch.log(z) + exponent * 2.302585092994046
        torch.autograd.grad(log_z, [coupling, field])
        spent = time.perf_counter() - start
        best = spent if best is None else min(best, spent)
    print(json.dumps([best, float(log_z.detach())]), flush=True)
"""


class Peer:
    """A library in a process of its own: seconds of log Z and all marginals, and log Z.

    ``skips`` are models that would take it minutes.
    """

    def __init__(self, python: str, script: str, skips: tuple[str, ...]) -> None:
        self.skips = skips
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen([python, "-c", script], text=True, **pipes)

    def ask(self, path: Path) -> tuple[float, float]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        spent, log_z = json.loads(self.process.stdout.readline())
        return spent, log_z


def peers(dwave: str | None, cotengra: str | None) -> dict[str, Peer]:
    """The libraries whose Pythons are given."""
    found = {}
    if dwave:
        found["dwave"] = Peer(dwave, DWAVE, ("lattice 20x20", "tree 100,000"))
    if cotengra:
        found["cotengra"] = Peer(cotengra, COTENGRA, ("lattice 20x20", "tree 100,000"))
    return found
