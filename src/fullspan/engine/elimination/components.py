"""How each kind of component of a mixture is summed: one protocol, and a class for every kind."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.elimination.sweeps.boxes import Boxes
from fullspan.errors import TooLargeError
from fullspan.model.record import Component

Allowed = Mapping[int, Sequence[int]]
"""Codes that are allowed, by position."""
Factors = Mapping[tuple[int, ...], Array]
"""Log factors by the positions of their variables, one axis per variable."""
MAX_PARTS = 4096
"""Most parts that a tree is cut into."""


class ComponentSums(Protocol):
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

    def reweighed(self, factors: Factors) -> tuple[Component | None, float]:
        """``p(x) exp(sum_A l_A(x_A)) / E exp(...)`` as a component, None where that is 0, and ``log E exp(...)``."""


def narrowed(component: Component, factors: Factors) -> Iterator[tuple[Component, Factors]]:
    """A component and factors whose products with it are of its kind; their sum is the component with all factors.

    Graphs take any factor. Trees with hidden nodes take those of one variable: of each wider one all variables but one
    are cut, so that there is one part for every combination of levels of these.

    Raises
    ------
    TooLargeError : there are more than 4,096 parts.
    """
    if all(len(scope) == 1 for scope in factors):
        yield component, factors
        return
    if (graph := component.factors_alone()) is not None:
        yield graph, factors
        return
    cut = _cut(list(factors))
    cards = [component.space.cards[i] for i in cut]
    if math.prod(cards) > MAX_PARTS:
        raise TooLargeError(
            f"margins of several variables cut a tree of hidden nodes into {math.prod(cards):,} parts, the limit is "
            f"{MAX_PARTS:,}; give margins of one variable, or of fewer levels"
        )
    for levels in itertools.product(*map(range, cards)):
        own: dict[tuple[int, ...], Array] = {}
        for i, level in zip(cut, levels, strict=True):
            own[(i,)] = np.where(np.arange(component.space.cards[i]) == level, 0.0, -np.inf)
        at = dict(zip(cut, levels, strict=True))
        for scope, table in factors.items():
            rest = next((i for i in scope if i not in at), scope[0])
            part = table[tuple(slice(None) if i == rest else at[i] for i in scope)]
            own[(rest,)] = own.get((rest,), np.zeros(len(part))) + part
        yield component, own


def _cut(scopes: Sequence[tuple[int, ...]]) -> list[int]:
    """Variables without which every scope has one variable at most: again and again the one in most wide scopes."""
    cut: list[int] = []
    while wide := [rest for scope in scopes if len(rest := [i for i in scope if i not in cut]) > 1]:
        counts = Counter(itertools.chain.from_iterable(wide))
        cut.append(max(sorted(counts), key=counts.__getitem__))
    return cut


_HOMES = {
    "graph": "fullspan.engine.elimination.clusters:ClusterTree",
    "tree": "fullspan.engine.elimination.trees.sums:TreeSums",
    "latent trees": "fullspan.engine.elimination.trees.latent:LatentSums",
}


def sums_of(component: Component) -> ComponentSums:
    """A component made ready for exact answers."""
    module, _, name = _HOMES[component.kind].partition(":")
    found: ComponentSums = getattr(import_module(module), name)(component)
    return found
