"""How each kind of component of a mixture is summed: one protocol, and a class for every kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.elimination.sweeps.boxes import Boxes
from fullspan.model.record import Component

Allowed = Mapping[int, Sequence[int]]
"""Codes that are allowed, by position."""


class Sums(Protocol):
    """Exact answers about a normalised component."""

    @property
    def sweep_work(self) -> int:
        """Table entries that all marginals read."""

    def log_z(self, evidence: Any = None) -> float:
        """``log P(evidence)``, -inf where it is impossible."""

    def log_z_boxes(self, boxes: Boxes) -> Array:
        """``log P(box)`` of many events."""

    def log_prob(self, states: NDArray[Any]) -> Array:
        """``log P(observed cells)`` of rows (m, n), -1 for open cells."""

    def marginals(self, evidence: Any = None) -> tuple[Array, ...]:
        """``p(x_v | evidence)`` of every variable."""

    def sample(self, size: int, rng: np.random.Generator, evidence: Any = None) -> Ints:
        """Independent states (size, n) given the evidence."""


_HOMES = {
    "graph": "fullspan.engine.elimination.clusters:ClusterTree",
    "tree": "fullspan.engine.elimination.trees.sums:TreeSums",
    "latent trees": "fullspan.engine.elimination.trees.latent:LatentSums",
}


def sums_of(component: Component) -> Sums:
    """A component made ready for exact answers."""
    module, _, name = _HOMES[component.kind].partition(":")
    found: Sums = getattr(import_module(module), name)(component)
    return found
