"""pyAgrum's greedy hill climbing in a process of its own: ``python -m fullspan.bench.pyagrum_process IN OUT``.

Its compiled code and ours bring different OpenMP libraries, which do not live in one process. IN is an ``.npz`` file
with ``train``, ``test`` and ``cards``; OUT is written with the log-probabilities of the test rows.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

NAMES = ("pyagrum", "pyAgrum")


def package() -> str | None:
    """The name under which pyAgrum is installed, if it is."""
    return next((name for name in NAMES if find_spec(name) is not None), None)


def log_prob(gum: Any, train: NDArray[Any], test: NDArray[Any], cards: NDArray[Any]) -> NDArray[np.float64]:
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
    with np.load(sys.argv[1]) as given:
        np.save(sys.argv[2], log_prob(import_module(name), given["train"], given["test"], given["cards"]))


if __name__ == "__main__":
    main()
