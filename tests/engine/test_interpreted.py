"""Kernels that are not compiled yet run as Python on few numbers: the same answers, before Numba is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

GRAPHS = """
from engine.graphs import SHAPES, Enumerated, cards_of, weighted
from fullspan.engine.elimination.clusters import ClusterTree

for shape in SHAPES:
    n, edges = SHAPES[shape]
    for kind, forbidden in (("binary", 0.0), ("mixed", 0.25)):
        graph = weighted(edges, cards_of(kind, n), seed=len(shape), scale=0.8, forbidden=forbidden)
        listed, beliefs = Enumerated(graph), ClusterTree(graph).beliefs()
        assert abs(beliefs.log_z - listed.log_z) < 1e-11, shape
        for v in range(n):
            np.testing.assert_allclose(beliefs.variable(v), listed.marginal((v,)), atol=1e-11)
"""
MACHINE = """
import fullspan as fs

rng = np.random.default_rng(0)
rows = rng.integers(2, size=(200, 5))
rows[:, 1:] ^= rows[:, :-1] & (rng.random((200, 4)) < 0.6)
chain = fs.DecimatableBoltzmannMachine(fs.graphs.chain(5)).fit(rows)
states = np.array(np.meshgrid(*[[0, 1]] * 5)).reshape(5, -1).T
log_p = chain.score_samples(states)
assert abs(np.exp(log_p).sum() - 1) < 1e-10
for i in range(4):  # a maximum of the likelihood has the pairs of the data
    pair = (states[:, i] == 1) & (states[:, i + 1] == 1)
    assert abs(np.exp(log_p[pair]).sum() - (rows[:, i] & rows[:, i + 1]).mean()) < 1e-5
"""


@pytest.mark.parametrize("script", [GRAPHS, MACHINE], ids=["elimination", "decimation"])
def test_answers_before_anything_is_compiled(script: str, tmp_path: Path) -> None:
    script = f"import sys, numpy as np\n{script}\nsys.exit('numba' in sys.modules)"
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path)}  # nothing is kept there
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
