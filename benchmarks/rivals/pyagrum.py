"""pyAgrum's greedy hill climbing as a rival of ``fullspan bench density``; needs ``pip install pyagrum pandas``.

It learns in a process of its own, ``python benchmarks/rivals/pyagrum.py IN OUT``: its compiled code and ours bring
different OpenMP libraries, which do not live in one process. IN is an ``.npz`` file with ``train``, ``test`` and
``cards``; OUT is written with the log-probabilities of the test rows.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from fullspan.bench.density_methods import Declined, Learned, Settings
from fullspan.bench.density_sets import Split
from fullspan.data.space import Space

NAME = "pyagrum"
PACKAGES = ("pyagrum", "pyAgrum")


def package() -> str | None:
    """The name under which pyAgrum is installed, if it is."""
    folder = str(Path(__file__).parent)  # a script's own folder comes first, and holds a module of the same name
    path, sys.path[:] = sys.path[:], [entry for entry in sys.path if entry != folder]
    try:
        return next((name for name in PACKAGES if find_spec(name) is not None), None)
    finally:
        sys.path[:] = path


def learn(split: Split, space: Space, settings: Settings) -> Learned:
    """A Bayesian network by greedy hill climbing; it scores the test rows only."""
    if package() is None:
        raise Declined("pyAgrum is not installed")
    if any((rows < 0).any() for rows in (split.known, split.test)):
        raise Declined("cells are missing")
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "given.npz"), Path(folder, "found.npy")
        np.savez(given, train=split.known, test=split.test, cards=np.array(space.cards))
        done = subprocess.run(
            [sys.executable, __file__, str(given), str(found)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Declined(f"pyAgrum ended with {(done.stderr.strip() or str(done.returncode)).splitlines()[-1]}")
        log = np.load(found)
    return Learned(lambda rows: np.asarray(log[(split.test >= 0).any(axis=1)], dtype=np.float64))


def log_prob(gum: Any, train: Any, test: Any, cards: Any) -> Any:
    """Learn a network by BIC from complete rows, its tables smoothed by one, and score others."""
    import pandas as pd

    names = [f"x{i}" for i in range(len(cards))]
    template = gum.BayesNet()
    for name, card in zip(names, cards, strict=True):
        template.add(gum.LabelizedVariable(name, name, int(card)))
    learner = gum.BNLearner(pd.DataFrame(train.astype(str), columns=names), template)
    learner.useGreedyHillClimbing()
    learner.useScoreBIC()
    learner.useSmoothingPrior(1)
    network = learner.learnBN()
    out, place = np.zeros(len(test)), {name: i for i, name in enumerate(names)}
    for name in names:
        table = network.cpt(name)
        axes = [place[v] for v in reversed(table.names)]
        values = np.log(np.maximum(np.asarray(table.toarray()), 1e-300))
        out += values[tuple(test[:, axis] for axis in axes)]
    return out


def main() -> None:
    """Read, learn, write."""
    name = package()
    if name is None:
        raise SystemExit("pyAgrum is not installed")
    folder = str(Path(__file__).parent)
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    with np.load(sys.argv[1]) as given:
        np.save(sys.argv[2], log_prob(import_module(name), given["train"], given["test"], given["cards"]))


if __name__ == "__main__":
    main()
