"""log Z by the best method there is: exact where a table, a layer or the width is small enough, else by annealing."""

from __future__ import annotations

import numpy as np

from fullspan.engine.elimination.clusters import ClusterTree
from fullspan.engine.sampling.annealing import CHAINS, annealed
from fullspan.engine.sampling.choose import pairwise_of, target_of
from fullspan.engine.sampling.pairwise import Pairwise
from fullspan.engine.sampling.target import Base
from fullspan.engine.sampling.two_layers import layer_log_z
from fullspan.errors import TooLargeError
from fullspan.model.estimate import Estimate
from fullspan.model.graph import FactorGraph
from fullspan.model.loglinear import LogLinear

SUMMED_STATES = 1 << 20
"""States up to which all are summed."""
ELIMINATION_BYTES = 1 << 28
"""Bytes that elimination may take before annealing is preferred."""
_WIDEST = 24
"""Width from which elimination is not tried: its tables would have more than 2^24 entries."""


def log_z(
    model: LogLinear | FactorGraph,
    rng: np.random.Generator | None = None,
    chains: int = CHAINS,
    steps: int | None = None,
    base: Base | None = None,
) -> Estimate:
    """The log partition function, exact if it can be had, and else with its standard error.

    Parameters
    ----------
    rng : needed where it must be sampled.
    chains, steps, base : of annealing; see :func:`fullspan.engine.sampling.annealing.annealed`.

    Raises
    ------
    TooLargeError : no exact method applies and no generator was given.

    Examples
    --------
    >>> from fullspan.data.space import Space
    >>> graph = FactorGraph(Space.of_cards((2, 2)), ((0, 1),), (np.zeros((2, 2)),))
    >>> print(log_z(graph))
    1.38629
    """
    found = exact_log_z(model)
    if found is not None:
        return Estimate.known(found)
    if rng is None:
        raise TooLargeError(
            f"log Z of {len(model.space)} variables can only be estimated: no layer is small enough to enumerate and "
            "the graph is too wide to eliminate; give rng= for an estimate with its error"
        )
    return annealed(target_of(model), rng, chains, steps, base).log_z


def exact_log_z(model: LogLinear | FactorGraph) -> float | None:
    """log Z up to rounding, or None where it would take too long or too much memory."""
    model.require_single("log Z")
    found = model.log_z_by_table(SUMMED_STATES)
    if found is not None:
        return found
    machine = pairwise_of(model)
    if machine is not None:
        found = layer_log_z(machine)
        # The core bounds the width from below: where it is too wide already, ordering the graph would be in vain.
        if found is not None or _core(machine) >= _WIDEST:
            return found
    try:
        return ClusterTree(FactorGraph.of(model), max_memory=ELIMINATION_BYTES).log_z()
    except TooLargeError:
        return None


def _core(machine: Pairwise) -> int:
    """Largest k so that some units have k neighbours each among themselves: a lower bound of the width."""
    near = machine.coupling != 0
    degrees = near.sum(axis=1)
    core = 0
    left = np.ones(len(degrees), dtype=bool)
    for _ in range(len(degrees)):
        i = int(np.where(left, degrees, len(degrees)).argmin())
        core = max(core, int(degrees[i]))
        left[i] = False
        degrees = degrees - near[i]
    return core
